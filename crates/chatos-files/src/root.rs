//! The workspace root: one directory handle beneath which every path of every tool is resolved.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::entry::{FileId, Kind};
use super::error::{DenyRule, FileError, Result};
use super::fs::retry;
use super::hard_links::Contents;
use super::nearest;
use super::resolve::{self, Last, Place};

/// What to do with links that leave the root (servers §2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SymlinkPolicy {
    /// Follow links that stay inside, refuse the others.
    #[default]
    Deny,
    /// Follow them all; a weakened setting.
    Allow,
}

/// Directories no file tool touches, wherever they lie (servers §2.1): state, keys, plugin roots.
#[derive(Debug, Clone, Default)]
pub struct Protected {
    paths: Arc<[PathBuf]>,
}

/// The protected directories as they are now: by identity, never by spelling.
#[derive(Debug, Default)]
pub struct ProtectedIds {
    ids: HashSet<FileId>,
    /// Directories that do not exist yet: the parent that does, and the next name below it.
    planned: Vec<(FileId, Vec<u8>)>,
    contents: Contents,
}

/// An open directory that stays the same one whatever happens to its name; copies share the handle.
#[derive(Debug, Clone)]
pub struct Anchor {
    handle: Arc<OwnedFd>,
    path: Arc<Path>,
    id: FileId,
}

/// An open root.
#[derive(Debug)]
pub struct Root {
    anchor: Anchor,
    policy: SymlinkPolicy,
    protected: Protected,
}

/// A regular file opened for reading, with what the system says about it.
#[derive(Debug)]
pub struct Opened {
    /// The file; reads never block.
    pub file: File,
    /// What the open handle is.
    pub stat: Stat,
    /// Its path relative to the root.
    pub rel: String,
}

impl Protected {
    /// Protects these directories. They need not exist.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { paths: paths.into_iter().filter(|path| path.is_absolute()).collect() }
    }

    /// Looks the directories up. Done for each operation, because they may be made or moved.
    pub fn now(&self) -> ProtectedIds {
        let mut found = ProtectedIds { contents: Contents::of(&self.paths), ..ProtectedIds::default() };
        for path in self.paths.iter() {
            let mut existing = path.as_path();
            let mut below: Option<&std::ffi::OsStr> = None;
            loop {
                match rustix::fs::stat(existing) {
                    Ok(stat) => {
                        let id = FileId::of(&stat);
                        match below {
                            None => {
                                found.ids.insert(id);
                            }
                            Some(name) => found.planned.push((id, name.as_encoded_bytes().to_vec())),
                        }
                        break;
                    }
                    Err(_) => match (existing.parent(), existing.file_name()) {
                        (Some(parent), Some(name)) => (existing, below) = (parent, Some(name)),
                        _ => break,
                    },
                }
            }
        }
        found
    }
}

impl ProtectedIds {
    /// Whether this directory is a protected one.
    pub fn contains(&self, id: FileId) -> bool {
        self.ids.contains(&id)
    }

    /// Whether this file is one of a protected directory, met under another of its names.
    pub fn holds(&self, stat: &Stat) -> bool {
        self.contents.hold(stat)
    }

    /// Whether making `name` in this directory would be the first step to a protected one.
    pub fn plans(&self, parent: FileId, name: &[u8]) -> bool {
        self.planned.iter().any(|(id, planned)| *id == parent && planned.eq_ignore_ascii_case(name))
    }
}

