//! Vendors' caches (working-day §5, §13 point 9): every request begins with the bytes of the one before, and a cache as
//! Anthropic describes its own gives back most of what a long run sends.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use chatos_model::{Dialect, Effort, Message, Params, Protocol, Reasoning, Request, Tool, ToolCall};
use serde_json::{Value, json};

mod cache;

use cache::{Cache, unmarked};

const ALL: [Protocol; 5] =
    [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini, Protocol::Responses, Protocol::Ollama];

/// Thinking as each vendor wants it back.
fn thought(protocol: Protocol, pass: usize) -> Reasoning {
    let opaque = match protocol {
        Protocol::OpenAi => json!({ "field": "reasoning_content" }),
        Protocol::Anthropic => {
            json!({ "type": "thinking", "thinking": "hm", "signature": format!("s{pass}") })
        }
        Protocol::Responses => {
            let item = json!({ "type": "reasoning", "summary": [], "encrypted_content": format!("s{pass}") });
            json!({ "item": item, "before": 0 })
        }
        Protocol::Gemini | Protocol::Ollama => Value::Null,
    };
    Reasoning { text: format!("hm {pass}"), opaque: Some(opaque).filter(|opaque| !opaque.is_null()) }
}

/// The request of a run after so many passes; a few of them call many tools at once.
fn request(protocol: Protocol, passes: usize) -> Request {
    let mut messages = vec![Message::user("Do all of it. ".repeat(40))];
    for pass in 0..passes {
        let calls = if pass % 12 == 7 { 24 } else { 1 + pass % 2 };
        let id = |call: usize| format!("c{pass}-{call}");
        let arguments = |call: usize| json!({ "path": format!("src/part{pass}-{call}.rs") }).to_string();
        let tool_calls = (0..calls).map(|call| ToolCall {
            id: id(call),
            name: "read_file".into(),
            arguments: arguments(call),
            opaque: (protocol == Protocol::Gemini && call == 0).then(|| json!(format!("s{pass}"))),
        });
        messages.push(Message::Assistant {
            text: if pass % 3 == 0 { "Next.".into() } else { String::new() },
            reasoning: vec![thought(protocol, pass)],
            tool_calls: tool_calls.collect(),
        });
        messages.extend((0..calls).map(|call| Message::Tool {
            call_id: id(call),
            name: "read_file".into(),
            content: format!("line of part {pass}\n").repeat(60),
            is_error: false,
            images: Vec::new(),
        }));
    }
    let tool = |number: usize| Tool {
        name: format!("tool_{number}"),
        description: "Does one thing well. ".repeat(12),
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    };
    Request {
        system: vec!["You help. ".repeat(200), "What there is. ".repeat(20)],
        messages,
        tools: (0..20).map(tool).collect(),
        params: Params {
            model: "m".into(),
            max_output_tokens: Some(8_192),
            effort: Some(Effort::Low),
            thinks: true,
            window: Some(200_000),
            cache_key: Some("chat".into()),
            ..Params::default()
        },
    }
}

#[test]
fn a_request_begins_with_the_one_before_over_every_protocol() {
    for protocol in ALL {
        let member = match protocol {
            Protocol::Responses => "input",
            Protocol::Gemini => "contents",
            _ => "messages",
        };
        let body =
            |passes: usize| unmarked(&protocol.wire(&request(protocol, passes), &Dialect::default()).body);
        for passes in 0..20 {
            let (mut before, mut after) = (body(passes), body(passes + 1));
            let (said, more) = (before[member].take(), after[member].take());
            assert!(
                more.as_array().unwrap().starts_with(said.as_array().unwrap()),
                "{protocol:?} at {passes}"
            );
            assert_eq!(before.to_string(), after.to_string(), "{protocol:?}: all else is equal to the byte");
        }
    }
}

#[test]
fn most_of_a_long_run_is_read_from_the_cache() {
    let mut cache = Cache::default();
    for passes in 0..50 {
        let request = request(Protocol::Anthropic, passes);
        cache.ask(&Protocol::Anthropic.wire(&request, &Dialect::default()).body);
    }
    let share = cache.share();
    assert!(share >= 85, "{share} %");
}
