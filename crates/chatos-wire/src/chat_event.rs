//! What happens in a chat, as events tell it (agents §11) and as lines of `events.jsonl` keep it (agents §13).

use crate::described::JsonSchema;
use chatos_tool::Trace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Nothing;
use crate::session::MessageView;
use crate::{RunEnd, RunState, Severity};

/// An event of a chat.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatEvent {
    /// The position in the stream, as the frame has it.
    #[serde(default)]
    pub seq: u64,
    pub ts: String,
    /// The chat a person sees it in.
    pub session_id: String,
    pub run_id: String,
    #[serde(flatten)]
    pub body: ChatBody,
}

/// Makes an enum of bodies and their names from one table.
macro_rules! bodies {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$meaning:meta])* $value:ident($data:ty) = $kind:literal,)+ }
    ) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $kind)] $value($data),)+
        }

        impl $name {
            /// The names there are.
            pub const KINDS: &'static [&'static str] = &[$($kind,)+];

            /// The name of this one.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$value(_) => $kind,)+
                }
            }
        }
    };
}

pub(crate) use bodies;

bodies! {
    /// What happened in a chat.
    #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "type")]
    ChatBody {
        /// A person sent a message or corrected a run.
        UserMessage(MessageBody) = "user_message",
        /// The model begins an answer.
        AssistantStart(MessageBody) = "assistant_start",
        /// A piece of the answer.
        AssistantDelta(DeltaBody) = "assistant_delta",
        /// A piece of what the model thinks before it answers.
        AssistantReasoningDelta(DeltaBody) = "assistant_reasoning_delta",
        /// The model is asked again: what came of the answer so far is void.
        AssistantRetry(RetryBody) = "assistant_retry",
        /// The run ended with an answer or at a limit.
        AssistantDone(DoneBody) = "assistant_done",
        /// The run ended because something failed.
        AssistantError(ErrorBody) = "assistant_error",
        /// A person stopped the run.
        AssistantAborted(AbortedBody) = "assistant_aborted",
        /// Messages changed in another way: read them again.
        MessagesRefresh(Nothing) = "messages_refresh",
        /// The model asks for a tool.
        ToolCall(ToolCallBody) = "tool_call",
        /// A call says how far it is.
        ToolProgress(CallProgress) = "tool_progress",
        /// A call has its result.
        ToolResult(ToolResultBody) = "tool_result",
        /// A call waits for a person.
        PromptWaiting(PromptWaitingBody) = "prompt_waiting",
        /// The question of a call was answered or withdrawn.
        PromptAnswered(PromptAnsweredBody) = "prompt_answered",
        /// The run is in another state.
        RunState(RunStateBody) = "run_state",
        /// What the model used for one answer.
        Usage(UsageBody) = "usage",
        /// The beginning of the chat was summarised.
        ContextCompacted(CompactedBody) = "context_compacted",
        /// Something a person should know.
        Notice(NoticeBody) = "notice",
        /// A subagent began or ended.
        SubagentState(SubagentStateBody) = "subagent_state",
        /// A subagent said or did something.
        SubagentStep(SubagentStepBody) = "subagent_step",
    }
}

/// A message of the chat, as lists have it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MessageBody {
    pub message: Box<MessageView>,
}

/// A piece of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeltaBody {
    pub message_id: String,
    pub delta: String,
    /// Where it begins, in UTF-16 units.
    pub offset: usize,
}

/// The model is asked again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryBody {
    pub message_id: String,
    /// Which repeat comes, from 1.
    pub attempt: u32,
    /// The class of the failure.
    pub class: String,
    pub delay_ms: u64,
    /// How much of the text stays.
    pub keep: u64,
}

/// The run ended with an answer or at a limit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoneBody {
    pub message_id: Option<String>,
    pub stop_reason: RunEnd,
}

/// The run ended because something failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    pub message_id: Option<String>,
    pub code: String,
    pub message: String,
}

/// A person stopped the run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AbortedBody {
    pub message_id: Option<String>,
    pub message: String,
}

/// The model asks for a tool.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallBody {
    pub message_id: String,
    pub call_id: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// The name the model knows it by.
    pub name: String,
    pub server: String,
    /// Arguments, redacted and cut for display.
    pub args: String,
}

/// How far a call is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CallProgress {
    /// The call goes on while the model does something else.
    Background(CallInBackground),
    /// The server said so.
    Said(CallProgressBody),
}

/// What a server says it is doing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallProgressBody {
    pub call_id: String,
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// A call that nobody waits for now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallInBackground {
    pub call_id: String,
    pub elapsed_ms: u64,
    pub background: bool,
}

/// A call has its result.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ToolResultBody {
    pub message: Box<MessageView>,
    /// Absent when the host itself closed the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::schema::trace_schema")]
    pub trace: Option<Trace>,
}

/// A call waits for a person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptWaitingBody {
    pub call_id: String,
    pub request_id: String,
    /// Who asks: `approval`, `prompt`, `run` and others.
    pub kind: String,
}

/// The question of a call was answered or withdrawn.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAnsweredBody {
    pub call_id: String,
    pub request_id: String,
    /// Who asked, as when it began to wait.
    pub kind: String,
    pub status: String,
}

/// The run is in another state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunStateBody {
    pub state: RunState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<RunEnd>,
}

/// Tokens and money of one answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageBody {
    pub input: i64,
    pub output: i64,
    pub cache_read: i64,
    pub cache_write: i64,
    /// Counted by us, not said by the vendor.
    pub estimated: bool,
    /// Null when nobody knows.
    pub cost: Option<f64>,
    pub currency: Option<String>,
    /// How full the model's window is after this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextBody>,
}

/// How full a model's window is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextBody {
    /// How many tokens are in it now.
    pub used: u64,
    /// How many tokens the window holds.
    pub window: u64,
    /// How full it is, in hundredths.
    pub share: u32,
    /// `person`, `vendor`, `learned`, `catalogue` or `default`.
    pub window_source: String,
    pub parts: ContextParts,
    /// How many tools the model knows; absent where it was told of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ContextTools>,
}

/// How many tools a model knows.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct ContextTools {
    /// Those whose definitions it is sent.
    pub loaded: u64,
    /// Those and all that it finds on demand.
    pub all: u64,
}

/// What fills a window, in estimated tokens.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ContextParts {
    pub system: u64,
    pub tools: u64,
    pub summary: u64,
    pub messages: u64,
    pub results: u64,
}

/// What is sent to the model became smaller; the chat stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactedBody {
    /// `prune`: old results became lines; `summary`: the beginning was summarised; `overflow`: one of both, after
    /// the vendor refused a request as too long.
    #[serde(default)]
    pub kind: String,
    /// The summary; null where none was made.
    pub summary_id: Option<String>,
    /// How many messages it is about.
    #[serde(default)]
    pub messages: u64,
    pub before_tokens: u64,
    pub after_tokens: u64,
}

/// Something a person should know.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NoticeBody {
    pub level: Severity,
    pub code: String,
    pub message: String,
}

/// A subagent began or ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentStateBody {
    pub job_id: Option<String>,
    pub call_id: String,
    pub child_run_id: String,
    pub sub_agent_id: String,
    /// `pending`, `running`, `done`, `error`, `canceled` or `interrupted`.
    pub state: String,
}

/// A subagent said or did something.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentStepBody {
    pub job_id: String,
    pub call_id: String,
    /// Its number, time and type, and what belongs to that type (servers §9).
    pub step: Value,
}
