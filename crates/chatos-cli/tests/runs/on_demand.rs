//! Hundreds of tools: the model gets a few definitions, finds the rest and calls them; policy, approvals and the
//! journal see the tool itself.

use chatos_testkit::{Sandbox, Script, ScriptedModel, eventually};
use serde_json::{Value, json};

use crate::support::{last, node, send, session, until};

/// A server with two hundred tools that say which one was called.
const MANY: &str = r"
const lines = require('readline').createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const schema = { type: 'object', properties: { colour: { type: 'string', description: 'Which colour' } }, required: ['colour'] };
const tools = Array.from({ length: 200 }, (_, n) => ({
  name: `tool_${n}`, description: n === 150 ? 'Paints the garden fence.' : `Does the ordinary thing with number ${n}.`, inputSchema: schema }));
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'many', version: '1' } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools } });
  } else if (method === 'tools/call') {
    send({ id, result: { content: [{ type: 'text', text: `${params.name} ${params.arguments.colour}` }] } });
  } else if (id !== undefined) {
    send({ id, result: {} });
  }
});
";

fn names(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned)).collect()
}

/// Looks for the fence, calls what was found without its argument, then with it.
fn painter(request: &Value) -> Script {
    let (role, text) = last(request);
    let found = || {
        let messages = request["messages"].as_array().unwrap();
        let told = messages.iter().filter_map(|message| message["content"].as_str());
        let list = told.into_iter().find_map(|text| {
            let found: Value = serde_json::from_str(text).ok()?;
            found["tools"][0]["name"].as_str().map(str::to_owned)
        });
        list.unwrap()
    };
    match role.as_str() {
        "user" => Script::call("find", "find_tools", &json!({ "query": "paint a fence" })),
        _ if text.contains("tool_150 green") => Script::say("painted"),
        _ if text.contains("needs colour") => Script::call(
            "right",
            "call_tool",
            &json!({ "name": found(), "arguments": { "colour": "green" } }),
        ),
        _ if text.contains("\"total\"") => {
            Script::call("wrong", "call_tool", &json!({ "name": found(), "arguments": {} }))
        }
        _ => Script::say(format!("unexpected: {text}")),
    }
}

#[test]
fn a_tool_out_of_two_hundred_is_found_asked_about_by_its_name_and_called() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let model = ScriptedModel::start(painter);
    let script = sandbox.root().join("many.cjs");
    std::fs::write(&script, MANY).unwrap();
    let host = sandbox.serve();
    let post = |path: &str, body: Value| {
        let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()
    };
    let made = post(
        "models",
        json!({ "name": "s", "provider": "openai", "model": "s", "baseUrl": model.base_url(), "contextTokens": 64_000 }),
    );
    post(&format!("models/{}/default", made["id"].as_str().unwrap()), json!({}));
    let server = post("mcp-servers", json!({ "name": "many", "argv": [node(), script.to_str().unwrap()] }));
    let listed = json!([{ "id": server["id"], "tools": { "ask": ["tool_150"] } }]);
    let land = post(
        "land-configs",
        json!({ "name": "many", "main": { "mcpServers": listed }, "sub": { "mcpServers": [] } }),
    );
    let agent = post("agents", json!({ "name": "many", "mode": "flow", "landConfigId": land["id"] }));
    let chat = session(&host, agent["id"].as_str().unwrap());
    let run = send(&host, &chat, "paint the fence");
    // The question is about the tool itself.
    let asked = eventually("a question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"][0]["requestId"].as_str().map(str::to_owned)
    });
    let asked = host.ask("GET", &format!("/api/v1/prompts/{asked}"), None).json();
    let text = asked.to_string();
    assert!(text.contains("tool_150") && !text.contains("call_tool"), "{text}");
    let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
    let answer = json!({ "response": { "status": "ok", "selection": "once" }, "shown": asked["shown"] });
    assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
    until(&host, &run, &["done"]);
    let requests = model.requests();
    assert_eq!(names(&requests[0]), ["call_tool", "find_tools", "get_current_time", "read_result"]);
    assert!(
        requests.iter().all(|request| request["tools"] == requests[0]["tools"]),
        "the list never changes"
    );
    assert!(requests[0]["messages"].to_string().contains("many (200)"), "the servers are named");
    let said = host.ask("GET", &format!("/api/v1/sessions/{chat}/messages"), None).json();
    let known =
        said["messages"].as_array().unwrap().iter().find_map(|one| one.pointer("/usage/context/tools"));
    assert_eq!(known, Some(&json!({ "loaded": 4, "all": 204 })), "{said}");
    assert!(
        last(requests.last().unwrap()).1.contains("tool_150 green"),
        "{:?}",
        last(requests.last().unwrap())
    );
    let trace = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json().to_string();
    assert!(trace.contains("tool_150"), "{trace}");

    // Off, and more than a vendor takes: refused with what to do.
    assert_eq!(sandbox.run(&["settings", "set", "toolSearch", "off"]).status, 0);
    let run = send(&host, &session(&host, agent["id"].as_str().unwrap()), "again");
    let ended = until(&host, &run, &["failed", "error", "interrupted", "done"]);
    assert!(
        ended.to_string().contains("too_many_tools") || ended.to_string().contains("takes 128"),
        "{ended}"
    );
    host.stop();
}

/// A local server keeps 16,384 or 32,768 tokens ready: all our servers together must not fill them.
#[test]
fn every_server_of_ours_works_in_the_window_of_a_local_model() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    let model = ScriptedModel::start(|request| match last(request) {
        (role, _) if role == "user" => {
            Script::call("c", "find_tools", &json!({ "query": "rename a symbol in all files" }))
        }
        (_, text) => Script::say(format!("found: {text}")),
    });
    let host = sandbox.serve();
    let agent = json!({ "name": "dev", "mode": "flow", "landConfigId": "lc_developer" });
    let agent = host.ask("POST", "/api/v1/agents", Some(&agent)).json();
    for (window, deferred) in [(16_384, true), (32_768, true), (65_536, false)] {
        let body = json!({ "name": format!("w{window}"), "provider": "openai_compatible", "model": "s",
            "baseUrl": model.base_url(), "contextTokens": window });
        let made = host.ask("POST", "/api/v1/models", Some(&body)).json();
        let chat = session(&host, agent["id"].as_str().unwrap());
        let chosen = json!({ "modelId": made["id"] });
        assert_eq!(host.ask("PATCH", &format!("/api/v1/sessions/{chat}"), Some(&chosen)).status, 200);
        let run = until(&host, &send(&host, &chat, "hello"), &["done", "failed"]);
        assert_eq!(run["state"], "done", "{window}: {run}");
        let request = model.requests().pop().unwrap();
        let names = names(&request);
        assert_eq!(names.contains(&"find_tools".to_owned()), deferred, "{window}: {names:?}");
        if !deferred {
            continue;
        }
        // Each of what one cannot work without is there once, and the rest is found.
        for tool in ["read_file", "edit_file", "write_file", "run_shell_command", "search_text"] {
            let all = names.iter().filter(|name| name.ends_with(&format!("_{tool}"))).count();
            assert_eq!(all, 1, "{window} {tool}: {names:?}");
        }
        assert!(last(&request).1.contains("lsp_rename"), "{window}: {:?}", last(&request));
    }
    host.stop();
}
