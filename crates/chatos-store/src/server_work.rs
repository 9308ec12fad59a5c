//! What of the work of servers outlives a process: their era, tasks that are waited for, questions that
//! are answered by sending a call again.

use rusqlite::{OptionalExtension, params};

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// A result that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsyncTaskRow {
    pub task_id: String,
    pub run_id: String,
    pub call_id: String,
    pub identity: String,
    pub tool: String,
    /// Where reading the prompt log begins.
    pub cursor: u64,
    pub deadline_at: Option<i64>,
    /// `waiting`, `done`, `failed`, `timeout`, `canceled` or `interrupted`.
    pub state: String,
    /// `async` or `mcp`.
    pub kind: String,
    pub created_at: i64,
}

/// A question of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAskRow {
    pub call_id: String,
    pub run_id: String,
    pub identity: String,
    pub method: String,
    /// JSON, as the other three.
    pub params: String,
    pub request_state: Option<String>,
    pub input_requests: String,
    pub prompts: String,
}

const TASK: &str =
    "task_id, run_id, call_id, server_identity, tool, cursor_offset, deadline_at, state, kind, created_at";

fn task(row: &rusqlite::Row<'_>) -> rusqlite::Result<AsyncTaskRow> {
    Ok(AsyncTaskRow {
        task_id: row.get(0)?,
        run_id: row.get(1)?,
        call_id: row.get(2)?,
        identity: row.get(3)?,
        tool: row.get(4)?,
        cursor: u64::try_from(row.get::<_, i64>(5)?).unwrap_or_default(),
        deadline_at: row.get(6)?,
        state: row.get(7)?,
        kind: row.get(8)?,
        created_at: row.get(9)?,
    })
}

impl Store {
    /// The era a server was found to speak.
    pub fn server_eras(&self) -> Result<Vec<(String, String, String)>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT server_identity, digest, era FROM server_eras")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Remembers it; what was known of other contents of the same server is forgotten.
    pub fn remember_era(&self, identity: &str, digest: &str, era: &'static str) -> Result<(), StoreError> {
        let (identity, digest) = (identity.to_owned(), digest.to_owned());
        self.write(move |connection| {
            connection.execute(
                "DELETE FROM server_eras WHERE server_identity = ?1 AND digest <> ?2",
                [&identity, &digest],
            )?;
            connection.execute(
                "INSERT INTO server_eras (server_identity, digest, era, seen_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET era = excluded.era, seen_at = excluded.seen_at",
                params![identity, digest, era, now_ms()],
            )?;
            Ok(())
        })
    }

