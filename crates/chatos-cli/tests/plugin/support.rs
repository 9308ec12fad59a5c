//! Plugin folders, installs and whole trees for the other files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chatos_testkit::{Outcome, Sandbox};
use serde_json::{Value, json};

/// A fresh home for the program.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

/// A folder of this test's fixtures.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plugin/fixtures").join(name)
}

/// Writes a file and its parents.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A plugin with one page per app id.
pub(crate) fn simple(dir: &Path, id: &str, version: &str, apps: &[&str]) {
    let list: Vec<Value> =
        apps.iter().map(|app| json!({"id": app, "name": app, "entry": format!("{app}/index.mjs")})).collect();
    let manifest = json!({"id": id, "name": format!("Name of {id}"), "version": version, "apps": list});
    write(&dir.join("plugin.json"), manifest.to_string());
    for app in apps {
        write(&dir.join(app).join("index.mjs"), "export function mount() {}\n");
    }
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&path, &target);
        } else {
            write(&target, fs::read(&path).unwrap());
        }
    }
}

/// Where installed plugins are.
pub(crate) fn installed(sandbox: &Sandbox, id: &str) -> PathBuf {
    sandbox.state().join("ui_apps/plugins").join(id)
}

/// Where a plugin's data is.
pub(crate) fn data_of(sandbox: &Sandbox, id: &str) -> PathBuf {
    sandbox.state().join("ui_apps/data").join(id)
}

/// Every path below `dir` with its kind, permissions and bytes, to compare whole trees.
pub(crate) fn tree(dir: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    walk(dir, dir, &mut found);
    found.sort();
    found
}

fn walk(root: &Path, dir: &Path, found: &mut Vec<(String, u32, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let meta = fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.push((name, meta.permissions().mode(), content));
        if meta.is_dir() {
            walk(root, &path, found);
        }
    }
}

/// A command with `--json` that must succeed.
pub(crate) fn good(sandbox: &Sandbox, args: &[&str]) -> Value {
    let outcome = json_run(sandbox, args);
    assert_eq!(outcome.status, 0, "{args:?}: {outcome:?}");
    outcome.json()
}

/// A command with `--json`.
pub(crate) fn json_run(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    let mut args = args.to_vec();
    args.push("--json");
    sandbox.run(&args)
}

/// Lets the sandbox find this machine's Node, which CI has.
pub(crate) fn give_node(sandbox: &Sandbox) {
    #[expect(clippy::disallowed_methods, reason = "the sandbox hides the machine's PATH; this looks it up")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|node| node.is_file());
    let node = node.unwrap_or_else(|| panic!("Node is needed to test this, as to build the page"));
    std::os::unix::fs::symlink(node, sandbox.root().join("bin/node")).unwrap();
}
