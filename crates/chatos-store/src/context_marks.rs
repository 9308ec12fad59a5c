//! Marks of a chat's context: up to where results are left out of requests, and what a vendor said about the
//! size of its window. They change what a model is sent, never the transcript.

use rusqlite::Connection;

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct ContextMark {
    pub session_id: String,
    pub run_id: String,
    /// `prune`, `squeeze` or `window`.
    pub kind: String,
    /// Counts for messages up to this place.
    pub to_seq: i64,
    /// Of a window: whose.
    pub model_id: String,
    /// The window, where the vendor's word was about it.
    pub window: Option<i64>,
    /// Bytes of a request of which the vendor said how many tokens it had.
    pub bytes: Option<i64>,
    pub tokens: Option<i64>,
}

impl Store {
    /// The marks of a chat, oldest first.
    pub fn context_marks(&self, session: &str) -> Result<Vec<ContextMark>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT session_id, run_id, kind, to_seq, model_id, window, bytes, tokens
                 FROM context_marks WHERE session_id = ?1 ORDER BY id",
            )?;
            let rows = statement.query_map([session], |row| {
                Ok(ContextMark {
                    session_id: row.get(0)?,
                    run_id: row.get(1)?,
                    kind: row.get(2)?,
                    to_seq: row.get(3)?,
                    model_id: row.get(4)?,
                    window: row.get(5)?,
                    bytes: row.get(6)?,
                    tokens: row.get(7)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// Inside a transaction of the caller.
pub(crate) fn insert(connection: &Connection, mark: &ContextMark) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO context_marks (session_id, run_id, kind, to_seq, model_id, window, bytes, tokens, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            &mark.session_id,
            &mark.run_id,
            &mark.kind,
            mark.to_seq,
            &mark.model_id,
            mark.window,
            mark.bytes,
            mark.tokens,
            now_ms(),
        ))?;
    Ok(())
}
