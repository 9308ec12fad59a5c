//! Seed 003 end to end: a plugin whose server acknowledges, a separate process that appends the result,
//! and a host that is killed in between (ai-contributions §11, issue "AsyncTask").

use chatos_testkit::{RunningHost, Script};
use serde_json::{Value, json};

use crate::plugin::Plugged;
use crate::support::{last, messages, offered, send, session, until};

/// Calls the tool its first word names, then says what it got.
fn obedient(request: &Value) -> Script {
    let (role, text) = last(request);
    if role == "tool" {
        return Script::say(format!("got: {text}"));
    }
    match text.split_once(' ').and_then(|(tool, key)| Some((offered(request, tool)?, key))) {
        Some((name, key)) => Script::call(format!("call-{key}"), name, &json!({ "key": key })),
        None => Script::say("no tool"),
    }
}

fn stand() -> Plugged {
    // Word for word the configuration of seed 003 §1, with a second tool.
    let mcp = json!({ "callMeta": { "asyncTask": {
        "tools": ["codex_app_window_run", "own_id_run"], "taskIdKey": "taskId", "resultSource": "ui_prompts",
        "uiPromptFile": "ui-prompts.jsonl", "pollIntervalMs": 1000,
    } } });
    let app = json!({ "pluginId": "com.example.tools", "appId": "window" });
    let land = json!({ "name": "window", "main": { "apps": [app] }, "sub": {} });
    Plugged::new(&mcp, &land, obedient)
}

/// The run ends well, and its tool said this.
fn finished(host: &RunningHost, chat: &str, run: &str, text: &str) {
    let run = until(host, run, &["done", "failed"]);
    assert_eq!(run["state"], "done", "{run}");
    let said = messages(host, chat);
    let tool = said.iter().rev().find(|message| message["role"] == "tool").unwrap();
    assert_eq!((&tool["status"], &tool["content"]), (&json!("ok"), &json!(text)), "{tool}");
    assert_eq!(said.last().unwrap()["content"], format!("got: {text}"));
}

fn resume(host: &RunningHost, run: &str) {
    until(host, run, &["interrupted"]);
    let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    assert_eq!(resumed.status, 202, "{}", resumed.text());
}

/// The database, beside the host.
#[expect(clippy::disallowed_methods, reason = "looks at what the host wrote, beside the host")]
fn database(stand: &Plugged) -> rusqlite::Connection {
    rusqlite::Connection::open(stand.sandbox.state().join("state.db")).unwrap()
}

/// The row of a wait, as it is on the disk.
fn wait_state(stand: &Plugged, id: &str) -> String {
    let database = database(stand);
    database.query_row("SELECT state FROM async_tasks WHERE task_id = ?1", [id], |row| row.get(0)).unwrap()
}

#[test]
fn a_result_of_another_process_ends_the_call_and_a_killed_host_gets_it_too() {
    let stand = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "codex_app_window_run plain");
    until(&host, &run, &["waiting_async"]);
    let received = stand.received();
    let id = received[0]["_meta"]["taskId"].as_str().unwrap().to_owned();
    assert_eq!((&received[0]["_meta"]["stream"], id.starts_with("task_")), (&json!(false), true));
    // host-api §3: the app stays mounted while its task runs.
    let needed = |host: &RunningHost| host.ask("GET", "/api/v1/apps/needed", None).json()["items"].clone();
    let now = needed(&host);
    assert_eq!((&now[0]["pluginId"], &now[0]["appId"]), (&json!("com.example.tools"), &json!("window")));
    assert_eq!(now[0]["callIds"].as_array().map(Vec::len), Some(1), "{now}");
    stand.append_result(&id, "final output 结果");
    finished(&host, &chat, &run, "final output 结果");
    assert_eq!(needed(&host), json!([]));
    let began = std::time::Instant::now();
    loop {
        // The line that takes the entry off the list is written beside the answer.
        let history = host.ask("GET", "/api/v1/prompts?view=history", None).json();
        if history["items"][0]["requestId"] == json!(id) {
            break;
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "left open: {history}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }

    // The host is killed between ACK and result. Whenever the result comes, the run gets it, and the
    // server is not asked again: while no host runs; after the start; after it was continued.
    let mut host = host;
    for (case, tool) in [
        ("while-down", "codex_app_window_run"),
        ("while-up", "codex_app_window_run"),
        ("continued", "codex_app_window_run"),
        ("own-minted", "own_id_run"),
    ] {
        let calls = stand.received().len();
        let chat = session(&host, &stand.agent);
        let run = send(&host, &chat, &format!("{tool} {case}"));
        until(&host, &run, &["waiting_async"]);
        let id = stand.received()[calls]["_meta"]["taskId"].as_str().unwrap().to_owned();
        let written = if tool == "own_id_run" { format!("own-{case}") } else { id.clone() };
        host.kill();
        if case == "while-down" {
            stand.append_result(&written, case);
        }
        host = stand.sandbox.serve();
        until(&host, &run, &["interrupted"]);
        assert_eq!(wait_state(&stand, &id), "interrupted");
        if case == "while-up" {
            stand.append_result(&format!("mcp-task:{written}"), case);
        }
        resume(&host, &run);
        if matches!(case, "continued" | "own-minted") {
            until(&host, &run, &["waiting_async", "running"]);
            stand.append_result(&written, case);
        }
        finished(&host, &chat, &run, case);
        assert_eq!(stand.received().len(), calls + 1, "{case}: the server was asked once");
    }
    // Continued, killed again, continued again.
    let calls = stand.received().len();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "codex_app_window_run twice");
    until(&host, &run, &["waiting_async"]);
    host.kill();
    let host = stand.sandbox.serve();
    resume(&host, &run);
    host.kill();
    let id = stand.received()[calls]["_meta"]["taskId"].as_str().unwrap().to_owned();
    stand.append_result(&id, "twice");
    let host = stand.sandbox.serve();
    resume(&host, &run);
    finished(&host, &chat, &run, "twice");
    assert_eq!(stand.received().len(), calls + 1);
    assert_eq!(host.stop().code(), Some(0));
}

#[test]
fn a_continued_wait_ends_when_the_first_one_would_have() {
    let stand = stand();
    let mut host = stand.sandbox.serve();
    for came in [false, true] {
        let calls = stand.received().len();
        let chat = session(&host, &stand.agent);
        let run = send(&host, &chat, &format!("codex_app_window_run {came}"));
        until(&host, &run, &["waiting_async"]);
        let id = stand.received()[calls]["_meta"]["taskId"].as_str().unwrap().to_owned();
        host.kill();
        // As if the two hours of the declaration had passed without a host.
        let past =
            "UPDATE async_tasks SET created_at = created_at - 7200000, deadline_at = deadline_at - 7200000
            WHERE task_id = ?1";
        assert_eq!(database(&stand).execute(past, [&id]).unwrap(), 1);
        if came {
            stand.append_result(&id, "late and welcome");
        }
        host = stand.sandbox.serve();
        resume(&host, &run);
        if came {
            finished(&host, &chat, &run, "late and welcome");
        } else {
            until(&host, &run, &["done", "failed"]);
            let said = messages(&host, &chat);
            let tool = said.iter().rev().find(|message| message["role"] == "tool").unwrap();
            let text = tool["content"].as_str().unwrap();
            assert!(text.contains("No result") && text.contains("2 h"), "{tool}");
            // The row is brought up to date beside the answer.
            chatos_testkit::eventually("it is over", || (wait_state(&stand, &id) == "timeout").then_some(()));
        }
    }
    assert_eq!(host.stop().code(), Some(0));
}
