//! The server's side of supervisors: starting them, giving them commands, hearing what became of them.
//!
//! One supervisor holds one command at a time; when nothing of the command is left it takes the next, so
//! that a command costs the start of a shell and no more.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::supervisor::tree;
use super::wire::{Channel, Job, Order, Report};

/// Supervisors that wait for work; each costs some megabytes.
const MAX_IDLE: usize = 2;
/// What is waiting in a pipe when nobody reads; more lets a flood run with fewer switches.
pub(super) const PIPE_BYTES: usize = 1 << 20;

/// Supervisors of one server.
#[derive(Debug)]
pub(super) struct Pool {
    launcher: Vec<OsString>,
    idle: Mutex<Vec<Link>>,
}

/// A connection to one supervisor.
#[derive(Debug)]
pub(super) struct Link {
    channel: Channel,
    // The last command is over, the report of it still on its way.
    owes_idle: bool,
    // Collected by the runtime when it ends.
    #[expect(dead_code, reason = "kept for as long as the connection")]
    child: Child,
}

/// The reading ends of a command's output.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdout: tokio::net::unix::pipe::Receiver,
    pub(super) stderr: tokio::net::unix::pipe::Receiver,
}

impl Pool {
    /// Supervisors are started as `launcher`.
    pub(super) fn new(launcher: Vec<OsString>) -> Arc<Self> {
        Arc::new(Self { launcher, idle: Mutex::default() })
    }

    /// A supervisor without work.
    fn take(&self) -> Option<Link> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Gives a supervisor back that has nothing left to do.
    pub(super) fn put(&self, link: Link) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(link);
        }
    }

    /// A new supervisor.
    pub(super) fn spawn(&self) -> io::Result<Link> {
        let (own, other) = Socket::pair()?;
        own.set_nonblocking(true)?;
        let [program, arguments @ ..] = self.launcher.as_slice() else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no supervisor program"));
        };
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(other)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Link { channel: Channel::new(UnixStream::from_std(own)?), owes_idle: false, child })
    }

    /// Gives a command to a supervisor.
    pub(super) async fn run(&self, job: Job, cwd: BorrowedFd<'_>) -> io::Result<(Link, Pipes)> {
        let order = Order::Run(Box::new(job));
        let (out_read, stdout) = pipe()?;
        let (err_read, stderr) = pipe()?;
        let files = [cwd, stdout.as_fd(), stderr.as_fd()];
        let pipes = |out_read, err_read| -> io::Result<Pipes> {
            Ok(Pipes {
                stdout: tokio::net::unix::pipe::Receiver::from_owned_fd(out_read)?,
                stderr: tokio::net::unix::pipe::Receiver::from_owned_fd(err_read)?,
            })
        };
        if let Some(mut link) = self.take() {
            // One that died while it waited is replaced.
            if link.send(&order, &files).await.is_ok() {
                return Ok((link, pipes(out_read, err_read)?));
            }
        }
        let mut link = self.spawn()?;
        link.send(&order, &files).await?;
        Ok((link, pipes(out_read, err_read)?))
    }
}

pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&read, rustix::fs::OFlags::NONBLOCK)?;
    // Over the user's quota it stays at the usual size.
    rustix::pipe::fcntl_setpipe_size(&read, PIPE_BYTES).ok();
    Ok((read, write))
}

impl Link {
    /// Sends an order, with files beside it.
    pub(super) async fn send(&mut self, order: &Order, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.channel.send(order, files).await
    }

    /// Tries to send without waiting; for places that cannot wait.
    pub(super) fn send_now(&self, order: &Order) {
        self.channel.send_now(order);
    }

    /// The next report; `None` when the supervisor is gone. May be dropped and called again.
    pub(super) async fn report(&mut self) -> Option<Report> {
        loop {
            let report = self.channel.receive().await;
            if self.owes_idle && matches!(report, Some(Report::Idle)) {
                self.owes_idle = false;
                continue;
            }
            return report;
        }
    }

    /// Nothing is left of its command: it may be given the next one before it says that it is ready.
    pub(super) fn is_done(&mut self) {
        self.owes_idle = true;
    }
}

/// Ends what a supervisor left that was killed itself: everything with its mark and all below. Blocks.
pub(super) fn sweep(token: &str) {
    let mark = format!("MODEL_CLI_SESSION_TOKEN={token}");
    for _ in 0..50 {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environ.split(|b| *b == 0).any(|line| line == mark.as_bytes())
                && let Some(start_time) = tree::start_time(pid)
            {
                found.push(tree::ProcessId { pid, start_time });
                found.extend(tree::descendants(pid));
            }
        }
        if found.is_empty() {
            return;
        }
        for process in found {
            tree::signal(process, rustix::process::Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
