//! Who waits for an answer, with the real program: an approval does what it says or is refused, and what a
//! person writes beside a no arrives (inbox §1.3, §1.4).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use chatos_testkit::{McpClient, McpEra, RunningHost, Sandbox, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

fn work(sandbox: &Sandbox) -> String {
    let root = sandbox.root().join("work");
    std::fs::create_dir_all(&root).unwrap();
    root.to_str().unwrap().to_owned()
}

fn questions(host: &RunningHost, count: usize) -> Vec<Value> {
    let ids: Vec<String> = eventually("the questions", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        let ids: Vec<String> = list["items"]
            .as_array()?
            .iter()
            .filter_map(|item| item["requestId"].as_str().map(str::to_owned))
            .collect();
        (ids.len() == count).then_some(ids)
    });
    ids.iter().map(|id| host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json()).collect()
}

fn respond(host: &RunningHost, asked: &Value, response: &Value) -> chatos_testkit::Answer {
    let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
    host.ask("POST", &path, Some(&json!({ "response": response, "shown": asked["shown"] })))
}

fn write_file(root: &str, path: &str) -> Value {
    json!({
        "server": "code_writer", "tool": "write_file", "root": root,
        "arguments": { "path": path, "contents": "x\n" },
    })
}

/// An agent that may write files after a yes.
fn developer(sandbox: &Sandbox) -> String {
    let args = ["agent", "create", "--name", "Helper", "--mode", "flow", "--land", "lc_developer", "--json"];
    let made = sandbox.run(&args);
    assert_eq!(made.status, 0, "{made:?}");
    made.json()["id"].as_str().unwrap().to_owned()
}

/// The gateway with the name under which it offers a tool.
fn gateway(sandbox: &Sandbox, root: &str, tool: &str, lang: &str) -> (McpClient, String) {
    let agent = developer(sandbox);
    let command =
        sandbox.command(&["gateway", "--agent", &agent, "--lang", lang, "--root", root, "--tools", "all"]);
    let (mut client, _) = McpClient::connect(command, McpEra::Legacy, json!({}));
    let listed = client.request("tools/list", json!({}));
    let names = listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str());
    let name = names.into_iter().find(|name| name.ends_with(tool)).unwrap().to_owned();
    (client, name)
}

#[test]
fn after_a_restart_nobody_waits_for_a_call_by_hand_or_through_the_gateway() {
    let sandbox = sandbox();
    let root = work(&sandbox);
    let host = sandbox.serve_with(&["--project", &root]);
    let body = write_file(&root, "hand.txt");
    let mut wire = host.connect();
    let token = token(&sandbox);
    let by_hand = std::thread::spawn(move || {
        // Ends with an error when the host is killed.
        wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).is_err()
    });
    let (mut client, tool) = gateway(&sandbox, &root, "write_file", "en");
    client.begin_call(&tool, json!({ "path": "gateway.txt", "contents": "x\n" }));
    let open = questions(&host, 2);
    host.kill();
    assert!(by_hand.join().unwrap());
    // While the program behind the gateway lives it goes on waiting (servers/held.rs); here it is gone as well.
    client.signal(Signal::KILL);
    client.ended();
    let ok = json!({ "status": "ok" });
    // No host runs: the terminal takes no answer that nobody would act on.
    let id = open[0]["requestId"].as_str().unwrap();
    let alone = sandbox.run_elsewhere(&["prompts", "answer", id, "--ok", "--json"], "");
    assert_eq!(alone.code(), "asker_gone", "{alone:?}");

    let host = sandbox.serve_with(&["--project", &root]);
    for asked in &open {
        let path = format!("/api/v1/prompts/{}", asked["requestId"].as_str().unwrap());
        let now = eventually("the question is closed", || {
            let now = host.ask("GET", &path, None).json();
            (now["state"] == "closed").then_some(now)
        });
        assert_eq!(now["answer"]["response"]["code"], "asker_gone", "{now}");
        let late = respond(&host, asked, &ok);
        assert_eq!(late.status, 409, "{}", late.text());
        assert_eq!(late.json()["error"]["code"], "asker_gone", "{}", late.text());
        let again = host.ask("GET", &path, None).json();
        assert_eq!(again["answer"]["by"], "host:orphan", "nothing was recorded: {again}");
    }
    for file in ["hand.txt", "gateway.txt"] {
        assert!(!std::path::Path::new(&root).join(file).exists(), "{file}");
    }
    host.stop();
}

