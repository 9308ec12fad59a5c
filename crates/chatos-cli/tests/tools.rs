//! Tools by hand with the real program: `chatos tools`, the API beneath it, the log of calls, the events,
//! cancelling, settings that count from the next call on, and a host beside servers of their own.

use std::time::{Duration, Instant};

use chatos_testkit::{McpClient, McpEra, Sandbox, make_dir};
use serde_json::{Value, json};

const SERVERS: [&str; 5] =
    ["code_maintainer", "code_writer", "project_files", "project_journal", "task_manager"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    make_dir(&sandbox.root().join("work"), 0o755);
    if let Err(error) = std::fs::write(sandbox.root().join("work/a.txt"), "one\ntwo\n") {
        panic!("cannot write a file: {error}");
    }
    sandbox
}

/// Looks until it is so; a slow machine only takes longer.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_server_is_listed_and_every_tool_described_in_both_languages() {
    let sandbox = sandbox();
    for lang in ["en", "zh"] {
        let list = sandbox.run(&["tools", "list", "--json", "--lang", lang]).json();
        let names: Vec<&str> = list["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|server| server["name"].as_str().unwrap())
            .collect();
        assert!(SERVERS.iter().all(|name| names.contains(name)), "{names:?}");
        for name in names {
            let server = sandbox.run(&["tools", "show", name, "--json", "--lang", lang]).json();
            for tool in server["tools"].as_array().unwrap() {
                assert_eq!(tool["inputSchema"]["type"], "object", "{name}/{}", tool["name"]);
                assert_eq!(tool["outputSchema"]["type"], "object");
                let chinese = tool["description"]
                    .as_str()
                    .unwrap()
                    .chars()
                    .any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
                assert_eq!(chinese, lang == "zh", "{name}/{}", tool["name"]);
            }
        }
    }
    assert!(sandbox.run(&["tools", "list"]).stdout.contains("read_file"));
    assert!(
        sandbox.run(&["tools", "show", "code_writer", "edit_file"]).stdout.contains("expected_replacements")
    );
    assert_eq!(sandbox.run(&["tools", "show", "code_writer", "nothing"]).status, 4);
    let unknown = sandbox.run(&["tools", "show", "code_wirter", "--json"]);
    assert_eq!(
        (unknown.status, unknown.json()["error"]["hint"].clone()),
        (4, json!("did you mean `code_writer`?"))
    );
}

#[test]
fn a_tool_is_called_with_pairs_json_and_files_with_and_without_a_host() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for running in [true, false] {
        let host = if running { Some(&host) } else { None };
        if host.is_none() {
            sandbox.run(&["stop"]);
        }
        let read = sandbox.run(&[
            "tools",
            "call",
            "project_files",
            "read_file",
            "path=a.txt",
            "start_line=2",
            "--root",
            "work",
        ]);
        assert_eq!(read.status, 0, "{read:?}");
        assert!(read.stdout.contains("     2 | two"), "{}", read.stdout);
        let args = r#"{"query": "one", "glob": ["*.txt"]}"#;
        let found = sandbox
            .run(&[
                "tools",
                "call",
                "project_files",
                "search_text",
                "--args",
                args,
                "--root",
                "work",
                "--json",
            ])
            .json();
        assert_eq!(found["structuredContent"]["data"]["matches"][0]["line"], 1, "{found}");
        let glob = sandbox.run(&[
            "tools",
            "call",
            "project_files",
            "search_text",
            "query=one",
            "glob=[\"*.md\"]",
            "--root",
            "work",
            "--json",
        ]);
        assert_eq!(glob.json()["structuredContent"]["data"]["matches"], json!([]));
        std::fs::write(sandbox.root().join("args.json"), r#"{"path": "missing.txt"}"#).unwrap();
        let missing = sandbox.run(&[
            "tools",
            "call",
            "project_files",
            "read_file",
            "--args",
            "@args.json",
            "--root",
            "work",
        ]);
        assert_eq!(missing.status, 1, "a tool that failed");
        assert!(missing.stdout.contains("`missing.txt` does not exist"), "{}", missing.stdout);
        let chinese = ["tools", "call", "project_files", "read_file", "path=nothing", "--lang", "zh"];
        assert!(sandbox.run(&chinese).stdout.contains("不存在"));
        let typo =
            sandbox.run(&["tools", "call", "project_files", "read_file", "file=a.txt", "--json"]).json();
        assert_eq!(typo["structuredContent"]["code"], "invalid_argument");
        for usage in [["nonsense"].as_slice(), &["--args", "[1]"], &["--args", "{"], &["a=1", "a=2"]] {
            let mut args = vec!["tools", "call", "project_files", "read_file"];
            args.extend(usage);
            assert_eq!(sandbox.run(&args).status, 2, "{usage:?}");
        }
        assert_eq!(sandbox.run(&["tools", "call", "project_files", "read_fil"]).status, 4);
        assert_eq!(sandbox.run(&["tools", "call", "nobody", "read_file"]).status, 4);
    }
    let log = sandbox.run(&["tools", "log", "--json", "--errors"]).json();
    assert!(log["items"].as_array().unwrap().iter().all(|item| item["isError"] == true));
    assert!(sandbox.run(&["tools", "log"]).stdout.contains("project_files/read_file"));
}

