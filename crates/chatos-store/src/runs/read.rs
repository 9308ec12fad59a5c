//! Reading runs, their steps and their families.

use chatos_policy::Role;
use chatos_wire::{RunKind, RunState};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::{RunRow, StepRow};
use crate::db::Store;
use crate::error::StoreError;
use crate::word::{in_sql, maybe_word, word};

/// Which runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Of one chat.
    pub session_id: Option<String>,
    /// In one state.
    pub state: Option<RunState>,
    /// Of one kind.
    pub kind: Option<RunKind>,
    /// Before this one in the list.
    pub before: Option<(i64, String)>,
    /// At most so many.
    pub limit: u32,
}

const COLUMNS: &str = "id, kind, session_id, agent_id, land_config_id, subagent_id, job_id, parent_run_id,
  parent_call_id, root_run_id, role, model_id, task, state, stop_reason, error_code, error_message, trace_id,
  span_id, parent_span_id, passes, lease_owner, lease_until, user_message_id, options, created_at, started_at,
  updated_at, finished_at";

const STEP_COLUMNS: &str =
    "run_id, seq, kind, span_id, parent_span_id, state, call_id, server_identity, tool,
  read_only, idempotent, attempt, task_id, request_id, child_run_id, input_blob, output_blob, status, code,
  elapsed_ms, started_at, finished_at, detail";

/// The query of a list. Only what is asked for is in it: a condition that may not count keeps the database from
/// using an index.
pub(super) fn list(filter: &RunFilter) -> (String, Vec<Sql>) {
    let mut sql = format!("SELECT {COLUMNS} FROM runs WHERE 1");
    let mut values: Vec<Sql> = Vec::new();
    let equal = [
        ("session_id", filter.session_id.as_deref()),
        ("state", filter.state.map(RunState::as_str)),
        ("kind", filter.kind.map(RunKind::as_str)),
    ];
    for (column, value) in equal {
        if let Some(value) = value {
            sql.push_str(&format!(" AND {column} = ?"));
            values.push(Sql::from(value.to_owned()));
        }
    }
    if let Some((at, id)) = &filter.before {
        sql.push_str(" AND (created_at, id) < (?, ?)");
        values.extend([Sql::from(*at), Sql::from(id.clone())]);
    }
    sql.push_str(" ORDER BY created_at DESC, id DESC LIMIT ?");
    values.push(Sql::from(filter.limit));
    (sql, values)
}

impl Store {
    /// One run.
    pub fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        self.read(|connection| run(connection, id))
    }

    /// The run of a job.
    pub fn run_of_job(&self, job: &str) -> Result<Option<RunRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM runs WHERE job_id = ?1");
            Ok(connection.prepare_cached(&sql)?.query_row([job], run_of).optional()?)
        })
    }

    /// Runs, newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.read(|connection| {
            let (sql, values) = list(filter);
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map(params_from_iter(values), run_of)?.collect::<Result<_, _>>()?)
        })
    }

    /// Runs in any of these states, oldest first.
    pub fn runs_in(&self, states: &[RunState]) -> Result<Vec<RunRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM runs WHERE state = ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut all = Vec::new();
            for state in states {
                for row in statement.query_map([state.as_str()], run_of)? {
                    all.push(row?);
                }
            }
            all.sort_by(|one: &RunRow, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
            Ok(all)
        })
    }

    /// Runs of a chat that are not over, oldest first.
    pub fn open_runs(&self, session: &str) -> Result<Vec<RunRow>, StoreError> {
        self.read(|connection| {
            let open = RunState::ACTIVE.into_iter().chain([RunState::Interrupted]);
            let open = in_sql(open.map(RunState::as_str));
            let sql = format!(
                "SELECT {COLUMNS} FROM runs WHERE session_id = ?1 AND kind <> 'sub' AND state IN ({open})
                 ORDER BY created_at, id"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([session], run_of)?.collect::<Result<_, _>>()?)
        })
    }

    /// All runs of one trace, oldest first.
    pub fn runs_of_trace(&self, trace: &str) -> Result<Vec<RunRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM runs WHERE trace_id = ?1 ORDER BY created_at, id");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([trace], run_of)?.collect::<Result<_, _>>()?)
        })
    }

    /// The children of a run, oldest first.
    pub fn child_runs(&self, parent: &str) -> Result<Vec<RunRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM runs WHERE parent_run_id = ?1 ORDER BY created_at, id");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([parent], run_of)?.collect::<Result<_, _>>()?)
        })
    }

    /// Plugins of subagents that a person switched off.
    pub fn disabled_subagents(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT id FROM subagent_plugins WHERE enabled = 0")?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    /// Switches a plugin of subagents on or off.
    pub fn put_subagent_plugin(
        &self,
        id: &str,
        name: &str,
        source: &str,
        enabled: bool,
    ) -> Result<(), StoreError> {
        let (id, name, source) = (id.to_owned(), name.to_owned(), source.to_owned());
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO subagent_plugins (id, name, source, enabled, installed_at)
                     VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled",
                )?
                .execute((&id, &name, &source, enabled, crate::time::now_ms()))?;
            Ok(())
        })
    }

    /// The steps of a run, in order.
    pub fn steps(&self, run: &str) -> Result<Vec<StepRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {STEP_COLUMNS} FROM run_steps WHERE run_id = ?1 ORDER BY seq");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([run], step_of)?.collect::<Result<_, _>>()?)
        })
    }
}

