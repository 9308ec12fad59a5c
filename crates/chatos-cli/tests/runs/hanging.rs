//! A server that hangs or starts late delays nobody's first answer; it joins the run when it is ready.

use std::time::Duration;

use chatos_testkit::{Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, node, offered, send, session, until};

/// A server that answers nothing for a while, or for ever.
const LATE: &str = r"
const wait = Number(process.argv[2]);
const lines = require('readline').createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const answer = ({ id, method }) => {
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'late', version: '1' } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools: [{ name: 'arrived', description: 'Is here.', inputSchema: { type: 'object' } }] } });
  } else if (id !== undefined) {
    send({ id, result: { content: [{ type: 'text', text: 'at last' }] } });
  }
};
lines.on('line', (line) => wait > 0 ? setTimeout(() => answer(JSON.parse(line)), wait) : undefined);
";

/// Says the time again and again until the late tool is there, then calls that.
fn patient(request: &Value) -> Script {
    let (role, text) = last(request);
    match offered(request, "arrived") {
        _ if text.contains("at last") => Script::say("it came"),
        Some(tool) => Script::call("late", tool, &json!({})),
        None if role == "user" && text == "alone" => Script::say("without it"),
        None => {
            std::thread::sleep(Duration::from_millis(700));
            let calls = request["messages"].as_array().map_or(0, Vec::len);
            Script::call(format!("time-{calls}"), "get_current_time", &json!({}))
        }
    }
}

fn stand(wait_ms: u64) -> (Stand, String) {
    let mut stand = Stand::new(patient);
    stand.sandbox.set_variable("CHATOS_SET_MCP_FIRST_WAIT_MS", "1500");
    let script = stand.sandbox.root().join("late.cjs");
    std::fs::write(&script, LATE).unwrap();
    let host = stand.sandbox.serve();
    let post = |path: &str, body: Value| {
        let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()
    };
    let argv = json!([node(), script.to_str().unwrap(), wait_ms.to_string()]);
    let server = post("mcp-servers", json!({ "name": "late", "argv": argv, "startTimeoutMs": 600_000 }));
    let land = post(
        "land-configs",
        json!({ "name": "late", "main": { "mcpServers": [{ "id": server["id"] }] }, "sub": { "mcpServers": [] } }),
    );
    let agent = post("agents", json!({ "name": "late", "mode": "flow", "landConfigId": land["id"] }));
    host.stop();
    (stand, agent["id"].as_str().unwrap().to_owned())
}

#[test]
fn a_hanging_server_does_not_hold_the_first_answer() {
    let (stand, agent) = stand(0);
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let run = send(&host, &chat, "alone");
    // The server never answers, so whoever waited for it would not be here before its start is given up.
    eventually("the first request", || (stand.model.asked() > 0).then_some(()));
    until(&host, &run, &["done"]);
    host.stop();
}

#[test]
fn a_server_that_is_late_joins_the_run() {
    let (stand, agent) = stand(3_000);
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let run = send(&host, &chat, "go");
    until(&host, &run, &["done"]);
    let requests = stand.model.requests();
    assert_eq!(offered(&requests[0], "arrived"), None, "the first answer did not wait for it");
    assert!(requests.iter().any(|request| offered(request, "arrived").is_some()));
    assert!(requests.iter().any(|request| last(request).1.contains("at last")), "its tool was called");
    host.stop();
}
