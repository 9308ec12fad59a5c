//! The journal of a commit: one JSON line of what will be done, then a line per phase reached: `staged`
//! with the digests of the new contents, then `committed`.
//!
//! `<stateDir>/fs-journal/<id>.json` is locked by the process that works from it; one that nobody
//! holds was left behind. An empty one says nothing.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{FileError, Result};
use crate::fs::{Fs, write_all};

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StepKind {
    Put,
    Remove,
    Rename,
    Copy,
}

/// One step as it is needed to undo or finish it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StepLine {
    pub(super) kind: StepKind,
    /// Relative to the root, links resolved.
    pub(super) path: String,
    /// Something was there.
    pub(super) had: bool,
    /// The digest of the new content; in the line `staged`, when nothing waits for it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) new: Option<Digest>,
    /// Names in the target's directory.
    pub(super) staged: Option<String>,
    pub(super) backup: String,
    pub(super) from: Option<String>,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) v: u32,
    pub(super) id: String,
    pub(super) root: PathBuf,
    /// Directories that are made, outermost first.
    pub(super) dirs: Vec<String>,
    pub(super) steps: Vec<StepLine>,
}

/// Words of the lines after the first.
const STAGED: &str = "staged";
const COMMITTED: &str = "committed";

/// A journal that was found, as far as its process came.
pub(super) struct Found {
    pub(super) header: Header,
    pub(super) staged: bool,
    pub(super) committed: bool,
}

impl Found {
    /// Reads a journal; nothing when its first line is not whole.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let mut lines = text.split(|byte| *byte == b'\n');
        let mut header: Header = lines.next().and_then(|line| serde_json::from_slice(line).ok())?;
        let (mut staged, mut committed) = (false, false);
        for line in lines {
            committed |= line == COMMITTED.as_bytes();
            let Some(digests) = line.strip_prefix(STAGED.as_bytes()) else { continue };
            // A journal of an older program has the digests in its first line.
            let digests: Vec<Option<Digest>> = match digests {
                b"" => Vec::new(),
                digests => match serde_json::from_slice(digests) {
                    Ok(digests) => digests,
                    // Cut short: the exchange of names comes after the whole line.
                    Err(_) => continue,
                },
            };
            staged = true;
            for (step, new) in header.steps.iter_mut().zip(digests) {
                step.new = new.or(step.new.take());
            }
        }
        Some(Self { header, staged, committed })
    }
}

/// The journals of one state directory.
///
/// A journal that did not have to be durable is emptied and used again: making and removing a file for each
/// change costs more than writing it, and file systems pass over numbers of files that were just removed.
#[derive(Debug)]
pub struct Journals {
    dir: PathBuf,
    spare: Mutex<Option<Open>>,
}

/// A journal file that this process holds; the lock lasts as long as it.
#[derive(Debug)]
struct Open {
    dir: OwnedFd,
    file: OwnedFd,
    name: Vec<u8>,
}

/// A journal at work.
pub(super) struct Journal<'a> {
    journals: &'a Journals,
    open: Open,
    durable: bool,
}

/// Opens the directory of journals, making it when it is missing.
pub(super) fn open_dir(path: &Path) -> Result<OwnedFd> {
    let shown = || "the journal of file changes".to_owned();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(dir) => Ok(dir),
        Err(rustix::io::Errno::NOENT) => {
            std::fs::create_dir_all(path).map_err(|error| FileError::os("make", shown(), error))?;
            rustix::fs::chmod(path, Mode::from_raw_mode(0o700))
                .map_err(|errno| FileError::os("close", shown(), errno))?;
            rustix::fs::open(path, flags, Mode::empty())
                .map_err(|errno| FileError::os("open", shown(), errno))
        }
        Err(errno) => Err(FileError::os("open", shown(), errno)),
    }
}

