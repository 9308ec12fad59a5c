//! Pictures that tools return (working-day §7): they reach models that see over every protocol, are the same after a
//! kill, and stay where they were while a chat goes on.

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::kill::answer_all;
use crate::support::{Stand, messages, offered, send, session, until};

/// A stand whose model calls `count` with these keys, one a pass, and then says done.
fn stand(keys: &'static [&'static str]) -> Stand {
    Stand::new(move |request| {
        let said = request["messages"].as_array().unwrap();
        let results = said.iter().filter(|message| message["role"] == "tool").count();
        match (keys.get(results), offered(request, "count")) {
            (Some(key), Some(name)) => Script::call(format!("call-{results}"), name, &json!({ "key": key })),
            _ => Script::say("done"),
        }
    })
}

/// Changes the one model of a stand.
fn change_model(host: &RunningHost, change: &Value) {
    let models = host.ask("GET", "/api/v1/models", None).json();
    let own = models["items"].as_array().unwrap().iter().find(|model| model["name"] == "scripted").unwrap();
    let path = format!("/api/v1/models/{}", own["id"].as_str().unwrap());
    let changed = host.ask("PUT", &path, Some(change));
    assert!(changed.status < 300, "{}", changed.text());
}

/// The addresses of all pictures of a request in OpenAI's shape, oldest first.
fn pictures(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap();
    let parts = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    parts.filter_map(|part| part["image_url"]["url"].as_str().map(str::to_owned)).collect()
}

fn results(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap().iter();
    let tools = messages.filter(|message| message["role"] == "tool");
    tools.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_picture_reaches_the_model_and_is_the_same_after_a_kill() {
    let stand = stand(&["picture-2-40x30", "plain", "picture-1-2600x20", "drawing"]);
    let mut host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "look");
    // Somewhere on its way; where exactly does not matter.
    eventually("a request with a picture", || {
        stand.model.requests().iter().find(|one| !pictures(one).is_empty()).map(drop)
    });
    host.kill();
    host = stand.sandbox.serve();
    eventually("the run after the kill", || {
        match host.ask("GET", &format!("/api/v1/runs/{run}"), None).json()["state"].as_str().unwrap() {
            "done" => Some(()),
            "interrupted" => {
                host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
                None
            }
            "waiting_prompt" => {
                drop(answer_all(&host, |_| "again"));
                None
            }
            "failed" => panic!("the run failed"),
            _ => None,
        }
    });
    let next = send(&host, &chat, "and now?");
    until(&host, &next, &["done"]);
    let requests = stand.model.requests();
    // Each request begins with the one before: no picture comes or goes in what was said.
    for pair in requests.windows(2) {
        let (before, after) =
            (pair[0]["messages"].as_array().unwrap(), pair[1]["messages"].as_array().unwrap());
        assert!(after.starts_with(before), "a new beginning:\n{before:#?}\n{after:#?}");
    }
    let last = requests.last().unwrap();
    let said = results(last);
    assert!(
        said[0].ends_with("[image image/png, 40×30, 1 KB]\n[picture 1 of call call-0 follows]\n[picture 2 of call call-0 follows]"),
        "{}",
        said[0]
    );
    assert_eq!(said[1], "counted plain");
    assert!(said[2].contains("[image image/png, 2000×15, 1 KB]"), "{}", said[2]);
    assert!(said[3].ends_with("[image image/svg+xml: not shown, only PNG, JPEG, GIF and WebP are shown]"));
    let seen = pictures(last);
    assert_eq!(seen.len(), 3);
    assert!(seen[0] != seen[1] && seen.iter().all(|url| url.starts_with("data:image/png;base64,iVBOR")));
    // They follow the results of their pass, in a message that says whose they are.
    let all = last["messages"].as_array().unwrap();
    let at = all.iter().position(|message| message["role"] == "tool").unwrap();
    assert_eq!(all[at + 1]["role"], "user");
    assert_eq!(all[at + 1]["content"][0]["text"], "Pictures returned by the tools above:");
    // The person sees what the model sees.
    let shown = messages(&host, &chat);
    let first = shown.iter().find(|message| message["role"] == "tool").unwrap();
    assert_eq!(first["attachments"].as_array().unwrap().len(), 2);
    let file = host.ask("GET", first["attachments"][0]["url"].as_str().unwrap(), None);
    assert_eq!(file.status, 200);
    assert!(file.body.starts_with(b"\x89PNG") && !file.body.windows(7).any(|part| part == b"at home"));
    host.stop();
}

