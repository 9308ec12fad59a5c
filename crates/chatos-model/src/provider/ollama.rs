//! Ollama's own API (working-day §3): lines of JSON, and a window that is chosen per call. Its OpenAI form takes no
//! window and shortens silently.

use serde_json::{Map, Value, json};

use super::{returned, thinking::Thinking};
use crate::protocol::cut_off;
use crate::refusal::{self, Place};
use crate::{Class, Dialect, Effort, Event, Message, ModelError, Request, Stop, Usage, Wire};

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
    // What does not fit is refused, not cut; older servers do not know these words and cut.
    put("truncate", json!(false));
    put("shift", json!(false));
    put("messages", Value::Array(messages(request, dialect.sends("think"))));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
        });
        put("tools", tools.collect());
    }
    if params.thinks || params.effort.is_some() {
        put("think", think(&params.model, params.effort));
    }
    let mut options = Map::new();
    if let Some(window) = params.window {
        options.insert("num_ctx".to_owned(), json!(window));
    }
    if let Some(most) = params.max_output_tokens {
        options.insert("num_predict".to_owned(), json!(most));
    }
    if let Some(temperature) = params.temperature {
        options.insert("temperature".to_owned(), json!(temperature));
    }
    // What a person puts into `options` joins ours.
    if let Some(Value::Object(own)) = params.extra_body.get("options") {
        options.extend(own.clone());
    }
    put("options", Value::Object(options));
    Wire { path: "api/chat".to_owned(), headers: Vec::new(), body: Value::Object(body) }
}

/// Most models think or do not; gpt-oss always does, more or less.
fn think(model: &str, effort: Option<Effort>) -> Value {
    let levels = model.rsplit('/').next().unwrap_or(model).starts_with("gpt-oss");
    match effort {
        Some(Effort::None) if !levels => json!(false),
        Some(Effort::None | Effort::Minimal | Effort::Low) if levels => json!("low"),
        Some(Effort::Medium) if levels => json!("medium"),
        Some(Effort::High | Effort::XHigh | Effort::Max) if levels => json!("high"),
        _ => json!(true),
    }
}

fn messages(request: &Request, thinks: bool) -> Vec<Value> {
    let mut out = Vec::new();
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": request.system.join("\n\n") }));
    }
    for message in returned::behind(&request.messages) {
        out.push(match &*message {
            Message::User { text, images, .. } => {
                let mut said = json!({ "role": "user", "content": text });
                if !images.is_empty() {
                    said["images"] = images.iter().map(|image| json!(image.data)).collect();
                }
                said
            }
            Message::Assistant { text, reasoning, tool_calls } => {
                let mut said = json!({ "role": "assistant", "content": text });
                let thought: String = reasoning.iter().map(|part| part.text.as_str()).collect();
                if thinks && !thought.is_empty() {
                    said["thinking"] = json!(thought);
                }
                if !tool_calls.is_empty() {
                    let calls = tool_calls.iter().map(|call| {
                        // Arguments are an object here, whatever the model wrote.
                        let arguments = serde_json::from_str::<Value>(&call.arguments).ok();
                        let arguments = arguments.filter(Value::is_object).unwrap_or_else(|| json!({}));
                        json!({ "id": call.id, "function": { "name": call.name, "arguments": arguments } })
                    });
                    said["tool_calls"] = calls.collect();
                }
                said
            }
            Message::Tool { call_id, name, content, .. } => {
                json!({ "role": "tool", "content": content, "tool_name": name, "tool_call_id": call_id })
            }
        });
    }
    out
}

/// A streamed answer so far.
#[derive(Debug, Default)]
pub(crate) struct Decoding {
    calls: usize,
    stop: Option<Stop>,
    thinking: Thinking,
}

impl Decoding {
    pub(crate) fn chunk(&mut self, chunk: &Value) -> Result<Vec<Event>, ModelError> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            let refused = refusal::read(Place::Stream, chunk);
            return Err(refused.unwrap_or_else(|| ModelError::new(Class::Server, error.to_string())));
        }
        let mut events = Vec::new();
        if let Some(message) = chunk.get("message") {
            self.thinking.delta(message, &mut events);
            if let Some(text) = message.get("content").and_then(Value::as_str).filter(|text| !text.is_empty())
            {
                self.thinking.text(text, &mut events);
            }
            for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                events.push(self.call(call));
            }
        }
        if chunk.get("done").and_then(Value::as_bool) == Some(true) {
            events.extend(usage(chunk).map(Event::Usage));
            self.stop = Some(match chunk.get("done_reason").and_then(Value::as_str).unwrap_or_default() {
                "length" => Stop::Length,
                _ if self.calls > 0 => Stop::ToolUse,
                _ => Stop::End,
            });
            events.extend(self.end()?);
        }
        Ok(events)
    }

    /// A call comes whole; older servers give it no id.
    fn call(&mut self, call: &Value) -> Event {
        let index = self.calls;
        self.calls += 1;
        let word =
            |pointer: &str| call.pointer(pointer).and_then(Value::as_str).filter(|word| !word.is_empty());
        Event::ToolUse {
            index,
            id: Some(word("/id").map_or_else(|| format!("call_{index}"), str::to_owned)),
            name: Some(word("/function/name").unwrap_or_default().to_owned()),
            args_delta: match call.pointer("/function/arguments") {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Null) | None => "{}".to_owned(),
                Some(whole) => whole.to_string(),
            },
            opaque: None,
        }
    }

    pub(crate) fn end(&mut self) -> Result<Vec<Event>, ModelError> {
        let stop = self.stop.ok_or_else(cut_off)?;
        let mut events = Vec::new();
        self.thinking.end(&mut events);
        events.push(Event::Done(stop));
        Ok(events)
    }
}

/// A count of 0 means that nothing was counted.
fn usage(chunk: &Value) -> Option<Usage> {
    let number = |member: &str| chunk.get(member).and_then(Value::as_u64).unwrap_or(0);
    (number("prompt_eval_count") > 0).then(|| Usage {
        input: number("prompt_eval_count"),
        output: number("eval_count"),
        ..Usage::default()
    })
}

/// An answer in one piece.
pub(crate) fn whole(body: &Value) -> Result<Vec<Event>, ModelError> {
    let mut state = Decoding::default();
    let mut events = state.chunk(body)?;
    if state.stop.is_none() {
        events.extend(state.end()?);
    }
    Ok(events)
}
