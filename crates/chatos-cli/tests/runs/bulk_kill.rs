//! The host is killed in the middle of one decision that approves what many runs want to do: nothing is done twice, no
//! approval is used twice, and what was not approved by then is still asked, once (inbox §1.2, §3.3).

use std::collections::BTreeMap;

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, send, until};

/// How many runs ask at once.
const COUNT: usize = 16;

fn post(host: &RunningHost, path: &str, body: &Value) -> Value {
    let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
    assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

fn open(host: &RunningHost) -> Vec<Value> {
    let list = host.ask("GET", "/api/v1/prompts?view=needs_you&limit=200", None).json();
    list["items"].as_array().unwrap().clone()
}

/// What approves all open questions that decide this, as they are now.
fn order(host: &RunningHost, kind: &str) -> Value {
    let select = json!({ "filter": { "kind": kind } });
    let seen = post(host, "prompts/bulk/preview", &json!({ "select": select, "action": "approve" }));
    assert_eq!(seen["excluded"], json!([]), "{seen}");
    json!({ "select": select, "action": "approve", "digest": seen["digest"] })
}

/// Approves what is open as one, kills the host as soon as `begun` says so, goes on with another one, and approves the
/// rest. Gives the effects that nobody could tell the end of; the person says that they were done.
fn killed_while_approving(
    stand: &Stand,
    agent: &str,
    kind: &str,
    names: &[String],
    begun: impl Fn() -> usize,
    killed_after: usize,
) -> usize {
    let host = stand.sandbox.serve();
    let mut runs = BTreeMap::new();
    for name in names {
        let made = json!({ "agentId": agent, "workspaceRoot": stand.sandbox.root() });
        let chat = post(&host, "sessions", &made)["id"].as_str().unwrap().to_owned();
        runs.insert(name.clone(), send(&host, &chat, name));
    }
    eventually("all of them ask", || (open(&host).len() == COUNT).then_some(()));
    let order_now = order(&host, kind);
    let mut wire = host.connect();
    let token = host.token.clone();
    // The host dies under this request.
    let answering =
        std::thread::spawn(move || drop(wire.ask(&token, "POST", "/api/v1/prompts/bulk", Some(&order_now))));
    eventually("some of it is done", || (begun() >= killed_after).then_some(()));
    host.kill();
    answering.join().unwrap();

    let host = stand.sandbox.serve();
    for run in runs.values() {
        let now = until(&host, run, &["interrupted", "done"]);
        if now["state"] == "interrupted" {
            assert_eq!(host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({}))).status, 202);
        }
    }
    let (mut unsure, mut asked_again) = (0, 0);
    eventually("every run is over", || {
        for item in open(&host) {
            let id = item["requestId"].as_str().unwrap();
            // Begun when the host died: it may have been done, and only a person can know.
            if item["effect"] == "uncertain" {
                unsure += 1;
                let answer =
                    json!({ "response": { "status": "ok", "selection": "worked" }, "shown": item["shown"] });
                post(&host, &format!("prompts/{id}/response"), &answer);
            } else if asked_again == 0 {
                asked_again =
                    post(&host, "prompts/bulk", &order(&host, kind))["done"].as_array().unwrap().len();
            }
        }
        let over =
            |run: &String| host.ask("GET", &format!("/api/v1/runs/{run}"), None).json()["state"] == "done";
        runs.values().all(over).then_some(())
    });
    host.stop();
    // Each asked once, whoever answered it and when; beside it only what nobody could know.
    let asked = stand.lines("ui-prompts.jsonl").into_iter().filter(|line| line["action"] == "request");
    let asked = asked.filter(|line| runs.values().any(|run| line["runId"] == run.as_str()));
    assert_eq!(asked.count(), COUNT + unsure);
    unsure
}

#[test]
fn a_host_killed_while_much_is_approved_does_nothing_twice_and_asks_nothing_twice() {
    let stand = Stand::asking("count", |request| {
        let (role, text) = last(request);
        let tool = if text.starts_with("file") { "write_file" } else { "count" };
        match (role.as_str(), offered(request, tool)) {
            ("tool", _) => Script::say("done"),
            (_, Some(name)) if tool == "count" => {
                Script::call(format!("c-{text}"), name, &json!({ "key": text }))
            }
            (_, Some(name)) => {
                let arguments = json!({ "path": text, "contents": "one line\n", "mode": "append" });
                Script::call(format!("c-{text}"), name, &arguments)
            }
            _ => Script::say("no tool"),
        }
    });
    let host = stand.sandbox.serve();
    let set = host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({ "value": true })));
    assert!(set.status < 300, "{}", set.text());
    let servers = host.ask("GET", "/api/v1/mcp-servers", None).json();
    let of = |name: &str| {
        let found = servers["items"].as_array().unwrap().iter().find(|server| server["name"] == name);
        found.unwrap()["id"].clone()
    };
    let main = json!([
        { "id": of("code_writer") }, { "id": of("counter"), "tools": { "ask": ["count"] } },
    ]);
    let land = post(
        &host,
        "land-configs",
        &json!({ "name": "both", "main": { "mcpServers": main }, "sub": { "mcpServers": [] } }),
    );
    let agent = post(&host, "agents", &json!({ "name": "both", "mode": "flow", "landConfigId": land["id"] }));
    let agent = agent["id"].as_str().unwrap().to_owned();
    host.stop();

    for killed_after in [1, COUNT / 2] {
        let root = stand.sandbox.root();
        let files: Vec<String> = (0..COUNT).map(|n| format!("file-{killed_after}-{n}")).collect();
        let there = || files.iter().filter(|file| root.join(file).exists()).count();
        let unsure = killed_while_approving(&stand, &agent, "file_change", &files, there, killed_after);
        let written: Vec<String> =
            files.iter().filter_map(|file| std::fs::read_to_string(root.join(file)).ok()).collect();
        assert!(
            written.iter().all(|text| text == "one line\n"),
            "one of them was written twice: {written:?}"
        );
        assert!(written.len() >= COUNT - unsure, "{} of {COUNT}, {unsure} unsure", written.len());

        let keys: Vec<String> = (0..COUNT).map(|n| format!("call-{killed_after}-{n}")).collect();
        let called = || keys.iter().filter(|key| stand.counted(key) > 0).count();
        let unsure = killed_while_approving(&stand, &agent, "tool_approval", &keys, called, killed_after);
        let counts: Vec<usize> = keys.iter().map(|key| stand.counted(key)).collect();
        assert!(counts.iter().all(|count| *count <= 1), "one of them was called twice: {counts:?}");
        assert!(counts.iter().sum::<usize>() >= COUNT - unsure, "{counts:?}, {unsure} unsure");
    }
    for log in std::fs::read_dir(stand.sandbox.state().join("audit")).unwrap() {
        let audit = std::fs::read_to_string(log.unwrap().path()).unwrap();
        assert!(!audit.contains("approval_reused"), "{audit}");
    }
}
