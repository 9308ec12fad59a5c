//! Agents, land_configs, prompts and models through the real program and its API.

use chatos_testkit::{RunningHost, Sandbox};
use serde_json::{Value, json};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

/// Asks and expects a status.
fn ask(host: &RunningHost, method: &str, path: &str, body: Value, status: u16) -> Value {
    let body = Some(&body).filter(|body| !body.is_null());
    let answer = host.ask(method, &format!("/api/v1/{path}"), body);
    assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
    answer.json()
}

fn get(host: &RunningHost, path: &str) -> Value {
    ask(host, "GET", path, Value::Null, 200)
}

fn code(value: &Value) -> &str {
    value["error"]["code"].as_str().unwrap_or_default()
}

/// The explanation of one server.
fn server<'a>(explained: &'a Value, name: &str) -> &'a Value {
    let mut servers = explained["servers"].as_array().into_iter().flatten();
    servers.find(|server| server["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn a_fresh_state_has_the_built_in_rows_and_an_agent() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let models = get(&host, "models");
    assert_eq!(models["items"].as_array().unwrap().len(), 1);
    let demo = &models["items"][0];
    assert_eq!((&demo["provider"], &demo["source"]), (&json!("demo"), &json!("builtin")));
    assert_eq!((&demo["isDefault"], &demo["usable"]), (&json!(true), &json!(true)));
    let lands = get(&host, "land-configs");
    let ids: Vec<&str> = lands["items"].as_array().unwrap().iter().filter_map(|l| l["id"].as_str()).collect();
    assert!(ids.contains(&"lc_safe_default") && ids.contains(&"lc_developer"));
    let agents = get(&host, "agents");
    let agent = &agents["items"][0];
    assert_eq!((&agent["mode"], &agent["landConfigId"]), (&json!("custom"), &json!("lc_safe_default")));
    assert_eq!((&agent["mcpServerIds"], &agent["modelId"]), (&Value::Null, &Value::Null));
    let prompts = get(&host, "system-prompts");
    let names: Vec<&str> =
        prompts["items"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    for key in ["default", "default__en", "internal_main", "internal_subagent__en"] {
        assert!(names.contains(&key), "{key}");
    }
    let id = agent["id"].as_str().unwrap();
    let main = get(&host, &format!("agents/{id}/explain"));
    assert_eq!(server(&main, "task_manager")["granted"], true);
    assert_eq!(server(&main, "code_writer")["granted"], false);
    assert_eq!(server(&main, "code_writer")["code"], "not_in_land_config");
    assert!(server(&main, "project_files")["tools"].as_array().unwrap().iter().all(|t| t["granted"] == true));
    // A second start changes nothing.
    host.stop();
    let host = sandbox.serve();
    assert_eq!(get(&host, "agents"), agents);
    assert_eq!(get(&host, "models")["items"][0]["updatedAt"], demo["updatedAt"]);
}

#[test]
fn flow_agents_need_a_land_config_and_keep_nothing_of_their_own() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let refused =
        ask(&host, "POST", "agents", json!({ "name": "F", "mode": "flow", "landConfigId": "" }), 422);
    assert_eq!(code(&refused), "land_config_required");
    let refused =
        ask(&host, "POST", "agents", json!({ "name": "F", "mode": "flow", "landConfigId": "lc_gone" }), 422);
    assert_eq!(code(&refused), "land_config_missing");
    let refused = ask(&host, "POST", "agents", json!({ "name": "F", "mode": "free" }), 422);
    assert_eq!(refused["error"]["details"]["errors"][0]["path"], "/mode");
    let body = json!({ "name": "F", "mode": "flow", "landConfigId": "lc_developer", "prompt": "x",
        "mcpServerIds": [], "skills": ["s"], "uiApps": [{ "pluginId": "com.a", "appId": "x" }] });
    let made = ask(&host, "POST", "agents", body, 201);
    assert_eq!((&made["prompt"], &made["mcpServerIds"]), (&json!(""), &Value::Null));
    assert_eq!((&made["skills"], &made["uiApps"]), (&json!([]), &json!([])));
    let id = made["id"].as_str().unwrap();
    let main = get(&host, &format!("agents/{id}/explain?role=main"));
    let shell = server(&main, "shell_tasks");
    let run = shell["tools"].as_array().unwrap().iter().find(|t| t["tool"] == "run_shell_command").unwrap();
    // Which commands ask is the sandbox's matter, not the land_config's.
    assert_eq!((&run["granted"], &run["ask"]), (&json!(true), &json!(false)));
    // Still saved with a land_config that cannot go meanwhile.
    let copy = ask(&host, "POST", "land-configs/lc_developer/copy", json!({ "name": "Mine" }), 201);
    let land = copy["id"].as_str().unwrap();
    ask(&host, "PUT", &format!("agents/{id}"), json!({ "landConfigId": land }), 200);
    let used = ask(&host, "DELETE", &format!("land-configs/{land}"), Value::Null, 409);
    assert_eq!((code(&used), &used["error"]["details"]["usedBy"][0]["name"]), ("in_use", &json!("F")));
    ask(&host, "DELETE", &format!("agents/{id}"), Value::Null, 200);
    ask(&host, "DELETE", &format!("land-configs/{land}"), Value::Null, 200);
    ask(&host, "DELETE", "land-configs/lc_safe_default", Value::Null, 403);
    ask(&host, "PUT", "land-configs/lc_safe_default", json!({ "name": "x", "main": {}, "sub": {} }), 403);
}

#[test]
fn a_preview_says_what_would_change_and_saves_nothing() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let agents = get(&host, "agents");
    let id = agents["items"][0]["id"].as_str().unwrap();
    let agent = json!({ "id": id, "mode": "flow", "landConfigId": "lc_developer" });
    let preview = ask(&host, "POST", "agents/preview", json!({ "agent": agent, "role": "main" }), 200);
    let changes = preview["changes"].as_array().unwrap();
    assert!(changes.iter().any(|c| c["kind"] == "gained" && c["server"] == "code_writer"), "{changes:?}");
    assert!(changes.iter().all(|c| c["kind"] != "lost"));
    let agent = json!({ "id": id, "mcpServerIds": [] });
    let preview = ask(&host, "POST", "agents/preview", json!({ "agent": agent }), 200);
    let lost = preview["changes"].as_array().unwrap();
    assert!(lost.iter().any(|c| c["kind"] == "lost" && c["server"] == "task_manager"), "{lost:?}");
    let agent = json!({ "name": "New", "mode": "flow", "landConfigId": "" });
    let stopped = ask(&host, "POST", "agents/preview", json!({ "agent": agent }), 200);
    assert_eq!((&stopped["stop"]["code"], &stopped["servers"]), (&json!("land_config_required"), &json!([])));
    assert_eq!(get(&host, "agents"), agents);
}

