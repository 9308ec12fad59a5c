//! From the safety mode and the settings to what a command may touch: the table of servers §3.1.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Boundary, Kernel};
use crate::shell::settings::{SafetyMode, ShellSettings};

/// Read and executed by everything.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc"];
/// Devices that programs take for granted.
///
/// Not `/dev/pts`: the user's other terminals are there, to be read and typed into.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];
/// Caches in the home directory besides `~/.cache`.
const CACHES: [&str; 7] = [
    ".npm",
    ".cargo/registry",
    ".cargo/git",
    "go/pkg",
    ".gradle/caches",
    ".m2/repository",
    ".yarn/berry/cache",
];

/// Where things are for a command.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct Places<'a> {
    /// The root of the call.
    pub(in crate::shell) root: &'a Path,
    /// The private temporary directory.
    pub(in crate::shell) temp: &'a Path,
    /// The environment the command gets.
    pub(in crate::shell) variables: &'a BTreeMap<String, String>,
    /// Never, wherever they lie.
    pub(in crate::shell) protected: &'a [PathBuf],
}

/// The boundary of one command.
pub(in crate::shell) fn boundary(
    settings: &ShellSettings,
    kernel: Kernel,
    places: Places<'_>,
    network: bool,
) -> Boundary {
    let home = places.variables.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut write = vec![places.root.to_owned(), places.temp.to_owned()];
    write.extend(settings.write_paths.iter().cloned());
    let read = match settings.mode {
        SafetyMode::Relaxed => {
            if let Some(home) = &home {
                let own = places.variables.get("XDG_CACHE_HOME").map(PathBuf::from);
                let own = own.filter(|path| path.is_absolute() && path.starts_with(home) && path != home);
                write.push(own.unwrap_or_else(|| home.join(".cache")));
                write.extend(CACHES.iter().map(|cache| home.join(cache)));
            }
            vec![PathBuf::from("/")]
        }
        SafetyMode::Strict => {
            // Where they really lie, each once: `/bin` is often in `/usr`, and search paths repeat
            // themselves. Every grant is made anew for every command.
            let mut read: Vec<PathBuf> = Vec::new();
            let mut add = |path: PathBuf| {
                if !read.iter().any(|known| path.starts_with(known)) {
                    read.push(path);
                }
            };
            SYSTEM.iter().filter_map(|path| std::fs::canonicalize(path).ok()).for_each(&mut add);
            let path = places.variables.get("PATH").map(String::as_str).unwrap_or_default();
            let named = path.split(':').map(Path::new).filter(|path| path.is_absolute());
            // A search path that is the home directory, or holds it, would open all of it.
            named
                .filter_map(|path| std::fs::canonicalize(path).ok())
                .filter(|path| {
                    path != Path::new("/") && home.as_ref().is_none_or(|home| !home.starts_with(path))
                })
                .for_each(&mut add);
            add(PathBuf::from("/proc"));
            // Name lookup reads a file that often lies in /run; the link itself is in /etc.
            std::fs::canonicalize("/etc/resolv.conf").into_iter().for_each(&mut add);
            read
        }
    };
    Boundary {
        kernel,
        read: read.into_iter().chain(settings.read_paths.iter().map(|path| real(path))).collect(),
        write: write.iter().map(|path| real(path)).collect(),
        devices: DEVICES.iter().map(PathBuf::from).collect(),
        protected: places.protected.iter().map(|path| real(path)).collect(),
        network,
    }
}

/// The path without links as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut existing = path;
    let mut rest = Vec::new();
    loop {
        if let Ok(found) = std::fs::canonicalize(existing) {
            return rest.iter().rev().fold(found, |path: PathBuf, name: &&OsStr| path.join(name));
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name);
                existing = parent;
            }
            _ => return path.to_owned(),
        }
    }
}
