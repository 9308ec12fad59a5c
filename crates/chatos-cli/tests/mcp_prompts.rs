//! `chatos mcp ui_prompter` asking a person: through a running host, without one, while hosts and clients
//! come and go. Always the real program; nothing here waits for a fixed time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::io::Write;
use std::process::Command;

use chatos_testkit::{McpClient, McpEra, RunningHost, Sandbox, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};

const ERAS: [McpEra; 2] = [McpEra::Legacy, McpEra::Modern];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

fn server(sandbox: &Sandbox, more: &[&str]) -> Command {
    let mut args = vec!["mcp", "ui_prompter", "--lang", "en"];
    args.extend(more);
    sandbox.command(&args)
}

fn connect(sandbox: &Sandbox, era: McpEra, more: &[&str]) -> McpClient {
    McpClient::connect(server(sandbox, more), era, json!({})).0
}

fn question() -> Value {
    json!({ "title": "Where?", "options": [{ "value": "a" }, { "value": "b", "label": "Bee" }] })
}

/// The id of the one question that waits, as the terminal or the host's API sees it.
fn waiting(sandbox: &Sandbox) -> String {
    eventually("a question", || {
        let list = sandbox.run(&["prompts", "list", "--json"]);
        let list: Value = serde_json::from_str(&list.stdout).ok()?;
        list["items"][0]["requestId"].as_str().map(str::to_owned)
    })
}

fn item(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.run(&["prompts", "show", id, "--json"]).json()
}

/// How the question ended: its answer with who gave it.
fn closed(sandbox: &Sandbox, id: &str) -> Value {
    eventually("the end of the question", || {
        let item = item(sandbox, id);
        (item["state"] == "closed").then(|| item["answer"].clone())
    })
}

fn answer(host: &RunningHost, id: &str, response: &Value) {
    let done =
        host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&json!({ "response": response })));
    assert_eq!(done.status, 200, "{}", done.text());
}

#[test]
fn an_answer_given_to_the_host_arrives_in_both_eras() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for era in ERAS {
        let mut client = connect(&sandbox, era, &[]);
        let id = client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        let shown = item(&sandbox, &request);
        assert_eq!(shown["owner"], "host:ui_prompter", "{shown}");
        assert_eq!(shown["prompt"]["source"], "ui_prompter/prompt_choices", "{shown}");
        answer(&host, &request, &json!({ "status": "ok", "selection": "b", "remark": "soon" }));
        let result = client.answer(id);
        let envelope = &result["structuredContent"];
        assert_eq!((&envelope["status"], &result["isError"]), (&json!("ok"), &json!(false)), "{result}");
        assert_eq!(
            envelope["data"],
            json!({ "request_id": request, "multiple": false, "selection": "b", "remark": "soon" })
        );
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(&format!("requestId={request}\nstatus=ok\nselection: b")), "{text}");
    }
}

#[test]
fn a_person_who_declines_ends_the_call_as_canceled() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut client = connect(&sandbox, McpEra::Modern, &[]);
    let id = client.begin_call("prompt_choices", question());
    let request = waiting(&sandbox);
    answer(&host, &request, &json!({ "status": "canceled", "remark": "not now" }));
    let result = client.answer(id);
    let envelope = &result["structuredContent"];
    assert_eq!((&envelope["status"], &result["isError"]), (&json!("canceled"), &json!(false)));
    assert_eq!(envelope["data"]["remark"], "not now");
    assert_eq!(envelope["error"]["details"]["by"], "person");
}

#[test]
fn a_withdrawn_call_closes_its_question() {
    let sandbox = sandbox();
    let _host = sandbox.serve();
    for era in ERAS {
        let mut client = connect(&sandbox, era, &[]);
        let id = client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        client.cancel(id);
        let item = closed(&sandbox, &request);
        assert_eq!(item["response"]["code"], "aborted", "{item}");
        assert_eq!(item["by"], "host:abort", "{item}");
        client.request("tools/list", json!({}));
    }
}

