//! The Responses API of OpenAI (working-day §4). Nothing is kept by the vendor: every request has the whole
//! conversation, and what the model thought goes back sealed, each piece right before what it led to.

use serde_json::{Map, Value, json};

use crate::protocol::cut_off;
use crate::refusal::{self, Place};
use crate::{
    Class, Dialect, Event, Image, Message, ModelError, Reasoning, Request, Stop, ToolCall, Usage, Wire,
};

/// The member of a [`Dialect`] for sealed thinking: a vendor that cannot open its own is asked without it.
pub(crate) const SEALED: &str = "reasoning items";

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
    put("stream", json!(true));
    put("store", json!(false));
    if !request.system.is_empty() {
        put("instructions", json!(request.system.join("\n\n")));
    }
    put("input", Value::Array(input(&request.messages, dialect.sends(SEALED))));
    if !request.tools.is_empty() && dialect.sends("tools") {
        let tools = request.tools.iter().map(|tool| {
            json!({ "type": "function", "name": tool.name, "description": tool.description,
                    "parameters": tool.parameters, "strict": false })
        });
        put("tools", tools.collect());
        if let Some(parallel) = params.parallel_tools {
            put("parallel_tool_calls", json!(parallel));
        }
    }
    if let Some(most) = params.max_output_tokens {
        put("max_output_tokens", json!(most));
    }
    if let Some(temperature) = params.temperature {
        put("temperature", json!(temperature));
    }
    if params.thinks || params.effort.is_some() {
        put("include", json!(["reasoning.encrypted_content"]));
        let mut reasoning = Map::new();
        if let Some(effort) = params.effort {
            reasoning.insert("effort".to_owned(), json!(effort.as_str()));
        }
        if dialect.sends("reasoning.summary") {
            reasoning.insert("summary".to_owned(), json!("auto"));
        }
        if !reasoning.is_empty() {
            put("reasoning", Value::Object(reasoning));
        }
    }
    if let Some(key) = &params.cache_key {
        put("prompt_cache_key", json!(key));
    }
    Wire { path: "responses".to_owned(), headers: Vec::new(), body: Value::Object(body) }
}

/// The conversation as items.
fn input(messages: &[Message], sealed: bool) -> Vec<Value> {
    let mut out = Vec::new();
    for message in messages {
        match message {
            Message::User { text, images, documents } => {
                let text = (!text.is_empty() || images.is_empty()).then_some(text.as_str());
                let mut said = content(text, images);
                said.extend(documents.iter().map(|file| {
                    let data = format!("data:{};base64,{}", file.mime, file.data);
                    json!({ "type": "input_file", "filename": file.name, "file_data": data })
                }));
                out.push(json!({ "type": "message", "role": "user", "content": said }));
            }
            Message::Assistant { text, reasoning, tool_calls } => {
                let thoughts = if sealed { reasoning.as_slice() } else { &[] };
                answer(text, thoughts, tool_calls, &mut out);
            }
            Message::Tool { call_id, content: text, images, .. } => {
                let output = if images.is_empty() {
                    json!(text)
                } else {
                    json!(content((!text.is_empty()).then_some(text), images))
                };
                out.push(json!({ "type": "function_call_output", "call_id": call_id, "output": output }));
            }
        }
    }
    out
}

/// An answer as its items. Thinking that led to nothing that is left would be refused, and so stays away.
fn answer(text: &str, reasoning: &[Reasoning], calls: &[ToolCall], out: &mut Vec<Value>) {
    let before = |place: &Value| -> Vec<Value> {
        let own = reasoning.iter().filter_map(|part| part.opaque.as_ref());
        let own = own.filter(|opaque| opaque.get("before") == Some(place));
        own.filter_map(|opaque| opaque.get("item").cloned()).collect()
    };
    if !text.is_empty() {
        out.extend(before(&json!("text")));
        let said = json!([{ "type": "output_text", "text": text }]);
        out.push(json!({ "type": "message", "role": "assistant", "content": said }));
    }
    for (index, call) in calls.iter().enumerate() {
        out.extend(before(&json!(index)));
        out.push(json!({ "type": "function_call", "call_id": call.id, "name": call.name,
                         "arguments": call.arguments }));
    }
}

