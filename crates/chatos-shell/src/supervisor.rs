//! The small process between a server and a command: it starts the command inside its boundary, adopts
//! everything the command leaves behind, and ends all of it when told to or when the server is gone
//! (servers §3.5, §3.7; security T12).
//!
//! It is this program again, started with [`crate::SUPERVISOR_COMMAND`]. It is plain and blocking: one
//! thread, one socket to the server as standard input, no settings, no environment, no log.

mod launch;
mod ready;
pub(super) mod ring;
mod session;
pub(super) mod tree;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::wire::{self, Failure, Inbox, Job, Order, Report};
use launch::{Launched, Standard};
use ready::Ready;
use tree::{ProcessId, Reaped};

/// servers §3.1: more processes than this are a runaway. Root is not bound by the system's own limit.
const MAX_PROCESSES: usize = 4_096;
/// How often the count is looked at.
const WATCH: Duration = Duration::from_millis(200);
/// How often memory is looked at, where it is bound: it takes a look at every process of the machine.
const WEIGH: Duration = Duration::from_secs(2);
/// After the server is gone, what a command may still do to end itself.
const ORPHAN_GRACE: Duration = Duration::from_millis(500);
/// After a command the server has an answer to give; what the next one needs is made ready after that.
const SETTLE: Duration = Duration::from_micros(500);
/// Longest fight with processes the kernel does not let go.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs until the server is gone and nothing of its commands is left. Called by the program's `main`.
pub fn supervise() {
    keep_streams_only();
    let socket = std::io::stdin();
    let own = rustix::process::getpid();
    // Own session, so that a terminal's Ctrl-C does not reach it; orphans come here, not to init.
    let ready = rustix::process::setsid().and_then(|_| rustix::process::set_child_subreaper(Some(own)));
    if ready.is_err() {
        return;
    }
    let mut supervisor = Supervisor {
        socket: socket.as_fd(),
        inbox: Inbox::default(),
        connected: true,
        last: None,
        ready: None,
    };
    // Whatever happens here, nothing may be left running.
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| supervisor.serve()));
    if ended.is_err() {
        tree::kill_all(PATIENCE);
    }
}

/// working-day §1.7: a command has its standard streams and no other open file, whoever left one open.
fn keep_streams_only() {
    close_fds::set_fds_cloexec(3, &[]);
}

struct Supervisor<'a> {
    socket: BorrowedFd<'a>,
    inbox: Inbox,
    connected: bool,
    /// The command before, until something is made ready for one like it.
    last: Option<Job>,
    /// For the next command, while there is none.
    ready: Option<Ready>,
}

