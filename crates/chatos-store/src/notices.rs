//! The outbox of notices as far as the commits of questions touch it (inbox §5.1): a question is recorded together with
//! what has to be told of it, and closed together with it. The rest of these rows is `chatos-reach`'s.

use rusqlite::{Connection, params};

use crate::db::Store;
use crate::error::StoreError;

impl Store {
    /// Has every channel told of a question that is not a record of this state.
    pub fn add_notices(&self, request_id: &str, created_at: i64) -> Result<(), StoreError> {
        let id = request_id.to_owned();
        self.write(move |connection| fill(connection, &id, created_at))
    }

    /// A question of another program was closed.
    pub fn close_notices(&self, request_id: &str) -> Result<(), StoreError> {
        let id = request_id.to_owned();
        self.write(move |connection| close(connection, &id))
    }
}

/// Has every channel told of a question, in the commit that records it.
pub(crate) fn fill(connection: &Connection, request_id: &str, created_at: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO notices (request_id, channel, state, next_at, created_at)
             SELECT ?1, id, 'due', ?2 + 1000 * coalesce(record ->> '$.delay', 0), ?2 FROM channels WHERE paused = 0",
        )?
        .execute(params![request_id, created_at])?;
    Ok(())
}

/// Nothing more is told of a question, in the commit that closes it.
pub(crate) fn close(connection: &Connection, request_id: &str) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE notices SET state = 'answered', next_at = NULL WHERE request_id = ?1")?
        .execute([request_id])?;
    // A button that was sent for it is good for nothing any more.
    connection
        .prepare_cached("UPDATE answer_tokens SET used = 1 WHERE request_id = ?1")?
        .execute([request_id])?;
    connection.prepare_cached("DELETE FROM prompt_marks WHERE request_id = ?1")?.execute([request_id])?;
    Ok(())
}
