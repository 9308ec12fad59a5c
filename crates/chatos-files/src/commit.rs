//! The commit engine: one or many files change together or not at all (servers §2.3, §2.5).
//!
//! Everything is computed before; here targets are locked, a journal is written, new contents are
//! staged beside their targets and made durable, old ones are kept under a second name, and only then
//! names are exchanged. Any failure before the last step undoes every step; a process that dies leaves
//! a journal from which the next one does the same.

mod journal;
mod lock;
mod recover;
mod stage;

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

pub use journal::Journals;
pub use recover::{Recovered, recover_everywhere};
pub(crate) use stage::copy_attributes;

use super::digest::Digest;
use super::entry::{FileId, Kind};
use super::error::{ConflictKind, DenyRule, FileError, Result};
use super::fs::Fs;
use super::held::Held;
use super::resolve::{Last, Place};
use super::root::{Opened, Root};
use super::stop::Stop;
use super::tree::{self, Measure};
use journal::{Header, Journal, StepLine};
use lock::DirLocks;

/// What must still be there when a step is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// A content with this digest.
    Digest(Digest),
    /// These bytes: comparing them is quicker than hashing what is there.
    Bytes(Held),
}

impl Expected {
    fn digest(&self) -> &Digest {
        match self {
            Self::Digest(digest) => digest,
            Self::Bytes(bytes) => bytes.digest(),
        }
    }
}

impl From<Digest> for Expected {
    fn from(digest: Digest) -> Self {
        Self::Digest(digest)
    }
}

impl From<Held> for Expected {
    fn from(bytes: Held) -> Self {
        Self::Bytes(bytes)
    }
}

/// One thing to do. Paths are relative to the root and are resolved again when they are locked.
#[derive(Debug, Clone)]
pub enum Step {
    /// Write a file.
    Put {
        /// Where.
        path: String,
        /// What is there now; nothing there when absent.
        expected: Option<Expected>,
        /// The new content.
        content: Held,
        /// New permission bits, when a patch names them.
        mode: Option<u32>,
        /// Take mode, owner and attributes from this file (a renamed one).
        like: Option<String>,
    },
    /// Remove a file, link or tree.
    Remove {
        /// What.
        path: String,
        /// The content of a file that was read.
        expected: Option<Expected>,
    },
    /// Move an entry as it is.
    Rename {
        /// From.
        from: String,
        /// To.
        to: String,
        /// Replace what is there.
        overwrite: bool,
    },
    /// Copy an entry as it is.
    Copy {
        /// From.
        from: String,
        /// To.
        to: String,
        /// Replace what is there.
        overwrite: bool,
        /// What the source holds.
        measure: Measure,
    },
}

/// What a commit did besides what was asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// `hard_links: …`, `owner_changed: …`, `leftover: …`.
    pub warnings: Vec<String>,
}

/// Commits changes beneath one root.
pub struct Engine<'a> {
    /// The root.
    pub root: &'a Root,
    /// The system.
    pub fs: &'a dyn Fs,
    /// `<stateDir>/fs-journal`.
    pub journals: &'a Journals,
}

/// Who wants to know how a commit goes.
pub trait Witness {
    /// The change is made and durable; only what it replaced is still to be removed.
    fn committed(&mut self) {}

    /// Sees what a step set aside before it is removed: the path it had, and where it is now.
    fn removing(&mut self, _path: &str, _dir: &OwnedFd, _name: &[u8]) {}
}

/// Nobody does.
impl Witness for () {}

