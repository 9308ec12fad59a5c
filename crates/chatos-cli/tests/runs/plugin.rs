//! A plugin with a server of its own, and an agent that may use it: what AsyncTask, `_meta` and long
//! calls are tested with.

use std::path::PathBuf;
use std::process::Command;

use chatos_testkit::{RunningHost, Sandbox, Script, ScriptedModel, make_dir};
use serde_json::{Value, json};

use crate::support::node;

/// The server of the plugin. Every call it gets is a line of a file: exactly the parameters it received.
const SERVER: &str = include_str!("plugin.mjs");

/// A state with a scripted model, the plugin, and one agent.
pub(crate) struct Plugged {
    pub(crate) sandbox: Sandbox,
    // Answers as long as this lives.
    _model: ScriptedModel,
    pub(crate) agent: String,
    /// One line per call.
    pub(crate) calls: PathBuf,
}

impl Plugged {
    /// `mcp` joins the server's declaration, `land` is the land_config of the agent.
    pub(crate) fn new(
        mcp: &Value,
        land: &Value,
        decide: impl Fn(&Value) -> Script + Send + Sync + 'static,
    ) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
        std::os::unix::fs::symlink(node(), sandbox.root().join("bin/node")).unwrap();
        let calls = sandbox.root().join("calls");
        install(&sandbox, mcp, calls.to_str().unwrap());
        let model = ScriptedModel::start(decide);
        let host = sandbox.serve();
        let body = json!({ "name": "scripted", "provider": "openai", "model": "scripted",
                           "baseUrl": model.base_url() });
        let made = post(&host, "models", &body);
        post(&host, &format!("models/{}/default", made["id"].as_str().unwrap()), &json!({}));
        let land = post(&host, "land-configs", land);
        let agent =
            post(&host, "agents", &json!({ "name": "w", "mode": "flow", "landConfigId": land["id"] }));
        let agent = agent["id"].as_str().unwrap().to_owned();
        host.stop();
        Self { sandbox, _model: model, agent, calls }
    }

    /// What the server received so far, call by call.
    pub(crate) fn received(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.calls).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Another process, in no way the host's, appends the result of a task to the prompt log.
    pub(crate) fn append_result(&self, id: &str, text: &str) {
        const APPEND: &str = "const [log, requestId, markdown] = process.argv.slice(1);\
            const entry = { ts: new Date().toISOString(), type: 'ui_prompt', action: 'request', requestId,\
              prompt: { kind: 'result', markdown } };\
            require('fs').appendFileSync(log, JSON.stringify(entry) + '\\n');";
        let log = self.sandbox.state().join("ui-prompts.jsonl");
        #[expect(clippy::disallowed_methods, reason = "the append must come from another process")]
        let ended = Command::new(node()).args(["-e", APPEND]).arg(log).args([id, text]).status().unwrap();
        assert!(ended.success());
    }
}

/// Posts, and expects that it is taken.
pub(crate) fn post(host: &RunningHost, path: &str, body: &Value) -> Value {
    let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
    assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// The plugin of the examples: `com.example.tools`, app `window`.
fn install(sandbox: &Sandbox, mcp: &Value, calls: &str) {
    let folder = sandbox.root().join("plugin");
    make_dir(&folder.join("ui"), 0o755);
    let mut server = mcp.clone();
    server["entry"] = json!("server.mjs");
    server["args"] = json!([calls]);
    let manifest = json!({
        "manifestVersion": 1, "id": "com.example.tools", "name": "Tools", "version": "1.0.0",
        "apps": [{
            "id": "window", "name": "Window", "entry": { "type": "module", "path": "ui/index.mjs" },
            "ai": { "mcp": server },
        }],
    });
    std::fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.join("ui/index.mjs"), "export function mount() {}\n").unwrap();
    std::fs::write(folder.join("server.mjs"), SERVER).unwrap();
    let outcome = sandbox.run(&["plugin", "install", folder.to_str().unwrap(), "--json", "--yes"]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let digest = outcome.json()["plugins"][0]["digest"].as_str().unwrap().to_owned();
    let trusted = sandbox.run(&["plugin", "trust", "com.example.tools", "--digest", &digest]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
}