#[test]
fn a_client_that_hangs_up_and_a_server_that_dies_leave_no_open_question() {
    let sandbox = sandbox();
    let _host = sandbox.serve();
    for way in ["end of input", "term", "kill"] {
        let mut client = connect(&sandbox, McpEra::Legacy, &[]);
        client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        match way {
            "end of input" => client.hang_up(),
            "term" => client.signal(Signal::TERM),
            _ => client.signal(Signal::KILL),
        }
        let status = client.ended();
        if way != "kill" {
            assert_eq!(status.code(), Some(0), "{way}");
        }
        let item = closed(&sandbox, &request);
        assert_eq!(item["response"]["status"], "canceled", "{way}: {item}");
        assert_eq!(item["response"]["code"], "asker_gone", "{way}: {item}");
    }
}

#[test]
fn without_a_host_nobody_is_asked_unless_the_queue_was_chosen() {
    let sandbox = sandbox();
    let mut client = connect(&sandbox, McpEra::Legacy, &[]);
    let result = client.call("prompt_choices", question());
    assert_eq!(result["structuredContent"]["error"]["details"]["rule"], "no_person", "{result}");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("chatos serve"));
    for era in ERAS {
        let mut client = connect(&sandbox, era, &["--prompt-backend", "file"]);
        let id = client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        let answered = sandbox.run_elsewhere(&["prompts", "answer", &request, "--ok", "--select", "a"], "");
        assert_eq!(answered.status, 0, "{answered:?}");
        assert_eq!(client.answer(id)["structuredContent"]["data"]["selection"], "a");
        let id = client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        client.cancel(id);
        assert_eq!(closed(&sandbox, &request)["response"]["code"], "aborted");
        client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        client.hang_up();
        client.ended();
        assert_eq!(closed(&sandbox, &request)["response"]["code"], "asker_gone");
    }
}

#[test]
fn time_runs_out_with_a_host_and_without_one() {
    let sandbox = sandbox();
    let timed = json!({ "options": [{ "value": "a" }], "timeout_ms": 1000 });
    let mut client = connect(&sandbox, McpEra::Legacy, &["--prompt-backend=file"]);
    for hosted in [false, true] {
        let _host = hosted.then(|| sandbox.serve());
        let result = client.call("prompt_choices", timed.clone());
        let envelope = &result["structuredContent"];
        assert_eq!(envelope["status"], "timeout", "hosted {hosted}: {result}");
        assert_eq!(envelope["error"]["details"]["phase"], "prompt");
        let request = envelope["data"]["request_id"].as_str().unwrap().to_owned();
        assert_eq!(closed(&sandbox, &request)["response"]["status"], "timeout");
    }
}

#[test]
fn a_host_may_die_and_come_back_while_a_question_waits() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut client = connect(&sandbox, McpEra::Legacy, &[]);
    let id = client.begin_call("prompt_choices", question());
    let request = waiting(&sandbox);
    host.kill();
    let host = sandbox.serve();
    assert_eq!(waiting(&sandbox), request, "it waits in the next host too");
    answer(&host, &request, &json!({ "status": "ok", "selection": "a" }));
    assert_eq!(client.answer(id)["structuredContent"]["data"]["selection"], "a");

    let id = client.begin_call("prompt_choices", question());
    let request = waiting(&sandbox);
    host.kill();
    let answered = sandbox.run_elsewhere(&["prompts", "answer", &request, "--ok", "--select", "b"], "");
    assert_eq!(answered.status, 0, "{answered:?}");
    assert_eq!(client.answer(id)["structuredContent"]["data"]["selection"], "b");

    // And a clean stop, after which the call is withdrawn without any host.
    let host = sandbox.serve();
    let id = client.begin_call("prompt_choices", question());
    let request = waiting(&sandbox);
    assert!(host.stop().success());
    client.cancel(id);
    assert_eq!(closed(&sandbox, &request)["response"]["code"], "aborted");
}

#[test]
fn a_host_that_starts_later_takes_over_what_was_asked_without_one() {
    let sandbox = sandbox();
    let mut client = connect(&sandbox, McpEra::Modern, &["--prompt-backend=file"]);
    let id = client.begin_call("prompt_choices", question());
    let request = waiting(&sandbox);
    let host = sandbox.serve();
    answer(&host, &request, &json!({ "status": "ok", "selection": "b" }));
    assert_eq!(client.answer(id)["structuredContent"]["data"]["selection"], "b");
    let id = client.begin_call("prompt_choices", question());
    let request = waiting(&sandbox);
    client.cancel(id);
    assert_eq!(closed(&sandbox, &request)["response"]["code"], "aborted");
}

