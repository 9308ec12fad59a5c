//! Files of one plugin directory, opened beneath its handle, with the keys that tell whether they
//! changed since.

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;

use chatos_manifest::{ProblemCode, Text, visible};
use chatos_paths::{Beneath, Inside, InsideError};

use crate::stamp::Stamp;

/// A file that a loaded plugin depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watched {
    /// Relative to the plugin directory.
    pub(crate) path: Vec<u8>,
    /// Whether the stamp is of what a link points to.
    pub(crate) follow: bool,
    /// `None` when nothing was there.
    pub(crate) stamp: Option<Stamp>,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    Missing,
    NotFile,
    Directory,
    Link,
    NotText,
    Unreadable(String),
}

impl Refusal {
    pub(super) fn describe(&self, label: &str, path: &str) -> (ProblemCode, Text) {
        let path = visible(path);
        match self {
            Refusal::Missing => (
                ProblemCode::PathMissing,
                Text::new(format!("{label} not found: {path}"), format!("找不到 {label}：{path}")),
            ),
            Refusal::Directory => (
                ProblemCode::PathNotFile,
                Text::new(format!("{label} is a directory: {path}"), format!("{label} 是目录：{path}")),
            ),
            Refusal::NotFile => (
                ProblemCode::PathNotFile,
                Text::new(
                    format!("{label} is not a regular file: {path}"),
                    format!("{label} 不是普通文件：{path}"),
                ),
            ),
            Refusal::Link => (
                ProblemCode::PathSymlink,
                Text::new(
                    format!("{label} is a link that leaves the plugin directory: {path}"),
                    format!("{label} 是指向插件目录之外的链接：{path}"),
                ),
            ),
            Refusal::NotText => (
                ProblemCode::PathInvalid,
                Text::new(
                    format!("{label} lies in a directory whose name is not valid UTF-8: {path}"),
                    format!("{label} 所在目录的名称不是有效的 UTF-8：{path}"),
                ),
            ),
            Refusal::Unreadable(error) => (
                ProblemCode::PathMissing,
                Text::new(
                    format!("{label} cannot be opened ({error}): {path}"),
                    format!("无法打开 {label}（{error}）：{path}"),
                ),
            ),
        }
    }
}

/// Opens files and remembers their keys.
pub(super) struct Files<'a> {
    root: &'a Beneath,
    pub(super) watched: Vec<Watched>,
}

impl<'a> Files<'a> {
    pub(super) fn new(root: &'a Beneath) -> Self {
        Self { root, watched: Vec::new() }
    }

    /// The file is there, regular, and inside.
    pub(super) fn check(&mut self, path: &str) -> Result<(), Refusal> {
        self.open(path).map(|_| ())
    }

    /// As [`Files::check`], with the path the kernel arrived at: no `..` and no link is left in it.
    pub(super) fn prove(&mut self, path: &str) -> Result<PathBuf, Refusal> {
        let inside = self.open(path)?;
        let plain = !path.split('/').any(|part| matches!(part, "" | "." | ".."));
        let linked = self
            .watched
            .last()
            .is_some_and(|watched| Stamp::at(self.root.as_fd(), path.as_bytes(), false) != watched.stamp);
        if plain && !linked {
            return Ok(inside.absolute().to_owned());
        }
        // The handle knows where it is; /proc may be missing in a container, then the joined path
        // still names the same file.
        let by_handle = std::fs::read_link(format!("/proc/self/fd/{}", inside.file().as_raw_fd()));
        Ok(by_handle.ok().filter(|real| real.is_absolute()).unwrap_or_else(|| inside.absolute().to_owned()))
    }

    /// The bytes of a file of at most `max` bytes, or its size when it is larger.
    pub(super) fn read(&mut self, path: &str, max: u64) -> Result<Result<Vec<u8>, u64>, Refusal> {
        let file = self.open(path)?.into_file();
        let size = file.metadata().map_or(0, |meta| meta.len());
        if size > max {
            return Ok(Err(size));
        }
        let mut bytes = Vec::with_capacity(size as usize + 1);
        match file.take(max + 1).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() as u64 > max => Ok(Err(bytes.len() as u64)),
            Ok(_) => Ok(Ok(bytes)),
            Err(error) => Err(Refusal::Unreadable(error.to_string())),
        }
    }

    /// Size of a regular file inside, if it is one.
    pub(super) fn size(&mut self, path: &str) -> Option<u64> {
        self.open(path).ok()?.file().metadata().ok().map(|meta| meta.len())
    }

    fn open(&mut self, path: &str) -> Result<Inside, Refusal> {
        let opened = self.root.file(path);
        let stamp = match &opened {
            Ok(inside) => rustix::fs::fstat(inside.file()).ok().map(|stat| Stamp::of(&stat)),
            // What is looked at is the entry itself: nothing outside is touched.
            Err(_) => Stamp::at(self.root.as_fd(), path.as_bytes(), false),
        };
        self.watched.push(Watched { path: path.as_bytes().to_vec(), follow: opened.is_ok(), stamp });
        opened.map_err(|error| match error {
            InsideError::Missing(_) => Refusal::Missing,
            // The letters were checked when the manifest was parsed, so only a link can leave.
            InsideError::Outside(_) | InsideError::Invalid(_) => Refusal::Link,
            InsideError::NotFile(_) if self.is_directory(path) => Refusal::Directory,
            InsideError::NotFile(_) => Refusal::NotFile,
            InsideError::Io { kind, .. } => Refusal::Unreadable(kind.to_string()),
        })
    }

    fn is_directory(&self, path: &str) -> bool {
        use rustix::fs::{AtFlags, FileType};
        rustix::fs::statat(self.root.as_fd(), path, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }
}
