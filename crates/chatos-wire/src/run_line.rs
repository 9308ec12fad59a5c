//! Lines of `events.jsonl`: what happened in runs, kept for people and for exports (agents §13).

use chatos_tool::Trace;
use serde::Serialize;

use crate::chat_event::{
    CallProgressBody, CompactedBody, NoticeBody, PromptAnsweredBody, PromptWaitingBody, RetryBody,
    RunStateBody, SubagentStepBody, UsageBody, bodies,
};
use crate::{RunEnd, RunKind, RunState};

/// A line as it is written. Its number is given by the file.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    pub seq: u64,
    pub ts: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub run_id: String,
    pub payload: RunPayload,
}

/// Where it happened, and what.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPayload {
    pub session_id: String,
    pub trace: Trace,
    #[serde(flatten)]
    pub line: RunLine,
}

bodies! {
    /// What happened in a run.
    #[derive(Debug, Clone, Serialize)]
    #[serde(untagged)]
    RunLine {
        /// A person sent a message.
        User(TextLine) = "user",
        /// A person corrected the run.
        Correction(TextLine) = "correction",
        /// The run began or was continued.
        RunStarted(StartedLine) = "run_started",
        /// The run is in another state.
        RunState(RunStateBody) = "run_state",
        /// The run is over.
        RunFinished(FinishedLine) = "run_finished",
        /// The model was asked.
        ModelCall(ModelCallLine) = "model_call",
        /// The model is asked again.
        ModelRetry(RetryBody) = "model_retry",
        /// What the model thought.
        AssistantThinking(ThoughtLine) = "assistant_thinking",
        /// What the model answered.
        Assistant(TextLine) = "assistant",
        /// What the model used.
        Usage(UsageBody) = "usage",
        /// A tool was called.
        ToolStarted(CallLine) = "tool_started",
        /// A call said how far it is.
        ToolProgress(CallProgressBody) = "tool_progress",
        /// A call has its result.
        ToolFinished(ResultLine) = "tool_finished",
        /// A call waits for a person.
        PromptRequested(PromptWaitingBody) = "prompt_requested",
        /// The question of a call was answered or withdrawn.
        PromptAnswered(PromptAnsweredBody) = "prompt_answered",
        /// A subagent began.
        SubagentStarted(SubagentLine) = "subagent_started",
        /// A subagent ended.
        SubagentFinished(SubagentLine) = "subagent_finished",
        /// A subagent said or did something.
        SubagentStep(SubagentStepBody) = "subagent_step",
        /// The beginning of the chat was summarised.
        Summary(CompactedBody) = "summary",
        /// Something a person should know.
        Notice(NoticeBody) = "notice",
    }
}

/// What the person or the model said.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextLine {
    pub message_id: String,
    /// The text without known secrets.
    pub text: String,
}

/// What the model thought.
#[derive(Debug, Clone, Serialize)]
pub struct ThoughtLine {
    /// The text without known secrets.
    pub text: String,
}

/// The run began or was continued.
#[derive(Debug, Clone, Serialize)]
pub struct StartedLine {
    pub continued: bool,
    pub kind: RunKind,
}

/// The run is over.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FinishedLine {
    pub state: RunState,
    pub stop_reason: RunEnd,
    /// The class of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The model was asked.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCallLine {
    pub model: String,
    pub message_id: String,
}

/// A tool was called.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallLine {
    pub call_id: String,
    pub server: String,
    pub tool: String,
    /// For display: without known secrets, and cut.
    pub args: String,
}

/// A call has its result.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultLine {
    pub call_id: String,
    pub server: String,
    pub tool: String,
    pub status: String,
    pub code: String,
    pub elapsed_ms: u64,
    /// For display: without known secrets, and cut.
    pub result: String,
    /// Where the entire result is, when it was cut for the model.
    pub blob: Option<String>,
}

/// A subagent began or ended.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentLine {
    pub job_id: Option<String>,
    pub call_id: String,
    /// The run that started it.
    pub run_id: String,
    pub child_run_id: String,
    pub sub_agent_id: String,
    /// `pending`, `running`, `done`, `error`, `canceled` or `interrupted`.
    pub state: String,
}
