//! The truth table of grants, row by row, through the database and the API of the real program; and
//! keys that must be nowhere.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::disallowed_methods, reason = "tests look into the database with a connection of their own")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use chatos_testkit::{RunningHost, Sandbox};
use rusqlite::Connection;
use serde_json::{Value, json};

const ROUTER: &str = "36bb1921-66e8-4901-9739-2177349f5dd4";

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

fn ask(host: &RunningHost, method: &str, path: &str, body: &Value) -> Value {
    let body = Some(body).filter(|body| !body.is_null());
    let answer = host.ask(method, &format!("/api/v1/{path}"), body);
    assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// A plugin with one app that has a server; trusted or not.
fn plugin(sandbox: &Sandbox, id: &str, trusted: bool) {
    let source = sandbox.root().join("source").join(id);
    fs::create_dir_all(source.join("x")).unwrap();
    fs::write(source.join("x/index.mjs"), "export function mount() {}\n").unwrap();
    let manifest = json!({ "id": id, "name": id, "apps": [
        { "id": "x", "name": "X", "entry": "x/index.mjs", "ai": { "mcp": { "url": "https://example.com/mcp" } } }] });
    fs::write(source.join("plugin.json"), manifest.to_string()).unwrap();
    assert_eq!(sandbox.run(&["plugin", "install", source.to_str().unwrap(), "--json"]).status, 0);
    if trusted {
        let digest =
            sandbox.run(&["plugin", "show", id, "--json"]).json()["digest"].as_str().unwrap().to_owned();
        assert_eq!(sandbox.run(&["plugin", "trust", id, "--digest", &digest, "--json"]).status, 0);
    }
}

/// Servers of a person, with their switches.
fn servers(sandbox: &Sandbox) {
    let database = Connection::open(sandbox.state().join("state.db")).unwrap();
    for (id, enabled, main, sub) in [
        ("srv", 1, 1, 1),
        ("srv-two", 1, 1, 1),
        ("srv-off", 0, 1, 1),
        ("srv-no-main", 1, 0, 1),
        ("srv-no-sub", 1, 1, 0),
    ] {
        database
            .execute(
                "INSERT INTO mcp_servers (id, name, url, enabled, allow_main, allow_sub, source, created_at, updated_at)
                 VALUES (?1, ?1, 'http://127.0.0.1:9/mcp', ?2, ?3, ?4, 'user', 1, 1)",
                (id, enabled, main, sub),
            )
            .unwrap();
    }
}

/// A land_config with the same flow for both roles.
fn land(host: &RunningHost, name: &str, flow: &Value) -> String {
    let body = json!({ "name": name, "main": flow, "sub": flow });
    ask(host, "POST", "land-configs", &body)["id"].as_str().unwrap().to_owned()
}

fn agent(host: &RunningHost, body: &Value) -> String {
    ask(host, "POST", "agents", body)["id"].as_str().unwrap().to_owned()
}

/// What is said of a server: `granted`, or the code.
fn verdict(explained: &Value, name: &str) -> String {
    if let Some(stop) = explained.get("stop") {
        return stop["code"].as_str().unwrap().to_owned();
    }
    let servers = explained["servers"].as_array().unwrap();
    let Some(found) = servers.iter().find(|server| server["name"] == name || server["identity"] == name)
    else {
        return "unknown".to_owned();
    };
    if found["granted"] == true { "granted".to_owned() } else { found["code"].as_str().unwrap().to_owned() }
}

#[test]
fn every_row_of_the_truth_table_for_both_roles() {
    let sandbox = sandbox();
    plugin(&sandbox, "com.example.t", true);
    plugin(&sandbox, "com.example.u", false);
    servers(&sandbox);
    let host = sandbox.serve();
    let all = ["srv", "srv-off", "srv-no-main", "srv-no-sub", ROUTER];
    let listed: Vec<Value> = all.iter().map(|id| json!({ "id": id })).collect();
    let full = land(
        &host,
        "Full",
        &json!({ "mcpServers": listed, "apps": [{ "pluginId": "com.example.u", "appId": "x" }] }),
    );
    let filtered = json!({ "mcpServers": [{ "id": "srv", "tools": { "deny": ["*"] } }, { "id": "srv-two", "tools": { "allow": [] } }] });
    let filtered = land(&host, "Filtered", &filtered);
    let apps = land(&host, "Apps", &json!({ "agentApps": "trusted" }));
    let none = land(&host, "None", &json!({}));
    let app = json!([{ "pluginId": "com.example.t", "appId": "x" }]);
    let (own, foreign) = ("com.example.t.x", "com.example.u.x");
    let flow = |land: &str| json!({ "name": "F", "mode": "flow", "landConfigId": land });
    let custom = |land: &str, more: Value| {
        let mut body = json!({ "name": "C", "mode": "custom", "landConfigId": land });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    // Agent, server, what main and what sub is told.
    let rows: Vec<(&str, Value, &str, &str, &str)> = vec![
        ("3 not listed", flow(&full), "srv-two", "not_in_land_config", "not_in_land_config"),
        ("4 granted", flow(&full), "srv", "granted", "granted"),
        ("5 disabled", flow(&full), "srv-off", "disabled", "disabled"),
        ("5 untrusted", flow(&full), foreign, "untrusted", "untrusted"),
        ("6 main", flow(&full), "srv-no-main", "main_not_allowed", "granted"),
        ("6 sub", flow(&full), "srv-no-sub", "granted", "sub_not_allowed"),
        ("8 safe default", custom("", json!({})), "task_manager", "granted", "granted"),
        ("8 and no more", custom("", json!({})), "code_writer", "not_in_land_config", "not_in_land_config"),
        ("9 not chosen", custom(&full, json!({ "mcpServerIds": [] })), "srv", "not_chosen", "not_chosen"),
        (
            "10 only chosen",
            custom(&full, json!({ "mcpServerIds": ["srv-two"] })),
            "srv-two",
            "not_in_land_config",
            "not_in_land_config",
        ),
        ("11 trusted app", custom(&apps, json!({ "uiApps": app })), own, "granted", "granted"),
        (
            "12 no apps",
            custom(&none, json!({ "uiApps": app })),
            own,
            "not_in_land_config",
            "not_in_land_config",
        ),
        ("flow ignores apps", flow(&apps), own, "not_in_land_config", "not_in_land_config"),
    ];
    for (row, body, server, main, sub) in rows {
        let id = agent(&host, &body);
        for (role, expected) in [("main", main), ("sub", sub)] {
            let explained = ask(&host, "GET", &format!("agents/{id}/explain?role={role}"), &Value::Null);
            assert_eq!(verdict(&explained, server), expected, "row {row}, {role}: {explained}");
        }
        ask(&host, "DELETE", &format!("agents/{id}"), &Value::Null);
    }
    // Row 7: the server is granted, its tools are not.
    let id = agent(&host, &flow(&filtered));
    for role in ["main", "sub"] {
        let explained =
            ask(&host, "GET", &format!("agents/{id}/explain?role={role}&tool=anything"), &Value::Null);
        for (server, rule) in [("srv", "deny `*`"), ("srv-two", "fits no pattern of `allow`")] {
            let servers = explained["servers"].as_array().unwrap();
            let tool = &servers.iter().find(|found| found["name"] == server).unwrap()["tools"][0];
            assert_eq!((&tool["granted"], &tool["code"]), (&json!(false), &json!("tool_filtered")), "{role}");
            assert_eq!(tool["rule"], rule);
        }
    }
    // Row 13: whatever a land_config says, the router is not in the sub flow.
    let id = agent(&host, &flow(&full));
    let sub = ask(&host, "GET", &format!("agents/{id}/explain?role=sub"), &Value::Null);
    let router = verdict(&sub, &format!("admin:{ROUTER}"));
    assert!(router == "router_in_sub" || router == "unknown", "{router}");
    // Rows 1 and 2: what cannot be saved, but can be found in a database.
    host.stop();
    let database = Connection::open(sandbox.state().join("state.db")).unwrap();
    for (id, mode, land) in [("a1", "flow", ""), ("a2", "flow", "lc_gone"), ("a3", "custom", "lc_gone")] {
        let sql = "INSERT INTO agents (id, name, mode, land_config_id, created_at, updated_at) VALUES (?1, ?1, ?2, ?3, 1, 1)";
        database.execute(sql, (id, mode, land)).unwrap();
    }
    drop(database);
    let host = sandbox.serve();
    for (id, code) in
        [("a1", "land_config_required"), ("a2", "land_config_missing"), ("a3", "land_config_missing")]
    {
        for role in ["main", "sub"] {
            let explained = ask(&host, "GET", &format!("agents/{id}/explain?role={role}"), &Value::Null);
            assert_eq!(verdict(&explained, "srv"), code, "{id} {role}");
            assert_eq!(explained["servers"], json!([]));
        }
    }
}

#[test]
fn granting_one_server_grants_no_other_with_a_similar_name() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["agent", "list"]).status, 0);
    let database = Connection::open(sandbox.state().join("state.db")).unwrap();
    for id in ["code", "code_writer2"] {
        let sql = "INSERT INTO mcp_servers (id, name, url, source, created_at, updated_at) VALUES (?1, ?1, 'http://127.0.0.1:9', 'user', 1, 1)";
        database.execute(sql, [id]).unwrap();
    }
    drop(database);
    let host = sandbox.serve();
    for (listed, other) in [("code", "code_writer2"), ("code_writer2", "code")] {
        let land = land(&host, listed, &json!({ "mcpServers": [{ "id": listed }] }));
        let id = agent(&host, &json!({ "name": "A", "mode": "flow", "landConfigId": land }));
        let explained = ask(&host, "GET", &format!("agents/{id}/explain"), &Value::Null);
        assert_eq!(verdict(&explained, listed), "granted");
        assert_eq!(verdict(&explained, other), "not_in_land_config");
        assert_eq!(verdict(&explained, "code_writer"), "not_in_land_config");
    }
}

