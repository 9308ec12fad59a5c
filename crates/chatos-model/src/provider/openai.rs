//! Chat completions, as OpenAI defined them and as dozens of vendors understood them.

use serde_json::{Map, Value, json};

use super::{returned, thinking};
use crate::protocol::cut_off;
use crate::refusal::{self, Place};
use crate::{Class, Dialect, Document, Event, Image, Message, ModelError, Request, Stop, Usage, Wire};

/// The member of a [`Dialect`] for ids of calls as others gave them.
pub(crate) const LONG_IDS: &str = "long call ids";

/// The request.
pub(crate) fn wire(request: &Request, dialect: &Dialect) -> Wire {
    let params = &request.params;
    let mut body = Map::new();
    let mut put = |member: &str, value: Value| {
        if dialect.sends(member) {
            body.insert(member.to_owned(), value);
        }
    };
    put("model", json!(params.model));
    put("messages", messages(request, dialect));
    put("stream", json!(true));
    put("stream_options", json!({ "include_usage": true }));
    if !request.tools.is_empty() && dialect.sends("tools") {
        let tools = request.tools.iter().map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
        });
        put("tools", tools.collect());
        if let Some(parallel) = params.parallel_tools {
            put("parallel_tool_calls", json!(parallel));
        }
    }
    if let Some(most) = params.max_output_tokens {
        // Newer models refuse the old name, older vendors do not know the new one.
        let member =
            if dialect.sends("max_completion_tokens") { "max_completion_tokens" } else { "max_tokens" };
        put(member, json!(most));
    }
    if let Some(temperature) = params.temperature {
        put("temperature", json!(temperature));
    }
    if let Some(effort) = params.effort {
        put("reasoning_effort", json!(effort.as_str()));
    }
    Wire { path: "chat/completions".to_owned(), headers: Vec::new(), body: Value::Object(body) }
}

fn messages(request: &Request, dialect: &Dialect) -> Value {
    let replay = thinking::replay(request, dialect);
    let id = |id: &str| if dialect.sends(LONG_IDS) { id.to_owned() } else { short(id) };
    let mut out = Vec::new();
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": request.system.join("\n\n") }));
    }
    // A result of a tool is text alone here.
    for message in returned::behind(&request.messages) {
        out.push(match &*message {
            Message::User { text, images, documents } => user(text, images, documents),
            Message::Assistant { text, reasoning, tool_calls } => {
                let mut said = Map::new();
                said.insert("role".to_owned(), json!("assistant"));
                // An empty text beside tool calls must be null for several vendors.
                let content =
                    if text.is_empty() && !tool_calls.is_empty() { Value::Null } else { json!(text) };
                said.insert("content".to_owned(), content);
                if !tool_calls.is_empty() {
                    let calls = tool_calls.iter().map(|call| {
                        json!({ "id": id(&call.id), "type": "function", "function": {
                            "name": call.name, "arguments": call.arguments } })
                    });
                    said.insert("tool_calls".to_owned(), calls.collect());
                }
                thinking::put(&mut said, reasoning, !tool_calls.is_empty(), replay);
                Value::Object(said)
            }
            Message::Tool { call_id, content, .. } => {
                json!({ "role": "tool", "tool_call_id": id(call_id), "content": content })
            }
        });
    }
    Value::Array(out)
}

/// An id of nine letters and digits, as Mistral wants it: its own are, and any other has one that is always the same.
fn short(id: &str) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    // FNV-1a: the same in every process, and two calls of one chat do not meet in 2^53 values.
    let mut hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let letter = |_| {
        let letter = LETTERS[(hash % 62) as usize];
        hash /= 62;
        char::from(letter)
    };
    (0..9).map(letter).collect()
}

/// A message of the person's side.
fn user(text: &str, images: &[Image], documents: &[Document]) -> Value {
    if images.is_empty() && documents.is_empty() {
        return json!({ "role": "user", "content": text });
    }
    let mut parts = vec![json!({ "type": "text", "text": text })];
    parts.extend(documents.iter().map(|document| {
        let data = format!("data:{};base64,{}", document.mime, document.data);
        json!({ "type": "file", "file": { "filename": document.name, "file_data": data } })
    }));
    parts.extend(images.iter().map(|image| {
        let url = format!("data:{};base64,{}", image.mime, image.data);
        json!({ "type": "image_url", "image_url": { "url": url } })
    }));
    json!({ "role": "user", "content": parts })
}

