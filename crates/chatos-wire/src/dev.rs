//! `chatos dev`: the plugin under development and its places, what is wrong with it, and the test of AsyncTask.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plugin::ProblemEntry;

/// What is under development here.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DevInfo {
    /// Absent while the folder holds no plugin that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<DevPlugin>,
    /// The app that was named when `chatos dev` was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    pub paths: DevPaths,
    /// Saved files are taken at once; otherwise when a person asks for it.
    pub reload: bool,
    /// Files differ from what is in use. Only looked for where saved files are not taken at once.
    pub pending: bool,
    /// The agent that may use the plugin, and nothing else.
    pub agent_id: String,
}

/// The plugin under development.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DevPlugin {
    pub id: String,
    pub name: String,
    pub version: String,
    /// Of the files in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The places of the plugin, the sandbox and the project.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DevPaths {
    pub plugin_dir: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<String>,
    pub state_dir: String,
    pub session_root: String,
    pub project_root: String,
    /// The log of UI prompts, `ui-prompts.jsonl`.
    pub prompt_log: String,
}

/// What `chatos plugin validate` says about the files as they are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DevProblems {
    pub errors: Vec<ProblemEntry>,
    pub warnings: Vec<ProblemEntry>,
}

/// How the result of a made-up task is written (seed 003 §3).
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct AsyncTestInput {
    pub id_form: AsyncIdForm,
    pub field: AsyncField,
    pub fault: AsyncFault,
    /// The text of the result; one is made up when absent.
    pub text: Option<String>,
}

/// How the result names its task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AsyncIdForm {
    /// The task's id alone: `<taskId>`.
    #[default]
    Plain,
    /// The id with its prefix: `mcp-task:<taskId>`.
    Prefixed,
}

/// Where the result has its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AsyncField {
    #[default]
    Markdown,
    Result,
    Content,
    /// In no field at all.
    None,
}

/// What goes wrong on purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AsyncFault {
    #[default]
    None,
    /// The result is there before the acknowledgement.
    BeforeAck,
    /// The line is written in two pieces.
    TornLine,
    /// The log is emptied first, as a program that starts it anew does.
    Truncate,
    /// The result is another task's; the wait has to end without it.
    WrongId,
}

/// What came of the test.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AsyncTestResult {
    pub task_id: String,
    /// As it was written.
    pub request_id: String,
    pub matched: bool,
    /// From the end of writing to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// What the tool call would return: the result's text, or why there is none.
    pub text: String,
    /// The line that was appended to the log.
    pub line: String,
    /// The line the host answered it with, which takes it off the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_response: Option<String>,
    pub timeline: Vec<AsyncTestStep>,
}

/// One moment of the test.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AsyncTestStep {
    /// Milliseconds since the test began.
    pub at_ms: f64,
    pub what: AsyncTestMoment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AsyncTestMoment {
    /// The wait for it began.
    Began,
    /// The acknowledgement was there.
    Acknowledged,
    /// The first half of a torn line was written.
    Torn,
    /// The log was emptied.
    Emptied,
    /// The result was written.
    Written,
    /// The wait ended with the result.
    Matched,
    /// The wait ended without one.
    GaveUp,
}
