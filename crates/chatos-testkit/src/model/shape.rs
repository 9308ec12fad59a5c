//! How a scripted answer is written in each vendor's protocol; which one follows from the path that was asked.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Input, pieces};

/// The protocols of vendors, as a server sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Chat,
    Responses,
    Messages,
    Gemini,
    Ollama,
}

/// An answer as a whole.
pub(super) struct Said<'a> {
    pub(super) thought: Option<&'a str>,
    pub(super) text: Vec<String>,
    /// Id, name, arguments.
    pub(super) calls: &'a [(String, String, String)],
    pub(super) input: Input,
}

impl Shape {
    pub(super) fn of(path: &str) -> Self {
        match path {
            path if path.ends_with("/responses") => Self::Responses,
            path if path.ends_with("/v1/messages") => Self::Messages,
            path if path.contains(":streamGenerateContent") => Self::Gemini,
            path if path.ends_with("/api/chat") => Self::Ollama,
            _ => Self::Chat,
        }
    }

    pub(super) fn head(self, out: &mut TcpStream) -> std::io::Result<()> {
        let kind = if self == Self::Ollama { "application/x-ndjson" } else { "text/event-stream" };
        write!(out, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n")
    }

    /// Writes it, behind the head.
    pub(super) fn write(self, out: &mut TcpStream, said: &Said<'_>) -> std::io::Result<()> {
        let events = match self {
            Self::Chat => chat(said),
            Self::Responses => responses(said),
            Self::Messages => messages(said),
            Self::Gemini => gemini(said),
            Self::Ollama => ollama(said),
        };
        for event in events {
            if self == Self::Ollama {
                writeln!(out, "{event}")?;
            } else {
                write!(out, "data: {event}\n\n")?;
            }
        }
        if self == Self::Chat {
            out.write_all(b"data: [DONE]\n\n")?;
        }
        out.flush()
    }

    /// The beginning of a text, without an end.
    pub(super) fn begin(self, out: &mut TcpStream, text: &str) -> std::io::Result<()> {
        match self {
            Self::Ollama => writeln!(out, "{}", json!({ "message": { "content": text }, "done": false })),
            Self::Responses => {
                let event = json!({ "type": "response.output_text.delta", "output_index": 0, "delta": text });
                write!(out, "data: {event}\n\n")
            }
            _ => write!(out, "data: {}\n\n", chunk(&json!({ "content": text }), None)),
        }
    }
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    })
}

fn chat(said: &Said<'_>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    out.extend(said.thought.map(|thought| chunk(&json!({ "reasoning_content": thought }), None)));
    out.extend(said.text.iter().map(|piece| chunk(&json!({ "content": piece }), None)));
    for (index, (id, name, arguments)) in said.calls.iter().enumerate() {
        let call = json!({ "index": index, "id": id, "type": "function",
                           "function": { "name": name, "arguments": "" } });
        out.push(chunk(&json!({ "tool_calls": [call] }), None));
        for piece in pieces(arguments) {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            out.push(chunk(&json!({ "tool_calls": [call] }), None));
        }
    }
    out.push(chunk(&json!({}), Some(if said.calls.is_empty() { "stop" } else { "tool_calls" })));
    out.push(json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [],
        "usage": { "prompt_tokens": said.input.all, "completion_tokens": 5, "total_tokens": said.input.all + 5,
                   "prompt_tokens_details": { "cached_tokens": said.input.cached } },
    }));
    out
}

