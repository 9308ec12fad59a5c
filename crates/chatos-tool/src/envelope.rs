//! The one shape of every result: a text, and a structured part of four keys; each says enough without the
//! other, because some clients hand their model only one of them (tools §5). Who answered, when and what was cut
//! stands beside both, in `_meta`.

mod output;
mod words;

use std::ops::Range;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::content::Content;
use crate::error_code::ErrorCode;
use crate::limits::TextLimits;
use crate::text::Lang;
use crate::tool_error::ToolError;
use crate::trace::Trace;
use crate::truncate::{self, Cut, Keep, compact_len};

pub use output::{output_schema, with_text};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Done.
    Ok,
    /// The wanted state was already there.
    Noop,
    /// Some of the work was not done; the error says why.
    Partial,
    /// Nothing failed; something alive waits.
    NeedsInput,
    /// By the person, the caller or a shutdown.
    Canceled,
    /// The arguments are refused.
    Invalid,
    /// A rule refuses it.
    Denied,
    /// The named thing does not exist.
    NotFound,
    /// A clock ran out.
    Timeout,
    /// Everything else.
    Error,
}

impl Status {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Noop,
        Self::Partial,
        Self::NeedsInput,
        Self::Canceled,
        Self::Invalid,
        Self::Denied,
        Self::NotFound,
        Self::Timeout,
        Self::Error,
    ];

    /// The status on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Noop => "noop",
            Self::Partial => "partial",
            Self::NeedsInput => "needs_input",
            Self::Canceled => "canceled",
            Self::Invalid => "invalid",
            Self::Denied => "denied",
            Self::NotFound => "not_found",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }

    /// The status a failure with this code has.
    pub fn of(code: ErrorCode) -> Self {
        match code {
            ErrorCode::InvalidArgument => Self::Invalid,
            ErrorCode::PermissionDenied => Self::Denied,
            ErrorCode::NotFound => Self::NotFound,
            ErrorCode::Timeout => Self::Timeout,
            ErrorCode::Canceled => Self::Canceled,
            ErrorCode::NeedsInput => Self::NeedsInput,
            ErrorCode::Conflict
            | ErrorCode::ResourceExhausted
            | ErrorCode::Unavailable
            | ErrorCode::NotSupported
            | ErrorCode::RateLimited
            | ErrorCode::Internal => Self::Error,
        }
    }

    /// The result counts as failed.
    pub fn is_error(self) -> bool {
        matches!(self, Self::Invalid | Self::Denied | Self::NotFound | Self::Timeout | Self::Error)
    }
}

/// How a tool's text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// With the sign of its status.
    Sign,
    /// With its own header line: reads, listings, shell, answers of a person.
    Header,
}

/// What a tool has to say, before limits and stamp.
#[derive(Debug, Clone)]
pub struct Answer {
    /// How it ended.
    pub ended: Ended,
    /// Tool fields; `null` when there are none.
    pub data: Value,
    /// The text, without the sign of the status.
    pub text: String,
    /// How the text begins when it ended well.
    pub opening: Opening,
    /// Where in the text the product stands, when that is text: it is `data.text` as well.
    pub product: Option<Range<usize>>,
    /// Which part of a text that is too long stays.
    pub keep: Keep,
    /// What the tool cut itself.
    pub cuts: Vec<Cut>,
    /// Pointers into `data` that no log may show, whatever they hold.
    pub private: Vec<String>,
    /// Parts that follow the text.
    pub parts: Vec<Content>,
}

/// The end of a call.
#[derive(Debug, Clone)]
pub enum Ended {
    /// Done.
    Ok,
    /// The wanted state was already there.
    Noop,
    /// Some of it was not done.
    Partial(ToolError),
    /// Something alive waits for input.
    NeedsInput,
    /// It failed, was refused or was canceled.
    Failed(ToolError),
}

