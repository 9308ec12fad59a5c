//! The messages API of Anthropic.

use serde_json::{Map, Value, json};

use crate::protocol::cut_off;
use crate::refusal::{self, Place};
use crate::{
    Class, Dialect, Document, Effort, Event, Image, Message, ModelError, Request, Stop, Usage, Wire,
};

/// The API wants a bound on every answer.
const DEFAULT_MAX_TOKENS: u32 = 8192;
/// A smaller budget is refused.
const LEAST_THINKING: u32 = 1024;
/// What thinking leaves of a bound, unless less was asked for.
const SHORTEST_ANSWER: u32 = 1024;

/// The request.
pub(crate) fn wire(request: &Request, dialect: &Dialect) -> Wire {
    let params = &request.params;
    let most = params.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(params.model));
    body.insert("stream".to_owned(), json!(true));
    // Cache breakpoints on the last block of the system prompt and on the last tool: what comes
    // before them is the same in every pass of a run.
    let cache = |value: &mut Value| {
        if dialect.sends("cache_control") {
            value["cache_control"] = json!({ "type": "ephemeral" });
        }
    };
    if !request.system.is_empty() {
        let mut blocks: Vec<_> =
            request.system.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        if let Some(last) = blocks.last_mut() {
            cache(last);
        }
        body.insert("system".to_owned(), Value::Array(blocks));
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::Tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters });
        let mut tools: Vec<_> = request.tools.iter().map(tool).collect();
        if let Some(last) = tools.last_mut() {
            cache(last);
        }
        body.insert("tools".to_owned(), Value::Array(tools));
        if params.parallel_tools == Some(false) {
            let choice = json!({ "type": "auto", "disable_parallel_tool_use": true });
            body.insert("tool_choice".to_owned(), choice);
        }
    }
    // A loop that began without thinking goes on without: its answers have no block to begin with.
    let effort = params.effort.filter(|effort| *effort != Effort::None);
    let effort = effort.filter(|_| !loop_without_thinking(&request.messages));
    let budget = effort.map(|effort| match effort {
        Effort::None | Effort::Minimal => 1024,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 24_576,
        Effort::XHigh | Effort::Max => 32_768,
    });
    // Thinking counts towards the bound, as much of it as fits, and excludes a temperature.
    let bound = budget.map_or(most, |budget: u32| {
        let room = params.room.map_or(u32::MAX, |room| room.max(LEAST_THINKING + SHORTEST_ANSWER));
        most.saturating_add(budget).min(room)
    });
    let budget = budget.map(|budget| budget.min(bound.saturating_sub(most.min(SHORTEST_ANSWER))));
    body.insert("max_tokens".to_owned(), json!(bound));
    match (budget, params.temperature) {
        (Some(budget), _) => {
            body.insert("thinking".to_owned(), json!({ "type": "enabled", "budget_tokens": budget }));
        }
        (None, Some(temperature)) if dialect.sends("temperature") => {
            body.insert("temperature".to_owned(), json!(temperature));
        }
        _ => {}
    }
    let by_hand = params.extra_body.get("thinking").is_some_and(|thinking| thinking["type"] != "disabled");
    let mut said = messages(&request.messages, effort.is_some() || by_hand);
    if dialect.sends("cache_control") {
        mark_cached(&mut said);
    }
    body.insert("messages".to_owned(), Value::Array(said));
    Wire {
        path: "v1/messages".to_owned(),
        headers: vec![("anthropic-version", "2023-06-01".to_owned())],
        body: Value::Object(body),
    }
}

/// Whether the answers since the person last spoke called tools without thinking first.
fn loop_without_thinking(messages: &[Message]) -> bool {
    let since = messages.iter().rev().take_while(|message| !matches!(message, Message::User { .. }));
    since.into_iter().any(|message| match message {
        Message::Assistant { reasoning, tool_calls, .. } => {
            !tool_calls.is_empty() && reasoning.iter().all(|block| block.opaque.is_none())
        }
        _ => false,
    })
}

/// Blocks a breakpoint looks back over, less what it stands on.
const LOOK_BACK: usize = 18;

