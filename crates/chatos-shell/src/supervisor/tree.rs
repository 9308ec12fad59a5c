//! All processes of a command: found by descent from this process, which adopts every orphan of them,
//! and ended so that none escapes and no stranger is hit (servers §3.5).

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Read;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, wait};

/// A process by the two numbers that name it for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ProcessId {
    pub(crate) pid: i32,
    /// Clock ticks since boot.
    pub(crate) start_time: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// What reaping found.
#[derive(Debug, Default)]
pub(super) struct Reaped {
    pub(super) ended: Vec<(i32, Ended)>,
    /// No child is left, so no descendant is: this process adopts orphans.
    pub(super) none_left: bool,
}

/// Collects every child that ended.
pub(super) fn reap() -> Reaped {
    let mut reaped = Reaped::default();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                let ended = Ended { code: status.exit_status(), signal: status.terminating_signal() };
                reaped.ended.push((pid.as_raw_nonzero().get(), ended));
            }
            Err(Errno::INTR) => {}
            Err(Errno::CHILD) => {
                reaped.none_left = true;
                return reaped;
            }
            Ok(None) | Err(_) => return reaped,
        }
    }
}

/// When a process started; `None` when it is gone.
pub(crate) fn start_time(pid: i32) -> Option<u64> {
    Some(stat(pid)?.start_time)
}

struct Stat {
    state: u8,
    parent: i32,
    start_time: u64,
}

fn stat(pid: i32) -> Option<Stat> {
    let mut room = [0; 1024];
    let text = small_file(&format!("/proc/{pid}/stat"), &mut room)?;
    // The name may hold spaces and brackets; fields are counted after the last bracket.
    let at = text.iter().rposition(|b| *b == b')')?;
    let rest = String::from_utf8_lossy(text.get(at + 2..)?).into_owned();
    let mut fields = rest.split(' ');
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let start_time = fields.nth(17)?.parse().ok()?;
    Some(Stat { state, parent, start_time })
}

/// A file of the kernel, in one read: it says no size, and reading on until the end would ask half a dozen times.
fn small_file<'a>(path: &str, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let count = fs::File::open(path).ok()?.read(room).ok()?;
    room.get(..count)
}

/// Every living descendant of this process.
pub(crate) fn descendants(of: i32) -> Vec<ProcessId> {
    let mut children: BTreeMap<i32, Vec<ProcessId>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Some(stat) = stat(pid) else { continue };
        if !matches!(stat.state, b'Z' | b'X') {
            children.entry(stat.parent).or_default().push(ProcessId { pid, start_time: stat.start_time });
        }
    }
    let mut found = Vec::new();
    let mut open = vec![of];
    while let Some(parent) = open.pop() {
        // Taken out, so that a circle made by recycled numbers ends.
        for child in children.remove(&parent).unwrap_or_default() {
            open.push(child.pid);
            found.push(child);
        }
    }
    found
}

/// Bytes of memory that the descendants of a process hold together.
pub(super) fn memory(of: i32) -> u64 {
    let page = rustix::param::page_size() as u64;
    let held = |process: &ProcessId| -> Option<u64> {
        let mut room = [0; 256];
        let text = small_file(&format!("/proc/{}/statm", process.pid), &mut room)?;
        std::str::from_utf8(text).ok()?.split(' ').nth(1)?.parse().ok()
    };
    descendants(of).iter().filter_map(held).sum::<u64>().saturating_mul(page)
}

/// Sends a signal to exactly this process; a recycled number is never hit.
pub(crate) fn signal(process: ProcessId, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(process.pid) else { return false };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    // The same start before and after the handle was opened: the handle is the process that was meant.
    start_time(process.pid) == Some(process.start_time) && pidfd_send_signal(handle, signal).is_ok()
}

/// Whether it still runs.
pub(crate) fn is_alive(process: ProcessId) -> bool {
    stat(process.pid)
        .is_some_and(|stat| stat.start_time == process.start_time && !matches!(stat.state, b'Z' | b'X'))
}

/// Whether it stands still because of a stop signal.
pub(super) fn is_stopped(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.state == b'T')
}

/// Kills every descendant of this process and collects them. Stopping first keeps a process that only
/// forks from outrunning the killer. Gives up on what the kernel does not let go after `patience`.
pub(super) fn kill_all(patience: Duration) -> Reaped {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let began = Instant::now();
    let mut all = Reaped::default();
    let mut pause = Duration::from_millis(1);
    loop {
        let mut stopped: HashSet<ProcessId> = HashSet::new();
        for _ in 0..64 {
            let fresh: Vec<ProcessId> =
                descendants(own).into_iter().filter(|process| !stopped.contains(process)).collect();
            if fresh.is_empty() {
                break;
            }
            for process in fresh {
                signal(process, Signal::STOP);
                stopped.insert(process);
            }
        }
        for process in stopped {
            signal(process, Signal::KILL);
        }
        let reaped = reap();
        all.ended.extend(reaped.ended);
        if reaped.none_left || began.elapsed() > patience {
            all.none_left = reaped.none_left;
            return all;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Asks every descendant to end.
pub(super) fn terminate_all() {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    for process in descendants(own) {
        signal(process, Signal::TERM);
        // A stopped process acts on nothing but this.
        signal(process, Signal::CONT);
    }
}

/// Whether a process was started by a supervisor such as this one, at whatever distance: it is part of a
/// command. One that cannot be looked at counts as such.
pub(super) fn comes_from_a_command(pid: i32) -> bool {
    let own = words(rustix::process::getpid().as_raw_nonzero().get());
    let Some(mut parent) = stat(pid).map(|stat| stat.parent) else { return true };
    let mut at = pid;
    while at > 1 {
        if words(at) == own {
            return true;
        }
        match stat(parent) {
            Some(stat) => (at, parent) = (parent, stat.parent),
            // It ended meanwhile, and somebody adopted the child; or it belongs to another user and is hidden,
            // which no supervisor of ours is.
            None => match stat(at).map(|stat| stat.parent) {
                Some(now) if now == parent => return false,
                Some(now) => parent = now,
                None => return true,
            },
        }
    }
    false
}

/// The arguments of a process, without its name.
fn words(pid: i32) -> Vec<Vec<u8>> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).skip(1).map(<[u8]>::to_vec).collect()
}

/// Processes and threads of the whole system; one small read.
pub(super) fn system_tasks() -> usize {
    let mut room = [0; 128];
    let text = small_file("/proc/loadavg", &mut room).and_then(|text| std::str::from_utf8(text).ok());
    let total =
        text.unwrap_or_default().split(' ').nth(3).and_then(|counts| counts.split('/').nth(1)?.parse().ok());
    total.unwrap_or(0)
}
