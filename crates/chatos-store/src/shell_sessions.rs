//! Shell sessions that were started: the row beside the files of each (servers §3.7). Who runs now is
//! not decided here but by the processes themselves.

use serde::Serialize;

use crate::db::Store;
use crate::error::StoreError;

/// A session that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct ShellSessionRow {
    pub id: String,
    pub name: String,
    pub command: String,
    pub cwd: String,
    pub pid: Option<i64>,
    pub pid_start_time: Option<i64>,
    pub started_at: i64,
    pub exited_at: Option<i64>,
    pub exit_code: Option<i64>,
    pub signal: String,
    pub log_path: String,
}

impl Store {
    /// Remembers a session, or what became of it.
    pub fn save_shell_session(&self, row: &ShellSessionRow) -> Result<(), StoreError> {
        let row = row.clone();
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO shell_sessions (id, name, command, cwd, pid, pid_start_time, started_at, exited_at,
                       exit_code, signal, log_path)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                     ON CONFLICT (id) DO UPDATE SET pid = ?5, pid_start_time = ?6, exited_at = ?8, exit_code = ?9,
                       signal = ?10",
                )?
                .execute((
                    &row.id,
                    &row.name,
                    &row.command,
                    &row.cwd,
                    row.pid,
                    row.pid_start_time,
                    row.started_at,
                    row.exited_at,
                    row.exit_code,
                    &row.signal,
                    &row.log_path,
                ))?;
            Ok(())
        })
    }

    /// Remembered sessions, newest first, at most `limit`.
    pub fn shell_sessions(&self, limit: usize) -> Result<Vec<ShellSessionRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, name, command, cwd, pid, pid_start_time, started_at, exited_at, exit_code, signal, log_path
                 FROM shell_sessions ORDER BY started_at DESC, id DESC LIMIT ?1",
            )?;
            let rows = statement.query_map((i64::try_from(limit).unwrap_or(i64::MAX),), |row| {
                Ok(ShellSessionRow {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    command: row.get(2)?,
                    cwd: row.get(3)?,
                    pid: row.get(4)?,
                    pid_start_time: row.get(5)?,
                    started_at: row.get(6)?,
                    exited_at: row.get(7)?,
                    exit_code: row.get(8)?,
                    signal: row.get(9)?,
                    log_path: row.get(10)?,
                })
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })
    }

    /// Forgets sessions that ended before a time; their files are gone by then.
    pub fn forget_shell_sessions(&self, ended_before: i64) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM shell_sessions WHERE exited_at < ?1")?
                .execute((ended_before,))?;
            Ok(())
        })
    }
}
