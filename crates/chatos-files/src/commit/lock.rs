//! One writer per path, in this process and across processes: the directories of all targets are
//! locked, in the order of their identities, so that two commits never wait for each other in a ring.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::entry::FileId;
use crate::error::{FileError, Result};
use crate::resolve::Place;

/// A commit takes milliseconds; somebody who holds a directory for longer than this is stuck.
const PATIENCE: Duration = Duration::from_secs(10);

/// Locked directories; let go when dropped.
#[derive(Debug)]
pub(super) struct DirLocks {
    held: Vec<(FileId, OwnedFd)>,
}

impl DirLocks {
    pub(super) fn take(mut dirs: Vec<(FileId, Place)>) -> Result<Self> {
        dirs.sort_by_key(|(id, _)| *id);
        dirs.dedup_by_key(|(id, _)| *id);
        let until = Instant::now() + PATIENCE;
        let mut held = Vec::with_capacity(dirs.len());
        for (id, place) in dirs {
            let fail = |errno| FileError::os("open the directory of", place.rel.clone(), errno);
            let handle = place.reopen_parent().map_err(fail)?;
            loop {
                match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => break,
                    Err(Errno::INTR) => {}
                    Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    Err(Errno::WOULDBLOCK) => return Err(FileError::Locked { path: place.rel.clone() }),
                    // A file system without locks has one writer at a time only within this process.
                    Err(Errno::OPNOTSUPP | Errno::NOLCK | Errno::NOSYS | Errno::BADF) => break,
                    Err(errno) => return Err(fail(errno)),
                }
            }
            held.push((id, handle));
        }
        Ok(Self { held })
    }

    pub(super) fn holds(&self, id: FileId) -> bool {
        self.held.iter().any(|(held, _)| *held == id)
    }
}
