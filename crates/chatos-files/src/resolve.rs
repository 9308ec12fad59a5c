//! Resolution of a caller's path beneath the root: one component at a time, each opened without
//! following links, links resolved by hand, so that no comparison of strings decides anything and
//! nothing is checked first and opened later (servers §2.1, security T9).

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::entry::{FileId, Kind};
use super::error::{DenyRule, FileError, Result};
use super::root::{ProtectedIds, Root, SymlinkPolicy};

/// Links followed before a path counts as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;
/// servers §1: the longest path.
const MAX_PATH: usize = 4096;
/// The longest name of one component on every file system we meet.
const MAX_NAME: usize = 255;

/// What to do with a link in the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// The link's target is meant.
    Follow,
    /// The link itself is meant (delete, move, stat).
    Itself,
}

/// A place in a directory: there or not yet there.
#[derive(Debug)]
pub struct Place {
    /// The directory that holds it, or the deepest existing one above it.
    pub(crate) parent: OwnedFd,
    pub(crate) parent_id: FileId,
    /// Its name in that directory, or the first missing name; `.` for the root itself.
    pub(crate) name: Vec<u8>,
    /// Names to be made below `parent` before `name` is the leaf: the missing directories and then the
    /// leaf itself; empty when the parent directory exists.
    pub(crate) missing: Vec<Vec<u8>>,
    /// The path relative to the root with every link resolved; `.` for the root.
    pub(crate) rel: String,
    /// What is there.
    pub(crate) stat: Option<Stat>,
    /// A link led out of the root (policy `allow` only).
    pub(crate) outside: bool,
}

impl Place {
    /// The kind of what is there.
    pub fn kind(&self) -> Option<Kind> {
        self.stat.as_ref().map(Kind::of)
    }

    /// The path relative to the root.
    pub fn rel(&self) -> &str {
        &self.rel
    }

    /// Whether this is the root itself.
    pub fn is_root(&self) -> bool {
        self.rel == "."
    }

    /// The identity of what is there.
    pub fn id(&self) -> Option<FileId> {
        self.stat.as_ref().map(FileId::of)
    }

    /// The holding directory, readable.
    pub(crate) fn reopen_parent(&self) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.parent, ".", flags, Mode::empty())
    }

    /// The relative path of another name in the deepest existing directory.
    pub(crate) fn sibling(&self, name: &str) -> String {
        let depth = self.missing.len().max(1);
        let mut parts: Vec<&str> = self.rel.split('/').collect();
        parts.truncate(parts.len().saturating_sub(depth));
        parts.push(name);
        parts.join("/")
    }
}

/// One name still to be resolved.
struct Pending {
    name: Vec<u8>,
    /// It came out of a link, so leaving the root by it is the link's doing.
    from_link: bool,
}

struct Walker<'a> {
    root: &'a Root,
    protected: ProtectedIds,
    /// Where `..` ends; the root, or `/` after a link led out under the policy `allow`.
    base: OwnedFd,
    base_id: FileId,
    /// Directories entered below the base, the innermost last.
    entered: Vec<(OwnedFd, FileId, Vec<u8>)>,
    pending: VecDeque<Pending>,
    outside: bool,
    given: &'a str,
}

/// Resolves what a caller gave.
pub(super) fn resolve(root: &Root, given: &str, last: Last) -> Result<Place> {
    check_text(given)?;
    let start = if given.starts_with('/') { below_root(root, given)? } else { given.to_owned() };
    let path_only = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let base = rustix::fs::openat(root.handle(), ".", path_only, Mode::empty())
        .map_err(|errno| FileError::os("open", given, errno))?;
    let walker = Walker {
        root,
        protected: root.protected(),
        base,
        base_id: root.id(),
        entered: Vec::new(),
        pending: components(start.as_bytes(), false),
        outside: false,
        given,
    };
    if walker.protected.contains(root.id()) {
        return Err(FileError::denied(DenyRule::ProtectedPath, given));
    }
    walker.run(last)
}

