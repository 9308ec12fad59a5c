//! `chatos mcp` as clients meet it on stdio: handshakes of both eras, lists, and everything a broken or
//! hostile client can send. Always the real program.

use std::process::Command;

use chatos_testkit::{McpClient, McpEra, Sandbox};
use rustix::process::Signal;
use serde_json::{Value, json};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

fn server(sandbox: &Sandbox) -> Command {
    sandbox.command(&["mcp", "ui_prompter", "--lang", "en"])
}

fn connect(sandbox: &Sandbox, era: McpEra) -> (McpClient, Value) {
    McpClient::connect(server(sandbox), era, json!({}))
}

const ERAS: [McpEra; 2] = [McpEra::Legacy, McpEra::Modern];

#[test]
fn both_eras_get_the_same_server() {
    let sandbox = sandbox();
    for era in ERAS {
        let (mut client, hello) = connect(&sandbox, era);
        let info = match era {
            McpEra::Legacy => &hello["serverInfo"],
            McpEra::Modern => &hello["_meta"]["io.modelcontextprotocol/serverInfo"],
        };
        assert_eq!(info["name"], "ui_prompter", "{hello}");
        assert_eq!(hello["capabilities"]["tools"]["listChanged"], true, "{hello}");
        assert!(hello["instructions"].as_str().unwrap().contains("Asks the human"), "{hello}");
        let list = client.request("tools/list", json!({}));
        let names: Vec<&str> =
            list["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["prompt_choices", "prompt_key_values"]);
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["additionalProperties"], false);
            assert_eq!(tool["outputSchema"]["type"], "object");
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{hint} of {}", tool["name"]);
            }
        }
        assert!(client.stderr().contains("ui_prompter is ready"), "{}", client.stderr());
        client.hang_up();
        assert_eq!(client.ended().code(), Some(0));
    }
    assert!(!sandbox.state().exists(), "a client that only looks leaves no traces");
}