/// The token of the host that runs.
fn token(sandbox: &Sandbox) -> String {
    let text = std::fs::read_to_string(sandbox.state().join("host.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_question_of_a_server_that_was_killed_is_not_answered() {
    let sandbox = sandbox();
    let root = work(&sandbox);
    let host = sandbox.serve();
    let args = ["mcp", "code_writer", "--write", "--confirm-file-changes=true", "--root", &root];
    let (mut client, _) = McpClient::connect(sandbox.command(&args), McpEra::Legacy, json!({}));
    client.begin_call("write_file", json!({ "path": "a.txt", "contents": "x\n" }));
    let asked = questions(&host, 1).remove(0);
    client.signal(Signal::KILL);
    client.ended();
    let late = respond(&host, &asked, &json!({ "status": "ok" }));
    assert_eq!((late.status, &late.json()["error"]["code"]), (409, &json!("asker_gone")), "{}", late.text());
    assert!(!std::path::Path::new(&root).join("a.txt").exists());
    host.stop();
}

#[test]
fn the_note_of_a_no_reaches_whoever_called() {
    let wanted = [
        ("en", "– the person declined; nothing was changed. Their note: \"not in there\""),
        ("zh", "– 用户拒绝，未做任何更改。备注：“not in there”"),
    ];
    let no = json!({ "status": "canceled", "remark": "not\nin there" });
    for (lang, text) in wanted {
        let mut sandbox = sandbox();
        sandbox.set_variable("LANG", if lang == "zh" { "zh_CN.UTF-8" } else { "en_US.UTF-8" });
        let root = work(&sandbox);
        let host = sandbox.serve_with(&["--project", &root]);
        let check = |result: &Value, who: &str| {
            let said = result["content"][0]["text"].as_str().unwrap_or_default();
            assert_eq!(said, text, "{who}: {result}");
            let data = &result["structuredContent"]["data"];
            assert_eq!(data["remark"], "not in there", "{who}: {result}");
        };
        // A server of its own.
        let args = ["mcp", "code_writer", "--lang", lang, "--write", "--confirm-file-changes=true", "--root"];
        let mut args = args.to_vec();
        args.push(&root);
        let (mut client, _) = McpClient::connect(sandbox.command(&args), McpEra::Legacy, json!({}));
        let id = client.begin_call("write_file", json!({ "path": "a.txt", "contents": "x\n" }));
        let asked = questions(&host, 1).remove(0);
        assert_eq!(respond(&host, &asked, &no).status, 200);
        check(&client.answer(id), "chatos mcp");
        drop(client);
        // The gateway.
        let (mut client, tool) = gateway(&sandbox, &root, "write_file", lang);
        let id = client.begin_call(&tool, json!({ "path": "a.txt", "contents": "x\n" }));
        let asked = questions(&host, 1).remove(0);
        assert_eq!(respond(&host, &asked, &no).status, 200);
        check(&client.answer(id), "chatos gateway");
        drop(client);
        // A call by hand.
        let (body, mut wire, token) = (write_file(&root, "a.txt"), host.connect(), token(&sandbox));
        let by_hand = std::thread::spawn(move || {
            wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).unwrap().json()
        });
        let asked = questions(&host, 1).remove(0);
        assert_eq!(respond(&host, &asked, &no).status, 200);
        check(&by_hand.join().unwrap(), "by hand");
        // A question of a tool, in minimal log mode: its note is kept nowhere and arrives all the same.
        let set = json!({ "value": "minimal" });
        assert_eq!(host.ask("PUT", "/api/v1/settings/uiPromptLogMode", Some(&set)).status, 200);
        let args = ["mcp", "ui_prompter", "--lang", lang];
        let (mut client, _) = McpClient::connect(sandbox.command(&args), McpEra::Modern, json!({}));
        let options = json!({ "options": [{ "value": "a" }, { "value": "b" }] });
        eventually("the mode is in force", || {
            let id = client.begin_call("prompt_choices", options.clone());
            let asked = questions(&host, 1).remove(0);
            assert_eq!(respond(&host, &asked, &no).status, 200);
            check(&client.answer(id), "a choice");
            let path = format!("/api/v1/prompts/{}", asked["requestId"].as_str().unwrap());
            let kept = host.ask("GET", &path, None).json();
            (!kept.to_string().contains("in there")).then_some(())
        });
        assert!(!std::path::Path::new(&root).join("a.txt").exists());
        host.stop();
    }
}
