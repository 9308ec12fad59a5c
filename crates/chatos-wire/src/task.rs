//! Tasks of people and agents, and their remarks.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of tasks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskList {
    pub items: Vec<TaskView>,
    pub total: u64,
    pub open: u64,
    pub next_cursor: Option<String>,
}

/// One task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    pub id: String,
    pub title: String,
    pub details: String,
    /// `todo`, `doing`, `blocked` or `done`.
    pub status: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// `default`, `cli` or `chat`.
    pub scope: String,
    pub tags: Vec<String>,
    pub run_id: String,
    pub session_id: String,
    pub created_at: String,
    pub updated_at: String,
    pub completed_at: Option<String>,
    pub notes: Vec<TaskNote>,
}

/// A remark on a task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskNote {
    /// `note` or `completion`.
    pub kind: String,
    pub text: String,
    pub created_at: String,
}

/// A task to be made.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskInput {
    pub title: String,
    #[serde(default)]
    pub details: String,
    #[serde(default = "medium")]
    pub priority: String,
    #[serde(default = "todo")]
    pub status: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default = "default_scope")]
    pub scope: String,
    #[serde(default)]
    pub session_id: String,
    #[serde(default)]
    pub run_id: String,
    /// The same key makes one task.
    pub dedupe_key: Option<String>,
}

/// Fields to change.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskChange {
    pub title: Option<String>,
    pub details: Option<String>,
    pub append_note: Option<String>,
    pub priority: Option<String>,
    pub status: Option<String>,
    pub tags: Option<Vec<String>>,
}

/// Why a task is done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TaskCompletion {
    pub note: String,
}

/// Which tasks go.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskClearing {
    /// `done` or `all`.
    pub mode: String,
    #[serde(default)]
    pub scope: String,
    #[serde(default)]
    pub session_id: String,
    #[serde(default)]
    pub run_id: String,
}

/// What clearing did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TasksCleared {
    pub cleared: u64,
    pub remaining: u64,
}

fn medium() -> String {
    "medium".to_owned()
}

fn todo() -> String {
    "todo".to_owned()
}

fn default_scope() -> String {
    "default".to_owned()
}

/// Which tasks are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskQuery {
    /// Default, cli or chat.
    pub scope: String,
    /// Only those of this chat.
    pub session_id: String,
    /// Only those of this run.
    pub run_id: String,
    /// Todo, doing, blocked or done.
    pub status: String,
    /// High, medium or low.
    pub priority: String,
    /// Only records with exactly this value.
    pub tag: String,
    /// In title or details.
    pub q: String,
    /// True: leave finished ones out.
    pub open: bool,
    /// At most so many, 1 to 200.
    pub limit: Option<u32>,
    /// From the page before.
    pub cursor: Option<u32>,
}
