//! Chats, their messages, and what is sent to them.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::instructions::InstructionOrder;
use crate::run::UsageView;
use crate::{MessageKind, MessageRole, RunEnd, RunState};

/// A page of chats.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    pub items: Vec<SessionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A folder for trying things out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Scratch {
    pub path: String,
}

/// Places where a text occurs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SearchResults {
    pub items: Vec<SearchHit>,
}

/// Whether a summary was made.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Compacted {
    pub ok: bool,
    /// False while a run is under way: it is made before its next step.
    pub made: bool,
}

/// A summary that is to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CompactOrder {
    /// What to keep in it, in a person's words.
    pub instructions: String,
}

/// A batch of events.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventBatch {
    /// As agents §11 has them, in order.
    pub events: Vec<Value>,
    /// Ask for those after this one next.
    pub next: u64,
    /// Some were missed: read the messages again.
    pub resync: bool,
}

/// What to do when a run is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SendMode {
    /// Wait for its end.
    #[default]
    Queue,
    /// Correct it.
    Steer,
    /// Stop it and begin anew.
    Replace,
}

/// A file of a message.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Attachment {
    pub name: String,
    pub mime: String,
    /// Base64.
    pub data: Option<String>,
    /// `data:<mime>;base64,…`.
    pub data_url: Option<String>,
    /// A document goes without its text: models get its name alone. For one that cannot be read (`extract_failed`).
    pub name_only: bool,
    /// Where it comes from, when that is not the person's own machine: the MCP server that gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A message to send.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SendOrder {
    pub text: String,
    pub attachments: Vec<Attachment>,
    pub agent_id: Option<String>,
    /// The model of the chat from this message on.
    pub model_id: Option<String>,
    /// The model that answers this one message; the chat keeps its own.
    pub answer_by: Option<String>,
    pub mode: Option<SendMode>,
    /// The id the message gets, a UUID of the sender's. Sent again with the same one, it is kept once and the answer
    /// is that of the first time.
    pub client_message_id: Option<String>,
    /// The message of the person in whose place this one is said. That one and what followed it are left: kept, not
    /// shown, not sent to models; `select` brings them back. Without files of its own it has those of that one.
    pub replaces: Option<String>,
    /// Texts of the project: `ask` where a person can be asked about them. Absent: only what was decided before.
    pub instructions: Option<InstructionOrder>,
    /// How much the model thinks about this message: `low`, `medium`, `high`, or another word of its list. Absent: as the
    /// model says.
    pub effort: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub run_id: String,
    pub user_message_id: String,
    /// The message the answer will be in; of a correction, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_message_id: Option<String>,
    /// It waits for its turn.
    pub queued: bool,
}

/// A chat to make.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionOrder {
    pub title: Option<String>,
    /// The first agent when absent.
    pub agent_id: Option<String>,
    pub model_id: Option<String>,
    pub workspace_root: Option<String>,
}

/// What may change in a chat.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionChange {
    pub title: Option<String>,
    pub agent_id: Option<String>,
    /// Empty: as the agent says.
    pub model_id: Option<String>,
    pub workspace_root: Option<String>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
}

/// A place where a searched text occurs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub session_id: String,
    pub session_title: String,
    pub message_id: String,
    pub seq: i64,
    pub role: MessageRole,
    /// The text around the place.
    pub excerpt: String,
    pub created_at: String,
}

/// A chat.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: String,
    pub title: String,
    pub agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    pub workspace_root: String,
    pub pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_message_at: Option<String>,
    /// A run of it is under way.
    pub running: bool,
    /// The run that is under way, or the one that was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunBrief>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branched_from_run: Option<String>,
    /// When it was read from a file. Such a chat is only read; a fork of it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_at: Option<String>,
    /// The plugin whose app made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The question whether the app may work in the folder it wished for; only in the answer to making it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_root: Option<String>,
    /// What it used, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Vec<UsageView>>,
}

/// A run as its chat shows it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunBrief {
    pub id: String,
    pub state: RunState,
    /// Absent while it waits for its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    pub trace_id: String,
    /// Why it is not under way any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<RunEnd>,
}

/// A message.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    pub id: String,
    pub session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    pub seq: i64,
    pub role: MessageRole,
    pub kind: MessageKind,
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The server's own name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_structured_content: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<i64>,
    /// Not complete: still coming, or stopped.
    pub partial: bool,
    /// Tokens of the answer's model call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// The messages that were said in this place, oldest first, this one among them; absent where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    pub created_at: String,
}

