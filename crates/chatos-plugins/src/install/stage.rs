//! Writing a package into staging: an empty directory opened by handle, every parent made one by
//! one, every file new, every byte counted (security T8).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};

use super::{Phase, Progress, Work};
use crate::fs::{Fs, ensure_dir, open_dir, write_all};
use crate::package::{Content, EntryPath, Limits, PackageError, Sink, too_large};

/// Files synced one by one; with more, one sync of the whole file system is quicker.
const SYNC_EACH: usize = 512;

pub(super) struct Stage<'a> {
    fs: &'a dyn Fs,
    root: OwnedFd,
    limits: Limits,
    progress: &'a dyn Progress,
    /// The directory the last file went to; packages list files by directory.
    last: Option<(String, OwnedFd)>,
    directories: BTreeSet<String>,
    files: usize,
    bytes: u64,
    total: Option<u64>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(fs: &'a dyn Fs, root: OwnedFd, limits: Limits, progress: &'a dyn Progress) -> Self {
        Self {
            fs,
            root,
            limits,
            progress,
            last: None,
            directories: BTreeSet::new(),
            files: 0,
            bytes: 0,
            total: None,
        }
    }

    /// What was written.
    pub(super) fn finish(self) -> Staged {
        Staged { root: self.root, directories: self.directories, files: self.files, bytes: self.bytes }
    }

    /// Opens the parent of `path`, making it where needed.
    fn parent(&mut self, path: &str) -> std::io::Result<&OwnedFd> {
        let Some((parent, _)) = path.rsplit_once('/') else { return Ok(&self.root) };
        if self.last.as_ref().is_none_or(|(known, _)| known != parent) {
            let mut dir = open_dir(self.root.as_fd(), OsStr::new("."))?;
            let mut at = String::new();
            for part in parent.split('/') {
                if !at.is_empty() {
                    at.push('/');
                }
                at.push_str(part);
                dir = ensure_dir(self.fs, dir.as_fd(), OsStr::new(part), 0o755)?;
                self.directories.insert(at.clone());
            }
            self.last = Some((parent.to_owned(), dir));
        }
        Ok(self.last.as_ref().map_or(&self.root, |(_, dir)| dir))
    }

    fn write(
        &mut self,
        path: &EntryPath,
        executable: bool,
        content: &mut dyn Content,
    ) -> Result<(), PackageError> {
        let failed = |error| PackageError::io("write the staged files", "写入暂存文件", error);
        let fs = self.fs;
        let name = path.as_str().rsplit('/').next().unwrap_or_default().to_owned();
        let mode = if executable { 0o755 } else { 0o644 };
        let parent = self.parent(path.as_str()).map_err(failed)?;
        let file = fs.create(parent.as_fd(), OsStr::new(&name), mode).map_err(failed)?;
        while let Some(piece) = content.next()? {
            self.bytes += piece.len() as u64;
            if self.bytes > self.limits.bytes {
                return Err(too_large(self.limits));
            }
            write_all(fs, file.as_fd(), piece).map_err(failed)?;
            if self.progress.is_canceled() {
                return Err(PackageError::canceled());
            }
            self.progress.report(Phase::Reading, self.bytes, self.total);
        }
        self.files += 1;
        if self.files <= SYNC_EACH {
            fs.sync(file.as_fd()).map_err(failed)?;
        }
        Ok(())
    }
}

impl Sink for Stage<'_> {
    fn file(
        &mut self,
        path: &EntryPath,
        executable: bool,
        _: u64,
        content: &mut dyn Content,
    ) -> Result<(), PackageError> {
        self.write(path, executable, content)
    }

    fn is_canceled(&self) -> bool {
        self.progress.is_canceled()
    }

    fn expect(&mut self, _: usize, bytes: u64) {
        self.total = Some(bytes);
    }
}

/// A written package.
pub(super) struct Staged {
    root: OwnedFd,
    directories: BTreeSet<String>,
    files: usize,
    pub(super) bytes: u64,
}

impl Staged {
    /// Makes files and directories durable (plugins §8 step 4). Files were synced while they were
    /// written, unless there were many.
    pub(super) fn make_durable(&self, fs: &dyn Fs, work: &Work) -> Result<(), PackageError> {
        let failed = |error| PackageError::io("make the staged files durable", "持久化暂存文件", error);
        if self.files > SYNC_EACH {
            return fs.sync_all(self.root.as_fd()).map_err(failed);
        }
        for directory in &self.directories {
            let mut dir = open_dir(self.root.as_fd(), OsStr::new(".")).map_err(failed)?;
            for part in directory.split('/') {
                dir = open_dir(dir.as_fd(), OsStr::new(part)).map_err(failed)?;
            }
            fs.sync(dir.as_fd()).map_err(failed)?;
        }
        fs.sync(self.root.as_fd()).map_err(failed)?;
        fs.sync(work.dir.as_fd()).map_err(failed)
    }
}
