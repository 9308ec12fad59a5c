//! Ignore files: `.ignore`, `.gitignore`, `.git/info/exclude` at every level, and `.git` always
//! (servers §2.8). They are read through handles beneath the root; nothing above the root is looked at.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, OFlags};

use super::join;
use crate::resolve::open_nofollow;
use crate::root::Root;

/// The most of an ignore file that is read; a larger one is not a list of patterns.
const MAX_BYTES: usize = 1 << 20;

/// The rules that hold in a directory, innermost first.
#[derive(Debug, Clone)]
pub(super) struct Rules(Option<Arc<Level>>);

#[derive(Debug)]
struct Level {
    above: Option<Arc<Level>>,
    plain: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// A repository begins here; git rules of directories above do not reach into it.
    repository: bool,
}

impl Rules {
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// The rules of the directories from the root down to just above `start`.
    pub(super) fn above(root: &Root, start: &[u8]) -> Self {
        let mut rules = Self::none();
        if start.is_empty() {
            return rules;
        }
        let parts: Vec<&[u8]> = start.split(|byte| *byte == b'/').collect();
        let mut rel: Vec<u8> = Vec::new();
        for part in parts {
            if let Ok(handle) = root.open_dir_nofollow(&rel) {
                rules = rules.enter(&handle, &rel);
            }
            rel = join(&rel, part);
        }
        rules
    }

    /// Adds the rules that a directory holds.
    pub(super) fn enter(&self, handle: &OwnedFd, rel: &[u8]) -> Self {
        let git_dir = rustix::fs::statat(handle, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let plain = load(handle, b".ignore", rel);
        let git = load(handle, b".gitignore", rel);
        let exclude = if git_dir { load(handle, b".git/info/exclude", rel) } else { Gitignore::empty() };
        if plain.is_empty() && git.is_empty() && exclude.is_empty() && !git_dir {
            return self.clone();
        }
        Self(Some(Arc::new(Level { above: self.0.clone(), plain, git, exclude, repository: git_dir })))
    }

    /// Whether an entry is left out.
    pub(super) fn ignores(&self, dir: &[u8], name: &[u8], is_dir: bool) -> bool {
        if name == b".git" {
            return true;
        }
        let Some(first) = &self.0 else { return false };
        let path = virtual_path(&join(dir, name));
        let path = Path::new(std::ffi::OsStr::from_bytes(&path));
        let levels = || std::iter::successors(Some(first), |level| level.above.as_ref());
        for level in levels() {
            match level.plain.matched(path, is_dir) {
                Match::None => {}
                decided => return decided.is_ignore(),
            }
        }
        git_verdict(levels(), path, is_dir, |level| &level.git)
            .or_else(|| git_verdict(levels(), path, is_dir, |level| &level.exclude))
            .unwrap_or(false)
    }
}

/// What the git rules of one kind say, innermost first, not across the border of a repository.
fn git_verdict<'a>(
    levels: impl Iterator<Item = &'a Arc<Level>>,
    path: &Path,
    is_dir: bool,
    pick: impl Fn(&Level) -> &Gitignore,
) -> Option<bool> {
    for level in levels {
        match pick(level).matched(path, is_dir) {
            Match::None if level.repository => return None,
            Match::None => {}
            decided => return Some(decided.is_ignore()),
        }
    }
    None
}

/// Matchers strip their own directory from the paths they see; the root is `/` to them.
fn virtual_path(rel: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(rel.len() + 1);
    path.push(b'/');
    path.extend_from_slice(rel);
    path
}

fn load(handle: &OwnedFd, name: &[u8], rel: &[u8]) -> Gitignore {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let Ok(fd) = open_nofollow(handle.as_fd(), name, flags) else { return Gitignore::empty() };
    let mut bytes = vec![0; 8 * 1024];
    let mut filled = 0;
    loop {
        match rustix::io::read(&fd, &mut bytes[filled..]) {
            Ok(0) | Err(_) => break,
            Ok(read) => filled += read,
        }
        if filled == bytes.len() {
            if filled >= MAX_BYTES {
                break;
            }
            bytes.resize(filled * 2, 0);
        }
    }
    let root = virtual_path(rel);
    let mut builder = GitignoreBuilder::new(Path::new(std::ffi::OsStr::from_bytes(&root)));
    let text = String::from_utf8_lossy(&bytes[..filled]);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A pattern that cannot be read ignores nothing, as in git.
        drop(builder.add_line(None, line));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