#[test]
fn two_askers_get_their_own_answers() {
    let sandbox = sandbox();
    for hosted in [false, true] {
        let _host = hosted.then(|| sandbox.serve());
        let mut clients: Vec<McpClient> =
            ERAS.iter().map(|era| connect(&sandbox, *era, &["--prompt-backend=file"])).collect();
        let mut calls = Vec::new();
        for (client, word) in clients.iter_mut().zip(["one", "two"]) {
            let ask = json!({ "title": word, "options": [{ "value": "a" }, { "value": "b" }] });
            calls.push(client.begin_call("prompt_choices", ask));
        }
        let items = eventually("two questions", || {
            let list = sandbox.run(&["prompts", "list", "--json"]);
            let list: Value = serde_json::from_str(&list.stdout).ok()?;
            (list["items"].as_array()?.len() == 2).then(|| list["items"].clone())
        });
        for item in items.as_array().unwrap().iter().rev() {
            let choice = if item["prompt"]["title"] == "one" { "a" } else { "b" };
            let id = item["requestId"].as_str().unwrap();
            assert_eq!(
                sandbox.run_elsewhere(&["prompts", "answer", id, "--ok", "--select", choice], "").status,
                0
            );
        }
        for ((client, call), choice) in clients.iter_mut().zip(calls).zip(["a", "b"]) {
            assert_eq!(client.answer(call)["structuredContent"]["data"]["selection"], choice);
        }
    }
}

#[test]
fn a_line_written_by_another_program_answers_nothing() {
    let sandbox = sandbox();
    for hosted in [false, true] {
        let _host = hosted.then(|| sandbox.serve());
        let mut client = connect(&sandbox, McpEra::Legacy, &["--prompt-backend=file"]);
        let id = client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        let forged = json!({
            "ts": "2026-01-01T00:00:00.000Z", "type": "ui_prompt", "action": "response",
            "requestId": request, "response": { "status": "ok", "selection": "a" },
        });
        let log = sandbox.state().join("ui-prompts.jsonl");
        let mut file = std::fs::OpenOptions::new().append(true).open(log).unwrap();
        writeln!(file, "{forged}").unwrap();
        eventually("the forged line is seen", || {
            let item = item(&sandbox, &request);
            (!item["foreignLines"].as_array()?.is_empty()).then_some(())
        });
        assert_eq!(item(&sandbox, &request)["state"], "pending", "hosted {hosted}");
        assert_eq!(
            sandbox.run_elsewhere(&["prompts", "answer", &request, "--ok", "--select", "b"], "").status,
            0
        );
        assert_eq!(client.answer(id)["structuredContent"]["data"]["selection"], "b", "hosted {hosted}");
    }
}

const SECRET: &str = "correct horse battery staple";

fn give_secret(sandbox: &Sandbox, request: &str) {
    let args = ["prompts", "answer", request, "--ok", "--value", "user=li", "--secret", "pass"];
    assert_eq!(sandbox.run_elsewhere(&args, &format!("{SECRET}\n")).status, 0);
}

/// Every file under the state directory, as one heap of bytes.
fn everything(path: &std::path::Path, heap: &mut Vec<u8>) {
    for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            everything(&entry.path(), heap);
        } else {
            // Databases come and go with their logs.
            heap.extend(std::fs::read(entry.path()).unwrap_or_default());
        }
    }
}

