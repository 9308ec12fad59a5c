//! After a process died in a commit: finish what was committed, undo what was not (servers §2.5).

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::journal::{self, Found, StepKind, StepLine};
use super::{Engine, Journals, there};
use crate::digest::Digest;
use crate::entry::Kind;
use crate::error::{DenyRule, FileError, Result};
use crate::fs::RealFs;
use crate::resolve::{Last, Place};
use crate::root::{Opened, Protected, Root, SymlinkPolicy};
use crate::{tree, walk};

/// The largest journal that is believed.
const MAX_JOURNAL: usize = 64 << 20;
/// A draft this old was left behind.
const DRAFT_AGE: Duration = Duration::from_secs(60);

/// What was found and done at start.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Commits that were complete; leftovers removed.
    pub finished: usize,
    /// Commits that were undone.
    pub rolled_back: usize,
    /// Journals that could not be settled now.
    pub failed: usize,
}

/// Settles what dead processes left in whatever roots they worked in: nobody may call a tool there for days.
/// A root that is gone, or is another directory by now, keeps its journal.
pub fn recover_everywhere(journals: &Journals, protected: &Protected) -> Result<Recovered> {
    let mut out = Recovered::default();
    if !journals.dir().is_dir() {
        return Ok(out);
    }
    let dir = journal::open_dir(journals.dir())?;
    let mut roots = BTreeSet::new();
    let listed = walk::read_dir(&dir, |name, _| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let found = rustix::fs::openat(&dir, name, flags, Mode::empty()).and_then(|file| read_all(&file));
        roots.extend(found.ok().and_then(|text| Found::read(&text)).map(|found| found.header.root));
    });
    listed.map_err(|errno| FileError::os("list", "the journal of file changes", errno))?;
    for path in roots {
        let Ok(root) = Root::open(&path, SymlinkPolicy::Deny, protected.clone()) else { continue };
        let done = Engine { root: &root, fs: &RealFs, journals }.recover()?;
        out.finished += done.finished;
        out.rolled_back += done.rolled_back;
        out.failed += done.failed;
    }
    Ok(out)
}

