//! Texts of a project that go with a person's messages (packages §4): which files there are, what becomes of each, and
//! what the person said about using them.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// A person's word about the texts of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InstructionConsent {
    /// They go with the messages of every chat in this project.
    Use,
    /// They do not go with any message of this project.
    Skip,
}

impl InstructionConsent {
    /// The word under which the database keeps it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::Skip => "skip",
        }
    }

    /// Reads the word that the database has kept.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "use" => Some(Self::Use),
            "skip" => Some(Self::Skip),
            _ => None,
        }
    }
}

/// What a message says about the texts of its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InstructionOrder {
    /// Somebody is there who can be asked, where nothing was decided yet.
    Ask,
    /// For this message they are used, whatever was decided.
    Use,
    /// For this message they are not used, whatever was decided.
    Skip,
}

/// What becomes of an instruction file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstructionState {
    /// All of its text goes with the message.
    Used,
    /// Another file stands for it: one that comes first in its folder, or one with the same text.
    Shadowed,
    /// Its beginning is sent.
    Cut,
    /// The person did not say that this project's texts are used.
    NotConsented,
    /// It is no text that can be sent; `reason` says why.
    Unreadable,
}

/// One file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionFile {
    /// Relative to the project's root; the person's own file with its whole path.
    pub path: String,
    /// It is the person's own file, for every project.
    pub own: bool,
    pub state: InstructionState,
    /// Size of the file.
    pub bytes: u64,
    /// Bytes of its text that are sent.
    pub sent: u64,
    /// Why it is not sent, or what of it stays as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The texts of a project, as they would go with a message now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionsView {
    /// The project: the repository around the workspace, else the workspace. Empty where no project can be.
    pub root: String,
    /// What the person said about this project; absent when nobody was asked yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<InstructionConsent>,
    /// Files in the order of their texts.
    pub files: Vec<InstructionFile>,
    /// Such files below the workspace: named to the model, not read.
    pub nested: Vec<String>,
    /// Skills of the project, which the same word allows.
    pub skills: u32,
    /// Commands of the project, as above.
    pub commands: u32,
    /// What goes with the next message; empty when nothing does.
    pub text: String,
    /// Of a chat: what went with a message last, byte for byte; empty when nothing did.
    pub sent: String,
}

/// Whose texts are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InstructionsQuery {
    /// A folder on this machine.
    pub root: Option<String>,
    /// A chat; its workspace counts.
    pub session: Option<String>,
    /// The agent of a chat that does not exist yet; the first one when absent.
    pub agent: Option<String>,
}

/// A person's word about a project.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConsentOrder {
    /// A folder on this machine.
    pub root: Option<String>,
    /// A chat; its workspace counts.
    pub session: Option<String>,
    /// The agent of a chat that does not exist yet.
    pub agent: Option<String>,
    /// Absent: nothing is decided, the next message asks.
    pub consent: Option<InstructionConsent>,
}
