//! A small process that outlives the host by a moment and ends what the host left behind.
//!
//! The parent-death signal reaches a child, not the child's children, and the next start may be hours
//! away. The warden holds one end of a pipe: when the host is gone, however it went, the pipe ends, and
//! every process that carries one of the marks written into it is killed (security T12, P9).

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::family::Family;

/// The host's end. Dropping it ends the warden.
pub struct Warden {
    // Taken when dropped, because the pipe must end before the process is waited for.
    input: Mutex<Option<ChildStdin>>,
    process: Mutex<Child>,
}

impl Warden {
    /// Starts `program` with `arguments`, which has to call [`watch`] with its standard input.
    pub fn start(program: &Path, arguments: &[std::ffi::OsString]) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "this module owns the processes of the crate")]
        let mut command = std::process::Command::new(program);
        command.args(arguments).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let input = process.stdin.take();
        Ok(Self { input: Mutex::new(input), process: Mutex::new(process) })
    }

    /// Has a mark watched, before its first process exists.
    pub(crate) fn watch(&self, mark: &str) {
        self.tell('+', mark);
    }

    /// Everything with this mark is gone.
    pub(crate) fn release(&self, mark: &str) {
        self.tell('-', mark);
    }

    fn tell(&self, sign: char, mark: &str) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pipe) = input.as_mut() else { return };
        // A line is far shorter than a pipe's buffer, and the reader does nothing else.
        if let Err(error) = writeln!(pipe, "{sign}{mark}") {
            tracing::warn!(%error, "the warden of child processes is gone");
            *input = None;
        }
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        self.input.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = process.wait() {
            tracing::debug!(%error, "the warden of child processes cannot be waited for");
        }
    }
}

impl fmt::Debug for Warden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Warden")
    }
}

/// The warden itself: reads marks until the host is gone, then ends their processes. In a session of
/// its own, so that what ends the host from a terminal does not end it first.
pub fn watch(input: impl BufRead) -> io::Result<()> {
    if let Err(error) = rustix::process::setsid() {
        // Already the leader of a group: started by hand.
        tracing::debug!(%error, "no session of its own");
    }
    let mut marks: HashSet<String> = HashSet::new();
    for line in input.split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        if let Some(mark) = line.strip_prefix('+') {
            marks.insert(mark.to_owned());
        } else if let Some(mark) = line.strip_prefix('-') {
            marks.remove(mark);
        }
    }
    for mark in marks {
        Family::of_mark(mark).kill_members();
    }
    Ok(())
}
