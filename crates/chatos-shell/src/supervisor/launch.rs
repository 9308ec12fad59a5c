//! Starting a command inside its boundary.
//!
//! The boundary is drawn around a thread that exists for this alone; the child inherits it, this process
//! stays outside and can end what it started.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Once;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

use super::ready::Ready;
use super::tree::{self, ProcessId};
use crate::sandbox::{self, Boundary, Level};
use crate::wire::{Failure, Job};

/// servers §3.1 and security T11.
const MAX_FILE_BYTES: u64 = 8 << 30;
const MAX_OPEN_FILES: u64 = 4_096;

/// A command that runs.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) process: ProcessId,
    pub(super) level: Level,
}

/// The standard streams of a command.
pub(super) enum Standard {
    /// Each its own; no stdin means an empty one.
    Pipes { stdin: Option<OwnedFd>, stdout: OwnedFd, stderr: OwnedFd },
    /// One terminal for all.
    Terminal(OwnedFd),
}

/// Starts a command; nothing is left behind when it fails. One that is expected has its directory and its
/// boundary already.
pub(super) fn launch(
    job: &Job,
    cwd: &OwnedFd,
    standard: Standard,
    ready: Option<Ready>,
) -> Result<Launched, (Failure, String)> {
    let surroundings = |error: std::io::Error| (Failure::Surroundings, error.to_string());
    if ready.is_none() {
        std::fs::DirBuilder::new().mode(0o700).create(&job.temp).map_err(surroundings)?;
    }
    let launched = start(job, cwd, standard, ready);
    if launched.is_err() {
        super::remove_temp(job);
    }
    launched
}

/// The number of a process that was started, and the level of its boundary; or why there is none.
pub(super) type Confined = Result<(u32, Level), (Failure, String)>;

/// Draws the boundary around the calling thread, which is there for this alone, and starts the command.
pub(super) fn confined(boundary: Option<&Boundary>, command: impl FnOnce() -> Option<Command>) -> Confined {
    let level = match boundary {
        Some(boundary) => sandbox::confine(boundary).map_err(|error| (Failure::Boundary, error))?,
        None => Level::None,
    };
    let Some(mut command) = command() else {
        return Err((Failure::Surroundings, "no command came".to_owned()));
    };
    super::keep_streams_only();
    let child = command.spawn().map_err(|error| (Failure::Program, error.to_string()))?;
    Ok((child.id(), level))
}

pub(super) fn panicked() -> Confined {
    Err((Failure::Boundary, "the launcher panicked".to_owned()))
}

fn start(
    job: &Job,
    cwd: &OwnedFd,
    standard: Standard,
    ready: Option<Ready>,
) -> Result<Launched, (Failure, String)> {
    let surroundings = |error: std::io::Error| (Failure::Surroundings, error.to_string());
    let [program, arguments @ ..] = job.argv.as_slice() else {
        return Err((Failure::Program, "no program".to_owned()));
    };
    let mut command = command(program);
    command.args(arguments).env_clear().envs(job.env.iter().map(|(name, value)| (name, value)));
    // The directory that was checked, whatever its name leads to by now.
    command.current_dir(format!("/proc/self/fd/{}", cwd.as_raw_fd()));
    command.process_group(0);
    match standard {
        Standard::Pipes { stdin, stdout, stderr } => {
            command.stdin(stdin.map_or_else(Stdio::null, Stdio::from)).stdout(stdout).stderr(stderr);
        }
        Standard::Terminal(terminal) => {
            let terminal = File::from(terminal);
            let again = || terminal.try_clone().map_err(surroundings);
            command.stdin(again()?).stdout(again()?).stderr(again()?);
        }
    }
    limit_all();
    let before = getrlimit(Resource::Cpu);
    if let Some(seconds) = job.cpu_seconds {
        // Only the soft limit: this process needs its own back.
        setrlimit(Resource::Cpu, Rlimit { current: Some(seconds), maximum: before.maximum }).ok();
    }
    let confined = match ready {
        Some(ready) => ready.start(command),
        None => {
            let boundary = job.boundary.clone();
            let thread = std::thread::Builder::new().name("shell-launch".to_owned());
            let thread = thread.spawn(move || confined(boundary.as_ref(), || Some(command)));
            thread.map_err(surroundings).and_then(|thread| thread.join().unwrap_or_else(|_| panicked()))
        }
    };
    setrlimit(Resource::Cpu, before).ok();
    let (pid, level) = confined?;
    let pid = i32::try_from(pid).unwrap_or_default();
    if let (Some(seconds), Some(named)) = (job.cpu_seconds, Pid::from_raw(pid)) {
        let limit = Rlimit { current: Some(seconds), maximum: Some(seconds.saturating_add(5)) };
        // A command that has ended already needs none.
        prlimit(Some(named), Resource::Cpu, limit).ok();
    }
    // Not collected before this process does so itself: the number is still its own.
    Ok(Launched { process: ProcessId { pid, start_time: tree::start_time(pid).unwrap_or_default() }, level })
}

#[expect(clippy::disallowed_methods, reason = "the one place where commands of the shell server start")]
fn command(program: &str) -> Command {
    Command::new(program)
}

/// Limits that hold for this process and all it starts; set with the first command.
fn limit_all() {
    static SET: Once = Once::new();
    SET.call_once(set_limits);
}

fn set_limits() {
    let wanted = [
        (Resource::Core, 0),
        (Resource::Nofile, MAX_OPEN_FILES),
        (Resource::Fsize, MAX_FILE_BYTES),
        (Resource::Nproc, super::MAX_PROCESSES as u64),
    ];
    for (resource, most) in wanted {
        let now = getrlimit(resource);
        let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        setrlimit(resource, Rlimit { current: least(now.current), maximum: least(now.maximum) }).ok();
    }
}
