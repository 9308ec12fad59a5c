//! Which Node this machine has. Plugins need one; ChatOS itself does not.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A Node program that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeInfo {
    /// Where it is.
    pub path: PathBuf,
    /// What it said, e.g. `v20.20.2`.
    pub version: String,
    /// Its major number.
    pub major: u32,
}

impl NodeInfo {
    /// Plugins may rely on Node 20 and newer.
    pub fn is_new_enough(&self) -> bool {
        self.major >= 20
    }
}

/// Looks for Node where the setting says, else in PATH, and asks it for its version.
#[expect(
    clippy::disallowed_methods,
    reason = "asks one program for its version; owns and reaps that child here"
)]
pub async fn find_node(setting: &str, path_variable: Option<&str>) -> Option<NodeInfo> {
    let path = if setting.is_empty() { in_path("node", path_variable?)? } else { PathBuf::from(setting) };
    let command = std::process::Command::new(&path);
    let child = tokio::process::Command::from(command)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(5), child).await.ok()?.ok()?;
    let version = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    let major = version.strip_prefix('v')?.split('.').next()?.parse().ok()?;
    Some(NodeInfo { path, version, major })
}

fn in_path(name: &str, variable: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    variable.split(':').filter(|dir| !dir.is_empty()).map(|dir| Path::new(dir).join(name)).find(|candidate| {
        candidate.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}

/// The Node of a host, looked for once. Clones are the same.
#[derive(Clone)]
pub struct HostNode(Arc<Looked>);

struct Looked {
    setting: Box<dyn Fn() -> String + Send + Sync>,
    path_variable: Option<String>,
    found: OnceLock<Option<NodeInfo>>,
}

impl HostNode {
    /// `setting` says where a person wants Node to be; `PATH` counts where it says nothing.
    pub fn new(setting: impl Fn() -> String + Send + Sync + 'static, path_variable: Option<String>) -> Self {
        Self(Arc::new(Looked { setting: Box::new(setting), path_variable, found: OnceLock::new() }))
    }

    /// Asks for Node once and remembers the answer.
    pub async fn find(&self) -> Option<NodeInfo> {
        if let Some(known) = self.0.found.get() {
            return known.clone();
        }
        let found = find_node(&(self.0.setting)(), self.0.path_variable.as_deref()).await;
        self.0.found.get_or_init(|| found).clone()
    }

    /// Node as far as it is known without waiting.
    pub fn known(&self) -> Option<NodeInfo> {
        self.0.found.get().cloned().flatten()
    }
}
