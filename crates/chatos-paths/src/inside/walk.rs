//! The same resolution without `openat2`: one component at a time, each opened without following
//! links and links resolved by hand, so that no string comparison decides anything.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// Links followed before a path counts as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// Opens `relative` beneath `root`. Leaving the directory is `XDEV`, a loop is `LOOP`, as with
/// `openat2(RESOLVE_BENEATH)`.
pub(super) fn open(root: BorrowedFd<'_>, relative: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let path_only = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Directories entered below `root`, the innermost last.
    let mut entered: Vec<OwnedFd> = Vec::new();
    let mut pending: VecDeque<Vec<u8>> = components(relative.as_bytes());
    let mut links = 0;
    while let Some(name) = pending.pop_front() {
        let here = entered.last().map_or(root, std::os::fd::AsFd::as_fd);
        match name.as_slice() {
            b"." => continue,
            b".." => {
                // Above the root there is nothing to pop.
                entered.pop().ok_or(Errno::XDEV)?;
                continue;
            }
            _ => {}
        }
        let found = rustix::fs::openat(here, name.as_slice(), path_only, Mode::empty())?;
        let stat = rustix::fs::fstat(&found)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP);
                }
                let target = rustix::fs::readlinkat(&found, "", Vec::new())?.into_bytes();
                if target.starts_with(b"/") {
                    return Err(Errno::XDEV);
                }
                for component in components(&target).into_iter().rev() {
                    pending.push_front(component);
                }
            }
            FileType::Directory => entered.push(found),
            _ if pending.is_empty() => {
                let opened =
                    rustix::fs::openat(here, name.as_slice(), flags | OFlags::NOFOLLOW, Mode::empty())?;
                let again = rustix::fs::fstat(&opened)?;
                // Somebody exchanged the name between the two opens; the caller tries again.
                let same = (again.st_dev, again.st_ino) == (stat.st_dev, stat.st_ino);
                return if same { Ok(opened) } else { Err(Errno::AGAIN) };
            }
            _ => return Err(Errno::NOTDIR),
        }
    }
    let here = entered.last().map_or(root, std::os::fd::AsFd::as_fd);
    rustix::fs::openat(here, ".", flags, Mode::empty())
}

/// The components of a path; a trailing slash asks for a directory, which `.` does too.
fn components(path: &[u8]) -> VecDeque<Vec<u8>> {
    let mut parts: VecDeque<Vec<u8>> =
        path.split(|b| *b == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect();
    if path.ends_with(b"/") {
        parts.push_back(b".".to_vec());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::ResolveFlags;
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    /// Both ways agree on every path of a tree full of links.
    #[test]
    fn agrees_with_the_kernel() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(dir.path().join("secret"), "s").unwrap();
        std::fs::write(root.join("f"), "f").unwrap();
        std::fs::write(root.join("a/b/g"), "g").unwrap();
        symlink("a/b", root.join("in")).unwrap();
        symlink("../f", root.join("a/up")).unwrap();
        symlink("../../secret", root.join("a/out")).unwrap();
        symlink("..", root.join("parent")).unwrap();
        symlink("/etc/hostname", root.join("abs")).unwrap();
        symlink("loop2", root.join("loop1")).unwrap();
        symlink("loop1", root.join("loop2")).unwrap();
        symlink("gone", root.join("dangling")).unwrap();
        symlink("in/", root.join("in2")).unwrap();
        let fd = rustix::fs::open(&root, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        for path in [
            "f",
            "a/b/g",
            "in/g",
            "in2/g",
            "a/up",
            "a/../f",
            "./f",
            "a//b///g",
            "in/../b/g",
            "in/../../f",
            "in/../up",
            "f/",
            "f/x",
            "a/b/",
            "a",
            "..",
            "../secret",
            "a/../../secret",
            "a/out",
            "parent",
            "parent/secret",
            "abs",
            "loop1",
            "dangling",
            "nothing",
            "a/nothing/x",
            "in/../../../secret",
            "a/b/../../../secret",
        ] {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            let kernel = rustix::fs::openat2(&fd, path, flags, Mode::empty(), resolve);
            let walked = open(fd.as_fd(), path, flags);
            match (kernel, walked) {
                (Ok(kernel), Ok(walked)) => {
                    let (k, w) = (rustix::fs::fstat(kernel).unwrap(), rustix::fs::fstat(walked).unwrap());
                    assert_eq!((k.st_dev, k.st_ino), (w.st_dev, w.st_ino), "{path}");
                }
                (kernel, walked) => assert_eq!(kernel.err(), walked.err(), "{path}"),
            }
        }
    }
}
