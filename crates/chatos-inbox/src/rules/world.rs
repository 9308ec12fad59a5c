//! This computer as commands see it, for decisions about rules: which file a name of a program finds, where a path
//! leads, and whether a repository makes git run something else. Every doubt is "no", which means that somebody is asked.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chatos_rules::{Found, World};

/// The computer this process runs on.
pub(super) struct Computer;

impl World for Computer {
    fn program(&self, name: &str, path: &str) -> Option<Found> {
        if name.is_empty() || name.contains('/') {
            return None;
        }
        // The first that is there, whatever it is: shells differ in what they pass over.
        let at = path
            .split(':')
            .map(|folder| Path::new(folder).join(name))
            .find(|at| fs::symlink_metadata(at).is_ok())?;
        let real = fs::canonicalize(&at).ok()?;
        let meta = fs::metadata(&real).ok()?;
        if !at.is_absolute() || !meta.is_file() || meta.permissions().mode() & 0o111 == 0 {
            return None;
        }
        let is_guarded = [&at, &real].iter().all(|path| path.ancestors().all(is_guarded));
        Some(Found { at, real, is_guarded })
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let mut missing = Vec::new();
        let mut at = path;
        loop {
            match fs::canonicalize(at) {
                Ok(real) => return Some(missing.iter().rev().fold(real, |real, part| real.join(part))),
                // A dangling link leads anywhere.
                Err(_) if fs::symlink_metadata(at).is_ok() => return None,
                Err(_) => {
                    missing.push(at.file_name()?);
                    at = at.parent()?;
                }
            }
        }
    }

    fn is_plain_repository(&self, folder: &Path) -> bool {
        for folder in folder.ancestors() {
            match fs::symlink_metadata(folder.join(".git")) {
                Ok(meta) if meta.is_dir() => return is_plain(&folder.join(".git"), folder),
                // A file or a link names a repository elsewhere.
                Ok(_) => return false,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => return false,
            }
            // A folder can be a repository itself.
            if !is_absent(&folder.join("HEAD")) {
                return false;
            }
        }
        // There is none: git says so, and that is all it does.
        true
    }
}

/// Nobody but the administrator can change it; a link counts by the folder it is in.
fn is_guarded(path: &Path) -> bool {
    let fits = |meta: &Metadata| {
        let mode = meta.permissions().mode();
        let by_group = mode & 0o020 != 0 && meta.gid() != 0;
        meta.uid() == 0 && (meta.is_symlink() || !by_group && mode & 0o002 == 0)
    };
    fs::symlink_metadata(path).is_ok_and(|meta| fits(&meta))
}

fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Longest settings of a repository that are read.
const MAX_CONFIG: u64 = 256 << 10;
/// Longest index that is looked through.
const MAX_INDEX: u64 = 64 << 20;
/// The mode of an entry that is a repository of its own.
const GITLINK: [u8; 4] = [0, 0, 0xe0, 0];

fn is_plain(git: &Path, work: &Path) -> bool {
    // Settings and an index in further files, and repositories in the repository.
    let further = ["config.worktree", "commondir", "modules"].map(|name| git.join(name));
    if !further.iter().chain([&work.join(".gitmodules")]).all(|path| is_absent(path)) {
        return false;
    }
    let Some(config) = read(&git.join("config"), MAX_CONFIG) else { return false };
    if !std::str::from_utf8(&config).is_ok_and(is_plain_config) {
        return false;
    }
    let index = git.join("index");
    let quiet_index = is_absent(&index)
        || read(&index, MAX_INDEX).is_some_and(|index| !index.windows(4).any(|bytes| bytes == GITLINK));
    quiet_index && !names(git, |name| name.starts_with("sharedindex")) && {
        let hooks = git.join("hooks");
        is_absent(&hooks) || !names(&hooks, |name| !name.ends_with(".sample"))
    }
}

/// A file of at most so many bytes, itself and not by a link.
fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > most {
        return None;
    }
    fs::read(path).ok()
}

/// Whether a folder has an entry like that, or cannot be read.
fn names(folder: &Path, like: impl Fn(&str) -> bool) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else { return true };
    entries.any(|entry| entry.map_or(true, |entry| entry.file_name().to_str().is_none_or(&like)))
}

/// Settings that make git run nothing: section, and its keys; no keys means all.
const PLAIN: [(&str, &[&str]); 14] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "abbrev",
            "longpaths",
        ],
    ),
    ("remote", &["url", "pushurl", "fetch", "push", "tagopt", "prune"]),
    ("branch", &["remote", "merge", "rebase", "pushremote", "description"]),
    ("user", &["name", "email"]),
    ("author", &["name", "email"]),
    ("committer", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune", "prunetags"]),
    ("color", &[]),
    ("advice", &[]),
    ("gc", &["auto"]),
    ("extensions", &["objectformat"]),
];

