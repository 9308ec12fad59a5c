//! Which prompts of apps a model is given: those that are ticked, of servers that may be used.

use chatos_testkit::{Sandbox, Script, ScriptedModel, make_dir};
use serde_json::{Value, json};

use crate::plugin::post;
use crate::support::{node, offered, send, session, until};

const MARK: &str = "Always ask the window first.";

/// A trusted plugin whose app has a server and a prompt.
pub(crate) fn install(sandbox: &Sandbox) {
    let folder = sandbox.root().join("plugin");
    make_dir(&folder.join("ui"), 0o755);
    let manifest = json!({
        "manifestVersion": 1, "id": "com.example.tools", "name": "Tools", "version": "1.0.0",
        "apps": [{
            "id": "window", "name": "Window", "entry": { "type": "module", "path": "ui/index.mjs" },
            "ai": {
                "mcp": { "entry": "server.mjs", "args": [sandbox.root().join("calls")] },
                "mcpPrompt": { "zh": { "content": MARK }, "en": { "content": MARK } },
            },
        }],
    });
    std::fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.join("ui/index.mjs"), "export function mount() {}\n").unwrap();
    std::fs::write(folder.join("server.mjs"), include_str!("plugin.mjs")).unwrap();
    let outcome = sandbox.run(&["plugin", "install", folder.to_str().unwrap(), "--json", "--yes"]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let digest = outcome.json()["plugins"][0]["digest"].as_str().unwrap().to_owned();
    let trusted = sandbox.run(&["plugin", "trust", "com.example.tools", "--digest", &digest]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
}

#[test]
fn a_model_is_given_the_prompt_of_an_app_only_when_it_is_ticked_and_its_server_granted() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    std::os::unix::fs::symlink(node(), sandbox.root().join("bin/node")).unwrap();
    install(&sandbox);
    let model = ScriptedModel::start(|_| Script::say("done"));
    let host = sandbox.serve();
    let body = json!({ "name": "scripted", "provider": "openai", "model": "scripted",
                       "baseUrl": model.base_url() });
    let made = post(&host, "models", &body);
    post(&host, &format!("models/{}/default", made["id"].as_str().unwrap()), &json!({}));
    let land = |name: &str, apps: &str| {
        let flow = json!({ "agentApps": apps });
        post(&host, "land-configs", &json!({ "name": name, "main": flow, "sub": flow }))["id"].clone()
    };
    let (open, closed) = (land("open", "trusted"), land("closed", "none"));
    let told = |name: &str, land: &Value, app: Value| {
        let mut chosen = json!({ "pluginId": "com.example.tools", "appId": "window" });
        chosen.as_object_mut().unwrap().extend(app.as_object().unwrap().clone());
        let agent = json!({ "name": name, "mode": "custom", "landConfigId": land, "uiApps": [chosen] });
        let agent = post(&host, "agents", &agent);
        let chat = session(&host, agent["id"].as_str().unwrap());
        let run = send(&host, &chat, name);
        until(&host, &run, &["done"]);
        let asked = |request: &&Value| request["messages"].to_string().contains(&format!("\"{name}\""));
        let request = model.requests().iter().find(asked).cloned().unwrap();
        (offered(&request, "window_run").is_some(), request["messages"].to_string().contains(MARK))
    };
    assert_eq!(told("ticked one", &open, json!({})), (true, true));
    assert_eq!(told("unticked one", &open, json!({ "prompt": false })), (true, false));
    assert_eq!(told("refused one", &closed, json!({})), (false, false));
    host.stop();
}
