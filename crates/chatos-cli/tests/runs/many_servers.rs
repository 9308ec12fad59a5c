//! Thirty servers with twelve tools each (working-day §8, §13 point 12): forty requests in English and Chinese find their
//! tool and call it through the built program, a question names the tool itself, a request costs hardly more than with
//! three servers, and a vendor that takes 128 tools is never sent 129.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chatos_testkit::{RunningHost, Sandbox, Script, ScriptedModel, eventually};
use serde_json::{Value, json};

use crate::support::{last, node, send, session, until};

#[path = "../../../chatos-servers/src/search/tests/wanted.rs"]
mod wanted;

use wanted::REQUESTS;

/// Offers the tools of a file; each says that it was called.
const SERVER: &str = r"
const tools = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'));
const lines = require('readline').createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'one', version: '1' } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools } });
  } else if (method === 'tools/call') {
    send({ id, result: { content: [{ type: 'text', text: `called ${params.name} with ${params.arguments.name}` }] } });
  } else if (id !== undefined) {
    send({ id, result: {} });
  }
});
";
/// Tools of one request that the scripted vendor takes.
const MOST: usize = 128;
/// What a person is asked before.
const ASKED: &str = "create_issue";

fn tools(request: &Value) -> usize {
    request["tools"].as_array().map_or(0, Vec::len)
}

/// Bytes of a request before anything was said.
fn cost(request: &Value) -> usize {
    request["tools"].to_string().len() + request["messages"][0].to_string().len()
}

/// Looks for what it is asked to do, word for word, and calls the tool that belongs to it.
fn work(request: &Value, ranks: &Mutex<BTreeMap<usize, Option<usize>>>) -> Script {
    if tools(request) > MOST {
        let message = format!(
            "Invalid 'tools': array too long. Expected an array with maximum length {MOST}, but got an array with length {} instead.",
            tools(request)
        );
        let error = json!({ "message": message, "param": "tools", "code": "array_above_max_length" });
        return Script::Refuse { status: 400, headers: Vec::new(), body: json!({ "error": error }) };
    }
    let messages = request["messages"].as_array().unwrap();
    if !messages.iter().any(|said| said["role"] == "user" && said.to_string().contains("forty")) {
        return Script::say("ready");
    }
    let done = messages.iter().filter(|said| said["role"] == "tool").count();
    let (number, looked) = (done / 2, done % 2 == 1);
    let Some((query, wanted)) = REQUESTS.get(number) else { return Script::say("done") };
    if !looked {
        return Script::call(format!("find-{number}"), "find_tools", &json!({ "query": query, "limit": 5 }));
    }
    let found: Value = serde_json::from_str(&last(request).1).unwrap_or_default();
    let names = found["tools"].as_array().into_iter().flatten().map(|tool| tool["name"].as_str());
    let rank = names.into_iter().position(|name| name == Some(*wanted));
    ranks.lock().unwrap().insert(number, rank);
    let arguments = json!({ "name": wanted, "arguments": { "name": format!("n{number}") } });
    Script::call(format!("call-{number}"), "call_tool", &arguments)
}

/// An agent with some of the servers.
fn agent(host: &RunningHost, name: &str, servers: &[Value]) -> String {
    let post = |path: &str, body: Value| {
        let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    };
    let main = json!({ "mcpServers": servers });
    let land = post("land-configs", json!({ "name": name, "main": main, "sub": { "mcpServers": [] } }));
    post("agents", json!({ "name": name, "mode": "flow", "landConfigId": land }))
}

/// Adds all servers; gives each with its name, as a permissions profile names it.
fn add_all(host: &RunningHost, place: &Path) -> Vec<(String, Value)> {
    let script = place.join("one.cjs");
    std::fs::write(&script, SERVER).unwrap();
    let mut of: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for tool in wanted::offered() {
        let schema = json!({ "type": "object", "properties": {
            tool.parameter: { "type": "string", "description": tool.about }, "limit": { "type": "integer" } } });
        of.entry(tool.server)
            .or_default()
            .push(json!({ "name": tool.tool, "description": tool.description, "inputSchema": schema }));
    }
    let add = |(name, tools): (&str, Vec<Value>)| {
        assert_eq!(tools.len(), 12, "{name}");
        let file = place.join(format!("{name}.json"));
        std::fs::write(&file, json!(tools).to_string()).unwrap();
        let body = json!({ "name": name, "argv": [node(), script, file] });
        let made = host.ask("POST", "/api/v1/mcp-servers", Some(&body));
        assert!(made.status < 300, "{name}: {}", made.text());
        let asks = if name == "github" { json!({ "ask": [ASKED] }) } else { json!({}) };
        (name.to_owned(), json!({ "id": made.json()["id"], "tools": asks }))
    };
    of.into_iter().map(add).collect()
}

