//! Files of a project that run later without a word: hooks, files of editors and agents that name programs, what shells
//! read on entering a folder. A command that changes one could act outside its sandbox afterwards, so they are looked at
//! before and after it (working-day §1.8).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use chatos_files::Root;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

const FILES: [&str; 14] = [
    ".envrc",
    ".mcp.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".lefthook.yml",
    "lefthook.yml",
];
/// Directories in which every file counts.
const DIRECTORIES: [&str; 6] = [
    ".git/hooks",
    ".husky",
    ".idea/runConfigurations",
    ".claude/hooks",
    ".claude/commands",
    ".claude/agents",
];
/// Only some of what stands in it starts programs.
const GIT_CONFIG: &str = ".git/config";
/// Larger files are compared by their beginning, and not put back.
const MAX_BYTES: u64 = 1 << 20;
/// Files of one directory.
const MAX_FILES: usize = 256;

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Was {
    File { mode: Mode, bytes: Vec<u8>, whole: bool },
    Link(Vec<u8>),
    Other,
}

/// All of them at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Later(BTreeMap<String, Was>);

/// A file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Relative to the root.
    pub path: String,
    /// `created`, `modified` or `deleted`.
    pub change: &'static str,
}

impl Later {
    /// Looks at a project. Links are not followed.
    pub fn look(root: &Root) -> Self {
        let mut all = BTreeMap::new();
        for path in FILES {
            if let Some(was) = look(root, path) {
                all.insert(path.to_owned(), was);
            }
        }
        if let Some(was) = look(root, GIT_CONFIG) {
            all.insert(GIT_CONFIG.to_owned(), was);
        }
        for directory in DIRECTORIES {
            match names(root, directory) {
                Some(names) => {
                    for name in names {
                        let path = format!("{directory}/{name}");
                        if let Some(was) = look(root, &path) {
                            all.insert(path, was);
                        }
                    }
                }
                // A link in the place of a directory leads somewhere, too.
                None => drop(look(root, directory).map(|was| all.insert(directory.to_owned(), was))),
            }
        }
        Self(all)
    }

    /// What is different now; of Git's configuration only what starts programs.
    pub fn changed(&self, now: &Self) -> Vec<Changed> {
        let paths: BTreeSet<&String> = self.0.keys().chain(now.0.keys()).collect();
        let mut changed = Vec::new();
        for path in paths {
            let (before, after) = (self.0.get(path), now.0.get(path));
            let same = if path == GIT_CONFIG { starts(before) == starts(after) } else { before == after };
            if same {
                continue;
            }
            let change = match (before, after) {
                (None, _) => "created",
                (_, None) => "deleted",
                _ => "modified",
            };
            // What is gone runs no more; only Git's defaults take its place.
            if change != "deleted" {
                changed.push(Changed { path: path.clone(), change });
            }
        }
        changed
    }

    /// Makes a file what it was, without following links. Says whether it is now.
    pub fn put_back(&self, root: &Root, path: &str) -> bool {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(directory) = directory(root, parent) else { return false };
        let was = self.0.get(path);
        if matches!(was, Some(Was::Other | Was::File { whole: false, .. })) {
            return false;
        }
        if remove(&directory, name).is_err() {
            return false;
        }
        match was {
            None => true,
            Some(Was::Link(target)) => rustix::fs::symlinkat(target.as_slice(), &directory, name).is_ok(),
            Some(Was::File { mode, bytes, .. }) => write(&directory, name, *mode, bytes).is_ok(),
            Some(Was::Other) => false,
        }
    }
}

/// The lines of Git's configuration that start programs, or lead to others that may.
fn starts(was: Option<&Was>) -> Vec<String> {
    let Some(Was::File { bytes, .. }) = was else {
        return was.map(|was| vec![format!("{was:?}")]).unwrap_or_default();
    };
    let text = String::from_utf8_lossy(bytes);
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in text.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (name, behind) = rest.split_once(']').unwrap_or((rest, ""));
            section = name.split([' ', '\t', '"', '.']).next().unwrap_or_default().to_ascii_lowercase();
            line = behind.trim();
        }
        let key = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        if key.is_empty() || key.starts_with(['#', ';']) {
            continue;
        }
        let counts = match section.as_str() {
            "core" => {
                ["fsmonitor", "hookspath", "sshcommand", "pager", "editor", "askpass", "gitproxy", "worktree"]
                    .contains(&key.as_str())
            }
            "alias" | "filter" | "diff" | "gpg" | "include" | "includeif" | "credential" | "pager"
            | "difftool" | "mergetool" | "browser" | "man" | "sequence" | "interactive" | "uploadpack"
            | "url" => true,
            "merge" => key == "driver",
            "remote" => ["uploadpack", "receivepack", "vcs", "proxy"].contains(&key.as_str()),
            "submodule" => key == "update",
            _ => false,
        };
        if counts {
            found.push(format!("{section} {line}"));
        }
    }
    found
}

