//! The host is killed while a person is asked, the answer is given in a terminal with no host, and the run
//! is continued: the answer is used, nothing is asked again, and what was allowed happens once
//! (agents §8, security T24).

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, until};

/// `code_writer`.
const WRITER: &str = "code_writer";

/// The question that is open, as soon as the queue has it.
fn open_question(host: &RunningHost) -> String {
    eventually("the question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"][0]["requestId"].as_str().map(str::to_owned)
    })
}

/// Kills the host at its question, answers without one, continues. Gives the host and what the log asked.
fn answered_away(
    stand: &Stand,
    agent: &str,
    text: &str,
    answer: &[&str],
) -> (RunningHost, String, Vec<String>) {
    let host = stand.sandbox.serve();
    let made = json!({ "agentId": agent, "workspaceRoot": stand.sandbox.root() });
    let made = host.ask("POST", "/api/v1/sessions", Some(&made));
    assert_eq!(made.status, 201, "{}", made.text());
    let chat = made.json()["id"].as_str().unwrap().to_owned();
    let run = send(&host, &chat, text);
    until(&host, &run, &["waiting_prompt"]);
    let id = open_question(&host);
    host.kill();
    let done = stand.sandbox.run(&[&["prompts", "answer", &id], answer].concat());
    assert_eq!(done.status, 0, "{}", done.stderr);
    let host = stand.sandbox.serve();
    until(&host, &run, &["interrupted"]);
    let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    assert_eq!(resumed.status, 202, "{}", resumed.text());
    // A question that is asked now is never answered: the run would stay.
    until(&host, &run, &["done"]);
    let asked = stand.lines("ui-prompts.jsonl").into_iter().filter(|line| {
        line["action"] == "request" && line["runId"] == run.as_str() && line["prompt"]["kind"] != "result"
    });
    let asked = asked.map(|line| line["prompt"]["title"].as_str().unwrap_or_default().to_owned()).collect();
    (host, chat, asked)
}

fn result(host: &RunningHost, chat: &str) -> Value {
    messages(host, chat).into_iter().find(|message| message["role"] == "tool").unwrap()
}

#[test]
fn an_approval_given_without_a_host_is_used_once_and_asked_once() {
    let stand = Stand::asking("count", |request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "count")) {
            ("tool", _) => Script::say(format!("done: {text}")),
            (_, Some(name)) => Script::call(format!("c-{text}"), name, &json!({ "key": text })),
            _ => Script::say("no tool"),
        }
    });
    let (host, chat, asked) = answered_away(&stand, &stand.agent, "yes", &["--ok", "--select", "once"]);
    assert_eq!(asked, ["Let the agent use count of counter?"], "asked once");
    assert_eq!(stand.counted("yes"), 1, "and called once");
    assert_eq!(result(&host, &chat)["status"], "ok");
    host.stop();
    let (host, chat, asked) = answered_away(&stand, &stand.agent, "no", &["--ok", "--select", "no"]);
    assert_eq!(asked.len(), 1);
    assert_eq!(stand.counted("no"), 0);
    assert_eq!(result(&host, &chat)["status"], "canceled");
    host.stop();
}

#[test]
fn a_change_approved_without_a_host_is_made_once_and_a_refused_one_never() {
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "write_file")) {
            ("tool", _) => Script::say(format!("done: {text}")),
            (_, Some(name)) => {
                let arguments = json!({ "path": text, "contents": "one line\n", "mode": "append" });
                Script::call(format!("c-{text}"), name, &arguments)
            }
            _ => Script::say("no tool"),
        }
    });
    let host = stand.sandbox.serve();
    let servers = host.ask("GET", "/api/v1/mcp-servers", None).json();
    let writer = servers["items"].as_array().unwrap().iter().find(|server| server["name"] == WRITER).unwrap();
    let main = json!([{ "id": writer["id"] }]);
    let land = json!({ "name": "writing", "main": { "mcpServers": main }, "sub": { "mcpServers": [] } });
    let land = host.ask("POST", "/api/v1/land-configs", Some(&land)).json();
    let agent = json!({ "name": "writer", "mode": "flow", "landConfigId": land["id"] });
    let agent = host.ask("POST", "/api/v1/agents", Some(&agent)).json()["id"].as_str().unwrap().to_owned();
    let set = host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({ "value": true })));
    assert!(set.status < 300, "{}", set.text());
    host.stop();
    let (host, chat, asked) = answered_away(&stand, &agent, "approved.txt", &["--ok"]);
    assert_eq!(asked.len(), 1, "asked once: {asked:?}");
    let done = result(&host, &chat);
    assert_eq!(done["status"], "ok", "{done}");
    let root = stand.sandbox.root();
    assert_eq!(std::fs::read_to_string(root.join("approved.txt")).unwrap(), "one line\n", "made once");
    host.stop();
    let (host, chat, asked) = answered_away(&stand, &agent, "refused.txt", &["--cancel"]);
    assert_eq!(asked.len(), 1, "asked once: {asked:?}");
    assert_eq!(result(&host, &chat)["status"], "canceled");
    assert!(!root.join("refused.txt").exists());
    host.stop();
}

