//! Runs and their steps: the journal that a run goes on from after a restart (agents §8, state §3.3).
//!
//! Everything one moment of a run changes is one transaction, [`RunWrite`], and only the holder of the
//! run's lease may write it: a host that lost its lease stops before its next effect (state §10).

mod read;
#[cfg(test)]
mod tests;

use chatos_policy::Role;
use chatos_wire::{RunEnd, RunKind, RunState, StepKind, StepState};
use rusqlite::{Connection, OptionalExtension};

use crate::context_marks::{self, ContextMark};
use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::kept::Kept;
use crate::message_blocks::{self, MessageBlock};
use crate::messages::{self, NewMessage, SummaryRow, ToolCallRow};
use crate::sessions::{SessionRow, insert_session};
use crate::time::now_ms;
use crate::usage::{UsageRow, insert_usage};
use crate::word::in_sql;

pub use read::RunFilter;

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct RunRow {
    pub id: String,
    pub kind: RunKind,
    pub session_id: String,
    pub agent_id: String,
    pub land_config_id: String,
    pub subagent_id: String,
    pub job_id: Option<String>,
    pub parent_run_id: String,
    pub parent_call_id: String,
    pub root_run_id: String,
    pub role: Role,
    pub model_id: String,
    pub task: String,
    pub state: RunState,
    pub stop_reason: Option<RunEnd>,
    pub error_code: String,
    pub error_message: String,
    pub trace_id: String,
    pub span_id: String,
    pub parent_span_id: String,
    pub passes: i64,
    pub lease_owner: String,
    pub lease_until: Option<i64>,
    pub user_message_id: String,
    /// JSON object.
    pub options: String,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub updated_at: i64,
    pub finished_at: Option<i64>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct StepRow {
    pub run_id: String,
    pub seq: i64,
    pub kind: StepKind,
    pub span_id: String,
    pub parent_span_id: String,
    pub state: StepState,
    pub call_id: Option<String>,
    pub server_identity: String,
    pub tool: String,
    pub read_only: bool,
    pub idempotent: bool,
    pub attempt: i64,
    pub task_id: String,
    pub request_id: String,
    pub child_run_id: String,
    pub input_blob: String,
    pub output_blob: String,
    pub status: String,
    pub code: String,
    pub elapsed_ms: Option<i64>,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    /// JSON object.
    pub detail: String,
}

/// How a step moves on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub enum StepWrite {
    /// Before anything of it happens.
    Plan { row: Box<StepRow>, input: Kept },
    /// Its bytes are about to go out.
    Sent { seq: i64, task_id: String, detail: String },
    /// It waits for a person.
    Waits { seq: i64, request_id: String },
    /// It has a child run.
    Child { seq: i64, child_run_id: String },
    /// It has an outcome.
    Finish { seq: i64, state: StepState, status: String, code: String, elapsed_ms: Option<i64>, output: Kept },
}

/// How a message of a run moves on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub enum MessageWrite {
    /// A new one.
    Append(Box<NewMessage>),
    /// An answer is complete, or as complete as it will be.
    Finish {
        id: String,
        content: String,
        reasoning: String,
        opaque: String,
        tokens: Option<i64>,
        partial: bool,
        calls: Vec<(ToolCallRow, Kept)>,
    },
    /// An attempt failed: its text is void.
    Void { id: String },
    /// An answer that never began goes, or the notice of a failure that is none any more.
    Drop { id: String },
}

/// What changes in the run itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct RunChange {
    pub state: Option<RunState>,
    pub stop_reason: Option<RunEnd>,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub passes: Option<i64>,
    pub model_id: Option<String>,
    /// It ended: the lease goes with it.
    pub finished: bool,
    /// It did not end, but nobody holds it any more.
    pub released: bool,
}

/// One moment of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct RunWrite {
    pub run_id: String,
    /// Who holds the lease.
    pub owner: String,
    pub steps: Vec<StepWrite>,
    pub messages: Vec<MessageWrite>,
    pub usage: Vec<UsageRow>,
    pub summary: Option<SummaryRow>,
    pub marks: Vec<ContextMark>,
    pub blocks: Vec<MessageBlock>,
    pub change: Option<RunChange>,
}

