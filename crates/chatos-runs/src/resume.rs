//! Runs that go on after they were cut off, or after their conversation was too long for their model (agents §8,
//! working-day §2).

use chatos_model::Class;
use chatos_records::no_run;
use chatos_store::RunRow;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::{RunKind, RunState};

use super::active::Active;
use super::desk::{Runs, broken, wrong_state};

impl Runs {
    /// Continues an interrupted run, or one that failed because its conversation was too long: that one begins with a
    /// summary.
    pub async fn resume(&self, run_id: &str) -> Result<(), Fault> {
        let id = run_id.to_owned();
        let run = self.work(move |store| store.run(&id)).await?.ok_or_else(|| no_run(run_id))?;
        if self.is_too_long(&run).await? {
            self.check_summary(&run).await?;
            return self.start(run, &[RunState::Failed]).await.map(drop);
        }
        if run.state != RunState::Interrupted {
            return Err(wrong_state(&run, "continued", "继续"));
        }
        if run.kind == RunKind::Sub && !run.parent_run_id.is_empty() {
            let parent = run.parent_run_id.clone();
            let parent = self.work(move |store| store.run(&parent)).await?;
            if parent.is_some_and(|parent| parent.state == RunState::Interrupted) {
                return Err(Fault::new(
                    ErrorCode::Conflict,
                    Text::fixed(
                        "this subagent goes on with the run that started it",
                        "此子智能体会随启动它的运行一起继续",
                    ),
                )
                .hint(Text::new(
                    format!("continue the run `{}`", run.parent_run_id),
                    format!("请继续运行 `{}`", run.parent_run_id),
                )));
            }
        }
        let session = run.session_id.clone();
        let started = self.start(run, &[RunState::Interrupted]).await;
        if started.is_err() {
            // A message that came meanwhile found the chat busy.
            self.start_next(&session).await?;
        }
        started.map(drop)
    }

    /// Whether a run failed because its conversation was too long, and nothing was said since.
    async fn is_too_long(&self, run: &RunRow) -> Result<bool, Fault> {
        let too_long = run.state == RunState::Failed && run.error_code == Class::ContextLength.as_str();
        if !too_long || run.kind == RunKind::Sub {
            return Ok(false);
        }
        Ok(self.last_asked(&run.session_id).await?.is_some_and(|row| row.run_id == run.id))
    }

    /// Refuses where a summary would make the conversation of a run no shorter.
    async fn check_summary(&self, run: &RunRow) -> Result<(), Fault> {
        self.open()?;
        let (runs, run) = (self.clone(), run.clone());
        let begun = chatos_blocking::run(move || {
            let active = Active::new(&run.id, &run.session_id, run.kind, None);
            runs.begin(run, &active)
        });
        let begun = begun.await.map_err(|error| broken(&error))??;
        if begun.turn.can_compact().await? { Ok(()) } else { Err(super::send::nothing_to_compact()) }
    }
}
