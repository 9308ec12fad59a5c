//! Chats and runs of one host, as every part of them has it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use chatos_acp::Seats;
use chatos_documents::Extractor;
use chatos_records::EventLog;
use chatos_store::{RunRow, Store, StoreError, now_ms};
use chatos_tool::{ErrorCode, Fault, Text, Trace};

use super::active::Active;
use super::parts::RunParts;
use super::sub_share::SubShare;

/// How long a lease is good for without a sign of life (state §10).
pub(super) const LEASE_MS: i64 = 30_000;

/// Chats and runs of one host. Clones are the same.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    parts: Arc<RunParts>,
    /// Names this process as the holder of leases.
    owner: String,
    active: Mutex<HashMap<String, Arc<Active>>>,
    /// Runs that apps started, with the plugin; an app stops no others (host-api §6.4).
    app_runs: Mutex<HashMap<String, String>>,
    // Made on first use.
    log: OnceLock<EventLog>,
    subs: OnceLock<SubShare>,
    documents: OnceLock<Extractor>,
}

/// Runs, without keeping them.
#[derive(Clone)]
pub struct WeakRuns(Weak<Inner>);

impl WeakRuns {
    /// The runs, while they are there.
    pub fn get(&self) -> Option<Runs> {
        self.0.upgrade().map(Runs)
    }
}

impl Runs {
    /// Nothing is opened for it.
    pub fn new(parts: RunParts) -> Self {
        Self(Arc::new(Inner {
            parts: Arc::new(parts),
            owner: format!("{}:{}", std::process::id(), uuid::Uuid::now_v7()),
            active: Mutex::default(),
            app_runs: Mutex::default(),
            log: OnceLock::new(),
            subs: OnceLock::new(),
            documents: OnceLock::new(),
        }))
    }

    /// The same, without keeping them.
    pub fn downgrade(&self) -> WeakRuns {
        WeakRuns(Arc::downgrade(&self.0))
    }

    pub(super) fn parts(&self) -> &Arc<RunParts> {
        &self.0.parts
    }

    /// The parts, for work that is not begun any more when the host stops.
    pub(super) fn open(&self) -> Result<Arc<RunParts>, Fault> {
        if self.0.parts.life.is_over() { Err(stopping()) } else { Ok(Arc::clone(&self.0.parts)) }
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.parts.store
    }

    pub(super) fn owner(&self) -> &str {
        &self.0.owner
    }

    pub(super) fn log(&self) -> &EventLog {
        self.0.log.get_or_init(|| EventLog::new(self.0.parts.dir.path().join("events.jsonl")))
    }

    pub(super) fn subs(&self) -> &SubShare {
        self.0.subs.get_or_init(|| {
            let places = self.0.parts.settings.int("subagentConcurrency");
            SubShare::new(usize::try_from(places).unwrap_or(4))
        })
    }

    /// Who reads the documents of messages.
    pub(super) fn documents(&self) -> &Extractor {
        let parts = &self.0.parts;
        let limits = parts.environment.get(chatos_documents::LIMITS_VARIABLE).unwrap_or_default();
        let made = || Extractor::new((parts.spawning)(), parts.own_program.clone(), limits);
        self.0.documents.get_or_init(made)
    }

    pub(super) fn app_runs(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.app_runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs under way, by id.
    pub(super) fn active(&self) -> MutexGuard<'_, HashMap<String, Arc<Active>>> {
        self.0.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs are under way.
    pub fn running(&self) -> usize {
        self.active().len()
    }

    /// Agents of other makers that run at this moment.
    pub fn seats(&self) -> &Seats {
        &self.0.parts.seats
    }

    /// A call of a built-in server waits for a person; told by its layer.
    pub fn tool_waits(&self, trace: &Trace, request_id: &str) {
        let run = trace.run_id.as_deref().and_then(|id| self.active().get(id).cloned());
        if let (Some(stage), Some(span)) = (run.as_ref().and_then(|run| run.stage.get()), &trace.span_id) {
            stage.built_in_waits(span, request_id);
        }
    }

    pub(super) fn lease(&self) -> i64 {
        now_ms() + LEASE_MS
    }

    /// Runs work on the database off the async threads.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Fault> {
        let store = self.store().clone();
        let done = chatos_blocking::run(move || work(&store)).await;
        done.map_err(|error| broken(&error))?.map_err(Fault::from)
    }
}

/// The fault of work that panicked before it had an answer.
pub(super) fn broken(error: &chatos_blocking::WorkError) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same("work of a run failed")).caused_by(error)
}

/// A run cannot be continued or discarded in the state it is in.
pub(super) fn wrong_state(run: &RunRow, en: &str, zh: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("the run `{}` is `{}` and cannot be {en}", run.id, run.state),
            format!("运行 `{}` 的状态为 `{}`，无法{zh}", run.id, run.state),
        ),
    )
}

fn stopping() -> Fault {
    Fault::new(ErrorCode::Unavailable, Text::fixed("the host is stopping", "主机正在停止"))
}
