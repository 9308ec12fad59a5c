//! What a person types behind `/` and `@` (packages §5): commands, their arguments, files of the workspace.

use std::collections::BTreeMap;

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Attachment;

/// What a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandKind {
    /// Part of the chat itself, such as `/compact`; whoever shows the list carries it out.
    BuiltIn,
    /// A text of the person, with places for what is typed behind the name.
    Text,
    /// A skill: a text for a kind of work, from the project or the person's folders.
    Skill,
    /// A prompt that an MCP server offers.
    Prompt,
    /// The text of an app about its own tools, which goes along as a file.
    App,
}

/// Everything a person can type behind `/`, in the order in which names are decided.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CommandList {
    pub items: Vec<CommandView>,
    /// Servers that have not told their prompts yet; ask again for them.
    pub late: Vec<String>,
    /// Files that are no command, each with its reason.
    pub problems: Vec<String>,
}

/// One command as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandView {
    /// What is typed behind `/`: the bare name, or the key where another command has that name.
    pub name: String,
    /// The name that no other command has: the word of a built-in one, `cmd:user:<name>`, `cmd:project:<name>`, or that
    /// of a skill or prompt: `project:<skill>`, `user:<skill>`, `<server>:<prompt>`, `app:<plugin>/<app>`.
    pub key: String,
    pub kind: CommandKind,
    /// For people; empty when there is none.
    pub title: String,
    pub description: String,
    /// What may be typed behind the name, such as `[file]`.
    pub argument_hint: String,
    /// What a prompt is filled with; empty for the other kinds.
    pub arguments: Vec<CommandArgument>,
    /// Where it comes from: `chatos`, `user`, `project`, or the name of the server or plugin.
    pub source: String,
}

/// A person's own commands, as a page edits them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnCommands {
    pub items: Vec<OwnCommand>,
    /// Where their files lie.
    pub folder: String,
    /// Files that are no command, each with its reason.
    pub problems: Vec<String>,
}

/// One command of the person, with the whole file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnCommand {
    pub name: String,
    pub description: String,
    /// The whole file, with its front matter.
    pub text: String,
}

/// The new text of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnCommandText {
    pub text: String,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}

/// Whose commands are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandQuery {
    /// The chat; its agent decides which servers count.
    pub session: Option<String>,
    /// The agent of a chat that does not exist yet; the first one when absent.
    pub agent: Option<String>,
    /// How long servers may take to tell their prompts, up to 2000; with 0 none is asked or started.
    pub wait_ms: Option<u32>,
}

/// A command to be filled.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FillOrder {
    /// The chat in which it is typed.
    pub session: Option<String>,
    /// The agent of a chat that does not exist yet.
    pub agent: Option<String>,
    /// What was typed, from the `/` on.
    pub text: String,
    /// Arguments of a prompt from a form, instead of those behind its name.
    pub arguments: Option<BTreeMap<String, String>>,
}

/// What a command says; nothing was sent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Filled {
    pub kind: CommandKind,
    pub key: String,
    /// What the message says.
    pub text: String,
    /// Files of the workspace that the text of the person's own command names with `@`.
    pub mentions: Vec<String>,
    /// What a person should know about the text, in the language asked for.
    pub notices: Vec<String>,
    /// Files that go along with the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Attachment>,
    /// The model that the command wants to answer it, by id; for `answerBy` of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_by: Option<String>,
}

/// An argument that is being typed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CompleteOrder {
    /// The chat in which it is typed.
    pub session: Option<String>,
    /// The agent of a chat that does not exist yet.
    pub agent: Option<String>,
    /// The key of the prompt it belongs to; of a template of resources `@<server>:<address with places>`.
    pub key: String,
    pub argument: String,
    /// What is typed so far.
    pub value: String,
    /// The other arguments as far as they are filled.
    pub arguments: BTreeMap<String, String>,
}

/// Values a server suggests for an argument.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Completions {
    /// At most 100 of them.
    pub values: Vec<String>,
    /// The server knows others, too.
    pub more: bool,
}

/// What is looked for behind `@`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MentionQuery {
    /// The chat whose workspace is searched.
    pub session: Option<String>,
    /// The agent of a chat that does not exist yet.
    pub agent: Option<String>,
    /// What was typed behind `@`: letters of the path in their order.
    pub q: String,
    /// How long servers may take to tell their resources, up to 2000; with 0 none is asked or started, and those that
    /// told theirs before are in the list.
    pub wait_ms: Option<u32>,
}

/// What matches: files of the workspace, the best first, at most 50; then resources of servers, at most 50.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MentionList {
    pub items: Vec<MentionView>,
    /// The workspace is too large to have been searched to its end.
    pub partial: bool,
    /// Servers that have not told their resources yet; ask again for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
}

/// What stands behind an `@`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MentionKind {
    /// A file or folder of the workspace.
    #[default]
    File,
    /// A resource of a server.
    Resource,
    /// A family of resources: its address has places in braces, which are filled before it can be read.
    Template,
}

impl MentionKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks this way")]
    fn is_file(&self) -> bool {
        *self == Self::File
    }
}

/// A file, a folder or a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MentionView {
    /// What is typed behind `@`: a path relative to the workspace, of a folder with `/` at its
    /// end; of a resource `<server>:<address>`.
    pub path: String,
    /// Absent for a file.
    #[serde(default, skip_serializing_if = "MentionKind::is_file")]
    pub kind: MentionKind,
    /// What people call a resource; absent where it has no other name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What a resource is, as its server says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The server of a resource.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Files and resources to be read for a message.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MentionOrder {
    /// The chat in which it is typed.
    pub session: Option<String>,
    /// The agent of a chat that does not exist yet.
    pub agent: Option<String>,
    /// Relative to the workspace; of a resource `<server>:<address>`.
    pub paths: Vec<String>,
}

/// The files and resources as a message carries them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MentionedFiles {
    pub files: Vec<Attachment>,
    /// Paths at which there is nothing.
    pub missing: Vec<String>,
}
