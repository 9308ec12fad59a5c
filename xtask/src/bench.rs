//! `cargo xtask bench`: the benchmark crate, built for release.

use anyhow::{Context as _, Result};

use crate::process;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<bool> {
    let mut cargo = process::cargo(workspace.root());
    cargo.args(["run", "--release", "--package", "chatos-bench", "--"]).args(args);
    let status = cargo.status().context("cannot start the benchmark")?;
    Ok(status.success())
}
