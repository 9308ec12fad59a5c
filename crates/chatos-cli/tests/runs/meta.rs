//! The exact JSON a server receives (ai-contributions §9, §10): a call of an app's server, a call of a
//! built-in server that runs as a process, and a call of a subagent, all of one run.

use std::collections::HashMap;

use chatos_testkit::Script;
use serde_json::{Map, Value, json};

use crate::plugin::{Plugged, post};
use crate::support::{last, node, offered, send, session, until};

/// Copies what it is sent to a real server behind it, and notes every call.
const TEE: &str = r#"
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [file, program, ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
server.on("exit", (code) => process.exit(code ?? 1));
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === "tools/call") appendFileSync(file, `${JSON.stringify(message.params)}\n`);
    server.stdin.write(`${line}\n`);
  })
  .on("close", () => server.stdin.end());
"#;

/// Main: an app's tool, a built-in one, then a subagent, which calls the app's tool too.
fn script(request: &Value) -> Script {
    let (role, text) = last(request);
    let done = request["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "tool").count();
    let call = |tool: &str, arguments: &Value| {
        let name = offered(request, tool).unwrap_or_else(|| panic!("{tool} is not offered"));
        Script::call(format!("call-{tool}-{done}"), name, arguments)
    };
    match (text.as_str(), role.as_str(), done) {
        ("below", "user", _) => call("echo", &json!({ "key": "below" })),
        ("go", "user", _) => call("echo", &json!({ "key": "main" })),
        (_, "tool", 1) if offered(request, "run_sub_agent").is_some() => {
            call("list_directory", &json!({ "path": "." }))
        }
        (_, "tool", 2) => {
            call("run_sub_agent", &json!({ "task": "below", "agent_id": "chatos-general/planner" }))
        }
        _ => Script::say("done"),
    }
}

/// The one place where ids that differ from run to run get names: the same id, the same name.
#[derive(Default)]
struct Mask {
    places: Vec<(String, &'static str)>,
    ids: HashMap<String, String>,
}

impl Mask {
    fn value(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let inner: Map<String, Value> =
                    map.iter().map(|(key, value)| (key.clone(), self.value(key, value))).collect();
                Value::Object(inner)
            }
            Value::Array(all) => Value::Array(all.iter().map(|value| self.value(key, value)).collect()),
            Value::String(text) => Value::from(self.text(key, text)),
            Value::Number(_) if key == "progressToken" => json!("<token>"),
            other => other.clone(),
        }
    }

    fn text(&mut self, key: &str, text: &str) -> String {
        if key == "traceparent" {
            let parts: Vec<&str> = text.split('-').collect();
            assert_eq!((parts.len(), parts[0], parts[3]), (4, "00", "01"), "{text}");
            return format!("00-{}-{}-01", self.id("trace", parts[1]), self.id("span", parts[2]));
        }
        let kind = match key {
            "traceId" => "trace",
            "spanId" | "parentSpanId" => "span",
            "runId" => "run",
            "sessionId" => "session",
            "userMessageId" | "user_message_id" => "message",
            "rootAgentId" | "agentId" => "agent",
            "progressToken" => "token",
            "version" => "version",
            _ => {
                let found = self.places.iter().find(|(place, _)| text.starts_with(place.as_str()));
                return found.map_or_else(|| text.to_owned(), |(place, name)| text.replacen(place, name, 1));
            }
        };
        self.id(kind, text)
    }

    fn id(&mut self, kind: &str, id: &str) -> String {
        let next = self.ids.values().filter(|name| name.starts_with(&format!("<{kind}"))).count() + 1;
        self.ids.entry(id.to_owned()).or_insert_with(|| format!("<{kind} {next}>")).clone()
    }
}

