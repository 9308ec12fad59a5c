//! Streams of the protocols as vendors send them, cut at every byte.

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

/// What the Responses API sends: thinking, a call it led to, more thinking, and text.
fn responses_stream() -> Vec<Value> {
    let item = |number: u64, item: Value| json!({ "type": "response.output_item.added", "output_index": number, "item": item });
    let done = |number: u64, item: Value| json!({ "type": "response.output_item.done", "output_index": number, "item": item });
    let sealed = |id: &str, sealed: &str| json!({ "type": "reasoning", "id": id, "summary": [{ "type": "summary_text", "text": "plan" }], "encrypted_content": sealed });
    let call = |arguments: &str| json!({ "type": "function_call", "id": "fc_1", "call_id": "a", "name": "read", "arguments": arguments });
    let said = |kind: &str, number: u64, delta: &str| json!({ "type": kind, "output_index": number, "delta": delta });
    vec![
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } }),
        item(0, json!({ "type": "reasoning", "id": "rs_1", "summary": [] })),
        json!({ "type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0 }),
        said("response.reasoning_summary_text.delta", 0, "first "),
        said("response.reasoning_summary_text.delta", 0, "plan"),
        json!({ "type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1 }),
        said("response.reasoning_summary_text.delta", 0, "more"),
        done(0, sealed("rs_1", "S1")),
        item(1, call("")),
        said("response.function_call_arguments.delta", 1, "{\"p\":"),
        said("response.function_call_arguments.delta", 1, "1}"),
        json!({ "type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{\"p\":1}" }),
        done(1, call("{\"p\":1}")),
        item(2, sealed("rs_2", "S2")),
        done(2, sealed("rs_2", "S2")),
        item(3, json!({ "type": "message", "role": "assistant", "content": [] })),
        said("response.output_text.delta", 3, "你好, "),
        said("response.output_text.delta", 3, "world"),
        done(3, json!({ "type": "message", "content": [{ "type": "output_text", "text": "你好, world" }] })),
        json!({ "type": "response.completed", "response": { "status": "completed", "usage": { "input_tokens": 10,
                "input_tokens_details": { "cached_tokens": 6 }, "output_tokens": 4 } } }),
    ]
}

#[test]
fn responses_text_sealed_thinking_tools_and_usage() {
    let answer = check(Protocol::Responses, &sse(&responses_stream()));
    assert_eq!((answer.text.as_str(), answer.stop), ("你好, world", Some(Stop::ToolUse)));
    assert_eq!(answer.tool_calls, [call("a", "read", "{\"p\":1}")]);
    assert_eq!(answer.usage, Some(Usage { input: 4, output: 4, cache_read: 6, ..Usage::default() }));
    let thought: Vec<_> =
        answer.reasoning.iter().map(|part| (part.text.as_str(), part.opaque.clone().unwrap())).collect();
    assert_eq!(thought[0].0, "first plan\n\nmore");
    // Without the id, and with the word of what it led to.
    let item = json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "plan" }], "encrypted_content": "S1" });
    assert_eq!(thought[0].1, json!({ "item": item, "before": 0 }));
    assert_eq!(
        (&thought[1].1["before"], &thought[1].1["item"]["encrypted_content"]),
        (&json!("text"), &json!("S2"))
    );
    assert_eq!(thought.len(), 2);
}

