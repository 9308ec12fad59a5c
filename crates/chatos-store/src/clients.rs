//! Programs that ask or call through us, one row per session of theirs (other-agents §2.1).

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

use crate::db::Store;
use crate::error::StoreError;

/// Rows that were not seen for this long are removed.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;
/// Most characters of a name or a version.
const NAME_CHARS: usize = 64;
/// Most characters of what a program calls its session.
const LABEL_CHARS: usize = 80;

/// A program's session with us. Every text is what the program says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientRow {
    pub id: String,
    /// `gateway`, `hook`, `acp_agent` or `acp_editor`.
    pub kind: String,
    pub name: String,
    pub version: String,
    /// The folder it works in; empty when it gave none.
    pub root: String,
    /// What it calls its session.
    pub label: String,
    /// The process that talks to us, with its start time.
    pub process: Option<(u32, u64)>,
    pub seen_at: i64,
    /// When it was first seen; the store keeps it.
    pub first_at: i64,
    /// Whose tools it uses: id or name of an agent; empty for a program with its own tools.
    pub agent: String,
    /// The executable, or what an interpreter runs; empty where that cannot be told.
    pub program: String,
    /// `flag`, `roots`, `cwd`, `acp`, `hook` or `none`.
    pub root_from: String,
    /// Tells apart programs of one name in one folder; the store gives it, from 1.
    pub number: u32,
    /// It said no name: the one that is shown is that of its process.
    pub unconfirmed: bool,
}

/// A question of a program's session, as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientQuestionRow {
    pub request_id: String,
    /// As the log has it, JSON.
    pub entry: String,
    pub answer: Option<String>,
    pub created_at: i64,
    pub answered_at: Option<i64>,
}

impl ClientRow {
    /// As questions and lists show it. The project is named by its folder.
    pub fn view(&self) -> Value {
        let project = self.root.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        json!({
            "id": self.id, "kind": self.kind, "name": self.name, "version": text(&self.version),
            "label": text(&self.label), "root": text(&self.root), "project": text(project),
            "number": self.number.max(1), "unconfirmed": self.unconfirmed,
        })
    }
}

/// Text of another program as it may be shown: no control or direction characters, not longer than `chars`.
pub fn clean_client_text(text: &str, chars: usize) -> String {
    let plain = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let text: String = text.chars().filter(plain).take(chars).collect();
    text.trim().to_owned()
}

const COLUMNS: &str = "id, kind, name, version, root, label, pid, pid_start, seen_at, \
                       first_at, agent, program, root_from, number, unconfirmed";

/// How long the number of a session stays taken that has no process between its questions, as hooks do.
const NUMBER_KEPT_MS: i64 = 12 * 3_600_000;