pub(super) fn run(connection: &Connection, id: &str) -> Result<Option<RunRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([id], run_of).optional()?)
}

fn run_of(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let id: String = row.get(0)?;
    Ok(RunRow {
        kind: word(row, 1, "runs", &id)?,
        session_id: row.get(2)?,
        agent_id: row.get(3)?,
        land_config_id: row.get(4)?,
        subagent_id: row.get(5)?,
        job_id: row.get(6)?,
        parent_run_id: row.get(7)?,
        parent_call_id: row.get(8)?,
        root_run_id: row.get(9)?,
        // The table takes no other word.
        role: if row.get_ref(10)?.as_str()? == Role::Sub.as_str() { Role::Sub } else { Role::Main },
        model_id: row.get(11)?,
        task: row.get(12)?,
        state: word(row, 13, "runs", &id)?,
        stop_reason: maybe_word(row, 14, "runs", &id)?,
        error_code: row.get(15)?,
        error_message: row.get(16)?,
        trace_id: row.get(17)?,
        span_id: row.get(18)?,
        parent_span_id: row.get(19)?,
        passes: row.get(20)?,
        lease_owner: row.get(21)?,
        lease_until: row.get(22)?,
        user_message_id: row.get(23)?,
        options: row.get(24)?,
        created_at: row.get(25)?,
        started_at: row.get(26)?,
        updated_at: row.get(27)?,
        finished_at: row.get(28)?,
        id,
    })
}

fn step_of(row: &Row<'_>) -> rusqlite::Result<StepRow> {
    let (run_id, seq): (String, i64) = (row.get(0)?, row.get(1)?);
    let id = format!("{run_id}/{seq}");
    Ok(StepRow {
        run_id,
        seq,
        kind: word(row, 2, "run_steps", &id)?,
        span_id: row.get(3)?,
        parent_span_id: row.get(4)?,
        state: word(row, 5, "run_steps", &id)?,
        call_id: row.get(6)?,
        server_identity: row.get(7)?,
        tool: row.get(8)?,
        read_only: row.get(9)?,
        idempotent: row.get(10)?,
        attempt: row.get(11)?,
        task_id: row.get(12)?,
        request_id: row.get(13)?,
        child_run_id: row.get(14)?,
        input_blob: row.get(15)?,
        output_blob: row.get(16)?,
        status: row.get(17)?,
        code: row.get(18)?,
        elapsed_ms: row.get(19)?,
        started_at: row.get(20)?,
        finished_at: row.get(21)?,
        detail: row.get(22)?,
    })
}
