//! Every change the installer makes on disk goes through [`Fs`], so that tests can let the k-th one
//! fail and see what is left (security §5). All names are single components below a directory
//! handle; links are never followed.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

/// Operations that change the disk.
pub trait Fs: Send + Sync {
    /// Makes a directory.
    fn make_dir(&self, dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<()>;
    /// Makes a new file for writing; an existing one is an error.
    fn create(&self, dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<OwnedFd>;
    /// Writes some bytes, possibly fewer than asked.
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize>;
    /// Makes a file's content or a directory's entries durable.
    fn sync(&self, fd: BorrowedFd<'_>) -> io::Result<()>;
    /// Makes everything on the file system of `fd` durable.
    fn sync_all(&self, fd: BorrowedFd<'_>) -> io::Result<()>;
    /// Moves an entry to a name that must be free.
    fn rename(
        &self,
        from: BorrowedFd<'_>,
        name: &OsStr,
        to: BorrowedFd<'_>,
        new_name: &OsStr,
    ) -> io::Result<()>;
    /// Moves a file over another one.
    fn replace(&self, dir: BorrowedFd<'_>, name: &OsStr, new_name: &OsStr) -> io::Result<()>;
    /// Removes anything but a directory.
    fn unlink(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()>;
}

/// The real file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs;

impl Fs for RealFs {
    fn make_dir(&self, dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(mode))?)
    }

    fn create(&self, dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(mode))?;
        // The mode is part of what was installed; the umask has no say in it.
        rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode))?;
        Ok(fd)
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(file, bytes)?)
    }

    fn sync(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(rustix::fs::fsync(fd)?)
    }

    fn sync_all(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(rustix::fs::syncfs(fd)?)
    }

    fn rename(
        &self,
        from: BorrowedFd<'_>,
        name: &OsStr,
        to: BorrowedFd<'_>,
        new_name: &OsStr,
    ) -> io::Result<()> {
        match rustix::fs::renameat_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
            // Some file systems cannot promise it atomically; the installer's lock then has to do.
            Err(Errno::INVAL | Errno::NOSYS) => {
                if exists(to, new_name)? {
                    return Err(Errno::EXIST.into());
                }
                Ok(rustix::fs::renameat(from, name, to, new_name)?)
            }
            other => Ok(other?),
        }
    }

    fn replace(&self, dir: BorrowedFd<'_>, name: &OsStr, new_name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(dir, name, dir, new_name)?)
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove_dir(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }
}

/// Opens the directory `path` by name; the last component may not be a link.
pub(crate) fn open_path(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens a directory below another one; a link in its place is an error.
pub(crate) fn open_dir(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// Makes a directory if it is not there, and opens it.
pub(crate) fn ensure_dir(fs: &dyn Fs, dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<OwnedFd> {
    match fs.make_dir(dir, name, mode) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    open_dir(dir, name)
}

/// True when something has this name; a link counts as itself.
pub(crate) fn exists(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<bool> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Names in a directory, sorted by bytes.
pub(crate) fn names(dir: BorrowedFd<'_>) -> io::Result<Vec<std::ffi::OsString>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if name != c"." && name != c".." {
            found.push(OsStr::from_bytes(name.to_bytes()).to_owned());
        }
    }
    found.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    Ok(found)
}

/// Writes all of `bytes`.
pub(crate) fn write_all(fs: &dyn Fs, file: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match fs.write(file, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Directories entered at once while deleting; deeper ones are first moved up, so that neither the
/// stack nor the descriptors run out on a tree made to be deep.
const MAX_DEPTH: usize = 100;

/// Deletes `name` in `dir` with everything below it, by handle. A link is removed, never followed.
/// `dir` must be a directory nobody else writes to: deep parts are moved into it on the way.
pub(crate) fn remove_tree(fs: &dyn Fs, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let mut pending = vec![name.to_owned()];
    let mut moved = 0_u64;
    while let Some(name) = pending.pop() {
        remove_one(fs, dir, dir, &name, 0, &mut pending, &mut moved)?;
    }
    Ok(())
}

fn remove_one(
    fs: &dyn Fs,
    top: BorrowedFd<'_>,
    dir: BorrowedFd<'_>,
    name: &OsStr,
    depth: usize,
    pending: &mut Vec<std::ffi::OsString>,
    moved: &mut u64,
) -> io::Result<()> {
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return fs.unlink(dir, name);
    }
    if depth == MAX_DEPTH {
        *moved += 1;
        let lifted = std::ffi::OsString::from(format!("deep-{}-{moved}", std::process::id()));
        fs.rename(dir, name, top, &lifted)?;
        pending.push(lifted);
        return Ok(());
    }
    if stat.st_mode & 0o700 != 0o700 {
        // A directory its owner cannot enter cannot be emptied either.
        rustix::fs::chmodat(dir, name, Mode::from_raw_mode(0o700), AtFlags::empty())?;
    }
    let inner = open_dir(dir, name)?;
    for child in names(inner.as_fd())? {
        remove_one(fs, top, inner.as_fd(), &child, depth + 1, pending, moved)?;
    }
    match fs.remove_dir(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn deep_trees_and_links_are_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("keep"), "x").unwrap();
        let top = open_path(dir.path()).unwrap();
        // Deeper than any stack of descriptors and than PATH_MAX.
        let mut at = ensure_dir(&RealFs, top.as_fd(), OsStr::new("deep"), 0o755).unwrap();
        for _ in 0..5_000 {
            at = ensure_dir(&RealFs, at.as_fd(), OsStr::new("d"), 0o755).unwrap();
        }
        std::os::unix::fs::symlink(outside.path(), dir.path().join("deep/link")).unwrap();
        remove_tree(&RealFs, top.as_fd(), OsStr::new("deep")).unwrap();
        assert_eq!(names(top.as_fd()).unwrap().len(), 0);
        std::os::unix::fs::symlink(outside.path(), dir.path().join("toplink")).unwrap();
        remove_tree(&RealFs, top.as_fd(), OsStr::new("toplink")).unwrap();
        assert!(outside.path().join("keep").exists());
        remove_tree(&RealFs, top.as_fd(), OsStr::new("gone")).unwrap();
    }

    #[test]
    fn a_rename_never_covers_anything() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::create_dir(dir.path().join("b")).unwrap();
        let top = open_path(dir.path()).unwrap();
        let error = RealFs.rename(top.as_fd(), OsStr::new("a"), top.as_fd(), OsStr::new("b")).unwrap_err();
        assert_eq!(
            error.kind(),
            io::ErrorKind::AlreadyExists,
            "an empty directory would be replaced by rename(2)"
        );
    }
}
