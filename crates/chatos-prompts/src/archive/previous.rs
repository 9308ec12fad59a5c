//! The old inode after an archive: `.prev` is followed until nobody can append to it any more.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use chatos_lines::{Locked, Stat, lock, scan};

use super::ArchiveError;
use super::files::{read_small, replace};
use super::lines::{Lines, whole_lines_end};
use crate::entry::{Action, Read, read_head};
use crate::prompts::Inner;

/// Quiet for this long, and open nowhere: nothing can come any more.
const QUIET_MS: i64 = 24 * 60 * 60 * 1000;

/// A last line without newline is copied when it has not grown for this long.
const SETTLE_MS: i64 = 1_000;

impl Inner {
    fn previous_path(&self) -> PathBuf {
        self.log.paths.archive.join(".prev")
    }

    fn offset_path(&self) -> PathBuf {
        self.log.paths.archive.join(".prev-offset")
    }

    /// Makes the log reachable under its second name; `from` is where copying has to begin.
    pub(super) fn keep_previous(&self, from: u64) -> io::Result<()> {
        replace(&*self.fs, &self.offset_path(), &from.to_string())?;
        self.fs.hard_link(&self.log.paths.log, &self.previous_path())?;
        self.fs.sync_dir(&self.log.paths.archive)
    }

    /// Why the old inode is still there, or `None` when it is not.
    pub(super) fn previous_state(&self) -> io::Result<Option<String>> {
        let Some(stat) = self.fs.stat(&self.previous_path())? else { return Ok(None) };
        let quiet = self.clock.now_ms() - changed_ms(&stat);
        let age = format!("last written {} min ago", quiet.max(0) / 60_000);
        Ok(Some(format!("{} ({age})", self.previous_path().display())))
    }

    /// Copies what other programs appended to the old inode; removes it when it is finished.
    pub(crate) fn follow_previous(&self) {
        match self.fs.stat(&self.previous_path()) {
            Ok(Some(_)) => {}
            Ok(None) => {
                self.say_previous(None);
                return;
            }
            Err(error) => {
                self.say_previous(Some(error.to_string()));
                return;
            }
        }
        let mut turn = self.log.lock();
        if !turn.held() {
            return;
        }
        if let Err(error) = self.follow(&mut turn) {
            tracing::warn!(error = %error, "cannot follow the previous prompt log");
        }
        drop(turn);
        let why = self.previous_state().unwrap_or_else(|error| Some(error.to_string()));
        self.say_previous(why);
    }

    fn say_previous(&self, why: Option<String>) {
        lock(&self.state).health.previous = why;
    }

    fn follow(&self, turn: &mut Locked<'_>) -> Result<(), ArchiveError> {
        let path = self.previous_path();
        let fail = |source| ArchiveError::Io { path: path.clone(), source };
        let Some(stat) = self.fs.stat(&path).map_err(fail)? else { return Ok(()) };
        if self.fs.stat(&self.log.paths.log).map_err(fail)?.is_some_and(|log| log.same_file(&stat)) {
            // The run ended before the new log was in place: the old one is the log still.
            return self.forget_previous().map_err(fail);
        }
        self.copy_previous(turn)?;
        let quiet = self.clock.now_ms() - changed_ms(&stat);
        if quiet >= QUIET_MS && !is_open_anywhere(&stat) {
            self.forget_previous().map_err(fail)?;
        }
        Ok(())
    }

    fn forget_previous(&self) -> io::Result<()> {
        self.fs.remove(&self.previous_path())?;
        if self.fs.stat(&self.offset_path())?.is_some() {
            self.fs.remove(&self.offset_path())?;
        }
        self.fs.sync_dir(&self.log.paths.archive)
    }

    /// Copies the whole lines after the remembered offset to the log.
    pub(super) fn copy_previous(&self, turn: &mut Locked<'_>) -> Result<(), ArchiveError> {
        let path = self.previous_path();
        let fail = |source| ArchiveError::Io { path: path.clone(), source };
        let file = self.fs.open_read(&path).map_err(fail)?;
        let known = read_small(&*self.fs, &self.offset_path()).map_err(fail)?;
        let known = known.and_then(|text| text.trim().parse::<u64>().ok());
        let from = known.unwrap_or(0);
        let stat = self.fs.fstat(&file).map_err(fail)?;
        let mut end = whole_lines_end(&*self.fs, &file).map_err(fail)?;
        if end < stat.size && self.clock.now_ms() - changed_ms(&stat) >= SETTLE_MS {
            // A writer that never ends its last line.
            end = stat.size;
        }
        if end <= from {
            return Ok(());
        }
        let mut last = None;
        let mut lines = Lines::new(&*self.fs, &file, from, end);
        while let Some(line) = lines.next().map_err(fail)? {
            // Without the offset only what nobody has seen is copied.
            if line.bytes.is_empty() || (known.is_none() && self.is_known(line.bytes)) {
                continue;
            }
            let mut bytes = line.bytes.to_vec();
            bytes.push(b'\n');
            last = Some(turn.append(&bytes)?.ticket);
        }
        if let Some(ticket) = last {
            ticket.wait().map_err(|e| fail(io::Error::new(e.kind(), e.to_string())))?;
        }
        replace(&*self.fs, &self.offset_path(), &end.to_string()).map_err(fail)
    }

    fn is_known(&self, line: &[u8]) -> bool {
        let found = (line.first() == Some(&b'{')).then(|| scan::object(line, 0).ok()).flatten();
        let Some(found) = found else { return true };
        let Read::Entry(head) = read_head(line, &found) else { return true };
        let Some(known) = lock(&self.state).locate(&head.id) else { return false };
        match head.action {
            Action::Request => known.slot.request_line().is_some() || known.slot.is_archived(),
            Action::Response => known.slot.response_line().is_some() || known.slot.is_archived(),
        }
    }
}

fn changed_ms(stat: &Stat) -> i64 {
    i64::try_from(stat.modified / 1_000_000).unwrap_or(i64::MAX)
}

// Looks at every process this user may look at.
fn is_open_anywhere(stat: &Stat) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    for process in processes.flatten() {
        let numeric =
            process.file_name().to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if !numeric {
            continue;
        }
        let Ok(fds) = std::fs::read_dir(process.path().join("fd")) else { continue };
        for fd in fds.flatten() {
            if let Ok(meta) = std::fs::metadata(fd.path())
                && (meta.dev(), meta.ino()) == (stat.dev, stat.ino)
            {
                return true;
            }
        }
    }
    false
}
