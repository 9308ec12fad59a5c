//! A server or an app given to an agent in one step, and taken back: nobody else gains or loses anything (packages §9).

use chatos_testkit::{RunningHost, Sandbox};
use serde_json::{Value, json};

use crate::support;

fn ask(host: &RunningHost, method: &str, path: &str, body: &Value, status: u16) -> Value {
    let body = Some(body).filter(|body| !body.is_null());
    let answer = host.ask(method, &format!("/api/v1/{path}"), body);
    assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
    answer.json()
}

fn give(host: &RunningHost, body: &Value) -> Value {
    ask(host, "POST", "grants/servers", body, 200)
}

/// What an agent may do with a server in a role: whether it is granted, and its tools with whether a person is asked.
fn may(host: &RunningHost, agent: &str, role: &str, server: &str) -> (bool, Vec<(String, bool)>) {
    let explained = ask(host, "GET", &format!("agents/{agent}/explain?role={role}"), &Value::Null, 200);
    let all = explained["servers"].as_array().unwrap();
    let Some(found) = all.iter().find(|one| one["name"] == server) else { return (false, Vec::new()) };
    let tools = found["tools"].as_array().into_iter().flatten().filter(|tool| tool["granted"] == true);
    let tools = tools.map(|tool| (tool["tool"].as_str().unwrap().to_owned(), tool["ask"] == true));
    (found["granted"] == true, tools.collect())
}