fn responses(said: &Said<'_>) -> Vec<Value> {
    let mut out = vec![json!({ "type": "response.created", "response": { "status": "in_progress" } })];
    let mut number = 0;
    let mut item = |item: Value, between: Vec<Value>| {
        let at = number;
        number += 1;
        let mut events =
            vec![json!({ "type": "response.output_item.added", "output_index": at, "item": item })];
        events.extend(between.into_iter().map(|mut event| {
            event["output_index"] = json!(at);
            event
        }));
        events.push(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
        events
    };
    if let Some(thought) = said.thought {
        let sealed = format!("sealed {thought}");
        out.extend(item(
            json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed }),
            vec![json!({ "type": "response.reasoning_summary_text.delta", "delta": thought })],
        ));
    }
    if !said.text.is_empty() {
        let deltas =
            said.text.iter().map(|delta| json!({ "type": "response.output_text.delta", "delta": delta }));
        out.extend(item(json!({ "type": "message", "role": "assistant", "content": [] }), deltas.collect()));
    }
    for (id, name, arguments) in said.calls {
        let deltas = pieces(arguments);
        let deltas = deltas
            .iter()
            .map(|delta| json!({ "type": "response.function_call_arguments.delta", "delta": delta }));
        out.extend(item(
            json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": "" }),
            deltas.collect(),
        ));
    }
    let usage = json!({ "input_tokens": said.input.all, "output_tokens": 5 });
    out.push(json!({ "type": "response.completed", "response": { "status": "completed", "usage": usage } }));
    out
}

fn messages(said: &Said<'_>) -> Vec<Value> {
    let Input { all, cached } = said.input;
    let usage =
        json!({ "input_tokens": all - cached, "cache_read_input_tokens": cached, "output_tokens": 1 });
    let mut out =
        vec![json!({ "type": "message_start", "message": { "role": "assistant", "usage": usage } })];
    let mut number = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        let at = number;
        number += 1;
        let mut events = vec![json!({ "type": "content_block_start", "index": at, "content_block": start })];
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({ "type": "content_block_delta", "index": at, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": at }));
        events
    };
    if let Some(thought) = said.thought {
        out.extend(block(
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            vec![
                json!({ "type": "thinking_delta", "thinking": thought }),
                json!({ "type": "signature_delta", "signature": format!("signed {thought}") }),
            ],
        ));
    }
    if !said.text.is_empty() {
        let deltas = said.text.iter().map(|text| json!({ "type": "text_delta", "text": text }));
        out.extend(block(json!({ "type": "text", "text": "" }), deltas.collect()));
    }
    for (id, name, arguments) in said.calls {
        let deltas = pieces(arguments);
        let deltas = deltas.iter().map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        out.extend(block(
            json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
            deltas.collect(),
        ));
    }
    let stop = if said.calls.is_empty() { "end_turn" } else { "tool_use" };
    out.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 5 } }),
    );
    out.push(json!({ "type": "message_stop" }));
    out
}

fn gemini(said: &Said<'_>) -> Vec<Value> {
    let parts =
        |parts: Vec<Value>| json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] });
    let mut out: Vec<Value> = said.text.iter().map(|text| parts(vec![json!({ "text": text })])).collect();
    // Only the first of several calls is signed.
    let mut signature = said.thought.map(|thought| format!("signed {thought}"));
    for (id, name, arguments) in said.calls {
        let args: Value = serde_json::from_str(arguments).unwrap_or_default();
        let mut part = json!({ "functionCall": { "id": id, "name": name, "args": args } });
        if let Some(signature) = signature.take() {
            part["thoughtSignature"] = json!(signature);
        }
        out.push(parts(vec![part]));
    }
    let usage = json!({ "promptTokenCount": said.input.all, "candidatesTokenCount": 5 });
    out.push(json!({ "candidates": [{ "content": { "parts": [] }, "finishReason": "STOP" }], "usageMetadata": usage }));
    out
}

fn ollama(said: &Said<'_>) -> Vec<Value> {
    let line = |message: Value| json!({ "model": "scripted", "message": message, "done": false });
    let mut out: Vec<Value> = Vec::new();
    out.extend(
        said.thought.map(|thought| line(json!({ "role": "assistant", "content": "", "thinking": thought }))),
    );
    out.extend(said.text.iter().map(|text| line(json!({ "role": "assistant", "content": text }))));
    for (_, name, arguments) in said.calls {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let call = json!({ "function": { "name": name, "arguments": arguments } });
        out.push(line(json!({ "role": "assistant", "content": "", "tool_calls": [call] })));
    }
    out.push(json!({ "model": "scripted", "message": { "role": "assistant", "content": "" }, "done": true,
        "done_reason": "stop", "prompt_eval_count": said.input.all, "eval_count": 5 }));
    out
}
