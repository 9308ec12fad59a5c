//! Chats and runs: who runs now, what waits, what was interrupted; the one place the API, the terminal
//! and plugins start a run, stop it, continue it and read it (agents §7–§15).

mod active;
mod ask;
mod begin;
mod budget;
mod emit;
mod follow;
mod fork;
mod import;
mod other;
#[cfg(feature = "otlp")]
mod push;
mod send;
mod sessions;
mod stage;
mod start;
mod stop;
mod subagents;
mod titles;
mod tools;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use chatos_documents::Extractor;
use chatos_records::EventLog;
pub(crate) use chatos_records::{no_run, no_session};
use chatos_store::{AttachmentRow, RunRow, Store, StoreError, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};

use crate::host::Host;
use active::Active;
pub(crate) use subagents::HostRunner;

pub use send::Sender;

/// How long a lease is good for without a sign of life (state §10).
const LEASE_MS: i64 = 30_000;

/// Chats and runs of one host.
pub struct RunDesk {
    host: Weak<Host>,
    store: Store,
    /// Names this process as the holder of leases.
    owner: String,
    log: EventLog,
    active: Mutex<HashMap<String, Arc<Active>>>,
    /// Runs that apps started, with the plugin; an app stops no others (host-api §6.4).
    app_runs: Mutex<HashMap<String, String>>,
    subs: subagents::SubShare,
    documents: OnceLock<Extractor>,
    /// Agents of other makers that run at this moment.
    seats: chatos_acp::Seats,
}

/// The text of a file beside a message; nothing where it has none or goes by its name alone.
pub(crate) fn text_of(store: &Store, file: &AttachmentRow) -> Option<String> {
    if !file.text_blob.is_empty() {
        return store.kept(&file.text_blob);
    }
    let bytes = store.blob(&file.blob).filter(|_| file.note != chatos_documents::NAME_ONLY);
    bytes.and_then(|bytes| String::from_utf8(bytes).ok())
}

impl Host {
    /// Chats and runs.
    pub fn runs(self: &Arc<Self>) -> &RunDesk {
        self.run_cell().get_or_init(|| RunDesk::new(self))
    }
}

impl RunDesk {
    fn new(host: &Arc<Host>) -> Self {
        Self {
            host: Arc::downgrade(host),
            store: host.store().clone(),
            owner: format!("{}:{}", std::process::id(), uuid::Uuid::now_v7()),
            log: EventLog::new(host.dir().path().join("events.jsonl")),
            active: Mutex::default(),
            app_runs: Mutex::default(),
            seats: chatos_acp::Seats::default(),
            subs: subagents::SubShare::new(
                usize::try_from(host.settings().int("subagentConcurrency")).unwrap_or(4),
            ),
            documents: OnceLock::new(),
        }
    }

    /// Who reads the documents of messages.
    fn documents(&self, host: &Host) -> &Extractor {
        let own = || host.launches().then(|| crate::children::OWN_PROGRAM.into());
        let limits = host.environment().get(chatos_documents::LIMITS_VARIABLE).unwrap_or_default();
        self.documents.get_or_init(|| Extractor::new(host.spawning(), own(), limits))
    }

    fn app_runs(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.app_runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn host(&self) -> Result<Arc<Host>, Fault> {
        let host = self.host.upgrade().filter(|host| !host.shutdown().is_cancelled());
        host.ok_or_else(|| {
            Fault::new(ErrorCode::Unavailable, Text::fixed("the host is stopping", "主机正在停止"))
        })
    }

    /// Runs under way, by id.
    fn active(&self) -> MutexGuard<'_, HashMap<String, Arc<Active>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs are under way.
    pub fn running(&self) -> usize {
        self.active().len()
    }

    /// A call of a built-in server waits for a person; told by its layer.
    pub(crate) fn tool_waits(&self, trace: &chatos_tool::Trace, request_id: &str) {
        let run = trace.run_id.as_deref().and_then(|id| self.active().get(id).cloned());
        if let (Some(stage), Some(span)) = (run.as_ref().and_then(|run| run.stage.get()), &trace.span_id) {
            stage.built_in_waits(span, request_id);
        }
    }

    fn lease(&self) -> i64 {
        now_ms() + LEASE_MS
    }

    /// Runs work on the database off the async threads.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Fault> {
        let store = self.store.clone();
        let done = chatos_blocking::run(move || work(&store)).await;
        done.map_err(|error| broken(&error))?.map_err(Fault::from)
    }
}

/// Work that panicked.
pub(crate) fn broken(error: &chatos_blocking::WorkError) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same("work of a run failed")).caused_by(error)
}

/// A run cannot be continued or discarded in the state it is in.
fn wrong_state(run: &RunRow, en: &str, zh: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("the run `{}` is `{}` and cannot be {en}", run.id, run.state),
            format!("运行 `{}` 的状态为 `{}`，无法{zh}", run.id, run.state),
        ),
    )
}

/// Bytes from Base64, for those who got a file as text.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text.trim()).ok()
}

/// Bytes as Base64.
pub fn encode_base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
