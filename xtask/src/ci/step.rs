//! One step: its commands, its log, its outcome.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::ci::count::Count;
use crate::process;
use crate::workspace::Workspace;

/// A command that runs longer than this has hung; the whole run has 35 minutes.
const HANG: Duration = Duration::from_secs(25 * 60);
/// How often a quiet step says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(60);
/// How much of a failed step's log is shown at once; the rest is in the file.
const TAIL_LINES: usize = 80;

/// A step of the plan.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// Steps that must have passed, when they are part of this run.
    pub(crate) needs: &'static [&'static str],
    /// Makes the commands, in order; looks at the tree only when its turn has come.
    pub(crate) commands: fn(&Context) -> Result<Vec<Command>>,
    /// Reads the number of tests from the log.
    pub(crate) count: Option<fn(&str) -> Option<Count>>,
    /// Does not fill the machine alone: runs beside its neighbours that say the same.
    pub(crate) beside: bool,
    /// Runs after all commands succeeded.
    pub(crate) finish: Option<fn(&Context) -> Result<()>>,
}

/// What the steps work on.
pub(crate) struct Context<'a> {
    pub(crate) workspace: &'a Workspace,
    /// This program, as it was found before any step rebuilt it.
    pub(crate) xtask: PathBuf,
    /// Where the logs go: `target/ci/<step>.log`.
    logs: PathBuf,
}

impl<'a> Context<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Result<Self> {
        let logs = workspace.path("target/ci");
        fs::create_dir_all(&logs).with_context(|| format!("cannot create directory: {}", logs.display()))?;
        let xtask = std::env::current_exe().context("cannot find this program's own file")?;
        Ok(Self { workspace, xtask, logs })
    }
}

/// How a step ended.
pub(crate) enum Outcome {
    Passed {
        took: Duration,
        count: Option<Count>,
        notes: Vec<String>,
    },
    Failed {
        took: Duration,
        count: Option<Count>,
        why: String,
        tail: String,
        log: PathBuf,
    },
    /// Not run, because something before it failed.
    Blocked(String),
}

impl Step {
    pub(crate) fn run(&self, cx: &Context) -> Result<Outcome> {
        println!("▶ {:<10} {}", self.name, self.what);
        let path = cx.logs.join(format!("{}.log", self.name));
        let log = File::create(&path).with_context(|| format!("cannot create log: {}", path.display()))?;
        let started = Instant::now();
        let result = self.run_commands(cx, &log);
        let took = started.elapsed();
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let count = self.count.and_then(|count| count(&text));
        let outcome = match result {
            Ok(()) => Outcome::Passed { took, count, notes: notes(&text) },
            Err(error) => {
                Outcome::Failed { took, count, why: format!("{error:#}"), tail: tail(&text), log: path }
            }
        };
        match &outcome {
            Outcome::Passed { .. } => println!("✓ {:<10} {:.1} s", self.name, took.as_secs_f64()),
            _ => println!("✗ {:<10} {:.1} s", self.name, took.as_secs_f64()),
        }
        Ok(outcome)
    }

    fn run_commands(&self, cx: &Context, log: &File) -> Result<()> {
        for mut command in (self.commands)(cx)? {
            let shown = process::show(&command);
            // Appending handles: the child's two streams and our own line share one end of the file.
            let mut line = append(log)?;
            writeln!(line, "$ {shown}")?;
            // A log is read in an editor or a web page: plain text.
            command.env("NO_COLOR", "1").env_remove("FORCE_COLOR");
            let child = command.stdout(append(log)?).stderr(append(log)?).spawn();
            let status = wait(child.with_context(|| format!("cannot start `{shown}`"))?, self.name)?;
            match status {
                Some(status) => anyhow::ensure!(status.success(), "`{shown}` failed ({status})"),
                None => anyhow::bail!("`{shown}` did not end within {} minutes", HANG.as_secs() / 60),
            }
        }
        self.finish.map_or(Ok(()), |finish| finish(cx))
    }
}

fn append(log: &File) -> Result<File> {
    // A duplicate shares the file position, so several writers never overwrite one another.
    log.try_clone().context("cannot share the log")
}

/// Waits with a heartbeat; `None` = it hung and was killed.
fn wait(mut child: Child, name: &str) -> Result<Option<ExitStatus>> {
    let started = Instant::now();
    let mut next_beat = HEARTBEAT;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let elapsed = started.elapsed();
        if elapsed > HANG {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        if elapsed > next_beat {
            println!("  … {name} has been running for {} min", elapsed.as_secs() / 60);
            next_beat += HEARTBEAT;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Lines a reader must see although the step passed: what was left out and why, and what needed luck.
fn notes(log: &str) -> Vec<String> {
    let telling =
        |line: &&str| line.contains(": skipped, ") || line.starts_with("passed at the second try: ");
    log.lines().filter(telling).map(|line| line.trim().to_owned()).collect()
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let start = lines.len().saturating_sub(TAIL_LINES);
    lines[start..].join("\n")
}