/// Puts the two breakpoints of the conversation: at its end, and where the request before ended, so that a lost
/// entry has one near (working-day §5).
fn mark_cached(messages: &mut [Value]) {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (message, said) in messages.iter().enumerate() {
        for (block, content) in said["content"].as_array().into_iter().flatten().enumerate() {
            let kind = content["type"].as_str().unwrap_or_default();
            let empty = kind == "text" && content["text"].as_str().is_none_or(str::is_empty);
            if !empty && !matches!(kind, "thinking" | "redacted_thinking") {
                places.push((message, block));
            }
        }
    }
    let Some(last) = places.len().checked_sub(1) else { return };
    let answer = messages.iter().rposition(|said| said["role"] == "assistant").unwrap_or(0);
    let before = places.iter().rposition(|(message, _)| *message < answer);
    let before = before.map(|before| if last - before > LOOK_BACK { before + LOOK_BACK } else { before });
    for (message, block) in before.into_iter().chain([last]).map(|place| places[place]) {
        messages[message]["content"][block]["cache_control"] = json!({ "type": "ephemeral" });
    }
}

/// Messages must alternate between user and assistant; tool results are user messages.
fn messages(messages: &[Message], thinks: bool) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::User { text, images, documents } => {
                let mut blocks: Vec<_> = documents.iter().map(file).collect();
                blocks.extend(images.iter().map(picture));
                if !text.is_empty() {
                    blocks.push(json!({ "type": "text", "text": text }));
                }
                ("user", blocks)
            }
            Message::Assistant { text, reasoning, tool_calls } => {
                let own = reasoning.iter().filter(|_| thinks).filter_map(|block| block.opaque.clone());
                let mut blocks: Vec<_> = own.collect();
                if !text.trim().is_empty() {
                    blocks.push(json!({ "type": "text", "text": text }));
                }
                blocks.extend(tool_calls.iter().map(|call| {
                    // What the model wrote may not have been JSON; the API wants an object.
                    let input = serde_json::from_str::<Value>(&call.arguments).ok();
                    let input = input.filter(Value::is_object).unwrap_or_else(|| json!({}));
                    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
                }));
                ("assistant", blocks)
            }
            Message::Tool { call_id, content, is_error, images, .. } => {
                let mut result = json!({ "type": "tool_result", "tool_use_id": call_id, "content": content });
                if !images.is_empty() {
                    let text = (!content.is_empty()).then(|| json!({ "type": "text", "text": content }));
                    result["content"] = text.into_iter().chain(images.iter().map(picture)).collect();
                }
                // A result that is marked as a failure may have text alone; the text says it as well.
                if *is_error && images.is_empty() {
                    result["is_error"] = json!(true);
                }
                ("user", vec![result])
            }
        };
        if blocks.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => out.push((role, blocks)),
        }
    }
    out.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn file(document: &Document) -> Value {
    let source = json!({ "type": "base64", "media_type": document.mime, "data": document.data });
    json!({ "type": "document", "source": source, "title": document.name })
}

fn picture(image: &Image) -> Value {
    let source = json!({ "type": "base64", "media_type": image.mime, "data": image.data });
    json!({ "type": "image", "source": source })
}

/// A streamed answer so far.
#[derive(Debug, Default)]
pub(crate) struct Decoding {
    /// By the vendor's index of blocks.
    blocks: Vec<(u64, Block)>,
    calls: usize,
    usage: Usage,
    stop: Option<Stop>,
}

#[derive(Debug)]
enum Block {
    Text,
    Call { index: usize, whole: Option<Value>, pieces: bool },
    Thinking(Value),
    Other,
}

