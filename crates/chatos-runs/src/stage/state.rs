//! One run from its beginning to its end: what is known of it, and what its journal and those who watch share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chatos_agent::{Origin, RunClock};
use chatos_model::{Prices, Usage};
use chatos_policy::Role;
use chatos_store::{AgentRecord, MessageRow, RunRow, RunWrite, StepRow, Store, StoreError, UsageRow, now_ms};
use chatos_tool::{Fault, Lang, Trace};
use chatos_wire::StepKind;

use super::super::budget::Budget;
use super::super::desk::{Runs, broken};
use super::super::emit::Emitter;
use super::super::parts::RunParts;
use super::super::tools::RunTools;

pub(crate) type Later<T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send>>;

/// What is known of a run from its beginning to its end.
pub(crate) struct StageParts {
    pub(crate) runs: Runs,
    pub(crate) run: RunRow,
    /// Where its messages are; a subagent has a transcript of its own.
    pub(crate) transcript: String,
    pub(crate) owner: String,
    pub(crate) agent: AgentRecord,
    pub(crate) role: Role,
    pub(crate) lang: Lang,
    pub(crate) workdir: PathBuf,
    pub(crate) model_id: String,
    pub(crate) origin: Origin,
    pub(crate) vision: bool,
    /// Files it reads itself.
    pub(crate) native: chatos_documents::Native,
    pub(crate) room: chatos_servers::Room,
    pub(crate) prices: Prices,
    pub(crate) trace: Trace,
    pub(crate) emitter: Emitter,
    pub(crate) clock: Arc<RunClock>,
    pub(crate) tools: RunTools,
    pub(crate) next_step: i64,
    /// The id that was promised for the first answer.
    pub(crate) first_answer: Option<String>,
    pub(crate) result_chars: usize,
    pub(crate) budget: Budget,
}

/// One run, shared by its loop, its calls and those who watch it.
#[derive(Clone)]
pub(crate) struct HostStage(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: StageParts,
    pub(super) next_step: AtomicI64,
    pub(super) first_answer: Mutex<Option<String>>,
    pub(super) live: Mutex<Option<Live>>,
    pub(super) last_answer: Mutex<Option<String>>,
    pub(super) waiting: AtomicU64,
    // Steps whose result comes later.
    pub(super) tasks: Mutex<std::collections::HashSet<i64>>,
    // Calls by their span, and the questions of built-in servers they wait for.
    pub(super) spans: Mutex<std::collections::HashMap<String, (i64, String)>>,
    pub(super) asked: Mutex<std::collections::HashMap<i64, String>>,
    // Steps told to whoever watches a subagent.
    pub(super) told: AtomicI64,
}

/// The answer that is being written.
#[derive(Debug, Clone, Default)]
pub(super) struct Live {
    pub(super) message_id: String,
    pub(super) seq: i64,
    pub(super) text: String,
    pub(super) reasoning: String,
}

impl std::ops::Deref for HostStage {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl HostStage {
    pub(crate) fn new(mut parts: StageParts) -> Self {
        let next_step = AtomicI64::new(parts.next_step);
        let first_answer = Mutex::new(parts.first_answer.take());
        Self(Arc::new(Inner {
            parts,
            next_step,
            first_answer,
            live: Mutex::default(),
            last_answer: Mutex::default(),
            waiting: AtomicU64::new(0),
            tasks: Mutex::default(),
            spans: Mutex::default(),
            asked: Mutex::default(),
            told: AtomicI64::new(0),
        }))
    }
}

impl Inner {
    /// What the runs of this host stand on.
    pub(crate) fn ports(&self) -> &Arc<RunParts> {
        self.parts.runs.parts()
    }

    pub(super) fn store(&self) -> &Store {
        &self.ports().store
    }

    pub(super) fn step(&self) -> i64 {
        self.next_step.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn moment(&self) -> RunWrite {
        RunWrite { run_id: self.parts.run.id.clone(), owner: self.parts.owner.clone(), ..RunWrite::default() }
    }

    /// A step of this run under the run's own span.
    pub(super) fn row(&self, kind: StepKind) -> StepRow {
        StepRow {
            seq: self.step(),
            kind,
            span_id: chatos_records::trace_ids::new_span(),
            parent_span_id: self.parts.run.span_id.clone(),
            ..StepRow::default()
        }
    }

    pub(super) fn span(&self, span_id: &str, tool: Option<&str>) -> Trace {
        Trace {
            span_id: Some(span_id.to_owned()),
            parent_span_id: Some(self.parts.run.span_id.clone()),
            tool_name: tool.map(str::to_owned),
            ..self.parts.trace.clone()
        }
    }

    pub(super) fn live(&self) -> Option<Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_live(&self, live: Option<Live>) {
        *self.live.lock().unwrap_or_else(PoisonError::into_inner) = live;
    }

    pub(super) fn message(&self, id: &str) -> Option<MessageRow> {
        self.store().message(id).ok().flatten()
    }

    pub(super) fn usage_row(&self, usage: &Usage, message_id: &str, step: i64) -> UsageRow {
        let cost = self.parts.prices.cost(usage);
        let run = &self.parts.run;
        UsageRow {
            id: uuid::Uuid::now_v7().to_string(),
            run_id: run.id.clone(),
            root_run_id: run.root_run_id.clone(),
            session_id: run.session_id.clone(),
            agent_id: run.agent_id.clone(),
            model_id: self.parts.model_id.clone(),
            message_id: message_id.to_owned(),
            step_seq: Some(step),
            input: usage.input as i64,
            output: usage.output as i64,
            cache_read: usage.cache_read as i64,
            cache_write: usage.cache_write as i64,
            estimated: usage.estimated,
            currency: cost.as_ref().map(|cost| cost.currency.clone()).unwrap_or_default(),
            cost: cost.map(|cost| cost.amount),
            created_at: now_ms(),
        }
    }
}

impl HostStage {
    /// Runs work on the database off the async threads.
    pub(crate) fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, Fault> + Send + 'static,
    ) -> Later<Result<T, Fault>> {
        let stage = self.clone();
        Box::pin(async move {
            let done = chatos_blocking::run(move || work(&stage.0)).await;
            done.unwrap_or_else(|error| Err(broken(&error)))
        })
    }
}

/// A failure of the store as a fault.
pub(super) fn kept<T>(result: Result<T, StoreError>) -> Result<T, Fault> {
    result.map_err(Fault::from)
}
