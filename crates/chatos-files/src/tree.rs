//! Whole trees by handle: measuring, copying and removing without following a single link.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Access, AtFlags, Mode, OFlags, Stat};
use sha2::{Digest, Sha256};

use super::entry::{FileId, Kind, size_of};
use super::error::{DenyRule, FileError, Resource, Result};
use super::fs::{Fs, retry, write_all};
use super::resolve::{Place, open_nofollow};
use super::root::{ProtectedIds, Root, SymlinkPolicy};
use super::stop::Stop;
use super::walk::{join, read_dir};

/// servers §5: entries of one move or copy.
pub const MAX_ENTRIES: usize = 20_000;
/// servers §5: bytes of one move or copy.
pub const MAX_BYTES: u64 = 1 << 30;
/// Entries of one delete; beyond it the list of names alone would fill the memory.
const MAX_DELETE_ENTRIES: usize = 1_000_000;
/// Bytes copied at a time.
const COPY_CHUNK: usize = 256 * 1024;

/// Everything at and below a place, the place first, each directory before what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measure {
    /// Paths relative to the place, empty for the place itself, with kinds.
    pub entries: Vec<(Vec<u8>, Kind)>,
    /// Files, links and special files.
    pub files: usize,
    /// Bytes of regular files.
    pub bytes: u64,
    /// Digest of sizes, times and numbers of all of it: another one when a content was written.
    pub stamp: [u8; 32],
}

/// Looks at one entry for the stamp.
fn look(stamp: &mut Sha256, rel: &[u8], stat: &Stat) {
    stamp.update((rel.len() as u64).to_le_bytes());
    stamp.update(rel);
    // A directory's own times change with what is made and removed in it, which the entries say.
    if Kind::of(stat) != Kind::Directory {
        let facts = format!("{}|{}|{}|{}", stat.st_ino, size_of(stat), stat.st_mtime, stat.st_mtime_nsec);
        stamp.update(facts.as_bytes());
    }
}

/// What a tree is measured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It goes away, so its directories must be writable.
    Delete,
    /// It is moved or copied; bounded.
    Transfer,
}

/// Lists a tree and refuses what must not be touched.
pub fn measure(root: &Root, place: &Place, purpose: Purpose, stop: &dyn Stop) -> Result<Measure> {
    let protected = root.protected();
    let mut out = Measure::default();
    let mut stamp = Sha256::new();
    if let Some(stat) = &place.stat {
        look(&mut stamp, b"", stat);
    }
    if place.kind() == Some(Kind::File) {
        // A file by itself is bounded like a tree.
        out.bytes = place.stat.as_ref().map_or(0, size_of);
    }
    let mut pending: Vec<(Vec<u8>, Kind)> = vec![(Vec::new(), place.kind().unwrap_or(Kind::Other))];
    let top = (place.kind() == Some(Kind::Directory)).then(|| open_here(place)).transpose()?;
    let max = if purpose == Purpose::Transfer { MAX_ENTRIES } else { MAX_DELETE_ENTRIES };
    let shown = |rel: &[u8]| -> String {
        String::from_utf8_lossy(&join(place.rel.as_bytes(), rel)).trim_end_matches('/').to_owned()
    };
    let fail =
        |action: &'static str, rel: &[u8], errno: rustix::io::Errno| FileError::os(action, shown(rel), errno);
    while let Some((rel, kind)) = pending.pop() {
        stop.check()?;
        match kind {
            Kind::Directory => {
                let Some(top) = &top else { break };
                let dir = open_dir(top.as_fd(), &rel).map_err(|errno| fail("list", &rel, errno))?;
                let stat = rustix::fs::fstat(&dir).map_err(|errno| fail("stat", &rel, errno))?;
                if protected.contains(FileId::of(&stat)) {
                    return Err(FileError::denied(DenyRule::ProtectedPath, shown(&rel)));
                }
                let mut names = Vec::new();
                read_dir(&dir, |name, _| names.push(name.to_vec()))
                    .map_err(|errno| fail("list", &rel, errno))?;
                if purpose == Purpose::Delete && !names.is_empty() {
                    check_dir_writable(&dir, &shown(&rel))?;
                }
                names.sort_unstable_by(|a, b| b.cmp(a));
                for name in names {
                    let stat = rustix::fs::statat(&dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)
                        .map_err(|errno| fail("stat", &join(&rel, &name), errno))?;
                    let rel = join(&rel, &name);
                    if protected.holds(&stat) {
                        return Err(FileError::denied(DenyRule::ProtectedPath, shown(&rel)));
                    }
                    look(&mut stamp, &rel, &stat);
                    pending.push((rel, Kind::of(&stat)));
                    if Kind::of(&stat) == Kind::File {
                        out.bytes += size_of(&stat);
                    }
                }
            }
            _ => out.files += 1,
        }
        out.entries.push((rel, kind));
        if out.entries.len() + pending.len() > max {
            return Err(FileError::Exhausted {
                resource: Resource::Entries,
                limit: max as u64,
                actual: None,
                path: place.rel.clone(),
            });
        }
        if purpose == Purpose::Transfer && out.bytes > MAX_BYTES {
            return Err(FileError::Exhausted {
                resource: Resource::WriteBytes,
                limit: MAX_BYTES,
                actual: Some(out.bytes),
                path: place.rel.clone(),
            });
        }
    }
    out.stamp = stamp.finalize().into();
    Ok(out)
}