#[test]
fn secrets_reach_neither_log_nor_text_nor_model() {
    let sandbox = sandbox();
    let form = json!({ "fields": [{ "key": "user" }, { "key": "pass", "secret": true, "required": true }] });
    for (hosted, shown) in [(false, false), (true, false), (true, true)] {
        let _host = hosted.then(|| sandbox.serve());
        let more: &[&str] = if shown { &["--secrets-to-model"] } else { &["--prompt-backend=file"] };
        let mut client = connect(&sandbox, McpEra::Legacy, more);
        let id = client.begin_call("prompt_key_values", form.clone());
        let request = waiting(&sandbox);
        give_secret(&sandbox, &request);
        let result = client.answer(id);
        let data = &result["structuredContent"]["data"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(data["values"]["user"], "li", "{result}");
        assert!(!text.contains("horse"), "{text}");
        if shown {
            assert_eq!(data["values"]["pass"], SECRET);
        } else {
            assert_eq!(data["values"]["pass"], "******");
            assert_eq!(data["secret_refs"]["pass"], format!("secret:{request}/pass"));
            assert!(text.contains(&format!("secret:{request}/pass")), "{text}");
        }
        let mut heap = Vec::new();
        everything(sandbox.state(), &mut heap);
        let found = heap.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the secret lies in the state directory (hosted {hosted}, shown {shown})");
    }
}

#[test]
fn minimal_log_mode_still_delivers_the_answer() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["settings", "set", "uiPromptLogMode", "minimal"]).status, 0);
    for hosted in [false, true] {
        let _host = hosted.then(|| sandbox.serve());
        let mut client = connect(&sandbox, McpEra::Legacy, &["--prompt-backend=file"]);
        let id = client.begin_call("prompt_choices", question());
        let request = waiting(&sandbox);
        assert_eq!(
            sandbox.run_elsewhere(&["prompts", "answer", &request, "--ok", "--select", "b"], "").status,
            0
        );
        let result = client.answer(id);
        assert_eq!(result["structuredContent"]["data"]["selection"], "b", "hosted {hosted}: {result}");
    }
}