#[test]
fn the_log_is_paged_filtered_and_told_live() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let root = sandbox.root().join("work");
    let call = |tool: &str, arguments: Value| {
        let body = json!({"arguments": arguments, "root": root, "meta": {"runId": "run-1"}});
        host.ask("POST", &format!("/api/v1/tools/project_files/{tool}/call"), Some(&body)).json()
    };
    for _ in 0..3 {
        assert_eq!(call("read_file", json!({"path": "a.txt"}))["isError"], false);
    }
    assert_eq!(call("read_file", json!({"path": "nothing"}))["isError"], true);
    // A server in a process of its own writes the same log.
    let command = sandbox.command(&["mcp", "project_files", "--root", "work"]);
    let (mut other, _) = McpClient::connect(command, McpEra::Modern, json!({}));
    other.call("stat_path", json!({"path": "a.txt"}));
    let page = |query: &str| host.ask("GET", &format!("/api/v1/tool-log?{query}"), None).json();
    let all = page("limit=500");
    assert_eq!(all["items"].as_array().unwrap().len(), 10, "{all}");
    assert_eq!(
        (&all["items"][0]["toolName"], &all["items"][0]["transport"]),
        (&json!("stat_path"), &Value::Null)
    );
    assert_eq!(all["items"][1]["transport"], "stdio");
    assert_eq!(page("isError=true")["items"].as_array().unwrap().len(), 1);
    assert_eq!(page("type=tool_result&tool=read_file&runId=run-1")["items"].as_array().unwrap().len(), 3);
    assert_eq!(page("q=NOTHING&type=tool_call")["items"].as_array().unwrap().len(), 1);
    let (mut seen, mut query) = (0, "limit=3".to_owned());
    loop {
        let part = page(&query);
        seen += part["items"].as_array().unwrap().len();
        let Some(next) = part["nextCursor"].as_str() else { break };
        query = format!("limit=3&cursor={next}");
    }
    assert_eq!(seen, 10);
    assert_eq!(host.ask("GET", "/api/v1/tool-log?cursor=x", None).status, 422);
    assert!(host.stop().success());
}

#[test]
fn a_change_waits_for_the_person_and_can_be_canceled() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let root = sandbox.root().join("work");
    let write = |id: &str| {
        let body = json!({"arguments": {"path": "new.txt", "contents": "x\n"}, "root": root, "callId": id});
        host.ask("POST", "/api/v1/tools/code_writer/write_file/call", Some(&body)).json()
    };
    let pending = || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"].as_array().and_then(|items| items.first().cloned())
    };
    let cancel = || host.ask("POST", "/api/v1/tools/calls/first/cancel", Some(&json!({}))).json();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| write("first"));
        let item = until("a question", pending);
        assert_eq!(
            (&item["kind"], &item["source"]),
            (&json!("file_change_confirm"), &json!("code_writer/write_file"))
        );
        assert!(!root.join("new.txt").exists(), "nothing happens before the answer");
        assert_eq!(cancel(), json!({"canceled": true}));
        let canceled = call.join().unwrap();
        assert_eq!(canceled["structuredContent"]["status"], "canceled", "{canceled}");
    });
    until("the question is closed", || pending().is_none().then_some(()));
    assert_eq!(cancel(), json!({"canceled": false}));
    // The switch counts from the next call on.
    let off = host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({"value": false})));
    assert!(off.status < 300, "{off:?}");
    let done = write("second");
    assert_eq!(done["structuredContent"]["data"]["confirmed"], false, "{done}");
    assert_eq!(std::fs::read_to_string(root.join("new.txt")).unwrap(), "x\n");
    assert!(
        host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({"value": true}))).status < 300
    );
    std::fs::remove_file(root.join("new.txt")).unwrap();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| write("third"));
        let item = until("a question", pending);
        let answer = json!({"response": {"status": "ok", "remark": "go on"}, "shown": item["shown"]});
        let path = format!("/api/v1/prompts/{}/response", item["requestId"].as_str().unwrap());
        assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
        let done = call.join().unwrap();
        assert_eq!(done["structuredContent"]["data"]["remark"], "go on", "{done}");
    });
    assert_eq!(std::fs::read_to_string(root.join("new.txt")).unwrap(), "x\n");
    // A caller that goes away takes its question with it.
    let body = json!({"arguments": {"path": "gone.txt", "contents": "x"}, "root": root}).to_string();
    let mut wire = host.connect();
    let head = format!(
        "POST /api/v1/tools/code_writer/write_file/call HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        host.authority(),
        host.token,
        body.len()
    );
    wire.send(head.as_bytes()).unwrap();
    until("a question", pending);
    drop(wire);
    until("the question of a caller that is gone is closed", || pending().is_none().then_some(()));
    assert!(!root.join("gone.txt").exists());
    assert!(host.stop().success());
}