fn check_dir_writable(dir: &OwnedFd, shown: &str) -> Result<()> {
    match rustix::fs::accessat(dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS) => {
            Err(FileError::denied(DenyRule::FileMode, shown))
        }
        _ => Ok(()),
    }
}

/// servers §5: a link that would leave the root from its new place is refused.
pub fn check_links(root: &Root, place: &Place, measure: &Measure, to: &str) -> Result<()> {
    if root.policy() == SymlinkPolicy::Allow {
        return Ok(());
    }
    for (rel, _) in measure.entries.iter().filter(|(_, kind)| *kind == Kind::Symlink) {
        let target = read_link(place, rel).map_err(|errno| FileError::os("read the link", to, errno))?;
        let at = join(to.as_bytes(), rel);
        let mut depth = at.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).count() as i64 - 1;
        let mut leaves = target.starts_with(b"/");
        for part in target.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
            depth += if part == b".." { -1 } else { 1 };
            leaves |= depth < 0;
        }
        if leaves {
            let path = String::from_utf8_lossy(&join(place.rel.as_bytes(), rel)).into_owned();
            return Err(FileError::denied(DenyRule::SymlinkEscape, path.trim_end_matches('/')));
        }
    }
    Ok(())
}

fn read_link(place: &Place, rel: &[u8]) -> rustix::io::Result<Vec<u8>> {
    if rel.is_empty() {
        return Ok(rustix::fs::readlinkat(&place.parent, place.name.as_slice(), Vec::new())?.into_bytes());
    }
    let top = open_nofollow(place.parent.as_fd(), &place.name, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let (dir, name) = split(rel);
    let dir = open_dir(top.as_fd(), dir)?;
    Ok(rustix::fs::readlinkat(&dir, name, Vec::new())?.into_bytes())
}

fn open_here(place: &Place) -> Result<OwnedFd> {
    open_nofollow(place.parent.as_fd(), &place.name, OFlags::RDONLY | OFlags::DIRECTORY)
        .map_err(|errno| FileError::os("open", place.rel.clone(), errno))
}

fn open_dir(top: BorrowedFd<'_>, rel: &[u8]) -> rustix::io::Result<OwnedFd> {
    open_nofollow(top, rel, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// The directory part and the last name of a relative path.
pub(super) fn split(rel: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', rel) {
        Some(at) => (&rel[..at], &rel[at + 1..]),
        None => (b"", rel),
    }
}

/// Copies a measured tree to a new name in another directory, every file durable.
pub(super) fn copy(
    fs: &dyn Fs,
    protected: &ProtectedIds,
    place: &Place,
    measure: &Measure,
    to: BorrowedFd<'_>,
    name: &[u8],
    stop: &dyn Stop,
) -> Result<()> {
    let fail = |action: &'static str, errno| FileError::os(action, place.rel.clone(), errno);
    let source = (place.kind() == Some(Kind::Directory)).then(|| open_here(place)).transpose()?;
    let mut made: Option<OwnedFd> = None;
    let mut modes: Vec<(Vec<u8>, Mode)> = Vec::new();
    for (rel, kind) in &measure.entries {
        stop.check()?;
        let (dir, leaf) = split(rel);
        // The directory that gets the entry, and the one that holds the original.
        let (target_dir, target_name) = match (&made, rel.is_empty()) {
            (Some(made), false) => (Some(open_dir(made.as_fd(), dir).map_err(|e| fail("open", e))?), leaf),
            _ => (None, name),
        };
        let target_dir = target_dir.as_ref().map_or(to, AsFd::as_fd);
        let source_dir = match (&source, rel.is_empty()) {
            (Some(source), false) => Some(open_dir(source.as_fd(), dir).map_err(|e| fail("open", e))?),
            _ => None,
        };
        let source_dir = source_dir.as_ref().map_or(place.parent.as_fd(), AsFd::as_fd);
        let source_name = if rel.is_empty() { place.name.as_slice() } else { leaf };
        match kind {
            Kind::Directory => {
                let stat = rustix::fs::statat(source_dir, source_name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_err(|e| fail("stat", e))?;
                fs.mkdir(target_dir, target_name, Mode::from_raw_mode(0o700)).map_err(|e| fail("make", e))?;
                modes.push((rel.clone(), Mode::from_raw_mode(stat.st_mode & 0o7777)));
                if rel.is_empty() {
                    made = Some(open_dir(to, name).map_err(|e| fail("open", e))?);
                }
            }
            Kind::Symlink => {
                let link = rustix::fs::readlinkat(source_dir, source_name, Vec::new())
                    .map_err(|e| fail("read the link", e))?;
                fs.symlink(link.to_bytes(), target_dir, target_name).map_err(|e| fail("link", e))?;
            }
            Kind::File => {
                copy_file(fs, protected, (source_dir, source_name), (target_dir, target_name), &place.rel)?;
            }
            Kind::Other => {
                let path = String::from_utf8_lossy(&join(place.rel.as_bytes(), rel)).into_owned();
                return Err(FileError::Unsupported {
                    path: path.trim_end_matches('/').to_owned(),
                    what: "a device, socket or pipe",
                    size: None,
                });
            }
        }
    }
    // Innermost first: a directory without write permission can still be filled before.
    for (rel, mode) in modes.iter().rev() {
        let Some(made) = &made else { break };
        let dir = open_dir(made.as_fd(), rel).map_err(|e| fail("open", e))?;
        fs.chmod(dir.as_fd(), *mode).map_err(|e| fail("set the mode of", e))?;
        fs.fsync(dir.as_fd()).map_err(|e| fail("sync", e))?;
    }
    Ok(())
}

fn copy_file(
    fs: &dyn Fs,
    protected: &ProtectedIds,
    from: (BorrowedFd<'_>, &[u8]),
    to: (BorrowedFd<'_>, &[u8]),
    shown: &str,
) -> Result<()> {
    let fail = |action: &'static str, errno| FileError::os(action, shown, errno);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let source = rustix::fs::openat(from.0, from.1, flags, Mode::empty()).map_err(|e| fail("open", e))?;
    let stat = rustix::fs::fstat(&source).map_err(|e| fail("stat", e))?;
    if Kind::of(&stat) != Kind::File {
        return Err(FileError::changed(shown, None, None));
    }
    if protected.holds(&stat) {
        return Err(FileError::denied(DenyRule::ProtectedPath, shown));
    }
    let target = fs.create(to.0, to.1, Mode::from_raw_mode(0o600)).map_err(|e| fail("create", e))?;
    let mut buffer = vec![0; COPY_CHUNK];
    let mut left = size_of(&stat);
    loop {
        let read = retry(|| rustix::io::read(&source, &mut buffer[..])).map_err(|e| fail("read", e))?;
        if read == 0 || left == 0 {
            break;
        }
        let take = read.min(usize::try_from(left).unwrap_or(read));
        write_all(fs, target.as_fd(), &buffer[..take]).map_err(|e| fail("write", e))?;
        left -= take as u64;
    }
    super::commit::copy_attributes(fs, source.as_fd(), target.as_fd(), &stat)
        .map_err(|e| fail("set the mode of", e))?;
    fs.fsync(target.as_fd()).map_err(|e| fail("sync", e))
}

/// Removes a tree or a single entry; one that is gone is fine.
pub(super) fn remove(fs: &dyn Fs, dir: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<()> {
    use rustix::io::Errno;
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    if Kind::of(&stat) != Kind::Directory {
        return fs.unlink(dir, name);
    }
    let top = open_nofollow(dir, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut dirs: Vec<Vec<u8>> = vec![Vec::new()];
    let mut at = 0;
    while at < dirs.len() {
        let rel = dirs[at].clone();
        let here = open_dir(top.as_fd(), &rel)?;
        let mut names = Vec::new();
        read_dir(&here, |name, _| names.push(name.to_vec()))?;
        for name in names {
            let stat = rustix::fs::statat(&here, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
            if Kind::of(&stat) == Kind::Directory {
                dirs.push(join(&rel, &name));
            } else {
                fs.unlink(here.as_fd(), &name)?;
            }
        }
        at += 1;
    }
    for rel in dirs.iter().skip(1).rev() {
        let (above, name) = split(rel);
        fs.rmdir(open_dir(top.as_fd(), above)?.as_fd(), name)?;
    }
    fs.rmdir(dir, name)
}
