//! Models that refuse, break off, lie and go round in circles (agents §16.5, issue "Bad input").

use std::sync::atomic::{AtomicUsize, Ordering};

use chatos_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

/// What a model does, attempt by attempt.
fn in_order(scripts: Vec<Script>) -> impl Fn(&Value) -> Script + Send + Sync + 'static {
    let next = AtomicUsize::new(0);
    move |_| {
        let at = next.fetch_add(1, Ordering::SeqCst);
        scripts.get(at).cloned().unwrap_or_else(|| Script::say("fine"))
    }
}

fn refuse(status: u16, headers: &[&str]) -> Script {
    Script::Refuse {
        status,
        headers: headers.iter().map(|header| (*header).to_owned()).collect(),
        body: json!({ "error": { "message": "no", "type": "test" } }),
    }
}

#[test]
fn refusals_and_broken_streams_end_in_one_answer_without_doubled_text() {
    let stand = Stand::new(in_order(vec![
        refuse(429, &["Retry-After: 2"]),
        Script::Cut { text: "half of an answ".to_owned() },
        refuse(500, &[]),
        Script::say("the whole answer"),
    ]));
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "hello");
    let run = until(&host, &run, &["done", "failed"]);
    assert_eq!(run["state"], "done", "{run}");
    assert_eq!(stand.model.asked(), 4);
    let said = messages(&host, &chat);
    let answers: Vec<&Value> = said.iter().filter(|message| message["role"] == "assistant").collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["content"], "the whole answer");
}

#[test]
fn a_wrong_key_is_not_tried_again_and_is_not_shown() {
    let stand = Stand::new(|_| Script::Refuse {
        status: 401,
        headers: Vec::new(),
        body: json!({ "error": { "message": "bad key sk-live-1234567890abcdefghijklmn", "type": "auth" } }),
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "hello");
    let run = until(&host, &run, &["done", "failed"]);
    assert_eq!(run["state"], "failed");
    assert_eq!(run["error"]["code"], "auth");
    assert_eq!(stand.model.asked(), 1);
    let all = format!("{run}{:?}", messages(&host, &chat));
    assert!(!all.contains("sk-live-1234567890abcdefghijklmn"), "{all}");
    let record = std::fs::read_to_string(stand.sandbox.state().join("events.jsonl")).unwrap();
    assert!(!record.contains("sk-live-1234567890abcdefghijklmn"));
}

#[test]
fn unknown_tools_broken_arguments_and_circles_are_told_to_the_model() {
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        let asked = request["messages"].as_array().unwrap().iter();
        let question = asked.rev().find(|message| message["role"] == "user").unwrap()["content"].to_string();
        match (question.contains("unknown"), question.contains("broken"), role.as_str()) {
            (true, _, "user") => Script::call("u1", "mcp_nowhere_tool", &json!({})),
            (_, true, "user") => Script::Answer {
                text: String::new(),
                calls: vec![(
                    "b1".to_owned(),
                    offered(request, "count").unwrap(),
                    "{\"key\": \"bro".to_owned(),
                )],
            },
            (true, ..) | (_, true, _) => Script::say(text),
            // The same failing call, for ever.
            _ => match offered(request, "count") {
                Some(name) => Script::call("same", name, &json!({ "nokey": 1 })),
                None => Script::say("stopped"),
            },
        }
    });
    let host = stand.sandbox.serve();
    for (text, code) in [("unknown", "not_found"), ("broken", "invalid_argument")] {
        let chat = session(&host, &stand.agent);
        let run = send(&host, &chat, text);
        assert_eq!(until(&host, &run, &["done", "failed"])["state"], "done");
        let said = messages(&host, &chat);
        let result = said.iter().find(|message| message["role"] == "tool").unwrap();
        assert_eq!((&result["code"], &result["toolIsError"]), (&json!(code), &json!(true)), "{result}");
    }
    assert_eq!(std::fs::read_to_string(&stand.counts).unwrap(), "", "nothing broken was called");
}
