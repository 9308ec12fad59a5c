//! The running host, and the answers that say nothing else.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// `{}`: the body of a write that needs no values.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// `{"ok":true}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Always true; failures have another shape.
    pub ok: bool,
}

/// The running host.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Always true in an answer; `chatos status` says false when nobody answers.
    pub running: bool,
    pub version: String,
    pub pid: u32,
    /// A moment, written as ISO 8601.
    pub started_at: String,
    pub uptime_ms: i64,
    pub state_dir: String,
    pub project_root: String,
    pub url: String,
    pub host_app: String,
    /// The network can reach it.
    pub remote: bool,
    pub rss_bytes: u64,
    pub sqlite_version: String,
    /// Null until it was looked for, or when there is none.
    pub node: Option<NodeView>,
    pub counts: StatusCounts,
    /// The state cannot be written.
    pub read_only: bool,
    pub notices: Vec<NoticeView>,
}

/// The Node that plugins run with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NodeView {
    pub path: String,
    pub version: String,
}

/// Numbers for badges and the status line.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusCounts {
    pub needs_you: u64,
    pub results: u64,
    /// Questions put off for a while.
    #[serde(default)]
    pub snoozed: u64,
    pub plugins: u64,
    pub plugin_problems: u64,
    pub running_chats: u64,
}

/// Something about this start worth knowing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NoticeView {
    pub code: String,
    /// `warning` or `info`.
    pub severity: String,
    pub message: String,
    pub hint: Option<String>,
}
