//! `chatos gateway` and `chatos mcp NAME` as other programs see them: results of either era over either
//! transport, the folder a client's calls work in, and versions nobody knows.

use std::path::{Path, PathBuf};
use std::process::Command;

use chatos_testkit::{McpClient, McpEra, RunningHost, Sandbox, Wire, make_dir};
use serde_json::{Value, json};

use crate::support::{self, until};

const STRANGER: &str = include_str!("stranger.mjs");

/// A host whose project is `elsewhere`, with a server of somebody else and an agent that may use it and the
/// files; the agent's id.
struct Desk {
    sandbox: Sandbox,
    host: RunningHost,
    agent: String,
}

impl Desk {
    fn start() -> Self {
        let sandbox = support::sandbox();
        for folder in ["elsewhere", "project", "second"] {
            let path = sandbox.root().join(folder);
            make_dir(&path, 0o755);
            std::fs::write(path.join("where.txt"), folder).unwrap();
        }
        let script = sandbox.root().join("stranger.mjs");
        std::fs::write(&script, STRANGER).unwrap();
        let elsewhere = sandbox.root().join("elsewhere");
        let host = sandbox.serve_with(&["--project", elsewhere.to_str().unwrap()]);
        let made = ask(&host, "mcp-servers", &json!({ "name": "stranger", "argv": ["node", script] }));
        let all = host.ask("GET", "/api/v1/mcp-servers", None).json();
        let files = all["items"].as_array().unwrap().iter().find(|item| item["name"] == "project_files");
        let servers = json!([{ "id": made["id"] }, { "id": files.unwrap()["id"] }]);
        let land = json!({ "name": "l", "main": { "mcpServers": servers }, "sub": {} });
        let land = ask(&host, "land-configs", &land)["id"].clone();
        let agent = ask(&host, "agents", &json!({ "name": "a", "mode": "flow", "landConfigId": land }));
        let agent = agent["id"].as_str().unwrap().to_owned();
        Self { sandbox, host, agent }
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.sandbox.root().join(name)
    }

    fn gateway(&self, cwd: &Path, more: &[&str]) -> Command {
        let mut args = vec!["gateway", "--agent", self.agent.as_str()];
        args.extend(more);
        let mut command = self.sandbox.command(&args);
        command.current_dir(cwd);
        command
    }

    /// What a client in this folder reads of `where.txt`, or why it reads nothing.
    fn reads(&self, cwd: &Path, more: &[&str]) -> Value {
        let (mut client, _) = McpClient::connect(self.gateway(cwd, more), McpEra::Modern, json!({}));
        read(&mut client)
    }
}

fn ask(host: &RunningHost, path: &str, body: &Value) -> Value {
    let made = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
    assert!(made.status < 300, "{path}: {}", made.text());
    made.json()
}

fn name_of(client: &mut McpClient, tool: &str) -> String {
    let list = client.request("tools/list", json!({}));
    let names = list["tools"].as_array().unwrap().iter().filter_map(|item| item["name"].as_str());
    let mut names = names.filter(|name| name.ends_with(&format!("_{tool}")));
    names.next().unwrap_or_else(|| panic!("no {tool} in {list}")).to_owned()
}

fn read(client: &mut McpClient) -> Value {
    let name = name_of(client, "read_file");
    client.call(&name, json!({ "path": "where.txt" }))
}

#[track_caller]
fn works_in(result: &Value, folder: &str) {
    assert_eq!(result["isError"], false, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains(folder), "{folder}: {text}");
}

#[track_caller]
fn refused(result: &Value, rule: &str) {
    assert_eq!(result["isError"], true, "{result}");
    let envelope = &result["structuredContent"];
    assert_eq!(envelope["code"], "permission_denied", "{result}");
    assert_eq!(envelope["error"]["details"]["rule"], rule, "{result}");
    assert!(envelope["error"]["hint"].as_str().is_some_and(|hint| hint.contains("--root")), "{result}");
}

