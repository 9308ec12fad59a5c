//! Every file operation of the log, behind one trait, so that tests can fail the k-th of them (`security §5`).

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode};

/// What is compared to notice that a path means another file now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub dev: u64,
    pub ino: u64,
    pub size: u64,
    pub mode: u32,
    pub uid: u32,
    /// Nanoseconds; changes with every write and every rename.
    pub changed: i128,
    /// Nanoseconds; changes with every write.
    pub modified: i128,
    pub is_file: bool,
}

impl Stat {
    pub fn same_file(&self, other: &Stat) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

/// The file operations the log needs. [`DiskFs`] is the only implementation outside tests.
pub trait Fs: Send + Sync {
    /// For reading; never follows a link, never blocks on a FIFO, only regular files.
    fn open_read(&self, path: &Path) -> io::Result<File>;
    /// Read and append; `None` when it does not exist. Same refusals as `open_read`.
    fn open_append(&self, path: &Path) -> io::Result<Option<File>>;
    /// Creates for reading and appending with mode 0600; fails when something is there.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// The side file of the advisory lock, made when missing.
    fn open_lock(&self, path: &Path) -> io::Result<File>;
    /// False when another holder has it.
    fn try_lock(&self, file: &File) -> io::Result<bool>;
    fn unlock(&self, file: &File) -> io::Result<()>;
    /// `None` when nothing is there.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;
    fn fstat(&self, file: &File) -> io::Result<Stat>;
    fn read_at(&self, file: &File, buf: &mut [u8], at: u64) -> io::Result<usize>;
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize>;
    /// The file position, which after an append is the end of what was written.
    fn position(&self, file: &File) -> io::Result<u64>;
    fn set_private(&self, file: &File) -> io::Result<()>;
    fn sync_data(&self, file: &File) -> io::Result<()>;
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// With its parents, mode 0700; fine when it exists.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
}

/// The real file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskFs;

const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

impl Fs for DiskFs {
    fn open_read(&self, path: &Path) -> io::Result<File> {
        File::options().read(true).custom_flags(NOFOLLOW | NONBLOCK).open(path).and_then(regular)
    }

    fn open_append(&self, path: &Path) -> io::Result<Option<File>> {
        match File::options().read(true).append(true).custom_flags(NOFOLLOW | NONBLOCK).open(path) {
            Ok(file) => regular(file).map(Some),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        File::options().read(true).append(true).create_new(true).mode(0o600).custom_flags(NOFOLLOW).open(path)
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(NOFOLLOW | NONBLOCK)
            .open(path)
            .and_then(regular)
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        match rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    fn unlock(&self, file: &File) -> io::Result<()> {
        Ok(rustix::fs::flock(file.as_fd(), FlockOperation::Unlock)?)
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        match std::fs::symlink_metadata(path) {
            Ok(meta) => Ok(Some(stat_of(&meta))),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn fstat(&self, file: &File) -> io::Result<Stat> {
        Ok(stat_of(&file.metadata()?))
    }

    fn read_at(&self, file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
        loop {
            match file.read_at(buf, at) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(file.as_fd(), bytes) {
                Err(rustix::io::Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }

    fn position(&self, file: &File) -> io::Result<u64> {
        Ok(rustix::fs::tell(file.as_fd())?)
    }

    fn set_private(&self, file: &File) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file.as_fd(), Mode::RUSR | Mode::WUSR)?)
    }

    fn sync_data(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }
}

fn stat_of(meta: &std::fs::Metadata) -> Stat {
    Stat {
        dev: meta.dev(),
        ino: meta.ino(),
        size: meta.size(),
        mode: meta.mode() & 0o7777,
        uid: meta.uid(),
        changed: i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec()),
        modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
        is_file: meta.is_file(),
    }
}

/// True when the device is full or over quota: worth retrying when space is back.
pub(crate) fn is_full(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::NOSPC, Errno::DQUOT, Errno::FBIG].iter().any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}