impl Answer {
    /// The answer of a failed call; what was gathered before is its data.
    pub fn failed(mut error: ToolError) -> Self {
        let data = error.data.take().unwrap_or(Value::Null);
        Self {
            ended: Ended::Failed(error),
            data,
            text: String::new(),
            opening: Opening::Sign,
            product: None,
            keep: Keep::Head,
            cuts: Vec::new(),
            private: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// Who answered what, when.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The server's name.
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// Where the call belongs.
    pub trace: Trace,
    /// Without queueing and without waiting for a person.
    pub elapsed_ms: u64,
    /// ISO 8601 UTC.
    pub ts: String,
}

/// A finished result.
#[derive(Debug, Clone)]
pub struct Envelope {
    /// How it ended.
    pub status: Status,
    /// `ok` or the code of the reason.
    pub code: &'static str,
    /// Tool fields; a product is not among them, but in [`Envelope::product`].
    pub data: Value,
    /// `{type, message, retryable, hint?, details?}`.
    pub error: Option<Value>,
    /// The text block.
    pub text: String,
    /// What goes out as `data.text`.
    pub product: Option<Product>,
    /// UTF-8 bytes of the text plus compact JSON of `data`.
    pub size: usize,
    /// Everything that was cut.
    pub cuts: Vec<Cut>,
    /// Pointers into `data` that no log may show.
    pub private: Vec<String>,
    /// Parts that follow the text.
    pub parts: Vec<Content>,
    /// Who, what, when.
    pub stamp: Stamp,
}

/// A product that is text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Product {
    /// A part of the text block: it is held once and written twice.
    Part(Range<usize>),
    /// The text block was cut, and the product by the same rule.
    Cut(String),
}

impl Envelope {
    /// Builds the envelope of an answer: words, limits, size.
    pub fn seal(answer: Answer, stamp: Stamp, limits: TextLimits, lang: Lang) -> Self {
        let Answer { ended, mut data, text, opening, product, keep, mut cuts, private, parts } = answer;
        let (status, code, error) = match &ended {
            Ended::Ok => (Status::Ok, "ok", None),
            Ended::Noop => (Status::Noop, "ok", None),
            Ended::Partial(error) => (Status::Partial, error.code().as_str(), Some(error)),
            Ended::NeedsInput => (Status::NeedsInput, ErrorCode::NeedsInput.as_str(), None),
            Ended::Failed(error) => (Status::of(error.code()), error.code().as_str(), Some(error)),
        };
        let (text, moved) = words::text(status, error, text, opening, lang);
        let error = match (status, error) {
            (Status::NeedsInput, _) => Some(words::needs_input(lang)),
            (_, Some(error)) => Some(error_object(error, lang)),
            (_, None) => None,
        };
        cuts.extend(truncate::fit_data(&mut data, limits.data_bytes()));
        let fitted = truncate::fit_text(&text, limits, keep, lang);
        let product = product.filter(|_| data.is_object()).map(|part| {
            let part = part.start + moved..part.end + moved;
            match (&fitted, text.get(part.clone())) {
                (Some(_), Some(whole)) => {
                    let cut = truncate::fit_text(whole, limits, keep, lang);
                    Product::Cut(cut.map_or_else(|| whole.to_owned(), |(cut, _)| cut))
                }
                _ => Product::Part(part),
            }
        });
        let text = match fitted {
            None => text,
            Some((shorter, cut)) => {
                cuts.extend(cut);
                shorter
            }
        };
        if !cuts.is_empty()
            && let Some(map) = data.as_object_mut()
        {
            map.insert("truncated".to_owned(), Value::Bool(true));
        }
        let mut envelope =
            Self { status, code, data, error, text, product, size: 0, cuts, private, parts, stamp };
        envelope.size = envelope.text.len() + compact_len(&envelope.full_data());
        envelope
    }

    /// What goes out as `data.text`, when the tool's product is text.
    pub fn product(&self) -> Option<&str> {
        match self.product.as_ref()? {
            Product::Part(part) => self.text.get(part.clone()),
            Product::Cut(text) => Some(text),
        }
    }