struct Prepared {
    step: Step,
    target: Place,
    /// The source of a move or copy.
    source: Option<Place>,
    staged: Option<Vec<u8>>,
    backup: Vec<u8>,
    had: bool,
    made_backup: Backup,
    installed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backup {
    None,
    Linked,
    Renamed,
}

impl Engine<'_> {
    /// Does all steps or none.
    pub fn commit(&self, steps: Vec<Step>, stop: &dyn Stop, witness: &mut dyn Witness) -> Result<Committed> {
        if steps.is_empty() {
            return Ok(Committed::default());
        }
        stop.check()?;
        let locks = self.lock(&steps)?;
        let mut committed = Committed::default();
        let id = random_id()?;
        let mut prepared = Vec::with_capacity(steps.len());
        for (index, step) in steps.into_iter().enumerate() {
            prepared.push(self.prepare(step, &id, index, &mut committed.warnings)?);
        }
        refuse_overlap(&prepared)?;
        let dirs = missing_dirs(&prepared);
        // A single exchange of names needs no durable journal: it is old or new by itself, and the
        // journal only lets the next start remove a leftover of a killed process.
        let durable = prepared.len() > 1 || !dirs.is_empty();
        let header = Header {
            v: 1,
            id: id.clone(),
            root: self.root.path().to_path_buf(),
            dirs: dirs.clone(),
            steps: prepared.iter().map(step_line).collect(),
        };
        let mut journal = self.journals.begin(self.fs, &header, durable)?;
        let done = self.run(&mut prepared, &dirs, &mut journal, &mut committed.warnings, stop);
        if let Err(error) = done {
            if self.undo(&mut prepared, &dirs).is_ok() {
                // What cannot be removed now is found at the next start and is then without effect.
                journal.discard(self.fs);
            }
            drop(locks);
            return Err(error);
        }
        witness.committed();
        let mut leftover = false;
        for step in &prepared {
            if step.made_backup == Backup::None {
                continue;
            }
            if !matches!(step.step, Step::Put { .. })
                && let Ok(parent) = step.target.reopen_parent()
            {
                witness.removing(&step.target.rel, &parent, &step.backup);
            }
            leftover |= tree::remove(self.fs, step.target.parent.as_fd(), &step.backup).is_err();
        }
        if leftover {
            committed.warnings.push("leftover: old content is removed at the next start".to_owned());
        } else {
            journal.discard(self.fs);
        }
        drop(locks);
        Ok(committed)
    }

    /// Locks the directories of all targets in a fixed order; what moved meanwhile is looked up again.
    fn lock(&self, steps: &[Step]) -> Result<DirLocks> {
        for _ in 0..8 {
            let mut dirs = Vec::new();
            for step in steps {
                for (path, last) in step.paths() {
                    let place = self.root.resolve(path, last)?;
                    dirs.push((place.parent_id, place));
                }
            }
            let locks = DirLocks::take(dirs)?;
            let mut same = true;
            for step in steps {
                for (path, last) in step.paths() {
                    same &= locks.holds(self.root.resolve(path, last)?.parent_id);
                }
            }
            if same {
                return Ok(locks);
            }
        }
        Err(FileError::Locked { path: steps[0].paths()[0].0.to_owned() })
    }

    fn prepare(&self, step: Step, id: &str, index: usize, warnings: &mut Vec<String>) -> Result<Prepared> {
        let (path, last) = step.target();
        let target = self.root.resolve(path, last)?;
        if target.is_root() || target.id() == Some(self.root.id()) {
            return Err(FileError::denied(DenyRule::ProtectedPath, path));
        }
        let had = target.stat.is_some();
        let mut source = None;
        match &step {
            Step::Put { expected, .. } => {
                match (target.kind(), expected) {
                    (Some(Kind::File) | None, _) => {}
                    (Some(Kind::Directory), _) => {
                        return Err(FileError::invalid(
                            "/path",
                            format!("`{path}` is a directory, not a file"),
                            format!("`{path}` 是目录，不是文件"),
                        ));
                    }
                    _ => {
                        return Err(FileError::Unsupported {
                            path: path.to_owned(),
                            what: "a device, socket or pipe",
                            size: None,
                        });
                    }
                }
                target.check_writable()?;
                if target.stat.as_ref().is_some_and(|stat| stat.st_nlink > 1) {
                    warnings.push(format!(
                        "hard_links: `{}` had other names; they keep the old content",
                        target.rel
                    ));
                }
            }
            Step::Remove { .. } => {
                if !had {
                    return Err(FileError::NotFound { path: path.to_owned(), nearest: Vec::new() });
                }
            }
            Step::Rename { from, overwrite, .. } | Step::Copy { from, overwrite, .. } => {
                if had && !overwrite {
                    return Err(FileError::exists(path));
                }
                let place = self.root.existing(from, Last::Itself)?;
                if place.is_root() {
                    return Err(FileError::denied(DenyRule::ProtectedPath, from.clone()));
                }
                source = Some(place);
            }
        }
        let staged = matches!(step, Step::Put { .. } | Step::Copy { .. })
            .then(|| format!(".chatos-{id}-{index}.new").into_bytes());
        let backup = format!(".chatos-{id}-{index}.old").into_bytes();
        Ok(Prepared {
            step,
            target,
            source,
            staged,
            backup,
            had,
            made_backup: Backup::None,
            installed: false,
        })
    }