impl Store {
    /// Takes a run in, with the message that begins it and, where it is new, its chat.
    pub fn enqueue_run(
        &self,
        run: RunRow,
        session: Option<SessionRow>,
        message: Option<NewMessage>,
    ) -> Result<i64, StoreError> {
        self.write_journal(move |connection| {
            if let Some(message) = &message {
                messages::refuse_known(connection, &message.row.id)?;
            }
            if let Some(session) = &session {
                insert_session(connection, session)?;
            }
            insert_run(connection, &run)?;
            message.map_or(Ok(0), |message| messages::append(connection, &message))
        })
    }

    /// Takes the lease of a run that nobody holds, in one of the given states, and marks it running.
    pub fn claim_run(
        &self,
        id: &str,
        owner: &str,
        until: i64,
        from: &[RunState],
    ) -> Result<RunRow, StoreError> {
        let (id, owner, from) = (id.to_owned(), owner.to_owned(), from.to_vec());
        self.write_journal(move |connection| {
            let run = read::run(connection, &id)?.ok_or_else(|| no_run(&id))?;
            if !from.contains(&run.state) {
                return Err(StoreError::new(
                    StoreErrorKind::Conflict,
                    format!("the run `{id}` is `{}`", run.state),
                ));
            }
            let now = now_ms();
            connection
                .prepare_cached(
                    "UPDATE runs SET state = ?5, lease_owner = ?2, lease_until = ?3, updated_at = ?4,
                       started_at = coalesce(started_at, ?4), finished_at = NULL WHERE id = ?1",
                )?
                .execute((&id, &owner, until, now, RunState::Running.as_str()))?;
            read::run(connection, &id)?.ok_or_else(|| no_run(&id))
        })
    }

    /// Extends the leases of this owner.
    pub fn renew_runs(&self, owner: &str, until: i64) -> Result<usize, StoreError> {
        let owner = owner.to_owned();
        self.write(move |connection| {
            Ok(connection
                .prepare_cached("UPDATE runs SET lease_until = ?2 WHERE lease_owner = ?1")?
                .execute((&owner, until))?)
        })
    }

    /// Marks what other owners left in the middle as interrupted and gives those runs. The caller holds
    /// the lock of the state, so no other owner is alive (state §10: lease = lock).
    pub fn interrupt_runs(&self, owner: &str) -> Result<Vec<RunRow>, StoreError> {
        let owner = owner.to_owned();
        self.write(move |connection| {
            let active = in_sql(RunState::ACTIVE.map(RunState::as_str));
            let mut statement = connection.prepare_cached(&format!(
                "UPDATE runs SET state = ?3, lease_owner = '', lease_until = NULL, updated_at = ?2
                 WHERE state IN ({active}) AND lease_owner <> ?1 RETURNING id",
            ))?;
            let ids =
                statement.query_map((&owner, now_ms(), RunState::Interrupted.as_str()), |row| row.get(0))?;
            let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
            let runs = ids.iter().filter_map(|id| read::run(connection, id).transpose());
            let mut runs = runs.collect::<Result<Vec<_>, _>>()?;
            runs.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
            Ok(runs)
        })
    }