    /// The structured part. A result with a picture, a sound or a document has none: a client that hands only
    /// this part to its model would drop them.
    pub fn structured(&self) -> Option<Value> {
        self.structured_part().map(|part| json!(part))
    }

    /// Server, tool, trace, time, size and cuts: `_meta.chatos` of the result.
    pub fn context(&self) -> Value {
        json!(self.context_part())
    }

    /// The text, then the other parts.
    pub fn content(&self) -> Vec<Value> {
        self.parts_of_result().content.iter().map(|block| json!(block)).collect()
    }

    /// The whole result of `tools/call`.
    pub fn result(&self) -> Value {
        json!(self.parts_of_result())
    }

    /// The whole result of `tools/call` as compact JSON, without building it first.
    pub fn write_result(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(out, &self.parts_of_result())
    }

    fn full_data(&self) -> Data<'_> {
        Data { fields: &self.data, text: self.product() }
    }

    fn structured_part(&self) -> Option<Structured<'_>> {
        let media = self.parts.iter().any(|part| !matches!(part, Content::Text { .. }));
        (!media).then(|| Structured {
            status: self.status,
            code: self.code,
            data: self.full_data(),
            error: self.error.as_ref(),
        })
    }

    fn context_part(&self) -> Context<'_> {
        let stamp = &self.stamp;
        Context {
            server: &stamp.server,
            tool: &stamp.tool,
            trace: &stamp.trace,
            elapsed_ms: stamp.elapsed_ms,
            size: self.size,
            ts: &stamp.ts,
            truncated: &self.cuts,
        }
    }

    fn parts_of_result(&self) -> CallResult<'_> {
        let text = Block::Text(TextBlock { kind: "text", text: &self.text });
        CallResult {
            content: std::iter::once(text).chain(self.parts.iter().map(Block::Part)).collect(),
            structured_content: self.structured_part(),
            is_error: self.status.is_error(),
            meta: Meta { chatos: self.context_part() },
        }
    }
}

/// The result of `tools/call` as it goes out (tools §5).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Structured<'a>>,
    is_error: bool,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Serialize)]
struct Meta<'a> {
    chatos: Context<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    Text(TextBlock<'a>),
    Part(&'a Content),
}

#[derive(Serialize)]
struct TextBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Structured<'a> {
    status: Status,
    code: &'static str,
    data: Data<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Value>,
}

/// Tool fields with the product among them, which nobody had to copy for that.
struct Data<'a> {
    fields: &'a Value,
    text: Option<&'a str>,
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Value::Object(fields), Some(text)) = (self.fields, self.text) else {
            return self.fields.serialize(serializer);
        };
        let mut map = serializer.serialize_map(Some(fields.len() + 1))?;
        for (name, value) in fields {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("text", text)?;
        map.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    server: &'a str,
    tool: &'a str,
    trace: &'a Trace,
    elapsed_ms: u64,
    size: usize,
    ts: &'a str,
    #[serde(skip_serializing_if = "<[Cut]>::is_empty")]
    truncated: &'a [Cut],
}

/// `{type, message, retryable, hint?, details?}`.
fn error_object(error: &ToolError, lang: Lang) -> Value {
    let code = error.code();
    let mut object =
        json!({ "type": code.as_str(), "message": error.message.get(lang), "retryable": is_retryable(code) });
    if let Some(hint) = &error.hint {
        object["hint"] = json!(words::sentence(hint.get(lang)));
    }
    let details = error.details(lang);
    if details.as_object().is_some_and(|map| !map.is_empty()) {
        object["details"] = details;
    }
    object
}

/// The same call may succeed later without a change of its arguments.
fn is_retryable(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Timeout | ErrorCode::Conflict | ErrorCode::Unavailable | ErrorCode::RateLimited)
}

#[cfg(test)]
mod tests;
