//! Node packages: installed from the lock file, and only when it changed.

use std::fs;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

/// A copy of the lock file that `node_modules` was made from; `scripts/setup` writes the same one.
const STAMP: &str = "node_modules/.installed-from-lock";

/// Whether `dir/node_modules` already holds what its lock file asks for.
pub(crate) fn is_fresh(workspace: &Workspace, dir: &str) -> bool {
    let lock = fs::read(workspace.path(&format!("{dir}/package-lock.json")));
    let stamp = fs::read(workspace.path(&format!("{dir}/{STAMP}")));
    matches!((lock, stamp), (Ok(lock), Ok(stamp)) if lock == stamp)
}

/// Records that `npm ci` in `dir` finished.
pub(crate) fn mark_fresh(workspace: &Workspace, dir: &str) -> Result<()> {
    let lock = workspace.path(&format!("{dir}/package-lock.json"));
    fs::copy(lock, workspace.path(&format!("{dir}/{STAMP}")))
        .with_context(|| format!("cannot record the installed packages of `{dir}`"))?;
    Ok(())
}

/// Whether `package.json` in `dir` declares a script of this name.
pub(crate) fn has_script(workspace: &Workspace, dir: &str, script: &str) -> Result<bool> {
    let path = format!("{dir}/package.json");
    if !workspace.has(&path) {
        return Ok(false);
    }
    let package: serde_json::Value =
        serde_json::from_str(&workspace.read(&path)?).with_context(|| format!("cannot parse `{path}`"))?;
    Ok(package.pointer(&format!("/scripts/{script}")).is_some())
}

/// `npm run <script>` in `dir`, quietly.
pub(crate) fn script(workspace: &Workspace, dir: &str, script: &str) -> std::process::Command {
    let mut npm = process::command("npm", &workspace.path(dir));
    npm.args(["run", "--silent", script]);
    npm
}
