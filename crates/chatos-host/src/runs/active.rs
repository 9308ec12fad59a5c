//! Runs under way: how to stop and steer them, and how to hear that they are over.

use std::sync::{Arc, OnceLock};

use chatos_agent::Steer;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::stage::HostStage;

/// One run under way. It removes itself, and nobody else does (agents §7).
pub(crate) struct Active {
    pub(crate) run_id: String,
    pub(crate) session_id: String,
    /// `chat`, `sub` or `cli`.
    pub(crate) kind: String,
    /// The run of the agent that started this one and waits for it.
    pub(crate) parent: Option<String>,
    pub(crate) cancel: CancellationToken,
    pub(crate) steer: Arc<Steer>,
    /// Its journal and events, once it runs.
    pub(crate) stage: OnceLock<HostStage>,
    over: watch::Sender<bool>,
}

impl Active {
    pub(crate) fn new(run_id: &str, session_id: &str, kind: &str, parent: Option<String>) -> Self {
        Self {
            run_id: run_id.to_owned(),
            session_id: session_id.to_owned(),
            kind: kind.to_owned(),
            parent,
            cancel: CancellationToken::new(),
            steer: Arc::default(),
            stage: OnceLock::new(),
            over: watch::channel(false).0,
        }
    }

    /// The run is written down as over.
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
