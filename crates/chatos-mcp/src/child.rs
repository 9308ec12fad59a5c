//! One server's process from its start to the end of its whole family. How processes are started and
//! found again is in `chatos-child`; here is what their end means for the calls under way.

pub(crate) mod stderr;

use std::ffi::OsString;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use chatos_child::{Program, Signal, SpawnError, Spawning, Tail, how_it_ended};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::endpoint::CommandLine;
use crate::failure::Failure;
use crate::limits::Times;
use crate::router::Router;

/// How long the rest of a dead child's output may take to arrive. Longer holds up the error of its
/// calls; shorter may lose the last reply when the machine is busy.
const DRAIN: Duration = Duration::from_millis(500);

/// A started process that nobody watches over yet.
pub(crate) struct Started {
    process: chatos_child::Started,
    // What it was told to run, to tell a missing entry from a missing module.
    arguments: Vec<OsString>,
}

/// Our ends of a child's streams.
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// Handle of a running child; dropping it stops the child.
pub(crate) struct Child {
    pub(crate) pid: u32,
    pub(crate) tail: Arc<Tail>,
    stop: CancellationToken,
    gone: watch::Receiver<bool>,
}

impl Child {
    /// Stops it and waits until its whole family is gone.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        let mut gone = self.gone.clone();
        // An error means the keeper itself is gone, and with it the child.
        gone.wait_for(|gone| *gone).await.ok();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Starts a process. Returns before it says anything.
pub(crate) async fn start(command: &CommandLine, spawning: &Spawning) -> Result<(Started, Streams), Failure> {
    let program = Program {
        program: command.program.clone(),
        arguments: command.arguments.clone(),
        directory: command.directory.clone(),
        environment: command.environment.clone(),
    };
    let (process, streams) = chatos_child::start(&program, spawning).await.map_err(|error| match error {
        SpawnError::NotFound { program } => Failure::CommandNotFound { program },
        SpawnError::NotExecutable { program } => Failure::CommandNotExecutable { program },
        SpawnError::Refused { program, error } => Failure::Spawn { program, error },
    })?;
    let chatos_child::Streams { stdin, stdout, stderr } = streams;
    let Some(stdin) = stdin else {
        let program = command.program.to_string_lossy().into_owned();
        return Err(Failure::Spawn { program, error: "its input is missing".to_owned() });
    };
    let arguments = command.arguments.clone();
    Ok((Started { process, arguments }, Streams { stdin, stdout, stderr }))
}

impl Started {
    /// Watches over the process until it and its family are gone. `output` ends with the reason the
    /// output ended; `errors` with the error stream.
    pub(crate) fn keep(
        self,
        output: JoinHandle<Failure>,
        errors: JoinHandle<()>,
        tail: Arc<Tail>,
        stop: CancellationToken,
        router: Arc<Router>,
        times: Times,
    ) -> Child {
        let (told, gone) = watch::channel(false);
        let pid = self.process.pid();
        let keeper = Keeper {
            process: self.process,
            arguments: self.arguments,
            output,
            errors,
            tail: Arc::clone(&tail),
            stop: stop.clone(),
            router,
            times,
        };
        // Owned by itself: it must outlive whoever gave up on the child. Dropping it with the runtime
        // ends the family at once.
        tokio::spawn(async move {
            keeper.run().await;
            told.send_replace(true);
        });
        Child { pid, tail, stop, gone }
    }
}

struct Keeper {
    process: chatos_child::Started,
    arguments: Vec<OsString>,
    output: JoinHandle<Failure>,
    errors: JoinHandle<()>,
    tail: Arc<Tail>,
    stop: CancellationToken,
    router: Arc<Router>,
    times: Times,
}

impl Keeper {
    async fn run(mut self) {
        enum Event {
            Exit(std::io::Result<ExitStatus>),
            Output(Failure),
            Stop,
        }
        let event = tokio::select! {
            status = self.process.wait() => Event::Exit(status),
            failure = &mut self.output => Event::Output(failure.unwrap_or(Failure::Stopped)),
            () = self.stop.cancelled() => Event::Stop,
        };
        match event {
            Event::Exit(status) => {
                // What it said before it died still counts, unless a grandchild holds the pipe.
                if !self.output.is_finished() {
                    tokio::time::timeout(DRAIN, &mut self.output).await.ok();
                }
                self.close_as_exited(status).await;
                self.stop.cancel();
            }
            Event::Output(failure) => {
                let exit = match failure {
                    Failure::TooLong => None,
                    _ => tokio::time::timeout(DRAIN, self.process.wait()).await.ok(),
                };
                match exit {
                    Some(status) => self.close_as_exited(status).await,
                    None => self.router.close(failure),
                }
                self.stop.cancel();
                self.end().await;
            }
            Event::Stop => {
                self.router.close(Failure::Stopped);
                self.end().await;
            }
        }
        self.process.end_rest().await;
        self.output.abort();
        self.errors.abort();
    }

    async fn close_as_exited(&mut self, status: std::io::Result<ExitStatus>) {
        if !self.errors.is_finished() {
            tokio::time::timeout(DRAIN, &mut self.errors).await.ok();
        }
        let failure = match status {
            Ok(status) => {
                let missing =
                    if self.router.is_ready() { None } else { missing_module(&self.tail.last(200)) };
                match missing {
                    Some(path) if self.arguments.iter().any(|word| **word == *path) => {
                        Failure::EntryMissing { path }
                    }
                    Some(module) if !status.success() => Failure::ModuleMissing { module },
                    _ => Failure::Exited { how: how_it_ended(status) },
                }
            }
            Err(error) => Failure::Exited { how: error.to_string() },
        };
        self.router.close(failure);
    }

    /// Closed input, then TERM, then KILL (mcp "children"). The output is drained meanwhile.
    async fn end(&mut self) {
        let stop_firm = self.times.stop_firm;
        if tokio::time::timeout(self.times.stop_gentle, self.process.wait()).await.is_ok() {
            return;
        }
        self.process.signal(Signal::TERM);
        if tokio::time::timeout(stop_firm, self.process.wait()).await.is_ok() {
            return;
        }
        self.process.signal(Signal::KILL);
        self.process.wait().await.ok();
    }
}

/// The module a Node or Python program could not find, from its last words (ai-contributions §5).
fn missing_module(lines: &[String]) -> Option<String> {
    const OPENINGS: [(&str, char); 3] =
        [("Cannot find module '", '\''), ("Cannot find package '", '\''), ("No module named '", '\'')];
    lines.iter().rev().find_map(|line| {
        OPENINGS.iter().find_map(|(opening, close)| {
            let rest = line.split_once(opening)?.1;
            let name = rest.split_once(*close)?.0;
            (!name.is_empty()).then(|| name.to_owned())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_module_is_named() {
        let module = |text: &str| missing_module(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(
            module("node:internal\n  throw err;\nError: Cannot find module 'zod'\nRequire stack:"),
            Some("zod".into())
        );
        assert_eq!(
            module("Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /x/y.mjs"),
            Some("@a/b".into())
        );
        assert_eq!(module("ModuleNotFoundError: No module named 'mcp'"), Some("mcp".into()));
        assert_eq!(module("something else"), None);
    }
}
