//! Advisory locks on side files. The kernel drops them when the holder dies, so no stale lock exists.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("another process holds the lock: {}", path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
    },
    /// The lock file cannot be opened or locked.
    #[error("cannot lock: {}", path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// An exclusive lock, held until dropped. The file itself stays: removing it would let two
/// processes lock two different inodes of one name.
#[derive(Debug)]
pub struct FileLock {
    // Dropping the descriptor releases the lock.
    _file: File,
}

impl FileLock {
    /// Takes the lock or says at once that it is held.
    pub fn try_exclusive(path: &Path) -> Result<Self, LockError> {
        let wrap = |source| LockError::Io { path: path.to_owned(), source };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
            .open(path)
            .map_err(wrap)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(Errno::WOULDBLOCK) => Err(LockError::Held { path: path.to_owned() }),
            Err(errno) => Err(wrap(errno.into())),
        }
    }

    /// Waits up to `patience` for the lock.
    pub fn exclusive(path: &Path, patience: Duration) -> Result<Self, LockError> {
        let started = Instant::now();
        loop {
            match Self::try_exclusive(path) {
                Err(LockError::Held { .. }) if started.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_taker_is_told_and_the_next_one_succeeds_after_release() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.lock");
        let first = FileLock::try_exclusive(&path).unwrap();
        assert!(matches!(FileLock::try_exclusive(&path), Err(LockError::Held { .. })));
        drop(first);
        FileLock::exclusive(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.lock");
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(matches!(FileLock::try_exclusive(&path), Err(LockError::Io { .. })));
    }
}
