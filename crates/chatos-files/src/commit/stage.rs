//! Staging: the new file beside its target, with the old one's mode, owner and attributes, durable.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Gid, Mode, Stat, Uid, XattrFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::entry::size_of;
use crate::error::{FileError, Result};
use crate::fs::{Fs, write_all};
use crate::resolve::Place;
use crate::root::Opened;

/// Bytes written or hashed at a time.
const CHUNK: usize = 1 << 20;

pub(super) fn put(
    fs: &dyn Fs,
    target: &Place,
    staged: &[u8],
    content: &[u8],
    mode: Option<u32>,
    like: Option<&Opened>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let fail = |action: &'static str, errno: Errno| FileError::os(action, target.rel.clone(), errno);
    let old = match (like, &target.stat) {
        (Some(_), _) | (None, None) => None,
        (None, Some(_)) => Some(target.open_here().map_err(|errno| fail("open", errno))?),
    };
    let source = match (&old, like) {
        (Some((file, stat)), _) => Some((file.as_fd(), stat)),
        (None, Some(opened)) => Some((opened.file.as_fd(), &opened.stat)),
        (None, None) => None,
    };
    // A new file has what the umask leaves; one that takes over attributes is closed until it has them.
    let first = if source.is_some() { 0o600 } else { 0o666 };
    let file = fs
        .create(target.parent.as_fd(), staged, Mode::from_raw_mode(first))
        .map_err(|errno| fail("create", errno))?;
    for chunk in content.chunks(CHUNK) {
        write_all(fs, file.as_fd(), chunk).map_err(|errno| fail("write", errno))?;
    }
    if let Some((from, stat)) = source {
        let kept =
            copy_attributes(fs, from, file.as_fd(), stat).map_err(|errno| fail("set the mode of", errno))?;
        if !kept.owner {
            warnings.push(format!("owner_changed: `{}` now belongs to this user", target.rel));
        }
        if kept.lost_attributes > 0 {
            warnings.push(format!("attributes_lost: {} of `{}`", kept.lost_attributes, target.rel));
        }
    }
    if let Some(mode) = mode {
        fs.chmod(file.as_fd(), Mode::from_raw_mode(mode)).map_err(|errno| fail("set the mode of", errno))?;
    }
    fs.fsync(file.as_fd()).map_err(|errno| fail("sync", errno))
}

/// What of a file's attributes went over to the new one.
pub(crate) struct Kept {
    pub(crate) owner: bool,
    pub(crate) lost_attributes: usize,
}

/// Copies owner, extended attributes and mode where permitted.
pub(crate) fn copy_attributes(
    fs: &dyn Fs,
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    stat: &Stat,
) -> rustix::io::Result<Kept> {
    let new = rustix::fs::fstat(to)?;
    let mut kept_owner = true;
    if (new.st_uid, new.st_gid) != (stat.st_uid, stat.st_gid) {
        let (uid, gid) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        if rustix::fs::fchown(to, Some(uid), Some(gid)).is_err() {
            kept_owner = new.st_uid == stat.st_uid;
            // The group alone may be allowed where the owner is not.
            if rustix::fs::fchown(to, None, Some(gid)).is_err() {
                kept_owner = false;
            }
        }
    }
    let lost_attributes = copy_xattrs(from, to);
    // After the owner: changing that clears the set-id bits, which a file of another owner must not get.
    let bits = if kept_owner { stat.st_mode & 0o7777 } else { stat.st_mode & 0o777 };
    fs.chmod(to, Mode::from_raw_mode(bits))?;
    Ok(Kept { owner: kept_owner, lost_attributes })
}

/// Attributes that this user may not set are left out and counted.
fn copy_xattrs(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> usize {
    let mut lost = 0;
    let mut names = vec![0_u8; 4096];
    let length = match rustix::fs::flistxattr(from, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::RANGE) => {
            names.resize(65_536, 0);
            rustix::fs::flistxattr(from, &mut names[..]).unwrap_or(0)
        }
        Err(_) => 0,
    };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; 65_536];
        let Ok(length) = rustix::fs::fgetxattr(from, name, &mut value[..]) else { continue };
        lost += usize::from(rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty()).is_err());
    }
    lost
}

/// Whether an open file has exactly these bytes.
pub(super) fn holds(opened: &Opened, bytes: &[u8]) -> Result<bool> {
    let mut rest = bytes;
    let whole = each_chunk(opened, |chunk| match rest.split_at_checked(chunk.len()) {
        Some((wanted, after)) if wanted == chunk => {
            rest = after;
            true
        }
        _ => false,
    })?;
    Ok(whole && rest.is_empty())
}

/// The digest of an open file, streamed.
pub(super) fn digest_of(opened: &Opened) -> Result<Digest> {
    let mut hasher = Sha256::new();
    each_chunk(opened, |chunk| {
        hasher.update(chunk);
        true
    })?;
    Ok(Digest::finish(hasher))
}

/// Reads an open file from its start, until its end or until `more` wants no more; whether the end was
/// reached.
fn each_chunk(opened: &Opened, mut more: impl FnMut(&[u8]) -> bool) -> Result<bool> {
    use std::os::unix::fs::FileExt;
    let size = usize::try_from(size_of(&opened.stat)).unwrap_or(usize::MAX);
    let mut buffer = vec![0; size.saturating_add(1).min(256 * 1024)];
    let mut offset = 0;
    loop {
        match opened.file.read_at(&mut buffer, offset) {
            Ok(0) => return Ok(true),
            Ok(read) => {
                if !more(&buffer[..read]) {
                    return Ok(false);
                }
                offset += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::os("read", opened.rel.clone(), error)),
        }
    }
}