/// Whether settings hold nothing but what is known to run nothing, each on a line of its own.
fn is_plain_config(text: &str) -> bool {
    let mut keys: Option<&[&str]> = None;
    text.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        // A value that goes on in the next line.
        if line.ends_with('\\') {
            return false;
        }
        if let Some(section) = line.strip_prefix('[') {
            let Some(section) = section.strip_suffix(']').filter(|name| !name.contains([']', '\\'])) else {
                return false;
            };
            let name = section.split([' ', '\t', '"', '.']).next().unwrap_or_default().to_ascii_lowercase();
            keys = PLAIN.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
            return keys.is_some();
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
        keys.is_some_and(|keys| keys.is_empty() || keys.contains(&key.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_program_is_the_one_that_the_search_path_finds_first() {
        let sh = Computer.program("sh", "/usr/bin:/bin").unwrap();
        assert!(sh.is_guarded, "{sh:?}");
        assert_eq!(sh.at, Path::new("/usr/bin/sh"));
        assert_eq!(sh.real, fs::canonicalize("/usr/bin/sh").unwrap());

        let own = tempfile::tempdir().unwrap();
        fs::set_permissions(own.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let path = format!("{}:/usr/bin", own.path().display());
        assert_eq!(Computer.program("sh", &path).unwrap(), sh, "a folder without it is passed over");
        let put = own.path().join("sh");
        fs::write(&put, "#!/bin/sh\n").unwrap();
        assert_eq!(Computer.program("sh", &path), None, "somebody's file without the right to run it");
        fs::set_permissions(&put, fs::Permissions::from_mode(0o755)).unwrap();
        let found = Computer.program("sh", &path).unwrap();
        assert_eq!(
            (found.at.as_path(), found.is_guarded),
            (put.as_path(), false),
            "anybody can write above it"
        );
        fs::remove_file(&put).unwrap();
        std::os::unix::fs::symlink("/usr/bin/sh", &put).unwrap();
        let found = Computer.program("sh", &path).unwrap();
        assert!(!found.is_guarded && found.real == sh.real, "a link in such a folder is no better");
        fs::remove_file(&put).unwrap();
        std::os::unix::fs::symlink("/nowhere", &put).unwrap();
        assert_eq!(Computer.program("sh", &path), None);
        for bad in ["", "../bin/sh", "/usr/bin/sh", "no-such-program-here"] {
            assert_eq!(Computer.program(bad, "/usr/bin"), None, "{bad}");
        }
        assert_eq!(Computer.program("sh", ""), None);
    }

    #[test]
    fn settings_that_run_something_are_not_plain() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n; note\n[remote \"origin\"]\n\turl = https://example.com/x\n\
                     \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n[color]\n\tui = auto\n";
        assert!(is_plain_config(usual));
        assert!(is_plain_config(""));
        for more in [
            "[core]\n\tfsmonitor = ./x",
            "[core]\n\tFSMonitor = ./x",
            "[CORE]\nfsmonitor=./x",
            "[core] fsmonitor = ./x",
            "[core]\n\tpager = ./x",
            "[core]\n\teditor = ./x",
            "[core]\n\thooksPath = x",
            "[core]\n\tsshCommand = ./x",
            "[core]\n\tworktree = /etc",
            "[core]\n\tfsmonitor",
            "[core]\n\tbare = false \\\n\tfsmonitor = ./x",
            "[filter \"x\"]\n\tclean = ./x",
            "[filter.x]\n\tclean = ./x",
            "[diff]\n\texternal = ./x",
            "[diff \"x\"]\n\ttextconv = ./x",
            "[include]\n\tpath = x",
            "[includeIf \"gitdir:/\"]\n\tpath = x",
            "[alias]\n\tstatus = !./x",
            "[gpg]\n\tprogram = ./x",
            "[log]\n\tshowSignature = true",
            "[credential]\n\thelper = ./x",
            "[extensions]\n\tworktreeConfig = true",
            "[remote \"o\"]\n\tuploadpack = ./x",
            "[submodule \"x\"]\n\tupdate = !./x",
            "fsmonitor = ./x\n",
            "[core",
            "[]\nfsmonitor = x",
            "[color \"]\"]\nui = x",
        ] {
            let first =
                if more.starts_with('[') { format!("{usual}{more}\n") } else { format!("{more}{usual}") };
            assert!(!is_plain_config(&first), "{more}");
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes repositories with git itself")]
    fn git(folder: &Path, args: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(folder).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", folder);
        let done =
            git.args(["-c", "user.name=x", "-c", "user.email=x@example.com"]).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn a_repository_as_git_makes_it_is_plain_until_something_in_it_can_run() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().join("work");
        fs::create_dir_all(work.join("src")).unwrap();
        assert!(Computer.is_plain_repository(&work), "no repository");
        git(&work, &["init", "-q"]);
        fs::write(work.join("a.txt"), "a\n").unwrap();
        git(&work, &["add", "."]);
        git(&work, &["commit", "-q", "-m", "one"]);
        let plain = |folder: &Path| Computer.is_plain_repository(folder);
        assert!(plain(&work) && plain(&work.join("src")));

        let hook = work.join(".git/hooks/post-index-change");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, "#!/bin/sh\n").unwrap();
        assert!(!plain(&work), "a hook");
        fs::remove_file(hook).unwrap();

        let config = fs::read_to_string(work.join(".git/config")).unwrap();
        git(&work, &["config", "core.fsmonitor", "./x"]);
        assert!(!plain(&work.join("src")), "a setting");
        fs::write(work.join(".git/config"), config).unwrap();
        assert!(plain(&work));

        // A repository in the repository is looked into by `git status`, with its own settings.
        let inner = work.join("inner");
        fs::create_dir(&inner).unwrap();
        git(&inner, &["init", "-q"]);
        git(&inner, &["commit", "-q", "--allow-empty", "-m", "one"]);
        git(&work, &["add", "inner"]);
        assert!(!plain(&work), "an entry that is a repository");
        git(&work, &["rm", "-q", "-f", "--cached", "inner"]);
        assert!(plain(&work));

        fs::write(work.join("src/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert!(!plain(&work.join("src")), "a folder that may be a bare repository");
        assert!(plain(&work));
        fs::write(inner.join("gitdir"), "").unwrap();
        fs::remove_dir_all(inner.join(".git")).unwrap();
        fs::write(inner.join(".git"), "gitdir: ../../elsewhere\n").unwrap();
        assert!(!plain(&inner), "a file that leads away");
    }
}