impl Anchor {
    /// Opens a directory. Links on the way to it are the person's own choice and are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&path, flags, Mode::empty())?;
        let id = FileId::of(&rustix::fs::fstat(&handle)?);
        Ok(Self { handle: Arc::new(handle), path: path.into(), id })
    }

    /// Its real path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory handle.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Root {
    /// Opens a root.
    pub fn open(path: &Path, policy: SymlinkPolicy, protected: Protected) -> io::Result<Self> {
        Ok(Self::on(Anchor::open(path)?, policy, protected))
    }

    /// A root on a directory that is open already.
    pub fn on(anchor: Anchor, policy: SymlinkPolicy, protected: Protected) -> Self {
        Self { anchor, policy, protected }
    }

    /// The root's absolute path, for records and display.
    pub fn path(&self) -> &Path {
        self.anchor.path()
    }

    /// The root's identity.
    pub fn id(&self) -> FileId {
        self.anchor.id
    }

    /// The link policy.
    pub fn policy(&self) -> SymlinkPolicy {
        self.policy
    }

    /// The protected directories as they are now.
    pub fn protected(&self) -> ProtectedIds {
        self.protected.now()
    }

    /// The directory handle.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.anchor.handle()
    }

    /// Resolves a path that the caller gave. The leaf, and directories above it, may be missing.
    pub fn resolve(&self, path: &str, last: Last) -> Result<Place> {
        resolve::resolve(self, path, last)
    }

    /// Resolves a path to something that exists.
    pub fn existing(&self, path: &str, last: Last) -> Result<Place> {
        let place = self.resolve(path, last)?;
        if place.stat.is_none() {
            return Err(FileError::NotFound { path: path.to_owned(), nearest: nearest::names(&place) });
        }
        Ok(place)
    }

    /// Opens a regular file for reading. Never blocks: what is no regular file is refused by type.
    pub fn open_file(&self, path: &str) -> Result<Opened> {
        for _ in 0..8 {
            let place = self.existing(path, Last::Follow)?;
            match place.kind() {
                Some(Kind::Directory) => {
                    return Err(FileError::invalid(
                        "/path",
                        format!("`{path}` is a directory, not a file"),
                        format!("`{path}` 是目录，不是文件"),
                    ));
                }
                Some(Kind::File) => {}
                _ => {
                    return Err(FileError::Unsupported {
                        path: path.to_owned(),
                        what: "a device, socket or pipe",
                        size: None,
                    });
                }
            }
            match place.open_here() {
                Ok((file, stat)) if place.is(&stat) => return Ok(Opened { file, stat, rel: place.rel }),
                // Exchanged between the two looks; look again.
                Ok(_) | Err(Errno::NOENT | Errno::LOOP) => {}
                Err(errno) => return Err(FileError::os("open", path, errno)),
            }
        }
        Err(FileError::changed(path, None, None))
    }

    /// Opens a directory beneath the root for reading its entries, following no link at all.
    pub fn open_dir_nofollow(&self, rel: &[u8]) -> rustix::io::Result<OwnedFd> {
        resolve::open_nofollow(self.handle(), rel, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens a file beneath the root for reading, following no link at all and never blocking.
    pub fn open_file_nofollow(&self, rel: &[u8]) -> rustix::io::Result<OwnedFd> {
        resolve::open_nofollow(self.handle(), rel, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
    }
}

impl Place {
    /// Opens the entry itself for reading, following nothing.
    pub(crate) fn open_here(&self) -> rustix::io::Result<(File, Stat)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = retry(|| rustix::fs::openat(&self.parent, self.name.as_slice(), flags, Mode::empty()))?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok((File::from(fd), stat))
    }

    /// Whether an open handle is the entry that was resolved.
    pub(crate) fn is(&self, stat: &Stat) -> bool {
        self.stat.as_ref().is_some_and(|seen| FileId::of(seen) == FileId::of(stat))
    }

    /// servers §2.3: a file without write permission is refused, also where a rename would succeed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        let Some(stat) = &self.stat else { return Ok(()) };
        let refused = || Err(FileError::denied(DenyRule::FileMode, self.rel.clone()));
        if stat.st_mode & 0o222 == 0 {
            return refused();
        }
        match rustix::fs::accessat(
            &self.parent,
            self.name.as_slice(),
            Access::WRITE_OK,
            AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW,
        ) {
            Ok(()) => Ok(()),
            // Kernels that know no flags here leave the decision to the mode bits above.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => refused(),
            Err(errno) => Err(FileError::os("write", self.rel.clone(), errno)),
        }
    }
}
