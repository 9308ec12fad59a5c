//! `cargo xtask tidy`: the house rules a compiler does not know.
//!
//! Every check returns findings, never prints, and sees only a [`Workspace`]; so each has its tests beside it
//! and one broken rule never hides another.

mod circles;
mod comments;
mod dependencies;
mod finding;
mod forbidden;
mod houses;
mod layers;
mod leaks;
mod links;
mod markdown;
mod ratchet;
mod readme;
mod settings;
mod sizes;
mod source;
mod wishes;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::codegen;
use crate::tidy::finding::{Finding, Severity};
use crate::tidy::settings::Settings;
use crate::workspace::Workspace;

/// What the person asked for.
#[derive(Debug)]
pub(crate) struct Options {
    /// Another checkout than the one this tool was built from.
    root: Option<PathBuf>,
    /// Compare the generated files too. CI does it in a step of its own, with the binary it has built.
    codegen: bool,
}

impl Options {
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { root: None, codegen: true };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--no-codegen" => options.codegen = false,
                "--root" => options.root = Some(args.next().context("`--root` needs a directory")?.into()),
                other => bail!("unknown option `{other}` of `tidy`"),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(options: &Options) -> Result<bool> {
    let workspace = match &options.root {
        Some(root) => Workspace::at(root)?,
        None => Workspace::find()?,
    };
    let mut findings = check(&workspace)?;
    if options.codegen {
        let check = codegen::Options { check: true, schema: None };
        findings.extend(codegen::stale_files(&workspace, &check)?.into_iter().map(|file| {
            Finding::error("codegen", file, "is not what the code generates")
                .hint("run `cargo xtask codegen` and commit the result")
        }));
    }
    Ok(report(&findings))
}

/// All checks of the files as they are; nothing is built.
fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let files = workspace.files()?;
    let settings = Settings::load(workspace)?;
    let metadata = workspace.metadata()?;
    let mut findings = layers::check(workspace, &metadata)?;
    findings.extend(dependencies::check(workspace, &metadata, &files)?);
    findings.extend(comments::check(workspace, &files)?);
    findings.extend(sizes::check(workspace, &files, &settings)?);
    findings.extend(forbidden::check(workspace, &files)?);
    findings.extend(leaks::check(workspace, &files)?);
    findings.extend(links::check(workspace, &files)?);
    findings.extend(readme::check(workspace)?);
    findings.extend(wishes::check(workspace, &files)?);
    let sources = source::product(workspace, &files)?;
    findings.extend(houses::check(&sources, &settings));
    findings.extend(circles::check(&sources, &settings));
    findings.extend(ratchet::check(workspace, &files, &sources, &settings)?);
    Ok(findings)
}

/// Prints the findings, warnings first, and says whether the tree is tidy.
fn report(findings: &[Finding]) -> bool {
    let (errors, warnings): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.severity == Severity::Error);
    for finding in warnings.iter().chain(&errors) {
        println!("{finding}");
    }
    println!("tidy: {} error(s), {} warning(s)", errors.len(), warnings.len());
    errors.is_empty()
}
