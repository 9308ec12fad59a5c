//! Holding a session: its terminal, its log, its files and the socket through which any process of the
//! user reads and writes it (servers §3.7).

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcgetpgrp, tcsetpgrp, tcsetwinsize};

use super::launch::{self, Launched, Standard};
use super::ring::Ring;
use super::tree;
use super::{ORPHAN_GRACE, PATIENCE, Supervisor, WATCH, end_at, remove_temp, started, timespec};
use crate::sessions::{Answer, Ask, CTL, LOG, Record, State};
use crate::wire::{self, Failure, Inbox, Order, Report, SessionJob};

/// Connections at once; more wait in the socket's own queue.
const MAX_CLIENTS: usize = 32;
/// Input that the program has not read yet.
const MAX_INPUT: usize = 256 << 10;
/// How often the files say what is new while output flows.
const META_EVERY: Duration = Duration::from_secs(1);
/// How long after its start a stop is taken for a mistake of the start.
const EARLY: Duration = Duration::from_secs(10);
/// After the end of the program, output that others of it still write.
const DRAIN: Duration = Duration::from_millis(500);

struct Client {
    stream: UnixStream,
    inbox: Inbox,
    /// It showed the secret of the session.
    known: bool,
    /// Wants to hear of output beyond this many bytes.
    watches: Option<u64>,
    open: bool,
}

struct Session {
    job: SessionJob,
    ring: Ring,
    /// The terminal's other end, or the reading ends of pipes.
    outputs: Vec<File>,
    input: Option<File>,
    pending: VecDeque<u8>,
    leader: Launched,
    clients: Vec<Client>,
    saved: Instant,
    silent_since: Instant,
    began: Instant,
    /// Somebody stopped it with a signal.
    stopped: bool,
}

