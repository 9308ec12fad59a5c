//! One child process from its start to the end of its whole family.
//!
//! The only module of the crate that starts processes. A child gets exactly the environment it was
//! given, a group (with the launcher: a session) of its own, and a mark by which everything it starts
//! can be found again (security T11, T12).

pub(crate) mod family;
pub(crate) mod launch;
pub(crate) mod records;
pub(crate) mod stderr;
pub(crate) mod warden;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::endpoint::CommandLine;
use crate::failure::Failure;
use crate::limits::Times;
use crate::router::Router;
use family::Family;
pub use launch::{Launcher, exec};
pub use records::{ChildRecords, end_leftovers};
use stderr::Tail;
pub use warden::{Warden, watch};

/// The variable that marks a child and what it starts.
pub const MARK: &str = "CHATOS_CHILD";
/// How long the rest of a dead child's output may take to arrive. Longer holds up the error of its
/// calls; shorter may lose the last reply when the machine is busy.
const DRAIN: Duration = Duration::from_millis(500);

/// How children are started.
#[derive(Debug, Clone, Default)]
pub struct Spawning {
    /// The program that prepares a child before it becomes the server; without it a child has a group
    /// but no session of its own, and survives a killed host until the next start.
    pub launcher: Option<Launcher>,
    /// Where children are written down, for the next start.
    pub records: Option<ChildRecords>,
    /// Ends them and theirs when the host is killed.
    pub warden: Option<Arc<Warden>>,
}

/// Our ends of a child's streams.
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// A started process that nobody watches over yet.
pub(crate) struct Started {
    process: tokio::process::Child,
    family: Family,
    record: Option<records::Record>,
    // What it was told to run, to tell a missing entry from a missing module.
    arguments: Vec<OsString>,
    // After the family, so that it is let go last.
    watched: Watched,
}

/// A mark the warden looks after until this is dropped.
struct Watched(Option<(Arc<Warden>, String)>);

impl Watched {
    fn new(warden: Option<Arc<Warden>>, mark: &str) -> Self {
        let watched = warden.map(|warden| (warden, mark.to_owned()));
        if let Some((warden, mark)) = &watched {
            warden.watch(mark);
        }
        Self(watched)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some((warden, mark)) = &self.0 {
            warden.release(mark);
        }
    }
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
    let program = find(command)?;
    if let Some(directory) = command.directory.as_deref().filter(|directory| !directory.is_dir()) {
        // The system would say the same about the program, which is there.
        let error = format!("its working directory does not exist: {}", directory.display());
        return Err(Failure::Spawn { program: program.to_string_lossy().into_owned(), error });
    }
    let family = Family::new();
    let watched = Watched::new(spawning.warden.clone(), family.mark());
    let mut process = match &spawning.launcher {
        Some(launcher) => {
            let mut process = Command::new(&launcher.program);
            process.args(&launcher.arguments).arg(std::process::id().to_string()).arg(&program);
            process
        }
        None => {
            let mut process = Command::new(&program);
            // The launcher makes a session instead, which a leader of a group cannot do.
            process.process_group(0);
            process
        }
    };
    process
        .args(&command.arguments)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .env(MARK, family.mark())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(directory) = &command.directory {
        process.current_dir(directory);
    }
    let refused = |error: std::io::Error| Failure::Spawn {
        program: program.to_string_lossy().into_owned(),
        error: error.to_string(),
    };
    let mut process = spawn_on_permanent_thread(process).await.map_err(refused)?;
    let family = family.led_by(process.id().unwrap_or_default());
    family.limit();
    let record = spawning.records.as_ref().and_then(|records| records.add(&family));
    let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(refused(std::io::Error::other("its streams are missing")));
    };
    let arguments = command.arguments.clone();
    Ok((Started { process, family, record, arguments, watched }, Streams { stdin, stdout, stderr }))
}

type Job = Box<dyn FnOnce() + Send>;

