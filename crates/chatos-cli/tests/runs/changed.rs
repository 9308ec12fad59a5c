//! What is approved is what happens (inbox §1.1, §1.2, §10.1, §10.2): whoever asks, what changed after the question is
//! not done with its answer and asked about again with what changed.

use std::path::PathBuf;

use chatos_testkit::{Answer, McpClient, McpEra, RunningHost, Sandbox, Script, ScriptedModel, eventually};
use serde_json::{Value, json};

use crate::plugin::Plugged;
use crate::support::{last, node, offered, send, until};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    Run,
    Sub,
    /// `chatos mcp`.
    Server,
    Gateway,
    Hand,
}

/// Somebody who waits for an answer; ended when dropped.
pub(crate) enum Waiting {
    Run(String),
    Hand(std::thread::JoinHandle<Value>),
    Client(Box<McpClient>),
}

pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
    _model: ScriptedModel,
    pub(crate) root: PathBuf,
    /// Writes and runs, itself and through subagents.
    agent: String,
}

/// Does what the person's text says: `{"tool", "arguments", "sub"}`.
fn obedient(request: &Value) -> Script {
    let (role, text) = last(request);
    let order: Value = serde_json::from_str(&text).unwrap_or_default();
    let tool = order["tool"].as_str().unwrap_or_default();
    match (role.as_str(), offered(request, "run_sub_agent"), offered(request, tool)) {
        ("tool", ..) => Script::say("done"),
        (_, Some(router), _) if order["sub"] == true => {
            Script::call("to-sub", router, &json!({ "task": text, "agent_id": "researcher" }))
        }
        (_, _, Some(name)) => Script::call("to-tool", name, &order["arguments"]),
        _ => Script::say("no tool"),
    }
}

impl Scene {
    pub(crate) fn new() -> Self {
        let mut sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("CHATOS_SET_CONFIRM_FILE_CHANGES", "true"),
            ("CHATOS_SET_SHELL_CONFIRM", "always"),
        ] {
            sandbox.set_variable(name, value);
        }
        let root = sandbox.root().join("work");
        std::fs::create_dir_all(&root).unwrap();
        let root = std::fs::canonicalize(root).unwrap();
        let model = ScriptedModel::start(obedient);
        let host = sandbox.serve();
        let post = |path: &str, body: Value| {
            let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
            assert!(answer.status < 300, "{path}: {}", answer.text());
            answer.json()
        };
        let body = json!({ "name": "scripted", "provider": "openai", "model": "scripted", "baseUrl": model.base_url() });
        let made = post("models", body);
        post(&format!("models/{}/default", made["id"].as_str().unwrap()), json!({}));
        let servers = host.ask("GET", "/api/v1/mcp-servers", None).json();
        let entries = |names: &[&str]| -> Vec<Value> {
            let all = servers["items"].as_array().unwrap().iter();
            let wanted = all.filter(|server| names.contains(&server["name"].as_str().unwrap()));
            wanted.map(|server| json!({ "id": server["id"] })).collect()
        };
        let main = entries(&["code_writer", "shell_tasks", "subagent_router"]);
        let land = json!({ "name": "all", "main": { "mcpServers": main }, "sub": { "mcpServers": main } });
        let land = post("land-configs", land);
        let agent = post("agents", json!({ "name": "worker", "mode": "flow", "landConfigId": land["id"] }));
        let agent = agent["id"].as_str().unwrap().to_owned();
        host.stop();
        Self { sandbox, _model: model, root, agent }
    }

    pub(crate) fn serve(&self) -> RunningHost {
        self.sandbox.serve_with(&["--project", self.root.to_str().unwrap()])
    }

    pub(crate) fn begin(&self, host: &RunningHost, asker: Asker, tool: &str, arguments: &Value) -> Waiting {
        let server = if tool == "run_shell_command" { "shell_tasks" } else { "code_writer" };
        let root = self.root.to_str().unwrap();
        match asker {
            Asker::Run | Asker::Sub => {
                let made = json!({ "agentId": self.agent, "workspaceRoot": self.root });
                let made = host.ask("POST", "/api/v1/sessions", Some(&made));
                assert_eq!(made.status, 201, "{}", made.text());
                let order = json!({ "tool": tool, "arguments": arguments, "sub": asker == Asker::Sub });
                Waiting::Run(send(host, made.json()["id"].as_str().unwrap(), &order.to_string()))
            }
            Asker::Hand => {
                let body = json!({ "server": server, "tool": tool, "root": root, "arguments": arguments });
                let mut wire = host.connect();
                let token = host.token.clone();
                Waiting::Hand(std::thread::spawn(move || {
                    wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).unwrap().json()
                }))
            }
            Asker::Server => {
                let mut args = vec!["mcp", server, "--root", root];
                if server == "code_writer" {
                    args.extend(["--write", "--confirm-file-changes=true"]);
                }
                let (mut client, _) =
                    McpClient::connect(self.sandbox.command(&args), McpEra::Legacy, json!({}));
                client.begin_call(tool, arguments.clone());
                Waiting::Client(Box::new(client))
            }
            Asker::Gateway => {
                let args = ["gateway", "--agent", "worker", "--root", root, "--tools", "all"];
                let (mut client, _) =
                    McpClient::connect(self.sandbox.command(&args), McpEra::Legacy, json!({}));
                let listed = client.request("tools/list", json!({}));
                let names =
                    listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str());
                let name = names.into_iter().find(|name| name.ends_with(tool)).unwrap().to_owned();
                client.begin_call(&name, arguments.clone());
                Waiting::Client(Box::new(client))
            }
        }
    }

    /// Asks, changes something, says yes, and says no to the question that comes instead. Gives its message.
    fn asked_again(
        &self,
        asker: Asker,
        tool: &str,
        arguments: &Value,
        change: impl FnOnce(&RunningHost),
    ) -> String {
        let host = self.serve();
        let waiting = self.begin(&host, asker, tool, arguments);
        let first = question(&host, None);
        change(&host);
        let done = respond(&host, &first, &json!({ "status": "ok" }));
        assert_eq!(done.status, 200, "{asker:?}: {}", done.text());
        let next = question(&host, first["requestId"].as_str());
        let done = respond(&host, &next, &json!({ "status": "canceled" }));
        assert_eq!(done.status, 200, "{asker:?}: {}", done.text());
        match waiting {
            Waiting::Run(run) => {
                until(&host, &run, &["done"]);
            }
            Waiting::Hand(call) => {
                let said = call.join().unwrap();
                assert_eq!(said["structuredContent"]["status"], "canceled", "{said}");
            }
            Waiting::Client(mut client) => {
                let said = client.message_with("result");
                assert_eq!(said["result"]["structuredContent"]["status"], "canceled", "{asker:?}: {said}");
            }
        }
        host.stop();
        next["prompt"]["message"].as_str().unwrap_or_default().to_owned()
    }
}

