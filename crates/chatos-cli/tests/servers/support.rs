//! What these tests share: a sandbox with Node, a server script, a plugin around it.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};

pub(crate) use chatos_testkit::eventually as until;
use chatos_testkit::{Outcome, Sandbox, make_dir};
use serde_json::{Value, json};

const ECHO: &str = include_str!("echo.mjs");

/// A sandbox with Node and the server script `echo.mjs`.
#[expect(clippy::disallowed_methods, reason = "where Node is on this machine")]
pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    make_dir(&sandbox.root().join("work"), 0o755);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|node| node.is_file());
    let node = node.unwrap_or_else(|| panic!("Node is needed to test this, as to build the page"));
    std::os::unix::fs::symlink(node, sandbox.root().join("bin/node")).unwrap();
    std::fs::write(sandbox.root().join("echo.mjs"), ECHO).unwrap();
    sandbox
}

/// Adds the script as a server of a person.
pub(crate) fn add(sandbox: &Sandbox, name: &str, words: &[&str]) {
    let script = sandbox.root().join("echo.mjs");
    let mut args = vec!["mcp", "servers", "add", name, "--", "node", script.to_str().unwrap()];
    args.extend(words);
    // `--` ends the flags, so the state directory comes first.
    let mut command = sandbox.bare::<&str>(&[]);
    command.arg("--state-dir").arg(sandbox.state()).args(args);
    let outcome = sandbox.run_command(command);
    assert_eq!(outcome.status, 0, "{outcome:?}");
}

/// Installs and trusts a plugin whose one app has the script as its server.
pub(crate) fn plugin(sandbox: &Sandbox, mcp: &Value, note: Option<&Path>) {
    let folder = sandbox.root().join("plugin");
    make_dir(&folder.join("ui"), 0o755);
    let mut server = mcp.clone();
    server["entry"] = json!("echo.mjs");
    server["args"] = json!(["", note.map(|note| note.to_str().unwrap()).unwrap_or("")]);
    let manifest = json!({
        "manifestVersion": 1, "id": "com.example.echo", "name": "Echo", "version": "1.0.0",
        "apps": [{
            "id": "main", "name": "Main", "entry": { "type": "module", "path": "ui/index.mjs" },
            "ai": { "mcp": server },
        }],
    });
    std::fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.join("ui/index.mjs"), "export function mount() {}\n").unwrap();
    std::fs::write(folder.join("echo.mjs"), ECHO).unwrap();
    let outcome = sandbox.run(&["plugin", "install", folder.to_str().unwrap(), "--json", "--yes"]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let digest = outcome.json()["plugins"][0]["digest"].as_str().unwrap().to_owned();
    let trusted = sandbox.run(&["plugin", "trust", "com.example.echo", "--digest", &digest]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
}

/// Begins `chatos tools call`.
pub(crate) fn call(sandbox: &Sandbox, server: &str, tool: &str, more: &[&str]) -> Child {
    let mut args = vec!["tools", "call", server, tool];
    args.extend(more);
    let mut command = sandbox.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// How it ended.
pub(crate) fn ended(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    Outcome {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Appends to a file as another program does.
pub(crate) fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Waits until a process is gone, or is only a corpse nobody reaped.
pub(crate) fn gone(pid: u64) {
    until("the server's process is gone", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    });
}
