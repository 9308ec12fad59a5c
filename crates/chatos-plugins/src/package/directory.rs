//! A directory as a package (plugins §8): links that stay inside become files, everything else that
//! is not a regular file or directory is refused. All opening is done by handle.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use chatos_paths::{Beneath, InsideError};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::exclude::is_excluded_name;
use super::{
    Collisions, Content, EntryPath, Limits, PackageCode, PackageError, Sink, Tally, check_name, is_excluded,
};
use crate::fs::{exists, names};
use crate::tree::is_executable;

/// Files counted below an excluded directory before the count is given up; it is only shown.
const COUNTED: usize = 100_000;

pub(crate) struct Directory {
    root: Beneath,
    limits: Limits,
}

struct Walk<'a> {
    root: &'a Beneath,
    limits: Limits,
    sink: &'a mut dyn Sink,
    collisions: Collisions,
    tally: Tally,
    entries: usize,
    /// Directories being walked, to notice a link that leads back into one of them.
    open: Vec<(u64, u64)>,
}

impl Directory {
    pub(super) fn open(path: &Path, limits: Limits) -> Result<Self, PackageError> {
        // The person named this path, so a link in it is theirs; links inside are the package's.
        let real = std::fs::canonicalize(path).map_err(|error| PackageError::source(path, error))?;
        let root = Beneath::open(&real).map_err(|error| PackageError::source(path, error))?;
        Ok(Self { root, limits })
    }

    pub(super) fn read(&mut self, sink: &mut dyn Sink) -> Result<Tally, PackageError> {
        let mut walk = Walk {
            root: &self.root,
            limits: self.limits,
            sink,
            collisions: Collisions::default(),
            tally: Tally::default(),
            entries: 0,
            open: Vec::new(),
        };
        let top = self.root.as_fd();
        if exists(top, OsStr::new("plugin.json")).map_err(unreadable)? {
            walk.directory(top, "")?;
        } else {
            let mut found = false;
            for name in names(top).map_err(unreadable)? {
                let Some(inner) = open_dir(top, &name)? else {
                    walk.tally.ignored += 1;
                    continue;
                };
                if exists(inner.as_fd(), OsStr::new("plugin.json")).map_err(unreadable)? {
                    found = true;
                    let path = check_name(name.as_bytes())?;
                    walk.directory(inner.as_fd(), path.as_str())?;
                } else if !name.to_str().is_some_and(is_excluded_name) {
                    walk.tally.ignored += count(top, &name, FileType::Directory);
                }
            }
            if !found {
                return Err(PackageError::no_manifest());
            }
        }
        Ok(walk.tally)
    }
}

fn unreadable(error: std::io::Error) -> PackageError {
    PackageError::io("read the package", "读取安装包", error)
}

/// A directory below `dir`, or `None` when the name is something else.
fn open_dir(dir: BorrowedFd<'_>, name: &OsStr) -> Result<Option<OwnedFd>, PackageError> {
    match crate::fs::open_dir(dir, name) {
        Ok(fd) => Ok(Some(fd)),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => Ok(None),
            _ => Err(unreadable(error)),
        },
    }
}