pub(crate) fn question(host: &RunningHost, other_than: Option<&str>) -> Value {
    let id = eventually("a question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        let ids = list["items"].as_array()?.iter().filter_map(|item| item["requestId"].as_str());
        ids.into_iter().find(|id| Some(*id) != other_than).map(str::to_owned)
    });
    host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json()
}

pub(crate) fn respond(host: &RunningHost, asked: &Value, response: &Value) -> Answer {
    let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
    host.ask("POST", &path, Some(&json!({ "response": response, "shown": asked["shown"] })))
}

fn file_changes_under(asker: Asker) {
    let scene = Scene::new();
    let file = scene.root.join("a.txt");
    std::fs::write(&file, "one\n").unwrap();
    let arguments = json!({ "path": "a.txt", "contents": "mine\n" });
    let said =
        scene.asked_again(asker, "write_file", &arguments, |_| std::fs::write(&file, "theirs\n").unwrap());
    assert!(said.starts_with("a.txt changed on disk after you approved."), "{asker:?}: {said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "theirs\n", "{asker:?}");
}

fn folder_changes_under(asker: Asker) {
    let scene = Scene::new();
    let (here, away) = (scene.root.join("sub"), scene.root.join("away"));
    std::fs::create_dir(&here).unwrap();
    let arguments = json!({ "command": "touch made", "cwd": "sub" });
    let said = scene.asked_again(asker, "run_shell_command", &arguments, |_| {
        std::fs::rename(&here, &away).unwrap();
        std::fs::create_dir(&here).unwrap();
    });
    assert!(said.contains("Changed after you approved: "), "{asker:?}: {said}");
    assert!(!here.join("made").exists() && !away.join("made").exists(), "{asker:?}");
}

#[test]
fn a_file_changes_under_the_answer_to_a_run() {
    file_changes_under(Asker::Run);
}

#[test]
fn a_file_changes_under_the_answer_to_a_sub_agent() {
    file_changes_under(Asker::Sub);
}

#[test]
fn a_file_changes_under_the_answer_to_a_server_of_its_own() {
    file_changes_under(Asker::Server);
}

#[test]
fn a_file_changes_under_the_answer_to_a_program_behind_the_gateway() {
    file_changes_under(Asker::Gateway);
}

#[test]
fn a_file_changes_under_the_answer_to_a_call_by_hand() {
    file_changes_under(Asker::Hand);
}

#[test]
fn a_folder_is_replaced_under_the_answer_to_a_run() {
    folder_changes_under(Asker::Run);
}

#[test]
fn a_folder_is_replaced_under_the_answer_to_a_sub_agent() {
    folder_changes_under(Asker::Sub);
}

#[test]
fn a_folder_is_replaced_under_the_answer_to_a_server_of_its_own() {
    folder_changes_under(Asker::Server);
}

#[test]
fn a_folder_is_replaced_under_the_answer_to_a_program_behind_the_gateway() {
    folder_changes_under(Asker::Gateway);
}

#[test]
fn a_folder_is_replaced_under_the_answer_to_a_call_by_hand() {
    folder_changes_under(Asker::Hand);
}

/// The variables of commands are those of the program; they are others when it is started anew.
#[test]
fn a_variable_changes_under_the_answer() {
    let mut scene = Scene::new();
    scene.sandbox.set_variable("TZ", "UTC");
    let host = scene.serve();
    let waiting = scene.begin(&host, Asker::Run, "run_shell_command", &json!({ "command": "touch made" }));
    let Waiting::Run(run) = waiting else { unreachable!("it is a run") };
    let first = question(&host, None);
    let id = first["requestId"].as_str().unwrap();
    host.kill();
    assert_eq!(scene.sandbox.run(&["prompts", "answer", id, "--ok"]).status, 0);
    scene.sandbox.set_variable("TZ", "Asia/Tokyo");
    let host = scene.serve();
    until(&host, &run, &["interrupted"]);
    let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    assert_eq!(resumed.status, 202, "{}", resumed.text());
    let next = question(&host, Some(id));
    let message = next["prompt"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("Changed since you were asked: the environment variables of the command."),
        "{next}"
    );
    assert!(!scene.root.join("made").exists());
    respond(&host, &next, &json!({ "status": "canceled" }));
    until(&host, &run, &["done"]);
    assert!(!scene.root.join("made").exists());
    host.stop();
}

/// The folder is another one after a restart: the person is told, whoever's tool it is.
#[test]
fn a_folder_is_replaced_under_the_answer_to_a_tool_of_another_server_while_no_host_runs() {
    let scene = Scene::new();
    let calls = scene.described();
    let host = scene.serve();
    let act = json!({ "key": "k" });
    let Waiting::Run(run) = scene.begin(&host, Asker::Run, "act", &act) else { unreachable!("it is a run") };
    let first = question(&host, None);
    let id = first["requestId"].as_str().unwrap();
    host.kill();
    let said = scene.sandbox.run(&["prompts", "answer", id, "--ok", "--select", "once"]);
    assert_eq!(said.status, 0, "{said:?}");
    std::fs::rename(&scene.root, scene.sandbox.root().join("away")).unwrap();
    std::fs::create_dir(&scene.root).unwrap();
    let host = scene.serve();
    until(&host, &run, &["interrupted"]);
    let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    assert_eq!(resumed.status, 202, "{}", resumed.text());
    let next = question(&host, Some(id));
    let message = next["prompt"]["message"].as_str().unwrap();
    assert!(message.starts_with("Changed after you approved: the working directory."), "{next}");
    respond(&host, &next, &json!({ "status": "canceled" }));
    until(&host, &run, &["done"]);
    assert_eq!(std::fs::read_to_string(calls).unwrap(), "");
    host.stop();
}

/// A server whose tool is described by a file, and which says so when that file is another.
const DESCRIBED: &str = r"
const fs = require('fs');
const [schema, calls] = process.argv.slice(2);
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
let known = fs.readFileSync(schema, 'utf8');
setInterval(() => {
  const now = fs.readFileSync(schema, 'utf8');
  if (now !== known) {
    known = now;
    send({ method: 'notifications/tools/list_changed' });
  }
}, 20);
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'described', version: '1' } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools: [{ name: 'act', description: known, inputSchema: { type: 'object', properties: { key: { type: 'string' } } } }] } });
  } else if (method === 'tools/call') {
    fs.appendFileSync(calls, params.arguments.key + '\n');
    send({ id, result: { content: [{ type: 'text', text: 'acted' }] } });
  } else if (id !== undefined) send({ id, result: {} });
});
";