#[test]
fn a_client_that_can_ask_is_asked_and_its_answer_is_recorded() {
    let sandbox = sandbox();
    let _host = sandbox.serve();
    let can = json!({ "elicitation": { "form": {} } });
    // Legacy: the server asks and waits.
    let (mut client, _) = McpClient::connect(server(&sandbox, &[]), McpEra::Legacy, can.clone());
    let id = client.begin_call("prompt_choices", question());
    let asked = client.message_with("method");
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let schema = &asked["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["selection"]["oneOf"][1]["title"], "Bee", "{asked}");
    let request = waiting(&sandbox);
    let accept = json!({ "action": "accept", "content": { "selection": "b" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accept }));
    let result = client.answer(id);
    assert_eq!(result["structuredContent"]["data"]["selection"], "b", "{result}");
    let item = closed(&sandbox, &request);
    assert_eq!(item["by"], "person:client", "{item}");

    // Modern: the call ends with a form and comes again.
    let (mut client, _) = McpClient::connect(server(&sandbox, &[]), McpEra::Modern, can);
    let first = client.call("prompt_choices", question());
    assert_eq!(first["resultType"], "input_required", "{first}");
    let request = waiting(&sandbox);
    let again = |state: &Value, response: Value| {
        json!({
            "name": "prompt_choices", "arguments": question(), "requestState": state,
            "inputResponses": { "answer": response },
        })
    };
    let forged = client.begin("tools/call", again(&json!("AAAA.AAAA"), accept.clone()));
    assert_eq!(client.reply(forged)["error"]["code"], -32602);
    let other = json!({
        "name": "prompt_choices", "arguments": { "options": [{ "value": "b" }] },
        "requestState": first["requestState"], "inputResponses": { "answer": accept },
    });
    let other = client.begin("tools/call", other);
    assert_eq!(client.reply(other)["error"]["code"], -32602, "a state belongs to its own call");
    assert_eq!(item_state(&sandbox, &request), "pending");
    let result = client.request("tools/call", again(&first["requestState"], accept));
    assert_eq!(result["structuredContent"]["data"]["selection"], "b", "{result}");
    assert_eq!(closed(&sandbox, &request)["by"], "person:client");
}

fn item_state(sandbox: &Sandbox, id: &str) -> String {
    item(sandbox, id)["state"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_form_that_is_answered_on_the_page_is_withdrawn_from_the_client() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let can = json!({ "elicitation": {} });
    let (mut client, _) = McpClient::connect(server(&sandbox, &[]), McpEra::Legacy, can);
    let id = client.begin_call("prompt_choices", question());
    let asked = client.message_with("method");
    let request = waiting(&sandbox);
    answer(&host, &request, &json!({ "status": "ok", "selection": "a" }));
    let (mut withdrawn, mut result) = (false, Value::Null);
    while !withdrawn || result.is_null() {
        let mut message = client.message();
        if message["method"] == "notifications/cancelled" {
            assert_eq!(message["params"]["requestId"], asked["id"]);
            withdrawn = true;
        } else if message["id"] == id {
            result = message["result"].take();
        }
    }
    assert_eq!(result["structuredContent"]["data"]["selection"], "a");
}

/// A person lets the program that is `test` here approve its own actions.
fn allow(sandbox: &Sandbox, more: &[&str]) {
    let program = std::env::current_exe().unwrap().canonicalize().unwrap();
    let mut args = vec!["clients", "allow", "test", "--program", program.to_str().unwrap()];
    args.extend(more);
    let allowed = sandbox.run_elsewhere(&args, "");
    assert_eq!(allowed.status, 0, "{allowed:?}");
}

/// A server of files or tasks for a client that can ask, and nobody else who could be asked.
fn asking(sandbox: &Sandbox, name: &str, era: McpEra, more: &[&str]) -> McpClient {
    let mut args = vec!["mcp", name, "--lang", "en"];
    args.extend(more);
    McpClient::connect(sandbox.command(&args), era, json!({ "elicitation": {} })).0
}

#[test]
fn a_change_is_confirmed_in_the_client_when_no_host_runs() {
    let sandbox = sandbox();
    let root = sandbox.root().join("work");
    std::fs::create_dir(&root).unwrap();
    let more = ["--write", "--confirm-file-changes=true", "--root", root.to_str().unwrap()];
    let write = |path: &str| json!({ "path": path, "contents": "new line\n" });

    let mut client = asking(&sandbox, "code_writer", McpEra::Legacy, &more);
    let refused = client.call("write_file", write("yes.txt"));
    let error = &refused["structuredContent"]["error"];
    assert_eq!(error["details"]["rule"], "no_person", "nobody allowed this client: {refused}");
    assert!(error["hint"].as_str().unwrap().contains("chatos clients allow test"), "{refused}");
    allow(&sandbox, &[]);
    for (path, reply, status) in [
        ("yes.txt", json!({ "action": "accept", "content": { "remark": "fine" } }), "ok"),
        ("bare.txt", json!({ "action": "accept" }), "ok"),
        ("no.txt", json!({ "action": "decline" }), "canceled"),
        // Nobody else could answer: the call ends with the form, not with the time limit.
        ("closed.txt", json!({ "action": "cancel" }), "canceled"),
        ("odd.txt", json!({ "action": "accept", "content": "yes" }), "canceled"),
    ] {
        let id = client.begin_call("write_file", write(path));
        let asked = client.message_with("method");
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.contains(path) && message.contains("+new line"), "all of it is shown: {message}");
        assert!(!root.join(path).exists(), "nothing happens before the answer");
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": reply }));
        let result = client.answer(id);
        assert_eq!(result["structuredContent"]["status"], status, "{result}");
        assert_eq!(root.join(path).exists(), status == "ok");
        let data = &result["structuredContent"]["data"];
        assert_eq!(data["confirmed"], status == "ok", "{result}");
        let item = closed(&sandbox, data["request_id"].as_str().unwrap());
        assert_eq!(item["by"], "person:client", "an answer is recorded like any other: {item}");
    }
    // A client that said it could ask, and cannot.
    let id = client.begin_call("write_file", write("error.txt"));
    let asked = client.message_with("method");
    let error = json!({ "code": -32603, "message": "no window" });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }));
    assert_eq!(client.answer(id)["structuredContent"]["status"], "canceled");
    drop(client);

    // Modern: a closed form ends the call too.
    let mut client = asking(&sandbox, "code_writer", McpEra::Modern, &more);
    let first = client.call("write_file", write("closed.txt"));
    let closed_form = json!({
        "name": "write_file", "arguments": write("closed.txt"), "requestState": first["requestState"],
        "inputResponses": { "answer": { "action": "cancel" } },
    });
    let done = client.request("tools/call", closed_form);
    assert_eq!(done["structuredContent"]["status"], "canceled", "{done}");
    assert!(!root.join("closed.txt").exists() && !root.join("error.txt").exists());
    let left = sandbox.run(&["prompts", "list", "--json"]).json();
    assert_eq!(left["items"], json!([]), "nothing stays in the queue");
    drop(client);

    // Modern: what was shown is what happens, or nothing.
    let mut client = asking(&sandbox, "code_writer", McpEra::Modern, &more);
    let edit = json!({ "path": "yes.txt", "old_string": "new", "new_string": "newer" });
    let first = client.call("edit_file", edit.clone());
    assert_eq!(first["resultType"], "input_required", "{first}");
    let shown = first["inputRequests"]["answer"]["params"]["message"].as_str().unwrap();
    assert!(shown.contains("-new line") && shown.contains("+newer line"), "{shown}");
    let again = |state: &Value| {
        json!({
            "name": "edit_file", "arguments": edit, "requestState": state,
            "inputResponses": { "answer": { "action": "accept", "content": {} } },
        })
    };
    std::fs::write(root.join("yes.txt"), "new line\nsomebody else's line\n").unwrap();
    let changed = client.request("tools/call", again(&first["requestState"]));
    let error = &changed["structuredContent"]["error"];
    assert_eq!(
        (&error["type"], &error["details"]["kind"]),
        (&json!("conflict"), &json!("changed_on_disk")),
        "{changed}"
    );
    let kept = std::fs::read_to_string(root.join("yes.txt")).unwrap();
    assert_eq!(kept, "new line\nsomebody else's line\n");
    let second = client.call("edit_file", edit.clone());
    let done = client.request("tools/call", again(&second["requestState"]));
    assert_eq!(done["structuredContent"]["data"]["confirmed"], true, "{done}");
    let written = std::fs::read_to_string(root.join("yes.txt")).unwrap();
    assert_eq!(written, "newer line\nsomebody else's line\n");
}

