//! `cargo xtask deny`: cargo-deny with our `deny.toml`.
//!
//! Licences, bans and sources are read from the lock file and always decide. Advisories need a database that
//! only the network has: they run when it can be fetched, and the skip is printed when it cannot.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let binary = find(workspace)?.to_string_lossy().into_owned();
    let deny = |args: &[&str]| {
        let mut command = process::command(&binary, workspace.root());
        // A question for a password on a machine without an answer would wait for ever.
        command.env("GIT_TERMINAL_PROMPT", "0").args(args);
        command
    };
    let policy = ["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"];
    let passed = deny(&policy).status().context("cannot start cargo-deny")?.success();
    match process::capture(&mut deny(&["fetch", "db"])) {
        Ok(_) => {
            let advisories = deny(&["--locked", "check", "advisories"]).status()?;
            Ok(passed && advisories.success())
        }
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or("no reason given");
            println!("advisories: skipped, the advisory database cannot be fetched ({reason})");
            Ok(passed)
        }
    }
}

/// The one `scripts/setup` installed, else one the person has.
fn find(workspace: &Workspace) -> Result<PathBuf> {
    let ours = workspace.path(".tools/bin/cargo-deny");
    if ours.is_file() {
        return Ok(ours);
    }
    if process::works("cargo-deny", &["--version"], workspace.root()) {
        return Ok(PathBuf::from("cargo-deny"));
    }
    bail!("cargo-deny is not installed; `./scripts/setup` installs it into `.tools/`")
}
