//! Runs under way: how to stop and steer them, and how to hear that they are over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use chatos_agent::Steer;
use chatos_wire::RunKind;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::RunDesk;
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
    ending: AtomicBool,
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

impl RunDesk {
    /// The end of a run is in the journal.
    pub(super) fn end_is_written(&self, run_id: &str) {
        if let Some(active) = self.active().get(run_id) {
            active.ending.store(true, Ordering::SeqCst);
        }
    }

    /// The run under way in a chat. One that ends in this moment is waited for, so that whoever heard of its
    /// end finds the chat free.
    pub(super) async fn under_way(&self, session: &str) -> Option<Arc<Active>> {
        loop {
            let active = self.run_of_session(session)?;
            if !active.ending.load(Ordering::SeqCst) {
                return Some(active);
            }
            active.finished().await;
        }
    }

    fn run_of_session(&self, session: &str) -> Option<Arc<Active>> {
        let active = self.active();
        active.values().find(|run| run.session_id == session && run.kind != RunKind::Sub).cloned()
    }
}