fn content(text: Option<&str>, images: &[Image]) -> Vec<Value> {
    let text = text.map(|text| json!({ "type": "input_text", "text": text }));
    let images = images.iter().map(|image| {
        let url = format!("data:{};base64,{}", image.mime, image.data);
        json!({ "type": "input_image", "detail": "auto", "image_url": url })
    });
    text.into_iter().chain(images).collect()
}

/// A streamed answer so far.
#[derive(Debug, Default)]
pub(crate) struct Decoding {
    items: Vec<Item>,
    calls: usize,
    /// Thinking that is complete, until it is known what it led to.
    held: Vec<Value>,
    /// A piece of a summary was said; the next one begins with a gap.
    summarised: bool,
    stop: Option<Stop>,
}

#[derive(Debug)]
struct Item {
    /// Its place in the answer.
    number: u64,
    kind: Kind,
    /// Something of it was said already, so the whole is not said again.
    said: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Call(usize),
    Thinking,
    Other,
}

impl Decoding {
    pub(crate) fn chunk(&mut self, chunk: &Value) -> Result<Vec<Event>, ModelError> {
        let mut events = Vec::new();
        let number = chunk.get("output_index").and_then(Value::as_u64).unwrap_or(0);
        let delta = || chunk.get("delta").and_then(Value::as_str).unwrap_or_default().to_owned();
        let item = chunk.get("item").unwrap_or(&Value::Null);
        let response = chunk.get("response").unwrap_or(&Value::Null);
        match chunk.get("type").and_then(Value::as_str).unwrap_or_default() {
            "response.output_item.added" => drop(self.begin(number, item, &mut events)),
            "response.output_item.done" => self.item(number, item, &mut events),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.spoke(number);
                events.push(Event::Text(delta()));
            }
            "response.reasoning_summary_part.added" => {
                if std::mem::take(&mut self.summarised) {
                    events.push(Event::Reasoning("\n\n".to_owned()));
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.summarised = true;
                self.spoke(number);
                events.push(Event::Reasoning(delta()));
            }
            "response.function_call_arguments.delta" => {
                self.spoke(number);
                if let Some(Kind::Call(index)) = self.kind(number) {
                    events.push(more(index, delta()));
                }
            }
            "response.completed" | "response.incomplete" => {
                self.count(response, &mut events);
                self.stop = Some(self.stop_of(response));
                events.extend(self.end()?);
            }
            "response.failed" | "error" => return Err(failed(chunk)),
            // Beginnings and ends of parts, and kinds that come later.
            _ => {
                if chunk.get("error").is_some_and(|error| !error.is_null()) {
                    return Err(failed(chunk));
                }
            }
        }
        Ok(events)
    }

    fn kind(&self, number: u64) -> Option<Kind> {
        self.items.iter().rev().find(|item| item.number == number).map(|item| item.kind)
    }

    fn spoke(&mut self, number: u64) {
        if let Some(item) = self.items.iter_mut().rev().find(|item| item.number == number) {
            item.said = true;
        }
    }

