//! `cargo xtask codegen`: files made from the code, committed, and compared in CI.
//!
//! `chatos-schema` prints the OpenAPI document of the route table and the schema of the event stream, and the UI's
//! wire types are made from the document. Nobody edits any of these files.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;
use crate::{npm, process};

const OPENAPI: &str = "docs/protocols/openapi.json";
const EVENTS: &str = "docs/protocols/events.schema.json";
const UI_TYPES: &str = "ui/src/protocol/wire.d.ts";

/// What the person asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Compare instead of write.
    pub(crate) check: bool,
    /// A `chatos-schema` that is already built; otherwise cargo builds one.
    pub(crate) schema: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--check" => options.check = true,
                "--schema" => options.schema = Some(args.next().context("`--schema` needs a path")?.into()),
                other => bail!("unknown option `{other}` of `codegen`"),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<bool> {
    let stale = stale_files(workspace, options)?;
    for file in &stale {
        eprintln!("stale: {file}\n  hint: run `cargo xtask codegen` and commit the result");
    }
    if stale.is_empty() {
        println!("generated files are {}", if options.check { "fresh" } else { "written" });
    }
    Ok(stale.is_empty())
}

/// Generates everything; with `check` nothing stays changed and the files that differ are returned.
pub(crate) fn stale_files(workspace: &Workspace, options: &Options) -> Result<Vec<&'static str>> {
    let mut stale = Vec::new();
    for (file, command) in [(OPENAPI, "openapi"), (EVENTS, "events")] {
        let document = printed(workspace, options, command)?;
        if !options.check {
            fs::write(workspace.path(file), &document).with_context(|| format!("cannot write `{file}`"))?;
        } else if fs::read_to_string(workspace.path(file)).ok().as_deref() != Some(document.as_str()) {
            stale.push(file);
        }
    }
    if npm::has_script(workspace, "ui", "codegen")? && !ui_types_are_fresh(workspace, options.check)? {
        stale.push(UI_TYPES);
    }
    Ok(stale)
}

/// What the generator prints, in the same layout whatever its own is.
fn printed(workspace: &Workspace, options: &Options, name: &str) -> Result<String> {
    let binary = match &options.schema {
        Some(binary) => binary.clone(),
        None => built(workspace)?,
    };
    let text = process::capture(process::command(&binary.to_string_lossy(), workspace.root()).arg(name))?;
    let document: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("`chatos-schema {name}` did not print JSON"))?;
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// The generator, built with the features of the whole workspace: for one package alone half of the outside crates would
/// be built a second time.
fn built(workspace: &Workspace) -> Result<PathBuf> {
    process::capture(process::cargo(workspace.root()).args([
        "build",
        "--quiet",
        "--workspace",
        "--bin",
        "chatos-schema",
    ]))?;
    Ok(workspace.metadata()?.target_directory.join("debug/chatos-schema"))
}

/// Runs the UI's generator on the committed document. In a check the old file is put back when it differs:
/// a check that repairs what it checks would pass the second time.
fn ui_types_are_fresh(workspace: &Workspace, check: bool) -> Result<bool> {
    let path = workspace.path(UI_TYPES);
    let before = fs::read(&path).ok();
    process::capture(&mut npm::script(workspace, "ui", "codegen"))?;
    let after = fs::read(&path).with_context(|| format!("`npm run codegen` did not write `{UI_TYPES}`"))?;
    if !check || before.as_ref() == Some(&after) {
        return Ok(true);
    }
    match before {
        Some(bytes) => fs::write(&path, bytes),
        None => fs::remove_file(&path),
    }
    .with_context(|| format!("cannot put `{UI_TYPES}` back"))?;
    Ok(false)
}