impl Decoding {
    pub(crate) fn chunk(&mut self, chunk: &Value) -> Result<Vec<Event>, ModelError> {
        let mut events = Vec::new();
        let number = || chunk.get("index").and_then(Value::as_u64).unwrap_or(0);
        match chunk.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => {
                if let Some(usage) = chunk.pointer("/message/usage") {
                    self.count(usage);
                    events.push(Event::Usage(self.usage));
                }
            }
            "content_block_start" => self.start(number(), chunk.get("content_block"), &mut events),
            "content_block_delta" => {
                if let Some(delta) = chunk.get("delta") {
                    self.delta(number(), delta, &mut events);
                }
            }
            "content_block_stop" => self.stop_block(number(), &mut events),
            "message_delta" => {
                if let Some(usage) = chunk.get("usage") {
                    self.count(usage);
                    events.push(Event::Usage(self.usage));
                }
                if let Some(reason) = chunk.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.stop = Some(stop(reason));
                }
            }
            "message_stop" => events.extend(self.end()?),
            "error" => {
                let refused = refusal::read(Place::Stream, chunk);
                return Err(refused.unwrap_or_else(|| ModelError::new(Class::Server, chunk.to_string())));
            }
            // `ping`, and kinds that come later.
            _ => {}
        }
        Ok(events)
    }

    fn start(&mut self, number: u64, block: Option<&Value>, events: &mut Vec<Event>) {
        let Some(block) = block else { return };
        let text = |member: &str| block.get(member).and_then(Value::as_str).unwrap_or_default();
        let kind = match text("type") {
            "text" => {
                if !text("text").is_empty() {
                    events.push(Event::Text(text("text").to_owned()));
                }
                Block::Text
            }
            "tool_use" => {
                let index = self.calls;
                self.calls += 1;
                events.push(Event::ToolUse {
                    index,
                    id: Some(text("id").to_owned()),
                    name: Some(text("name").to_owned()),
                    args_delta: String::new(),
                    opaque: None,
                });
                let whole =
                    block.get("input").filter(|input| input.as_object().is_some_and(|o| !o.is_empty()));
                Block::Call { index, whole: whole.cloned(), pieces: false }
            }
            "thinking" | "redacted_thinking" => {
                if !text("thinking").is_empty() {
                    events.push(Event::Reasoning(text("thinking").to_owned()));
                }
                Block::Thinking(block.clone())
            }
            _ => Block::Other,
        };
        self.blocks.retain(|(n, _)| *n != number);
        self.blocks.push((number, kind));
    }

    fn delta(&mut self, number: u64, delta: &Value, events: &mut Vec<Event>) {
        let text = |member: &str| delta.get(member).and_then(Value::as_str).unwrap_or_default();
        let block = self.blocks.iter_mut().find(|(n, _)| *n == number).map(|(_, block)| block);
        match (text("type"), block) {
            ("text_delta", _) => events.push(Event::Text(text("text").to_owned())),
            ("input_json_delta", Some(Block::Call { index, pieces, .. })) => {
                let args_delta = text("partial_json").to_owned();
                *pieces |= !args_delta.is_empty();
                events.push(Event::ToolUse { index: *index, id: None, name: None, args_delta, opaque: None });
            }
            ("thinking_delta", Some(Block::Thinking(whole))) => {
                append(whole, "thinking", text("thinking"));
                events.push(Event::Reasoning(text("thinking").to_owned()));
            }
            ("signature_delta", Some(Block::Thinking(whole))) => {
                append(whole, "signature", text("signature"));
            }
            _ => {}
        }
    }

    fn stop_block(&mut self, number: u64, events: &mut Vec<Event>) {
        let Some(at) = self.blocks.iter().position(|(n, _)| *n == number) else { return };
        match self.blocks.remove(at).1 {
            Block::Thinking(opaque) => events.push(Event::ReasoningBlock { opaque }),
            // Arguments that came with the start instead of in pieces.
            Block::Call { index, whole: Some(whole), pieces: false } => {
                let args_delta = whole.to_string();
                events.push(Event::ToolUse { index, id: None, name: None, args_delta, opaque: None });
            }
            _ => {}
        }
    }

    fn count(&mut self, usage: &Value) {
        let number = |member: &str| usage.get(member).and_then(Value::as_u64);
        let known = &mut self.usage;
        known.input = number("input_tokens").unwrap_or(known.input);
        known.output = number("output_tokens").unwrap_or(known.output);
        known.cache_read = number("cache_read_input_tokens").unwrap_or(known.cache_read);
        known.cache_write = number("cache_creation_input_tokens").unwrap_or(known.cache_write);
    }

    pub(crate) fn end(&mut self) -> Result<Vec<Event>, ModelError> {
        match self.stop {
            Some(stop) => Ok(vec![Event::Done(stop)]),
            None => Err(cut_off()),
        }
    }
}

fn append(block: &mut Value, member: &str, more: &str) {
    let so_far = block.get(member).and_then(Value::as_str).unwrap_or_default();
    block[member] = json!(format!("{so_far}{more}"));
}

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_use" => Stop::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::ContentFilter,
        _ => Stop::End,
    }
}

/// An answer in one piece: the same events as if it had been streamed.
pub(crate) fn whole(body: &Value) -> Result<Vec<Event>, ModelError> {
    if body.get("type").and_then(Value::as_str) == Some("error") {
        let refused = refusal::read(Place::Stream, body);
        return Err(refused.unwrap_or_else(|| ModelError::new(Class::Server, body.to_string())));
    }
    let Some(blocks) = body.get("content").and_then(Value::as_array) else {
        return Err(ModelError::new(Class::Server, "the answer has no `content`"));
    };
    let mut state = Decoding::default();
    let mut events = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        state.start(number as u64, Some(block), &mut events);
        state.stop_block(number as u64, &mut events);
    }
    if let Some(usage) = body.get("usage") {
        state.count(usage);
        events.push(Event::Usage(state.usage));
    }
    state.stop = Some(stop(body.get("stop_reason").and_then(Value::as_str).unwrap_or_default()));
    events.extend(state.end()?);
    Ok(events)
}
