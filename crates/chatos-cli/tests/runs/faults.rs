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
fn a_silent_model_is_asked_again_and_said_to_be_silent() {
    for provider in ["ollama", "openai_compatible"] {
        let asked = AtomicUsize::new(0);
        let stand = Stand::speaking(&json!({ "provider": provider }), move |_| {
            // Not a byte, for as long as anybody waits; the second question is answered.
            if asked.fetch_add(1, Ordering::SeqCst) != 1 {
                loop {
                    std::thread::park();
                }
            }
            Script::say("here I am")
        });
        let host = stand.sandbox.serve();
        let set = |key: &str, value: u64| {
            let set = host.ask("PUT", &format!("/api/v1/settings/{key}"), Some(&json!({ "value": value })));
            assert!(set.status < 300, "{key}: {}", set.text());
        };
        set("modelSilenceSeconds", 2);
        set("retry", 1);
        let chat = session(&host, &stand.agent);
        let run = send(&host, &chat, "hello");
        let run = until(&host, &run, &["done", "failed"]);
        assert_eq!(run["state"], "done", "{provider}: {run}");
        assert_eq!(stand.model.asked(), 2, "{provider}");
        // It stays silent: the run ends, and says why and what decides how long it is waited.
        set("retry", 0);
        let run = send(&host, &chat, "and now?");
        let run = until(&host, &run, &["done", "failed"]);
        assert_eq!((&run["state"], &run["error"]["code"]), (&json!("failed"), &json!("network")), "{run}");
        let said = run["error"].to_string();
        assert!(said.contains("no answer came within 2 s") && said.contains("modelSilenceSeconds"), "{said}");
        // The host has not been held up by it.
        assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
    }
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

/// One event of a stream.
fn event(delta: &Value) -> String {
    let chunk = json!({ "id": "c", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    format!("data: {chunk}\n\n")
}

#[test]
fn streams_that_break_in_a_call_or_are_no_stream_are_asked_again_and_call_nothing() {
    let broken: [fn(&str) -> String; 5] = [
        // Cut in the middle of a tool call.
        |tool| {
            let call = json!({ "index": 0, "id": "c1", "type": "function",
                               "function": { "name": tool, "arguments": "{\"key\": \"cut" } });
            event(&json!({ "tool_calls": [call] }))
        },
        // Cut in the middle of a line.
        |_| event(&json!({ "content": "half" })) + "data: {\"choices\": [{\"del",
        // Lines that are no JSON.
        |_| "data: this is not JSON\n\ndata: [DONE]\n\n".to_owned(),
        // Something else altogether.
        |_| "<html><body>502 Bad Gateway</body></html>".to_owned(),
        // Nothing.
        |_| String::new(),
    ];
    let asked = AtomicUsize::new(0);
    let stand = Stand::new(move |request| {
        let tool = offered(request, "count").unwrap_or_default();
        match asked.fetch_add(1, Ordering::SeqCst) {
            // Each fault once, then an answer: one attempt of one run may fail in each way.
            number if number % 2 == 0 => Script::Raw { body: broken[number / 2 % broken.len()](&tool) },
            _ => Script::say("the whole answer"),
        }
    });
    let host = stand.sandbox.serve();
    for _ in 0..5 {
        let chat = session(&host, &stand.agent);
        let run = send(&host, &chat, "hello");
        let run = until(&host, &run, &["done", "failed"]);
        assert_eq!(run["state"], "done", "{run}");
        let said = messages(&host, &chat);
        let texts: Vec<&Value> = said.iter().map(|message| &message["content"]).collect();
        assert_eq!(texts, [&json!("hello"), &json!("the whole answer")]);
    }
    assert_eq!(std::fs::read_to_string(&stand.counts).unwrap(), "", "half a call is not made");
}

#[test]
fn arguments_that_stay_broken_are_asked_for_three_times_and_then_the_error_stands() {
    let number = AtomicUsize::new(0);
    let stand = Stand::new(move |request| match offered(request, "count") {
        // Broken in another way each time, so that no two calls are equal.
        Some(name) => {
            let at = number.fetch_add(1, Ordering::SeqCst);
            let arguments = format!("{{\"key\": \"{}", "x".repeat(at + 1));
            Script::Answer { text: String::new(), calls: vec![(format!("b{at}"), name, arguments)] }
        }
        None => Script::say("gave up"),
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "hello");
    let run = until(&host, &run, &["done", "failed"]);
    assert_eq!((&run["state"], &run["stopReason"]), (&json!("done"), &json!("repeating")), "{run}");
    let said = messages(&host, &chat);
    let results: Vec<&str> = said
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    let again: Vec<bool> = results.iter().map(|text| text.contains("Send the call again")).collect();
    assert_eq!(again, [true, true, true, false, false, false], "{results:?}");
    assert_eq!(std::fs::read_to_string(&stand.counts).unwrap(), "", "nothing broken was called");
}

#[test]
fn a_loop_that_never_ends_ends_at_the_limit_of_the_land_config() {
    let number = AtomicUsize::new(0);
    let stand = Stand::new(move |request| match offered(request, "count") {
        Some(name) => {
            let at = number.fetch_add(1, Ordering::SeqCst);
            Script::call(format!("n{at}"), name, &json!({ "key": format!("n{at}") }))
        }
        // The last pass has no tools and a note to finish.
        None => Script::say("that is all I could do"),
    });
    let host = stand.sandbox.serve();
    let lands = host.ask("GET", "/api/v1/land-configs", None).json();
    let lands = lands["items"].as_array().unwrap();
    let id = lands.iter().find(|land| land["name"] == "counting").unwrap()["id"].as_str().unwrap().to_owned();
    let mut land = host.ask("GET", &format!("/api/v1/land-configs/{id}"), None).json();
    land["limits"] = json!({ "maxPasses": 4 });
    let body =
        json!({ "name": land["name"], "main": land["main"], "sub": land["sub"], "limits": land["limits"] });
    let saved = host.ask("PUT", &format!("/api/v1/land-configs/{id}"), Some(&body));
    assert_eq!(saved.status, 200, "{}", saved.text());
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "go");
    let run = until(&host, &run, &["done", "failed"]);
    assert_eq!((&run["state"], &run["stopReason"]), (&json!("done"), &json!("max_passes")), "{run}");
    assert_eq!(stand.model.asked(), 4);
    let said = messages(&host, &chat);
    assert_eq!(said.last().unwrap()["content"], "that is all I could do");
    let last = stand.model.requests().pop().unwrap();
    assert!(last.get("tools").is_none_or(|tools| tools.as_array().is_none_or(Vec::is_empty)), "{last}");
}

#[test]
fn empty_answers_are_asked_again_once_and_huge_ones_are_kept_whole_or_cut_with_a_reason() {
    let stand = Stand::new(|request| match last(request).1.as_str() {
        "empty" => Script::say(""),
        // Beyond what one answer may have.
        "huge" => {
            let piece = event(&json!({ "content": "0123456789abcdef".repeat(4 * 1024) }));
            Script::Raw { body: piece.repeat(75) }
        }
        _ => Script::Answer { text: "long ".repeat(40_000), calls: Vec::new() },
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = until(&host, &send(&host, &chat, "empty"), &["done", "failed"]);
    assert_eq!((&run["state"], stand.model.asked()), (&json!("done"), 2), "{run}");
    let run = until(&host, &send(&host, &chat, "long"), &["done", "failed"]);
    assert_eq!((&run["state"], &run["stopReason"]), (&json!("done"), &json!("end")), "{run}");
    assert_eq!(messages(&host, &chat).last().unwrap()["content"].as_str().unwrap().len(), 200_000);
    let other = session(&host, &stand.agent);
    let run = until(&host, &send(&host, &other, "huge"), &["done", "failed"]);
    assert_eq!((&run["state"], &run["stopReason"]), (&json!("done"), &json!("length")), "{run}");
    let kept = messages(&host, &other).last().unwrap()["content"].as_str().unwrap().len();
    assert!((4 << 20..5 << 20).contains(&kept), "{kept}");
}

#[test]
fn a_context_that_is_too_long_is_summarised_and_no_message_is_lost() {
    let stand = Stand::new(|request| {
        let all = request["messages"].as_array().unwrap();
        let size = request["messages"].to_string().len();
        let (_, text) = last(request);
        if text.contains("Summarise") || text.contains("summar") {
            return Script::say("a short summary");
        }
        if size > 60_000 && all.len() > 3 {
            return Script::Refuse {
                status: 400,
                headers: Vec::new(),
                body: json!({ "error": { "message": "too long", "type": "invalid_request_error",
                                         "code": "context_length_exceeded" } }),
            };
        }
        Script::say("noted")
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    for number in 0..9 {
        let text = format!("part {number} {}", "word ".repeat(2_000));
        let run = until(&host, &send(&host, &chat, &text), &["done", "failed"]);
        assert_eq!(run["state"], "done", "{number}: {run}");
    }
    let said = messages(&host, &chat);
    let own: Vec<&Value> = said.iter().filter(|message| message["role"] == "user").collect();
    assert_eq!(own.len(), 9);
    assert!(own.iter().enumerate().all(|(number, message)| {
        message["content"].as_str().unwrap() == format!("part {number} {}", "word ".repeat(2_000))
    }));
    let events = stand.lines("events.jsonl");
    assert!(events.iter().any(|event| event["type"] == "summary"), "it was summarised");
}

#[test]
fn a_key_is_in_no_file_of_the_state_no_event_no_export_and_no_child() {
    const KEY: &str = "canary-7e1f-9a44-key-of-a-model";
    // A vendor that repeats the key in an error, in a text and in a call.
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        match (role.as_str(), text.as_str(), offered(request, "meta")) {
            (_, "refuse", _) => Script::Refuse {
                status: 403,
                headers: Vec::new(),
                body: json!({ "error": { "message": format!("key {KEY} may not"), "type": "permission" } }),
            },
            ("user", _, Some(name)) => Script::call("m1", name, &json!({ "key": "fine" })),
            _ => Script::say("done"),
        }
    });
    let host = stand.sandbox.serve();
    let put = host.ask("PUT", "/api/v1/secrets/CANARY", Some(&json!({ "value": KEY })));
    assert!(put.status < 300, "{}", put.text());
    let models = host.ask("GET", "/api/v1/models", None).json();
    let id =
        models["items"].as_array().unwrap().iter().find(|model| model["name"] == "scripted").unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned();
    let body = json!({ "name": "scripted", "provider": "openai", "model": "scripted",
                       "baseUrl": stand.model.base_url(), "apiKeyName": "CANARY" });
    let changed = host.ask("PUT", &format!("/api/v1/models/{id}"), Some(&body));
    assert_eq!(changed.status, 200, "{}", changed.text());
    let chat = session(&host, &stand.agent);
    let done = until(&host, &send(&host, &chat, "work"), &["done", "failed"]);
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(stand.model.keys().last().map(String::as_str), Some(KEY), "the model got it");
    let failed = until(&host, &send(&host, &chat, "refuse"), &["done", "failed"]);
    assert_eq!((&failed["state"], &failed["error"]["code"]), (&json!("failed"), &json!("permission")));
    for run in [&done, &failed] {
        let id = run["id"].as_str().unwrap();
        for format in ["jsonl", "otlp", "chatosrun"] {
            let export = host.ask("GET", &format!("/api/v1/runs/{id}/export?format={format}"), None);
            assert_eq!(export.status, 200);
            assert!(!contains(&export.body, KEY), "{format} of {id} has the key");
        }
        assert!(!run.to_string().contains(KEY), "{run}");
    }
    assert!(!stand.metas("meta").iter().any(|meta| meta.to_string().contains(KEY)));
    for dir in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(dir.path().join("environ")).unwrap_or_default();
        assert!(!contains(&environment, KEY), "a process has the key: {}", dir.path().display());
    }
    host.stop();
    let mut found = Vec::new();
    look(stand.sandbox.state(), KEY, &mut found);
    assert_eq!(found, Vec::<std::path::PathBuf>::new());
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

pub(crate) fn look(dir: &std::path::Path, text: &str, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            look(&path, text, found);
        } else if path.is_file() && contains(&std::fs::read(&path).unwrap(), text) {
            found.push(path);
        }
    }
}
