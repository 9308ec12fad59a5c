//! A process and everything it started, found by group, session and mark.
//!
//! A number alone names nobody: a process is signalled only while its start time is the one we know,
//! or while it carries our mark (security T12).

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal};

use crate::MARK;

/// Open files of a child.
const OPEN_FILES: u64 = 4_096;

/// A process with its descendants. Dropping it ends them without mercy.
#[derive(Debug)]
pub(crate) struct Family {
    mark: String,
    pid: u32,
    started: Option<u64>,
    ended: bool,
}

impl Family {
    /// A family to be.
    pub(crate) fn new() -> Self {
        let mut bytes = [0u8; 16];
        // Without random bytes the mark is only less unique; groups still find the family.
        if let Err(error) = getrandom::fill(&mut bytes) {
            tracing::warn!(%error, "no random bytes for the mark of a child");
        }
        let mark = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { mark, pid: 0, started: None, ended: false }
    }

    pub(crate) fn led_by(mut self, pid: u32) -> Self {
        self.pid = pid;
        self.started = start_time(pid);
        self
    }

    pub(crate) fn from_record(mark: String, pid: u32, started: u64) -> Self {
        Self { mark, pid, started: Some(started), ended: false }
    }

    /// Whoever carries this mark; nothing is done when it is dropped.
    pub(crate) fn of_mark(mark: String) -> Self {
        Self { mark, pid: 0, started: None, ended: true }
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn started(&self) -> Option<u64> {
        self.started
    }

    /// No core files, a bounded number of open files (security T11).
    pub(crate) fn limit(&self) {
        let Some(pid) = self.leader() else { return };
        let zero = Rlimit { current: Some(0), maximum: Some(0) };
        // Never more than this process may have itself.
        let most = rustix::process::getrlimit(Resource::Nofile)
            .maximum
            .map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
        let files = Rlimit { current: Some(most), maximum: Some(most) };
        for (resource, limit) in [(Resource::Core, zero), (Resource::Nofile, files)] {
            if let Err(error) = rustix::process::prlimit(Some(pid), resource, limit) {
                tracing::debug!(%error, "a limit of a child could not be set");
            }
        }
    }

    fn leader(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }

    /// Signals the leader and its group. Only while the leader has not been waited for.
    pub(crate) fn signal(&self, signal: Signal) {
        let Some(pid) = self.leader() else { return };
        if self.started.is_none() || start_time(self.pid) != self.started {
            return;
        }
        // Before the launcher made the session there is no group; the leader alone is there.
        rustix::process::kill_process_group(pid, signal).ok();
        rustix::process::kill_process(pid, signal).ok();
    }

    /// Kills what is left after the leader is gone.
    pub(crate) async fn end_rest(&mut self) {
        self.ended = true;
        let (mark, pid, started) = (self.mark.clone(), self.pid, self.started);
        let work = chatos_blocking::run(move || {
            let rest = Family { mark, pid, started, ended: true };
            rest.kill_members();
        });
        work.await.ok();
    }

    /// Kills every member, until none is found. Blocking, some milliseconds.
    pub(crate) fn kill_members(&self) {
        for _ in 0..20 {
            let members = self.members();
            if members.is_empty() {
                return;
            }
            for member in members {
                rustix::process::kill_process(member, Signal::KILL).ok();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        tracing::warn!(pid = self.pid, "processes of an ended server do not go away");
    }

    /// Living processes of this family.
    fn members(&self) -> Vec<Pid> {
        // Somebody else has the number now: its group is not ours.
        let group_is_ours = self.pid != 0
            && match start_time(self.pid) {
                Some(started) => self.started == Some(started),
                None => true,
            };
        let marked = format!("{MARK}={}", self.mark);
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let own = std::process::id();
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| *pid != own)
            .filter(|pid| {
                let Some(stat) = Stat::read(*pid) else { return false };
                if stat.state == 'Z' || stat.state == 'X' {
                    return false;
                }
                (group_is_ours && (stat.group == self.pid || stat.session == self.pid))
                    || carries(*pid, marked.as_bytes())
            })
            .filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
            .collect()
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.ended && self.pid != 0 {
            self.signal(Signal::KILL);
            self.kill_members();
        }
    }
}

fn carries(pid: u32, marked: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|variable| variable == marked))
}

struct Stat {
    state: char,
    group: u32,
    session: u32,
    started: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The command name may hold spaces and brackets; fields are counted after the last bracket.
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(Self {
            state: fields.first()?.chars().next()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

/// When a process started, in clock ticks since boot: with its number it names one process for ever.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    Stat::read(pid).map(|stat| stat.started)
}
