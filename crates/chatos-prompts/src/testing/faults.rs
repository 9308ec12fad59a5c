//! A file system whose k-th operation fails (`security §5`).

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use chatos_lines::{DiskFs, Fs, Stat};

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this error number; later ones work.
    Error(i32),
    /// A write takes half of its bytes; other operations fail with EIO.
    Short,
    /// It and everything after it fails: the process was stopped there.
    Stop,
}

/// Counts operations that change or open something; the real ones run underneath.
pub struct FaultFs {
    real: DiskFs,
    count: AtomicU64,
    at: AtomicU64,
    fault: std::sync::Mutex<Fault>,
    stopped: AtomicBool,
    /// Every sync fails while set.
    pub fail_syncs: AtomicBool,
    /// Every write fails with ENOSPC while set.
    pub disk_full: AtomicBool,
}

impl Default for FaultFs {
    fn default() -> Self {
        Self {
            real: DiskFs,
            count: AtomicU64::new(0),
            at: AtomicU64::new(u64::MAX),
            fault: std::sync::Mutex::new(Fault::Stop),
            stopped: AtomicBool::new(false),
            fail_syncs: AtomicBool::new(false),
            disk_full: AtomicBool::new(false),
        }
    }
}

enum Turn {
    Go,
    Half,
}

impl FaultFs {
    /// Lets the `k`-th counted operation from now (1 = the next) fail.
    pub fn arm(&self, k: u64, fault: Fault) {
        *chatos_lines::lock(&self.fault) = fault;
        self.at.store(self.count.load(Ordering::SeqCst) + k, Ordering::SeqCst);
    }

    /// True when the armed operation was reached.
    pub fn reached(&self) -> bool {
        self.count.load(Ordering::SeqCst) >= self.at.load(Ordering::SeqCst)
    }

    fn turn(&self) -> io::Result<Turn> {
        let n = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        if self.stopped.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(5));
        }
        if n != self.at.load(Ordering::SeqCst) {
            return Ok(Turn::Go);
        }
        match *chatos_lines::lock(&self.fault) {
            Fault::Error(code) => Err(io::Error::from_raw_os_error(code)),
            Fault::Short => Ok(Turn::Half),
            Fault::Stop => {
                self.stopped.store(true, Ordering::SeqCst);
                Err(io::Error::from_raw_os_error(5))
            }
        }
    }

    fn whole(&self) -> io::Result<()> {
        match self.turn()? {
            Turn::Go => Ok(()),
            Turn::Half => Err(io::Error::from_raw_os_error(5)),
        }
    }
}

impl Fs for FaultFs {
    fn open_read(&self, path: &Path) -> io::Result<File> {
        self.whole()?;
        self.real.open_read(path)
    }

    fn open_append(&self, path: &Path) -> io::Result<Option<File>> {
        self.whole()?;
        self.real.open_append(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        self.whole()?;
        self.real.create(path)
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        self.real.open_lock(path)
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        self.real.try_lock(file)
    }

    fn unlock(&self, file: &File) -> io::Result<()> {
        self.real.unlock(file)
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.real.stat(path)
    }

    fn fstat(&self, file: &File) -> io::Result<Stat> {
        self.real.fstat(file)
    }

    fn read_at(&self, file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
        self.real.read_at(file, buf, at)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        if self.disk_full.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error()));
        }
        match self.turn()? {
            Turn::Go => self.real.write(file, bytes),
            Turn::Half => self.real.write(file, &bytes[..bytes.len().div_ceil(2)]),
        }
    }

    fn position(&self, file: &File) -> io::Result<u64> {
        self.real.position(file)
    }

    fn set_private(&self, file: &File) -> io::Result<()> {
        self.whole()?;
        self.real.set_private(file)
    }

    fn sync_data(&self, file: &File) -> io::Result<()> {
        if self.fail_syncs.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.whole()?;
        self.real.sync_data(file)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.whole()?;
        self.real.sync_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole()?;
        self.real.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole()?;
        self.real.hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.whole()?;
        self.real.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.whole()?;
        self.real.create_dir(path)
    }
}