impl Journals {
    /// Those of this directory; it is made when it is missing.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, spare: Mutex::default() }
    }

    /// Where they are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes what will be done.
    pub(super) fn begin(&self, fs: &dyn Fs, header: &Header, durable: bool) -> Result<Journal<'_>> {
        let mut line = serde_json::to_vec(header).map_err(|error| FileError::Io {
            action: "write",
            path: "the journal of file changes".into(),
            source: error.into(),
        })?;
        line.push(b'\n');
        let spare = if durable { None } else { self.spare() };
        let open = match spare {
            Some(spare) => spare.begin(fs, &line),
            None => Open::create(fs, &self.dir, &header.id, &line, durable),
        };
        Ok(Journal { journals: self, open: open?, durable })
    }

    /// A file that is held already and still has its name.
    fn spare(&self) -> Option<Open> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.filter(|open| rustix::fs::fstat(&open.file).is_ok_and(|stat| stat.st_nlink > 0))
    }

    /// Keeps an empty file for the next change; gives it back when there is one.
    fn keep(&self, open: Open) -> Option<Open> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        match &*spare {
            Some(_) => Some(open),
            None => {
                *spare = Some(open);
                None
            }
        }
    }
}

impl Drop for Journals {
    fn drop(&mut self) {
        if let Some(open) = self.spare() {
            // Empty, so whoever finds it removes it.
            rustix::fs::unlinkat(&open.dir, open.name, AtFlags::empty()).ok();
        }
    }
}

fn unwritten(errno: rustix::io::Errno) -> FileError {
    FileError::os("write", "the journal of file changes", errno)
}

impl Open {
    fn create(fs: &dyn Fs, dir: &Path, id: &str, line: &[u8], durable: bool) -> Result<Self> {
        let dir = open_dir(dir)?;
        // Locked and complete before it has its name, so that nobody takes it for a leftover.
        let draft = format!("{id}.tmp").into_bytes();
        let name = format!("{id}.json").into_bytes();
        let file = fs.create(dir.as_fd(), &draft, Mode::from_raw_mode(0o600)).map_err(unwritten)?;
        let made = (|| {
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            write_all(fs, file.as_fd(), line)?;
            if durable {
                fs.fsync(file.as_fd())?;
            }
            fs.rename((dir.as_fd(), &draft), (dir.as_fd(), &name), false)?;
            if durable { fs.fsync(dir.as_fd()) } else { Ok(()) }
        })();
        if let Err(errno) = made {
            // Whichever name it has by now; the other one is not there.
            for name in [&draft, &name] {
                if fs.unlink(dir.as_fd(), name).is_ok() {
                    break;
                }
            }
            return Err(unwritten(errno));
        }
        Ok(Self { dir, file, name })
    }

    /// Uses the file again. Nothing is done before its first line is whole, so that one that is cut short
    /// means nothing.
    fn begin(self, fs: &dyn Fs, line: &[u8]) -> Result<Self> {
        match write_all(fs, self.file.as_fd(), line) {
            Ok(()) => Ok(self),
            Err(errno) => {
                self.remove(fs);
                Err(unwritten(errno))
            }
        }
    }

    fn remove(self, fs: &dyn Fs) -> bool {
        fs.unlink(self.dir.as_fd(), &self.name).is_ok()
    }
}

impl Journal<'_> {
    /// Everything lies beside its target and is durable.
    pub(super) fn staged(&mut self, fs: &dyn Fs, new: Vec<Option<Digest>>) -> Result<()> {
        self.mark(fs, &format!("{STAGED} {}", serde_json::json!(new)))
    }

    /// Every step is done and durable.
    pub(super) fn committed(&mut self, fs: &dyn Fs) -> Result<()> {
        self.mark(fs, COMMITTED)
    }

    fn mark(&mut self, fs: &dyn Fs, phase: &str) -> Result<()> {
        write_all(fs, self.open.file.as_fd(), format!("{phase}\n").as_bytes()).map_err(unwritten)?;
        if self.durable { fs.fsync(self.open.file.as_fd()).map_err(unwritten) } else { Ok(()) }
    }

    /// Ends the journal. If that fails, the next start finds it and finds nothing to do.
    pub(super) fn discard(self, fs: &dyn Fs) -> bool {
        let over = if self.durable || fs.empty(self.open.file.as_fd()).is_err() {
            Some(self.open)
        } else {
            self.journals.keep(self.open)
        };
        over.is_none_or(|open| open.remove(fs))
    }
}
