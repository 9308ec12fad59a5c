//! The loop of a run (agents §7): look at what is written, do the next thing, write it down.
//!
//! Every pass begins from the journal alone, so a run that was cut off and continued takes the same road
//! as one that never stopped.

mod answer;
mod calls;
mod fit;
mod overflow;
mod summary;
mod wrapped;

use std::sync::Arc;
use std::time::Duration;

use chatos_model::Provider;
use chatos_tool::{Fault, Text};
use chatos_wire::RunEnd;
use tokio_util::sync::CancellationToken;

use crate::repeat::{self, Repeating};
use crate::stage::{Limits, ModelFacts, RunFacts, Stage, Summariser};
use crate::steer::{RunClock, Steer};
use crate::transcript::Next;
use answer::Answered;

/// One run, ready to go on from what is written.
pub struct Turn {
    /// The host.
    pub stage: Arc<dyn Stage>,
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// What is known of it.
    pub model: ModelFacts,
    /// Who makes summaries, where that is another model.
    pub summariser: Option<Summariser>,
    /// What bounds the run.
    pub limits: Limits,
    /// Which run.
    pub run: RunFacts,
    /// Ends it.
    pub cancel: CancellationToken,
    /// Corrections.
    pub steer: Arc<Steer>,
    /// Its clock.
    pub clock: Arc<RunClock>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// With an answer, or at a limit.
    Done {
        /// Which.
        reason: RunEnd,
    },
    /// The model did not answer.
    Failed {
        /// Class of the failure.
        code: &'static str,
        /// In words.
        message: Text,
    },
    /// A person stopped it.
    Aborted,
}

impl Turn {
    /// Runs to the end. The caller writes the end down; an error leaves the run to be continued.
    pub async fn run(self) -> Result<End, Fault> {
        let limit = Duration::from_secs(self.limits.minutes.saturating_mul(60));
        let clock = Arc::clone(&self.clock);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Ok(End::Aborted),
            end = self.work() => end,
            () = clock.over(limit) => Ok(End::Done { reason: RunEnd::MaxMinutes }),
        }
    }

    async fn work(&self) -> Result<End, Fault> {
        let mut stop = RunEnd::End;
        self.stage.prepare().await?;
        loop {
            let seen = self.steer.seen();
            let chat = self.stage.chat().await?;
            let (calls, passes) = chat.counts(&self.run.id);
            match chat.next(&self.run.id) {
                Next::Calls(pending) => self.calls(&chat, calls, pending).await?,
                Next::Nothing => {
                    if self.steer.close(seen).await {
                        return Ok(End::Done { reason: self.reason(stop, calls, passes) });
                    }
                }
                Next::Answer(again) => {
                    let repeating = repeat::look(&chat, &self.run.id);
                    if repeating == Repeating::Stop {
                        return Ok(End::Done { reason: RunEnd::Repeating });
                    }
                    if passes >= self.limits.passes {
                        return Ok(End::Done { reason: RunEnd::MaxPasses });
                    }
                    if !self.stage.budget().await? {
                        return Ok(End::Done { reason: RunEnd::Budget });
                    }
                    let last = passes + 1 >= self.limits.passes || calls >= self.limits.calls;
                    let pass = answer::Pass { again, last, first_round: calls == 0, repeating, seen };
                    match self.answer(chat, pass).await? {
                        Answered::Whole(why) => stop = why,
                        Answered::Steered => {}
                        Answered::Refused(code, message) => return Ok(End::Failed { code, message }),
                        Answered::Failed(error) => {
                            return Ok(End::Failed {
                                code: error.class.as_str(),
                                message: answer::words(&error),
                            });
                        }
                    }
                }
            }
        }
    }

    fn reason(&self, stop: RunEnd, calls: usize, passes: usize) -> RunEnd {
        if passes >= self.limits.passes {
            RunEnd::MaxPasses
        } else if calls >= self.limits.calls {
            RunEnd::MaxToolCalls
        } else {
            stop
        }
    }
}