#[test]
fn tasks_are_confirmed_in_the_client_when_no_host_runs() {
    let mut sandbox = sandbox();
    sandbox.set_variable("CHATOS_SET_CONFIRM_MAIN_TASK_CREATE", "true");
    let tasks =
        json!({ "tasks": [{ "title": "First", "details": "with enough words" }, { "title": "Second" }] });
    let mut client = asking(&sandbox, "task_manager", McpEra::Legacy, &[]);
    let refused = client.call("add_task", tasks.clone());
    assert_eq!(refused["structuredContent"]["status"], "denied", "nobody allowed this client: {refused}");
    allow(&sandbox, &[]);
    for (reply, created) in
        [(json!({ "action": "decline" }), 0), (json!({ "action": "accept", "content": {} }), 2)]
    {
        let id = client.begin_call("add_task", tasks.clone());
        let asked = client.message_with("method");
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.contains("First") && message.contains("Second"), "{message}");
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": reply }));
        let result = client.answer(id);
        let data = &result["structuredContent"]["data"];
        assert_eq!(data["created"].as_array().map_or(0, Vec::len), created, "{result}");
        let list = client.call("list_tasks", json!({ "allSessions": true, "allRuns": true }));
        assert_eq!(list["structuredContent"]["data"]["total"], created, "{list}");
    }
    drop(client);
    let mut client = asking(&sandbox, "task_manager", McpEra::Modern, &[]);
    let third = json!({ "title": "Third", "dedupe_key": "third" });
    let first = client.call("add_task", third.clone());
    assert_eq!(first["resultType"], "input_required", "{first}");
    let again = json!({
        "name": "add_task", "arguments": third, "requestState": first["requestState"],
        "inputResponses": { "answer": { "action": "accept", "content": { "remark": "yes" } } },
    });
    let done = client.request("tools/call", again);
    let data = &done["structuredContent"]["data"];
    assert_eq!((&data["created"][0]["title"], &data["remark"]), (&json!("Third"), &json!("yes")), "{done}");
}

