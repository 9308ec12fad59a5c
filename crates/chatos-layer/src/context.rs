//! Everything a tool may know and use while it works (tools §1.3).

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use chatos_prompts::RequestId;
use chatos_together::Member;
use chatos_tool::{CanceledBy, Lang, Needed, Phase, Redactor, Text, ToolError, Trace, Transport};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::{Capability, ClientLink, ClientRound};
use crate::clock::{CallClock, Stop, StopSignal};
use crate::observer::{CallEvent, Observer};
use crate::person::{Elicitor, InputRequired, PromptQueue, Resume};
use crate::progress::Progress;
use crate::root::Root;
use crate::settings::ToolSettings;
use crate::slots::{Slot, SlotLimits};

/// Who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The main agent, or a person's own client.
    Main,
    /// A subagent.
    Subagent,
}

impl Caller {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
        }
    }
}

/// Why a call ends without a result; a modern client calls again.
#[derive(Debug)]
pub(crate) enum Suspension {
    /// A question to the person, which may be in the queue as well.
    Person(InputRequired),
    /// Requests of the tool to the client.
    Client(ClientRound),
    /// The client lacks what the tool needs.
    Missing(Capability),
}

/// The context of one call.
pub struct CallCx {
    /// The server's name.
    pub server: &'static str,
    /// The tool's own name.
    pub tool: &'static str,
    /// The id of the call in the log.
    pub call_id: String,
    /// The directory the call is confined to, for servers that have one.
    pub root: Option<Arc<Root>>,
    /// Run, session, agents and spans.
    pub trace: Trace,
    /// The message of the person that led to it.
    pub user_message_id: Option<String>,
    /// Who calls.
    pub caller: Caller,
    /// Over which road.
    pub transport: Transport,
    /// The language of what the caller gets.
    pub lang: Lang,
    /// The language a person is asked in.
    pub people: Lang,
    /// The settings in force when the call began.
    pub settings: Arc<ToolSettings>,
    /// The land_config wants this call asked.
    pub ask: bool,
    // Digest of the tool as this build has it, for tools that may ask; part of what a person approves.
    pub(crate) definition: Option<String>,
    // As they came, for the same.
    pub(crate) arguments: Value,
    pub(crate) redactor: Arc<Redactor>,
    pub queue: Arc<dyn PromptQueue>,
    pub(crate) elicitor: Option<Arc<dyn Elicitor>>,
    pub(crate) resume: Option<Resume>,
    // Where an interrupted call stopped; its first question is that one.
    pub(crate) asked: Mutex<Option<RequestId>>,
    // Where the same was approved before and a person had it run again.
    pub(crate) approved: Option<RequestId>,
    // The calls of the same answer that it asks together with.
    pub(crate) together: Option<Arc<Member>>,
    pub(crate) client: Option<ClientLink>,
    pub(crate) suspended: Mutex<Option<Suspension>>,
    pub(crate) clock: CallClock,
    pub(crate) stop: StopSignal,
    pub(crate) progress: Progress,
    pub(crate) observer: Arc<dyn Observer>,
    // Work that outlives the call, such as withdrawing its question; joined when the layer closes.
    pub tracker: TaskTracker,
    // The caller's connection is gone, which is more than a withdrawn call.
    pub(crate) closed: CancellationToken,
    /// The whole server ends: what outlives a call has to end, too.
    pub shutdown: CancellationToken,
    pub(crate) slot: Mutex<Option<Slot>>,
    pub(crate) slot_limits: SlotLimits,
    pub(crate) waits_hold_slot: bool,
}

impl CallCx {
    /// Resolves when the call has to stop. A tool that waits for anything waits for this as well.
    pub async fn stopped(&self) -> Stop {
        self.stop.stopped().await
    }

    /// The call has to stop; for loops that do not await.
    pub fn is_stopped(&self) -> bool {
        self.stop.reason().is_some()
    }

    /// What a tool that was told to stop answers with.
    pub fn stop_error(&self) -> ToolError {
        match self.stop.reason() {
            Some(Stop::Timeout { limit_ms }) => ToolError::timeout(limit_ms, Phase::Run),
            Some(Stop::Shutdown) => ToolError::canceled(CanceledBy::Shutdown),
            Some(Stop::Caller) | None => ToolError::canceled(CanceledBy::Caller),
        }
    }

    /// Runs something unless the call has to stop first.
    pub async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, ToolError> {
        tokio::select! {
            value = work => Ok(value),
            _ = self.stopped() => Err(self.stop_error()),
        }
    }

    /// Says how far the work is; restarts the idle clock. `detail` is for programs.
    pub fn progress(&self, value: Option<f64>, total: Option<f64>, message: &Text, detail: Option<Value>) {
        self.clock.beat();
        self.progress.report(value, total, message.get(self.lang), detail);
    }

    /// Texts and values of this process that must not be shown.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Waits for a person: both clocks stand still and the place goes to others meanwhile.
    pub(crate) async fn while_person<T>(&self, wait: impl Future<Output = T>) -> T {
        let pause = self.clock.pause();
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        let slot = slot.map(|mut slot| {
            slot.pause(self.waits_hold_slot);
            slot
        });
        let value = wait.await;
        if let Some(slot) = slot {
            // A call that has to stop needs no place for what is left.
            let back = tokio::select! {
                biased;
                back = slot.resume(self.slot_limits) => back,
                _ = self.stopped() => None,
            };
            *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = back;
        }
        drop(pause);
        value
    }

    /// Waits until the calls of the same answer that come before it are over, where it is one of several.
    pub(crate) async fn in_turn(&self) -> Result<(), ToolError> {
        let Some(member) = &self.together else { return Ok(()) };
        let begun = self.unless_stopped(self.while_person(member.turn())).await?;
        begun.map_err(|why| ToolError::unavailable(Needed::Host, Text::same(why)))
    }

    pub(crate) fn waiting_for(&self, request_id: &str) {
        self.observer.event(CallEvent::Waiting {
            call_id: self.call_id.clone(),
            trace: self.trace.clone(),
            request_id: request_id.to_owned(),
        });
    }
}