/// Calls over HTTP, as a client of either era.
struct Door {
    _process: McpClient,
    port: u16,
    token: String,
    session: Option<String>,
    era: McpEra,
}

impl Door {
    fn open(sandbox: &Sandbox, mut command: Command, era: McpEra) -> Self {
        command.args(["--http", "127.0.0.1:0"]);
        let process = McpClient::start(command, era, json!({}));
        let port = until("it listens", || {
            let said = process.stderr();
            let rest = said.split("http://127.0.0.1:").nth(1)?;
            rest.contains('\n').then(|| rest.split('/').next()?.parse().ok()).flatten()
        });
        let place = sandbox.state().join("mcp-token");
        let token = until("there is a token", || std::fs::read_to_string(&place).ok());
        let mut door = Self { _process: process, port, token, session: None, era };
        if era == McpEra::Legacy {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "t", "version": "1" },
            });
            door.request("initialize", params);
            door.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), "");
        }
        door
    }

    fn post(&mut self, message: &Value, more: &str) -> (u16, Value) {
        let body = message.to_string();
        let session = self.session.as_ref().map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n{session}{more}\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            self.token.trim(),
            body.len()
        );
        let answer = Wire::open(self.port).unwrap().raw(&head, body.as_bytes()).unwrap();
        if let Some(id) = answer.header("mcp-session-id") {
            self.session = Some(id.to_owned());
        }
        let text = answer.text();
        let mut data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let last = data.rfind(|data| data.starts_with('{')).unwrap_or(text.trim()).to_owned();
        (answer.status, serde_json::from_str(&last).unwrap_or(Value::Null))
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        let mut more = String::new();
        if self.era == McpEra::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "t", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            more = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
            if let Some(name) = params["name"].as_str() {
                more.push_str(&format!("Mcp-Name: {name}\r\n"));
            }
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (status, mut reply) = self.post(&message, &more);
        assert!(status == 200 && reply.get("error").is_none(), "{method}: {status} {reply}");
        reply["result"].take()
    }
}

/// Every method a client of this era calls; each result with the method.
fn walk(era: McpEra, hello: Value, mut request: impl FnMut(&str, Value) -> Value) -> Vec<(String, Value)> {
    let list = request("tools/list", json!({}));
    let names: Vec<String> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
        .collect();
    let mut results = vec![("hello".to_owned(), hello), ("tools/list".to_owned(), list)];
    for (tool, arguments) in [
        ("list_directory", json!({ "path": "." })),
        // Refused by the tool itself.
        ("read_file", json!({ "path": "no-such-file" })),
        // Of somebody else's server: sound, of an unknown kind, broken.
        ("capabilities", json!({})),
        ("hologram", json!({})),
        ("number", json!({})),
    ] {
        let Some(name) = names.iter().find(|name| *name == tool || name.ends_with(&format!("_{tool}")))
        else {
            continue;
        };
        let result = request("tools/call", json!({ "name": name, "arguments": arguments }));
        results.push((format!("{tool} {era:?}"), result));
    }
    results
}

#[test]
fn every_result_is_complete_to_a_modern_client_and_unmarked_to_an_older_one() {
    let desk = Desk::start();
    let project = desk.dir("project");
    let own = |sandbox: &Sandbox| {
        let mut command = sandbox.command(&["mcp", "project_files", "--root", project.to_str().unwrap()]);
        command.current_dir(&project);
        command
    };
    let root = ["--root", project.to_str().unwrap()];
    for era in [McpEra::Legacy, McpEra::Modern] {
        for (what, least) in [("gateway", 7), ("mcp", 4)] {
            let command =
                || if what == "gateway" { desk.gateway(&project, &root) } else { own(&desk.sandbox) };
            let (mut client, hello) = McpClient::connect(command(), era, json!({}));
            let over_stdio = walk(era, hello, |method, params| client.request(method, params));
            let mut door = Door::open(&desk.sandbox, command(), era);
            let hello = match era {
                McpEra::Modern => door.request("server/discover", json!({})),
                McpEra::Legacy => json!({}),
            };
            let over_http = walk(era, hello, |method, params| door.request(method, params));
            for (transport, results) in [("stdio", over_stdio), ("http", over_http)] {
                assert!(results.len() >= least, "{what} {transport}: {results:?}");
                for (method, result) in results {
                    let expected = if era == McpEra::Modern { json!("complete") } else { Value::Null };
                    assert_eq!(result["resultType"], expected, "{what} {transport} {method}: {result}");
                }
            }
        }
    }
}

