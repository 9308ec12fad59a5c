//! Questions to the person and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A page of prompts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptList {
    /// Items; a large prompt comes without its bulk and with `partial: true`.
    pub items: Vec<Value>,
    pub next_cursor: Option<String>,
    pub counts: PromptCounts,
    /// What is wrong with the log.
    pub problems: Value,
}

/// What waits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptCounts {
    pub needs_you: usize,
    pub results: usize,
}

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    pub prompt: Value,
    pub request_id: Option<String>,
    pub run_id: Option<String>,
    /// `host:<built-in server>` or `app:<pluginId>/<appId>`; the person when absent.
    pub owner: Option<String>,
    /// `{pid, pidStart}` of the asking process.
    pub origin: Option<AskerProcess>,
    pub session_id: Option<String>,
    pub trace: Option<Value>,
    /// `{name, material}`: what the answer decides and everything that decides it. The material is hashed into
    /// `shown`, not kept. Required for what the host itself does.
    pub effect: Option<Value>,
}

/// Lines of the text a question is about.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptText {
    /// The first line given, counted from 0.
    pub from: usize,
    /// How many are given.
    pub lines: usize,
    /// How many there are.
    pub total: usize,
    pub text: String,
}

/// The process that asks; its question is withdrawn when it is gone.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskerProcess {
    pub pid: u32,
    pub pid_start: u64,
    /// What started it; it may not answer either.
    pub starter: Option<StarterProcess>,
}

/// What started the process that asks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StarterProcess {
    pub pid: u32,
    pub pid_start: u64,
}

/// What asking gives.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAsked {
    pub ok: bool,
    pub request_id: String,
    pub warnings: Vec<Value>,
    /// False: recorded, but the log cannot be written right now.
    pub mirrored: bool,
    /// The same question was asked before; nothing was written.
    pub repeated: bool,
    /// The digest of what the question shows.
    pub shown: String,
}

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAnswer {
    pub response: Value,
    /// The digest of what was displayed.
    pub shown: Option<String>,
    pub run_id: Option<String>,
    /// `cli` or `client`; otherwise known from the connection.
    pub by: Option<String>,
    /// `<pluginId>/<appId>`: the app answers its own question.
    pub app: Option<String>,
    /// The process that answers; no program answers what it asked itself.
    pub pid: Option<u32>,
}

/// What answering gives.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptRecorded {
    pub ok: bool,
    pub mirrored: bool,
}

/// Who withdraws a question or takes its private values.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptAsker {
    /// As it was given when asking; not needed in calls for an app.
    #[serde(default)]
    pub owner: String,
    /// `aborted` or `asker_gone`.
    pub code: Option<String>,
    /// False: values of secret fields stay sealed and come masked.
    pub secrets: Option<bool>,
}

/// What somebody typed so far.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptDraft {
    /// Null when there is none.
    pub draft: Value,
    pub updated_at: Option<String>,
}

/// How old an answer must be to be archived.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveOrder {
    /// `30d`, or an ISO date; 30 days when absent.
    pub before: Option<String>,
}

/// Entries: what is pending and the last 500 that are closed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptEntries {
    pub path: String,
    pub entries: Vec<Value>,
}

/// Ids.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptIds {
    pub ids: Vec<String>,
}

/// What was archived.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptsArchived {
    pub moved: u64,
    pub kept: u64,
    pub file: Option<String>,
}