    fn run(
        &self,
        prepared: &mut [Prepared],
        dirs: &[String],
        journal: &mut Journal<'_>,
        warnings: &mut Vec<String>,
        stop: &dyn Stop,
    ) -> Result<()> {
        for dir in dirs {
            self.make_dir(dir)?;
        }
        for step in prepared.iter_mut() {
            stop.check()?;
            if !step.target.missing.is_empty() {
                let (path, last) = step.step.target();
                step.target = self.root.resolve(path, last)?;
            }
            self.stage(step, warnings, stop)?;
        }
        for step in prepared.iter() {
            self.verify(step)?;
        }
        stop.check()?;
        journal.staged(self.fs, prepared.iter().map(Prepared::new_digest).collect())?;
        // From here on nothing is interrupted: the steps finish or are undone (tools §12).
        for step in prepared.iter_mut() {
            self.exchange(step)?;
        }
        self.sync_dirs(prepared, dirs)?;
        journal.committed(self.fs)
    }

    fn make_dir(&self, path: &str) -> Result<()> {
        let place = self.root.resolve(path, Last::Follow)?;
        if place.stat.is_some() {
            return Ok(());
        }
        match self.fs.mkdir(place.parent.as_fd(), &place.name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(FileError::os("make the directory", path, errno)),
        }
    }

    fn stage(&self, step: &Prepared, warnings: &mut Vec<String>, stop: &dyn Stop) -> Result<()> {
        let Some(staged) = &step.staged else { return Ok(()) };
        match &step.step {
            Step::Put { content, mode, like, .. } => {
                let like = match like {
                    Some(path) => Some(self.root.open_file(path)?),
                    None => None,
                };
                stage::put(self.fs, &step.target, staged, content, *mode, like.as_ref(), warnings)
            }
            Step::Copy { measure, .. } => {
                let Some(source) = &step.source else { return Ok(()) };
                let protected = self.root.protected();
                tree::copy(self.fs, &protected, source, measure, step.target.parent.as_fd(), staged, stop)
            }
            _ => Ok(()),
        }
    }

    /// The check between staging and renaming that nobody else wrote (servers §2.3).
    fn verify(&self, step: &Prepared) -> Result<()> {
        let (path, expected) = match &step.step {
            Step::Put { path, expected, .. } => (path, expected.as_ref()),
            Step::Remove { path, expected: Some(expected) } => (path, Some(expected)),
            _ => return Ok(()),
        };
        let opened = match step.target.open_here() {
            Ok((file, stat)) if Kind::of(&stat) == Kind::File => {
                Some(Opened { file, stat, rel: step.target.rel.clone() })
            }
            Ok(_) | Err(Errno::NOENT) => None,
            Err(errno) => return Err(FileError::os("open", path.clone(), errno)),
        };
        let (expected, now) = match (expected, opened) {
            (None, None) => return Ok(()),
            (None, Some(_)) => return Err(FileError::exists(path.clone())),
            (Some(expected), None) => (expected, None),
            (Some(Expected::Bytes(bytes)), Some(opened)) if stage::holds(&opened, bytes)? => return Ok(()),
            (Some(expected), Some(opened)) => (expected, Some(stage::digest_of(&opened)?)),
        };
        if now.as_ref() == Some(expected.digest()) {
            return Ok(());
        }
        let shown = |digest: &Digest| digest.as_str().to_owned();
        Err(FileError::changed(path.clone(), Some(shown(expected.digest())), now.as_ref().map(shown)))
    }

