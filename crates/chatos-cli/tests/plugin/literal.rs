//! Plugins put together from the lines the protocol documents print, run in `chatos dev` and installed: the same calls,
//! the same results. And what a call says on each surface while nobody has the app's page open.

use std::path::{Path, PathBuf};

use chatos_testkit::{McpClient, McpEra, RunningHost, Sandbox};
use serde_json::{Value, json};

use crate::socket;

use super::support::{copy, fixture, give_node, good, sandbox, write};

const SERVER: &str = "com.example.tools.db-client";
const TOOL: &str = "codex_app_window_run";

/// The printed tool server with one tool where the comment stands: it acknowledges and writes the printed result
/// into the queue, `delay` later.
fn server(delay: u32) -> String {
    let printed = std::fs::read_to_string(fixture("server/db-client/mcp-server.mjs")).unwrap();
    let comment = "// server.tool('tool_name', schema, handler) ...\n";
    assert!(printed.contains(comment), "{printed}");
    let tool = format!(
        "server.tool('{TOOL}', async ({{ _meta }}) => {{
  const entry = {{ ts: new Date().toISOString(), type: 'ui_prompt', action: 'request', requestId: _meta.taskId,
    prompt: {{ kind: 'result', markdown: 'final output' }} }};
  const log = `${{_meta.chatos.uiApp.stateDir}}/ui-prompts.jsonl`;
  setTimeout(() => appendFileSync(log, `${{JSON.stringify(entry)}}\\n`), {delay});
  return {{ content: [{{ type: 'text', text: JSON.stringify({{ status: 'accepted', taskId: _meta.taskId }}) }}] }};
}});
"
    );
    format!("import {{ appendFileSync }} from 'node:fs';\n{}", printed.replace(comment, &tool))
}

/// The printed minimal manifest with the printed app, whose `callMeta` is the printed one.
fn plugin(sandbox: &Sandbox, delay: u32) -> PathBuf {
    let dir = sandbox.root().join("literal");
    copy(&fixture("server"), &dir);
    let read = |path: &Path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let mut manifest = read(&fixture("module/plugin.json"));
    let mut app = read(&dir.join("app.json"));
    app["ai"]["mcp"]["callMeta"] = json!({
      "asyncTask": {
        "tools": ["codex_app_window_run"],
        "taskIdKey": "taskId",
        "resultSource": "ui_prompts",
        "uiPromptFile": "ui-prompts.jsonl",
        "pollIntervalMs": 1000
      }
    });
    manifest["backend"] = json!({ "entry": "backend/index.mjs" });
    manifest["apps"] = json!([app]);
    for name in ["app.json", "call-meta.json"] {
        std::fs::remove_file(dir.join(name)).unwrap();
    }
    write(&dir.join("plugin.json"), manifest.to_string());
    write(&dir.join("db-client/mcp-server.mjs"), server(delay));
    let backend = "export async function createUiAppsBackend(ctx) {
  return { methods: { async ping(params, ctx) { return { pong: params ?? null }; } },
           async dispose() {} };
}
";
    write(&dir.join("backend/index.mjs"), backend);
    dir
}

fn install(sandbox: &Sandbox, dir: &Path) {
    let report = good(sandbox, &["plugin", "install", dir.to_str().unwrap()]);
    let digest = report["plugins"][0]["digest"].as_str().unwrap().to_owned();
    good(sandbox, &["plugin", "trust", "com.example.tools", "--digest", &digest]);
}

/// What the plugin does, without what differs from host to host.
fn behaviour(host: &RunningHost) -> Value {
    let ask = |path: &str, body: &Value| {
        let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    };
    let called = ask(&format!("tools/{SERVER}/{TOOL}/call"), &json!({ "trail": true }));
    let task = called["trail"]["meta"]["taskId"].as_str().unwrap().to_owned();
    // The result is an entry of the queue, and the host has closed it.
    let log = host.ask("GET", "/api/v1/prompts/log", None).json();
    let entries =
        log["entries"].as_array().unwrap().iter().filter(|entry| entry["requestId"] == task.as_str());
    let actions: Vec<&Value> = entries.map(|entry| &entry["action"]).collect();
    let ai = host.ask("GET", &format!("/api/v1/apps/{SERVER}/ai"), None).json();
    json!({
        "content": called["content"], "isError": called["isError"], "inLog": actions,
        "asyncTask": called["trail"]["meta"]["asyncTask"],
        "prompt": ai["contribution"]["mcpPrompt"],
        "backend": ask("apps/com.example.tools/db-client/backend", &json!({ "method": "ping", "params": 7 }))["result"],
    })
}

