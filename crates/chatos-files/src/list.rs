//! Listing a directory, finding files by name, and the facts of one path (servers §4, §5).

use std::os::fd::OwnedFd;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustix::fs::{AtFlags, Stat};
use serde::Serialize;

use super::entry::{Kind, iso, mtime_ms, size_of};
use super::error::{FileError, Result};
use super::read::{self, ScanCache};
use super::resolve::{Last, Place};
use super::root::Root;
use super::stop::Stop;
use super::walk::{Tree, WalkOptions, walk};

/// Files up to this size are hashed and counted by `stat_path`.
const STAT_HASH_BYTES: u64 = 50 << 20;

/// One listed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The path relative to the root.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its size; directories have none.
    pub size_bytes: Option<u64>,
    /// When it was changed last; absent when it vanished meanwhile.
    pub mtime: Option<String>,
    /// Where a link points, as written in it.
    pub target: Option<String>,
}

/// A listing, or the part of it that was asked for.
#[derive(Debug)]
pub struct Listing {
    /// The directory.
    pub rel: String,
    /// The entries of the part.
    pub entries: Vec<Listed>,
    /// All entries.
    pub total: usize,
    /// What the walk left out.
    pub left_out: LeftOut,
}

/// What a walk could not or may not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LeftOut {
    /// Directories that could not be read.
    pub unreadable: usize,
    /// Protected directories.
    pub protected: usize,
    /// The walk ended early.
    pub incomplete: bool,
}

impl LeftOut {
    fn of(tree: &Tree) -> Self {
        Self {
            unreadable: tree.unreadable,
            protected: tree.protected,
            incomplete: tree.cut || tree.stopped.is_some(),
        }
    }
}

/// Lists breadth first, directories first, then by name.
pub fn list(
    root: &Root,
    path: &str,
    options: WalkOptions,
    offset: usize,
    limit: usize,
    stop: &dyn Stop,
) -> Result<Listing> {
    let place = directory(root, path)?;
    let tree = walk(root, place.rel(), options, stop)?;
    let mut total = 0;
    let mut chosen: Vec<(Vec<u8>, Vec<u8>, Kind)> = Vec::new();
    tree.breadth_first(|entry| {
        if total >= offset && chosen.len() < limit {
            chosen.push((entry.dir.rel.clone(), entry.name.to_vec(), entry.kind));
        }
        total += 1;
    });
    let mut entries = Vec::with_capacity(chosen.len());
    let mut open: Option<(Vec<u8>, Option<OwnedFd>)> = None;
    for (dir, name, kind) in chosen {
        if open.as_ref().is_none_or(|(at, _)| *at != dir) {
            let handle = root.open_dir_nofollow(&dir).ok();
            open = Some((dir.clone(), handle));
        }
        let handle = open.as_ref().and_then(|(_, handle)| handle.as_ref());
        entries.push(listed(handle, &dir, &name, kind));
    }
    Ok(Listing { rel: place.rel, entries, total, left_out: LeftOut::of(&tree) })
}

fn listed(handle: Option<&OwnedFd>, dir: &[u8], name: &[u8], kind: Kind) -> Listed {
    let stat = handle.and_then(|dir| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok());
    let target = (kind == Kind::Symlink)
        .then(|| handle.and_then(|dir| rustix::fs::readlinkat(dir, name, Vec::new()).ok()))
        .flatten()
        .map(|target| target.to_string_lossy().into_owned());
    Listed {
        path: String::from_utf8_lossy(&super::walk::join(dir, name)).into_owned(),
        kind,
        size_bytes: stat.as_ref().filter(|_| kind != Kind::Directory).map(size_of),
        mtime: stat.as_ref().map(|stat| iso(mtime_ms(stat))),
        target,
    }
}

/// Resolves a path to a directory.
pub(crate) fn directory(root: &Root, path: &str) -> Result<Place> {
    let place = root.existing(path, Last::Follow)?;
    if place.kind() != Some(Kind::Directory) {
        return Err(FileError::invalid(
            "/path",
            format!("`{path}` is not a directory"),
            format!("`{path}` 不是目录"),
        ));
    }
    if place.outside {
        // Policy `allow` reaches single files through such a link; walks follow none (servers §2.1).
        return Err(FileError::denied(super::error::DenyRule::SymlinkEscape, path));
    }
    Ok(place)
}

/// A found file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The path relative to the root.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed last.
    pub mtime: String,
}

/// Files found, newest first, or the part that was asked for.
#[derive(Debug)]
pub struct FoundFiles {
    /// The files of the part.
    pub files: Vec<Found>,
    /// All matching files.
    pub total: usize,
    /// What the walk left out.
    pub left_out: LeftOut,
    /// Why the walk ended early, if it was stopped.
    pub stopped: Option<super::error::Stopped>,
}

