//! The ways vendors want to be spoken to, behind one door.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lines::Lines;
use crate::provider::{anthropic, gemini, ollama, openai, responses};
use crate::refusal::{self, Place};
use crate::{Class, Event, ModelError, Reasoning, Request, Sse, SseError, Stop, ToolCall, Usage};

/// How a vendor's API is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Chat completions, spoken by most.
    OpenAi,
    /// The messages API.
    Anthropic,
    /// `generateContent`.
    Gemini,
    /// The Responses API.
    Responses,
    /// Ollama's own.
    Ollama,
}

/// The protocol of a provider's name; `None` for names that speak none (`demo`) or are unknown.
pub fn protocol_of(provider: &str) -> Option<Protocol> {
    match provider.to_ascii_lowercase().as_str() {
        "openai" | "openai_compatible" | "openai-compatible" | "azure" | "deepseek" | "custom"
        | "lmstudio" => Some(Protocol::OpenAi),
        "openai_responses" => Some(Protocol::Responses),
        "ollama" => Some(Protocol::Ollama),
        "anthropic" => Some(Protocol::Anthropic),
        "gemini" => Some(Protocol::Gemini),
        _ => None,
    }
}

/// What has to go over the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Wire {
    /// Behind the base URL, without a leading slash.
    pub path: String,
    /// Besides `content-type`.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Value,
}

/// What a vendor was seen to refuse. It lives as long as a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dialect {
    without: BTreeSet<String>,
    with: BTreeSet<String>,
}

impl Dialect {
    /// Whether `member` may be sent.
    pub fn sends(&self, member: &str) -> bool {
        !self.without.contains(member)
    }

    /// Whether the vendor was seen to insist on `member`.
    pub fn insists(&self, member: &str) -> bool {
        self.with.contains(member)
    }

    /// Learns that an address does not have the call of this protocol. True when another one may be tried at once.
    pub fn learn_call(&mut self, protocol: Protocol, error: &ModelError) -> bool {
        protocol == Protocol::Responses && is_no_such_call(error) && self.without.insert(RESPONSES.to_owned())
    }

    /// Learns from a refusal. True when there is something new to leave out, so the call may be
    /// repeated at once.
    pub fn learn(&mut self, error: &ModelError) -> bool {
        if error.class != Class::InvalidRequest {
            return false;
        }
        if error.message.contains(THINKING) {
            // Some refuse it, some insist on it; each is believed once.
            let wanted = ["must be passed back", "is missing", "required"];
            return if wanted.iter().any(|words| error.message.contains(words)) {
                self.without.remove(THINKING);
                self.with.insert(THINKING.to_owned())
            } else {
                self.with.remove(THINKING);
                self.without.insert(THINKING.to_owned())
            };
        }
        let sentences = [
            ("does not support tools", "tools"),
            ("does not support thinking", "think"),
            ("invalid temperature", "temperature"),
            // Mistral; see `openai::short`.
            ("with a length of 9", openai::LONG_IDS),
            // Sealed thinking that the vendor cannot open, or that stands alone to its eyes.
            ("encrypted content", responses::SEALED),
            ("encrypted_content", responses::SEALED),
            ("required following item", responses::SEALED),
            ("thought signature", gemini::SIGNATURES),
            ("thought_signature", gemini::SIGNATURES),
        ];
        let lower = error.message.to_lowercase();
        if let Some((_, member)) = sentences.iter().find(|(words, _)| lower.contains(words)) {
            // The wish for sealed thinking is refused by models that do not think.
            let member = if error.param.as_deref() == Some("include") { "include" } else { member };
            return self.without.insert(member.to_owned());
        }
        if error.param.as_deref() == Some("reasoning.summary") {
            return self.without.insert("reasoning.summary".to_owned());
        }
        let said = error.message.to_lowercase();
        let about_files = ["pdf", ".document", "'document'", "`document`", "'file'", "`file`", "\"file\""];
        if about_files.iter().any(|word| said.contains(word)) && self.without.insert(DOCUMENTS.to_owned()) {
            // Not every model of a vendor reads files, and not every file; all read their text.
            return true;
        }
        let named = error.param.as_deref().map(|param| param.split(['.', '[']).next().unwrap_or(param));
        let known = OPTIONAL.iter().find(|member| match named {
            Some(named) => named == **member,
            // Vendors without a type field for it name the member in the sentence, in quotes.
            None => ['"', '\'', '`'].iter().any(|q| error.message.contains(&format!("{q}{member}{q}"))),
        });
        known.is_some_and(|member| self.without.insert((*member).to_owned()))
    }
}

/// Files that go along as they are.
const DOCUMENTS: &str = "documents";

/// The member of a [`Dialect`] for the Responses API as a whole.
const RESPONSES: &str = "responses";