#[test]
fn forty_requests_find_their_tool_among_thirty_servers() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let ranks = Arc::<Mutex<BTreeMap<usize, Option<usize>>>>::default();
    let noted = Arc::clone(&ranks);
    let model = ScriptedModel::start(move |request| work(request, &noted));
    let host = sandbox.serve();
    let body = json!({ "name": "s", "provider": "openai", "model": "s", "baseUrl": model.base_url(),
        "contextTokens": 1_000_000 });
    let made = host.ask("POST", "/api/v1/models", Some(&body)).json();
    host.ask("POST", &format!("/api/v1/models/{}/default", made["id"].as_str().unwrap()), Some(&json!({})));
    let set = json!({ "value": 500 });
    assert!(host.ask("PUT", "/api/v1/settings/maxToolPasses", Some(&set)).status < 300);
    let servers = add_all(&host, sandbox.root());
    assert_eq!(servers.len(), 30);
    let granted: Vec<Value> = servers.iter().map(|(_, entry)| entry.clone()).collect();
    let (few, all) = (agent(&host, "few", &granted[..3]), agent(&host, "all", &granted));
    // Everybody is there: thirty programs take their time to start.
    let ready = |agent: &str, named: &[(String, Value)]| {
        eventually("all servers are ready", || {
            let chat = session(&host, agent);
            until(&host, &send(&host, &chat, "hello"), &["done"]);
            let first = model.requests().pop().unwrap();
            let whole = first.to_string();
            named
                .iter()
                .all(|(name, _)| {
                    whole.contains(&format!("{name} (12)")) || whole.contains(&format!("mcp_{name}_"))
                })
                .then_some(first)
        })
    };
    let (three, thirty) = (ready(&few, &servers[..3]), ready(&all, &servers));
    assert!(tools(&three) > 36 && tools(&thirty) < 10, "{} and {} tools", tools(&three), tools(&thirty));
    let (three, thirty) = (cost(&three), cost(&thirty));
    assert!(thirty * 4 <= three * 5, "{thirty} bytes for thirty servers, {three} for three");

    let chat = session(&host, &all);
    let run = send(&host, &chat, "all forty, please");
    // One of them is asked about, under its own name.
    let asked = eventually("a question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"][0]["requestId"].as_str().map(str::to_owned)
    });
    let asked = host.ask("GET", &format!("/api/v1/prompts/{asked}"), None).json();
    let text = asked.to_string();
    assert!(text.contains(ASKED) && text.contains("github") && !text.contains("call_tool"), "{text}");
    let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
    let answer = json!({ "response": { "status": "ok", "selection": "once" }, "shown": asked["shown"] });
    assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
    until(&host, &run, &["done"]);
    let ranks = ranks.lock().unwrap();
    let missed: Vec<&str> =
        ranks.iter().filter(|(_, rank)| rank.is_none()).map(|(number, _)| REQUESTS[*number].0).collect();
    assert_eq!(ranks.len(), REQUESTS.len());
    assert!(REQUESTS.len() - missed.len() >= 36, "not among the first five: {missed:#?}");
    // Each was called itself.
    let requests = model.requests();
    let told = requests.last().unwrap()["messages"].to_string();
    for (number, (_, wanted)) in REQUESTS.iter().enumerate() {
        let server =
            servers.iter().map(|(name, _)| format!("mcp_{name}_")).find(|prefix| wanted.starts_with(prefix));
        let tool = wanted.strip_prefix(&server.unwrap()).unwrap();
        assert!(told.contains(&format!("called {tool} with n{number}")), "{wanted}");
    }
    assert!(requests.iter().all(|request| tools(request) <= MOST));
    assert_eq!(requests.len(), model.asked());
    host.stop();
}