/// Finds files whose path relative to `path` matches a glob.
pub fn find(
    root: &Root,
    path: &str,
    pattern: &str,
    options: WalkOptions,
    offset: usize,
    limit: usize,
    stop: &dyn Stop,
) -> Result<FoundFiles> {
    let place = directory(root, path)?;
    let globs = globs("/pattern", std::slice::from_ref(&pattern.to_owned()))?;
    let tree = walk(root, place.rel(), options, stop)?;
    let mut matched: Vec<(i64, Vec<u8>, u64)> = Vec::new();
    let prefix = prefix_len(place.rel());
    let mut open: Option<(Vec<u8>, Option<OwnedFd>)> = None;
    tree.visit(|entry| {
        if entry.kind != Kind::File {
            return;
        }
        let rel = entry.rel();
        if !globs.is_match(path_of(&rel[prefix.min(rel.len())..])) {
            return;
        }
        if open.as_ref().is_none_or(|(at, _)| *at != entry.dir.rel) {
            open = Some((entry.dir.rel.clone(), root.open_dir_nofollow(&entry.dir.rel).ok()));
        }
        let stat = open
            .as_ref()
            .and_then(|(_, dir)| dir.as_ref())
            .and_then(|dir| rustix::fs::statat(dir, entry.name, AtFlags::SYMLINK_NOFOLLOW).ok());
        if let Some(stat) = stat {
            matched.push((mtime_ns(&stat), rel, size_of(&stat)));
        }
    });
    let total = matched.len();
    matched.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let files = matched
        .into_iter()
        .skip(offset)
        .take(limit)
        .map(|(time, rel, size_bytes)| Found {
            path: String::from_utf8_lossy(&rel).into_owned(),
            size_bytes,
            mtime: iso(time / 1_000_000),
        })
        .collect();
    Ok(FoundFiles { files, total, left_out: LeftOut::of(&tree), stopped: tree.stopped })
}

#[allow(clippy::unnecessary_cast, reason = "the widths differ between platforms")]
fn mtime_ns(stat: &Stat) -> i64 {
    (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64)
}

/// How many bytes of a relative path belong to the start directory.
pub(crate) fn prefix_len(start: &str) -> usize {
    if start == "." { 0 } else { start.len() + 1 }
}

pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// Compiles globs. A pattern without `/` matches names at every depth, as people expect of `*.rs`.
pub(crate) fn globs(key: &'static str, patterns: &[String]) -> Result<GlobSet> {
    let bad = |pattern: &str, error: &dyn std::fmt::Display| {
        FileError::invalid(
            key,
            format!("`{pattern}` is not a valid glob: {error}"),
            format!("`{pattern}` 不是有效的 glob：{error}"),
        )
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let trimmed = pattern.trim_start_matches("./");
        if trimmed.is_empty() || trimmed.contains('\0') || trimmed.len() > 4096 {
            return Err(bad(pattern, &"it is empty, too long or has a NUL character"));
        }
        let anchored = trimmed.contains('/');
        let full = match trimmed.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if anchored => trimmed.to_owned(),
            None => format!("**/{trimmed}"),
        };
        let glob = GlobBuilder::new(&full)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| bad(pattern, error.kind()))?;
        set.add(glob);
    }
    set.build().map_err(|error| bad("glob", error.kind()))
}

/// The facts of one path.
#[derive(Debug)]
pub struct Facts {
    /// The path relative to the root.
    pub rel: String,
    /// What is there; nothing when it is missing.
    pub there: Option<There>,
}

/// What is there.
#[derive(Debug)]
pub struct There {
    /// What it is.
    pub kind: Kind,
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed last.
    pub mtime: String,
    /// The permission bits as four octal digits.
    pub mode: String,
    /// Where a link points.
    pub target: Option<String>,
    /// Digest, lines and kind of content; for files that are not too large.
    pub scan: Option<std::sync::Arc<read::Scan>>,
}

/// Looks at one path; a link is looked at itself.
pub fn stat(root: &Root, cache: &ScanCache, path: &str, stop: &dyn Stop) -> Result<Facts> {
    let place = match root.resolve(path, Last::Itself) {
        Ok(place) => place,
        // `a/../b` with a missing `a`: nothing is there.
        Err(FileError::NotFound { path, .. }) => return Ok(Facts { rel: path, there: None }),
        Err(error) => return Err(error),
    };
    let Some(stat) = place.stat else { return Ok(Facts { rel: place.rel, there: None }) };
    let kind = Kind::of(&stat);
    let target = (kind == Kind::Symlink)
        .then(|| rustix::fs::readlinkat(&place.parent, place.name.as_slice(), Vec::new()).ok())
        .flatten()
        .map(|target| target.to_string_lossy().into_owned());
    let scan = if kind == Kind::File && size_of(&stat) <= STAT_HASH_BYTES {
        match read::scan(root, cache, path, stop) {
            Ok((scan, _)) => Some(scan),
            // Facts are known without reading what may not be read.
            Err(FileError::Denied { .. } | FileError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        }
    } else {
        None
    };
    let there = There {
        kind,
        size_bytes: size_of(&stat),
        mtime: iso(mtime_ms(&stat)),
        mode: format!("{:04o}", stat.st_mode & 0o7777),
        target,
        scan,
    };
    Ok(Facts { rel: place.rel, there: Some(there) })
}

#[cfg(test)]
mod tests;