#[test]
fn a_client_cannot_approve_its_own_call_unless_a_person_allowed_that_program() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let root = sandbox.root().join("work");
    std::fs::create_dir(&root).unwrap();
    let more = ["--write", "--confirm-file-changes=true", "--root", root.to_str().unwrap()];
    let write = |path: &str| json!({ "path": path, "contents": "new line\n" });
    for era in ERAS {
        let mut client = asking(&sandbox, "code_writer", era, &more);
        // Held in the queue; the client is asked nothing that it could accept.
        let id = client.begin_call("write_file", write("own.txt"));
        let request = waiting(&sandbox);
        assert!(!root.join("own.txt").exists());
        let shown = item(&sandbox, &request)["shown"].clone();
        let no = json!({ "response": { "status": "canceled", "remark": "ask me first" }, "shown": shown });
        let path = format!("/api/v1/prompts/{request}/response");
        assert_eq!(host.ask("POST", &path, Some(&no)).status, 200);
        let message = client.message();
        assert_eq!(message["id"], id, "the client was asked: {message}");
        assert_eq!(message["result"]["structuredContent"]["status"], "canceled", "{message}");
        assert!(!root.join("own.txt").exists());
        assert_eq!(closed(&sandbox, &request)["by"], "person:api");
    }
    // It cannot allow itself, nor answer from its own shell.
    let program = std::env::current_exe().unwrap().canonicalize().unwrap();
    let own = ["clients", "allow", "test", "--program", program.to_str().unwrap(), "--json"];
    assert_eq!(sandbox.run(&own).code(), "own_asker");
    let mut client = asking(&sandbox, "code_writer", McpEra::Legacy, &more);
    let id = client.begin_call("write_file", write("own.txt"));
    let request = waiting(&sandbox);
    let inside = sandbox.run(&["prompts", "answer", &request, "--ok", "--json"]);
    assert_eq!(inside.code(), "own_asker", "{inside:?}");
    assert_eq!(item_state(&sandbox, &request), "pending");
    assert_eq!(sandbox.run_elsewhere(&["prompts", "answer", &request, "--ok"], "").status, 0);
    assert_eq!(client.answer(id)["structuredContent"]["status"], "ok");

    // A grant for another project changes nothing; one for this project does, and it is written down.
    let elsewhere = sandbox.root().join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    allow(&sandbox, &["--project", elsewhere.to_str().unwrap()]);
    let id = client.begin_call("write_file", write("b.txt"));
    let request = waiting(&sandbox);
    assert_eq!(sandbox.run_elsewhere(&["prompts", "answer", &request, "--cancel"], "").status, 0);
    assert_eq!(client.answer(id)["structuredContent"]["status"], "canceled");
    allow(&sandbox, &["--project", root.to_str().unwrap()]);
    let id = client.begin_call("write_file", write("b.txt"));
    let asked = client.message_with("method");
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } }));
    assert_eq!(client.answer(id)["structuredContent"]["status"], "ok");
    let log = std::fs::read_to_string(sandbox.state().join("ui-prompts.jsonl")).unwrap();
    assert!(log.contains("person:client"), "the answer says from where it came");
    // What is of high risk is a person's all the same.
    let id = client.begin_call("write_file", write(".bashrc"));
    let request = waiting(&sandbox);
    assert_eq!(item(&sandbox, &request)["card"]["risk"], "high");
    assert_eq!(sandbox.run_elsewhere(&["prompts", "answer", &request, "--cancel"], "").status, 0);
    let message = client.message();
    assert_eq!(message["id"], id, "the client was asked: {message}");
    assert!(!root.join(".bashrc").exists());
    let listed = sandbox.run(&["clients", "list", "--json"]).json();
    let allowed = listed["items"].as_array().unwrap().iter().filter(|item| item["allowed"] == true).count();
    assert_eq!(allowed, 2, "{listed}");
    let audit: String = std::fs::read_dir(sandbox.state().join("audit"))
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert!(audit.contains("client_allowed") && audit.contains("\"weakens\":true"), "{audit}");

    // Forgotten, it is asked in the queue again.
    assert_eq!(sandbox.run(&["clients", "forget", "test"]).status, 0);
    let id = client.begin_call("write_file", write("c.txt"));
    let request = waiting(&sandbox);
    assert_eq!(sandbox.run_elsewhere(&["prompts", "answer", &request, "--cancel"], "").status, 0);
    assert_eq!(client.answer(id)["structuredContent"]["status"], "canceled");
    // What is only a question may still be answered in the client.
    drop(client);
    let can = json!({ "elicitation": {} });
    let (mut client, _) = McpClient::connect(server(&sandbox, &[]), McpEra::Legacy, can);
    let id = client.begin_call("prompt_choices", question());
    let asked = client.message_with("method");
    let accept = json!({ "action": "accept", "content": { "selection": "b" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accept }));
    assert_eq!(client.answer(id)["structuredContent"]["data"]["selection"], "b");
}
