//! No rule grants anything (inbox §4.2, §10.9): whatever permissions an agent has, with rules that say yes to everything
//! only what the permissions give is done, and the rest is refused without a question.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chatos_testkit::{Random, RunningHost, Sandbox, Script, ScriptedModel, eventually};
use serde_json::{Value, json};

use crate::support::{last, send};

/// Tools that change something, with the server they belong to.
const TOOLS: [(&str, &str); 4] = [
    ("code_writer", "write_file"),
    ("code_writer", "edit_file"),
    ("code_writer", "delete_path"),
    ("shell_tasks", "run_shell_command"),
];
const PROFILES: usize = 8;

fn post(host: &RunningHost, path: &str, body: &Value) -> Value {
    let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
    assert!(answer.status < 300, "{path} {body}: {}", answer.text());
    answer.json()
}

/// What a call of this tool does in a folder, and whether it is done.
fn order(tool: &str, at: &str) -> Value {
    match tool {
        "write_file" => json!({ "path": format!("{at}/written.txt"), "contents": "x\n" }),
        "edit_file" => {
            json!({ "path": format!("{at}/edited.txt"), "old_string": "before", "new_string": "after" })
        }
        "delete_path" => json!({ "path": format!("{at}/deleted.txt") }),
        _ => json!({ "command": format!("touch {at}/touched") }),
    }
}

fn is_done(tool: &str, folder: &Path) -> bool {
    match tool {
        "write_file" => folder.join("written.txt").exists(),
        "edit_file" => std::fs::read_to_string(folder.join("edited.txt")).unwrap().contains("after"),
        "delete_path" => !folder.join("deleted.txt").exists(),
        _ => folder.join("touched").exists(),
    }
}

/// Rules that say yes to all of it, everywhere.
fn rules(host: &RunningHost) {
    let until = now_ms() + 6 * 86_400_000;
    let base = |server: &str, more: Value| {
        let mut rule = json!({
            "name": "everything", "effect": "allow", "scope": { "kind": "everywhere" },
            "server": format!("builtin:{server}"), "tool": "*", "until": until,
        });
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        post(host, "rules", &json!({ "rule": rule }));
    };
    base("code_writer", json!({ "paths": { "globs": ["**"], "ops": ["write", "create", "delete"] } }));
    base("shell_tasks", json!({ "shell": { "commands": [{ "program": "touch", "argv": ["*"] }] } }));
}

fn now_ms() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

#[test]
fn with_rules_for_everything_only_what_is_granted_is_done() {
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
    // The names that tools are offered under; the model calls them also where they are not.
    let names: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
    let heard = Arc::clone(&names);
    let model = ScriptedModel::start(move |request: &Value| {
        let (role, text) = last(request);
        for (_, tool) in TOOLS {
            if let Some(name) = crate::support::offered(request, tool) {
                heard.lock().unwrap().insert(tool.to_owned(), name);
            }
        }
        let order: Value = serde_json::from_str(&text).unwrap_or_default();
        let name = order["tool"].as_str().and_then(|tool| heard.lock().unwrap().get(tool).cloned());
        match (role.as_str(), name) {
            ("tool", _) | (_, None) => Script::say("done"),
            (_, Some(name)) => Script::call("one", name, &order["arguments"]),
        }
    });
    let host = sandbox.serve_with(&["--project", root.to_str().unwrap()]);
    let confines = !sandbox.run(&["doctor", "--json"]).json().to_string().contains("shell_sandbox_none");
    let made = post(
        &host,
        "models",
        &json!({ "name": "scripted", "provider": "openai", "model": "scripted", "baseUrl": model.base_url() }),
    );
    post(&host, &format!("models/{}/default", made["id"].as_str().unwrap()), &json!({}));
    let servers = host.ask("GET", "/api/v1/mcp-servers", None).json();
    let id = |name: &str| {
        servers["items"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()["id"].clone()
    };
    rules(&host);

    let mut random = Random::new();
    eprintln!("seed {}", random.seed());
    for profile in 0..=PROFILES {
        // The first one has everything: the names are learned, and the rules answer.
        let granted: Vec<bool> = TOOLS.iter().map(|_| profile == 0 || random.below(2) == 1).collect();
        let entries: Vec<Value> = ["code_writer", "shell_tasks"]
            .iter()
            .filter_map(|server| {
                let of_server = |wanted: bool| -> Vec<&str> {
                    let all = TOOLS.iter().zip(&granted);
                    all.filter(|((of, _), has)| of == server && **has == wanted)
                        .map(|((_, tool), _)| *tool)
                        .collect()
                };
                let (yes, no) = (of_server(true), of_server(false));
                // Not there, only these, or all but those: three ways to say it.
                match random.below(2) {
                    _ if yes.is_empty() && random.below(2) == 1 => None,
                    0 => Some(json!({ "id": id(server), "tools": { "allow": yes } })),
                    _ => Some(json!({ "id": id(server), "tools": { "deny": no } })),
                }
            })
            .collect();
        let flow = json!({ "mcpServers": entries });
        let land =
            post(&host, "land-configs", &json!({ "name": format!("p{profile}"), "main": flow, "sub": flow }));
        let agent = post(
            &host,
            "agents",
            &json!({ "name": format!("a{profile}"), "mode": "flow", "landConfigId": land["id"] }),
        );
        let at = format!("f{profile}");
        let folder = root.join(&at);
        std::fs::create_dir(&folder).unwrap();
        for name in ["edited.txt", "deleted.txt"] {
            std::fs::write(folder.join(name), "before\n").unwrap();
        }
        for ((_, tool), granted) in TOOLS.iter().zip(&granted) {
            let chat = post(&host, "sessions", &json!({ "agentId": agent["id"], "workspaceRoot": root }));
            let text = json!({ "tool": tool, "arguments": order(tool, &at) }).to_string();
            let run = send(&host, chat["id"].as_str().unwrap(), &text);
            let mut asked = false;
            eventually("the run ends", || {
                let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
                if let Some(id) = list["items"][0]["requestId"].as_str() {
                    asked = true;
                    let no = json!({ "response": { "status": "canceled" } });
                    host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&no));
                }
                let run = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
                matches!(run["state"].as_str(), Some("done" | "failed")).then_some(())
            });
            let done = is_done(tool, &folder);
            assert!(!done || *granted, "{tool} was done and not granted: {flow}");
            assert!(*granted || !asked, "{tool} was asked about and not granted: {flow}");
            // Where nothing confines commands no rule answers for one.
            if *granted && (confines || *tool != "run_shell_command") {
                assert!(done && !asked, "{tool} was granted and has a rule: {flow}");
            }
        }
    }
    host.stop();
}