#[test]
fn responses_ends_and_faults() {
    let ended = |last: Value| {
        let text = json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "Hi" });
        decode(Protocol::Responses, &sse(&[text, last]), 9)
    };
    let incomplete = |reason: &str| {
        json!({ "type": "response.incomplete", "response": { "status": "incomplete",
        "incomplete_details": { "reason": reason } } })
    };
    assert_eq!(ended(incomplete("max_output_tokens")).unwrap().0.stop, Some(Stop::Length));
    assert_eq!(ended(incomplete("content_filter")).unwrap().0.stop, Some(Stop::ContentFilter));
    let failed = |code: &str| {
        json!({ "type": "response.failed", "response": { "status": "failed",
        "error": { "code": code, "message": "Your input exceeds the context window of this model." } } })
    };
    assert_eq!(ended(failed("context_length_exceeded")).unwrap_err().class, Class::ContextLength);
    let error = |code: &str| json!({ "type": "error", "code": code, "message": "no", "param": null });
    assert_eq!(ended(error("rate_limit_exceeded")).unwrap_err().class, Class::RateLimited);
    assert_eq!(ended(error("server_error")).unwrap_err().class, Class::Server);
    // Thinking that led to nothing is shown and does not go back: it would be refused alone.
    let item = json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "S" });
    let alone = json!({ "type": "response.output_item.done", "output_index": 0, "item": item });
    let answer = decode(Protocol::Responses, &sse(&[alone, incomplete("max_output_tokens")]), 9).unwrap().0;
    assert_eq!(answer.reasoning, [Reasoning { text: "hm".into(), opaque: None }]);
}

#[test]
fn ollama_text_thinking_tools_and_usage() {
    let line = |message: Value| json!({ "model": "m", "message": message, "done": false });
    let lines: String = [
        line(json!({ "role": "assistant", "content": "", "thinking": "I should " })),
        line(json!({ "role": "assistant", "content": "", "thinking": "look." })),
        line(json!({ "role": "assistant", "content": "你好, " })),
        line(json!({ "role": "assistant", "content": "world" })),
        line(json!({ "role": "assistant", "content": "", "tool_calls": [
            { "function": { "name": "read", "arguments": { "p": 1 } } }, { "id": "b", "function": { "name": "list", "arguments": {} } }] })),
        json!({ "model": "m", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
                "prompt_eval_count": 26, "eval_count": 9 }),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    let answer = check(Protocol::Ollama, &lines);
    assert_eq!((answer.text.as_str(), answer.stop), ("你好, world", Some(Stop::ToolUse)));
    assert_eq!(answer.tool_calls, [call("call_0", "read", "{\"p\":1}"), call("b", "list", "{}")]);
    assert_eq!(answer.usage, Some(Usage { input: 26, output: 9, ..Usage::default() }));
    assert_eq!(answer.reasoning[0].text, "I should look.");
    // Thinking in the text, of models that were not asked to keep it apart; a cut; an error in the middle.
    let said = |content: &str| format!("{}\n", line(json!({ "content": content })));
    let done = |reason: &str| format!("{}\n", json!({ "message": {}, "done": true, "done_reason": reason }));
    let tagged = decode(Protocol::Ollama, &(said("<think>a</think>b") + &done("length")), 5).unwrap().0;
    assert_eq!((tagged.text.as_str(), tagged.stop, tagged.usage), ("b", Some(Stop::Length), None));
    assert_eq!(decode(Protocol::Ollama, &said("half"), 5).unwrap_err().class, Class::Network);
    let fault = said("half") + "{\"error\":\"the input length exceeds the context length\"}\n";
    assert_eq!(decode(Protocol::Ollama, &fault, 5).unwrap_err().class, Class::ContextLength);
}

#[test]
fn answers_in_one_piece_are_the_same_events() {
    let output: Vec<Value> = responses_stream()
        .into_iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| event["item"].clone())
        .collect();
    let body = json!({ "object": "response", "status": "completed", "error": null, "output": output,
        "usage": { "input_tokens": 1 } });
    let mut answer = Answer::default();
    for event in Protocol::Responses.whole(body.to_string().as_bytes()).unwrap() {
        answer.take(&event);
    }
    assert_eq!(
        (answer.text.as_str(), answer.tool_calls.len(), answer.reasoning.len()),
        ("你好, world", 1, 2)
    );
    let body = json!({ "message": { "content": "Hi" }, "done": true, "done_reason": "stop" });
    assert_eq!(
        Protocol::Ollama.whole(body.to_string().as_bytes()).unwrap().last(),
        Some(&Event::Done(Stop::End))
    );
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
    for protocol in
        [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini, Protocol::Responses, Protocol::Ollama]
    {
        assert!(protocol.whole(b"<html>").is_err());
        assert!(protocol.whole(b"{}").is_err());
    }
}
