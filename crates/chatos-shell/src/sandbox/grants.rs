//! From the safety mode and the settings to what a command may touch: the table of servers §3.1.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatos_access::real;
use chatos_layer::{SafetyMode, ShellSettings, ToolchainUse};

use super::toolchain::{self, BESIDE_PATH, Look, Toolchains};
use super::{Boundary, Kernel};

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
pub(crate) struct Places<'a> {
    /// The root of the call.
    pub(crate) root: &'a Path,
    /// The private temporary directory.
    pub(crate) temp: &'a Path,
    /// The environment the command gets.
    pub(crate) variables: &'a BTreeMap<String, String>,
    /// Never, wherever they lie.
    pub(crate) protected: &'a [PathBuf],
    /// Where programs lie.
    pub(crate) programs: &'a Programs,
}

/// Why a place is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The root of the call.
    Root,
    /// The private temporary directory.
    Temp,
    /// Programs of the system.
    System,
    /// A directory of the search path, or what lies beside it.
    SearchPath,
    /// What a toolchain of this name needs.
    Toolchain(&'static str),
    /// The private cache of the project.
    Cache,
    /// Relaxed mode opens it.
    Relaxed,
    /// A person named it.
    Named,
    /// A device that programs take for granted.
    Device,
}

/// Paths, each with the reason that it may be touched.
pub(crate) type Reasoned = Vec<(PathBuf, Why)>;

/// What a command may touch, each with its reason.
#[derive(Debug)]
pub(crate) struct Grants {
    pub(crate) read: Reasoned,
    /// Read, too. Devices are among them: nothing is made there.
    pub(crate) write: Reasoned,
    /// Closed places that a person opened by name for reading.
    pub(crate) opened: Vec<PathBuf>,
    /// State, keys and plugins.
    pub(crate) never: Vec<PathBuf>,
    /// Keys, tokens and the like of the person.
    pub(crate) closed: Vec<PathBuf>,
}

/// Where programs and what they need lie. Known for a moment: finding it takes a hundred looks at links that
/// hardly ever change, before every command.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    programs: Mutex<Option<Found<Reasoned>>>,
    toolchains: Mutex<Option<Found<Arc<Toolchains>>>>,
}

#[derive(Debug)]
struct Found<T> {
    at: Instant,
    writable: Vec<PathBuf>,
    what: T,
}

impl Programs {
    /// How long it is known.
    const FRESH: Duration = Duration::from_secs(1);

    fn found(
        &self,
        variables: &BTreeMap<String, String>,
        home: Option<&Path>,
        writable: &[PathBuf],
    ) -> Reasoned {
        fresh(&self.programs, writable, || find_programs(variables, home, writable))
    }

    /// The toolchains for commands of a root; nothing where a person wants none, or where nothing confines
    /// commands to less than they could read anyway.
    pub(crate) fn toolchains(
        &self,
        settings: &ShellSettings,
        variables: &BTreeMap<String, String>,
        root: &Path,
    ) -> Option<Arc<Toolchains>> {
        if settings.mode != SafetyMode::Strict || settings.toolchains == ToolchainUse::Off {
            return None;
        }
        let home = home_of(variables)?;
        let root = real(root);
        let writable = writable(settings, &root);
        let look = Look { variables, home: &home, writable: &writable, root: &root };
        Some(fresh(&self.toolchains, &writable, || Arc::new(toolchain::find(look))))
    }
}

/// What was found a moment ago, or is found now.
fn fresh<T: Clone>(known: &Mutex<Option<Found<T>>>, writable: &[PathBuf], find: impl FnOnce() -> T) -> T {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some(found) if found.at.elapsed() < Programs::FRESH && found.writable == writable => {
            found.what.clone()
        }
        _ => {
            let what = find();
            *known = Some(Found { at: Instant::now(), writable: writable.to_vec(), what: what.clone() });
            what
        }
    }
}

/// The home directory, without links.
pub(crate) fn home_of(variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let home = variables.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute())?;
    Some(real(&home))
}

/// The root and what a person named; a link that a command may have made leads it nowhere.
fn writable(settings: &ShellSettings, root: &Path) -> Vec<PathBuf> {
    let mut write = named(&settings.write_paths, &[root.to_owned()]);
    write.insert(0, root.to_owned());
    write
}

fn named(paths: &[PathBuf], writable: &[PathBuf]) -> Vec<PathBuf> {
    let own = |path: &&PathBuf| leads_to(path, writable) != Err(Astray::OwnLink);
    paths.iter().filter(own).map(|path| real(path)).collect()
}

