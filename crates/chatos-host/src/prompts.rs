//! The prompt queue as the product uses it: opened on the store and the state key, watched, and spoken to
//! by the API and the terminal through one [`PromptDesk`].

mod desk;
mod doctor;
mod fault;
mod records;
mod seen;
mod visit;
mod watch;

pub use desk::{PromptDesk, PromptReply};
pub(crate) use records::{StoreRecords, signer};
pub use visit::{Visit, visit_prompts};

use std::path::Path;
use std::sync::Arc;

use chatos_prompts::{Config, DiskFs, Event, LogMode, Paths, Prompts, Role, SystemClock};
use chatos_store::{StateKey, Store};
use chatos_tool::{ErrorCode, Fault, Text};
use tokio::sync::broadcast;

use crate::host::Host;

impl Host {
    /// A run of this name is kept here and is continued after a restart. A call by hand may name a run of its
    /// own making, which is not. Blocks.
    pub(crate) fn knows_run(&self, run: Option<&str>) -> bool {
        run.is_some_and(|run| match self.store().run(run) {
            Ok(found) => found.is_some(),
            Err(error) => {
                tracing::warn!(%error, "a run cannot be looked up; its question is kept");
                true
            }
        })
    }

    /// Opens the queue and tends it until the host stops: events, timeouts, orphans, audit.
    pub(crate) fn tend_prompts(self: &Arc<Self>) -> Result<(), Fault> {
        self.prompts()?;
        self.life().spawn(Box::pin(watch::follow(Arc::clone(self))));
        Ok(())
    }
}

/// Opens the queue of a state directory, with a subscription that misses nothing.
pub(crate) fn open_queue(
    store: &Store,
    key: &StateKey,
    state_dir: &Path,
    role: Role,
    mode: LogMode,
) -> Result<(Prompts, broadcast::Receiver<Event>), Fault> {
    let config = Config {
        paths: Paths::in_state_dir(state_dir),
        records: Arc::new(StoreRecords::new(store, key)),
        signer: Arc::new(signer(key)),
        clock: Arc::new(SystemClock),
        fs: Arc::new(DiskFs),
        role,
        mode,
    };
    Prompts::open_with_events(config).map_err(|error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("cannot open the prompt queue", "无法打开交互待办队列"),
        )
        .code("prompts_unusable")
        .caused_by(&error)
    })
}

/// The setting `uiPromptLogMode`.
pub(crate) fn log_mode(text: &str) -> LogMode {
    if text == "minimal" { LogMode::Minimal } else { LogMode::Full }
}
