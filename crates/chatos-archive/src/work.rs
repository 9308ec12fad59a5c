//! The state of a running host as a whole: what the work on it needs, and how it is begun.

use std::sync::Arc;

use chatos_events::{Events, Lifetime, Notice, Notices, Operation, Operations};
use chatos_keys::StateKey;
use chatos_paths::{Locations, StateDir};
use chatos_settings::Settings;
use chatos_store::{Audit, Store};
use chatos_tool::Fault;
use serde_json::Value;

/// What work on a state as a whole is made from.
pub struct ArchiveParts {
    pub dir: StateDir,
    pub places: Locations,
    pub store: Store,
    pub settings: Settings,
    pub key: StateKey,
    pub audit: Audit,
    pub events: Events,
    pub notices: Notices,
    pub operations: Operations,
    pub life: Lifetime,
    /// The version of this program, written into every backup.
    pub version: &'static str,
    /// `MODEL_CLI_SECRET_KEY`: the key of an older program, when the environment has it.
    pub old_key: Option<String>,
}

/// Copies, older states and retention of one state. Clones are the same.
#[derive(Clone)]
pub struct Archive(Arc<ArchiveParts>);

impl Archive {
    /// Nothing is opened or begun.
    pub fn new(parts: ArchiveParts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn parts(&self) -> &ArchiveParts {
        &self.0
    }

    pub(crate) fn notice(&self, notice: Notice) {
        self.0.notices.add(notice);
    }

    /// Begins long work on a thread of its own; the operation tells how it goes and what came of it.
    pub(crate) fn begin(
        &self,
        kind: &'static str,
        work: impl FnOnce(&Self, &Operation) -> Result<Value, Fault> + Send + 'static,
    ) -> Operation {
        let operation = self.0.operations.begin(kind);
        let (archive, own) = (self.clone(), operation.clone());
        self.0.life.spawn_blocking(Box::new(move || own.finish(work(&archive, &own))));
        operation
    }
}