    fn exchange(&self, step: &mut Prepared) -> Result<()> {
        let dir = step.target.parent.as_fd();
        let name = step.target.name.as_slice();
        let path = step.target.rel.clone();
        let fail = |errno: Errno| FileError::os("replace", path.clone(), errno);
        let is_put = matches!(step.step, Step::Put { .. });
        if step.had {
            let linked = is_put && self.fs.link(dir, name, &step.backup).is_ok();
            if linked {
                step.made_backup = Backup::Linked;
            } else {
                self.fs.rename((dir, name), (dir, &step.backup), false).map_err(fail)?;
                step.made_backup = Backup::Renamed;
            }
        }
        let replace = step.made_backup == Backup::Linked;
        match (&step.step, &step.staged, &step.source) {
            (Step::Rename { .. }, _, Some(source)) => {
                self.fs.rename((source.parent.as_fd(), &source.name), (dir, name), false).map_err(fail)?;
            }
            (Step::Remove { .. }, ..) => {}
            (_, Some(staged), _) => self.fs.rename((dir, staged), (dir, name), replace).map_err(fail)?,
            _ => {}
        }
        step.installed = true;
        Ok(())
    }

    fn sync_dirs(&self, prepared: &[Prepared], dirs: &[String]) -> Result<()> {
        let mut seen: HashSet<FileId> = HashSet::new();
        let places = prepared.iter().flat_map(|step| {
            let moved = matches!(step.step, Step::Rename { .. });
            std::iter::once(&step.target).chain(step.source.as_ref().filter(|_| moved))
        });
        for place in places {
            if seen.insert(place.parent_id) {
                let handle =
                    place.reopen_parent().map_err(|errno| FileError::os("open", place.rel.clone(), errno))?;
                self.fs
                    .fsync(handle.as_fd())
                    .map_err(|errno| FileError::os("sync", place.rel.clone(), errno))?;
            }
        }
        for dir in dirs {
            let place = self.root.resolve(dir, Last::Itself)?;
            if seen.insert(place.parent_id) {
                let handle = place.reopen_parent().map_err(|e| FileError::os("open", dir.clone(), e))?;
                self.fs.fsync(handle.as_fd()).map_err(|e| FileError::os("sync", dir.clone(), e))?;
            }
        }
        Ok(())
    }

    /// Undoes in reverse. Every step is tried, also after one failed.
    fn undo(&self, prepared: &mut [Prepared], dirs: &[String]) -> std::result::Result<(), Errno> {
        let mut outcome = Ok(());
        for step in prepared.iter_mut().rev() {
            if let Err(errno) = self.undo_step(step) {
                outcome = Err(errno);
            }
        }
        for dir in dirs.iter().rev() {
            if let Ok(place) = self.root.resolve(dir, Last::Itself)
                && place.kind() == Some(Kind::Directory)
                && let Err(errno) = self.fs.rmdir(place.parent.as_fd(), &place.name)
                && !matches!(errno, Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST)
            {
                outcome = Err(errno);
            }
        }
        outcome
    }