#[test]
fn a_request_has_at_most_twenty_and_a_result_four() {
    let stand = stand(&["picture-6-8x8"; 7]);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "look");
    until(&host, &run, &["done"]);
    let requests = stand.model.requests();
    let counts: Vec<usize> = requests.iter().map(|request| pictures(request).len()).collect();
    assert_eq!(counts, [0, 4, 8, 12, 16, 20, 14, 18]);
    let said = results(requests.last().unwrap());
    assert_eq!(said[6].matches("left out, a result shows at most 4 pictures").count(), 2);
    assert_eq!(said.iter().map(|text| text.matches("[a picture was left out]").count()).sum::<usize>(), 10);
    host.stop();
}

#[test]
fn a_model_that_cannot_see_reads_what_there_was_and_the_person_is_told_once() {
    let stand = stand(&["picture-1-40x30", "picture-1-40x30"]);
    let host = stand.sandbox.serve();
    change_model(&host, &json!({ "supportsVision": false }));
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "look");
    until(&host, &run, &["done"]);
    let requests = stand.model.requests();
    let last = requests.last().unwrap();
    assert_eq!(pictures(last).len(), 0);
    for text in results(last) {
        assert!(
            text.contains("[image image/png, 40×30, 1 KB: this model cannot see pictures; blob "),
            "{text}"
        );
    }
    let told = stand.lines("events.jsonl");
    let told: Vec<&Value> = told.iter().filter(|line| line.to_string().contains("no_vision")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    // The next model of this chat sees what this one did not.
    change_model(&host, &json!({ "supportsVision": true }));
    let next = send(&host, &chat, "and now?");
    until(&host, &next, &["done"]);
    assert_eq!(pictures(stand.model.requests().last().unwrap()).len(), 2);
    host.stop();
}

/// A stand that speaks another vendor's protocol: the first request calls the tool, the second ends.
fn other_vendor(provider: &'static str) -> (Stand, Value) {
    let stand = Stand::new(move |request| {
        let called =
            request.to_string().contains("call-x") || request.to_string().contains("functionResponse");
        let name = match provider {
            "anthropic" => request.pointer("/tools").and_then(Value::as_array).map(|tools| names(tools)),
            _ => request
                .pointer("/tools/0/functionDeclarations")
                .and_then(Value::as_array)
                .map(|tools| names(tools)),
        };
        let name = name.unwrap_or_default().into_iter().find(|name| name.ends_with("_count"));
        let arguments = json!({ "key": "picture-1-40x30" });
        let lines = match (provider, name.filter(|_| !called)) {
            ("anthropic", Some(name)) => vec![
                json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
                json!({ "type": "content_block_start", "index": 0,
                        "content_block": { "type": "tool_use", "id": "call-x", "name": name, "input": {} } }),
                json!({ "type": "content_block_delta", "index": 0,
                        "delta": { "type": "input_json_delta", "partial_json": arguments.to_string() } }),
                json!({ "type": "content_block_stop", "index": 0 }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 5 } }),
                json!({ "type": "message_stop" }),
            ],
            ("anthropic", None) => vec![
                json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
                json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "done" } }),
                json!({ "type": "content_block_stop", "index": 0 }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 5 } }),
                json!({ "type": "message_stop" }),
            ],
            (_, name) => {
                let part = match name {
                    Some(name) => json!({ "functionCall": { "name": name, "args": arguments } }),
                    None => json!({ "text": "done" }),
                };
                vec![json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }],
                             "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": 5 } })]
            }
        };
        Script::Raw { body: lines.iter().map(|line| format!("data: {line}\n\n")).collect() }
    });
    let host = stand.sandbox.serve();
    change_model(&host, &json!({ "provider": provider, "supportsVision": true }));
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "look");
    until(&host, &run, &["done"]);
    let last = stand.model.requests().pop().unwrap();
    host.stop();
    (stand, last)
}

fn names(tools: &[Value]) -> Vec<String> {
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn anthropic_gets_the_picture_inside_the_result() {
    let (_stand, request) = other_vendor("anthropic");
    let result = &request["messages"][2]["content"][0];
    assert_eq!(result["type"], "tool_result", "{request:#}");
    assert_eq!(result["content"][0]["text"], "counted picture-1-40x30\n[image image/png, 40×30, 1 KB]");
    assert_eq!(result["content"][1]["source"]["media_type"], "image/png");
    assert!(result["content"][1]["source"]["data"].as_str().unwrap().starts_with("iVBOR"));
}

#[test]
fn gemini_gets_the_picture_behind_the_result() {
    let (_stand, request) = other_vendor("gemini");
    let parts = &request["contents"][2]["parts"];
    assert!(
        parts[0]["functionResponse"]["response"]["result"].as_str().unwrap().contains("40×30"),
        "{request:#}"
    );
    assert_eq!(parts[1]["inlineData"]["mimeType"], "image/png");
}