impl Scene {
    /// Gives the agent a tool of another server that is asked about; gives the file of its calls. What describes the tool
    /// is the file `schema` beside it.
    fn described(&self) -> PathBuf {
        let at = |name: &str| self.sandbox.root().join(name);
        let (schema, calls, script) = (at("schema"), at("calls"), at("described.cjs"));
        std::fs::write(&schema, "Acts.").unwrap();
        std::fs::write(&calls, "").unwrap();
        std::fs::write(&script, DESCRIBED).unwrap();
        let host = self.serve();
        let post = |method: &str, path: &str, body: Value| {
            let answer = host.ask(method, &format!("/api/v1/{path}"), Some(&body));
            assert!(answer.status < 300, "{path}: {}", answer.text());
            answer.json()
        };
        let argv = json!([node(), script, schema, calls]);
        let server = post("POST", "mcp-servers", json!({ "name": "described", "argv": argv }));
        let router = "36bb1921-66e8-4901-9739-2177349f5dd4";
        let main = json!([{ "id": server["id"], "tools": { "ask": ["act"] } }, { "id": router }]);
        let land = json!({ "name": "acting", "main": { "mcpServers": main }, "sub": { "mcpServers": main } });
        let land = post("POST", "land-configs", land);
        post("PUT", &format!("agents/{}", self.agent), json!({ "landConfigId": land["id"] }));
        host.stop();
        calls
    }
}

