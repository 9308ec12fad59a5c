//! The run under way in a chat, and the moment in which it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chatos_wire::RunKind;

use super::active::Active;
use super::desk::Runs;

impl Runs {
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
