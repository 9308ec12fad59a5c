//! What is asked of a model, in no vendor's words.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// Blocks of the system prompt, in order. Stable ones first, so that vendors' caches hit.
    pub system: Vec<String>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools on offer, already sorted by name.
    pub tools: Vec<Tool>,
    /// Everything else.
    pub params: Params,
}

/// How the model should answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Params {
    /// The vendor's name of the model.
    pub model: String,
    /// Longest answer; `None` leaves it to the vendor.
    pub max_output_tokens: Option<u32>,
    /// Randomness; `None` leaves it to the vendor.
    pub temperature: Option<f64>,
    /// How much to think.
    pub effort: Option<Effort>,
    /// It is a model that thinks.
    pub thinks: bool,
    /// Tokens of an answer and the thinking before it that fit behind the question; `None` where nobody counted.
    pub room: Option<u32>,
    /// Tokens of question and answer together, for servers that are told how many to keep ready.
    pub window: Option<u32>,
    /// What requests that begin alike have in common, for vendors that look for their cache by it.
    pub cache_key: Option<String>,
    /// Whether several tools may be called in one answer; `None` leaves it to the vendor.
    pub parallel_tools: Option<bool>,
    /// What this vendor wants of its thinking sent back.
    pub replay: Replay,
    /// Members put into the body as they are; they win over ours.
    pub extra_body: Map<String, Value>,
}

/// What is sent back of a model's thinking over chat completions; the other protocols have one way each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replay {
    /// As `Content`, once the vendor has thought beside a call of a tool.
    #[default]
    Auto,
    /// The text under the name it came under, on every answer; an empty one beside calls without it.
    Content,
    Details,
    Nothing,
}

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

impl Effort {
    /// All of them, the least first.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh, Self::Max];

    /// The one with this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str() == word)
    }

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "role")]
pub enum Message {
    /// From the person, or from the host on the person's behalf.
    User {
        /// Text.
        text: String,
        /// Pictures, for models that see.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        /// Files that go along as they are, for models that read them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        documents: Vec<Document>,
    },
    /// From the model.
    Assistant {
        /// Text.
        text: String,
        /// What it thought, with what the vendor needs back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<Reasoning>,
        /// Tools it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool {
        /// Which call.
        call_id: String,
        /// Name of the tool as it was offered.
        name: String,
        /// What it said.
        content: String,
        /// Whether that is a failure.
        #[serde(default)]
        is_error: bool,
        /// Pictures it returned, for models that see.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
}

impl Message {
    /// Words of the person's side and nothing beside them.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new(), documents: Vec::new() }
    }

    /// Puts the text of its documents in the place of the files.
    pub fn fold_documents(&mut self) {
        if let Self::User { text, documents, .. } = self {
            for document in documents.drain(..) {
                *text = text.replacen(&document.label, &document.text, 1);
            }
        }
    }
}

/// A file that a model reads itself, such as a PDF.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Document {
    /// As the person's system has it.
    pub name: String,
    /// Its media type, such as `application/pdf`.
    pub mime: String,
    /// The bytes of the file in Base64.
    pub data: String,
    /// Tokens it takes, estimated.
    pub tokens: u64,
    /// What names it in the text of its message.
    pub label: String,
    /// What stands in the place of that where the file itself cannot go.
    pub text: String,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/png`.
    pub mime: String,
    /// Base64.
    pub data: String,
    /// Width and height where they are known: what it costs follows from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
}

/// A piece of thinking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// What a person may read; may be empty.
    pub text: String,
    /// The vendor's own block. It goes back unchanged to the protocol that gave it, and to no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// A call the model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The vendor's id, or ours where it gives none.
    pub id: String,
    /// Name as offered.
    pub name: String,
    /// Arguments exactly as the model wrote them; whether that is JSON is for the caller to see.
    pub arguments: String,
    /// The vendor's own part, sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// At most 64 characters of letters, digits, `_` and `-`.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}