fn find_programs(
    variables: &BTreeMap<String, String>,
    home: Option<&Path>,
    writable: &[PathBuf],
) -> Reasoned {
    // Where they really lie, each once: `/bin` is often in `/usr`, and search paths repeat themselves. Every
    // grant is made anew for every command.
    let mut read: Reasoned = Vec::new();
    let mut add = |path: PathBuf, why: Why| {
        if !read.iter().any(|(known, _)| path.starts_with(known)) {
            read.push((path, why));
        }
    };
    let system = SYSTEM.iter().filter_map(|path| std::fs::canonicalize(path).ok());
    system.for_each(|path| add(path, Why::System));
    let path = variables.get("PATH").map(String::as_str).unwrap_or_default();
    let named = path.split(':').map(Path::new).filter(|path| path.is_absolute());
    // A search path that is the home directory, or holds it, would open all of it.
    named
        .filter_map(|path| leads_to(path, writable).ok())
        .filter(|path| path != Path::new("/") && home.is_none_or(|home| !home.starts_with(path)))
        .for_each(|path| add(path, Why::SearchPath));
    add(PathBuf::from("/proc"), Why::System);
    // Name lookup reads a file that often lies in /run; the link itself is in /etc.
    if let Ok(path) = std::fs::canonicalize("/etc/resolv.conf") {
        add(path, Why::System);
    }
    read
}

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Astray {
    Missing,
    /// Over a link that lies where commands write.
    OwnLink,
}

/// Where a path really leads. Not over links that lie where commands write: with such a link, as in a search
/// path `node_modules/.bin`, one command would choose what the next one may touch.
pub(super) fn leads_to(path: &Path, writable: &[PathBuf]) -> Result<PathBuf, Astray> {
    const MAX_LINKS: usize = 40;
    let mut place = PathBuf::from("/");
    let mut left: Vec<OsString> = path.iter().rev().map(OsStr::to_owned).collect();
    let mut links = 0;
    while let Some(part) = left.pop() {
        match Path::new(&part).components().next() {
            Some(Component::Normal(name)) => {
                let next = place.join(name);
                match std::fs::read_link(&next) {
                    Ok(_) if writable.iter().any(|own| next.starts_with(own)) => return Err(Astray::OwnLink),
                    Ok(target) => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(Astray::Missing);
                        }
                        left.extend(target.iter().rev().map(OsStr::to_owned));
                    }
                    // What it says of everything that is no link.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => place = next,
                    Err(_) => return Err(Astray::Missing),
                }
            }
            Some(Component::ParentDir) => drop(place.pop()),
            Some(Component::RootDir) => place = PathBuf::from("/"),
            _ => {}
        }
    }
    Ok(place)
}

/// The boundary of one command.
pub(crate) fn boundary(
    settings: &ShellSettings,
    kernel: Kernel,
    places: Places<'_>,
    network: bool,
    toolchains: Option<&Toolchains>,
) -> Boundary {
    let Grants { read, write, opened, never, closed } = grants(settings, places, toolchains);
    let (devices, write) = write.into_iter().partition::<Vec<_>, _>(|(_, why)| *why == Why::Device);
    let paths = |all: Reasoned| all.into_iter().map(|(path, _)| path).collect();
    Boundary {
        kernel,
        read: paths(read),
        write: paths(write),
        opened,
        own: Vec::new(),
        devices: paths(devices),
        protected: never.iter().cloned().chain(closed).collect(),
        never,
        network,
        proxy: None,
    }
}

/// What is open to one command, and why.
pub(crate) fn grants(
    settings: &ShellSettings,
    places: Places<'_>,
    toolchains: Option<&Toolchains>,
) -> Grants {
    let home = home_of(places.variables);
    let own = writable(settings, &real(places.root));
    // The root comes first.
    let mut write: Reasoned = own.iter().map(|path| (path.clone(), Why::Named)).collect();
    write[0].1 = Why::Root;
    let mut read = match settings.mode {
        SafetyMode::Relaxed => {
            if let Some(home) = &home {
                let own = places.variables.get("XDG_CACHE_HOME").map(PathBuf::from);
                let own = own.filter(|path| path.is_absolute() && path.starts_with(home) && path != home);
                let caches = CACHES.iter().map(|cache| home.join(cache));
                let caches = caches.chain([own.unwrap_or_else(|| home.join(".cache"))]);
                write.extend(caches.map(|path| (real(&path), Why::Relaxed)));
            }
            vec![(PathBuf::from("/"), Why::Relaxed)]
        }
        SafetyMode::Strict => places.programs.found(places.variables, home.as_deref(), &own),
    };
    let closed = chatos_access::closed(|name| places.variables.get(name).map(String::as_str));
    let never: Vec<PathBuf> = places.protected.iter().map(|path| real(path)).collect();
    let mut opened = Vec::new();
    let writable: Vec<PathBuf> = write.iter().map(|(path, _)| path.clone()).collect();
    for path in named(&settings.read_paths, &writable) {
        // Who names a closed place itself, or something in it, means it.
        if closed.iter().any(|closed| path.starts_with(closed)) {
            opened.extend((!never.iter().any(|never| path.starts_with(never))).then_some(path));
        } else {
            read.push((path, Why::Named));
        }
    }
    if let Some(toolchains) = toolchains {
        for (path, name) in &toolchains.read {
            if !read.iter().any(|(known, _)| path.starts_with(known)) {
                let why = if *name == BESIDE_PATH { Why::SearchPath } else { Why::Toolchain(name) };
                read.push((path.clone(), why));
            }
        }
        read.extend(toolchains.configuration().map(|path| (path, Why::Cache)));
        write.extend(toolchains.writable.iter().map(|path| (path.clone(), Why::Cache)));
    }
    write.push((real(places.temp), Why::Temp));
    write.extend(DEVICES.iter().map(|path| (PathBuf::from(path), Why::Device)));
    Grants { read, write, opened, never, closed }
}
