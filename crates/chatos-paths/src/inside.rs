//! A path proven to lie inside a directory, resolved by the kernel and never by comparing strings.

mod walk;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Why a relative path was refused (plugins §3).
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InsideError {
    /// The text cannot be a relative path: empty, absolute, backslash, control characters, too long.
    #[error("`{0}` is not a usable relative path")]
    Invalid(String),
    /// It leaves the directory, lexically or through a link.
    #[error("`{0}` leaves the directory")]
    Outside(String),
    /// Nothing is there.
    #[error("`{0}` does not exist")]
    Missing(String),
    /// It is there but is no regular file.
    #[error("`{0}` is not a regular file")]
    NotFile(String),
    /// The system refused for another reason.
    #[error("cannot open `{path}`: {kind}")]
    Io {
        /// The relative path.
        path: String,
        /// The system's reason.
        kind: io::ErrorKind,
    },
}

/// A directory handle beneath which untrusted relative paths are resolved.
#[derive(Debug)]
pub struct Beneath {
    root: OwnedFd,
    path: PathBuf,
}

/// A regular file proven to be inside a [`Beneath`] directory, with the handle that proves it.
#[derive(Debug)]
pub struct Inside {
    file: File,
    relative: String,
    absolute: PathBuf,
}

impl Beneath {
    /// Opens the directory; a link in the last component is refused.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { root, path: path.to_owned() })
    }

    /// The directory's path as it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Resolves `relative` to a regular file inside, links included, and opens it for reading.
    pub fn file(&self, relative: &str) -> Result<Inside, InsideError> {
        check_text(relative)?;
        let named = || relative.to_owned();
        // NONBLOCK: opening a FIFO must not hang (plugins §2.1); the type is checked before any read.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened = match retrying(|| {
            rustix::fs::openat2(self.root.as_fd(), relative, flags, Mode::empty(), resolve)
        }) {
            // Kernels before 5.6 and some container filters do not have the call.
            Err(Errno::NOSYS | Errno::PERM) => retrying(|| walk::open(self.root.as_fd(), relative, flags)),
            other => other,
        };
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::XDEV | Errno::LOOP) => return Err(InsideError::Outside(named())),
            Err(Errno::NOENT | Errno::NOTDIR) => return Err(InsideError::Missing(named())),
            Err(Errno::NXIO | Errno::NODEV) => return Err(InsideError::NotFile(named())),
            Err(errno) => {
                return Err(InsideError::Io { path: named(), kind: io::Error::from(errno).kind() });
            }
        };
        let stat = rustix::fs::fstat(&fd)
            .map_err(|errno| InsideError::Io { path: named(), kind: io::Error::from(errno).kind() })?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(InsideError::NotFile(named()));
        }
        Ok(Inside { file: File::from(fd), relative: named(), absolute: self.path.join(relative) })
    }
}

impl AsFd for Beneath {
    /// The directory's handle, for callers that look at entries themselves.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

impl Inside {
    /// The open file; reading it reads exactly what was proven.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path as it was given.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// The joined path, for display and for handing to a child process.
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Gives the open file away.
    pub fn into_file(self) -> File {
        self.file
    }
}

/// RESOLVE_BENEATH reports EAGAIN when the tree changed under it; a few retries settle that.
fn retrying(mut open: impl FnMut() -> rustix::io::Result<OwnedFd>) -> rustix::io::Result<OwnedFd> {
    let mut last = Errno::AGAIN;
    for _ in 0..16 {
        match open() {
            Err(Errno::AGAIN) => last = Errno::AGAIN,
            Err(Errno::INTR) => last = Errno::INTR,
            other => return other,
        }
    }
    Err(last)
}

/// plugins §3 rule 1. `?`, `#` and `%` are ordinary file-name characters.
fn check_text(relative: &str) -> Result<(), InsideError> {
    let invalid = || Err(InsideError::Invalid(relative.to_owned()));
    let bytes = relative.as_bytes();
    if bytes.is_empty() || bytes.len() > 1024 || bytes.iter().any(|b| *b < 0x20 || *b == 0x7F || *b == b'\\')
    {
        return invalid();
    }
    if bytes[0] == b'~' {
        return invalid();
    }
    if bytes[0] == b'/' {
        return Err(InsideError::Outside(relative.to_owned()));
    }
    if has_scheme(relative) {
        return invalid();
    }
    Ok(())
}

/// `c:`, `file:`, `https:` … : letters, digits, `+ - .` before the first colon, no slash before it.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

#[cfg(test)]
mod tests;
