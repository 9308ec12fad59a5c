//! One step: its commands, its log, its outcome.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::ci::count::Count;
use crate::process;
use crate::workspace::Workspace;

/// A command that runs longer than this has hung; on a slow machine the build takes half of it.
const HANG: Duration = Duration::from_secs(40 * 60);
/// How often a quiet step says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(60);
/// Names the file into which a test writes why it cannot run here (`chatos_testkit::skip!`).
const SKIPPED_FILE: &str = "CHATOS_SKIPPED_TESTS";
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
    /// Takes hours: run by `cargo xtask nightly`, or where it is named, never by `ci` alone.
    pub(crate) nightly: bool,
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
        notes: Vec<String>,
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
        let said = path.with_extension("skipped");
        // Of an earlier run.
        fs::write(&said, "").with_context(|| format!("cannot empty: {}", said.display()))?;
        let started = Instant::now();
        let result = self.run_commands(cx, &log, &said);
        let took = started.elapsed();
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let skipped = skipped(&fs::read_to_string(&said)?);
        let count = self.count.and_then(|count| count(&text)).map(|count| count.without(skipped.len()));
        let notes = notes(&text).into_iter().chain(skipped).collect();
        let outcome = match result {
            Ok(()) => Outcome::Passed { took, count, notes },
            Err(error) => {
                let (why, tail) = (format!("{error:#}"), tail(&text));
                Outcome::Failed { took, count, notes, why, tail, log: path }
            }
        };
        match &outcome {
            Outcome::Passed { .. } => println!("✓ {:<10} {:.1} s", self.name, took.as_secs_f64()),
            _ => println!("✗ {:<10} {:.1} s", self.name, took.as_secs_f64()),
        }
        Ok(outcome)
    }

    fn run_commands(&self, cx: &Context, log: &File, said: &Path) -> Result<()> {
        for mut command in (self.commands)(cx)? {
            let shown = process::show(&command);
            // Appending handles: the child's two streams and our own line share one end of the file.
            let mut line = append(log)?;
            writeln!(line, "$ {shown}")?;
            // A log is read in an editor or a web page: plain text.
            command.env("NO_COLOR", "1").env_remove("FORCE_COLOR");
            command.env(SKIPPED_FILE, said);
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
    let telling = |line: &&str| {
        let node_skips = line.contains("# SKIP") || line.trim_start().starts_with('﹣');
        line.contains(": skipped, ") || node_skips || line.starts_with("passed at the second try: ")
    };
    log.lines().filter(telling).map(|line| line.trim().to_owned()).collect()
}

/// Tests that said they cannot run here, each once, with the reason.
fn skipped(said: &str) -> Vec<String> {
    let lines: BTreeSet<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    lines.into_iter().map(|line| format!("skipped: {line}")).collect()
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let start = lines.len().saturating_sub(TAIL_LINES);
    lines[start..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_cannot_run_is_counted_and_named_as_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path()).unwrap();
        let cx = Context::new(&workspace).unwrap();
        let step = Step {
            name: "test",
            what: "",
            needs: &[],
            commands: |cx| {
                let mut shell = process::command("sh", cx.workspace.root());
                let script = "echo 'shell::boundary: no Landlock' >> $CHATOS_SKIPPED_TESTS
                    echo 'shell::boundary: no Landlock' >> $CHATOS_SKIPPED_TESTS
                    echo '     Summary [   0.5s] 3 tests run: 3 passed, 0 skipped'";
                shell.args(["-c", script]);
                Ok(vec![shell])
            },
            count: Some(crate::ci::count::rust),
            beside: false,
            finish: None,
            nightly: false,
        };
        for _ in 0..2 {
            let Outcome::Passed { count, notes, .. } = step.run(&cx).unwrap() else { panic!("it failed") };
            assert_eq!(count, Some(Count { passed: 2, failed: 0, skipped: 1 }));
            assert_eq!(notes, ["skipped: shell::boundary: no Landlock"]);
        }
    }
}
