//! Streams of the three protocols as vendors send them, cut at every byte.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use chatos_model::{Answer, Class, Event, ModelError, Protocol, Reasoning, Stop, ToolCall, Usage};
use serde_json::{Value, json};

fn sse(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn decode(protocol: Protocol, text: &str, piece: usize) -> Result<(Answer, Vec<Event>), ModelError> {
    let mut decoder = protocol.decoder();
    let mut events = Vec::new();
    for bytes in text.as_bytes().chunks(piece.max(1)) {
        events.extend(decoder.feed(bytes)?);
    }
    events.extend(decoder.end()?);
    let mut answer = Answer::default();
    for event in &events {
        answer.take(event);
    }
    Ok((answer, events))
}

/// The same answer whatever the pieces, and no complete answer from any beginning of it.
fn check(protocol: Protocol, text: &str) -> Answer {
    let (whole, _) = decode(protocol, text, text.len()).unwrap();
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(decode(protocol, text, piece).unwrap().0, whole, "pieces of {piece}");
    }
    let mut complete = 0;
    for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
        match decode(protocol, &text[..cut], 11) {
            // What is left out may be blank lines, usage or the closing word, never content.
            Ok((answer, _)) => {
                complete += 1;
                assert_eq!(
                    (&answer.text, &answer.tool_calls),
                    (&whole.text, &whole.tool_calls),
                    "cut at {cut}"
                );
            }
            Err(error) => assert!(matches!(error.class, Class::Network | Class::Server), "{error}"),
        }
    }
    assert!(complete < text.len() / 2, "a cut stream is not taken for a whole one");
    whole
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), opaque: None }
}

#[test]
fn openai_text_thinking_tools_and_usage() {
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    let text = sse(&[
        delta(json!({ "role": "assistant", "content": "" })),
        delta(json!({ "reasoning_content": "I should " })),
        delta(json!({ "reasoning_content": "look." })),
        delta(json!({ "content": "你好, " })),
        delta(json!({ "content": "world" })),
        delta(
            json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "read", "arguments": "" } }] }),
        ),
        delta(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"p\":" } }] })),
        delta(
            json!({ "tool_calls": [{ "index": 1, "id": "b", "function": { "name": "list", "arguments": "{}" } }] }),
        ),
        delta(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "1}" } }] })),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 4,
                "prompt_tokens_details": { "cached_tokens": 6 } } }),
    ]) + "data: [DONE]\n\n";
    let answer = check(Protocol::OpenAi, &text);
    assert_eq!(answer.text, "你好, world");
    assert_eq!(
        answer.reasoning,
        [Reasoning { text: "I should look.".into(), opaque: Some(json!({ "field": "reasoning_content" })) }]
    );
    assert_eq!(answer.tool_calls, [call("a", "read", "{\"p\":1}"), call("b", "list", "{}")]);
    assert_eq!(answer.stop, Some(Stop::ToolUse));
    assert_eq!(answer.usage, Some(Usage { input: 4, output: 4, cache_read: 6, ..Usage::default() }));
}

