//! The journal of a commit: one JSON line of what will be done, then a line per phase reached: `staged`
//! with the digests of the new contents, then `committed`.
//!
//! `<stateDir>/fs-journal/<id>.json` is locked by the process that works from it; one that nobody
//! holds was left behind.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::filesystem::digest::Digest;
use crate::filesystem::error::{FileError, Result};
use crate::filesystem::fs::{Fs, write_all};

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

/// An open journal; the lock lasts as long as it.
pub(super) struct Journal {
    dir: OwnedFd,
    file: OwnedFd,
    name: Vec<u8>,
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

impl Journal {
    pub(super) fn create(fs: &dyn Fs, dir: &Path, header: &Header, durable: bool) -> Result<Self> {
        let dir = open_dir(dir)?;
        let fail = |errno| FileError::os("write", "the journal of file changes", errno);
        // Locked and complete before it has its name, so that nobody takes it for a leftover.
        let draft = format!("{}.tmp", header.id).into_bytes();
        let name = format!("{}.json", header.id).into_bytes();
        let mut line = serde_json::to_vec(header).map_err(|error| FileError::Io {
            action: "write",
            path: "the journal of file changes".into(),
            source: error.into(),
        })?;
        line.push(b'\n');
        let file = fs.create(dir.as_fd(), &draft, Mode::from_raw_mode(0o600)).map_err(fail)?;
        let made = (|| {
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            write_all(fs, file.as_fd(), &line)?;
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
            return Err(fail(errno));
        }
        Ok(Self { dir, file, name, durable })
    }

    /// Everything lies beside its target and is durable.
    pub(super) fn staged(&mut self, fs: &dyn Fs, new: Vec<Option<Digest>>) -> Result<()> {
        self.mark(fs, &format!("{STAGED} {}", serde_json::json!(new)))
    }

    /// Every step is done and durable.
    pub(super) fn committed(&mut self, fs: &dyn Fs) -> Result<()> {
        self.mark(fs, COMMITTED)
    }

    fn mark(&mut self, fs: &dyn Fs, phase: &str) -> Result<()> {
        let fail = |errno| FileError::os("write", "the journal of file changes", errno);
        write_all(fs, self.file.as_fd(), format!("{phase}\n").as_bytes()).map_err(fail)?;
        if self.durable { fs.fsync(self.file.as_fd()).map_err(fail) } else { Ok(()) }
    }

    /// Removes the journal. If that fails, the next start finds it and finds nothing to do.
    pub(super) fn discard(self, fs: &dyn Fs) -> bool {
        fs.unlink(self.dir.as_fd(), &self.name).is_ok()
    }
}