fn directory(root: &Root, path: &str) -> Option<OwnedFd> {
    if path.is_empty() {
        return rustix::io::fcntl_dupfd_cloexec(root.handle(), 0).ok();
    }
    root.open_dir_nofollow(path.as_bytes()).ok()
}

fn names(root: &Root, path: &str) -> Option<Vec<String>> {
    let directory = directory(root, path)?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&directory).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // What Git brings along as examples never runs.
        if name != "." && name != ".." && !name.ends_with(".sample") && names.len() < MAX_FILES {
            names.push(name);
        }
    }
    Some(names)
}

fn look(root: &Root, path: &str) -> Option<Was> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let directory = directory(root, parent)?;
    let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&directory, name, Vec::new()).ok()?;
            Some(Was::Link(target.into_bytes()))
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let file = rustix::fs::openat(&directory, name, flags, Mode::empty()).ok();
            let Some(file) = file else { return Some(Was::Other) };
            let mut bytes = Vec::new();
            std::fs::File::from(file).take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
            let whole = (bytes.len() as u64) < MAX_BYTES;
            Some(Was::File { mode: Mode::from_raw_mode(stat.st_mode), bytes, whole })
        }
        FileType::Directory => None,
        _ => Some(Was::Other),
    }
}

fn remove(directory: &OwnedFd, name: &str) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn write(directory: &OwnedFd, name: &str, mode: Mode, bytes: &[u8]) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(0o600))?;
    rustix::fs::fchmod(&file, mode)?;
    std::fs::File::from(file).write_all(bytes)
}

#[cfg(test)]
mod tests {
    use chatos_files::{Protected, SymlinkPolicy};

    use super::*;

    #[test]
    fn what_a_command_planted_is_seen_and_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(at(".git/hooks")).unwrap();
        std::fs::create_dir_all(at("elsewhere")).unwrap();
        std::fs::write(at(".git/hooks/pre-commit"), "true").unwrap();
        std::fs::write(at(".git/hooks/pre-push.sample"), "x").unwrap();
        std::fs::write(at(".git/config"), "[core]\n\tbare = false\n[alias]\n\tst = status\n").unwrap();
        let root = Root::open(dir.path(), SymlinkPolicy::Deny, Protected::default()).unwrap();
        let before = Later::look(&root);

        // Ordinary work is none of it.
        std::fs::write(
            at(".git/config"),
            "[core]\n\tbare = false\n[alias]\n\tst = status\n[remote \"o\"]\n\turl = x\n",
        )
        .unwrap();
        std::fs::write(at(".git/hooks/new.sample"), "x").unwrap();
        assert_eq!(before.changed(&Later::look(&root)), []);

        std::fs::write(at(".git/hooks/pre-commit"), "evil").unwrap();
        std::fs::write(at(".git/hooks/post-checkout"), "evil").unwrap();
        std::fs::write(at(".git/config"), "[core]\n\tfsmonitor = evil\n").unwrap();
        std::fs::write(at(".envrc"), "evil").unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at(".husky")).unwrap();
        let changed = before.changed(&Later::look(&root));
        let paths: Vec<&str> = changed.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(
            paths,
            [".envrc", ".git/config", ".git/hooks/post-checkout", ".git/hooks/pre-commit", ".husky"]
        );
        for one in &changed {
            assert!(before.put_back(&root, &one.path), "{}", one.path);
        }
        assert_eq!(before.changed(&Later::look(&root)), []);
        assert_eq!(std::fs::read_to_string(at(".git/hooks/pre-commit")).unwrap(), "true");
        assert!(!at(".envrc").exists() && !at(".husky").exists() && at("elsewhere").exists());
    }
}