/// Whether an address does not know this call, as others than its maker do with newer ones. A model that is not there
/// has the same status and says so.
fn is_no_such_call(error: &ModelError) -> bool {
    let about_a_model = error.message.to_ascii_lowercase().contains("model");
    error.status == Some(405) || (error.status == Some(404) && !about_a_model)
}

/// The member that carries thinking.
pub(crate) const THINKING: &str = "reasoning_content";

/// Members whose loss changes comfort, not meaning.
const OPTIONAL: [&str; 11] = [
    "stream_options",
    "max_output_tokens",
    "include",
    "reasoning",
    "prompt_cache_key",
    "think",
    "parallel_tool_calls",
    "reasoning_effort",
    "temperature",
    "max_completion_tokens",
    "cache_control",
];

impl Protocol {
    /// Its word in what is kept.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Responses => "responses",
            Self::Ollama => "ollama",
        }
    }

    /// What is spoken to somebody who was seen to refuse: who has no Responses API has chat completions.
    pub fn spoken(self, dialect: &Dialect) -> Self {
        match self {
            Self::Responses if !dialect.sends(RESPONSES) => Self::OpenAi,
            other => other,
        }
    }

    /// The request as this vendor wants it.
    pub fn wire(self, request: &Request, dialect: &Dialect) -> Wire {
        // Ollama has no place for files.
        let folded = (self == Self::Ollama || !dialect.sends(DOCUMENTS)).then(|| {
            let mut request = request.clone();
            request.messages.iter_mut().for_each(crate::Message::fold_documents);
            request
        });
        let request = folded.as_ref().unwrap_or(request);
        let mut wire = match self {
            Self::OpenAi => openai::wire(request, dialect),
            Self::Anthropic => anthropic::wire(request, dialect),
            Self::Gemini => gemini::wire(request, dialect),
            Self::Responses => responses::wire(request, dialect),
            Self::Ollama => ollama::wire(request, dialect),
        };
        if let Value::Object(body) = &mut wire.body {
            for (member, value) in &request.params.extra_body {
                // Ollama's options are put together there.
                if self != Self::Ollama || member != "options" {
                    body.insert(member.clone(), value.clone());
                }
            }
        }
        wire
    }

    /// The header that carries a key.
    pub fn auth(self, provider: &str, key: &str) -> (&'static str, String) {
        match self {
            Self::OpenAi if provider.eq_ignore_ascii_case("azure") => ("api-key", key.to_owned()),
            Self::OpenAi | Self::Responses | Self::Ollama => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// Why a call was refused, from a status that is not 2xx.
    pub fn refused(self, status: u16, retry_after_ms: Option<u64>, body: &[u8]) -> ModelError {
        let parsed = serde_json::from_slice::<Value>(body).ok();
        let error = parsed.and_then(|body| refusal::read(Place::Status(status), &body));
        let mut error = error.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(&body[..body.len().min(400)]);
            ModelError::new(ModelError::class_of_status(status), format!("HTTP {status} {}", text.trim()))
        });
        error.status = Some(status);
        error.retry_after_ms = retry_after_ms.or(error.retry_after_ms);
        error
    }

    /// A decoder for one streamed answer.
    pub fn decoder(self) -> Decoder {
        Decoder {
            frames: match self {
                Self::Ollama => Frames::Lines(Lines::default()),
                _ => Frames::Sse(Sse::default()),
            },
            state: match self {
                Self::OpenAi => State::OpenAi(openai::Decoding::default()),
                Self::Anthropic => State::Anthropic(anthropic::Decoding::default()),
                Self::Gemini => State::Gemini(gemini::Decoding::default()),
                Self::Responses => State::Responses(responses::Decoding::default()),
                Self::Ollama => State::Ollama(ollama::Decoding::default()),
            },
            done: false,
        }
    }

    /// The events of an answer that came in one piece although a stream was asked for.
    pub fn whole(self, body: &[u8]) -> Result<Vec<Event>, ModelError> {
        let value: Value = serde_json::from_slice(body).map_err(|_| malformed(body))?;
        match self {
            Self::OpenAi => openai::whole(&value),
            Self::Anthropic => anthropic::whole(&value),
            Self::Responses => responses::whole(&value),
            Self::Ollama => ollama::whole(&value),
            Self::Gemini => {
                let mut state = gemini::Decoding::default();
                let mut events = state.chunk(&value)?;
                events.extend(state.end()?);
                Ok(events)
            }
        }
    }
}

/// Turns the bytes of one streamed answer into events.
#[derive(Debug)]
pub struct Decoder {
    frames: Frames,
    state: State,
    done: bool,
}

/// How the pieces of an answer are told apart.
#[derive(Debug)]
enum Frames {
    Sse(Sse),
    Lines(Lines),
}

