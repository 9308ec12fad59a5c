//! Chats: their rows, lists and searches. Their messages are in `messages`.

use chatos_wire::MessageRole;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;
use crate::word::word;

/// A chat.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct SessionRow {
    pub id: String,
    pub title: String,
    pub agent_id: String,
    pub model_id: String,
    pub workspace_root: String,
    pub pinned: bool,
    pub archived_at: Option<i64>,
    pub branched_from_run: String,
    pub branched_at_step: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    pub last_message_at: Option<i64>,
    /// When it was read from a file; such a chat is only read.
    pub imported_at: Option<i64>,
}

/// What may change in a chat; with `title_was` the title only where it still is that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct SessionPatch {
    pub title: Option<String>,
    pub title_was: Option<String>,
    pub agent_id: Option<String>,
    pub model_id: Option<String>,
    pub workspace_root: Option<String>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
}

/// A place where a searched text occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct MessageHit {
    pub session_id: String,
    pub session_title: String,
    pub message_id: String,
    pub seq: i64,
    pub role: MessageRole,
    pub content: String,
    pub created_at: i64,
}

pub(crate) const COLUMNS: &str =
    "id, title, agent_id, model_id, workspace_root, pinned, archived_at, branched_from_run,
  branched_at_step, created_at, updated_at, last_message_at, imported_at";

/// The query of a list: archived or not, how many, after how many.
pub(crate) fn list() -> String {
    format!(
        "SELECT {COLUMNS} FROM sessions WHERE (archived_at IS NOT NULL) = ?1
           AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = sessions.id)
         ORDER BY pinned DESC, coalesce(last_message_at, created_at) DESC, id DESC LIMIT ?2 OFFSET ?3"
    )
}

impl Store {
    /// Makes a chat; one of the same id is left as it is.
    pub fn create_session(&self, row: SessionRow) -> Result<SessionRow, StoreError> {
        self.create_session_with(row, Vec::new())
    }

    /// Makes a chat with its messages, all or nothing.
    pub fn create_session_with(
        &self,
        row: SessionRow,
        messages: Vec<crate::messages::NewMessage>,
    ) -> Result<SessionRow, StoreError> {
        self.write(move |connection| {
            insert_session(connection, &row)?;
            for message in &messages {
                crate::messages::append(connection, message)?;
            }
            read_session(connection, &row.id)?.ok_or_else(StoreError::closed)
        })
    }

    /// One chat.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, StoreError> {
        self.read(|connection| read_session(connection, id))
    }

    /// Chats, pinned ones first, then the most recent; archived ones only when asked for. The transcript of
    /// a subagent is a chat with the id of its run; it is not listed.
    pub fn sessions(&self, archived: bool, limit: u32, offset: u32) -> Result<Vec<SessionRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&list())?;
            let rows = statement.query_map((archived, limit, offset), session_of)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// How many chats talk to an agent.
    pub fn sessions_of_agent(&self, agent: &str) -> Result<u64, StoreError> {
        self.read(|connection| {
            let sql = "SELECT count(*) FROM sessions WHERE agent_id = ?1
                         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = sessions.id)";
            let count: i64 = connection.prepare_cached(sql)?.query_row([agent], |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
    }

    /// Changes a chat; nothing when there is none.
    pub fn update_session(&self, id: &str, patch: SessionPatch) -> Result<Option<SessionRow>, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let archived = patch.archived.map(|archived| archived.then(now_ms));
            connection
                .prepare_cached(
                    "UPDATE sessions SET title = CASE WHEN title = coalesce(?10, title) THEN coalesce(?2, title) ELSE title END,
                       agent_id = coalesce(?3, agent_id), model_id = coalesce(?4, model_id), workspace_root = coalesce(?5, workspace_root),
                       pinned = coalesce(?6, pinned), archived_at = CASE WHEN ?7 THEN ?8 ELSE archived_at END, updated_at = ?9
                     WHERE id = ?1",
                )?
                .execute((
                    &id,
                    &patch.title,
                    &patch.agent_id,
                    &patch.model_id,
                    &patch.workspace_root,
                    patch.pinned,
                    archived.is_some(),
                    archived.flatten(),
                    now_ms(),
                    &patch.title_was,
                ))?;
            read_session(connection, &id)
        })
    }

    /// Deletes a chat with its messages and runs; what was used stays counted.
    pub fn delete_session(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let there = connection.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([&id])? > 0;
            connection
                .prepare_cached(
                    "DELETE FROM sessions WHERE id IN (SELECT id FROM runs WHERE session_id = ?1)",
                )?
                .execute([&id])?;
            connection.prepare_cached("DELETE FROM runs WHERE session_id = ?1")?.execute([&id])?;
            if there {
                crate::prune::recount(connection)?;
            }
            Ok(there)
        })
    }

    /// Messages that contain a text, newest first. Shorter than three characters is looked for row by row.
    pub fn search_messages(&self, text: &str, limit: u32) -> Result<Vec<MessageHit>, StoreError> {
        let indexed = text.chars().count() >= 3;
        let (wanted, filter) = if indexed {
            let quoted = format!("\"{}\"", text.replace('"', "\"\""));
            (quoted, "m.rowid IN (SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?1)")
        } else {
            (text.to_owned(), "instr(m.content, ?1) > 0")
        };
        self.read_long(|connection| {
            let sql = format!(
                "SELECT m.session_id, s.title, m.id, m.seq, m.role, m.content, m.created_at
                 FROM messages m JOIN sessions s ON s.id = m.session_id
                 WHERE {filter} AND m.role IN ('user', 'assistant') AND m.left_with = ''
                   AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = s.id) ORDER BY m.created_at DESC LIMIT ?2"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map((&wanted, limit), |row| {
                let message_id: String = row.get(2)?;
                Ok(MessageHit {
                    session_id: row.get(0)?,
                    session_title: row.get(1)?,
                    seq: row.get(3)?,
                    role: word(row, 4, "messages", &message_id)?,
                    content: row.get(5)?,
                    created_at: row.get(6)?,
                    message_id,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

pub(crate) fn insert_session(connection: &Connection, row: &SessionRow) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO sessions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (id) DO NOTHING"
    );
    connection.prepare_cached(&sql)?.execute((
        &row.id,
        &row.title,
        &row.agent_id,
        &row.model_id,
        &row.workspace_root,
        row.pinned,
        row.archived_at,
        &row.branched_from_run,
        row.branched_at_step,
        row.created_at,
        row.updated_at,
        row.last_message_at,
        row.imported_at,
    ))?;
    Ok(())
}

pub(crate) fn read_session(connection: &Connection, id: &str) -> Result<Option<SessionRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([id], session_of).optional()?)
}

pub(crate) fn session_of(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        title: row.get(1)?,
        agent_id: row.get(2)?,
        model_id: row.get(3)?,
        workspace_root: row.get(4)?,
        pinned: row.get(5)?,
        archived_at: row.get(6)?,
        branched_from_run: row.get(7)?,
        branched_at_step: row.get(8)?,
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
        last_message_at: row.get(11)?,
        imported_at: row.get(12)?,
    })
}