impl Engine<'_> {
    /// Settles the journals that dead processes left for this root.
    pub fn recover(&self) -> Result<Recovered> {
        let dir = journal::open_dir(self.journals.dir())?;
        let mut names = Vec::new();
        walk::read_dir(&dir, |name, _| names.push(name.to_vec()))
            .map_err(|errno| FileError::os("list", "the journal of file changes", errno))?;
        names.sort();
        let mut out = Recovered::default();
        for name in names {
            if name.ends_with(b".tmp") {
                self.remove_old_draft(&dir, &name);
            } else if name.ends_with(b".json") {
                match self.settle(&dir, &name) {
                    Ok(None) => {}
                    Ok(Some(true)) => out.finished += 1,
                    Ok(Some(false)) => out.rolled_back += 1,
                    Err(_) => out.failed += 1,
                }
            }
        }
        Ok(out)
    }

    fn remove_old_draft(&self, dir: &OwnedFd, name: &[u8]) {
        let Some(stat) = there(dir, name) else { return };
        let made = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
        let old = SystemTime::now().duration_since(made).is_ok_and(|age| age > DRAFT_AGE);
        if old && self.fs.unlink(dir.as_fd(), name).is_err() {
            // Harmless; looked at again at the next start.
        }
    }

    /// `Some(true)` finished, `Some(false)` undone, `None` not ours or still worked on.
    fn settle(&self, dir: &OwnedFd, name: &[u8]) -> rustix::io::Result<Option<bool>> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            other => other?,
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Ok(None),
            other => other?,
        }
        // Settled by somebody else between the look and the lock.
        if there(dir, name).is_none() {
            return Ok(None);
        }
        let Some(Found { header, staged, committed }) = Found::read(&read_all(&file)?) else {
            // It has its name only once it is complete: a power cut took the contents, so nothing was done.
            self.fs.unlink(dir.as_fd(), name)?;
            return Ok(None);
        };
        if header.v != 1 || header.root != self.root.path() {
            return Ok(None);
        }
        for step in header.steps.iter().rev() {
            self.settle_step(step, staged, committed)?;
        }
        if !committed {
            for made in header.dirs.iter().rev() {
                if let Ok(place) = self.root.resolve(made, Last::Itself)
                    && place.kind() == Some(Kind::Directory)
                {
                    match self.fs.rmdir(place.parent.as_fd(), &place.name) {
                        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => {}
                        Err(errno) => return Err(errno),
                    }
                }
            }
        }
        self.fs.unlink(dir.as_fd(), name)?;
        Ok(Some(committed))
    }

    fn settle_step(&self, step: &StepLine, staged: bool, committed: bool) -> rustix::io::Result<()> {
        let target = match self.root.resolve(&step.path, Last::Itself) {
            Ok(target) => target,
            // Written while links out of the root were allowed: left for whoever may follow them.
            Err(FileError::Denied { rule: DenyRule::SymlinkEscape, .. }) => return Err(Errno::ACCESS),
            Err(_) => return Ok(()),
        };
        if !target.missing.is_empty() {
            return Ok(()); // its directory is gone, and everything in it
        }
        let dir = target.parent.as_fd();
        let backup = step.backup.as_bytes();
        let new_name = step.staged.as_ref().map(String::as_bytes);
        if !committed && staged {
            self.undo_journaled(step, &target)?;
        }
        tree::remove(self.fs, dir, backup)?;
        match new_name {
            Some(name) => tree::remove(self.fs, dir, name),
            None => Ok(()),
        }
    }

    fn undo_journaled(&self, step: &StepLine, target: &Place) -> rustix::io::Result<()> {
        let dir = target.parent.as_fd();
        let name = target.name.as_slice();
        let exists = |name: &[u8]| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let has_backup = exists(step.backup.as_bytes());
        let still_staged = step.staged.as_ref().is_some_and(|name| exists(name.as_bytes()));
        let there = exists(name);
        match step.kind {
            StepKind::Put => {
                let now = digest_here(target)?;
                if has_backup {
                    // A file that somebody wrote since is theirs and stays.
                    if !there || now == step.new {
                        self.fs.rename((dir, step.backup.as_bytes()), (dir, name), true)?;
                    }
                } else if !step.had && !still_staged && now.is_some() && now == step.new {
                    self.fs.unlink(dir, name)?;
                }
            }
            StepKind::Remove => {
                if has_backup && !there {
                    self.fs.rename((dir, step.backup.as_bytes()), (dir, name), false)?;
                }
            }
            StepKind::Rename => {
                let from = step.from.as_deref().and_then(|from| self.root.resolve(from, Last::Itself).ok());
                if let Some(from) = from
                    && from.stat.is_none()
                    && from.missing.is_empty()
                    && there
                    && (has_backup || !step.had)
                {
                    self.fs.rename((dir, name), (from.parent.as_fd(), &from.name), false)?;
                }
                if has_backup && !exists(name) {
                    self.fs.rename((dir, step.backup.as_bytes()), (dir, name), false)?;
                }
            }
            StepKind::Copy => {
                let installed = there && !still_staged && (has_backup || !step.had);
                if installed && let Some(staged) = &step.staged {
                    self.fs.rename((dir, name), (dir, staged.as_bytes()), false)?;
                }
                if has_backup && !exists(name) {
                    self.fs.rename((dir, step.backup.as_bytes()), (dir, name), false)?;
                }
            }
        }
        Ok(())
    }
}

fn digest_here(target: &Place) -> rustix::io::Result<Option<Digest>> {
    match target.open_here() {
        Ok((file, stat)) if Kind::of(&stat) == Kind::File => {
            let opened = Opened { file, stat, rel: target.rel.clone() };
            super::stage::digest_of(&opened).map(Some).map_err(|_| Errno::IO)
        }
        Ok(_) | Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn read_all(file: &OwnedFd) -> rustix::io::Result<Vec<u8>> {
    let mut bytes = vec![0; 16 * 1024];
    let mut filled = 0;
    loop {
        match rustix::io::read(file, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        if filled == bytes.len() {
            if filled >= MAX_JOURNAL {
                return Err(Errno::FBIG);
            }
            bytes.resize(filled * 2, 0);
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
