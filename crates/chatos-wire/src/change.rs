//! What tools changed in files, and undoing it.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::setting::TextPair;

/// A page of changes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FileChangeList {
    pub changes: Vec<FileChangeView>,
    /// For `before` of the next page.
    pub next: Option<String>,
}

/// A change of one file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChangeView {
    pub id: String,
    pub run_id: String,
    pub session_id: String,
    pub user_message_id: String,
    pub server: String,
    pub tool: String,
    /// The directory the tool worked in.
    pub root: String,
    /// Relative to the root, after the change.
    pub path: String,
    /// The path before a move.
    pub from: Option<String>,
    /// `created`, `modified`, `deleted` or `moved`.
    pub change: String,
    pub before: FileContent,
    pub after: FileContent,
    /// Counted in lines.
    pub added: u64,
    /// Counted in lines.
    pub removed: u64,
    pub created_at: String,
    /// The change that undid this one and is in force.
    pub undone_by: Option<String>,
    /// The changes this one undid.
    pub undoes: Vec<String>,
}

/// A content before or after a change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FileContent {
    /// `absent`: no file; `kept`; `omitted`: too large, only its digest; `lost`: not known or not there any
    /// more.
    pub state: String,
    pub sha256: Option<String>,
    pub size: Option<u64>,
}

/// A change with its diff.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChangeDetail {
    pub change: FileChangeView,
    /// Unified; the contents can be downloaded.
    pub diff: String,
    pub diff_truncated: bool,
    pub undo: UndoState,
}

/// Whether a change can be undone as the file is now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoState {
    pub possible: bool,
    /// Why not, for programs.
    pub code: Option<String>,
    /// Why not.
    pub reason: Option<TextPair>,
    /// What helps.
    pub hint: Option<TextPair>,
}

/// What to undo: `ids`, or every change of a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoRequest {
    #[serde(default)]
    pub ids: Vec<String>,
    #[serde(default)]
    pub run_id: Option<String>,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
}

/// What an undo did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoAnswer {
    pub steps: Vec<UndoneFile>,
    /// The records of the undo; none for a dry run.
    pub changes: Vec<FileChangeView>,
    /// `hard_links: …`, `change_not_recorded: …` and so on.
    pub warnings: Vec<String>,
}

/// One file of an undo.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct UndoneFile {
    pub root: String,
    pub path: String,
    /// `restored`, `removed`, `recreated` or `moved_back`.
    pub action: String,
    /// The changes that are undone by it.
    pub changes: Vec<String>,
}

/// Which changes are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ChangeQuery {
    /// Only in this root directory.
    pub root: String,
    /// Only with this text in the path.
    pub path: String,
    /// Only those of this run.
    pub run_id: String,
    /// Only those of this chat.
    pub session_id: String,
    /// Only by this server.
    pub server: String,
    /// Only by this tool.
    pub tool: String,
    /// Created, modified, deleted or moved.
    pub change: String,
    /// 1 to 200, else 50.
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub before: Option<String>,
}
