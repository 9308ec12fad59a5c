//! Starting a child and holding it until its whole family is gone.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use crate::MARK;
use crate::family::Family;
use crate::launch::{CHANNEL, Launcher};
use crate::records::{ChildRecords, Record};
use crate::warden::Warden;

/// How children are started.
#[derive(Debug, Clone, Default)]
pub struct Spawning {
    /// The program that prepares a child before it becomes what it is meant to be; without it a child
    /// has a group but no session of its own, and survives a killed host until the next start.
    pub launcher: Option<Launcher>,
    /// Where children are written down, for the next start.
    pub records: Option<ChildRecords>,
    /// Ends them and theirs when the host is killed.
    pub warden: Option<Arc<Warden>>,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// A path, or a bare name looked up in the child's own `PATH`.
    pub program: OsString,
    /// Passed as they are.
    pub arguments: Vec<OsString>,
    /// The working directory; the host's own when absent.
    pub directory: Option<PathBuf>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Why nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpawnError {
    /// No such program.
    #[error("the program `{program}` was not found")]
    NotFound {
        /// As it was named.
        program: String,
    },
    /// It is there and cannot be run.
    #[error("`{program}` cannot be executed")]
    NotExecutable {
        /// As it was named.
        program: String,
    },
    /// The system refused.
    #[error("`{program}` could not be started: {error}")]
    Refused {
        /// As it was found.
        program: String,
        /// Why.
        error: String,
    },
}

/// Our ends of a child's standard streams.
#[derive(Debug)]
pub struct Streams {
    /// Its input; `None` for a child with a channel, which reads nothing there.
    pub stdin: Option<ChildStdin>,
    /// Its output.
    pub stdout: ChildStdout,
    /// Its error stream.
    pub stderr: ChildStderr,
}

/// A started process with everything it starts. Dropping it ends them all without mercy.
#[derive(Debug)]
pub struct Started {
    process: tokio::process::Child,
    family: Family,
    record: Option<Record>,
    // After the family, so that it is let go last.
    _watched: Watched,
}

/// A mark the warden looks after until this is dropped.
#[derive(Debug)]
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

impl Started {
    /// The leader's number.
    pub fn pid(&self) -> u32 {
        self.family.pid()
    }

    /// Waits for the leader.
    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Signals the leader and its group, while the leader has not been waited for.
    pub fn signal(&self, signal: rustix::process::Signal) {
        self.family.signal(signal);
    }

    /// Ends whatever is left once the leader is gone, and forgets the child.
    pub async fn end_rest(&mut self) {
        self.family.end_rest().await;
        if let Some(record) = self.record.take() {
            record.remove();
        }
    }
}

/// Starts a process that is spoken to by its standard streams. Returns before it says anything.
pub async fn start(program: &Program, spawning: &Spawning) -> Result<(Started, Streams), SpawnError> {
    spawn(program, spawning, None).await
}

/// Starts a process that finds `channel` at descriptor 3 and nothing on its standard input. This needs
/// a launcher: a descriptor cannot be put in its place from outside without unsafe code.
pub async fn start_with_channel(
    program: &Program,
    spawning: &Spawning,
    channel: OwnedFd,
) -> Result<(Started, Streams), SpawnError> {
    spawn(program, spawning, Some(channel)).await
}

async fn spawn(
    command: &Program,
    spawning: &Spawning,
    channel: Option<OwnedFd>,
) -> Result<(Started, Streams), SpawnError> {
    let program = find(command)?;
    let refused = |error: std::io::Error| SpawnError::Refused {
        program: program.to_string_lossy().into_owned(),
        error: error.to_string(),
    };
    if let Some(directory) = command.directory.as_deref().filter(|directory| !directory.is_dir()) {
        // The system would say the same about the program, which is there.
        let error = format!("its working directory does not exist: {}", directory.display());
        return Err(refused(std::io::Error::other(error)));
    }
    let family = Family::new();
    let watched = Watched::new(spawning.warden.clone(), family.mark());
    let mut process = match &spawning.launcher {
        Some(launcher) => {
            let mut process = Command::new(&launcher.program);
            process.args(&launcher.arguments);
            if channel.is_some() {
                process.arg(CHANNEL);
            }
            process.arg(std::process::id().to_string()).arg(&program);
            process
        }
        None if channel.is_some() => {
            return Err(refused(std::io::Error::other("there is no launcher to hand it its channel")));
        }
        None => {
            let mut process = Command::new(&program);
            // The launcher makes a session instead, which a leader of a group cannot do.
            process.process_group(0);
            process
        }
    };
    let has_channel = channel.is_some();
    process
        .args(&command.arguments)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .env(MARK, family.mark())
        .stdin(channel.map_or_else(Stdio::piped, Stdio::from))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(directory) = &command.directory {
        process.current_dir(directory);
    }
    let mut process = spawn_on_permanent_thread(process).await.map_err(refused)?;
    let family = family.led_by(process.id().unwrap_or_default());
    family.limit();
    let record = spawning.records.as_ref().and_then(|records| records.add(&family));
    let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
    let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
        return Err(refused(std::io::Error::other("its streams are missing")));
    };
    if stdin.is_none() && !has_channel {
        return Err(refused(std::io::Error::other("its input is missing")));
    }
    Ok((Started { process, family, record, _watched: watched }, Streams { stdin, stdout, stderr }))
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
        let child = command.spawn();
        // Its ends of the pipes belong to the child alone now; a caller that is gone drops the child,
        // which ends it.
        drop(command);
        done.send(child).ok();
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
fn find(command: &Program) -> Result<PathBuf, SpawnError> {
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
        SpawnError::NotExecutable { program: name() }
    } else {
        SpawnError::NotFound { program: name() }
    })
}

/// How a process ended: `status 1`, `signal 9`.
pub fn how_it_ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown status".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_os(text: &str) -> OsString {
        OsString::from(text)
    }

    #[test]
    fn a_program_is_found_by_the_path_of_its_own_environment() {
        let line = |program: &str, path: &str| Program {
            program: to_os(program),
            arguments: Vec::new(),
            directory: None,
            environment: vec![(to_os("PATH"), to_os(path))],
        };
        assert!(find(&line("sh", "/nowhere:/usr/bin:/bin")).is_ok());
        assert!(find(&line("/bin/sh", "")).is_ok());
        assert_eq!(find(&line("sh", "/nowhere")), Err(SpawnError::NotFound { program: "sh".into() }));
        let file = tempfile::NamedTempFile::new().unwrap();
        let plain = file.path().to_str().unwrap();
        assert_eq!(find(&line(plain, "")), Err(SpawnError::NotExecutable { program: plain.into() }));
        // A relative directory in PATH would make the working directory decide what runs.
        assert_eq!(find(&line("sh", "bin:.")), Err(SpawnError::NotFound { program: "sh".into() }));
    }
}
