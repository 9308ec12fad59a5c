//! Programs that ask or call through us, one row per session of theirs (other-agents §2.1).

use rusqlite::{OptionalExtension, Row, params};
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
}

impl ClientRow {
    /// As questions and lists show it. The project is named by its folder.
    pub fn view(&self) -> Value {
        let project = self.root.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        json!({
            "id": self.id, "kind": self.kind, "name": self.name, "version": text(&self.version),
            "label": text(&self.label), "root": text(&self.root), "project": text(project),
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

const COLUMNS: &str = "id, kind, name, version, root, label, pid, pid_start, seen_at";

impl Store {
    /// Notes a program's session; the same id again renews it. Texts are cleaned and cut.
    pub fn put_client(&self, row: &ClientRow) -> Result<(), StoreError> {
        let mut row = row.clone();
        row.name = clean_client_text(&row.name, NAME_CHARS);
        row.version = clean_client_text(&row.version, NAME_CHARS);
        row.label = clean_client_text(&row.label, LABEL_CHARS);
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM clients WHERE seen_at < ?1")?
                .execute([row.seen_at - KEPT_MS])?;
            let sql = "INSERT INTO clients (id, kind, name, version, root, label, pid, pid_start, seen_at)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                       ON CONFLICT (id) DO UPDATE SET kind = ?2, name = ?3, version = ?4, root = ?5, label = ?6,
                         pid = ?7, pid_start = ?8, seen_at = ?9";
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
                row.seen_at
            ])?;
            Ok(())
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
}
