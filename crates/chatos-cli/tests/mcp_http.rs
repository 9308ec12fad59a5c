//! `chatos mcp NAME --http`: who is let in, both eras on one address, sessions, and its end. Raw sockets
//! against the real program.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::{Duration, Instant};

use chatos_testkit::{Answer, McpClient, McpEra, Sandbox, Wire};
use rustix::process::Signal;
use serde_json::{Value, json};

struct Server {
    process: McpClient,
    door: Door,
}

/// Where and with what to come in.
struct Door {
    port: u16,
    token: String,
}

impl std::ops::Deref for Server {
    type Target = Door;

    fn deref(&self) -> &Door {
        &self.door
    }
}

fn start(sandbox: &Sandbox, more: &[&str]) -> Server {
    let mut args = vec!["mcp", "ui_prompter", "--lang", "en", "--http", "127.0.0.1:0"];
    args.extend(more);
    let process = McpClient::start(sandbox.command(&args), McpEra::Legacy, json!({}));
    let began = Instant::now();
    let port = loop {
        let said = process.stderr();
        let port =
            said.split("http://127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()?.parse().ok());
        if let Some(port) = port.filter(|_| said.ends_with('\n')) {
            break port;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it does not listen: {said}");
        std::thread::sleep(Duration::from_millis(5));
    };
    let token = std::fs::read_to_string(sandbox.state().join("mcp-token")).unwrap_or_default();
    Server { process, door: Door { port, token } }
}

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";

impl Door {
    fn raw(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let mut wire = Wire::open(self.port).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        wire.raw(&head, body.as_bytes()).unwrap()
    }

    fn own(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n", self.port, self.token)
    }

    /// Sends a message as a client of this era would; the answer with its last JSON message.
    fn post(&self, headers: &str, message: &Value) -> (Answer, Value) {
        let answer =
            self.raw("POST", "/mcp", &format!("{}{ACCEPT}{headers}", self.own()), &message.to_string());
        let text = answer.text();
        let mut last = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let last = last.rfind(|data| data.starts_with('{')).unwrap_or(text.trim()).to_owned();
        let json = serde_json::from_str(&last).unwrap_or(Value::Null);
        (answer, json)
    }
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } })
}

fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[test]
fn only_who_names_the_host_and_the_token_is_let_in() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let server = start(&sandbox, &[]);
    let (port, token) = (server.port, &server.token);
    assert!(token.len() >= 32, "{token}");
    assert!(!server.process.stderr().contains(token.as_str()), "the token is not printed");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(sandbox.state().join("mcp-token")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let good = format!("Authorization: Bearer {token}\r\n");
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let rows = [
        (format!("Host: evil.example:{port}\r\n{good}"), 403),
        (format!("Host: 127.0.0.1\r\n{good}"), 403),
        (format!("{host}Origin: http://evil.example\r\n{good}"), 403),
        (format!("{host}Origin: null\r\n{good}"), 403),
        (host.clone(), 401),
        (format!("{host}Authorization: Bearer wrong\r\n"), 401),
        (format!("{host}{good}"), 200),
        (format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n{good}"), 200),
    ];
    for (headers, status) in rows {
        let answer = server.raw("POST", "/mcp", &format!("{headers}{ACCEPT}"), &initialize().to_string());
        assert_eq!(answer.status, status, "{headers}: {}", answer.text());
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401, "{headers}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{headers}");
        if status >= 400 {
            assert_eq!(answer.text(), "", "refusals carry no detail");
        }
    }
    let in_address = server.raw("POST", &format!("/mcp?token={token}"), &format!("{host}{ACCEPT}"), "{}");
    assert_eq!(in_address.status, 401);
    for path in ["/", "/mcp/", "/mcp/x", "/api/v1/status"] {
        assert_eq!(server.raw("GET", path, &server.own(), "").status, 404, "{path}");
    }
    assert_eq!(server.raw("OPTIONS", "/mcp", &server.own(), "").status, 405);
}

#[test]
fn both_eras_are_served_at_one_address() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let server = start(&sandbox, &[]);
    // Modern: no session.
    let header = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    let (answer, list) = server.post(header, &modern("tools/list", json!({})));
    assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None), "{}", answer.text());
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(2), "{list}");
    // Legacy: with one.
    let (answer, hello) = server.post("", &initialize());
    assert_eq!(hello["result"]["serverInfo"]["name"], "ui_prompter", "{hello}");
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let with = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let (noted, _) = server.post(&with, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(noted.status, 202);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "prompt_choices", "arguments": { "options": [], "titel": "x" },
    } });
    let (_, result) = server.post(&with, &call);
    assert_eq!(result["result"]["structuredContent"]["status"], "invalid", "{result}");
    let log = std::fs::read_to_string(sandbox.state().join("tool-log.jsonl")).unwrap();
    assert!(log.contains("\"transport\":\"http\""), "{log}");
    // Sessions end, and unknown ones never were.
    let ended = server.raw("DELETE", "/mcp", &format!("{}{with}", server.own()), "");
    assert!((200..300).contains(&ended.status), "{}", ended.status);
    assert_eq!(server.post(&with, &call).0.status, 404);
    let other = "Mcp-Session-Id: 00000000-0000-4000-8000-000000000000\r\n";
    assert_eq!(server.post(other, &call).0.status, 404);
}

