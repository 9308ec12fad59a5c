//! Plugins placed by hand, trusted through the API, and requests by any name.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chatos_testkit::{Answer, RunningHost, Sandbox};
use serde_json::{Value, json};

pub(crate) const PLUGIN: &str = "com.example.tools";

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Where a user plugin lies.
pub(crate) fn place(sandbox: &Sandbox, id: &str) -> PathBuf {
    sandbox.state().join("ui_apps/plugins").join(id)
}

/// The name of a plugin's origin.
pub(crate) fn hash(id: &str) -> String {
    chatos_apps::frame_hash(id)
}

/// A page of ours for frames, so that tests do not depend on a built UI.
pub(crate) fn ui_dir(sandbox: &Sandbox) -> PathBuf {
    let dir = sandbox.root().join("ui");
    write(&dir.join("index.html"), "<title>the page</title>");
    write(&dir.join("frame/bootstrap.js"), "export const bootstrap = 1;\n");
    write(&dir.join("frame/frame.css"), ":root{}\n");
    write(&dir.join("frame/ui/tree.js"), "export const tree = 1;\n");
    dir
}

pub(crate) fn serve(sandbox: &Sandbox) -> RunningHost {
    let dir = ui_dir(sandbox);
    sandbox.serve_with(&["--ui-dir", dir.to_str().unwrap()])
}

/// Trusts what lies there now.
pub(crate) fn trust(host: &RunningHost, id: &str) {
    let refreshed = host.ask("POST", "/api/v1/plugins/refresh", Some(&json!({})));
    assert_eq!(refreshed.status, 200, "{}", refreshed.text());
    let sheet = host.ask("GET", &format!("/api/v1/plugins/{id}/trust-sheet"), None).json();
    let answer =
        host.ask("POST", &format!("/api/v1/plugins/{id}/trust"), Some(&json!({ "digest": sheet["digest"] })));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// Opens an app.
pub(crate) fn open(host: &RunningHost, id: &str, app: &str) -> Value {
    let answer =
        host.ask("POST", &format!("/api/v1/apps/{id}/{app}/open"), Some(&json!({ "surface": "full" })));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// A request by a plugin's name (or any other), with further header lines.
pub(crate) fn by_name(host: &RunningHost, method: &str, name: &str, path: &str, lines: &[&str]) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {name}:{}\r\n", host.port);
    for line in lines {
        head.push_str(&format!("{line}\r\n"));
    }
    host.connect().raw(&format!("{head}\r\n"), b"").unwrap()
}

/// Waits until `check` holds; the machine may be slow, so the limit is generous.
pub(crate) fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !check() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Lets the sandbox find this machine's Node, which CI has.
pub(crate) fn give_node(sandbox: &Sandbox) {
    #[expect(clippy::disallowed_methods, reason = "the sandbox hides the machine's PATH; this looks it up")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|node| node.is_file());
    let node = node.unwrap_or_else(|| panic!("Node is needed to test this, as to build the page"));
    std::os::unix::fs::symlink(node, sandbox.root().join("bin/node")).unwrap();
}

/// A plugin with one app and this backend.
pub(crate) fn with_backend(sandbox: &Sandbox, id: &str, source: &str) {
    let dir = place(sandbox, id);
    let manifest = json!({ "id": id, "name": "Tools", "backend": { "entry": "backend/index.mjs" }, "apps": [
        { "id": "hello", "name": "Hello", "entry": { "type": "module", "path": "hello/index.mjs" } },
    ] });
    write(&dir.join("plugin.json"), manifest.to_string());
    write(&dir.join("hello/index.mjs"), "export function mount() {}\n");
    write(&dir.join("backend/index.mjs"), source);
}

/// Calls a backend.
pub(crate) fn invoke(host: &RunningHost, id: &str, method: &str, params: Value) -> Answer {
    let body = json!({ "method": method, "params": params });
    host.ask("POST", &format!("/api/v1/apps/{id}/hello/backend"), Some(&body))
}

/// The result of a call that must succeed.
pub(crate) fn result(host: &RunningHost, id: &str, method: &str, params: Value) -> Value {
    let answer = invoke(host, id, method, params);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["result"].clone()
}

/// Code and message of a call that must fail.
pub(crate) fn failure(answer: &Answer) -> (String, String) {
    assert_ne!(answer.status, 200, "{}", answer.text());
    let error = &answer.json()["error"];
    (
        error["code"].as_str().unwrap_or_default().to_owned(),
        error["message"].as_str().unwrap_or_default().to_owned(),
    )
}

/// Whether a process is there.
pub(crate) fn lives(pid: u64) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    !stat.is_empty() && !matches!(state, Some(Some('Z' | 'X')))
}
