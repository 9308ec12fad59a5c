//! Tools by hand, and the log of calls.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// All servers, or the tools of an agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ToolServers {
    /// Built-in servers; empty when an agent is asked for.
    pub servers: Vec<ToolServer>,
    /// With `agent`: every tool, granted or not, with the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolsetView>>,
    /// With `agent`: servers that did not start, tools that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<ToolsetProblem>>,
}

/// Something a person should know about an agent's tools.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ToolsetProblem {
    pub server: String,
    pub tool: Option<String>,
    pub code: String,
    pub message: String,
    pub stderr: Vec<String>,
}

/// A server and its tools.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolServer {
    pub name: String,
    /// The fixed id that land_configs refer to.
    pub id: String,
    pub title: String,
    pub instructions: String,
    /// Its tools work inside a root directory.
    pub needs_root: bool,
    pub tools: Vec<ToolView>,
}

/// A tool as its server lists it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    pub name: String,
    pub title: String,
    pub description: String,
    pub annotations: ToolHints,
    /// Which question a person may be asked first: `none`, `file_change`, `task` or `shell`.
    pub confirm: String,
    pub version: u32,
    /// JSON Schema of the arguments; only when one server is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// JSON Schema of `structuredContent`; only when one server is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// Hints for clients.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolHints {
    pub title: String,
    pub read_only_hint: bool,
    pub destructive_hint: bool,
    pub idempotent_hint: bool,
    pub open_world_hint: bool,
}

/// A call of one tool.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CallInput {
    /// Arguments as the schema of the tool has them.
    pub arguments: Option<Value>,
    /// `_meta` of the call: runId, sessionId, workdir and so on.
    pub meta: Map<String, Value>,
    /// Names the chat the call belongs to, for fair queueing.
    pub session: String,
    /// The directory the tool works in; the host's project when absent.
    pub root: Option<String>,
    /// The call is made for another program: `root` is its folder, and without one tools that work in a
    /// folder are refused.
    pub for_client: bool,
    /// Names the call for cancelling and in the log; made up when absent.
    pub call_id: Option<String>,
    /// Call as this agent would (its grants, its questions); id or name.
    pub agent: Option<String>,
    /// The question this call asked before the host stopped: the same question, not another one.
    pub resume: Option<String>,
    /// Tell in the answer which `_meta` the server was sent, and when.
    pub trail: bool,
}

/// A call that names its tool in the body.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedCallInput {
    /// The name people gave the server.
    pub server: String,
    /// The tool, by the name its server gave it.
    pub tool: String,
    /// Arguments as the schema of the tool has them.
    #[serde(default)]
    pub arguments: Option<Value>,
    /// `_meta` of the call.
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// Names the chat the call belongs to, for fair queueing.
    #[serde(default)]
    pub session: String,
    /// The directory the tool works in; the host's project when absent.
    #[serde(default)]
    pub root: Option<String>,
    /// The call is made for another program: `root` is its folder, and without one tools that work in a
    /// folder are refused.
    #[serde(default)]
    pub for_client: bool,
    /// Names the call for cancelling and in the log; made up when absent.
    #[serde(default)]
    pub call_id: Option<String>,
    /// Call as this agent would (its grants, its questions); id or name.
    #[serde(default)]
    pub agent: Option<String>,
    /// The question this call asked before the host stopped: the same question, not another one.
    #[serde(default)]
    pub resume: Option<String>,
    /// Tell in the answer which `_meta` the server was sent, and when.
    #[serde(default)]
    pub trail: bool,
}

/// The result of a call as MCP clients get it, with its id.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    pub call_id: String,
    pub content: Vec<Value>,
    /// Of built-in tools the envelope: status, code, data, error. Of others what they gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    pub is_error: bool,
    /// `chatos`: status, code, certain, server, tool, trace, elapsedMs, size, ts, truncated.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// What became of the call, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trail: Option<CallTrail>,
}

/// What became of a call; times in milliseconds since it was asked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallTrail {
    /// `_meta` as the server was sent it, but for the progress token.
    pub meta: Map<String, Value>,
    /// Absent: it was never sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_ms: Option<u64>,
    /// When the server acknowledged it, where the result comes later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_ms: Option<u64>,
    pub ended_ms: u64,
    /// The id of the AsyncTask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The id the server minted itself and named in its ACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_task_id: Option<String>,
}

