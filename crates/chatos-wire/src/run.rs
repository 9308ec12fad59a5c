//! Runs, their steps and spans, tokens and money.

use crate::described::JsonSchema;
use chatos_policy::Role;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{RunEnd, RunKind, RunState, StepKind, StepState};

/// A correction of a run under way.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Correction {
    pub text: String,
    /// Also ends the tool call that runs.
    #[serde(default)]
    pub abort_call: bool,
}

/// The message of a correction.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Corrected {
    pub ok: bool,
    pub message_id: String,
}

/// Sums of tokens and money.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UsageList {
    pub items: Vec<UsageView>,
}

/// Where to branch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BranchOrder {
    /// The number of a step.
    pub step: i64,
}

/// Which runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunQuery {
    /// Only the runs of this chat.
    pub session_id: Option<String>,
    /// Only the runs in this state.
    pub state: Option<String>,
    /// `chat`, `sub`, `cli` or `client`, which is the work of other programs: only listed where it is named.
    pub kind: Option<String>,
    /// At most so many of them.
    pub limit: Option<u32>,
    /// Where the next page begins, as the page before said.
    pub cursor: Option<String>,
}

/// A page of runs, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    pub items: Vec<RunView>,
    pub next_cursor: Option<String>,
}

/// A span of a trace.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanView {
    pub span_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
    /// `run`, `model`, `tool`, `prompt`, `compact`, `correction` or `resume`.
    pub kind: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What people call it, while it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    pub run_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// The nine fields (agents §12).
    pub trace: Value,
    /// Ids of the spans below it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<String>,
}

/// A trace: all spans of all its runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceView {
    pub trace_id: String,
    pub spans: Vec<SpanView>,
}

/// A run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    pub id: String,
    pub kind: RunKind,
    pub session_id: String,
    pub agent_id: String,
    pub land_config_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<String>,
    pub root_run_id: String,
    pub role: Role,
    pub model_id: String,
    /// The beginning of what was asked.
    pub task: String,
    pub state: RunState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<RunEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    pub trace_id: String,
    pub span_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
    pub passes: i64,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    pub updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Vec<UsageView>>,
    /// Only when one run is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<StepView>>,
    /// Runs of subagents it started; only when one run is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<String>>,
}

/// Why a run failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunError {
    pub code: String,
    pub message: String,
}

/// A step of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    pub seq: i64,
    pub kind: StepKind,
    pub span_id: String,
    pub parent_span_id: String,
    pub state: StepState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What people call it, while it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub read_only: bool,
    pub idempotent: bool,
    pub attempt: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Without secrets, and cut to a size that can be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Without secrets, and cut to a size that can be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Bytes before cutting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
}

/// Bytes that went in and came out.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Sizes {
    pub input: usize,
    pub output: usize,
}

/// Tokens and money in one currency.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    /// The model, the agent or the day.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub calls: i64,
    pub input: i64,
    pub output: i64,
    pub cache_read: i64,
    pub cache_write: i64,
    /// Some of it was counted by us.
    pub estimated: bool,
    /// The known part; absent when nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Calls whose cost nobody knows.
    pub unknown_cost: i64,
}

/// How usage is summed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageQuery {
    /// Model, agent, day or session.
    pub by: String,
    /// A date or time.
    pub since: Option<String>,
}

/// How a run is written down.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExportQuery {
    /// `jsonl`, `otlp` or `chatosrun`; jsonl when absent.
    pub format: String,
    /// As JSON instead of as a file.
    pub wrap: bool,
}