#[test]
fn sessions_and_bodies_are_bounded() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let server = start(&sandbox, &[]);
    for number in 0..32 {
        assert_eq!(server.post("", &initialize()).0.status, 200, "session {number}");
    }
    let (full, _) = server.post("", &initialize());
    assert_eq!((full.status, full.header("retry-after").is_some()), (503, true));
    let header = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    assert_eq!(server.post(header, &modern("tools/list", json!({}))).0.status, 200, "modern needs none");
    let mut wire = Wire::open(server.port).unwrap();
    let head = format!("POST /mcp HTTP/1.1\r\n{}{ACCEPT}Content-Length: 9000000\r\n\r\n", server.own());
    let answer = wire.raw(&head, &vec![b' '; 9_000_000]);
    // It may close while we are still sending.
    assert!(answer.is_err() || answer.is_ok_and(|answer| answer.status == 413));
    let long = format!("{}X-Long: {}\r\n", server.own(), "x".repeat(20_000));
    let mut wire = Wire::open(server.port).unwrap();
    let answer = wire.raw(&format!("POST /mcp HTTP/1.1\r\n{long}Content-Length: 0\r\n\r\n"), b"");
    assert!(answer.is_err() || answer.is_ok_and(|answer| answer.status == 431));
}

#[test]
fn a_question_over_http_is_answered_and_withdrawn() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let host = sandbox.serve();
    let server = start(&sandbox, &[]);
    let ask = || json!({ "name": "prompt_choices", "arguments": { "options": [{ "value": "a" }] } });
    let waiting = || {
        let began = Instant::now();
        loop {
            let list = host.ask("GET", "/api/v1/prompts", None).json();
            if let Some(id) = list["items"][0]["requestId"].as_str() {
                return id.to_owned();
            }
            assert!(began.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let header = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: prompt_choices\r\n";
    std::thread::scope(|scope| {
        let door = &server.door;
        let asked = scope.spawn(move || door.post(header, &modern("tools/call", ask())));
        let id = waiting();
        let answer = json!({ "response": { "status": "ok", "selection": "a" } });
        assert_eq!(host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&answer)).status, 200);
        let (_, result) = asked.join().unwrap();
        assert_eq!(result["result"]["structuredContent"]["data"]["selection"], "a", "{result}");
    });
    // A server that ends withdraws what it asked.
    let mut wire = Wire::open(server.port).unwrap();
    let body = modern("tools/call", ask()).to_string();
    let own = server.own();
    wire.send(
        format!("POST /mcp HTTP/1.1\r\n{own}{ACCEPT}{header}Content-Length: {}\r\n\r\n{body}", body.len())
            .as_bytes(),
    )
    .unwrap();
    let id = waiting();
    let mut server = server;
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.ended().code(), Some(0));
    let began = Instant::now();
    loop {
        let item = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        if item["state"] == "closed" {
            assert_eq!(item["answer"]["response"]["code"], "asker_gone", "{item}");
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_address_beyond_loopback_needs_three_words() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let token = sandbox.root().join("token");
    std::fs::write(&token, "0123456789abcdef0123456789abcdef\n").unwrap();
    let short = sandbox.root().join("short");
    std::fs::write(&short, "too short").unwrap();
    let (token, short) = (token.to_str().unwrap(), short.to_str().unwrap());
    let rows: [&[&str]; 8] = [
        &["--http", "0.0.0.0:0"],
        &["--http", "0.0.0.0:0", "--allow-remote"],
        &["--http", "0.0.0.0:0", "--allow-remote", "--allow-host", "box.lan"],
        &["--http", "0.0.0.0:0", "--allow-remote", "--token-file", token],
        &["--http", "127.0.0.1:0", "--token-file", short],
        &["--http", "127.0.0.1:0", "--allow-origin", "null"],
        &["--http", "nonsense"],
        &["--allow-host", "box.lan"],
    ];
    for more in rows {
        let mut args = vec!["mcp", "ui_prompter"];
        args.extend(more);
        let refused = sandbox.run(&args);
        assert_eq!(refused.status, 2, "{more:?}: {refused:?}");
        assert!(refused.stderr.contains("error:"), "{refused:?}");
    }
    let taken = start(&sandbox, &["--token-file", token]);
    let address = format!("127.0.0.1:{}", taken.port);
    let refused = sandbox.run(&["mcp", "ui_prompter", "--http", &address, "--json"]);
    assert_eq!((refused.status, refused.code().as_str()), (5, "listen_failed"), "{refused:?}");
    assert!(
        !sandbox.state().join("mcp-token").exists(),
        "no token is made when one is given or none is needed"
    );
}

#[test]
fn a_body_that_is_no_message_is_a_bad_request_and_not_a_wrong_type() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let server = start(&sandbox, &[]);
    let own = server.own();
    for body in
        ["{", "", "nonsense", "[]", "[{}]", "{}", "1", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}"]
    {
        let answer = server.raw("POST", "/mcp", &format!("{own}{ACCEPT}"), body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert_eq!(answer.json()["error"]["code"], -32700, "{body}: {}", answer.text());
    }
    let text = format!("{own}Accept: application/json, text/event-stream\r\nContent-Type: text/plain\r\n");
    assert_eq!(server.raw("POST", "/mcp", &text, &initialize().to_string()).status, 415);
    assert_eq!(server.post("", &initialize()).0.status, 200);
}