#[test]
fn openai_vendors_who_number_loosely() {
    let piece = |piece: Value| json!({ "choices": [{ "delta": { "tool_calls": [piece] } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    // Every call is number 0, whole, with an id of its own; arguments as an object.
    let text = sse(&[
        piece(json!({ "index": 0, "id": "a", "function": { "name": "x", "arguments": "{}" } })),
        piece(json!({ "index": 0, "id": "b", "function": { "name": "y", "arguments": { "k": 1 } } })),
        end.clone(),
    ]);
    let answer = decode(Protocol::OpenAi, &text, 5).unwrap().0;
    assert_eq!(answer.tool_calls, [call("a", "x", "{}"), call("b", "y", "{\"k\":1}")]);
    assert_eq!(answer.stop, Some(Stop::ToolUse), "`stop` with calls means they are to be made");
    // No numbers and no ids at all.
    let text = sse(&[
        piece(json!({ "function": { "name": "x", "arguments": "{" } })),
        piece(json!({ "function": { "arguments": "}" } })),
        piece(json!({ "function": { "name": "y", "arguments": "{}" } })),
        end,
    ]);
    let answer = decode(Protocol::OpenAi, &text, 5).unwrap().0;
    assert_eq!(answer.tool_calls, [call("call_0", "x", "{}"), call("call_1", "y", "{}")]);
    let ids: std::collections::BTreeSet<_> = answer.tool_calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids.len(), 2);
}

#[test]
fn openai_failures_inside_a_stream() {
    let error = json!({ "error": { "message": "overloaded", "type": "overloaded_error" } });
    let text = sse(&[json!({ "choices": [{ "delta": { "content": "a" } }] }), error]);
    assert_eq!(decode(Protocol::OpenAi, &text, 9).unwrap_err().class, Class::Server);
    let coded = sse(&[json!({ "error": { "message": "slow down", "code": 429 } })]);
    assert_eq!(decode(Protocol::OpenAi, &coded, 9).unwrap_err().class, Class::RateLimited);
    let garbage = "data: {\"choices\": [\n\n";
    assert_eq!(decode(Protocol::OpenAi, garbage, 9).unwrap_err().class, Class::Server);
    let early = sse(&[json!({ "choices": [{ "delta": { "content": "a" } }] })]) + "data: [DONE]\n\n";
    assert_eq!(decode(Protocol::OpenAi, &early, 9).unwrap_err().class, Class::Network);
    assert_eq!(decode(Protocol::OpenAi, "", 9).unwrap_err().class, Class::Network);
}

fn anthropic_stream() -> String {
    let start =
        |n: u32, block: Value| json!({ "type": "content_block_start", "index": n, "content_block": block });
    let delta = |n: u32, delta: Value| json!({ "type": "content_block_delta", "index": n, "delta": delta });
    let stop = |n: u32| json!({ "type": "content_block_stop", "index": n });
    sse(&[
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1,
                "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2 } } }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        json!({ "type": "ping" }),
        delta(0, json!({ "type": "thinking_delta", "thinking": "Hm" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "m." })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
        stop(0),
        start(1, json!({ "type": "redacted_thinking", "data": "xyz" })),
        stop(1),
        start(2, json!({ "type": "text", "text": "" })),
        delta(2, json!({ "type": "text_delta", "text": "Hel" })),
        delta(2, json!({ "type": "text_delta", "text": "lo" })),
        stop(2),
        start(3, json!({ "type": "tool_use", "id": "t1", "name": "read", "input": {} })),
        delta(3, json!({ "type": "input_json_delta", "partial_json": "{\"p\"" })),
        delta(3, json!({ "type": "input_json_delta", "partial_json": ":1}" })),
        stop(3),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ])
}

#[test]
fn anthropic_text_thinking_tools_and_usage() {
    let answer = check(Protocol::Anthropic, &anthropic_stream());
    assert_eq!(answer.text, "Hello");
    assert_eq!(answer.tool_calls, [call("t1", "read", "{\"p\":1}")]);
    assert_eq!(answer.stop, Some(Stop::ToolUse));
    let usage = Usage { input: 9, output: 7, cache_read: 5, cache_write: 2, estimated: false };
    assert_eq!(answer.usage, Some(usage));
    // Blocks of thinking go back unchanged.
    assert_eq!(answer.reasoning[0].text, "Hmm.");
    let thinking = json!({ "type": "thinking", "thinking": "Hmm.", "signature": "c2ln" });
    assert_eq!(answer.reasoning[0].opaque.as_ref().unwrap(), &thinking);
    let redacted = json!({ "type": "redacted_thinking", "data": "xyz" });
    assert_eq!(answer.reasoning[1].opaque.as_ref().unwrap(), &redacted);
}

#[test]
fn anthropic_failures_inside_a_stream() {
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    assert_eq!(decode(Protocol::Anthropic, &sse(&[error]), 4).unwrap_err().class, Class::Server);
    let unknown =
        sse(&[json!({ "type": "content_block_delta", "index": 9, "delta": { "type": "input_json_delta" } })]);
    assert_eq!(decode(Protocol::Anthropic, &unknown, 4).unwrap_err().class, Class::Network);
}

#[test]
fn gemini_text_thinking_tools_and_usage() {
    let parts = |parts: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] });
    let text = sse(&[
        parts(json!([{ "text": "plan", "thought": true }])),
        parts(json!([{ "text": "Hi" }])),
        parts(json!([{ "functionCall": { "name": "read", "args": { "p": 1 } }, "thoughtSignature": "s" }])),
        json!({ "candidates": [{ "content": { "parts": [] }, "finishReason": "STOP" }],
                "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 3 } }),
    ]);
    let answer = check(Protocol::Gemini, &text);
    assert_eq!((answer.text.as_str(), answer.stop), ("Hi", Some(Stop::ToolUse)));
    assert_eq!(answer.tool_calls[0].opaque, Some(json!("s")));
    assert_eq!(answer.usage, Some(Usage { input: 5, output: 5, ..Usage::default() }));
    let blocked = sse(&[json!({ "promptFeedback": { "blockReason": "SAFETY" } })]);
    assert_eq!(decode(Protocol::Gemini, &blocked, 3).unwrap_err().class, Class::ContentFilter);
}

#[test]
fn answers_in_one_piece_are_the_same_events() {
    let body = json!({ "choices": [{ "message": { "content": "Hi", "tool_calls": [
        { "id": "a", "function": { "name": "x", "arguments": "{}" } }] }, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 2 } });
    let mut answer = Answer::default();
    for event in Protocol::OpenAi.whole(body.to_string().as_bytes()).unwrap() {
        answer.take(&event);
    }
    assert_eq!((answer.text.as_str(), answer.tool_calls.len(), answer.stop), ("Hi", 1, Some(Stop::ToolUse)));
    let body = json!({ "type": "message", "stop_reason": "end_turn", "usage": { "input_tokens": 1 }, "content": [
        { "type": "text", "text": "Hi" }, { "type": "tool_use", "id": "a", "name": "x", "input": { "k": 1 } }] });
    let mut answer = Answer::default();
    for event in Protocol::Anthropic.whole(body.to_string().as_bytes()).unwrap() {
        answer.take(&event);
    }
    assert_eq!((answer.text.as_str(), answer.tool_calls[0].arguments.as_str()), ("Hi", "{\"k\":1}"));
    for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini] {
        assert!(protocol.whole(b"<html>").is_err());
        assert!(protocol.whole(b"{}").is_err());
    }
}
