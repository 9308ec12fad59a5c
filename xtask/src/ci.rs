//! `cargo xtask ci`: what CI runs, in CI's order.
//!
//! Every step is timed and writes its output to a log; a step that fails does not stop the others, except those
//! that need its result. At the end a person sees all failures at once, then the table.

mod count;
mod plan;
mod report;
mod step;

use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::ci::report::Report;
use crate::ci::step::{Context as StepContext, Outcome, Step};
use crate::workspace::Workspace;

/// What the person asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    only: Vec<String>,
    skip: Vec<String>,
    list: bool,
}

impl Options {
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        let names = |value: Option<&String>, option: &str| -> Result<Vec<String>> {
            let value = value.with_context(|| format!("`{option}` needs step names, separated by commas"))?;
            Ok(value.split(',').map(|name| name.trim().to_owned()).collect())
        };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--only" => options.only = names(args.next(), "--only")?,
                "--skip" => options.skip = names(args.next(), "--skip")?,
                "--list" => options.list = true,
                other => bail!("unknown option `{other}` of `ci`"),
            }
        }
        Ok(options)
    }

    fn wants(&self, step: &Step) -> bool {
        let listed = |list: &[String]| list.iter().any(|name| name == step.name);
        (self.only.is_empty() || listed(&self.only)) && !listed(&self.skip)
    }
}

pub(crate) fn run(workspace: &Workspace, options: Options) -> Result<bool> {
    let steps = plan::steps();
    for name in options.only.iter().chain(&options.skip) {
        if !steps.iter().any(|step| step.name == name) {
            bail!("unknown step `{name}`; `cargo xtask ci --list` names them");
        }
    }
    if options.list {
        for step in &steps {
            println!("{:<10} {}", step.name, step.what);
        }
        return Ok(true);
    }

    let cx = StepContext::new(workspace)?;
    let started = Instant::now();
    let mut report = Report::default();
    for step in steps.iter().filter(|step| options.wants(step)) {
        let outcome = match report.first_missing(step.needs) {
            Some(missing) => Outcome::Blocked(format!("needs `{missing}`, which did not pass")),
            None => step.run(&cx)?,
        };
        report.add(step.name, outcome);
    }
    report.print(started.elapsed());
    Ok(report.passed())
}