    /// Keeps a wait. Waiting again for the same task keeps its times and the place where reading begins.
    pub fn keep_async_task(&self, row: AsyncTaskRow) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO async_tasks (task_id, run_id, call_id, server_identity, tool, cursor_offset,
                   deadline_at, state, kind, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT (task_id) DO UPDATE SET state = excluded.state, ended_at = NULL",
                params![
                    row.task_id,
                    row.run_id,
                    row.call_id,
                    row.identity,
                    row.tool,
                    i64::try_from(row.cursor).unwrap_or(i64::MAX),
                    row.deadline_at,
                    row.state,
                    row.kind,
                    row.created_at,
                ],
            )?;
            Ok(())
        })
    }

    /// A wait is over.
    pub fn end_async_task(&self, task_id: &str, state: &'static str) -> Result<(), StoreError> {
        let task_id = task_id.to_owned();
        self.write(move |connection| {
            connection.execute(
                "UPDATE async_tasks SET state = ?2, ended_at = ?3 WHERE task_id = ?1",
                params![task_id, state, now_ms()],
            )?;
            Ok(())
        })
    }

    /// Waits that were not over when the last process ended become interrupted; those of runs are left
    /// to their runs. Returns all that can still be continued.
    pub fn interrupt_async_tasks(&self) -> Result<Vec<AsyncTaskRow>, StoreError> {
        self.write(move |connection| {
            connection.execute("UPDATE async_tasks SET state = 'interrupted' WHERE state = 'waiting'", [])?;
            let sql =
                format!("SELECT {TASK} FROM async_tasks WHERE state = 'interrupted' ORDER BY created_at");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([], task)?.collect::<Result<_, _>>()?)
        })
    }

    /// One wait.
    pub fn async_task(&self, task_id: &str) -> Result<Option<AsyncTaskRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {TASK} FROM async_tasks WHERE task_id = ?1");
            Ok(connection.prepare_cached(&sql)?.query_row([task_id], task).optional()?)
        })
    }

    /// The wait of a call.
    pub fn async_task_of(&self, call_id: &str) -> Result<Option<AsyncTaskRow>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {TASK} FROM async_tasks WHERE call_id = ?1 ORDER BY created_at DESC, task_id DESC LIMIT 1"
            );
            Ok(connection.prepare_cached(&sql)?.query_row([call_id], task).optional()?)
        })
    }

    /// Keeps a question; a later one of the same call replaces it.
    pub fn keep_open_ask(&self, row: OpenAskRow) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO open_asks (call_id, run_id, server_identity, method, params, request_state,
                   input_requests, prompts, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (call_id) DO UPDATE SET params = excluded.params, request_state = excluded.request_state,
                   input_requests = excluded.input_requests, prompts = excluded.prompts",
                params![
                    row.call_id,
                    row.run_id,
                    row.identity,
                    row.method,
                    row.params,
                    row.request_state,
                    row.input_requests,
                    row.prompts,
                    now_ms(),
                ],
            )?;
            Ok(())
        })
    }

    /// The question of a call is answered or withdrawn.
    pub fn end_open_ask(&self, call_id: &str) -> Result<(), StoreError> {
        let call_id = call_id.to_owned();
        self.write(move |connection| {
            connection.execute("DELETE FROM open_asks WHERE call_id = ?1", [&call_id])?;
            Ok(())
        })
    }

    /// Questions that wait for their answer, oldest first.
    pub fn open_asks(&self) -> Result<Vec<OpenAskRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT call_id, run_id, server_identity, method, params, request_state, input_requests, prompts
                 FROM open_asks ORDER BY created_at",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(OpenAskRow {
                    call_id: row.get(0)?,
                    run_id: row.get(1)?,
                    identity: row.get(2)?,
                    method: row.get(3)?,
                    params: row.get(4)?,
                    request_state: row.get(5)?,
                    input_requests: row.get(6)?,
                    prompts: row.get(7)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &std::path::Path) -> Store {
        let options = crate::OpenOptions {
            path: dir.join("state.db"),
            backups: dir.join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        };
        Store::open(options).unwrap()
    }

    #[test]
    fn a_wait_that_a_process_left_can_be_continued_from_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let row = AsyncTaskRow {
            task_id: "task_1".into(),
            run_id: "r".into(),
            call_id: "c".into(),
            identity: "app:a/b".into(),
            tool: "t".into(),
            cursor: 42,
            deadline_at: Some(9),
            state: "waiting".into(),
            kind: "async".into(),
            created_at: 0,
        };
        store.keep_async_task(row.clone()).unwrap();
        store.keep_async_task(AsyncTaskRow { task_id: "task_2".into(), ..row.clone() }).unwrap();
        store.end_async_task("task_2", "done").unwrap();
        let left = store.interrupt_async_tasks().unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!((left[0].cursor, left[0].state.as_str()), (42, "interrupted"));
        store.keep_async_task(AsyncTaskRow { cursor: 99, ..row }).unwrap();
        assert_eq!(store.async_task("task_1").unwrap().unwrap().cursor, 42, "the first place counts");
        store.remember_era("admin:1", "d1", "legacy").unwrap();
        store.remember_era("admin:1", "d2", "modern").unwrap();
        assert_eq!(store.server_eras().unwrap(), [("admin:1".into(), "d2".into(), "modern".into())]);
    }
}