#[test]
fn what_is_gone_shows_as_a_problem_and_widens_nothing() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let model = json!({ "provider": "openai_compatible", "model": "m", "baseUrl": "http://127.0.0.1:9/v1" });
    let model = ask(&host, "POST", "models", model, 201);
    assert_eq!(model["isDefault"], true, "the first one added becomes the default");
    let body = json!({ "name": "A", "modelId": model["id"], "mcpServerIds": ["gone-server"],
        "uiApps": [{ "pluginId": "com.gone", "appId": "x" }] });
    let agent = ask(&host, "POST", "agents", body, 201);
    let id = agent["id"].as_str().unwrap();
    ask(&host, "DELETE", &format!("models/{}", model["id"].as_str().unwrap()), Value::Null, 200);
    assert_eq!(get(&host, "models")["items"][0]["isDefault"], true, "the demo model takes over");
    let codes: Vec<String> = get(&host, &format!("agents/{id}"))["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["code"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        codes.contains(&"model_missing".to_owned()) && codes.contains(&"not_found".to_owned()),
        "{codes:?}"
    );
    let explained = get(&host, &format!("agents/{id}/explain"));
    assert!(explained["servers"].as_array().unwrap().iter().all(|server| server["granted"] == false));
    // A name can still be changed; a new choice must exist.
    ask(&host, "PUT", &format!("agents/{id}"), json!({ "name": "B" }), 200);
    let refused = ask(&host, "PUT", &format!("agents/{id}"), json!({ "modelId": "nobody" }), 422);
    assert_eq!(refused["error"]["details"]["errors"][0]["path"], "/modelId");
}

#[test]
fn bad_input_names_the_member() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for (path, body, pointer) in [
        ("agents", json!({}), "/name"),
        ("agents", json!({ "name": "A", "mcpServersIds": [] }), "/mcpServersIds"),
        ("agents", json!({ "name": "A", "workspaceRoot": "/no/such/dir" }), "/workspaceRoot"),
        ("agents", json!({ "name": "A", "prompt": "x".repeat(131_073) }), "/prompt"),
        (
            "agents",
            json!({ "name": "A", "uiApps": [{ "pluginId": "a", "appId": "b" }, { "pluginId": "a", "appId": "b" }] }),
            "/uiApps/1/appId",
        ),
        (
            "models",
            json!({ "provider": "nobody", "model": "m", "baseUrl": "http://127.0.0.1:1" }),
            "/provider",
        ),
        (
            "models",
            json!({ "provider": "openai", "model": "m", "baseUrl": "http://u:p@127.0.0.1:1" }),
            "/baseUrl",
        ),
        ("models", json!({ "provider": "openai", "model": "m", "apiKeyName": "sk-abc" }), "/apiKeyName"),
        (
            "models",
            json!({ "provider": "openai", "model": "m", "extraHeaders": { "Host": "x" } }),
            "/extraHeaders/Host",
        ),
        (
            "models",
            json!({ "provider": "openai", "model": "m", "extraHeaders": { "x": "a\r\nb" } }),
            "/extraHeaders/x",
        ),
        ("models", json!({ "provider": "openai", "model": "m", "priceInput": -1 }), "/priceInput"),
        ("land-configs", json!({ "name": "", "main": {}, "sub": {} }), "/name"),
        ("land-configs", json!({ "name": "x", "main": {}, "sub": {}, "extra": 1 }), ""),
        ("system-prompts", json!({ "name": "x", "content": "y".repeat(131_073) }), "/content"),
    ] {
        let refused = ask(&host, "POST", path, body, 422);
        assert_eq!(refused["error"]["details"]["errors"][0]["path"], pointer, "{refused}");
    }
    let twice = json!({ "name": "Safe Default", "main": {}, "sub": {} });
    assert_eq!(code(&ask(&host, "POST", "land-configs", twice, 409)), "name_taken");
    ask(&host, "PUT", "models/model_demo", json!({ "name": "x" }), 403);
    ask(&host, "DELETE", "models/model_demo", Value::Null, 403);
    ask(&host, "DELETE", "system-prompts/default", Value::Null, 403);
}