fn check_text(given: &str) -> Result<()> {
    if given.is_empty() {
        return Err(FileError::invalid("/path", "the path is empty", "路径为空"));
    }
    if given.len() > MAX_PATH {
        return Err(FileError::invalid(
            "/path",
            format!("the path has {} bytes; at most {MAX_PATH} are allowed", given.len()),
            format!("路径有 {} 字节；最多 {MAX_PATH}", given.len()),
        ));
    }
    if given.contains('\0') {
        return Err(FileError::invalid("/path", "the path contains a NUL character", "路径包含 NUL 字符"));
    }
    Ok(())
}

/// Turns an absolute path into one relative to the root by walking it from `/` until the root's own
/// directory is met, whatever the spelling. What follows is resolved beneath the root.
fn below_root(root: &Root, given: &str) -> Result<String> {
    // The person's own spelling of the root needs no look at the directories above it.
    if let Ok(rest) = std::path::Path::new(given).strip_prefix(root.path()) {
        let rest = rest.to_string_lossy().into_owned();
        return Ok(if rest.is_empty() { ".".to_owned() } else { rest });
    }
    let mut at = std::path::PathBuf::from("/");
    let parts: Vec<&str> = given.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    for (index, part) in parts.iter().enumerate() {
        at.push(part);
        match rustix::fs::stat(&at) {
            Ok(stat) if FileId::of(&stat) == root.id() => {
                let rest = parts[index + 1..].join("/");
                return Ok(if rest.is_empty() { ".".to_owned() } else { rest });
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    let inner = given.trim_start_matches('/');
    let instead = (!inner.is_empty())
        .then(|| resolve(root, inner, Last::Itself).ok().filter(|place| place.stat.is_some()))
        .flatten()
        .map(|place| place.rel);
    Err(FileError::Denied { rule: DenyRule::OutsideRoot, path: given.to_owned(), instead })
}

impl Walker<'_> {
    fn run(mut self, last: Last) -> Result<Place> {
        let path_only = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut links = 0;
        while let Some(Pending { name, from_link }) = self.pending.pop_front() {
            match name.as_slice() {
                b"." => continue,
                b".." => {
                    self.up(from_link)?;
                    continue;
                }
                _ if name.len() > MAX_NAME => {
                    return Err(FileError::invalid(
                        "/path",
                        format!(
                            "a name in the path has {} bytes; at most {MAX_NAME} are allowed",
                            name.len()
                        ),
                        format!("路径中的一个名称有 {} 字节；最多 {MAX_NAME}", name.len()),
                    ));
                }
                _ => {}
            }
            let (here, here_id) = self.here();
            if self.protected.plans(here_id, &name) {
                return Err(FileError::denied(DenyRule::ProtectedPath, self.given));
            }
            let found = match rustix::fs::openat(here, name.as_slice(), path_only, Mode::empty()) {
                Ok(found) => found,
                Err(Errno::NOENT) => return self.missing(name),
                Err(errno) => return Err(FileError::os("open", self.given, errno)),
            };
            let stat = rustix::fs::fstat(&found).map_err(|errno| FileError::os("stat", self.given, errno))?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink if last == Last::Itself && self.pending.is_empty() => {
                    return Ok(self.leaf(name, stat));
                }
                FileType::Symlink => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(FileError::denied(DenyRule::SymlinkEscape, self.given));
                    }
                    self.follow(&found)?;
                }
                FileType::Directory => {
                    let id = FileId::of(&stat);
                    if self.protected.contains(id) {
                        return Err(FileError::denied(DenyRule::ProtectedPath, self.given));
                    }
                    self.check_file_system(&found, id)?;
                    self.entered.push((found, id, name));
                }
                _ if self.pending.is_empty() => {
                    self.check_file_system(&found, FileId::of(&stat))?;
                    if self.protected.holds(&stat) {
                        return Err(FileError::denied(DenyRule::ProtectedPath, self.given));
                    }
                    return Ok(self.leaf(name, stat));
                }
                _ => return Err(FileError::os("enter", self.given, Errno::NOTDIR)),
            }
        }
        self.directory()
    }

    /// The directory in which the next name is looked up.
    fn here(&self) -> (BorrowedFd<'_>, FileId) {
        match self.entered.last() {
            Some((handle, id, _)) => (handle.as_fd(), *id),
            None => (self.base.as_fd(), self.base_id),
        }
    }

    fn up(&mut self, from_link: bool) -> Result<()> {
        if self.entered.pop().is_some() {
            return Ok(());
        }
        if !from_link && !self.outside {
            return Err(FileError::denied(DenyRule::OutsideRoot, self.given));
        }
        if self.root.policy() == SymlinkPolicy::Deny {
            return Err(FileError::denied(DenyRule::SymlinkEscape, self.given));
        }
        self.rebase("..")
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<()> {
        let target = rustix::fs::readlinkat(link, "", Vec::new())
            .map_err(|errno| FileError::os("read the link", self.given, errno))?
            .into_bytes();
        if target.starts_with(b"/") {
            if self.root.policy() == SymlinkPolicy::Deny {
                return Err(FileError::denied(DenyRule::SymlinkEscape, self.given));
            }
            self.entered.clear();
            self.rebase("/")?;
        }
        for part in components(&target, true).into_iter().rev() {
            self.pending.push_front(part);
        }
        Ok(())
    }

    /// Policy `allow`: goes on outside the root.
    fn rebase(&mut self, to: &str) -> Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let base = rustix::fs::openat(&self.base, to, flags, Mode::empty())
            .map_err(|errno| FileError::os("open", self.given, errno))?;
        let stat = rustix::fs::fstat(&base).map_err(|errno| FileError::os("stat", self.given, errno))?;
        self.base_id = FileId::of(&stat);
        if self.protected.contains(self.base_id) {
            return Err(FileError::denied(DenyRule::ProtectedPath, self.given));
        }
        self.base = base;
        self.outside = true;
        Ok(())
    }

    /// A mounted kernel file system inside the root is no workspace: its "files" are windows into
    /// processes (security §4 F1).
    fn check_file_system(&self, handle: &OwnedFd, id: FileId) -> Result<()> {
        if id.dev() == self.root.id().dev() || !kernel_file_system(handle) {
            return Ok(());
        }
        Err(FileError::Unsupported { path: self.given.to_owned(), what: "a kernel file system", size: None })
    }

    fn missing(self, name: Vec<u8>) -> Result<Place> {
        let mut names = vec![name];
        for part in &self.pending {
            match part.name.as_slice() {
                b"." => {}
                b".." => {
                    return Err(FileError::NotFound { path: self.given.to_owned(), nearest: Vec::new() });
                }
                _ if part.name.len() > MAX_NAME => {
                    return Err(FileError::os("make", self.given, Errno::NAMETOOLONG));
                }
                other => names.push(other.to_vec()),
            }
        }
        let rel = self.rel_of(&names);
        let (parent, parent_id) = self.into_here();
        let name = names[0].clone();
        let missing = if names.len() > 1 { names } else { Vec::new() };
        Ok(Place { parent, parent_id, name, missing, rel: rel.0, stat: None, outside: rel.1 })
    }

    fn leaf(self, name: Vec<u8>, stat: Stat) -> Place {
        let (rel, outside) = self.rel_of(std::slice::from_ref(&name));
        let (parent, parent_id) = self.into_here();
        Place { parent, parent_id, name, missing: Vec::new(), rel, stat: Some(stat), outside }
    }

    fn directory(mut self) -> Result<Place> {
        let (rel, outside) = self.rel_of(&[]);
        match self.entered.pop() {
            Some((handle, _, name)) => {
                let stat = rustix::fs::fstat(&handle).map_err(|e| FileError::os("stat", self.given, e))?;
                let (parent, parent_id) = self.into_here();
                Ok(Place { parent, parent_id, name, missing: Vec::new(), rel, stat: Some(stat), outside })
            }
            None => {
                let stat = rustix::fs::fstat(&self.base).map_err(|e| FileError::os("stat", self.given, e))?;
                let (parent, parent_id) = (self.base, self.base_id);
                let name = b".".to_vec();
                Ok(Place { parent, parent_id, name, missing: Vec::new(), rel, stat: Some(stat), outside })
            }
        }
    }

    /// The resolved relative path; outside the root the caller's own spelling has to do.
    fn rel_of(&self, below: &[Vec<u8>]) -> (String, bool) {
        if self.outside {
            let parts: Vec<&str> = self.given.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
            return (parts.join("/"), true);
        }
        let names = self.entered.iter().map(|(_, _, name)| name.as_slice());
        let all: Vec<String> = names
            .chain(below.iter().map(Vec::as_slice))
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        (if all.is_empty() { ".".to_owned() } else { all.join("/") }, false)
    }

    fn into_here(mut self) -> (OwnedFd, FileId) {
        match self.entered.pop() {
            Some((handle, id, _)) => (handle, id),
            None => (self.base, self.base_id),
        }
    }
}