#[test]
fn a_long_change_is_approved_only_where_all_of_it_was_shown() {
    let sandbox = chatos_testkit::Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let host = sandbox.serve();
    host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({ "value": true })));
    let contents = format!("{}the very end\n", "a line of a long file, with something in it\n".repeat(3_000));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let body = json!({ "arguments": { "path": "long.txt", "contents": contents } });
            host.ask("POST", "/api/v1/tools/code_maintainer/write_file/call", Some(&body)).json()
        });
        let id = open_question(&host);
        let item = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        let reference = &item["prompt"]["diffRef"];
        assert!(reference["shownLines"].as_u64() < reference["lines"].as_u64(), "{reference}");
        let answer = json!({ "response": { "status": "ok" }, "shown": item["shown"] });
        let path = format!("/api/v1/prompts/{id}/response");
        let blind = host.ask("POST", &path, Some(&answer));
        assert_eq!(
            (blind.status, &blind.json()["error"]["code"]),
            (409, &json!("not_shown")),
            "{}",
            blind.text()
        );
        // A part is not all of it.
        let from = reference["shownLines"].as_u64().unwrap();
        host.ask("GET", &format!("/api/v1/prompts/{id}/diff?from={from}&lines=5"), None);
        assert_eq!(host.ask("POST", &path, Some(&answer)).status, 409);
        let done = sandbox.run(&["prompts", "answer", &id, "--ok"]);
        assert_ne!(done.status, 0, "the terminal was not given it either");
        let shown = sandbox.run(&["prompts", "show", &id, "--diff"]);
        assert!(shown.stdout.contains("+the very end"), "all of it");
        let done = sandbox.run(&["prompts", "answer", &id, "--ok"]);
        assert_eq!(done.status, 0, "{}", done.stderr);
        let done = call.join().unwrap();
        assert_eq!(done["structuredContent"]["status"], "ok", "{done}");
    });
    host.stop();
}

#[test]
fn a_person_changes_the_arguments_and_those_are_sent() {
    let stand = Stand::asking("count", |request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "count")) {
            ("tool", _) => Script::say(format!("done: {text}")),
            (_, Some(name)) => Script::call(format!("c-{text}"), name, &json!({ "key": text })),
            _ => Script::say("no tool"),
        }
    });
    let host = stand.sandbox.serve();
    let chat = crate::support::session(&host, &stand.agent);
    let run = send(&host, &chat, "asked");
    let id = open_question(&host);
    let item = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
    assert_eq!(
        (&item["card"]["editable"], &item["prompt"]["arguments"]),
        (&json!(true), &json!({ "key": "asked" }))
    );
    let response =
        json!({ "status": "ok", "selection": "once", "edited": { "arguments": { "key": "changed" } } });
    let body = json!({ "response": response, "shown": item["shown"] });
    let done = host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
    assert_eq!(done.status, 200, "{}", done.text());
    until(&host, &run, &["done"]);
    assert_eq!((stand.counted("changed"), stand.counted("asked")), (1, 0));
    let said = result(&host, &chat)["content"].as_str().unwrap_or_default().to_owned();
    assert!(said.starts_with("The person changed the call to: {\"key\":\"changed\"}"), "{said}");
    host.stop();
}