/// Whether there was a call to cancel.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CancelResult {
    /// false: no such call is running.
    pub canceled: bool,
}

/// How a call by hand stands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CallStateView {
    /// false: it has ended, or there never was one.
    pub running: bool,
    /// The questions it asked a person, in the order of asking.
    pub questions: Vec<String>,
    /// How often it said something about its progress.
    pub said: usize,
    /// What it said last: how far it is, or what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// How far it is, by its own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// Of how much, where its server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
}

/// Records of the tool log, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolLogView {
    pub items: Vec<Value>,
    pub next_cursor: Option<String>,
}

/// A tool of a set as pages show it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolsetView {
    /// What a model calls.
    pub name: String,
    pub identity: String,
    pub server: String,
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    pub granted: bool,
    /// A person is asked before each call.
    pub ask: bool,
    /// It changes nothing, and its word for that counts.
    #[serde(default)]
    pub read_only: bool,
    /// Why it is not granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// Hints of its server, as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// What else its server says of it, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<ToolTold>,
}

/// What a server says of a tool that no model reads, for clients it is passed on to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolTold {
    /// What it does, in full and in the server's own words.
    pub description: String,
    /// JSON Schema of `structuredContent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Its pictures, as MCP has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Value>,
    /// What else the server attached.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// Whose tools are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolQuery {
    /// Id or name of an agent.
    pub agent: Option<String>,
    /// The role the agent has: main or sub.
    pub role: Option<String>,
    /// How long servers may take to start; those that are late come with the next list.
    pub wait_ms: Option<u64>,
    /// With what a client is told that the tools are passed on to.
    pub told: bool,
}

/// Which changes of tools are waited for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolNewsQuery {
    /// From the answer before; 0 only tells the position.
    pub since: u64,
    /// How long to wait, at most 25000.
    pub wait_ms: u64,
}

/// Whether tools, their servers or grants changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ToolNews {
    /// What the next question begins with.
    pub next: u64,
    pub changed: bool,
}

/// Which news of a call are waited for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CallNewsQuery {
    /// How many of its questions the caller knows already.
    pub after: usize,
    /// How often the caller heard it speak; absent: what it says is not waited for.
    pub said: Option<usize>,
    /// Wait this long for another, at most 25000.
    pub wait_ms: u64,
}

/// Which records are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolLogQuery {
    /// Tool_call, tool_result or tool_error.
    pub r#type: String,
    /// Only records with exactly this value.
    pub server: String,
    /// Only records with exactly this value.
    pub tool: String,
    /// Only records with exactly this value.
    pub status: String,
    /// Only records with exactly this value.
    pub code: String,
    /// Only records with exactly this value.
    pub run_id: String,
    /// Only records with exactly this value.
    pub session_id: String,
    /// Only records with exactly this value.
    pub call_id: String,
    /// Only calls that failed, or only those that did not.
    pub is_error: Option<bool>,
    /// Anywhere in the record.
    pub q: String,
    /// Not before this time, ISO 8601.
    pub since: String,
    /// Not after this time, ISO 8601.
    pub until: String,
    /// 1 to 500.
    pub limit: Option<usize>,
    /// From the page before.
    pub cursor: Option<String>,
}

/// Whose prompts and resources are wanted, for a client of the gateway.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PassedQuery {
    /// The agent whose grants count.
    pub agent: String,
    /// How long servers may take to tell theirs.
    pub wait_ms: Option<u64>,
}

/// What granted servers offer beside their tools.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct PassedOn {
    pub prompts: Vec<PassedEntry>,
    pub resources: Vec<PassedEntry>,
    pub templates: Vec<PassedEntry>,
    /// What the servers say about themselves, as far as a person approved it.
    pub instructions: Option<String>,
    /// Servers that have not told theirs yet.
    pub late: Vec<String>,
}

/// A prompt, a resource or a template under a name that no other has.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PassedEntry {
    /// The name or address a client is given.
    pub name: String,
    /// The identity of its server.
    pub server: String,
    /// What that server calls it.
    pub own: String,
    /// As the protocol has it.
    pub definition: Value,
}

/// A request that is passed on to a server.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PassOrder {
    /// The agent whose grants count.
    pub agent: String,
    /// The identity or name of the server.
    pub server: String,
    /// `prompts/get`, `resources/read` or `completion/complete`.
    pub method: String,
    pub params: serde_json::Map<String, Value>,
}