    fn undo_step(&self, step: &mut Prepared) -> std::result::Result<(), Errno> {
        let dir = step.target.parent.as_fd();
        let name = step.target.name.as_slice();
        if step.installed {
            match (&step.step, &step.staged, &step.source) {
                (Step::Rename { .. }, _, Some(source)) => {
                    self.fs.rename((dir, name), (source.parent.as_fd(), &source.name), false)?;
                }
                (Step::Put { .. }, ..) if step.made_backup == Backup::Linked => {
                    self.fs.rename((dir, &step.backup), (dir, name), true)?;
                    step.made_backup = Backup::None;
                }
                (Step::Remove { .. }, ..) => {}
                (_, Some(staged), _) => self.fs.rename((dir, name), (dir, staged), false)?,
                _ => {}
            }
            step.installed = false;
        }
        match step.made_backup {
            Backup::None => {}
            Backup::Linked => self.fs.unlink(dir, &step.backup)?,
            Backup::Renamed => self.fs.rename((dir, &step.backup), (dir, name), false)?,
        }
        step.made_backup = Backup::None;
        match &step.staged {
            Some(staged) => tree::remove(self.fs, dir, staged),
            None => Ok(()),
        }
    }
}

impl Prepared {
    /// The digest of what the step puts there. Made while the contents were staged, on another thread.
    fn new_digest(&self) -> Option<Digest> {
        match &self.step {
            Step::Put { content, .. } => Some(content.digest().clone()),
            _ => None,
        }
    }
}

impl Step {
    fn target(&self) -> (&str, Last) {
        match self {
            // A link stays a link; its target is replaced (servers §2.3).
            Self::Put { path, .. } => (path, Last::Follow),
            Self::Remove { path, .. } => (path, Last::Itself),
            Self::Rename { to, .. } | Self::Copy { to, .. } => (to, Last::Itself),
        }
    }

    /// Every path whose directory is changed.
    fn paths(&self) -> Vec<(&str, Last)> {
        match self {
            Self::Rename { from, to, .. } => vec![(from, Last::Itself), (to, Last::Itself)],
            other => vec![other.target()],
        }
    }
}

fn refuse_overlap(prepared: &[Prepared]) -> Result<()> {
    let mut seen: HashSet<String> = HashSet::new();
    for step in prepared {
        if !seen.insert(step.target.rel.clone()) {
            let path = step.target.rel.clone();
            let message = format!("`{path}` is changed twice in one call");
            let zh = format!("`{path}` 在一次调用中被更改两次");
            return Err(FileError::conflict(ConflictKind::Overlap, path, message, zh));
        }
    }
    Ok(())
}

/// The directories to be made, outermost first.
fn missing_dirs(prepared: &[Prepared]) -> Vec<String> {
    let mut dirs: Vec<String> = Vec::new();
    for step in prepared {
        let parts: Vec<&str> = step.target.rel.split('/').collect();
        let first = parts.len().saturating_sub(step.target.missing.len());
        for end in first + 1..parts.len().max(1) {
            if step.target.missing.is_empty() {
                break;
            }
            let dir = parts[..end].join("/");
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
    }
    dirs
}

fn step_line(step: &Prepared) -> StepLine {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let kind = match &step.step {
        Step::Put { .. } => journal::StepKind::Put,
        Step::Remove { .. } => journal::StepKind::Remove,
        Step::Rename { .. } => journal::StepKind::Rename,
        Step::Copy { .. } => journal::StepKind::Copy,
    };
    StepLine {
        kind,
        path: step.target.rel.clone(),
        had: step.had,
        new: None,
        staged: step.staged.as_deref().map(text),
        backup: text(&step.backup),
        from: step.source.as_ref().map(|place| place.rel.clone()),
    }
}

fn random_id() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| FileError::Io {
        action: "draw random bytes for",
        path: "a temporary name".into(),
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(format!("{:016x}", u64::from_be_bytes(bytes)))
}

/// Whether a name is one that the engine makes for a moment.
pub fn is_temporary(name: &[u8]) -> bool {
    name.starts_with(b".chatos-") && (name.ends_with(b".new") || name.ends_with(b".old")) && name.len() > 28
}

/// What is there under a name, following nothing.
fn there(dir: &OwnedFd, name: &[u8]) -> Option<rustix::fs::Stat> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()
}

#[cfg(test)]
mod tests;