/// A file beside a message.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AttachmentView {
    pub id: String,
    pub name: String,
    pub mime: String,
    pub size: i64,
    pub url: String,
    /// What to know about the text of a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<AttachmentNote>,
    /// Where it comes from, when that is not the person's own machine: the MCP server that gave it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

/// What to know about the text of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentNote {
    /// Pictures of pages: hardly any text could be read.
    Scanned,
    /// Some pages could not be read.
    Pages,
    /// Sheets have more rows than are read.
    Rows,
    /// Longer than the 2 MiB that are kept.
    Cut,
    /// Models get its name alone.
    NameOnly,
}

/// Whether a version is to be deleted, or only looked at.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DeleteQuery {
    /// Say what would be deleted, and delete nothing.
    pub dry_run: bool,
}

/// A version of a message that was deleted, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VersionDeleted {
    /// False where nothing was asked for but to look.
    pub deleted: bool,
    /// Messages and replies that go with it, itself included.
    pub messages: u64,
    /// Other versions of the message, which stay.
    pub others: u64,
}

/// A chat in a file, as `chatos-chat/1`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ChatImport {
    /// All of the file, as it was exported.
    pub text: String,
}

/// A call an answer asked for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallView {
    pub call_id: String,
    pub name: String,
    pub server: String,
    pub tool: String,
    /// Without secrets, and cut to a size that can be shown.
    pub args: String,
}

/// A summary that stands for a part of a chat in the model's context.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryView {
    pub id: String,
    pub from_seq: i64,
    pub to_seq: i64,
    pub text: String,
    pub tokens_before: Option<i64>,
    pub tokens_after: Option<i64>,
    /// `summary`, `overflow` (the vendor refused a longer request) or `mechanical` (no model made one).
    pub kind: String,
    /// How many messages it stands for; 0 where an older program did not count.
    pub messages: i64,
}

/// A page of messages.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// Oldest first.
    pub messages: Vec<MessageView>,
    pub has_more: bool,
    pub summaries: Vec<SummaryView>,
}

/// Which chats are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionQuery {
    /// The archived ones instead.
    pub archived: bool,
    /// At most so many of them.
    pub limit: Option<u32>,
    /// Where the next page begins, as the page before said.
    pub cursor: Option<String>,
}

/// What is looked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SearchQuery {
    /// The text that is looked for.
    pub q: String,
    /// At most so many of them.
    pub limit: Option<u32>,
}

/// Which messages are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MessageQuery {
    /// At most so many of them.
    pub limit: Option<u32>,
    /// Those before this message.
    pub before_id: Option<String>,
}

/// Which events are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EventQuery {
    /// The position; 0 tells the present one.
    pub since: u64,
    /// How long to wait.
    pub wait_ms: u64,
}

/// As what a chat is exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatFormat {
    /// Markdown, to be read.
    #[default]
    Md,
    /// One page to show and print, with its pictures; nothing in it is loaded or run.
    Html,
    /// The form programs read, `chatos-chat/1`.
    Json,
}

/// How a chat is exported.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ChatFileQuery {
    pub format: ChatFormat,
    /// Calls of tools and their results.
    pub tools: ChatFileTools,
    /// With what the model thought before it answered; `true`, `false`, `1` or `0`.
    #[serde(deserialize_with = "yes_or_no")]
    pub thinking: bool,
    /// Also what other versions of messages led to; in JSON alone.
    pub branch: ChatFileBranch,
}

/// How much of the calls of tools an exported chat has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatFileTools {
    /// Nothing of them is in it.
    #[serde(alias = "false")]
    None,
    /// That they were called, a line each.
    Short,
    /// Calls with their arguments, and results, as they are.
    #[default]
    #[serde(alias = "true")]
    Full,
}

/// Which messages an exported chat has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatFileBranch {
    /// What the chat shows.
    #[default]
    Path,
    /// That, and every other version with what followed it.
    All,
}

/// Yes or no as a query says it.
fn yes_or_no<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Said {
        Bool(bool),
        Word(String),
    }
    match Said::deserialize(from)? {
        Said::Bool(said) => Ok(said),
        Said::Word(word) => match word.as_str() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            _ => Err(serde::de::Error::custom("`thinking` is 1 or 0")),
        },
    }
}

/// A chat as a file, without secrets.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChatFile {
    /// A name every system takes.
    pub name: String,
    pub mime: String,
    pub text: String,
}
