//! The shell server through the layer, with real processes: commands, the boundary, questions to a
//! person, sessions, and what is left when it ends.
//!
//! Supervisors are this test program again, started with the name of [`supervisor_entry`]; the server
//! that is killed in `endings` is [`endings::server_entry`] in the same way.

mod access;
mod boundary;
mod commands;
mod endings;
mod home;
mod questions;
mod sessions;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chatos_files::change::FileChange;
use chatos_layer::testing::{self, TestQueue};
use chatos_layer::{
    Access, CallRequest, ChangeContext, ConfirmUse, Layer, NetworkUse, Reply, Root, SafetyMode, SandboxUse,
    ShellSettings, ToolSettings,
};
use chatos_tool::{Lang, schema};
use serde_json::{Value, json};

use super::*;
use crate::{Level, supervise};

/// Nothing a test waits for takes this long on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A supervisor, when started as one; nothing in an ordinary run of the tests.
#[test]
fn supervisor_entry() {
    if std::env::args().any(|arg| arg == "as-supervisor") {
        supervise();
    }
}

fn launcher() -> Vec<OsString> {
    ["/proc/self/exe", "server::tests::supervisor_entry", "as-supervisor", "--exact", "--nocapture"]
        .iter()
        .map(OsString::from)
        .collect()
}

#[derive(Default)]
struct Kept(Mutex<Vec<(ChangeContext, FileChange)>>);

impl ChangeStore for Kept {
    fn record(&self, context: &ChangeContext, change: FileChange) -> Result<(), String> {
        self.0.lock().unwrap().push((context.clone(), change));
        Ok(())
    }
}

struct Bench {
    dir: tempfile::TempDir,
    server: Server,
    layer: Arc<Layer>,
    queue: Arc<TestQueue>,
    redactor: Arc<chatos_tool::Redactor>,
    kept: Arc<Kept>,
}

/// Settings under which nobody is asked.
fn quiet() -> ToolSettings {
    let shell = ShellSettings { confirm: ConfirmUse::Never, ..ShellSettings::default() };
    ToolSettings { confirm_file_changes: false, lang: Lang::En, shell, ..ToolSettings::default() }
}

impl Bench {
    fn new(settings: ToolSettings) -> Self {
        Self::with(settings, None)
    }

    fn with(settings: ToolSettings, kernel: Option<Kernel>) -> Self {
        Self::keeping(settings, kernel, None)
    }

    /// With a database, in which is kept what a person opened.
    fn keeping(settings: ToolSettings, kernel: Option<Kernel>, store: Option<chatos_store::Store>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["root/src", "state", "home", "outside"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("outside/secret.txt"), "outside-content\n").unwrap();
        std::fs::write(dir.path().join("state/secret.txt"), "state-content\n").unwrap();
        let kept = Arc::new(Kept::default());
        let mut home = home(dir.path(), Some(kept.clone()), kernel);
        if let Some(store) = store {
            home.store = chatos_layer::StoreHandle::open(store);
        }
        let bench = testing::bench(settings, Some(&dir.path().join("state/tool-log.jsonl")));
        Self {
            server: server(&home),
            layer: bench.layer,
            queue: bench.queue,
            redactor: bench.redactor,
            kept,
            dir,
        }
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.dir.path().join("root").join(rel)
    }

    fn request(&self, tool: &str, arguments: Value) -> CallRequest {
        let mut request = testing::call(tool, arguments);
        request.root = Some(Arc::new(Root::open(&self.dir.path().join("root")).unwrap()));
        request.meta.insert("runId".into(), json!("run-1"));
        request
    }

    async fn send(&self, request: CallRequest) -> (Value, String) {
        let (tool, arguments) = (request.tool.clone(), request.arguments.clone());
        let Reply::Done(envelope) = self.layer.call(&self.server, request).await.unwrap() else {
            panic!("no envelope")
        };
        let mut structured = envelope.structured().unwrap();
        let definitions = self.server.definitions(&Access::All, Lang::En);
        let definition = definitions.iter().find(|definition| definition["name"] == tool).unwrap();
        let wrong = schema::mismatches(&definition["outputSchema"], &structured);
        assert_eq!(wrong, Vec::<String>::new(), "{tool} {arguments:?}: {structured:#}");
        structured["_meta"] = envelope.context();
        (structured, envelope.text.clone())
    }

    async fn call(&self, tool: &str, arguments: Value) -> (Value, String) {
        self.send(self.request(tool, arguments)).await
    }

    async fn run(&self, command: &str) -> (Value, String) {
        self.call("run_shell_command", json!({ "command": command })).await
    }
}

fn home(dir: &Path, kept: Option<Arc<Kept>>, kernel: Option<Kernel>) -> ShellHome {
    let path = std::env::vars().find(|(name, _)| name == "PATH").map(|(_, value)| value).unwrap();
    let variables: BTreeMap<String, String> = [
        ("PATH", path),
        ("HOME", dir.join("home").display().to_string()),
        ("LANG", "C.UTF-8".to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("OPENAI_API_KEY", "canary-in-the-host".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    ShellHome {
        state_dir: Some(dir.join("state")),
        protected: vec![dir.join("keys")],
        changes: kept.map(|kept| kept as Arc<dyn ChangeStore>),
        store: chatos_layer::StoreHandle::default(),
        variables,
        launcher: launcher(),
        kernel,
    }
}

fn code(result: &(Value, String)) -> String {
    let details = &result.0["error"]["details"];
    let detail =
        [&details["rule"], &details["kind"], &details["resource"]].into_iter().find_map(Value::as_str);
    match detail {
        Some(detail) => format!("{}/{detail}", result.0["code"].as_str().unwrap()),
        None => format!("{}:{}", result.0["status"].as_str().unwrap(), result.0["code"].as_str().unwrap()),
    }
}

fn ids(result: &(Value, String)) -> Vec<String> {
    let findings = result.0["data"]["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

/// Waits for a condition.
async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Processes whose arguments hold a text.
fn alive(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_zombie = std::fs::read_to_string(entry.path().join("stat"))
            .is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")));
        if line.contains(mark) && pid != std::process::id() && !is_zombie {
            found.push(format!("{pid}: {line}"));
        }
    }
    found
}

/// A number of seconds nobody else sleeps.
fn mark() -> String {
    let random = uuid::Uuid::new_v4().as_u128();
    format!("8{:08}", random % 100_000_000)
}

#[test]
fn the_server_lists_its_tools_and_keeps_the_rules() {
    let server = server(&ShellHome::default());
    let names: Vec<&str> = server.tool_names().collect();
    assert_eq!(
        names,
        [
            "list_workspace_files",
            "run_shell_command",
            "session_capture_output",
            "session_kill",
            "session_list",
            "session_run",
            "session_send_input",
            "session_send_signal",
        ]
    );
    assert_eq!(server.lint(), Vec::<String>::new());
}