impl Store {
    /// Notes a program's session; the same id again renews it. Texts are cleaned and cut. `lives` says whether the
    /// process with this pid and start time is still there: the number of one that is gone is free again.
    pub fn put_client(&self, row: &ClientRow, lives: fn(u32, u64) -> bool) -> Result<(), StoreError> {
        let mut row = row.clone();
        row.name = clean_client_text(&row.name, NAME_CHARS);
        row.version = clean_client_text(&row.version, NAME_CHARS);
        row.label = clean_client_text(&row.label, LABEL_CHARS);
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM clients WHERE seen_at < ?1")?
                .execute([row.seen_at - KEPT_MS])?;
            let number = free_number(connection, &row, lives)?;
            let sql = "INSERT INTO clients (id, kind, name, version, root, label, pid, pid_start, seen_at,
                         first_at, agent, program, root_from, number, unconfirmed)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13, ?14)
                       ON CONFLICT (id) DO UPDATE SET kind = ?2, name = ?3, version = ?4, root = ?5, label = ?6,
                         pid = ?7, pid_start = ?8, seen_at = ?9, agent = ?10, program = ?11, root_from = ?12,
                         number = ?13, unconfirmed = ?14";
            let (pid, start) = row.process.unzip();
            connection.prepare_cached(sql)?.execute(params![
                row.id,
                row.kind,
                row.name,
                row.version,
                row.root,
                row.label,
                pid,
                start.map(|start| start as i64),
                row.seen_at,
                row.agent,
                row.program,
                row.root_from,
                number,
                row.unconfirmed,
            ])?;
            Ok(())
        })
    }

    /// Forgets a session; what it asked stays. Says whether there was one.
    pub fn forget_client_session(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            Ok(connection.prepare_cached("DELETE FROM clients WHERE id = ?1")?.execute([id])? > 0)
        })
    }

    /// Open questions by session.
    pub fn open_client_questions(&self) -> Result<std::collections::HashMap<String, u32>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT entry ->> '$.chatos.sessionId' AS session, COUNT(*) FROM prompt_records
                       WHERE answered_at IS NULL AND session IS NOT NULL GROUP BY session";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The last questions of a session, newest first.
    pub fn client_questions(&self, id: &str, most: usize) -> Result<Vec<ClientQuestionRow>, StoreError> {
        let id = id.to_owned();
        self.read(move |connection| {
            let sql = "SELECT request_id, entry, answer, created_at, answered_at FROM prompt_records
                       WHERE entry ->> '$.chatos.sessionId' = ?1
                       ORDER BY created_at DESC, request_id DESC LIMIT ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![id, most as i64], |row| {
                Ok(ClientQuestionRow {
                    request_id: row.get(0)?,
                    entry: row.get(1)?,
                    answer: row.get(2)?,
                    created_at: row.get(3)?,
                    answered_at: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The session with this id.
    pub fn client(&self, id: &str) -> Result<Option<ClientRow>, StoreError> {
        let id = id.to_owned();
        self.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM clients WHERE id = ?1");
            Ok(connection.prepare_cached(&sql)?.query_row([id], read).optional()?)
        })
    }

    /// The sessions of the last thirty days, newest first.
    pub fn clients(&self) -> Result<Vec<ClientRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM clients ORDER BY seen_at DESC, id LIMIT 500");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// The number a session has, else the smallest that no other one of its name and folder uses.
fn free_number(
    connection: &Connection,
    row: &ClientRow,
    lives: fn(u32, u64) -> bool,
) -> Result<u32, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM clients WHERE name = ?1 AND root = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let others = statement.query_map([&row.name, &row.root], read)?.collect::<Result<Vec<_>, _>>()?;
    if let Some(own) = others.iter().find(|other| other.id == row.id) {
        return Ok(own.number);
    }
    let taken = |other: &ClientRow| {
        let recent = other.kind == "hook" && other.seen_at > row.seen_at - NUMBER_KEPT_MS;
        recent || other.process.is_some_and(|(pid, start)| lives(pid, start))
    };
    let taken: Vec<u32> = others.iter().filter(|other| taken(other)).map(|other| other.number).collect();
    Ok((1..u32::MAX).find(|number| !taken.contains(number)).unwrap_or(1))
}

fn read(row: &Row<'_>) -> rusqlite::Result<ClientRow> {
    let pid: Option<u32> = row.get(6)?;
    let start: Option<i64> = row.get(7)?;
    Ok(ClientRow {
        id: row.get(0)?,
        kind: row.get(1)?,
        name: row.get(2)?,
        version: row.get(3)?,
        root: row.get(4)?,
        label: row.get(5)?,
        process: pid.zip(start.map(|start| start as u64)),
        seen_at: row.get(8)?,
        first_at: row.get(9)?,
        agent: row.get(10)?,
        program: row.get(11)?,
        root_from: row.get(12)?,
        number: row.get(13)?,
        unconfirmed: row.get(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_of_itself_is_cleaned_and_cut() {
        assert_eq!(clean_client_text("a\u{202e}b\u{7}c\nd", 64), "abcd");
        assert_eq!(clean_client_text(&"x".repeat(1 << 20), 64).len(), 64);
        let row =
            ClientRow { name: "Claude Code".into(), root: "/home/x/shop/".into(), ..ClientRow::default() };
        assert_eq!(row.view()["project"], "shop");
        assert_eq!(ClientRow::default().view()["project"], Value::Null);
    }
    #[test]
    fn programs_of_one_name_in_one_folder_are_numbered_and_a_free_number_is_used_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(crate::db::tests::options(dir.path())).unwrap();
        // Odd processes are gone.
        let lives = |pid: u32, _: u64| pid.is_multiple_of(2);
        let put = |id: &str, root: &str, pid: u32, seen_at: i64| {
            let row = ClientRow {
                id: id.to_owned(),
                kind: "gateway".to_owned(),
                name: "codex".to_owned(),
                root: root.to_owned(),
                process: Some((pid, 1)),
                seen_at,
                ..ClientRow::default()
            };
            store.put_client(&row, lives).unwrap();
            let row = store.client(id).unwrap().unwrap();
            (row.number, row.first_at, row.seen_at)
        };
        assert_eq!(put("cl_a", "/p", 2, 10), (1, 10, 10));
        assert_eq!(put("cl_b", "/p", 4, 20), (2, 20, 20));
        assert_eq!(put("cl_c", "/q", 6, 30), (1, 30, 30), "another folder");
        assert_eq!(put("cl_a", "/p", 2, 40), (1, 10, 40), "the same one again");
        assert_eq!(put("cl_b", "/p", 5, 50).0, 2);
        assert_eq!(put("cl_d", "/p", 8, 60).0, 2, "its process is gone");
        assert!(
            store.forget_client_session("cl_d").unwrap() && !store.forget_client_session("cl_d").unwrap()
        );
    }
}
