//! `cargo xtask ci`: what CI runs, in CI's order.
//!
//! Every step is timed and writes its output to a log; a step that fails does not stop the others, except those
//! that need its result. Small steps that follow one another run two at a time. At the end a person sees all failures at once, then the table.

mod count;
mod plan;
mod report;
mod step;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::ci::report::Report;
use crate::ci::step::{Context as StepContext, Outcome, Step};
use crate::workspace::Workspace;

/// How many steps run beside one another where the plan allows it.
const LANES: usize = 2;

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
        let usual = self.only.is_empty() && !step.nightly;
        (usual || listed(&self.only)) && !listed(&self.skip)
    }

    /// What is too long for every run, with what it needs.
    pub(crate) fn nightly() -> Self {
        let mut only: Vec<String> = Vec::new();
        let steps = plan::steps();
        let mut wanted: Vec<&Step> = steps.iter().filter(|step| step.nightly).collect();
        while let Some(step) = wanted.pop() {
            if !only.iter().any(|name| name == step.name) {
                only.push(step.name.to_owned());
                wanted.extend(steps.iter().filter(|other| step.needs.contains(&other.name)));
            }
        }
        Self { only, ..Self::default() }
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
            let when = if step.nightly { " (nightly)" } else { "" };
            println!("{:<10} {}{when}", step.name, step.what);
        }
        return Ok(true);
    }

    let cx = StepContext::new(workspace)?;
    let started = Instant::now();
    let mut report = Report::default();
    let wanted: Vec<&Step> = steps.iter().filter(|step| options.wants(step)).collect();
    for group in wanted.chunk_by(|a, b| a.beside && b.beside) {
        for (step, outcome) in group.iter().zip(run_group(&cx, &report, group)?) {
            report.add(step.name, outcome);
        }
    }
    report.print(started.elapsed());
    Ok(report.passed())
}

/// Runs steps that leave room for one another, two at a time; the outcomes are in the order of the plan.
fn run_group(cx: &StepContext, report: &Report, group: &[&Step]) -> Result<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<OnceLock<Result<Outcome>>> = group.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        while let Some((step, outcome)) = {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            group.get(turn).zip(outcomes.get(turn))
        } {
            outcome.get_or_init(|| match report.first_missing(step.needs) {
                Some(missing) => Ok(Outcome::Blocked(format!("needs `{missing}`, which did not pass"))),
                None => step.run(cx),
            });
        }
    };
    thread::scope(|scope| {
        for _ in 1..LANES.min(group.len()) {
            scope.spawn(work);
        }
        work();
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().context("a step was not run")?).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    #[test]
    fn what_takes_hours_runs_at_night_with_what_it_needs() {
        let steps = plan::steps();
        let names = |options: &Options| -> Vec<&str> {
            steps.iter().filter(|step| options.wants(step)).map(|step| step.name).collect()
        };
        assert!(!names(&Options::default()).contains(&"all-agents"));
        let night = names(&Options::nightly());
        assert!(night.contains(&"all-agents") && night.contains(&"build") && !night.contains(&"e2e"));
    }

    #[test]
    fn steps_beside_one_another_all_run_and_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path()).unwrap();
        let cx = StepContext::new(&workspace).unwrap();
        let step = |name, needs, script: fn(&StepContext) -> Result<Vec<std::process::Command>>| Step {
            name,
            what: "",
            needs,
            commands: script,
            count: None,
            beside: true,
            finish: None,
            nightly: false,
        };
        // The first ends only after the second has begun: they do run at the same time.
        let waits = |cx: &StepContext| {
            let mut shell = process::command("sh", cx.workspace.root());
            shell.args(["-c", "until [ -e began ]; do sleep 0.01; done; exit 3"]);
            Ok(vec![shell])
        };
        let begins = |cx: &StepContext| {
            let mut shell = process::command("sh", cx.workspace.root());
            shell.args(["-c", "touch began"]);
            Ok(vec![shell])
        };
        let steps =
            [step("waits", &[], waits), step("begins", &[], begins), step("blocked", &["build"], begins)];
        let mut report = Report::default();
        report.add("build", Outcome::Blocked(String::from("not run")));
        let outcomes = run_group(&cx, &report, &steps.iter().collect::<Vec<_>>()).unwrap();
        assert!(
            matches!(&outcomes[..], [Outcome::Failed { .. }, Outcome::Passed { .. }, Outcome::Blocked(_)]),
            "the outcomes are not in the order of the steps"
        );
    }
}
