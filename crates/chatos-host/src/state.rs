//! Looking after the state as a whole: taking over an older one, copies of it, bringing one back.

mod backup;
mod import;
mod prune;
mod recover;
mod restore;

pub use backup::BackupOrder;
pub use recover::{RecoverChoice, Recovery, examine_damage};
pub use restore::{RestoreOrder, restore};

use std::sync::Arc;

use chatos_tool::Fault;
use serde_json::Value;

use crate::host::Host;
use chatos_events::Operation;

impl Host {
    /// Begins long work on a thread of its own; the operation tells how it goes and what came of it.
    pub(crate) fn begin_work(
        self: &Arc<Self>,
        kind: &'static str,
        work: impl FnOnce(&Arc<Self>, &Operation) -> Result<Value, Fault> + Send + 'static,
    ) -> Operation {
        let operation = self.operations().begin(kind);
        let (host, own) = (Arc::clone(self), operation.clone());
        self.life().spawn_blocking(Box::new(move || own.finish(work(&host, &own))));
        operation
    }
}
