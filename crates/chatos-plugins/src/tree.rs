//! Walking a plugin directory by handle, in the order its digest needs: relative paths sorted by
//! bytes, links never followed, nothing left out but what the caller names.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use crate::development::{self, Skip};
use crate::stamp::Stamp;

/// Directories inside directories before a walk gives up. Packages have at most 64; each level
/// costs one descriptor, so this also bounds those.
const MAX_DEPTH: usize = 256;

/// One entry of the tree.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// Relative path, `/` between components.
    pub(crate) path: &'a [u8],
    /// The directory that holds it.
    pub(crate) dir: BorrowedFd<'a>,
    /// Its name there.
    pub(crate) name: &'a CStr,
    /// What it is.
    pub(crate) kind: FileType,
    /// `lstat` of it.
    pub(crate) stat: &'a Stat,
}

impl Entry<'_> {
    /// The cache key.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::of(self.stat)
    }

    /// Whether its owner may execute it.
    pub(crate) fn is_executable(&self) -> bool {
        is_executable(self.stat)
    }

    /// Opens a regular file for reading; a link or FIFO put there since is an error.
    pub(crate) fn open(&self) -> io::Result<std::fs::File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let fd = rustix::fs::openat(self.dir, self.name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        if Stamp::of(&stat) != self.stamp() {
            return Err(changing());
        }
        Ok(std::fs::File::from(fd))
    }

    /// Where a link points.
    pub(crate) fn link_target(&self) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(self.dir, self.name, Vec::new())?.into_bytes())
    }
}

/// The owner-executable bit, the only mode bit that is part of a plugin's content.
pub(crate) fn is_executable(stat: &Stat) -> bool {
    stat.st_mode & 0o100 != 0
}

/// The error for a tree that changes while it is read.
pub(crate) fn changing() -> io::Error {
    io::Error::other("the directory is being changed while it is read")
}

/// Visits every entry below `root`, directories before what they hold. The root itself is visited
/// with an empty path.
pub(crate) fn walk(
    root: BorrowedFd<'_>,
    visit: &mut dyn FnMut(&Entry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    walk_except(root, development::nothing, visit)
}

/// As [`walk`], without the entries for whose path `skip` is true and without what is below them.
pub(crate) fn walk_except(
    root: BorrowedFd<'_>,
    skip: Skip,
    visit: &mut dyn FnMut(&Entry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let here = open_dir(root, c".")?;
    let stat = rustix::fs::fstat(&here)?;
    visit(&Entry { path: b"", dir: root, name: c".", kind: FileType::Directory, stat: &stat })?;
    descend(&here, &mut Vec::new(), 0, skip, visit)
}

fn descend(
    dir: &OwnedFd,
    path: &mut Vec<u8>,
    depth: usize,
    skip: Skip,
    visit: &mut dyn FnMut(&Entry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    if depth == MAX_DEPTH {
        return Err(io::Error::other(format!("directories are nested deeper than {MAX_DEPTH}")));
    }
    let mut entries: Vec<(Vec<u8>, CString, Stat)> = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        // A directory sorts as its name with a slash: then visiting in this order is visiting full
        // paths in byte order.
        let mut key = name.to_bytes().to_vec();
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            key.push(b'/');
        }
        entries.push((key, name.to_owned(), stat));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, name, stat) in entries {
        let length = path.len();
        if length > 0 {
            path.push(b'/');
        }
        path.extend_from_slice(name.to_bytes());
        if skip(path) {
            path.truncate(length);
            continue;
        }
        let kind = FileType::from_raw_mode(stat.st_mode);
        visit(&Entry { path, dir: dir.as_fd(), name: &name, kind, stat: &stat })?;
        if kind == FileType::Directory {
            let inner = open_dir(dir.as_fd(), &name)?;
            descend(&inner, path, depth + 1, skip, visit)?;
        }
        path.truncate(length);
    }
    Ok(())
}

/// Opens a directory without following a link in its place.
pub(crate) fn open_dir(dir: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}
