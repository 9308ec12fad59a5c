//! A file system that fails on purpose: the k-th call of a kind, once, short, or for ever after.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::Mode;
use rustix::io::{Errno, Result};

use super::{Fs, RealFs};

/// How the chosen call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It returns this error, later calls work.
    Once(Errno),
    /// It and every later call fail, as after a power cut.
    Stop,
    /// A write takes one byte and the next fails with a full disk; other calls fail once.
    Short,
}

/// Fails the `at`-th call (from 1) of those that change anything.
pub(crate) struct FaultyFs {
    at: usize,
    fault: Fault,
    seen: AtomicUsize,
    stopped: AtomicBool,
    short: AtomicBool,
}

impl FaultyFs {
    pub(crate) fn new(at: usize, fault: Fault) -> Self {
        Self {
            at,
            fault,
            seen: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            short: AtomicBool::new(false),
        }
    }

    /// Whether the chosen call was reached.
    pub(crate) fn fired(&self) -> bool {
        self.seen.load(Ordering::SeqCst) >= self.at
    }

    fn gate(&self) -> Result<()> {
        if self.stopped.load(Ordering::SeqCst) {
            return Err(Errno::IO);
        }
        if self.seen.fetch_add(1, Ordering::SeqCst) + 1 != self.at {
            return Ok(());
        }
        match self.fault {
            Fault::Once(errno) => Err(errno),
            Fault::Stop => {
                self.stopped.store(true, Ordering::SeqCst);
                Err(Errno::IO)
            }
            Fault::Short => {
                self.short.store(true, Ordering::SeqCst);
                Err(Errno::NOSPC)
            }
        }
    }
}

impl Fs for FaultyFs {
    fn create(&self, dir: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<OwnedFd> {
        self.gate()?;
        RealFs.create(dir, name, mode)
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize> {
        if self.short.swap(false, Ordering::SeqCst) {
            return Err(Errno::NOSPC);
        }
        match self.gate() {
            Err(Errno::NOSPC) if self.fault == Fault::Short => RealFs.write(file, &bytes[..1]),
            Err(errno) => Err(errno),
            Ok(()) => RealFs.write(file, bytes),
        }
    }

    fn empty(&self, file: BorrowedFd<'_>) -> Result<()> {
        self.gate()?;
        RealFs.empty(file)
    }

    fn fsync(&self, handle: BorrowedFd<'_>) -> Result<()> {
        self.gate()?;
        RealFs.fsync(handle)
    }

    fn rename(
        &self,
        from: (BorrowedFd<'_>, &[u8]),
        to: (BorrowedFd<'_>, &[u8]),
        replace: bool,
    ) -> Result<()> {
        self.gate()?;
        RealFs.rename(from, to, replace)
    }

    fn link(&self, dir: BorrowedFd<'_>, old: &[u8], new: &[u8]) -> Result<()> {
        self.gate()?;
        RealFs.link(dir, old, new)
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
        self.gate()?;
        RealFs.unlink(dir, name)
    }

    fn rmdir(&self, dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
        self.gate()?;
        RealFs.rmdir(dir, name)
    }

    fn mkdir(&self, dir: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<()> {
        self.gate()?;
        RealFs.mkdir(dir, name, mode)
    }

    fn symlink(&self, target: &[u8], dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
        self.gate()?;
        RealFs.symlink(target, dir, name)
    }

    fn chmod(&self, file: BorrowedFd<'_>, mode: Mode) -> Result<()> {
        self.gate()?;
        RealFs.chmod(file, mode)
    }
}