    /// An item begins. What was thought right before it led to it.
    fn begin(&mut self, number: u64, item: &Value, events: &mut Vec<Event>) -> Kind {
        let word = |member: &str| item.get(member).and_then(Value::as_str).map(str::to_owned);
        let kind = match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message" => Kind::Text,
            "function_call" => {
                self.calls += 1;
                Kind::Call(self.calls - 1)
            }
            "reasoning" => Kind::Thinking,
            _ => Kind::Other,
        };
        let before = match kind {
            Kind::Text => Some(json!("text")),
            Kind::Call(index) => Some(json!(index)),
            Kind::Thinking => None,
            Kind::Other => {
                self.held.clear();
                None
            }
        };
        if let Some(before) = before {
            for item in self.held.drain(..) {
                events.push(Event::ReasoningBlock { opaque: json!({ "item": item, "before": before }) });
                self.summarised = false;
            }
        }
        if let Kind::Call(index) = kind {
            events.push(Event::ToolUse {
                index,
                id: Some(word("call_id").or_else(|| word("id")).unwrap_or_else(|| format!("call_{index}"))),
                name: Some(word("name").unwrap_or_default()),
                args_delta: String::new(),
                opaque: None,
            });
        }
        self.items.push(Item { number, kind, said: false });
        kind
    }

    /// An item is complete; what was not said of it piece by piece is said now.
    fn item(&mut self, number: u64, item: &Value, events: &mut Vec<Event>) {
        let kind = self.kind(number).unwrap_or_else(|| self.begin(number, item, events));
        let said = self.items.iter().rev().find(|item| item.number == number).is_some_and(|item| item.said);
        match kind {
            Kind::Text if !said => {
                let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
                let texts =
                    parts.filter_map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str());
                events.extend(texts.map(|text| Event::Text(text.to_owned())));
            }
            Kind::Call(index) if !said => {
                let arguments = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
                events.push(more(index, arguments.to_owned()));
            }
            Kind::Thinking => {
                if !said {
                    let parts =
                        ["summary", "content"].iter().filter_map(|member| item.get(member)?.as_array());
                    let texts = parts.flatten().filter_map(|part| part.get("text")?.as_str());
                    let text = texts.collect::<Vec<_>>().join("\n\n");
                    if !text.is_empty() {
                        events.push(Event::Reasoning(text));
                    }
                }
                self.held.extend(kept(item));
            }
            _ => {}
        }
        self.spoke(number);
    }

    fn count(&self, response: &Value, events: &mut Vec<Event>) {
        let Some(usage) = response.get("usage") else { return };
        let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
        let Some(input) = number("/input_tokens").filter(|input| *input > 0) else { return };
        let cached = number("/input_tokens_details/cached_tokens").unwrap_or(0).min(input);
        events.push(Event::Usage(Usage {
            input: input - cached,
            output: number("/output_tokens").unwrap_or(0),
            cache_read: cached,
            cache_write: 0,
            estimated: false,
        }));
    }

    fn stop_of(&self, response: &Value) -> Stop {
        match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => Stop::ContentFilter,
            Some(_) => Stop::Length,
            None if response.get("status").is_some_and(|status| status == "incomplete") => Stop::Length,
            None if self.calls > 0 => Stop::ToolUse,
            None => Stop::End,
        }
    }

    pub(crate) fn end(&mut self) -> Result<Vec<Event>, ModelError> {
        self.stop.map(|stop| vec![Event::Done(stop)]).ok_or_else(cut_off)
    }
}

fn more(index: usize, args_delta: String) -> Event {
    Event::ToolUse { index, id: None, name: None, args_delta, opaque: None }
}

/// What goes back of a piece of thinking: the sealed content and the summary, without the id, which the vendor knows
/// only of what it keeps. One that is not sealed cannot go back at all.
fn kept(item: &Value) -> Option<Value> {
    let sealed = item.get("encrypted_content").filter(|sealed| sealed.is_string())?;
    let summary = item.get("summary").filter(|summary| summary.is_array()).cloned();
    let summary = summary.unwrap_or_else(|| json!([]));
    Some(json!({ "type": "reasoning", "summary": summary, "encrypted_content": sealed }))
}

fn failed(chunk: &Value) -> ModelError {
    let refused = refusal::read(Place::Stream, chunk);
    refused.unwrap_or_else(|| ModelError::new(Class::Server, chunk.to_string()))
}

/// An answer in one piece.
pub(crate) fn whole(body: &Value) -> Result<Vec<Event>, ModelError> {
    if body.get("error").is_some_and(|error| !error.is_null()) {
        return Err(failed(body));
    }
    let Some(output) = body.get("output").and_then(Value::as_array) else {
        return Err(ModelError::new(Class::Server, "the answer has no `output`"));
    };
    let mut state = Decoding::default();
    let mut events = Vec::new();
    for (number, item) in (0..).zip(output) {
        state.item(number, item, &mut events);
    }
    state.count(body, &mut events);
    state.stop = Some(state.stop_of(body));
    events.extend(state.end()?);
    Ok(events)
}
