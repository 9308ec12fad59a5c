//! The private cache of a project, outside the state directory because that is closed to commands.
//!
//! Commands write in directories of it, never in the cache itself or its `config`, and this process follows no
//! link there: a command must not choose what is written for it.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use sha2::{Digest, Sha256};

use crate::sandbox::grants::leads_to;

const MAX_BYTES: u64 = 10 << 30;
/// Unused for this long, a cache is removed.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Where the caches of all projects are. Nothing where a link lies on the way: a command of relaxed mode could have made it.
pub(crate) fn base(variables: &std::collections::BTreeMap<String, String>, home: &Path) -> Option<PathBuf> {
    let named = variables.get("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = named.unwrap_or_else(|| home.join(".cache"));
    let caches = chatos_access::real(&caches);
    let base = caches.join("chatos/shell");
    let own = std::slice::from_ref(&caches);
    let free = |path: &Path| leads_to(path, own).is_ok() || std::fs::symlink_metadata(path).is_err();
    (free(&caches.join("chatos")) && free(&base)).then_some(base)
}

/// The cache of one project.
pub(crate) fn place(
    variables: &std::collections::BTreeMap<String, String>,
    home: &Path,
    root: &Path,
) -> Option<PathBuf> {
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let place = base(variables, home)?.join(name);
    let is_link = std::fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_symlink());
    (!is_link).then_some(place)
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that is made where it is missing, its parents too; no link is followed beneath `base`.
fn directory(base: &Path, path: &Path) -> io::Result<OwnedFd> {
    std::fs::create_dir_all(base)?;
    let mut handle =
        rustix::fs::open(base, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let rest = path.strip_prefix(base).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    for part in rest.components() {
        let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
        match rustix::fs::mkdirat(&handle, name, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        handle = rustix::fs::openat(&handle, name, DIRECTORY, Mode::empty())?;
    }
    Ok(handle)
}

/// The directory that holds the caches of the user.
fn above(place: &Path) -> io::Result<&Path> {
    place.ancestors().nth(3).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Makes a cache with its directories and notes that it is used.
pub(super) fn make(place: &Path, directories: &[PathBuf]) -> io::Result<()> {
    let above = above(place)?;
    let own = directory(above, place)?;
    directory(above, &place.join("config"))?;
    for path in directories {
        directory(above, path)?;
    }
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    rustix::fs::futimens(&own, &rustix::fs::Timestamps { last_access: now, last_modification: now })?;
    Ok(())
}

/// Puts a file there, whole, unless it is there already.
pub(super) fn put(place: &Path, path: &Path, text: &str) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let dir = directory(above(place)?, parent)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::openat(&dir, name, flags, Mode::empty()) {
        let file = std::fs::File::from(file);
        let mut there = Vec::new();
        if file.metadata()?.is_file()
            && file.take(text.len() as u64 + 1).read_to_end(&mut there).is_ok()
            && there == text.as_bytes()
        {
            return Ok(());
        }
    }
    let fresh = format!(".{}", uuid::Uuid::new_v4().simple());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&dir, &fresh, flags, Mode::RUSR | Mode::WUSR)?;
    let written = std::fs::File::from(file).write_all(text.as_bytes());
    let placed = written.and_then(|()| Ok(rustix::fs::renameat(&dir, &fresh, &dir, name)?));
    if placed.is_err() {
        rustix::fs::unlinkat(&dir, &fresh, AtFlags::empty()).ok();
    }
    placed
}

/// Notes that commands ran in this project; says whether that is new.
pub(crate) fn note_use(place: &Path) -> bool {
    let Ok(dir) = above(place).and_then(|above| directory(above, &place.join("config"))) else { return true };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&dir, "used", flags, Mode::RUSR | Mode::WUSR).is_ok()
}

/// Links to what the home has. With network there is a directory of the project's own instead, from then on:
/// what is downloaded has to go somewhere.
pub(super) fn link(place: &Path, path: &Path, to: &Path, network: bool) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let dir = directory(above(place)?, parent)?;
    let there = rustix::fs::readlinkat(&dir, name, Vec::new());
    match there {
        Ok(target) if !network && target.to_bytes() == to.as_os_str().as_encoded_bytes() => return Ok(()),
        Ok(_) => rustix::fs::unlinkat(&dir, name, AtFlags::empty())?,
        Err(rustix::io::Errno::NOENT) => {}
        // A directory of its own.
        Err(_) => return Ok(()),
    }
    if network {
        rustix::fs::mkdirat(&dir, name, Mode::RWXU)?;
    } else {
        rustix::fs::symlinkat(to, &dir, name)?;
    }
    Ok(())
}

/// What was removed of the private caches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many caches are gone.
    pub caches: usize,
    /// How much they held.
    pub bytes: u64,
    /// What is left of all.
    pub left: u64,
}