fn tool_changes_under(asker: Asker) {
    let scene = Scene::new();
    let calls = scene.described();
    let schema = scene.sandbox.root().join("schema");
    let host = scene.serve();
    let waiting = scene.begin(&host, asker, "act", &json!({ "key": "k" }));
    let first = question(&host, None);
    std::fs::write(&schema, "Acts, and deletes everything.").unwrap();
    assert_eq!(scene.sandbox.run(&["mcp", "servers", "restart", "described"]).status, 0);
    eventually("the host knows that the tool changed", || {
        let pins = scene.sandbox.run(&["mcp", "servers", "pins", "described", "--json"]).json();
        (pins["items"][0]["state"] == "changed").then_some(())
    });
    let done = respond(&host, &first, &json!({ "status": "ok", "selection": "once" }));
    assert_eq!(done.status, 200, "{asker:?}: {}", done.text());
    // It is off until a person has looked at it, or asked about with what changed.
    let list = || host.ask("GET", "/api/v1/prompts?view=needs_you", None).json()["items"].clone();
    match waiting {
        Waiting::Run(run) => {
            eventually("the run is over, or asks again", || {
                if let Some(id) = list()[0]["requestId"].as_str() {
                    let next = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
                    let said = next["prompt"]["message"].as_str().unwrap_or_default();
                    assert!(said.starts_with("Changed after you approved: the tool."), "{next}");
                    respond(&host, &next, &json!({ "status": "canceled" }));
                }
                let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
                (now["state"] == "done").then_some(())
            });
        }
        Waiting::Client(mut client) => {
            let result = std::thread::spawn(move || client.message_with("result"));
            eventually("it is refused, or asked again and refused", || {
                if let Some(id) = list()[0]["requestId"].as_str() {
                    let next = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
                    let said = next["prompt"]["message"].as_str().unwrap_or_default();
                    assert!(said.starts_with("Changed after you approved: the tool."), "{next}");
                    respond(&host, &next, &json!({ "status": "canceled" }));
                }
                result.is_finished().then_some(())
            });
            let said = result.join().unwrap();
            assert_ne!(said["result"]["structuredContent"]["status"], "ok", "{said}");
        }
        Waiting::Hand(_) => unreachable!("what a person calls by hand is not asked about"),
    }
    assert_eq!(std::fs::read_to_string(&calls).unwrap(), "", "{asker:?}");
    host.stop();
}

#[test]
fn a_tool_changes_under_the_answer_to_a_run() {
    tool_changes_under(Asker::Run);
}

#[test]
fn a_tool_changes_under_the_answer_to_a_sub_agent() {
    tool_changes_under(Asker::Sub);
}

#[test]
fn a_tool_changes_under_the_answer_to_a_program_behind_the_gateway() {
    tool_changes_under(Asker::Gateway);
}

#[test]
fn a_byte_of_a_plugin_changes_under_the_answer() {
    let app = json!({ "pluginId": "com.example.tools", "appId": "window", "tools": { "ask": ["echo"] } });
    let land = json!({ "name": "window", "main": { "apps": [app] }, "sub": {} });
    let place = Plugged::new(&json!({}), &land, |request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "echo")) {
            ("tool", _) => Script::say("done"),
            (_, Some(name)) => Script::call("c", name, &json!({ "key": text })),
            _ => Script::say("no tool"),
        }
    });
    let host = place.sandbox.serve();
    let chat = crate::support::session(&host, &place.agent);
    let run = send(&host, &chat, "k");
    let first = question(&host, None);
    let file = place.sandbox.state().join("ui_apps/plugins/com.example.tools/server.mjs");
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{good}\n")).unwrap();
    let done = respond(&host, &first, &json!({ "status": "ok", "selection": "once" }));
    assert_eq!(done.status, 200, "{}", done.text());
    let list = || host.ask("GET", "/api/v1/prompts?view=needs_you", None).json()["items"].clone();
    eventually("the run is over, or asks again", || {
        if let Some(id) = list()[0]["requestId"].as_str() {
            let next = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
            respond(&host, &next, &json!({ "status": "canceled" }));
        }
        let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
        (now["state"] == "done").then_some(())
    });
    assert_eq!(place.received(), Vec::<Value>::new(), "what nobody trusted was not called");
    host.stop();
}