#[test]
fn the_printed_plugin_behaves_the_same_in_the_sandbox_and_installed() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let dir = plugin(&sandbox, 50);
    let args = ["dev", dir.to_str().unwrap(), "--no-open", "--ready-json", "--port", "0"];
    let dev = RunningHost::start(sandbox.command(&args)).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    let in_sandbox = behaviour(&dev);
    assert!(dev.stop().success());
    assert_eq!(in_sandbox["content"], json!([{ "type": "text", "text": "final output" }]), "{in_sandbox}");
    assert_eq!(in_sandbox["inLog"], json!(["request", "response"]), "{in_sandbox}");
    assert_eq!(in_sandbox["backend"], json!({ "pong": 7 }), "{in_sandbox}");
    install(&sandbox, &dir);
    let host = sandbox.serve();
    assert_eq!(behaviour(&host), in_sandbox);
    assert!(host.stop().success());
}

#[test]
fn a_call_that_waits_for_a_page_says_so_in_the_terminal_and_to_other_programs() {
    let sandbox = sandbox();
    give_node(&sandbox);
    install(&sandbox, &plugin(&sandbox, 3_500));
    let waiting = "waiting for the page of 数据库客户端: open ChatOS";
    // Without a host, and with one.
    let called = sandbox.run(&["tools", "call", SERVER, TOOL]);
    assert_eq!(called.status, 0, "{called:?}");
    assert!(called.stdout.contains("final output") && called.stderr.contains(waiting), "{called:?}");
    let quiet = sandbox.run(&["--quiet", "tools", "call", SERVER, TOOL]);
    assert!(!quiet.stderr.contains(waiting), "{quiet:?}");
    let host = sandbox.serve();
    let called = sandbox.run(&["tools", "call", SERVER, TOOL]);
    assert!(called.stdout.contains("final output") && called.stderr.contains(waiting), "{called:?}");

    // Another program, through the gateway.
    let make = |path: &str, body: &Value| {
        let made = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
        assert!(made.status < 300, "{path}: {}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    };
    let flow = json!({ "apps": [{ "pluginId": "com.example.tools", "appId": "db-client" }], "prompts": [] });
    let land = make("land-configs", &json!({ "name": "one app", "main": flow, "sub": flow }));
    let agent = make("agents", &json!({ "name": "a", "mode": "flow", "landConfigId": land }));
    let project = sandbox.root().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let command = sandbox.command(&["gateway", "--agent", &agent, "--root", project.to_str().unwrap()]);
    let (mut client, _) = McpClient::connect(command, McpEra::Modern, json!({}));
    let list = client.request("tools/list", json!({}));
    let names = list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str());
    let name = names.clone().find(|name| name.ends_with(TOOL)).unwrap().to_owned();
    let params = json!({ "name": name, "arguments": {}, "_meta": { "progressToken": "p" } });
    let id = client.begin("tools/call", params);
    let told = client.message();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    assert_eq!(
        (&told["params"]["progressToken"], &told["params"]["message"]),
        (&json!("p"), &json!(waiting)),
        "{told}"
    );
    let done = client.answer(id);
    assert_eq!(done["content"][0]["text"], "final output", "{done}");
}

#[test]
fn a_canceled_task_says_that_the_plugin_was_not_told() {
    let sandbox = sandbox();
    give_node(&sandbox);
    install(&sandbox, &plugin(&sandbox, 600_000));
    let host = sandbox.serve();
    let body = json!({ "callId": "mine", "arguments": {} });
    let called = std::thread::scope(|scope| {
        let calling = scope
            .spawn(|| host.ask("POST", &format!("/api/v1/tools/{SERVER}/{TOOL}/call"), Some(&body)).json());
        // It runs as soon as it is listed; what it says comes once it was acknowledged.
        chatos_testkit::eventually("the call waits for the page", || {
            let state = host.ask("GET", "/api/v1/tools/calls/mine?said=0&waitMs=5000", None).json();
            (state["says"] == "waiting for the page of 数据库客户端: open ChatOS").then_some(())
        });
        // A browser opens ChatOS: what was said before does not hold any more.
        let protocols = format!("chatos.v1, ticket.{}", socket::ticket(&host));
        let origin = format!("Origin: http://{}", host.authority());
        let page = socket::upgrade(&host, "", &protocols, &[&origin]);
        chatos_testkit::eventually("whoever waits hears of the page", || {
            let state = host.ask("GET", "/api/v1/tools/calls/mine?said=1&waitMs=5000", None).json();
            (state["says"] == "ChatOS is open: waiting for 数据库客户端").then_some(())
        });
        drop(page);
        assert_eq!(host.ask("POST", "/api/v1/tools/calls/mine/cancel", Some(&json!({}))).status, 200);
        calling.join().unwrap()
    });
    assert_eq!(called["structuredContent"]["status"], "canceled", "{called}");
    let text = called["content"].to_string();
    assert!(text.contains("The plugin was not told and may still do it."), "{text}");
    assert!(host.stop().success());
}
