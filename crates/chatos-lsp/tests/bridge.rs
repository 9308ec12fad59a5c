//! The server `lsp_bridge` through the layer, with real processes: a language server for tests that speaks well or
//! badly on demand (`bridge/fixture.mjs`).
//!
//! Supervisors are this test program again, started with the name of [`supervisor_entry`].
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "bridge/changes.rs"]
mod changes;
#[path = "bridge/hostile.rs"]
mod hostile;
#[path = "bridge/looking.rs"]
mod looking;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chatos_layer::testing::{self, TestQueue};
use chatos_layer::{Access, CallRequest, Layer, LspSettings, Reply, Root, Server, ServerEnv, ToolSettings};
use chatos_lsp::server_with;
use chatos_shell::ShellHome;
use chatos_tool::{Lang, schema};
use serde_json::{Value, json};

/// Nothing a test waits for takes this long on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A supervisor, when started as one; nothing in an ordinary run of the tests.
#[test]
fn supervisor_entry() {
    if std::env::args().any(|arg| arg == "as-supervisor") {
        chatos_shell::supervise();
    }
}

struct Bench {
    dir: tempfile::TempDir,
    server: Server,
    layer: Arc<Layer>,
    queue: Arc<TestQueue>,
}

fn quiet() -> ToolSettings {
    let lsp = LspSettings { timeout: Duration::from_secs(20), ..LspSettings::default() };
    ToolSettings { confirm_file_changes: false, lang: Lang::En, lsp, ..ToolSettings::default() }
}

impl Bench {
    /// A project with two files and a language server that behaves in this way.
    fn new(mode: &str) -> Self {
        Self::with(mode, quiet())
    }

    fn with(mode: &str, settings: ToolSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["root/sub", "state", "home"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let root = std::fs::canonicalize(dir.path().join("root")).unwrap();
        let script = root.join("fixture.mjs");
        std::fs::write(&script, include_str!("bridge/fixture.mjs")).unwrap();
        std::fs::write(root.join("one.fk"), "alpha 中 beta\nbeta gamma\n").unwrap();
        std::fs::write(root.join("two.fk"), "uses beta\n").unwrap();
        let config = json!({ "servers": { "fake": {
            "command": "node", "args": [script, mode], "fileExtensions": ["fk"], "languages": ["fake"],
            "env": { "FAKE": "${serverId} ${workspaceRoot}" },
        } } });
        std::fs::write(dir.path().join("state/lsp-servers.json"), config.to_string()).unwrap();
        let path = std::env::vars().find(|(name, _)| name == "PATH").map(|(_, value)| value).unwrap();
        let variables: BTreeMap<String, String> = [
            ("PATH", path),
            ("HOME", dir.path().join("home").display().to_string()),
            ("OPENAI_API_KEY", "canary-in-the-host".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let env = ServerEnv {
            state_dir: Some(dir.path().join("state")),
            write: true,
            variables: Arc::new(variables),
            ..ServerEnv::default()
        };
        let launcher = ["/proc/self/exe", "supervisor_entry", "as-supervisor", "--exact", "--nocapture"];
        let shell =
            ShellHome { launcher: launcher.iter().map(OsString::from).collect(), ..ShellHome::of(&env) };
        let bench = testing::bench(settings, Some(&dir.path().join("state/tool-log.jsonl")));
        Self { server: server_with(&env, &shell), layer: bench.layer, queue: bench.queue, dir }
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.dir.path().join("root").join(rel)
    }

    fn write(&self, rel: &str, text: &str) {
        std::fs::write(self.path(rel), text).unwrap();
    }

    fn text(&self, rel: &str) -> String {
        std::fs::read_to_string(self.path(rel)).unwrap_or_default()
    }

    /// What the language server was told, of one method.
    fn seen(&self, method: &str) -> usize {
        self.text(".seen").lines().filter(|line| line.split(' ').next() == Some(method)).count()
    }

    fn request(&self, tool: &str, arguments: Value) -> CallRequest {
        let mut request = testing::call(tool, arguments);
        request.root = Some(Arc::new(Root::open(&self.dir.path().join("root")).unwrap()));
        request
    }

    async fn send(&self, request: CallRequest) -> (Value, String) {
        let tool = request.tool.clone();
        let called = tokio::time::timeout(PATIENCE, self.layer.call(&self.server, request));
        let Reply::Done(envelope) = called.await.unwrap().unwrap() else { panic!("no envelope") };
        let structured = envelope.structured().unwrap();
        let definitions = self.server.definitions(&Access::All, Lang::En);
        let definition = definitions.iter().find(|definition| definition["name"] == tool).unwrap();
        let wrong = schema::mismatches(&definition["outputSchema"], &structured);
        assert_eq!(wrong, Vec::<String>::new(), "{tool}: {structured:#}");
        (structured, envelope.text.clone())
    }

    async fn call(&self, tool: &str, arguments: Value) -> (Value, String) {
        self.send(self.request(tool, arguments)).await
    }

    async fn hover(&self, symbol: &str) -> (Value, String) {
        self.call("lsp_hover", json!({ "path": "one.fk", "symbol": symbol })).await
    }

    /// Ends everything and waits until no process of this project is left.
    async fn end(self) {
        self.layer.close(Duration::from_secs(3)).await;
        none_left(&self.dir.path().join("root")).await;
    }
}

/// Processes whose command line names a place.
fn processes(place: &Path) -> Vec<String> {
    let place = place.display().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&place).then_some(line)
    })
    .collect()
}

async fn none_left(place: &Path) {
    let until = tokio::time::Instant::now() + Duration::from_secs(10);
    while !processes(place).is_empty() {
        assert!(tokio::time::Instant::now() < until, "left: {:?}", processes(place));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