fn users(host: &RunningHost, server: &str) -> Vec<String> {
    let all = ask(host, "GET", "grants/servers", &Value::Null, 200);
    let found = all["items"].as_array().unwrap().iter().find(|one| one["name"] == server).unwrap().clone();
    found["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["name"].as_str().unwrap().to_owned())
        .collect()
}

fn with_server() -> (Sandbox, RunningHost) {
    let sandbox = support::sandbox();
    support::add(&sandbox, "notes", &[]);
    let host = sandbox.serve();
    ask(&host, "POST", "mcp-servers/notes/connect", &json!({}), 200);
    ask(&host, "GET", "mcp-servers/notes/tools", &Value::Null, 200);
    (sandbox, host)
}

#[test]
fn an_added_server_is_nobodys_until_it_is_given_and_then_each_tool_is_asked_about() {
    let sandbox = support::sandbox();
    let script = sandbox.root().join("echo.mjs");
    let mut command = sandbox.bare::<&str>(&[]);
    command.arg("--state-dir").arg(sandbox.state()).args(["mcp", "servers", "add", "my notes", "--", "node"]);
    command.arg(&script);
    let added = sandbox.run_command(command);
    assert!(added.stdout.contains("no agent can use `my notes` yet"), "{added:?}");
    assert!(added.stdout.contains("chatos grant 'my notes' --agent default"), "{added:?}");

    let host = sandbox.serve();
    ask(&host, "POST", "mcp-servers/my%20notes/connect", &json!({}), 200);
    assert_eq!(users(&host, "my notes"), [""; 0]);
    let unused = || {
        let report = ask(&host, "GET", "doctor", &Value::Null, 200);
        let findings = report["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["code"] == "servers_unused")
    };
    let told = unused().unwrap();
    assert_eq!((&told["severity"], &told["message"]), (&json!("info"), &json!("no agent may use: my notes")));
    assert!(told["action"].as_str().unwrap().contains("chatos grant 'my notes' --agent default"), "{told}");
    let wanted = give(&host, &json!({ "server": "my no", "agent": "default", "dryRun": true }));
    assert_eq!(wanted["copiedFrom"]["id"], "lc_safe_default", "{wanted}");
    assert_eq!(users(&host, "my notes"), [""; 0], "looking gives nothing");

    let given = sandbox.run(&["grant", "my notes", "--agent", "default"]);
    assert_eq!(given.status, 0, "{given:?}");
    assert!(given.stdout.contains("ChatOS can use `my notes` and asks before each tool"), "{given:?}");
    assert_eq!(users(&host, "my notes"), ["ChatOS"]);
    assert_eq!(unused(), None);
    let (granted, tools) = may(&host, "agent_default", "main", "my notes");
    assert!(granted && !tools.is_empty() && tools.iter().all(|(_, asks)| *asks), "{tools:?}");
    assert!(!may(&host, "agent_default", "sub", "my notes").0);
    assert!(may(&host, "agent_default", "main", "project_files").0, "what it had it keeps");
    let again = sandbox.run(&["grant", "my notes", "--agent", "ChatOS"]);
    assert!(again.stdout.contains("nothing changes"), "{again:?}");

    // The locked profile is as it was, and the agent has one copy.
    let lands = ask(&host, "GET", "land-configs", &Value::Null, 200);
    let names: Vec<&str> =
        lands["items"].as_array().unwrap().iter().map(|land| land["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Developer", "Safe default", "Safe default – ChatOS"]);
    let audit = sandbox.run(&["grant", "my notes", "--agent", "ChatOS", "--revoke"]);
    assert_eq!(audit.status, 0, "{audit:?}");
    assert_eq!(users(&host, "my notes"), [""; 0]);
    assert_eq!(sandbox.run(&["grant", "nothing", "--agent", "default"]).status, 4);
    assert_eq!(sandbox.run(&["grant", "my notes", "--agent", "nobody"]).status, 4);
    // Refused before anything is added.
    let for_nobody = ["mcp", "servers", "add", "late", "https://late.example/mcp", "--grant", "nobody"];
    assert_eq!(sandbox.run(&for_nobody).status, 4);
    assert_eq!(sandbox.run(&["mcp", "servers", "show", "late"]).status, 4);
    let untrusted = sandbox.run(&["plugin", "install", ".", "--grant", "default"]);
    assert!(untrusted.status == 2 && untrusted.stderr.contains("--trust"), "{untrusted:?}");
}

#[test]
fn a_profile_of_several_agents_is_copied_and_ones_own_is_not() {
    let (_sandbox, host) = with_server();
    let land = json!({ "name": "team", "main": {}, "sub": {} });
    let land = ask(&host, "POST", "land-configs", &land, 201)["id"].clone();
    let make = |name: &str| {
        let body = json!({ "name": name, "mode": "flow", "landConfigId": land });
        ask(&host, "POST", "agents", &body, 201)["id"].as_str().unwrap().to_owned()
    };
    let (one, two) = (make("one"), make("two"));
    let first = give(&host, &json!({ "server": "notes", "agent": "one", "sub": true, "ask": "no" }));
    assert_eq!(first["copiedFrom"]["name"], "team");
    assert_eq!(first["landConfig"]["name"], "team – one");
    let (granted, tools) = may(&host, &one, "sub", "notes");
    assert!(granted && tools.iter().all(|(_, asks)| !asks), "{tools:?}");
    assert!(!may(&host, &two, "main", "notes").0, "the other one gains nothing");
    let second = give(&host, &json!({ "server": "notes", "agent": "two", "tools": ["echo.params"] }));
    assert_eq!(second["copiedFrom"], Value::Null, "it is alone in it now: {second}");
    assert_eq!(may(&host, &two, "main", "notes").1, [("echo.params".to_owned(), true)]);
    // All of its tools now; what was allowed before is asked about with the others.
    give(&host, &json!({ "server": "notes", "agent": "two" }));
    assert!(may(&host, &two, "main", "notes").1.len() > 1);
    // One tool is taken back, then everything.
    give(&host, &json!({ "server": "notes", "agent": "two", "tools": ["echo.params"], "revoke": true }));
    assert!(!may(&host, &two, "main", "notes").1.iter().any(|(tool, _)| tool == "echo.params"));
    give(&host, &json!({ "server": "notes", "agent": "two", "tools": ["echo.params"] }));
    assert!(
        !may(&host, &two, "main", "notes").1.iter().any(|(tool, _)| tool == "echo.params"),
        "denied stays denied"
    );
    give(&host, &json!({ "server": "notes", "agent": "two", "revoke": true }));
    assert_eq!(users(&host, "notes"), ["one"]);
}

#[test]
fn an_agent_that_chose_its_servers_and_apps_keeps_its_other_choices() {
    let (sandbox, host) = with_server();
    let files = ask(&host, "GET", "mcp-servers/project_files", &Value::Null, 200)["id"].clone();
    let body = json!({ "name": "picky", "mode": "custom", "mcpServerIds": [files] });
    let picky = ask(&host, "POST", "agents", &body, 201)["id"].as_str().unwrap().to_owned();
    give(&host, &json!({ "server": "notes", "agent": "picky" }));
    assert!(may(&host, &picky, "main", "notes").0 && may(&host, &picky, "main", "project_files").0);
    let land = ask(&host, "GET", &format!("agents/{picky}"), &Value::Null, 200)["landConfigId"].clone();
    give(&host, &json!({ "server": "notes", "agent": "picky", "revoke": true }));
    let after = ask(&host, "GET", &format!("agents/{picky}"), &Value::Null, 200);
    assert_eq!((&after["mcpServerIds"], &after["landConfigId"]), (&json!([files]), &land));
    assert!(!may(&host, &picky, "main", "notes").0);

    support::plugin(&sandbox, &json!({}), None);
    let all = ask(&host, "GET", "grants/servers", &Value::Null, 200);
    let app = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["pluginId"] == "com.example.echo")
        .unwrap()
        .clone();
    let (name, plugin) = (app["name"].as_str().unwrap(), app["pluginId"].as_str().unwrap());
    let key = format!("{plugin}/{}", app["appId"].as_str().unwrap());
    give(&host, &json!({ "server": key, "agent": "default" }));
    assert!(may(&host, "agent_default", "main", name).0);
    give(&host, &json!({ "server": plugin, "agent": "picky" }));
    assert!(may(&host, &picky, "main", name).0 && may(&host, &picky, "main", "project_files").0);
    give(&host, &json!({ "server": plugin, "agent": "picky", "revoke": true }));
    assert!(!may(&host, &picky, "main", name).0);
    ask(&host, "POST", &format!("plugins/{plugin}/untrust"), &json!({}), 200);
    let refused = ask(&host, "POST", "grants/servers", &json!({ "server": plugin, "agent": "picky" }), 403);
    assert_eq!(refused["error"]["code"], "untrusted", "{refused}");
}