/// A vendor that refuses every key and repeats it.
fn leaking_vendor() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = vec![0; 16 * 1024];
            let Ok(read) = stream.read(&mut head) else { continue };
            let text = String::from_utf8_lossy(&head[..read]).into_owned();
            let key = text
                .lines()
                .find(|line| line.to_lowercase().starts_with("authorization:"))
                .unwrap_or("no key");
            let body =
                json!({ "error": { "message": format!("your key is wrong: {key}"), "type": "invalid" } })
                    .to_string();
            let answer = format!(
                "HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    base
}

/// Every file below a folder that holds these bytes.
fn holding(dir: &Path, needle: &[u8], found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            holding(&path, needle, found);
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(needle.len()).any(|window| window == needle)
        {
            found.push(path.display().to_string());
        }
    }
}

#[test]
fn a_key_is_in_no_file_and_no_answer() {
    let stored = "sk-canary-stored-7f3a9c";
    let from_env = "sk-canary-env-1b2d4e";
    let mut sandbox = sandbox();
    sandbox.set_variable("CANARY_ENV_KEY", from_env);
    let host = sandbox.serve();
    let base = leaking_vendor();
    for (name, key_name, key) in [("stored", "CANARY_KEY", Some(stored)), ("env", "CANARY_ENV_KEY", None)] {
        let mut body = json!({ "name": name, "provider": "openai_compatible", "model": "m", "baseUrl": base, "apiKeyName": key_name });
        if let Some(key) = key {
            body["apiKey"] = json!(key);
        }
        let model = ask(&host, "POST", "models", &body);
        assert_eq!((&model["usable"], model.get("apiKey")), (&json!(true), None));
        let tested = ask(&host, "POST", &format!("models/{name}/test"), &json!({}));
        // The vendor did get the key, and its complaint reached us without it.
        assert_eq!((&tested["ok"], &tested["class"]), (&json!(false), &json!("auth")), "{tested}");
        assert!(tested["message"].as_str().unwrap().contains("your key is wrong"), "{tested}");
        for answer in [&model, &tested, &ask(&host, "GET", "models", &Value::Null)] {
            assert!(!answer.to_string().contains("sk-canary"), "{answer}");
        }
    }
    // The setting takes the environment away.
    ask(&host, "PUT", "settings/modelKeysFromEnv", &json!({ "value": false }));
    let tested = ask(&host, "POST", "models/env/test", &json!({}));
    assert_eq!(tested["class"], "config");
    assert!(tested["message"].as_str().unwrap().contains("no key named CANARY_ENV_KEY"), "{tested}");
    host.stop();
    for key in [stored, from_env] {
        let mut found = Vec::new();
        holding(sandbox.state(), key.as_bytes(), &mut found);
        assert_eq!(found, Vec::<String>::new(), "{key}");
    }
}
