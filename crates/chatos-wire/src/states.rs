//! The states of chats, runs and their steps, of long work, and how bad something is.

use crate::words::words;

words! {
    /// Where a run stands.
    #[derive(Default)]
    RunState {
        /// It waits for its turn in its chat.
        #[default]
        Queued = "queued",
        /// The model or a tool works.
        Running = "running",
        /// It waits for a person's answer.
        WaitingPrompt = "waiting_prompt",
        /// It waits for a result that a tool promised for later.
        WaitingAsync = "waiting_async",
        /// The host stopped in the middle of it; it can be continued or discarded.
        Interrupted = "interrupted",
        /// It ended with an answer or at a limit.
        Done = "done",
        /// It ended without an answer because something failed.
        Failed = "failed",
        /// A person stopped it.
        Aborted = "aborted",
        /// It was given up before it began or after it was interrupted.
        Discarded = "discarded",
    }
}

impl RunState {
    /// States in which somebody works or waits.
    pub const ACTIVE: [Self; 4] = [Self::Queued, Self::Running, Self::WaitingPrompt, Self::WaitingAsync];

    /// Somebody works or waits.
    pub fn is_active(self) -> bool {
        Self::ACTIVE.contains(&self)
    }

    /// Nothing will happen in it any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Aborted | Self::Discarded)
    }
}

words! {
    /// Who began a run.
    #[derive(Default)]
    RunKind {
        /// A message in a chat.
        #[default]
        Chat = "chat",
        /// An agent that gave work to another one.
        Sub = "sub",
        /// A command in a terminal.
        Cli = "cli",
        /// Another program that calls and asks by itself.
        Client = "client",
    }
}

words! {
    /// Why a run is not under way any more.
    RunEnd {
        /// The answer is complete.
        End = "end",
        /// The model stopped at the longest answer it may give.
        Length = "length",
        /// The vendor held the answer back.
        ContentFilter = "content_filter",
        /// The model was asked as often as the run allows.
        MaxPasses = "max_passes",
        /// As many tools were called as the run allows.
        MaxToolCalls = "max_tool_calls",
        /// The time of the run is over.
        MaxMinutes = "max_minutes",
        /// The model repeated the same calls.
        Repeating = "repeating",
        /// The budget is spent and nobody raised it.
        Budget = "budget",
        /// It was begun only to summarise its chat.
        Compacted = "compacted",
        /// A person stopped it.
        Aborted = "aborted",
        /// Something failed; the run says what.
        Error = "error",
        /// The host stopped. Events say so of an interrupted run; the database has no end for it yet.
        HostStopped = "host_stopped",
    }
}

impl RunEnd {
    /// It stopped at a bound of the run, not because the answer was complete.
    pub fn is_limit(self) -> bool {
        matches!(
            self,
            Self::MaxPasses | Self::MaxToolCalls | Self::MaxMinutes | Self::Repeating | Self::Budget
        )
    }
}

words! {
    /// What a step of a run is.
    #[derive(Default)]
    StepKind {
        /// The model is asked.
        #[default]
        Model = "model",
        /// A tool is called.
        Tool = "tool",
        /// The run itself asks the person.
        Prompt = "prompt",
        /// Another agent works for this one.
        Sub = "sub",
        /// The beginning of the chat is summarised.
        Compact = "compact",
        /// A person corrected the run.
        Correction = "correction",
        /// The run was continued.
        Resume = "resume",
    }
}

words! {
    /// Where a step of a run stands.
    #[derive(Default)]
    StepState {
        /// Written down, nothing of it happened yet.
        #[default]
        Planned = "planned",
        /// Its bytes went out, or are about to.
        Sent = "sent",
        /// It has an outcome.
        Done = "done",
        /// It may or may not have had its effect.
        Uncertain = "uncertain",
        /// It never happened and will not.
        Skipped = "skipped",
    }
}

words! {
    /// Who speaks in a message.
    #[derive(Default)]
    MessageRole {
        /// The person, or the agent that gave the task.
        #[default]
        User = "user",
        /// The model, with its answer.
        Assistant = "assistant",
        /// A tool, with its result.
        Tool = "tool",
        /// The host, about the run itself.
        System = "system",
    }
}

words! {
    /// What a message is among those of its role.
    #[derive(Default)]
    MessageKind {
        /// A message like any other.
        #[default]
        Normal = "normal",
        /// What a person said to a run under way.
        Correction = "correction",
        /// What the host says about a run; models do not see it.
        Notice = "notice",
    }
}

words! {
    /// Where long work stands.
    OperationState {
        /// It has neither result nor error yet.
        Running = "running",
        /// It has a result.
        Done = "done",
        /// It has an error.
        Failed = "failed",
        /// Somebody asked it to stop, and it did.
        Canceled = "canceled",
    }
}

words! {
    /// How bad something is that a person should know, from the least to the worst.
    Severity {
        /// As it should be.
        Ok = "ok",
        /// Worth knowing, nothing to do.
        Info = "info",
        /// Works, but not as it should.
        Warning = "warning",
        /// Does not work as it is.
        Error = "error",
    }
}
