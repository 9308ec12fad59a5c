//! A chat with a tool, its messages, steps, trace, tokens and exports; stopping, queueing, correcting.

use std::time::{Duration, Instant};

use chatos_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

/// Calls the tool a message names, then says what it got.
fn obedient(request: &Value) -> Script {
    let (role, text) = last(request);
    if role == "tool" {
        return Script::say(format!("got: {text}"));
    }
    match text.split_once(' ') {
        Some((tool, key)) if offered(request, tool).is_some() => {
            let name = offered(request, tool).unwrap();
            Script::call(format!("call-{key}"), name, &json!({ "key": key }))
        }
        _ => Script::say(format!("you said {text}")),
    }
}

#[test]
fn a_chat_calls_a_tool_and_everything_is_written_down() {
    let stand = Stand::new(obedient);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "meta one");
    let run = until(&host, &run, &["done", "failed"]);
    assert_eq!(run["state"], "done", "{run}");
    assert_eq!(stand.counted("one"), 1);
    let said = messages(&host, &chat);
    let roles: Vec<&str> = said.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(said[1]["toolCalls"][0]["tool"], "meta");
    assert_eq!(said[2]["status"], "ok");
    assert!(said[3]["content"].as_str().unwrap().starts_with("got: "), "{}", said[3]);
    let kinds: Vec<&str> =
        run["steps"].as_array().unwrap().iter().map(|step| step["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["model", "tool", "model"]);

    // agents §12: the same nine fields in `_meta`, the journal's trace and the record of events.
    let text = said[2]["content"].as_str().unwrap();
    let meta: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let trace_id = run["traceId"].as_str().unwrap();
    let trace = host.ask("GET", &format!("/api/v1/traces/{trace_id}"), None).json();
    let spans = trace["spans"].as_array().unwrap();
    let tool = spans.iter().find(|span| span["kind"] == "tool").unwrap();
    assert_eq!(meta["chatos"]["trace"], tool["trace"], "{meta}");
    assert_eq!(meta["traceparent"], json!(format!("00-{trace_id}-{}-01", tool["spanId"].as_str().unwrap())));
    assert_eq!(tool["parentSpanId"], run["spanId"]);
    let record = std::fs::read_to_string(stand.sandbox.state().join("events.jsonl")).unwrap();
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let finished = lines.iter().find(|line| line["type"] == "tool_finished").unwrap();
    assert_eq!(finished["payload"]["trace"], tool["trace"]);
    assert!(lines.iter().all(|line| line["type"] != "tool_call" && line["type"] != "tool_result"));
    let log = std::fs::read_to_string(stand.sandbox.state().join("tool-log.jsonl")).unwrap();
    let logged = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let logged: Vec<Value> =
        logged.filter(|line| line.to_string().contains(tool["spanId"].as_str().unwrap())).collect();
    assert!(!logged.is_empty(), "the tool log knows the span");

    let used = host.ask("GET", "/api/v1/usage?by=model", None).json();
    assert_eq!(used["items"][0]["calls"], 2, "{used}");
    assert_eq!(used["items"][0].get("cost"), None);
    let id = run["id"].as_str().unwrap();
    let otlp = host.ask("GET", &format!("/api/v1/runs/{id}/export?format=otlp"), None).json();
    let exported = otlp["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
    let roots: Vec<&Value> = exported.iter().filter(|span| span["parentSpanId"] == "").collect();
    assert_eq!((exported.len(), roots.len()), (4, 1));
    let zip = host.ask("GET", &format!("/api/v1/runs/{id}/export?format=chatosrun"), None);
    assert!(zip.body.starts_with(b"PK\x03\x04"));
    // Another install shows it, read-only and without the host it came from.
    let other = chatos_testkit::Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let file = other.root().join("run.chatosrun");
    std::fs::write(&file, &zip.body).unwrap();
    let file = file.to_str().unwrap();
    let shown = other.run(&["runs", "show", file, "--json"]).json();
    assert_eq!((&shown["id"], &shown["traceId"]), (&run["id"], &run["traceId"]), "{shown}");
    let replayed = other.run(&["runs", "replay", file]);
    assert!(replayed.status == 0 && replayed.stdout.lines().count() >= 8, "{replayed:?}");
    let traced = other.run(&["trace", "show", file]);
    assert!(traced.status == 0 && traced.stdout.contains("meta"), "{traced:?}");
    let lines = host.ask("GET", &format!("/api/v1/runs/{id}/export?format=jsonl"), None).text();
    assert!(lines.lines().count() >= 8, "{lines}");
    let wrong = host.ask("GET", &format!("/api/v1/runs/{id}/export?format=x"), None);
    assert_eq!(wrong.status, 422);

    // A branch ends where it was cut, and goes on by itself.
    let step = run["steps"][1]["seq"].as_i64().unwrap();
    let branch = host.ask("POST", &format!("/api/v1/runs/{id}/branch"), Some(&json!({ "step": step })));
    assert_eq!(branch.status, 201, "{}", branch.text());
    let branch = branch.json()["id"].as_str().unwrap().to_owned();
    assert!(messages(&host, &branch).len() >= 2);
    let again = send(&host, &branch, "hello");
    assert_eq!(until(&host, &again, &["done", "failed"])["state"], "done");
}

#[test]
fn a_stopped_run_is_over_within_two_seconds_whatever_its_tool_does() {
    let stand = Stand::new(obedient);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "slow two");
    let began = Instant::now();
    while stand.counted("two") == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "the tool was not called");
        std::thread::sleep(Duration::from_millis(10));
    }
    let stopped = host.ask("POST", &format!("/api/v1/sessions/{chat}/abort"), Some(&json!({})));
    assert_eq!(stopped.status, 200);
    let end = until(&host, &run, &["aborted", "done", "failed"]);
    assert_eq!(end["state"], "aborted");
    let said = messages(&host, &chat);
    let result = said.iter().find(|message| message["role"] == "tool").unwrap();
    assert_eq!(result["status"], "canceled");
    let next = send(&host, &chat, "hello");
    assert_eq!(until(&host, &next, &["done", "failed"])["state"], "done");
}