/// A streamed answer so far.
#[derive(Debug, Default)]
pub(crate) struct Decoding {
    calls: Vec<Call>,
    stop: Option<Stop>,
    any: bool,
    thinking: thinking::Thinking,
}

#[derive(Debug, Default)]
struct Call {
    /// The vendor's number of it.
    number: Option<u64>,
    id: Option<String>,
}

impl Decoding {
    pub(crate) fn chunk(&mut self, chunk: &Value) -> Result<Vec<Event>, ModelError> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            let refused = refusal::read(Place::Stream, chunk);
            return Err(refused.unwrap_or_else(|| ModelError::new(Class::Server, error.to_string())));
        }
        let mut events = Vec::new();
        if let Some(usage) = chunk.get("usage").and_then(usage) {
            events.push(Event::Usage(usage));
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(events) };
        self.any = true;
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        self.delta(delta, &mut events);
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.stop = Some(match reason {
                "length" | "max_tokens" => Stop::Length,
                "content_filter" => Stop::ContentFilter,
                _ if !self.calls.is_empty() => Stop::ToolUse,
                _ => Stop::End,
            });
        }
        Ok(events)
    }

    fn delta(&mut self, delta: &Value, events: &mut Vec<Event>) {
        self.thinking.delta(delta, events);
        match delta.get("content") {
            Some(Value::String(text)) if !text.is_empty() => self.thinking.text(text, events),
            // Parts, as some vendors stream them.
            Some(Value::Array(parts)) => {
                for text in parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)) {
                    self.thinking.text(text, events);
                }
            }
            _ => {}
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            events.push(self.call(call));
        }
    }

    /// One piece of a tool call. Which call it belongs to: the vendor's number, else its id, else
    /// the last one. A piece with a name and a new id begins a call even under a used number:
    /// some vendors number every call 0.
    fn call(&mut self, piece: &Value) -> Event {
        let number = piece.get("index").and_then(Value::as_u64);
        let id = piece.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let name = piece.pointer("/function/name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let known = match (number, id) {
            (_, Some(id)) if self.calls.iter().any(|call| call.id.as_deref() == Some(id)) => {
                self.calls.iter().position(|call| call.id.as_deref() == Some(id))
            }
            (_, Some(_)) if name.is_some() => None,
            (Some(number), _) => self.calls.iter().rposition(|call| call.number == Some(number)),
            (None, _) if name.is_none() => self.calls.len().checked_sub(1),
            (None, _) => None,
        };
        let fresh = known.is_none();
        let index = known.unwrap_or_else(|| {
            let id = id.map_or_else(|| format!("call_{}", self.calls.len()), str::to_owned);
            self.calls.push(Call { number, id: Some(id) });
            self.calls.len() - 1
        });
        let args_delta = match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(whole) => whole.to_string(),
        };
        Event::ToolUse {
            index,
            id: fresh.then(|| self.calls[index].id.clone()).flatten(),
            name: name.map(str::to_owned).filter(|_| fresh),
            args_delta,
            opaque: None,
        }
    }

    pub(crate) fn end(&mut self) -> Result<Vec<Event>, ModelError> {
        let Some(stop) = self.stop else { return Err(cut_off()) };
        let mut events = Vec::new();
        self.thinking.end(&mut events);
        events.push(Event::Done(stop));
        Ok(events)
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    let input = number("/prompt_tokens")?;
    let cached =
        number("/prompt_tokens_details/cached_tokens").or_else(|| number("/prompt_cache_hit_tokens"));
    let cached = cached.unwrap_or(0).min(input);
    Some(Usage {
        input: input - cached,
        output: number("/completion_tokens").unwrap_or(0),
        cache_read: cached,
        cache_write: 0,
        estimated: false,
    })
}

/// An answer in one piece.
pub(crate) fn whole(body: &Value) -> Result<Vec<Event>, ModelError> {
    let mut state = Decoding::default();
    let mut events = state.chunk(body)?;
    if !state.any {
        return Err(ModelError::new(Class::Server, "the answer has no `choices`"));
    }
    state.stop.get_or_insert(if state.calls.is_empty() { Stop::End } else { Stop::ToolUse });
    events.extend(state.end()?);
    Ok(events)
}