#[test]
fn a_clients_calls_work_in_the_clients_folder_and_never_in_the_hosts() {
    let desk = Desk::start();
    let (project, second) = (desk.dir("project"), desk.dir("second"));
    let [project_text, second_text] = [&project, &second].map(|path| path.to_str().unwrap().to_owned());
    // The flag, then where the client started it.
    works_in(&desk.reads(&second, &["--root", &project_text]), "project");
    works_in(&desk.reads(&project, &[]), "project");
    // What an older client says it works in comes before where it started us.
    let roots = json!({ "roots": { "listChanged": true } });
    let (mut client, _) = McpClient::connect(desk.gateway(&second, &[]), McpEra::Legacy, roots.clone());
    let name = name_of(&mut client, "read_file");
    let answer = |client: &mut McpClient, uris: &[String]| {
        let asked = client.message_with("method");
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let roots: Vec<Value> = uris.iter().map(|uri| json!({ "uri": uri })).collect();
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
    };
    let id = client.begin_call(&name, json!({ "path": "where.txt" }));
    answer(&mut client, &["https://example.com/".to_owned(), format!("file://{project_text}")]);
    works_in(&client.answer(id), "project");
    // Asked once; again when it says that they are others.
    works_in(&client.call(&name, json!({ "path": "where.txt" })), "project");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    let id = client.begin_call(&name, json!({ "path": "where.txt" }));
    answer(&mut client, &[format!("file://{second_text}")]);
    works_in(&client.answer(id), "second");
    // The home directory is nobody's project unless a person said so; nor is the root of the disk.
    let home = desk.sandbox.home();
    std::fs::write(home.join("where.txt"), "home").unwrap();
    for nowhere in [home.as_path(), Path::new("/"), desk.sandbox.state()] {
        let result = desk.reads(nowhere, &[]);
        refused(&result, "root_required");
    }
    let (mut client, _) = McpClient::connect(desk.gateway(&home, &[]), McpEra::Legacy, roots);
    let id = client.begin_call(&name, json!({ "path": "where.txt" }));
    answer(&mut client, &[format!("file://{}", home.display())]);
    refused(&client.answer(id), "root_required");
    works_in(&desk.reads(&project, &["--root", home.to_str().unwrap()]), "home");
    // Tools that need no folder work, and are told none.
    let (mut client, _) = McpClient::connect(desk.gateway(&home, &[]), McpEra::Modern, json!({}));
    let other = name_of(&mut client, "capabilities");
    let result = client.call(&other, json!({}));
    assert_eq!(result["isError"], false, "{result}");
    let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert!(said["meta"].get("workdir").is_none(), "{said}");
    let (mut client, _) = McpClient::connect(desk.gateway(&project, &[]), McpEra::Modern, json!({}));
    let result = client.call(&other, json!({}));
    let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said["meta"]["workdir"], json!(project.canonicalize().unwrap()));
    // Over the network nobody chooses a folder but the person who started it.
    let mut door = Door::open(&desk.sandbox, desk.gateway(&project, &[]), McpEra::Modern);
    let params = json!({ "name": name, "arguments": { "path": "where.txt" } });
    refused(&door.request("tools/call", params.clone()), "root_required");
    let mut door =
        Door::open(&desk.sandbox, desk.gateway(&second, &["--root", &project_text]), McpEra::Modern);
    works_in(&door.request("tools/call", params), "project");
    // A person's own call still works in the host's project.
    let body =
        json!({ "server": "project_files", "tool": "read_file", "arguments": { "path": "where.txt" } });
    works_in(&desk.host.ask("POST", "/api/v1/tools/call", Some(&body)).json(), "elsewhere");
}