#[test]
fn a_built_in_prompt_is_edited_and_reset() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let own = get(&host, "system-prompts/default__en");
    let edited = ask(&host, "PUT", "system-prompts/default__en", json!({ "content": "mine" }), 200);
    assert_eq!((&edited["content"], &edited["edited"]), (&json!("mine"), &json!(true)));
    host.stop();
    let host = sandbox.serve();
    assert_eq!(get(&host, "system-prompts/default__en")["content"], "mine", "an edit survives a start");
    let reset = ask(&host, "POST", "system-prompts/default__en/reset", json!({}), 200);
    assert_eq!(reset["content"], own["content"]);
    let made =
        ask(&host, "POST", "system-prompts", json!({ "name": "own", "content": "text", "lang": "en" }), 201);
    ask(&host, "DELETE", &format!("system-prompts/{}", made["id"].as_str().unwrap()), Value::Null, 200);
}

#[test]
fn the_commands_say_the_same_with_and_without_a_host() {
    let sandbox = sandbox();
    let made = sandbox
        .run(&["agent", "create", "--name", "Helper", "--mode", "flow", "--land", "lc_developer", "--json"])
        .json();
    assert_eq!(made["mode"], "flow");
    let explained = sandbox.run(&["agent", "explain", "helper", "run_shell*", "--json"]).json();
    assert_eq!(explained["servers"].as_array().unwrap().len(), 1, "{explained}");
    assert_eq!(explained["servers"][0]["tools"][0]["ask"], false, "the sandbox is the consent: {explained}");
    let text = sandbox.run(&["agent", "explain", "Helper", "--role", "sub"]);
    assert!(text.stdout.contains("task_manager") && text.status == 0, "{text:?}");
    assert_eq!(sandbox.run(&["agent", "create", "--name", "x", "--mode", "free"]).status, 1);
    assert_eq!(sandbox.run(&["agent", "show", "nobody"]).status, 4);
    let edited =
        sandbox.run(&["agent", "edit", "Helper", "--mode", "custom", "--server", "none", "--json"]).json();
    assert_eq!((&edited["mode"], &edited["mcpServerIds"]), (&json!("custom"), &json!([])));

    let exported = sandbox.run(&["land", "export", "lc_developer"]).stdout;
    let mut land: Value = serde_json::from_str(&exported).unwrap();
    land["name"] = json!("Mine");
    land["id"] = json!("lc_mine");
    let file = sandbox.root().join("mine.json");
    std::fs::write(&file, land.to_string()).unwrap();
    let saved = sandbox.run(&["land", "import", file.to_str().unwrap(), "--json"]).json();
    assert_eq!((&saved["id"], &saved["locked"]), (&json!("lc_mine"), &json!(false)));
    let again = sandbox.run(&["land", "import", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(again["main"], saved["main"]);
    std::fs::write(&file, "{").unwrap();
    assert_eq!(sandbox.run(&["land", "import", file.to_str().unwrap()]).status, 1);

    let host = sandbox.serve();
    assert!(sandbox.run(&["land", "list"]).stdout.contains("Mine"));
    let url = "http://127.0.0.1:9/v1";
    let added =
        sandbox.run(&["models", "add", "local", "--url", url, "--price", "3,15,USD", "--json"]).json();
    assert_eq!((&added["provider"], &added["priceOutput"]), (&json!("openai_compatible"), &json!(15.0)));
    assert_eq!(added["isDefault"], true);
    let failed = sandbox.run(&["models", "test", "local", "--json"]);
    assert_eq!(failed.status, 5, "{failed:?}");
    assert_eq!(sandbox.run(&["models", "default", "demo", "--json"]).json()["isDefault"], true);
    let works = sandbox.run(&["models", "test"]);
    assert_eq!(works.status, 0, "{works:?}");
    assert_eq!(sandbox.run(&["models", "remove", "local"]).status, 0);
    assert_eq!(sandbox.run(&["models", "remove", "Demo"]).status, 3);
    assert_eq!(sandbox.run(&["models", "add", "m", "--provider", "nobody"]).status, 1);
    host.stop();
}