    /// Gives up an interrupted run, or one that never began; the message of the latter goes with it.
    pub fn discard_run(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let run = read::run(connection, &id)?.ok_or_else(|| no_run(&id))?;
            if !matches!(run.state, RunState::Interrupted | RunState::Queued) {
                return Err(StoreError::new(
                    StoreErrorKind::Conflict,
                    format!("the run `{id}` is `{}`", run.state),
                ));
            }
            let now = now_ms();
            connection
                .prepare_cached(
                    "UPDATE runs SET state = ?3, lease_owner = '', lease_until = NULL, updated_at = ?2,
                       finished_at = ?2 WHERE id = ?1",
                )?
                .execute((&id, now, RunState::Discarded.as_str()))?;
            connection
                .prepare_cached(
                    "UPDATE run_steps SET state = 'skipped', finished_at = ?2
                     WHERE run_id = ?1 AND state IN ('planned', 'sent', 'uncertain')",
                )?
                .execute((&id, now))?;
            if run.state == RunState::Queued && run.kind != RunKind::Sub {
                // Nobody has read it, and no answer follows.
                let taken: Option<(String, String)> = connection
                    .prepare_cached(
                        "SELECT session_id, version_of FROM messages WHERE id = ?1 AND run_id = ?2",
                    )?
                    .query_row((&run.user_message_id, &id), |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                connection
                    .prepare_cached("DELETE FROM messages WHERE id = ?1 AND run_id = ?2")?
                    .execute((&run.user_message_id, &id))?;
                if let Some((session, version_of)) = taken {
                    crate::versions::taken_back(connection, &session, &version_of)?;
                }
            }
            Ok(())
        })
    }

    /// Writes one moment of a run, durable on return. Refused without the lease.
    pub fn write_run(&self, write: RunWrite) -> Result<(), StoreError> {
        self.write_journal(move |connection| {
            let owner: Option<String> = connection
                .prepare_cached("SELECT lease_owner FROM runs WHERE id = ?1")?
                .query_row([&write.run_id], |row| row.get(0))
                .optional()?;
            match owner {
                None => return Err(no_run(&write.run_id)),
                Some(owner) if owner != write.owner => {
                    return Err(StoreError::new(
                        StoreErrorKind::Conflict,
                        format!("the run `{}` is not held by this host any more", write.run_id),
                    ));
                }
                Some(_) => {}
            }
            for message in &write.messages {
                write_message(connection, message)?;
            }
            for step in &write.steps {
                write_step(connection, &write.run_id, step)?;
            }
            for usage in &write.usage {
                insert_usage(connection, usage)?;
            }
            if let Some(summary) = &write.summary {
                messages::insert_summary(connection, summary)?;
            }
            for mark in &write.marks {
                context_marks::insert(connection, mark)?;
            }
            for block in &write.blocks {
                message_blocks::insert(connection, block)?;
            }
            if let Some(change) = &write.change {
                change_run(connection, &write.run_id, change)?;
            }
            Ok(())
        })
    }

    /// What a person decided for the rest of a run about a tool.
    pub fn approval(&self, run: &str, identity: &str, tool: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT decision FROM approvals WHERE run_id = ?1 AND server_identity = ?2 AND tool = ?3",
                )?
                .query_row((run, identity, tool), |row| row.get(0))
                .optional()?)
        })
    }

    /// Remembers that decision.
    pub fn put_approval(
        &self,
        run: &str,
        identity: &str,
        tool: &str,
        decision: &str,
    ) -> Result<(), StoreError> {
        let values = [run, identity, tool, decision].map(str::to_owned);
        self.write(move |connection| {
            let [run, identity, tool, decision] = &values;
            connection
                .prepare_cached(
                    "INSERT INTO approvals (run_id, server_identity, tool, decision, decided_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (run_id, server_identity, tool)
                     DO UPDATE SET decision = excluded.decision, decided_at = excluded.decided_at",
                )?
                .execute((run, identity, tool, decision, now_ms()))?;
            Ok(())
        })
    }
}

fn no_run(id: &str) -> StoreError {
    StoreError::new(StoreErrorKind::NotFound, format!("there is no run `{id}`"))
}

fn insert_run(connection: &Connection, run: &RunRow) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO runs (id, kind, session_id, agent_id, land_config_id, subagent_id, job_id, parent_run_id,
               parent_call_id, root_run_id, role, model_id, task, state, trace_id, span_id, parent_span_id,
               user_message_id, options, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?20)
             ON CONFLICT (id) DO NOTHING",
        )?
        .execute(rusqlite::params![
            run.id,
            run.kind.as_str(),
            run.session_id,
            run.agent_id,
            run.land_config_id,
            run.subagent_id,
            run.job_id,
            run.parent_run_id,
            run.parent_call_id,
            run.root_run_id,
            run.role.as_str(),
            run.model_id,
            run.task,
            run.state.as_str(),
            run.trace_id,
            run.span_id,
            run.parent_span_id,
            run.user_message_id,
            if run.options.is_empty() { "{}" } else { &run.options },
            run.created_at,
        ])?;
    Ok(())
}