/// Removes caches that nobody used for long, then those used longest ago until the rest is small enough.
/// With `all`, every one.
pub(crate) fn prune(base: &Path, now: SystemTime, all: bool) -> io::Result<Pruned> {
    prune_to(base, now, if all { 0 } else { MAX_BYTES })
}

fn prune_to(base: &Path, now: SystemTime, most: u64) -> io::Result<Pruned> {
    let entries = match std::fs::read_dir(base) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pruned::default()),
        Err(error) => return Err(error),
    };
    let mut caches: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in entries {
        let entry = entry?;
        let meta = entry.metadata()?;
        let ours = entry.file_name().to_str().is_some_and(|name| name.len() == 16);
        if meta.is_dir() && ours {
            caches.push((meta.modified()?, entry.path(), size(&entry.path())));
        }
    }
    caches.sort();
    let mut pruned = Pruned { left: caches.iter().map(|(_, _, bytes)| bytes).sum(), ..Pruned::default() };
    for (used, path, bytes) in caches {
        let old = now.duration_since(used).is_ok_and(|age| age > MAX_AGE);
        if !old && most > 0 && pruned.left <= most {
            continue;
        }
        remove(&path)?;
        pruned.caches += 1;
        pruned.bytes += bytes;
        pruned.left -= bytes;
    }
    Ok(pruned)
}

/// Go makes its directories read-only; they are made writable first.
fn remove(path: &Path) -> io::Result<()> {
    if std::fs::remove_dir_all(path).is_ok() {
        return Ok(());
    }
    let mut open = vec![path.to_owned()];
    while let Some(dir) = open.pop() {
        rustix::fs::chmodat(CWD, &dir, Mode::RWXU, AtFlags::empty())?;
        let entries = std::fs::read_dir(&dir)?.flatten();
        let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        open.extend(inner.map(|entry| entry.path()));
    }
    std::fs::remove_dir_all(path)
}

fn size(path: &Path) -> u64 {
    let mut open = vec![path.to_owned()];
    let mut bytes = 0;
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) => bytes += meta.blocks() * 512,
                Err(_) => {}
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(dir: &tempfile::TempDir, name: &str) -> PathBuf {
        dir.path().canonicalize().unwrap().join("chatos/shell").join(name)
    }

    #[test]
    fn what_a_command_planted_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let place = cache(&dir, "0123456789abcdef");
        let own = [place.join("cargo")];
        make(&place, &own).unwrap();
        let outside = dir.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("file"), "mine").unwrap();
        std::os::unix::fs::symlink(outside.join("file"), place.join("cargo/config.toml")).unwrap();
        put(&place, &place.join("cargo/config.toml"), "ours").unwrap();
        assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(place.join("cargo/config.toml")).unwrap(), "ours");
        std::os::unix::fs::symlink(&outside, place.join("cargo/inner")).unwrap();
        assert!(put(&place, &place.join("cargo/inner/file"), "ours").is_err());
        assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "mine");
        assert_eq!(std::fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_becomes_a_directory_with_the_network_and_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = cache(&dir, "0123456789abcdef");
        make(&place, &[place.join("cargo")]).unwrap();
        let (at, to) = (place.join("cargo/registry"), dir.path().join("real"));
        link(&place, &at, &to, false).unwrap();
        link(&place, &at, &to, false).unwrap();
        assert_eq!(std::fs::read_link(&at).unwrap(), to);
        link(&place, &at, &to, true).unwrap();
        link(&place, &at, &to, false).unwrap();
        assert!(std::fs::symlink_metadata(&at).unwrap().is_dir());
    }

    #[test]
    fn the_longest_unused_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let base = cache(&dir, "").parent().unwrap().join("shell");
        let day = Duration::from_secs(24 * 60 * 60);
        let now = SystemTime::now();
        for (name, age) in [("aaaaaaaaaaaaaaaa", 1), ("bbbbbbbbbbbbbbbb", 3), ("cccccccccccccccc", 40)] {
            let place = cache(&dir, name);
            make(&place, &[place.join("npm")]).unwrap();
            std::fs::write(place.join("npm/x"), vec![1; 100_000]).unwrap();
            std::fs::File::open(&place).unwrap().set_modified(now - day * age).unwrap();
        }
        std::fs::create_dir(base.join("not-ours")).unwrap();
        let pruned = prune_to(&base, now, 150_000).unwrap();
        assert_eq!(pruned.caches, 2);
        assert!(base.join("aaaaaaaaaaaaaaaa").exists() && base.join("not-ours").exists());
        assert_eq!(prune(&base, now, true).unwrap().caches, 1);
        assert_eq!(prune(&base.join("missing"), now, false).unwrap(), Pruned::default());
    }
}
