//! Cache keys of files and directories (plugins §5). Besides mtime, size and inode they hold the
//! device and ctime: a changed mode moves only ctime, and ctime cannot be set back.

use std::os::fd::BorrowedFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Stat};

/// What is compared to decide whether a file has to be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    dev: u64,
    ino: u64,
    size: u64,
    mtime_ns: i128,
    ctime_ns: i128,
}

/// File systems keep times in ticks of up to 10 ms: a file changed this recently may change again
/// without its stamp moving. Such stamps are not believed the next time.
const RACY: Duration = Duration::from_millis(100);

impl Stamp {
    /// The key of an open file or a stat result.
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |seconds: i64, nanos: u64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self {
            dev: stat.st_dev,
            ino: stat.st_ino,
            size: stat.st_size as u64,
            mtime_ns: nanos(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanos(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// The key of `path` beneath `dir`; `None` when nothing is there.
    pub(crate) fn at(dir: BorrowedFd<'_>, path: &[u8], follow: bool) -> Option<Self> {
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        rustix::fs::statat(dir, path, flags).ok().map(|stat| Self::of(&stat))
    }

    /// True when the file changed so recently that an equal stamp proves nothing.
    pub(crate) fn is_racy(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A clock behind the file counts as racy too.
        self.ctime_ns + RACY.as_nanos() as i128 > now.as_nanos() as i128
    }
}