#[test]
fn the_language_is_flag_then_environment_then_setting() {
    let mut sandbox = sandbox();
    let title = |sandbox: &Sandbox, more: &[&str]| {
        let mut args = vec!["mcp", "ui_prompter"];
        args.extend(more);
        let (mut client, _) = McpClient::connect(sandbox.command(&args), McpEra::Legacy, json!({}));
        client.request("tools/list", json!({}))["tools"][0]["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(&sandbox, &[]), "Ask for a choice");
    assert_eq!(sandbox.run(&["settings", "set", "promptLanguage", "zh"]).status, 0);
    assert_eq!(title(&sandbox, &[]), "请用户选择");
    sandbox.set_variable("MODEL_CLI_PROMPT_LANGUAGE", "en");
    assert_eq!(title(&sandbox, &[]), "Ask for a choice");
    assert_eq!(title(&sandbox, &["--lang", "zh"]), "请用户选择");
}

#[test]
fn wrong_words_on_the_command_line_name_the_right_one() {
    let sandbox = sandbox();
    let unknown = sandbox.run(&["mcp", "ui-promter", "--json"]);
    assert_eq!((unknown.status, unknown.code().as_str()), (4, "unknown_server"), "{unknown:?}");
    assert!(unknown.json()["error"]["hint"].as_str().unwrap().contains("`ui_prompter`"), "{unknown:?}");
    let far = sandbox.run(&["mcp", "zzz"]);
    assert!(far.status == 4 && far.stderr.contains("chatos mcp list"), "{far:?}");
    let flag = sandbox.run(&["mcp", "ui_prompter", "--prompt-backends", "file"]);
    assert!(flag.status == 2 && flag.stderr.contains("--prompt-backend"), "{flag:?}");
    let value = sandbox.run(&["mcp", "ui_prompter", "--max-bytes", "4"]);
    assert!(value.status == 2 && value.stderr.contains("1024"), "{value:?}");
    let word = sandbox.run(&["mcp", "ui_prompter", "--prompt-backend=paper"]);
    assert!(word.status == 2 && word.stderr.contains("elicitation"), "{word:?}");
    let alone = sandbox.run(&["mcp", "ui_prompter", "--allow-remote"]);
    assert_eq!(alone.status, 2, "{alone:?}");
    let both = sandbox.run(&["mcp", "ui_prompter", "--shell-mode=strict", "--allow-unsafe-shell"]);
    assert_eq!(both.status, 2, "{both:?}");
    assert!(!sandbox.state().exists());
}

#[test]
fn list_says_what_clients_will_see() {
    let sandbox = sandbox();
    let list = sandbox.run(&["mcp", "list", "--json", "--lang", "en"]).json();
    let servers = list["servers"].as_array().unwrap();
    let prompter = servers.iter().find(|server| server["name"] == "ui_prompter").unwrap();
    assert_eq!(prompter["id"], "bdc91c89-b9d8-44d2-a572-5afa9c0cccb9");
    let (mut client, _) = connect(&sandbox, McpEra::Legacy);
    assert_eq!(prompter["tools"], client.request("tools/list", json!({}))["tools"]);
    let people = sandbox.run(&["mcp", "list", "--lang", "zh"]);
    assert!(people.stdout.contains("ui_prompter  询问用户"), "{people:?}");
}

#[test]
fn configuration_for_clients_starts_the_same_server() {
    let sandbox = sandbox();
    let json = |client: &str, key: &str| {
        let args = ["mcp", "ui_prompter", "--print-config", client, "--lang=en", "--name", "asks"];
        sandbox.run(&args).json()[key]["asks"].clone()
    };
    for (client, key) in [
        ("claude-desktop", "mcpServers"),
        ("claude-code", "mcpServers"),
        ("cursor", "mcpServers"),
        ("vscode", "servers"),
        ("windsurf", "mcpServers"),
        ("zed", "context_servers"),
        ("gemini-cli", "mcpServers"),
        ("generic", "mcpServers"),
    ] {
        let entry = json(client, key);
        assert!(entry["command"].as_str().unwrap().ends_with("chatos"), "{client}: {entry}");
        let args: Vec<&str> =
            entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        assert_eq!(&args[..2], ["mcp", "ui_prompter"], "{client}");
        let (_, hello) = McpClient::connect(sandbox.bare(&args), McpEra::Legacy, json!({}));
        assert_eq!(hello["serverInfo"]["name"], "asks", "{client}");
    }
    let codex = sandbox.run(&["mcp", "ui_prompter", "--print-config", "codex"]);
    assert!(codex.stdout.starts_with("[mcp_servers.ui_prompter]\ncommand = \""), "{codex:?}");
}

#[test]
fn garbage_is_answered_and_never_ends_the_connection() {
    let sandbox = sandbox();
    for era in ERAS {
        let (mut client, _) = connect(&sandbox, era);
        let rows: [(&[u8], Value, i64); 7] = [
            (b"hello\n", Value::Null, -32700),
            (b"{\"jsonrpc\":\"2.0\",\n", Value::Null, -32700),
            (b"\xff\xfe{}\n", Value::Null, -32700),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"a\":\"\xc3\x28\"}}\n",
                Value::Null,
                -32700,
            ),
            (b"[1,2]\n", Value::Null, -32600),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"s\"}\n", json!("s"), -32600),
            (b"{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"ping\"}\n", json!(9), -32600),
        ];
        for (bytes, id, code) in rows {
            client.send_bytes(bytes);
            let reply = client.message_with("error");
            assert_eq!((&reply["id"], reply["error"]["code"].as_i64()), (&id, Some(code)), "{reply}");
        }
        client.send_bytes(b"\n\r\n   \n\xef\xbb\xbf\n");
        client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/never/heard/of\"}\n");
        let deep = format!("{}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
        client.send_bytes(deep.as_bytes());
        assert!(client.message_with("error")["error"]["code"].as_i64().unwrap() <= -32600);
        let list = client.request("tools/list", json!({}));
        assert_eq!(list["tools"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_is_refused_in_little_memory() {
    let sandbox = sandbox();
    let (mut client, _) = connect(&sandbox, McpEra::Legacy);
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        client.send_bytes(&chunk);
    }
    client.send_bytes(b"\n");
    let reply = client.message_with("error");
    assert!(reply["error"]["message"].as_str().unwrap().contains("8388608"), "{reply}");
    assert_eq!(client.request("tools/list", json!({}))["tools"].as_array().unwrap().len(), 2);
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 80 * 1024, "{peak}");
}

#[test]
fn requests_that_fit_no_tool_are_errors_of_the_protocol() {
    let sandbox = sandbox();
    for era in ERAS {
        let (mut client, _) = connect(&sandbox, era);
        let rows = [
            ("tools/call", json!({ "name": "prompt_choice", "arguments": {} }), -32602, "prompt_choices"),
            ("tools/call", json!({ "name": 7 }), -32602, "tools/call"),
            ("tools/call", json!({ "name": "prompt_choices", "arguments": [] }), -32602, "tools/call"),
            ("tools/list", json!({ "cursor": "x" }), -32602, "cursor"),
            ("no/such/method", json!({}), -32601, "no/such/method"),
        ];
        for (method, params, code, word) in rows {
            let id = client.begin(method, params);
            let reply = client.reply(id);
            assert_eq!(reply["error"]["code"], code, "{era:?} {method}: {reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains(word), "{reply}");
        }
    }
}

#[test]
fn wrong_arguments_are_results_that_name_the_right_ones() {
    let sandbox = sandbox();
    for era in ERAS {
        let (mut client, _) = connect(&sandbox, era);
        let result = client.call(
            "prompt_choices",
            json!({ "options": [{ "value": "a" }], "minSelections": 1, "timeout_ms": "2000" }),
        );
        assert_eq!(result["isError"], true);
        let issues = &result["structuredContent"]["error"]["details"]["issues"];
        assert_eq!(issues.as_array().unwrap().len(), 1, "a lossless conversion is none: {issues}");
        assert_eq!(
            (&issues[0]["path"], &issues[0]["code"]),
            (&json!("/minSelections"), &json!("unknown_key"))
        );
        assert!(issues[0]["hint"].as_str().unwrap().contains("min_selections"), "{issues}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("min_selections"));
    }
}

#[test]
fn a_signal_ends_it_cleanly() {
    let sandbox = sandbox();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (mut client, _) = connect(&sandbox, McpEra::Legacy);
        client.signal(signal);
        assert_eq!(client.ended().code(), Some(0), "{signal:?}");
    }
}

#[test]
fn files_and_nothing_at_all_serve_as_standard_input() {
    let sandbox = sandbox();
    let nothing = sandbox.run(&["mcp", "ui_prompter"]);
    assert_eq!((nothing.status, nothing.stdout.as_str()), (0, ""), "{nothing:?}");
    let path = sandbox.root().join("requests");
    std::fs::write(&path, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    let mut command = server(&sandbox);
    command.stdin(std::fs::File::open(path).unwrap());
    let answered = sandbox.run_command(command);
    assert_eq!(answered.status, 0, "{answered:?}");
    assert_eq!(answered.json()["id"], 1, "{answered:?}");
}