impl Walk<'_> {
    fn directory(&mut self, dir: BorrowedFd<'_>, prefix: &str) -> Result<(), PackageError> {
        let stat = rustix::fs::fstat(dir).map_err(|errno| unreadable(errno.into()))?;
        let key = (stat.st_dev, stat.st_ino);
        if self.open.contains(&key) {
            return Err(PackageError::entry(
                PackageCode::EntryType,
                prefix.as_bytes(),
                "is a link that leads back into itself",
                "是指回自身的链接",
            ));
        }
        self.open.push(key);
        for name in names(dir).map_err(unreadable)? {
            if self.sink.is_canceled() {
                return Err(PackageError::canceled());
            }
            self.entry(dir, prefix, &name)?;
        }
        self.open.pop();
        Ok(())
    }

    fn entry(&mut self, dir: BorrowedFd<'_>, prefix: &str, name: &OsStr) -> Result<(), PackageError> {
        let mut raw = prefix.as_bytes().to_vec();
        if !raw.is_empty() {
            raw.push(b'/');
        }
        raw.extend_from_slice(name.as_bytes());
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| unreadable(errno.into()))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if name.to_str().is_some_and(is_excluded_name) {
            self.tally.excluded += count(dir, name, kind);
            return Ok(());
        }
        let path = check_name(&raw)?;
        match kind {
            FileType::Directory => {
                let inner = crate::fs::open_dir(dir, name).map_err(unreadable)?;
                self.collisions.directory(&path)?;
                self.count_entry()?;
                self.directory(inner.as_fd(), path.as_str())
            }
            FileType::RegularFile if is_excluded(path.as_str()) => {
                self.tally.excluded += 1;
                Ok(())
            }
            FileType::RegularFile => {
                let flags =
                    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
                let file = rustix::fs::openat(dir, name, flags, Mode::empty())
                    .map_err(|errno| unreadable(errno.into()))?;
                self.file(&path, std::fs::File::from(file))
            }
            FileType::Symlink => self.link(&path),
            _ => Err(special(&raw)),
        }
    }

    /// A link: what it leads to, if that lies inside the package.
    fn link(&mut self, path: &EntryPath) -> Result<(), PackageError> {
        if is_excluded(path.as_str()) {
            self.tally.excluded += 1;
            return Ok(());
        }
        let raw = path.as_str().as_bytes();
        match self.root.file(path.as_str()) {
            Ok(inside) => self.file(path, inside.into_file()),
            Err(InsideError::Outside(_) | InsideError::Invalid(_)) => Err(PackageError::entry(
                PackageCode::EntryOutside,
                raw,
                "is a link that leaves the package",
                "是指向安装包之外的链接",
            )),
            Err(InsideError::Missing(_)) => {
                Err(PackageError::entry(PackageCode::EntryType, raw, "is a link to nothing", "是失效的链接"))
            }
            Err(InsideError::NotFile(_)) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
                match rustix::fs::openat2(self.root.as_fd(), path.as_str(), flags, Mode::empty(), resolve) {
                    Ok(inner) => {
                        self.collisions.directory(path)?;
                        self.count_entry()?;
                        self.directory(inner.as_fd(), path.as_str())
                    }
                    Err(_) => Err(special(raw)),
                }
            }
            Err(InsideError::Io { kind, .. }) => Err(unreadable(kind.into())),
        }
    }

    fn file(&mut self, path: &EntryPath, file: std::fs::File) -> Result<(), PackageError> {
        let stat: Stat = rustix::fs::fstat(&file).map_err(|errno| unreadable(errno.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(special(path.as_str().as_bytes()));
        }
        self.collisions.file(path)?;
        self.count_entry()?;
        let mut content = FileContent { file, buffer: vec![0; 64 * 1024] };
        self.sink.file(path, is_executable(&stat), stat.st_size as u64, &mut content)
    }

    fn count_entry(&mut self) -> Result<(), PackageError> {
        self.entries += 1;
        if self.entries > self.limits.files {
            return Err(too_many(self.entries, self.limits.files));
        }
        Ok(())
    }
}

pub(super) fn too_many(found: usize, max: usize) -> PackageError {
    PackageError::new(
        PackageCode::PackageTooManyFiles,
        format!("The package holds at least {found} entries; at most {max} are allowed"),
        format!("安装包至少包含 {found} 个条目；最多允许 {max} 个"),
    )
}

fn special(raw: &[u8]) -> PackageError {
    PackageError::entry(
        PackageCode::EntryType,
        raw,
        "is neither a file nor a directory",
        "既不是文件也不是目录",
    )
}

/// Files below an excluded entry, for the count in the result.
fn count(dir: BorrowedFd<'_>, name: &OsStr, kind: FileType) -> usize {
    if kind != FileType::Directory {
        return 1;
    }
    let mut total = 0;
    let Ok(top) = crate::fs::open_dir(dir, name) else { return 0 };
    // Breadth first with closed handles would need paths; depth is bounded instead.
    let mut stack = vec![top];
    while let Some(inner) = stack.pop() {
        // A directory that cannot be listed counts as empty: it is left out anyway.
        for child in names(inner.as_fd()).unwrap_or_default() {
            if total >= COUNTED {
                return total;
            }
            match rustix::fs::statat(&inner, &child, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                    if stack.len() < 256
                        && let Ok(next) = crate::fs::open_dir(inner.as_fd(), &child)
                    {
                        stack.push(next);
                    }
                }
                Ok(_) => total += 1,
                Err(_) => {}
            }
        }
    }
    total
}

struct FileContent {
    file: std::fs::File,
    buffer: Vec<u8>,
}

impl Content for FileContent {
    fn next(&mut self) -> Result<Option<&[u8]>, PackageError> {
        loop {
            match self.file.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(read) => return Ok(Some(&self.buffer[..read])),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
    }
}