impl Supervisor<'_> {
    fn serve(&mut self) {
        while self.connected {
            match self.order() {
                Some(Order::Run(job)) => self.run(*job),
                Some(Order::Session(job)) => {
                    let cwd = self.inbox.take_files().into_iter().next();
                    session::hold(self, *job, cwd);
                    return;
                }
                Some(Order::End { .. } | Order::Keep(_)) => {}
                None => {
                    let settle = self.last.as_ref().map(|_| SETTLE);
                    if self.wait(None, settle) {
                        self.read();
                    } else if let Some(job) = self.last.take() {
                        self.ready = Ready::like(&job);
                    }
                }
            }
        }
    }

    fn report(&mut self, report: &Report) {
        // A server that is gone shows at the next read.
        if wire::send(self.socket, report, &[]).is_err() {
            self.connected = false;
        }
    }

    fn order(&mut self) -> Option<Order> {
        match self.inbox.next() {
            Ok(order) => order,
            Err(_) => {
                self.connected = false;
                None
            }
        }
    }

    fn read(&mut self) {
        self.connected = self.connected && self.inbox.fill(self.socket).unwrap_or(false);
    }

    /// Waits for an order, the end of a process, or time; says whether there is an order.
    fn wait(&self, child: Option<BorrowedFd<'_>>, time: Option<Duration>) -> bool {
        let mut fds = vec![PollFd::from_borrowed_fd(self.socket, PollFlags::IN)];
        fds.extend(child.map(|child| PollFd::from_borrowed_fd(child, PollFlags::IN)));
        let time = time.map(timespec);
        poll(&mut fds, time.as_ref()).is_ok() && !fds[0].revents().is_empty()
    }

    /// One command from its start to the end of its last process.
    fn run(&mut self, mut job: Job) {
        let mut files = self.inbox.take_files().into_iter();
        let (Some(cwd), Some(stdout), Some(stderr)) = (files.next(), files.next(), files.next()) else {
            return self.failed(Failure::Surroundings, "files are missing");
        };
        self.last = None;
        let ready = self.ready.take().filter(|ready| ready.fits(&mut job));
        let standard = Standard::Pipes { stdin: files.next(), stdout, stderr };
        let launched = launch::launch(&job, &cwd, standard, ready);
        drop(cwd);
        let launched = match launched {
            Ok(launched) => launched,
            Err((what, message)) => return self.failed(what, &message),
        };
        self.report(&started(&launched));
        self.watch(launched.process, &job);
        remove_temp(&job);
        self.report(&Report::Idle);
        self.last = Some(job);
    }

    fn failed(&mut self, what: Failure, message: &str) {
        self.report(&Report::Failed { what, message: message.to_owned() });
    }

    /// Until nothing of the command is left.
    fn watch(&mut self, first: ProcessId, job: &Job) {
        let temp = job.temp.as_path();
        let mut weighed = Instant::now();
        let handle = Pid::from_raw(first.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let mut handle: Option<OwnedFd> = handle;
        let mut running = true;
        let mut deadline: Option<Instant> = None;
        loop {
            let reaped = tree::reap();
            if running && self.told_end(first, &reaped, temp) {
                running = false;
                handle = None;
            }
            if reaped.none_left {
                return;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                let reaped = tree::kill_all(PATIENCE);
                if running {
                    self.told_end(first, &reaped, temp);
                }
                return;
            }
            if tree::system_tasks() > MAX_PROCESSES
                && tree::descendants(rustix::process::getpid().as_raw_nonzero().get()).len() > MAX_PROCESSES
            {
                self.report(&Report::TooMany { limit: MAX_PROCESSES });
                deadline = Some(Instant::now());
                continue;
            }
            if let Some(limit) = job.memory_bytes
                && deadline.is_none()
                && weighed.elapsed() >= WEIGH
            {
                weighed = Instant::now();
                if tree::memory(rustix::process::getpid().as_raw_nonzero().get()) > limit {
                    self.report(&Report::TooLarge { limit });
                    deadline = Some(Instant::now());
                    continue;
                }
            }
            // While it ends, orphans of its group turn up here without waking anybody.
            let tick = match deadline {
                Some(deadline) => {
                    deadline.saturating_duration_since(Instant::now()).min(Duration::from_millis(10))
                }
                None => WATCH,
            };
            let told = self.wait(handle.as_ref().map(AsFd::as_fd), Some(tick));
            if told && self.connected {
                self.read();
                while let Some(order) = self.order() {
                    if let Order::End { grace_ms } = order {
                        deadline = Some(end_at(deadline, Duration::from_millis(grace_ms)));
                    }
                }
            }
            if !self.connected && deadline.is_none() {
                deadline = Some(end_at(deadline, ORPHAN_GRACE));
            }
            if !self.connected && told {
                // The socket stays readable at its end; do not spin.
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Says how the first process ended, if it did.
    fn told_end(&mut self, first: ProcessId, reaped: &Reaped, temp: &Path) -> bool {
        let Some((_, ended)) = reaped.ended.iter().find(|(pid, _)| *pid == first.pid) else { return false };
        let left = if reaped.none_left {
            0
        } else {
            tree::descendants(rustix::process::getpid().as_raw_nonzero().get()).len()
        };
        // Most commands leave nothing in their directory: then all is over with this word. Where there is
        // something, the word goes out before that is removed.
        let last = reaped.none_left && std::fs::remove_dir(temp).is_ok();
        self.report(&Report::Exited { code: ended.code, signal: ended.signal, left, last });
        true
    }
}

/// Asks everything to end and says when it has to.
fn end_at(before: Option<Instant>, grace: Duration) -> Instant {
    let at = Instant::now() + grace;
    match before {
        Some(before) => before.min(at),
        None => {
            tree::terminate_all();
            at
        }
    }
}

fn started(launched: &Launched) -> Report {
    Report::Started {
        pid: launched.process.pid,
        start_time: launched.process.start_time,
        level: launched.level,
    }
}

/// What the command left in its private directory goes with it.
fn remove_temp(job: &Job) {
    // Files made unreadable on purpose may stay; the system's own cleaning takes them.
    std::fs::remove_dir_all(&job.temp).ok();
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}