#[test]
fn a_second_message_waits_replaces_or_corrects() {
    let stand = Stand::new(|request| {
        let (_, text) = last(request);
        if text.contains("long") {
            let pieces = (0..400).map(|number| format!("{number} ")).collect();
            return Script::Slow { pieces, pause: Duration::from_millis(50) };
        }
        Script::say(format!("you said {text}"))
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let first = send(&host, &chat, "long one");
    let path = format!("/api/v1/sessions/{chat}/send");
    let queued = host.ask("POST", &path, Some(&json!({ "text": "second" }))).json();
    assert_eq!(queued["queued"], true);
    // A correction reaches the run under way at once.
    let began = Instant::now();
    while messages(&host, &chat).iter().all(|message| message["role"] != "assistant") {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    let steered = host.ask("POST", &path, Some(&json!({ "text": "be brief", "mode": "steer" })));
    assert_eq!(steered.status, 202, "{}", steered.text());
    let done = until(&host, &first, &["done", "failed"]);
    assert_eq!(done["state"], "done");
    let second = until(&host, queued["runId"].as_str().unwrap(), &["done", "failed"]);
    assert_eq!(second["state"], "done");
    let said = messages(&host, &chat);
    assert!(said.iter().any(|message| message["kind"] == "correction"));
    assert!(said.iter().any(|message| message["content"] == "you said be brief"), "{said:?}");
    assert!(said.iter().any(|message| message["content"] == "you said second"));
    let late = host.ask("POST", &format!("/api/v1/runs/{first}/steer"), Some(&json!({ "text": "x" })));
    assert_eq!(late.status, 409);

    let long = send(&host, &chat, "long two");
    let replaced = host.ask("POST", &path, Some(&json!({ "text": "third", "mode": "replace" })));
    assert_eq!(replaced.status, 202);
    assert_eq!(until(&host, &long, &["aborted", "done"])["state"], "aborted");
    let third = replaced.json()["runId"].as_str().unwrap().to_owned();
    assert_eq!(until(&host, &third, &["done", "failed"])["state"], "done");
}

/// A run that cannot begin makes room for the next one only when its own end is written.
#[test]
fn messages_whose_runs_cannot_begin_end_once_each_and_hold_up_nobody() {
    let stand = Stand::new(|_| {
        let pieces = (0..4_000).map(|number| format!("{number} ")).collect();
        Script::Slow { pieces, pause: Duration::from_millis(50) }
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let first = send(&host, &chat, "long");
    let waiting: Vec<String> =
        (0..5).map(|number| send(&host, &chat, &format!("message {number}"))).collect();
    let models = host.ask("GET", "/api/v1/models", None).json();
    let scripted =
        models["items"].as_array().unwrap().iter().find(|model| model["name"] == "scripted").unwrap();
    let gone = host.ask("DELETE", &format!("/api/v1/models/{}", scripted["id"].as_str().unwrap()), None);
    assert_eq!(gone.status, 200, "{}", gone.text());
    host.ask("POST", &format!("/api/v1/sessions/{chat}/abort"), Some(&json!({})));
    assert_eq!(until(&host, &first, &["aborted", "done", "failed"])["state"], "aborted");
    for run in &waiting {
        assert_eq!(until(&host, run, &["done", "failed", "aborted"])["state"], "failed");
    }
    let said = messages(&host, &chat);
    for run in &waiting {
        let reasons = said.iter().filter(|said| said["kind"] == "notice" && said["runId"] == json!(run));
        assert_eq!(reasons.count(), 1, "{run}: {said:#?}");
    }
}

#[test]
fn bad_messages_are_refused_with_a_reason() {
    let stand = Stand::new(obedient);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let path = format!("/api/v1/sessions/{chat}/send");
    for (body, status) in [
        (json!({ "text": "  " }), 422),
        (json!({ "text": "x", "agentId": "nobody" }), 404),
        (json!({ "text": "x", "modelId": "none" }), 404),
        (json!({ "text": "x", "attachments": [{ "mime": "image/png", "data": "AAAA" }] }), 422),
        (json!({ "text": "x", "attachments": [{ "mime": "text/plain" }] }), 422),
        (json!({ "text": 7 }), 400),
        (json!({ "text": "x", "mode": "shout" }), 400),
    ] {
        let answer = host.ask("POST", &path, Some(&body));
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
    }
    assert_eq!(host.ask("POST", "/api/v1/sessions/none/send", Some(&json!({ "text": "x" }))).status, 404);
    assert_eq!(host.ask("GET", "/api/v1/runs/none", None).status, 404);
    assert_eq!(host.ask("GET", "/api/v1/traces/none", None).status, 404);
    assert_eq!(host.ask("POST", "/api/v1/runs/none/resume", Some(&json!({}))).status, 404);
    assert_eq!(host.ask("GET", "/api/v1/usage?by=moon", None).status, 422);
    assert!(messages(&host, &chat).is_empty(), "nothing refused was kept");
    let gone = host.ask("DELETE", &format!("/api/v1/sessions/{chat}"), None);
    assert_eq!(gone.status, 200);
    assert_eq!(host.ask("GET", &format!("/api/v1/sessions/{chat}"), None).status, 404);
}

#[test]
fn the_terminal_chats_with_the_same_agents() {
    let stand = Stand::new(obedient);
    let said = stand.sandbox.run(&["chat", "--agent", &stand.agent, "-p", "count three"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("got: "), "{said:?}");
    assert_eq!(stand.counted("three"), 1);
    let runs = stand.sandbox.run(&["runs", "list", "--json"]).json();
    let id = runs["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(runs["items"][0]["state"], "done");
    let shown = stand.sandbox.run(&["trace", "show", &id]);
    assert!(shown.stdout.contains("count"), "{shown:?}");
    let used = stand.sandbox.run(&["usage", "--json"]).json();
    assert_eq!(used["items"][0]["calls"], 2);
    let events = stand.sandbox.run(&["chat", "--agent", &stand.agent, "-p", "hello", "--json"]);
    let lines: Vec<Value> = events.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ends = lines.iter().filter(|event| {
        matches!(event["type"].as_str(), Some("assistant_done" | "assistant_error" | "assistant_aborted"))
    });
    assert_eq!(ends.count(), 1);
    assert!(lines.iter().all(|event| event["seq"].is_u64() && event["sessionId"].is_string()));
}

/// A page that heard no answer sends the message once more, perhaps from two tabs and after a restart of the host.
#[test]
fn a_message_sent_again_with_its_id_is_kept_once() {
    let stand = Stand::new(obedient);
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let path = format!("/api/v1/sessions/{chat}/send");
    let id = "01890000-0000-7000-8000-000000000001";
    let order = json!({ "text": "hello", "clientMessageId": id });
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let asks: Vec<_> = (0..4).map(|_| scope.spawn(|| host.ask("POST", &path, Some(&order)))).collect();
        asks.into_iter()
            .map(|ask| ask.join().unwrap())
            .map(|sent| (assert_eq!(sent.status, 202, "{}", sent.text()), sent.json()).1)
            .collect()
    });
    let run = answers[0]["runId"].as_str().unwrap().to_owned();
    assert!(answers.iter().all(|sent| sent["runId"] == run && sent["userMessageId"] == id), "{answers:?}");
    assert!(answers.iter().all(|sent| sent["assistantMessageId"] == answers[0]["assistantMessageId"]));
    until(&host, &run, &["done"]);
    drop(host);
    let host = stand.sandbox.serve();
    let late = host.ask("POST", &path, Some(&order)).json();
    assert_eq!((&late["runId"], &late["queued"]), (&json!(run), &json!(false)));
    let said = messages(&host, &chat);
    let texts: Vec<&str> = said.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["hello", "you said hello"]);

    // The id of something else, or no id at all, is refused before anything is kept.
    let other = session(&host, &stand.agent);
    let taken = host.ask("POST", &format!("/api/v1/sessions/{other}/send"), Some(&order));
    assert_eq!(taken.status, 409, "{}", taken.text());
    let odd = host.ask("POST", &path, Some(&json!({ "text": "x", "clientMessageId": "m1" })));
    assert_eq!((odd.status, odd.text().contains("/clientMessageId")), (422, true), "{}", odd.text());
    assert_eq!(messages(&host, &chat).len(), 2);
}