#[test]
fn every_change_is_recorded_with_both_contents() {
    let sandbox = sandbox();
    let command =
        sandbox.command(&["mcp", "code_writer", "--root", "work", "--write", "--confirm-file-changes=false"]);
    let (mut client, _) = McpClient::connect(command, McpEra::Legacy, json!({}));
    let edited =
        client.call("edit_file", json!({"path": "a.txt", "old_string": "two", "new_string": "zwei"}));
    assert_eq!(edited["structuredContent"]["data"]["warnings"], json!([]), "{edited}");
    client.call("write_file", json!({"path": "b/c.txt", "contents": "new"}));
    client.call("delete_path", json!({"path": "a.txt"}));
    client.hang_up();
    assert!(client.ended().success());
    #[expect(clippy::disallowed_methods, reason = "looks at what the program stored")]
    let database = rusqlite::Connection::open(sandbox.state().join("state.db")).unwrap();
    let mut statement = database
        .prepare("SELECT tool, path, change, before_blob, after_blob FROM file_changes ORDER BY id")
        .unwrap();
    let rows: Vec<(String, String, String, String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let kinds: Vec<(&str, &str)> = rows.iter().map(|row| (row.0.as_str(), row.2.as_str())).collect();
    assert_eq!(kinds, [("edit_file", "modified"), ("write_file", "created"), ("delete_path", "deleted")]);
    let blob =
        |sha: &str| std::fs::read_to_string(sandbox.state().join("blobs").join(&sha[..2]).join(sha)).unwrap();
    assert_eq!((blob(&rows[0].3), blob(&rows[0].4)), ("one\ntwo\n".to_owned(), "one\nzwei\n".to_owned()));
    assert_eq!((rows[1].3.as_str(), blob(&rows[1].4)), ("", "new".to_owned()));
    assert_eq!((blob(&rows[2].3), rows[2].4.as_str()), ("one\nzwei\n".to_owned(), ""));
}

#[test]
fn two_server_processes_and_a_host_share_tasks_keys_and_settings() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let start = || McpClient::connect(sandbox.command(&["mcp", "task_manager"]), McpEra::Legacy, json!({})).0;
    let (mut one, mut two) = (start(), start());
    let mut made = 0;
    for round in 0..10 {
        let arguments = json!({"title": "once", "dedupe_key": format!("k{round}")});
        let (first, second) =
            (one.begin_call("add_task", arguments.clone()), two.begin_call("add_task", arguments));
        for result in [one.answer(first), two.answer(second)] {
            let data = &result["structuredContent"]["data"];
            made += data["created"].as_array().unwrap_or_else(|| panic!("{result}")).len();
        }
    }
    assert_eq!(made, 10, "one task per key");
    assert_eq!(host.ask("GET", "/api/v1/tasks", None).json()["total"], 10);
    let on = host.ask("PUT", "/api/v1/settings/confirmMainTaskCreate", Some(&json!({"value": true})));
    assert!(on.status < 300);
    let asked = one.begin_call("add_task", json!({"title": "asked"}));
    let item = until("a question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"].as_array().and_then(|items| items.first().cloned())
    });
    assert_eq!((&item["kind"], &item["source"]), (&json!("task_confirm"), &json!("main")));
    let mut task = item["prompt"]["tasks"][0].clone();
    task["title"] = json!("edited by a person");
    let answer = json!({"response": {"status": "ok", "tasks": [task]}, "shown": item["shown"]});
    let path = format!("/api/v1/prompts/{}/response", item["requestId"].as_str().unwrap());
    assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
    let result = one.answer(asked);
    assert_eq!(result["structuredContent"]["data"]["created"][0]["title"], "edited by a person", "{result}");
    assert!(host.stop().success());
}