#[test]
fn a_clients_folder_that_may_not_be_one_is_refused() {
    let desk = Desk::start();
    let project = desk.dir("project");
    // Missing, or a file: said at the start.
    for wrong in [desk.dir("missing"), project.join("where.txt")] {
        let outcome =
            desk.sandbox.run_command(desk.gateway(&project, &["--root", wrong.to_str().unwrap(), "--json"]));
        assert_eq!((outcome.status, outcome.code().as_str()), (4, "root_missing"), "{outcome:?}");
    }
    // The state, something in it, and what holds it.
    let inside = desk.sandbox.state().join("logs");
    make_dir(&inside, 0o700);
    for protected in [desk.sandbox.state(), &inside, desk.sandbox.root(), Path::new("/")] {
        refused(&desk.reads(&project, &["--root", protected.to_str().unwrap()]), "protected_path");
    }
    // Outside the agent's own folder.
    let path = format!("/api/v1/agents/{}", desk.agent);
    let body = json!({ "workspaceRoot": project });
    assert_eq!(desk.host.ask("PUT", &path, Some(&body)).status, 200);
    let outside = desk.reads(&desk.dir("second"), &[]);
    refused(&outside, "root_outside_agent");
    let text = outside["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("/project") && text.contains("/second"), "both are named: {text}");
    works_in(&desk.reads(&project, &[]), "project");
    // A folder of a client is absolute.
    let body = json!({
        "server": "project_files", "tool": "read_file", "arguments": { "path": "where.txt" },
        "forClient": true, "root": "project",
    });
    assert_eq!(desk.host.ask("POST", "/api/v1/tools/call", Some(&body)).status, 422);
}

#[test]
fn a_version_of_the_protocol_that_never_was_is_not_spoken() {
    let desk = Desk::start();
    let project = desk.dir("project");
    let own =
        || desk.sandbox.command(&["mcp", "project_files", "--root", desk.dir("project").to_str().unwrap()]);
    for command in [desk.gateway(&project, &[]), own()] {
        let mut client = McpClient::start(command, McpEra::Legacy, json!({}));
        let version = |version: &str| {
            json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            })
        };
        // Before anything was agreed, and after: the refusal names what is spoken.
        let refused = |client: &mut McpClient, name: &str| {
            for (method, mut params) in [
                ("tools/list", json!({})),
                ("tools/call", json!({ "name": name, "arguments": { "path": "." } })),
            ] {
                params["_meta"] = version("1999-01-01");
                let id = client.begin(method, params);
                let reply = client.reply(id);
                assert_eq!(reply["error"]["code"], -32022, "{method}: {reply}");
                let supported = reply["error"]["data"]["supported"].to_string();
                assert!(supported.contains("2026-07-28") && supported.contains("2025-11-25"), "{reply}");
            }
        };
        refused(&mut client, "list_directory");
        // An old handshake is answered with a version that is spoken.
        let params = json!({
            "protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        });
        assert_eq!(client.request("initialize", params)["protocolVersion"], "2025-11-25");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let list = client.request("tools/list", json!({}));
        let mut names = list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str());
        let name = names.find(|name| name.ends_with("list_directory")).unwrap().to_owned();
        refused(&mut client, &name);
        assert_eq!(client.call(&name, json!({ "path": "." }))["isError"], false);
    }
    let mut door = Door::open(&desk.sandbox, own(), McpEra::Legacy);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let (status, reply) = door.post(&message, "MCP-Protocol-Version: 1999-01-01\r\n");
    assert_eq!(status, 400, "{reply}");
}