impl Frames {
    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, SseError> {
        match self {
            Self::Sse(sse) => Ok(sse.feed(bytes)?.into_iter().map(|frame| frame.data).collect()),
            Self::Lines(lines) => lines.feed(bytes),
        }
    }

    fn end(&mut self) -> Option<String> {
        match self {
            Self::Sse(sse) => std::mem::take(sse).end().map(|frame| frame.data),
            Self::Lines(lines) => lines.end(),
        }
    }
}

#[derive(Debug)]
enum State {
    OpenAi(openai::Decoding),
    Anthropic(anthropic::Decoding),
    Gemini(gemini::Decoding),
    Responses(responses::Decoding),
    Ollama(ollama::Decoding),
}

impl State {
    fn chunk(&mut self, value: &Value) -> Result<Vec<Event>, ModelError> {
        match self {
            Self::OpenAi(state) => state.chunk(value),
            Self::Anthropic(state) => state.chunk(value),
            Self::Gemini(state) => state.chunk(value),
            Self::Responses(state) => state.chunk(value),
            Self::Ollama(state) => state.chunk(value),
        }
    }

    fn end(&mut self) -> Result<Vec<Event>, ModelError> {
        match self {
            Self::OpenAi(state) => state.end(),
            Self::Anthropic(state) => state.end(),
            Self::Gemini(state) => state.end(),
            Self::Responses(state) => state.end(),
            Self::Ollama(state) => state.end(),
        }
    }
}

impl Decoder {
    /// Takes more bytes. After an error nothing more comes of this decoder.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, ModelError> {
        let frames = self.frames.feed(bytes).map_err(|e| ModelError::new(Class::Server, e.to_string()))?;
        let mut events = Vec::new();
        for frame in frames {
            self.frame(&frame, &mut events)?;
        }
        Ok(events)
    }

    /// The stream ended. An answer that was not complete is a failure of the network.
    pub fn end(mut self) -> Result<Vec<Event>, ModelError> {
        let mut events = Vec::new();
        if let Some(frame) = self.frames.end() {
            self.frame(&frame, &mut events)?;
        }
        if !self.done {
            events.extend(self.state.end()?);
        }
        Ok(events)
    }

    fn frame(&mut self, data: &str, events: &mut Vec<Event>) -> Result<(), ModelError> {
        if self.done || data.trim().is_empty() {
            return Ok(());
        }
        let from = events.len();
        if data.trim() == "[DONE]" {
            if let State::OpenAi(state) = &mut self.state {
                events.extend(state.end()?);
            }
        } else {
            let value: Value = serde_json::from_str(data).map_err(|_| malformed(data.as_bytes()))?;
            events.extend(self.state.chunk(&value)?);
        }
        self.done = events[from..].iter().any(|event| matches!(event, Event::Done(_)));
        Ok(())
    }
}

fn malformed(body: &[u8]) -> ModelError {
    let start = String::from_utf8_lossy(&body[..body.len().min(120)]).into_owned();
    ModelError::new(Class::Server, format!("the answer is not JSON; it begins with {start:?}"))
}

/// The failure of a stream that ended before its answer did.
pub(crate) fn cut_off() -> ModelError {
    ModelError::new(Class::Network, "the stream ended before the answer was complete")
}

/// An answer put together from its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Text.
    pub text: String,
    /// Thinking: what was shown, and the blocks to send back.
    pub reasoning: Vec<Reasoning>,
    /// Tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens.
    pub usage: Option<Usage>,
    /// Why it ended; `None` while it has not.
    pub stop: Option<Stop>,
    thinking: String,
}

impl Answer {
    /// Takes one event.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Text(delta) => self.text.push_str(delta),
            Event::Reasoning(delta) => self.thinking.push_str(delta),
            Event::ReasoningBlock { opaque } => {
                let text = std::mem::take(&mut self.thinking);
                self.reasoning.push(Reasoning { text, opaque: Some(opaque.clone()) });
            }
            Event::ToolUse { index, id, name, args_delta, opaque } => {
                while self.tool_calls.len() <= *index {
                    let (id, name, arguments) = (String::new(), String::new(), String::new());
                    self.tool_calls.push(ToolCall { id, name, arguments, opaque: None });
                }
                let call = &mut self.tool_calls[*index];
                if let Some(id) = id {
                    call.id.clone_from(id);
                }
                if let Some(name) = name {
                    call.name.clone_from(name);
                }
                call.arguments.push_str(args_delta);
                if opaque.is_some() {
                    call.opaque.clone_from(opaque);
                }
            }
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Done(stop) => {
                self.stop = Some(*stop);
                if !self.thinking.is_empty() {
                    let text = std::mem::take(&mut self.thinking);
                    self.reasoning.push(Reasoning { text, opaque: None });
                }
            }
        }
    }
}