#[test]
fn servers_receive_exactly_what_is_documented() {
    let call_meta = json!({
        "workdir": "$dataDir/work", "team": "a", "user_message_id": "mine",
        "paths": ["$pluginDir", "$stateDir/x", "$sessionRoot", "$projectRoot", "$dataDirX", "$$appId", "$foo"],
        "who": { "$appId": "$pluginId:$appId" },
        "chatos": { "uiApp": { "note": "kept" }, "trace": { "traceId": "forged" } },
        "traceparent": "00-forged", "taskId": "constant",
        "asyncTask": { "tools": ["codex_app_window_run"] },
    });
    let app = json!({ "pluginId": "com.example.tools", "appId": "window" });
    let land = json!({ "name": "all", "main": { "apps": [app] }, "sub": { "apps": [app] } });
    let stand = Plugged::new(&json!({ "callMeta": call_meta }), &land, script);
    let (root, project) = (stand.sandbox.root().to_owned(), stand.sandbox.root().join("work"));
    std::fs::create_dir_all(&project).unwrap();
    let tee = root.join("tee.mjs");
    std::fs::write(&tee, TEE).unwrap();
    let noted = root.join("built-in-calls");
    let host = stand.sandbox.serve_with(&["--project", project.to_str().unwrap()]);
    let words = [
        node(),
        tee.to_str().unwrap().to_owned(),
        noted.to_str().unwrap().to_owned(),
        stand.sandbox.program().to_str().unwrap().to_owned(),
        "mcp".to_owned(),
        "project_files".to_owned(),
        "--root".to_owned(),
        project.to_str().unwrap().to_owned(),
        "--state-dir".to_owned(),
        root.join("other-state").to_str().unwrap().to_owned(),
    ];
    let server = post(&host, "mcp-servers", &json!({ "name": "files as a process", "argv": words }));
    let servers = host.ask("GET", "/api/v1/mcp-servers", None).json();
    let router =
        servers["items"].as_array().unwrap().iter().find(|s| s["name"] == "subagent_router").unwrap();
    let lands = host.ask("GET", "/api/v1/land-configs", None).json();
    let all = lands["items"].as_array().unwrap().iter().find(|land| land["name"] == "all").unwrap().clone();
    let mut changed = all.clone();
    changed["main"]["mcpServers"] = json!([{ "id": server["id"] }, { "id": router["id"] }]);
    let path = format!("/api/v1/land-configs/{}", all["id"].as_str().unwrap());
    let saved = host.ask("PUT", &path, Some(&changed));
    assert!(saved.status < 300, "{}", saved.text());

    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "go");
    let run = until(&host, &run, &["done", "failed"]);
    assert_eq!(run["state"], "done", "{run}");

    let mut mask = Mask {
        places: vec![
            (stand.sandbox.state().to_str().unwrap().to_owned(), "STATE"),
            (stand.sandbox.home().to_str().unwrap().to_owned(), "HOME"),
            (project.to_str().unwrap().to_owned(), "PROJECT"),
        ],
        ids: HashMap::new(),
    };
    let received = stand.received();
    assert_eq!(received.len(), 2, "{received:?}");
    let main = mask.value("", &received[0]);
    let ui_app = json!({
        "pluginId": "com.example.tools", "appId": "window",
        "pluginDir": "STATE/ui_apps/plugins/com.example.tools",
        "dataDir": "STATE/ui_apps/data/com.example.tools", "stateDir": "STATE", "sessionRoot": "HOME",
        "projectRoot": "PROJECT", "note": "kept",
    });
    let app_meta = json!({
        "chatos": {
            "uiApp": ui_app,
            "trace": {
                "traceId": "<trace 1>", "spanId": "<span 1>", "parentSpanId": "<span 2>",
                "rootAgentId": "<agent 1>", "agentId": "<agent 1>", "subAgentId": null, "runId": "<run 1>",
                "sessionId": "<session 1>", "toolName": "echo",
            },
        },
        "workdir": "STATE/ui_apps/data/com.example.tools/work",
        "stateDir": "STATE", "dataDir": "STATE/ui_apps/data/com.example.tools",
        "sessionId": "<session 1>", "runId": "<run 1>",
        // callMeta set one of the pair; its twin got the same.
        "userMessageId": "<message 1>", "user_message_id": "<message 1>",
        "toolCallId": "call-echo-0", "tool_call_id": "call-echo-0",
        "team": "a",
        "paths": [
            "STATE/ui_apps/plugins/com.example.tools", "STATE/x", "HOME", "PROJECT", "$dataDirX", "$window", "$foo",
        ],
        "who": { "$appId": "com.example.tools:window" },
        "taskId": "constant",
        "asyncTask": { "tools": ["codex_app_window_run"] },
        "traceparent": "00-<trace 1>-<span 1>-01",
        "progressToken": "<token>",
    });
    assert_eq!(main, json!({ "name": "echo", "arguments": { "key": "main" }, "_meta": app_meta }));
    assert_eq!(received[0]["_meta"]["userMessageId"], "mine");

    // A built-in server: no app, the workspace as its directory, and the era's own keys.
    let text = std::fs::read_to_string(&noted).unwrap();
    let built_in: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(built_in.len(), 1, "{text}");
    assert_eq!(
        mask.value("", &built_in[0]),
        json!({
            "name": "list_directory", "arguments": { "path": "." },
            "_meta": {
                "workdir": "PROJECT", "sessionId": "<session 1>", "runId": "<run 1>",
                "userMessageId": "<message 2>", "user_message_id": "<message 2>",
                "toolCallId": "call-list_directory-1", "tool_call_id": "call-list_directory-1",
                "chatos": { "trace": {
                    "traceId": "<trace 1>", "spanId": "<span 3>", "parentSpanId": "<span 2>",
                    "rootAgentId": "<agent 1>", "agentId": "<agent 1>", "subAgentId": null, "runId": "<run 1>",
                    "sessionId": "<session 1>", "toolName": "list_directory",
                } },
                "traceparent": "00-<trace 1>-<span 3>-01",
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {
                    "name": "chatos", "title": "ChatOS", "version": "<version 1>",
                },
                "io.modelcontextprotocol/clientCapabilities": {
                    "elicitation": { "form": {}, "url": {} },
                    "extensions": {
                        "io.modelcontextprotocol/tasks": {},
                        "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] },
                    },
                },
                "progressToken": "<token>",
            },
        })
    );

    // The subagent: its own run, the caller's agent, and its chain back to the tool that started it.
    let below = mask.value("", &received[1]);
    let trace = host.ask("GET", &format!("/api/v1/traces/{}", run["traceId"].as_str().unwrap()), None).json();
    let spans = trace["spans"].as_array().unwrap();
    let span = |id: &str| spans.iter().find(|span| span["spanId"] == id).unwrap();
    let tool = span(received[1]["_meta"]["chatos"]["trace"]["spanId"].as_str().unwrap());
    let sub_run = span(tool["parentSpanId"].as_str().unwrap());
    let starter = span(sub_run["parentSpanId"].as_str().unwrap());
    assert_eq!((&sub_run["kind"], &starter["tool"]), (&json!("run"), &json!("run_sub_agent")));
    assert_eq!(starter["parentSpanId"], run["spanId"], "main → sub → tool is one chain");
    let mut expected = json!({ "name": "echo", "arguments": { "key": "below" }, "_meta": app_meta });
    let meta = &mut expected["_meta"];
    meta["chatos"]["trace"] = json!({
        "traceId": "<trace 1>", "spanId": "<span 4>", "parentSpanId": "<span 5>", "rootAgentId": "<agent 1>",
        "agentId": "<agent 1>", "subAgentId": "chatos-general/planner", "runId": "<run 2>",
        "sessionId": "<session 1>", "toolName": "echo",
    });
    meta["runId"] = json!("<run 2>");
    meta["traceparent"] = json!("00-<trace 1>-<span 4>-01");
    assert_eq!(below, expected);
    host.stop();
}