fn write_message(connection: &Connection, message: &MessageWrite) -> Result<(), StoreError> {
    match message {
        MessageWrite::Append(message) => {
            messages::append(connection, message)?;
        }
        MessageWrite::Finish { id, content, reasoning, opaque, tokens, partial, calls } => {
            connection
                .prepare_cached(
                    "UPDATE messages SET content = ?2, reasoning = ?3, opaque = ?4, tokens = ?5, partial = ?6
                     WHERE id = ?1",
                )?
                .execute((id, content, reasoning, opaque, tokens, partial))?;
            messages::put_calls(connection, id, calls)?;
        }
        MessageWrite::Void { id } => {
            connection
                .prepare_cached(
                    "UPDATE messages SET content = '', reasoning = '', partial = 1 WHERE id = ?1",
                )?
                .execute([id])?;
        }
        MessageWrite::Drop { id } => {
            // Only the last message of a chat may go, so that the order stays without a gap.
            connection
                .prepare_cached(
                    "DELETE FROM messages WHERE id = ?1 AND (partial = 1 AND content = '' OR kind = 'notice') AND seq =
                       (SELECT max(seq) FROM messages o WHERE o.session_id = messages.session_id)",
                )?
                .execute([id])?;
        }
    }
    Ok(())
}

fn write_step(connection: &Connection, run: &str, step: &StepWrite) -> Result<(), StoreError> {
    let now = now_ms();
    match step {
        StepWrite::Plan { row, input } => {
            input.hold(connection)?;
            connection
                .prepare_cached(
                    "INSERT INTO run_steps (run_id, seq, kind, span_id, parent_span_id, state, call_id,
                       server_identity, tool, read_only, idempotent, attempt, task_id, request_id, child_run_id,
                       input_blob, started_at, detail, status, finished_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                       ?19, ?20)",
                )?
                .execute(rusqlite::params![
                    run,
                    row.seq,
                    row.kind.as_str(),
                    row.span_id,
                    row.parent_span_id,
                    row.state.as_str(),
                    row.call_id,
                    row.server_identity,
                    row.tool,
                    row.read_only,
                    row.idempotent,
                    row.attempt.max(1),
                    row.task_id,
                    row.request_id,
                    row.child_run_id,
                    input.as_str(),
                    now,
                    if row.detail.is_empty() { "{}" } else { &row.detail },
                    row.status,
                    (row.state == StepState::Done).then_some(now),
                ])?;
        }
        StepWrite::Sent { seq, task_id, detail } => {
            connection
                .prepare_cached(
                    "UPDATE run_steps SET state = 'sent', task_id = CASE WHEN ?3 = '' THEN task_id ELSE ?3 END,
                       detail = json_patch(detail, ?4) WHERE run_id = ?1 AND seq = ?2",
                )?
                .execute((run, seq, task_id, if detail.is_empty() { "{}" } else { detail }))?;
        }
        StepWrite::Waits { seq, request_id } => {
            connection
                .prepare_cached("UPDATE run_steps SET request_id = ?3 WHERE run_id = ?1 AND seq = ?2")?
                .execute((run, seq, request_id))?;
        }
        StepWrite::Child { seq, child_run_id } => {
            connection
                .prepare_cached("UPDATE run_steps SET child_run_id = ?3 WHERE run_id = ?1 AND seq = ?2")?
                .execute((run, seq, child_run_id))?;
        }
        StepWrite::Finish { seq, state, status, code, elapsed_ms, output } => {
            output.hold(connection)?;
            connection
                .prepare_cached(
                    "UPDATE run_steps SET state = ?3, status = ?4, code = ?5, elapsed_ms = ?6, output_blob = ?7,
                       finished_at = ?8 WHERE run_id = ?1 AND seq = ?2",
                )?
                .execute((run, seq, state.as_str(), status, code, elapsed_ms, output.as_str(), now))?;
        }
    }
    Ok(())
}

fn change_run(connection: &Connection, run: &str, change: &RunChange) -> Result<(), StoreError> {
    let now = now_ms();
    connection
        .prepare_cached(
            "UPDATE runs SET state = coalesce(?2, state), stop_reason = coalesce(?3, stop_reason),
               error_code = coalesce(?4, error_code), error_message = coalesce(?5, error_message),
               passes = coalesce(?6, passes), model_id = coalesce(?7, model_id), updated_at = ?8,
               finished_at = CASE WHEN ?9 THEN ?8 ELSE finished_at END,
               lease_owner = CASE WHEN ?9 OR ?10 THEN '' ELSE lease_owner END,
               lease_until = CASE WHEN ?9 OR ?10 THEN NULL ELSE lease_until END
             WHERE id = ?1",
        )?
        .execute((
            run,
            change.state.map(RunState::as_str),
            change.stop_reason.map(RunEnd::as_str),
            &change.error_code,
            &change.error_message,
            change.passes,
            &change.model_id,
            now,
            change.finished,
            change.released,
        ))?;
    Ok(())
}