/// The components of a path; a trailing slash asks for a directory, which `.` does too.
fn components(path: &[u8], from_link: bool) -> VecDeque<Pending> {
    let mut parts: VecDeque<Pending> = path
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
        .map(|part| Pending { name: part.to_vec(), from_link })
        .collect();
    if path.ends_with(b"/") {
        parts.push_back(Pending { name: b".".to_vec(), from_link });
    }
    parts
}

/// proc, sysfs and the other windows into the kernel, by the magic numbers of `statfs`.
pub(crate) fn kernel_file_system(handle: impl AsFd) -> bool {
    const MAGIC: [u64; 9] = [
        0x9fa0,      // proc
        0x6265_6572, // sysfs
        0x6462_6720, // debugfs
        0x7472_6163, // tracefs
        0x7363_6673, // securityfs
        0x6367_7270, // cgroup2
        0x0027_e0eb, // cgroup
        0xcafe_4a11, // bpf
        0x1cd1,      // devpts
    ];
    #[allow(clippy::unnecessary_cast, reason = "the width differs between platforms")]
    rustix::fs::fstatfs(handle).is_ok_and(|stat| MAGIC.contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

/// Opens a relative path beneath a handle with no link on the way at all: by one call where the kernel
/// has it, else component by component.
pub(super) fn open_nofollow(root: BorrowedFd<'_>, rel: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let rel = if rel.is_empty() { b".".as_slice() } else { rel };
    for _ in 0..16 {
        match rustix::fs::openat2(root, rel, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Kernels before 5.6 and some container filters do not have the call.
            Err(Errno::NOSYS | Errno::PERM) => return walk_nofollow(root, rel, flags),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

pub(super) fn walk_nofollow(root: BorrowedFd<'_>, rel: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let parts: Vec<&[u8]> = rel.split(|b| *b == b'/').filter(|p| !p.is_empty() && *p != b".").collect();
    let mut at: Option<OwnedFd> = None;
    let Some((leaf, above)) = parts.split_last() else {
        return rustix::fs::openat(root, ".", flags, Mode::empty());
    };
    for part in above {
        if *part == b".." {
            return Err(Errno::XDEV);
        }
        let here = at.as_ref().map_or(root, AsFd::as_fd);
        at = Some(rustix::fs::openat(here, *part, step, Mode::empty())?);
    }
    if *leaf == b".." {
        return Err(Errno::XDEV);
    }
    rustix::fs::openat(at.as_ref().map_or(root, AsFd::as_fd), *leaf, flags, Mode::empty())
}

#[cfg(test)]
mod tests;
