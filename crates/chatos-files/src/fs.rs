//! The system calls of every change, behind one small trait, so that tests can make the k-th of them
//! fail (security §5). Reading does not go through it: a failed read changes nothing.

#[cfg(test)]
pub(crate) mod faulty;

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, SeekFrom};
use rustix::io::{Errno, Result};

/// What a change may ask of the system. Names are single components beneath an open directory.
pub trait Fs: Send + Sync {
    /// Makes a new regular file; an existing name is `EXIST`.
    fn create(&self, dir: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<OwnedFd>;
    /// Writes some of the bytes and says how many.
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize>;
    /// Empties a file; the next write is its beginning.
    fn empty(&self, file: BorrowedFd<'_>) -> Result<()>;
    /// Makes a file or directory durable.
    fn fsync(&self, handle: BorrowedFd<'_>) -> Result<()>;
    /// Renames; never onto an existing name unless `replace`.
    fn rename(&self, from: (BorrowedFd<'_>, &[u8]), to: (BorrowedFd<'_>, &[u8]), replace: bool)
    -> Result<()>;
    /// A second name for a file.
    fn link(&self, dir: BorrowedFd<'_>, old: &[u8], new: &[u8]) -> Result<()>;
    /// Removes a name that is no directory.
    fn unlink(&self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<()>;
    /// Removes an empty directory.
    fn rmdir(&self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<()>;
    /// Makes a directory.
    fn mkdir(&self, dir: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<()>;
    /// Makes a symbolic link.
    fn symlink(&self, target: &[u8], dir: BorrowedFd<'_>, name: &[u8]) -> Result<()>;
    /// Sets the permission bits.
    fn chmod(&self, file: BorrowedFd<'_>, mode: Mode) -> Result<()>;
}

/// The real system.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealFs;

impl Fs for RealFs {
    fn create(&self, dir: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        retry(|| rustix::fs::openat(dir, name, flags, mode))
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize> {
        retry(|| rustix::io::write(file, bytes))
    }

    fn empty(&self, file: BorrowedFd<'_>) -> Result<()> {
        rustix::fs::ftruncate(file, 0)?;
        rustix::fs::seek(file, SeekFrom::Start(0)).map(drop)
    }

    fn fsync(&self, handle: BorrowedFd<'_>) -> Result<()> {
        rustix::fs::fsync(handle)
    }

    fn rename(
        &self,
        from: (BorrowedFd<'_>, &[u8]),
        to: (BorrowedFd<'_>, &[u8]),
        replace: bool,
    ) -> Result<()> {
        if replace {
            return rustix::fs::renameat(from.0, from.1, to.0, to.1);
        }
        match rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
            // File systems without the flag: look first. The lock keeps other writers of ours away.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match rustix::fs::statat(to.0, to.1, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(Errno::NOENT) => rustix::fs::renameat(from.0, from.1, to.0, to.1),
                    Err(errno) => Err(errno),
                }
            }
            other => other,
        }
    }

    fn link(&self, dir: BorrowedFd<'_>, old: &[u8], new: &[u8]) -> Result<()> {
        rustix::fs::linkat(dir, old, dir, new, AtFlags::empty())
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
        rustix::fs::unlinkat(dir, name, AtFlags::empty())
    }

    fn rmdir(&self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
        rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)
    }

    fn mkdir(&self, dir: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<()> {
        rustix::fs::mkdirat(dir, name, mode)
    }

    fn symlink(&self, target: &[u8], dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
        rustix::fs::symlinkat(target, dir, name)
    }

    fn chmod(&self, file: BorrowedFd<'_>, mode: Mode) -> Result<()> {
        rustix::fs::fchmod(file, mode)
    }
}

/// Repeats a call that a signal interrupted.
pub(crate) fn retry<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// Writes everything; a write of nothing is a full disk that does not say so.
pub(crate) fn write_all(fs: &dyn Fs, file: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match fs.write(file, bytes)? {
            0 => return Err(Errno::NOSPC),
            written => bytes = bytes.get(written..).unwrap_or_default(),
        }
    }
    Ok(())
}
