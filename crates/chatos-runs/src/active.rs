//! Runs under way: how to stop and steer them, and how to hear that they are over.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use chatos_agent::Steer;
use chatos_wire::RunKind;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::stage::HostStage;

/// One run under way. It removes itself, and nobody else does (agents §7).
pub(crate) struct Active {
    pub(crate) run_id: String,
    pub(crate) session_id: String,
    pub(crate) kind: RunKind,
    /// The run of the agent that started this one and waits for it.
    pub(crate) parent: Option<String>,
    pub(crate) cancel: CancellationToken,
    pub(crate) steer: Arc<Steer>,
    /// Its journal and events, once it runs.
    pub(crate) stage: OnceLock<HostStage>,
    /// Its end is written, and told soon; it takes nothing any more.
    pub(super) ending: AtomicBool,
    over: watch::Sender<bool>,
}

impl Active {
    pub(crate) fn new(run_id: &str, session_id: &str, kind: RunKind, parent: Option<String>) -> Self {
        Self {
            run_id: run_id.to_owned(),
            session_id: session_id.to_owned(),
            kind,
            parent,
            cancel: CancellationToken::new(),
            steer: Arc::default(),
            stage: OnceLock::new(),
            ending: AtomicBool::new(false),
            over: watch::channel(false).0,
        }
    }

    /// The run is written down as over, and everybody was told.
    pub(crate) fn finish(&self) {
        self.over.send_replace(true);
    }

    /// Resolves when it is.
    pub(crate) async fn finished(&self) {
        let mut over = self.over.subscribe();
        // The sender lives as long as this.
        over.wait_for(|over| *over).await.ok();
    }
}
