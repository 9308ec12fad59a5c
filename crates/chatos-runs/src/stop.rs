//! "Reject and stop": a no to a question that also ends the run which asked (inbox §1.4). The word is part of the answer,
//! hence as durable, and a run looks for it before it does anything more.

use chatos_tool::Fault;
use chatos_wire::RunState;

use super::desk::Runs;
use super::stage::HostStage;
use super::start::PATIENCE;

impl Runs {
    /// A question of this run was answered: ends it, and the one that started it, where the answer says so. One that was
    /// cut off goes on first: it takes the answer, so that its model reads the note another time, and ends there.
    pub(super) async fn heed_stop(&self, run_id: &str) -> Result<bool, Fault> {
        let id = run_id.to_owned();
        let found = self.work(move |store| {
            let Some(run) = store.run(&id)? else { return Ok(None) };
            let root = store.run(&run.root_run_id)?.filter(|root| !root.state.is_over());
            let run = root.unwrap_or(run);
            Ok(store.is_told_to_stop(&run.id)?.then_some(run))
        });
        let Some(run) = found.await? else { return Ok(false) };
        match run.state {
            state if state.is_over() => {}
            RunState::Interrupted => {
                if let Err(fault) = self.resume(&run.id).await {
                    tracing::warn!(%fault, run = run.id, "a stopped run is discarded");
                    self.discard(&run.id).await?;
                }
            }
            _ => {
                let active = self.active().get(&run.id).cloned();
                let other =
                    active.as_ref().and_then(|active| active.stage.get()).is_some_and(HostStage::is_other);
                // A run of ours writes down what was answered and ends by itself; what else it does at the moment is
                // not waited for.
                if let Some(active) = active.filter(|_| !other) {
                    tokio::time::timeout(PATIENCE, active.finished()).await.ok();
                }
                if let Err(fault) = self.abort(&run.id).await {
                    tracing::debug!(%fault, run = run.id, "a stopped run was over");
                }
            }
        }
        Ok(true)
    }
}

impl HostStage {
    /// An agent of another maker works in it.
    pub(super) fn is_other(&self) -> bool {
        self.parts.agent.acp.is_some()
    }

    /// Goes no further where a person rejected a question of this run and said that it stop.
    pub(super) async fn heed(&self) -> Result<(), Fault> {
        if self.is_other() || !self.is_told_to_stop().await? {
            return Ok(());
        }
        let active = self.parts.runs.active().get(&self.parts.run.id).cloned();
        let Some(active) = active else { return Ok(()) };
        active.cancel.cancel();
        // The loop hears that and is dropped here.
        std::future::pending().await
    }

    pub(super) async fn is_told_to_stop(&self) -> Result<bool, Fault> {
        let run = self.parts.run.id.clone();
        self.parts.runs.work(move |store| store.is_told_to_stop(&run)).await
    }
}
