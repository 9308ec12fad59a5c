//! Where the paths of a command lead: inside the root or out of it, with links resolved.

use std::path::{Component, Path, PathBuf};

use super::Surroundings;
use super::argv::Effective;
use crate::lex::Word;

/// Harmless files outside every root.
const HARMLESS: [&str; 11] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd",
    "-",
];

/// The directories of a command line while it is read: `cd` moves.
#[derive(Debug)]
pub(super) struct Scene {
    root: PathBuf,
    home: Option<PathBuf>,
    /// `None` after a `cd` whose target is only known when it runs.
    cwd: Option<PathBuf>,
}

impl Scene {
    pub(super) fn new(place: Surroundings<'_>) -> Self {
        Self {
            root: place.root.to_owned(),
            home: place.home.map(Path::to_owned),
            cwd: Some(place.cwd.to_owned()),
        }
    }

    /// `cd` changes what later paths mean.
    pub(super) fn after(&mut self, name: &str, effective: &Effective<'_>) {
        if !matches!(name, "cd" | "pushd") {
            return;
        }
        let target = effective.arguments.iter().find(|word| !word.text.starts_with('-'));
        self.cwd = match target {
            None => self.home.clone(),
            Some(word) if word.expands && !starts_home(&word.text) => None,
            Some(word) => self.real(&word.text),
        };
    }

    /// The real path of what was written; `None` when that cannot be known.
    pub(super) fn real(&self, text: &str) -> Option<PathBuf> {
        let path = match home_relative(text) {
            Some(rest) => {
                let rest = rest.trim_start_matches('/');
                if rest.is_empty() { self.home.clone()? } else { self.home.as_ref()?.join(rest) }
            }
            // Somebody else's home.
            None if text.starts_with('~') => PathBuf::from("/home").join(text.trim_start_matches('~')),
            None if text.contains(['$', '`']) => return None,
            None => self.cwd.as_ref()?.join(text),
        };
        Some(resolve(&path))
    }

    pub(super) fn is_outside(&self, word: &Word) -> bool {
        !word.text.is_empty() && self.is_outside_text(&word.text)
    }

    pub(super) fn is_outside_text(&self, text: &str) -> bool {
        if is_harmless(text) {
            return false;
        }
        match self.real(text) {
            Some(real) => !real.starts_with(&self.root),
            None => false,
        }
    }

    /// The path beneath the root of something that exists there.
    pub(super) fn inside(&self, text: &str) -> Option<PathBuf> {
        let real = self.real(text)?;
        let rest = real.strip_prefix(&self.root).ok()?;
        (!rest.as_os_str().is_empty()).then(|| rest.to_owned())
    }

    /// Whether deleting this takes the file system, the home or the root's own place with it.
    pub(super) fn is_ancestor(&self, text: &str) -> bool {
        let text = text.strip_suffix("/*").unwrap_or(text);
        let text = if text.is_empty() || text == "*" && self.cwd.as_deref() == Some(Path::new("/")) {
            "/"
        } else {
            text
        };
        let Some(real) = self.real(text) else { return false };
        let home = self.home.as_deref().map(resolve);
        real == Path::new("/")
            || home.is_some_and(|home| {
                home.starts_with(&real)
                    && !(real.starts_with(&self.root) && real != self.root && home != real)
            })
            || (self.root.starts_with(&real) && self.root != real)
    }
}

fn starts_home(text: &str) -> bool {
    home_relative(text).is_some()
}

/// What follows `~`, `$HOME` or `${HOME}`.
fn home_relative(text: &str) -> Option<&str> {
    let rest = ["~", "$HOME", "${HOME}"].iter().find_map(|start| text.strip_prefix(start))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// The path with links resolved as far as it exists, and `..` taken literally behind that.
fn resolve(path: &Path) -> PathBuf {
    let mut real = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => {
                real.push(name);
                if let Ok(found) = std::fs::canonicalize(&real) {
                    real = found;
                } else if let Ok(target) = std::fs::read_link(&real) {
                    // A link to something missing leads where it points.
                    real.pop();
                    real = resolve_missing(&real.join(target));
                }
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    real
}

fn resolve_missing(path: &Path) -> PathBuf {
    let mut real = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => real.push(name),
            _ => {}
        }
    }
    real
}

/// The part of an argument that can be a path: all of it, or the value glued to an option.
pub(super) fn candidate(text: &str) -> Option<&str> {
    let pathlike = |text: &str| {
        text.starts_with(['/', '~', '.'])
            || text.starts_with("$HOME")
            || text.starts_with("${HOME}")
            || text.contains('/')
    };
    if text.contains("://") || text.is_empty() {
        return None;
    }
    if let Some(long) = text.strip_prefix("--") {
        let (_, value) = long.split_once('=')?;
        return pathlike(value).then_some(value);
    }
    if let Some(short) = text.strip_prefix('-') {
        // `-C/`, `-t/etc`, `-o~/x`, `-C../..`
        let at = short.find(['/', '~'])?;
        let at = short.find("..").map_or(at, |dots| dots.min(at));
        let value = short[at..].trim_start_matches('=');
        return (at > 0 && short[..at].chars().all(|c| c.is_ascii_alphanumeric() || c == '='))
            .then_some(value);
    }
    if let Some((name, value)) = text.split_once('=')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && pathlike(value)
    {
        // `of=/dev/sda`
        return Some(value);
    }
    Some(text)
}

fn is_harmless(text: &str) -> bool {
    HARMLESS.contains(&text) || text.starts_with("/dev/fd/")
}

pub(super) fn is_device(text: &str) -> bool {
    text.starts_with("/dev/") && !is_harmless(text)
}

/// A disk or a part of one, by name or by what it is.
pub(super) fn is_block_device(text: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    const DISKS: [&str; 12] =
        ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "dm-", "md", "mapper/", "disk/", "nbd"];
    let Some(name) = text.strip_prefix("/dev/") else { return false };
    DISKS.iter().any(|disk| name.starts_with(disk))
        || std::fs::metadata(text).is_ok_and(|facts| facts.file_type().is_block_device())
}

/// A program of the system: never a finding (servers §3.3).
pub(super) fn is_system_program(text: &str) -> bool {
    ["/bin/", "/sbin/", "/usr/", "/opt/", "/snap/bin/", "/run/current-system/", "/nix/store/"]
        .iter()
        .any(|start| text.starts_with(start))
        && !text.contains("/..")
}