/// Runs a session from its start to the end of its last process.
pub(super) fn hold(supervisor: &mut Supervisor<'_>, job: SessionJob, cwd: Option<OwnedFd>) {
    let listener = UnixListener::bind(job.dir.join(CTL)).and_then(|listener| {
        std::fs::set_permissions(job.dir.join(CTL), std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    let ring = Ring::create(&job.dir.join(LOG), job.log_bytes);
    let (Ok(listener), Ok(ring), Some(cwd)) = (listener, ring, cwd) else {
        return supervisor.failed(Failure::Surroundings, "the files of the session cannot be made");
    };
    let (standard, outputs, input) = match streams(job.terminal) {
        Ok(streams) => streams,
        Err(error) => return supervisor.failed(Failure::Surroundings, &error.to_string()),
    };
    let terminal = match &standard {
        Standard::Terminal(terminal) => terminal.try_clone().ok(),
        Standard::Pipes { .. } => None,
    };
    let leader = match launch::launch(&job.job, &cwd, standard, None) {
        Ok(leader) => leader,
        Err((what, message)) => return supervisor.failed(what, &message),
    };
    drop(cwd);
    if let (Some(terminal), Some(group)) = (terminal, Pid::from_raw(leader.process.pid)) {
        // A command that looked at its terminal before this stops itself; see `wake_early_stop`.
        tcsetpgrp(&terminal, group).ok();
    }
    let now = Instant::now();
    let mut session = Session {
        job,
        ring,
        outputs,
        input,
        pending: VecDeque::new(),
        leader,
        clients: Vec::new(),
        saved: now,
        silent_since: now,
        began: now,
        stopped: false,
    };
    session.job.record.pid = session.leader.process.pid;
    session.job.record.start_time = session.leader.process.start_time;
    session.job.record.supervisor_pid = rustix::process::getpid().as_raw_nonzero().get();
    session.job.record.supervisor_start_time =
        tree::start_time(session.job.record.supervisor_pid).unwrap_or_default();
    session.save();
    supervisor.report(&started(&session.leader));
    session.run(supervisor, &listener);
    if session.ring.straighten(&session.job.dir.join(LOG)).is_ok() {
        session.job.record.marks = session.ring.marks;
    }
    session.save();
    // Files of a session that was removed meanwhile are gone already.
    std::fs::remove_file(session.job.dir.join(CTL)).ok();
    remove_temp(&session.job.job);
    supervisor.report(&Report::Idle);
}

type Streams = (Standard, Vec<File>, Option<File>);

fn streams(terminal: Option<(u16, u16)>) -> rustix::io::Result<Streams> {
    let Some((cols, rows)) = terminal else {
        let (stdin_read, stdin_write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let (out_read, stdout) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let stderr = rustix::io::fcntl_dupfd_cloexec(&stdout, 0)?;
        for fd in [&stdin_write, &out_read] {
            rustix::fs::fcntl_setfl(fd, OFlags::NONBLOCK)?;
        }
        let standard = Standard::Pipes { stdin: Some(stdin_read), stdout, stderr };
        return Ok((standard, vec![File::from(out_read)], Some(File::from(stdin_write))));
    };
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    unlockpt(&master)?;
    tcsetwinsize(&master, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?;
    let slave = ioctl_tiocgptpeer(&master, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    // This process leads the session, so the terminal belongs to the session of the command.
    rustix::process::ioctl_tiocsctty(&slave)?;
    rustix::fs::fcntl_setfl(&master, OFlags::NONBLOCK | OFlags::RDWR)?;
    let master = File::from(master);
    let again = File::from(rustix::io::fcntl_dupfd_cloexec(&master, 0)?);
    Ok((Standard::Terminal(slave), vec![master], Some(again)))
}

impl Session {
    fn run(&mut self, supervisor: &mut Supervisor<'_>, listener: &UnixListener) {
        let mut child =
            Pid::from_raw(self.leader.process.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let mut end: Option<Instant> = None;
        let mut drain: Option<Instant> = None;
        loop {
            let reaped = tree::reap();
            if let Some((_, ended)) = reaped.ended.iter().find(|(pid, _)| *pid == self.leader.process.pid) {
                child = None;
                drain = Some(Instant::now() + DRAIN);
                self.read_outputs();
                self.exited(ended.code, ended.signal);
                supervisor.report(&Report::Exited {
                    code: ended.code,
                    signal: ended.signal,
                    left: usize::from(!reaped.none_left),
                    last: false,
                });
            }
            if reaped.none_left {
                self.read_outputs();
                self.answer_watchers();
                return;
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                let reaped = tree::kill_all(PATIENCE);
                if let Some((_, ended)) = reaped.ended.iter().find(|(pid, _)| *pid == self.leader.process.pid)
                {
                    self.read_outputs();
                    self.exited(ended.code, ended.signal);
                    let (code, signal) = (ended.code, ended.signal);
                    supervisor.report(&Report::Exited { code, signal, left: 0, last: false });
                }
                self.answer_watchers();
                return;
            }
            if tree::system_tasks() > super::MAX_PROCESSES
                && tree::descendants(self.job.record.supervisor_pid).len() > super::MAX_PROCESSES
            {
                end = Some(Instant::now());
                continue;
            }
            self.wake_early_stop();
            if drain.is_some_and(|drain| Instant::now() >= drain) && end.is_none() {
                drain = None;
            }
            let tick = match (end, drain) {
                (Some(_), _) | (_, Some(_)) => Duration::from_millis(10),
                _ => WATCH,
            };
            let woken = self.wait(supervisor, listener, child.as_ref(), tick);
            if woken.server && supervisor.connected {
                supervisor.read();
                while let Some(order) = supervisor.order() {
                    match order {
                        Order::End { grace_ms } => end = Some(end_at(end, Duration::from_millis(grace_ms))),
                        Order::Keep(keep) => self.job.keep = keep,
                        Order::Run(_) | Order::Session(_) => {}
                    }
                }
            }
            if !supervisor.connected && !self.job.keep && end.is_none() {
                end = Some(end_at(end, ORPHAN_GRACE));
            }
            if woken.output && self.read_outputs() {
                self.silent_since = Instant::now();
                self.answer_watchers();
            }
            self.write_input();
            if woken.listener {
                self.accept(listener);
            }
            if let Some(grace) = self.serve_clients() {
                end = Some(end_at(end, grace));
            }
            if self.saved.elapsed() > META_EVERY && self.job.record.marks != self.ring.marks {
                self.save();
            }
        }
    }

    fn wait(
        &self,
        supervisor: &Supervisor<'_>,
        listener: &UnixListener,
        child: Option<&OwnedFd>,
        tick: Duration,
    ) -> Woken {
        let mut fds = vec![PollFd::new(listener, PollFlags::IN)];
        if self.clients.len() >= MAX_CLIENTS {
            fds[0] = PollFd::new(listener, PollFlags::empty());
        }
        let mut server_at = None;
        if supervisor.connected {
            server_at = Some(fds.len());
            fds.push(PollFd::from_borrowed_fd(supervisor.socket, PollFlags::IN));
        }
        fds.extend(child.map(|child| PollFd::new(child, PollFlags::IN)));
        let outputs_at = fds.len();
        fds.extend(self.outputs.iter().map(|file| PollFd::new(file, PollFlags::IN)));
        let outputs_end = fds.len();
        if let (Some(input), false) = (&self.input, self.pending.is_empty()) {
            fds.push(PollFd::new(input, PollFlags::OUT));
        }
        fds.extend(self.clients.iter().map(|client| PollFd::new(&client.stream, PollFlags::IN)));
        if poll(&mut fds, Some(&timespec(tick))).is_err() {
            return Woken::default();
        }
        let ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        Woken {
            listener: ready(&fds[0]),
            server: server_at.is_some_and(|at| ready(&fds[at])),
            output: fds[outputs_at..outputs_end].iter().any(ready),
        }
    }

    /// The command is put in front of its terminal right after its start; one that was quicker and looked
    /// before that has stopped itself and goes on.
    fn wake_early_stop(&self) {
        if self.job.terminal.is_some()
            && !self.stopped
            && self.began.elapsed() < EARLY
            && tree::is_stopped(self.leader.process.pid)
            && let Some(group) = Pid::from_raw(self.leader.process.pid)
        {
            // Gone meanwhile is fine.
            rustix::process::kill_process_group(group, Signal::CONT).ok();
        }
    }

    /// Takes what is there; at the end of a stream it is let go.
    fn read_outputs(&mut self) -> bool {
        let mut buffer = vec![0; 64 << 10];
        let mut any = false;
        let (ring, mut budget) = (&mut self.ring, 64);
        self.outputs.retain_mut(|file| {
            loop {
                match file.read(&mut buffer) {
                    Ok(0) => return false,
                    Ok(count) => {
                        any = true;
                        // A full disk must not stop the program; what cannot be kept is lost and counted.
                        if ring.push(&buffer[..count]).is_err() {
                            ring.marks.dropped = ring.marks.total;
                        }
                        budget -= 1;
                        // Clients and orders get their turn, however fast the program writes.
                        if budget == 0 {
                            return true;
                        }
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return true,
                    // EIO: nobody has the terminal open any more.
                    Err(_) => return false,
                }
            }
        });
        any
    }

    fn write_input(&mut self) {
        while !self.pending.is_empty() {
            let Some(input) = &mut self.input else { return };
            let (bytes, _) = self.pending.as_slices();
            match input.write(bytes) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.pending.clear();
                    self.input = None;
                }
            }
        }
    }

    fn accept(&mut self, listener: &UnixListener) {
        while self.clients.len() < MAX_CLIENTS {
            let Ok((stream, _)) = listener.accept() else { return };
            // Only processes of the same user get here: the directory is closed to others. No boundary
            // keeps a command from connecting, so whoever descends from one is turned away here.
            let stranger = socket_peercred(&stream)
                .map_or(true, |peer| tree::comes_from_a_command(peer.pid.as_raw_nonzero().get()));
            if !stranger && stream.set_nonblocking(true).is_ok() {
                let inbox = Inbox::default();
                self.clients.push(Client { stream, inbox, known: false, watches: None, open: true });
            }
        }
    }

    /// Reads and answers; says how soon everything has to end when somebody asked for that.
    fn serve_clients(&mut self) -> Option<Duration> {
        let mut end = None;
        for at in 0..self.clients.len() {
            loop {
                let client = &mut self.clients[at];
                match client.inbox.fill(&client.stream) {
                    Ok(true) => {}
                    Ok(false) => {
                        client.open = false;
                        break;
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                    Err(_) => {
                        client.open = false;
                        break;
                    }
                }
            }
            while let Ok(Some(ask)) = self.clients[at].inbox.next::<Ask>() {
                let client = &mut self.clients[at];
                if !client.known && !matches!(ask, Ask::Open { .. }) {
                    client.open = false;
                    break;
                }
                let answer = match ask {
                    Ask::Open { secret } => {
                        client.known = self.job.record.secret.opens(&secret);
                        client.open &= client.known;
                        continue;
                    }
                    Ask::Watch { beyond } => {
                        self.clients[at].watches = Some(beyond);
                        continue;
                    }
                    Ask::Kill { grace_ms } => {
                        end = Some(Duration::from_millis(grace_ms));
                        // Answered by the end of the connection.
                        continue;
                    }
                    Ask::Status => self.status(),
                    Ask::Lines { from, count, max } => match self.ring.lines(from, count, max) {
                        Ok(lines) => Answer::Lines(lines),
                        Err(error) => Answer::Refused(error.to_string()),
                    },
                    Ask::Input { data } => self.take_input(&data),
                    Ask::Signal { signal } => Answer::Delivered(self.signal(signal)),
                };
                self.answer(at, &answer);
            }
        }
        self.answer_watchers();
        self.clients.retain(|client| client.open);
        end
    }

    fn status(&self) -> Answer {
        let tail = self.ring.tail(512);
        Answer::Status {
            record: Box::new(self.record()),
            silent_ms: u64::try_from(self.silent_since.elapsed().as_millis()).unwrap_or(u64::MAX),
            tail: String::from_utf8_lossy(&tail).into_owned(),
            reading: self.is_reading(),
        }
    }

    /// Whether the process in front of the terminal waits for it: its system call is a read of it.
    fn is_reading(&self) -> bool {
        let Some(terminal) = self.outputs.first() else { return false };
        let front = if self.job.terminal.is_some() {
            tcgetpgrp(terminal).map(|group| group.as_raw_nonzero().get()).unwrap_or(self.leader.process.pid)
        } else {
            self.leader.process.pid
        };
        let processes = tree::descendants(self.job.record.supervisor_pid);
        processes.iter().any(|process| {
            let text = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
            let Some((_, rest)) = text.rsplit_once(')') else { return false };
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let in_front = fields.get(2).and_then(|group| group.parse::<i32>().ok()) == Some(front);
            let sleeps = fields.first() == Some(&"S");
            let place = std::fs::read_to_string(format!("/proc/{}/wchan", process.pid)).unwrap_or_default();
            let waits = place.is_empty()
                || place == "0"
                || ["tty", "read", "poll", "select", "wait_woken"].iter().any(|word| place.contains(word));
            in_front && sleeps && waits
        })
    }

    fn take_input(&mut self, data: &str) -> Answer {
        if self.job.record.state != State::Running || self.input.is_none() {
            return Answer::Refused("ended".to_owned());
        }
        if self.pending.len() + data.len() > MAX_INPUT {
            return Answer::Full { limit: MAX_INPUT as u64 };
        }
        self.pending.extend(data.as_bytes());
        self.silent_since = Instant::now();
        self.write_input();
        Answer::Taken { bytes: data.len() as u64 }
    }

    /// To the group in front of the terminal for what a key would send, else to the command's group.
    fn signal(&mut self, number: i32) -> bool {
        let Some(signal) = Signal::from_named_raw(number) else { return false };
        self.stopped |= signal == Signal::STOP;
        let front = match self.outputs.first() {
            Some(terminal) if self.job.terminal.is_some() && matches!(signal, Signal::INT | Signal::QUIT) => {
                tcgetpgrp(terminal).ok()
            }
            _ => None,
        };
        let own = (self.job.record.state == State::Running)
            .then(|| Pid::from_raw(self.leader.process.pid))
            .flatten();
        front.or(own).is_some_and(|group| rustix::process::kill_process_group(group, signal).is_ok())
    }

    fn answer(&mut self, at: usize, answer: &Answer) {
        let client = &mut self.clients[at];
        // A client that does not read its answer loses its connection, nobody else waits for it.
        let sent = client
            .stream
            .set_nonblocking(false)
            .and_then(|()| client.stream.set_write_timeout(Some(Duration::from_secs(1))))
            .and_then(|()| wire::send(client.stream.as_fd(), answer, &[]))
            .and_then(|()| client.stream.set_nonblocking(true));
        if sent.is_err() {
            client.open = false;
        }
    }

    fn answer_watchers(&mut self) {
        let over = self.job.record.state != State::Running;
        for at in 0..self.clients.len() {
            let news = self.clients[at].watches.is_some_and(|beyond| over || self.ring.marks.total > beyond);
            if news && self.clients[at].open {
                self.clients[at].watches = None;
                let answer = self.status();
                self.answer(at, &answer);
            }
        }
    }

    fn exited(&mut self, code: Option<i32>, signal: Option<i32>) {
        let record = &mut self.job.record;
        record.state = State::Exited;
        record.exit_code = code;
        record.signal = signal.map(crate::server::signal_name);
        record.exited_at = Some(chatos_store::now_iso());
        self.save();
        self.answer_watchers();
    }

    fn record(&self) -> Record {
        let mut record = self.job.record.clone();
        record.marks = self.ring.marks;
        record
    }

    fn save(&mut self) {
        self.saved = Instant::now();
        self.job.record.marks = self.ring.marks;
        self.job.record.updated_at = chatos_store::now_iso();
        // A full disk leaves the former state; the socket still answers.
        self.job.record.save(&self.job.dir).ok();
    }
}

#[derive(Debug, Default)]
struct Woken {
    listener: bool,
    server: bool,
    output: bool,
}