/// Starts it from the one thread that lives as long as the program: the parent-death signal of a child
/// fires when the *thread* that started it ends (security T12).
async fn spawn_on_permanent_thread(mut command: Command) -> std::io::Result<tokio::process::Child> {
    static JOBS: OnceLock<Mutex<Option<mpsc::Sender<Job>>>> = OnceLock::new();
    let runtime = tokio::runtime::Handle::current();
    let (done, spawned) = tokio::sync::oneshot::channel();
    let job: Job = Box::new(move || {
        let _inside = runtime.enter();
        // A caller that is gone drops the child, which ends it.
        done.send(command.spawn()).ok();
    });
    {
        let mut jobs = JOBS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.is_none() {
            let (sender, inbox) = mpsc::channel::<Job>();
            std::thread::Builder::new()
                .name("spawner".to_owned())
                .spawn(move || inbox.into_iter().for_each(|job| job()))?;
            *jobs = Some(sender);
        }
        let gone = || std::io::Error::other("the thread that starts processes is gone");
        jobs.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
    }
    spawned.await.map_err(|_| std::io::Error::other("the process was not started"))?
}

/// The file to run: a path as it is, a bare name by the child's own `PATH`.
fn find(command: &CommandLine) -> Result<PathBuf, Failure> {
    let name = || command.program.to_string_lossy().into_owned();
    let path = Path::new(&command.program);
    let candidates: Vec<PathBuf> = if command.program.as_encoded_bytes().contains(&b'/') {
        let base = command.directory.clone().unwrap_or_default();
        vec![base.join(path)]
    } else {
        let variable =
            command.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let directories = variable.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
        std::env::split_paths(directories).filter(|dir| dir.is_absolute()).map(|dir| dir.join(path)).collect()
    };
    let mut refused = false;
    for candidate in candidates {
        let Ok(meta) = std::fs::metadata(&candidate) else { continue };
        if meta.is_file() && meta.permissions().mode() & 0o111 != 0 {
            return Ok(candidate);
        }
        refused = true;
    }
    Err(if refused {
        Failure::CommandNotExecutable { program: name() }
    } else {
        Failure::CommandNotFound { program: name() }
    })
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
        let pid = self.family.pid();
        let keeper = Keeper {
            process: self.process,
            family: self.family,
            record: self.record,
            arguments: self.arguments,
            _watched: self.watched,
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
    process: tokio::process::Child,
    family: Family,
    record: Option<records::Record>,
    arguments: Vec<OsString>,
    output: JoinHandle<Failure>,
    errors: JoinHandle<()>,
    tail: Arc<Tail>,
    stop: CancellationToken,
    router: Arc<Router>,
    times: Times,
    // Last: let go when everything else is.
    _watched: Watched,
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
        self.family.end_rest().await;
        self.output.abort();
        self.errors.abort();
        if let Some(record) = self.record.take() {
            record.remove();
        }
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
                    _ => Failure::Exited { how: how(status) },
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
        self.family.signal(rustix::process::Signal::TERM);
        if tokio::time::timeout(stop_firm, self.process.wait()).await.is_ok() {
            return;
        }
        self.family.signal(rustix::process::Signal::KILL);
        self.process.wait().await.ok();
    }
}

/// How a process ended, in words.
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown status".to_owned(),
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

    fn to_os(text: &str) -> std::ffi::OsString {
        std::ffi::OsString::from(text)
    }

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

    #[test]
    fn a_program_is_found_by_the_path_of_its_own_environment() {
        let line = |program: &str, path: &str| CommandLine {
            program: to_os(program),
            arguments: Vec::new(),
            directory: None,
            environment: vec![(to_os("PATH"), to_os(path))],
        };
        assert!(find(&line("sh", "/nowhere:/usr/bin:/bin")).is_ok());
        assert!(find(&line("/bin/sh", "")).is_ok());
        assert_eq!(find(&line("sh", "/nowhere")), Err(Failure::CommandNotFound { program: "sh".into() }));
        let file = tempfile::NamedTempFile::new().unwrap();
        let plain = file.path().to_str().unwrap();
        assert_eq!(find(&line(plain, "")), Err(Failure::CommandNotExecutable { program: plain.into() }));
        // A relative directory in PATH would make the working directory decide what runs.
        assert_eq!(find(&line("sh", "bin:.")), Err(Failure::CommandNotFound { program: "sh".into() }));
    }
}
