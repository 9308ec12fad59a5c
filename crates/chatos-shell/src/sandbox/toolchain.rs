//! Toolchains that live in a home directory: what of them a command may read, and what it is told so that it
//! writes into a private cache of its project (working-day §1.1).
//!
//! Looking changes nothing; [`Toolchains::prepare`] makes the cache.

mod cache;
mod filter;
mod git;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chatos_access::expand;

use super::grants::leads_to;
pub use cache::Pruned;
pub(crate) use cache::note_use;
use cache::place as cache_place;
use table::{Home, MORE_CACHES, PROFILES, Profile};

/// Links in one directory of the search path that are followed.
const MAX_LINKS: usize = 512;
/// Beside a `bin`: what its programs need.
const BESIDE_BIN: [&str; 5] = ["lib", "lib64", "libexec", "share", "include"];
/// What those belong to.
pub(crate) const BESIDE_PATH: &str = "PATH";
/// Never opened as a whole.
const TOO_WIDE: [&str; 5] = ["", ".local", ".config", ".cache", ".local/share"];

/// What there is for the commands of one project.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Toolchains {
    /// May be read and executed, each with what it belongs to.
    pub(crate) read: Vec<(PathBuf, &'static str)>,
    /// The private cache of the project; nothing where there is no place for it.
    pub(crate) cache: Option<PathBuf>,
    /// Directories of the cache that commands write.
    pub(crate) writable: Vec<PathBuf>,
    /// Variables of the command.
    pub(crate) env: BTreeMap<String, String>,
    /// Files with secrets of which copies are used.
    pub(crate) filtered: Vec<PathBuf>,
    /// Commits or tags are to be signed.
    pub(crate) signs: bool,
    /// Copies without secrets: where beneath the cache, and what they hold.
    copies: Vec<(PathBuf, String)>,
    /// Links to what the home has already: where beneath the cache, and to what.
    links: Vec<(PathBuf, PathBuf)>,
}

/// Removes private caches that are old or too large together; with `all` every one (working-day §1.1).
pub fn prune_caches(variables: &BTreeMap<String, String>, all: bool) -> std::io::Result<Pruned> {
    let Some(base) = super::grants::home_of(variables).and_then(|home| cache::base(variables, &home)) else {
        return Ok(Pruned::default());
    };
    cache::prune(&base, std::time::SystemTime::now(), all)
}

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look<'a> {
    /// The environment the server was given.
    pub(crate) variables: &'a BTreeMap<String, String>,
    /// The home directory, without links.
    pub(crate) home: &'a Path,
    pub(crate) writable: &'a [PathBuf],
    /// The root of the call, without links.
    pub(crate) root: &'a Path,
}

impl Look<'_> {
    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    fn config(&self) -> PathBuf {
        self.variable("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }

    /// Where a place really is, unless opening it would open everything.
    fn opened(&self, path: &Path) -> Option<PathBuf> {
        let real = leads_to(path, self.writable).ok()?;
        let wide = TOO_WIDE.iter().any(|wide| real == self.home.join(wide));
        (!wide && !self.home.starts_with(&real)).then_some(real)
    }
}

pub(crate) fn find(look: Look<'_>) -> Toolchains {
    let mut found =
        Toolchains { cache: cache_place(look.variables, look.home, look.root), ..Toolchains::default() };
    let mut homes: Vec<(PathBuf, &'static str)> = Vec::new();
    for profile in &PROFILES {
        profile_of(look, profile, &mut found, &mut homes);
    }
    git_of(look, &mut found);
    shims(look, &homes, &mut found);
    found.read.dedup();
    found
}

fn profile_of(
    look: Look<'_>,
    profile: &Profile,
    found: &mut Toolchains,
    homes: &mut Vec<(PathBuf, &'static str)>,
) {
    let is_cached = |name: &str| profile.caches.iter().any(|(cached, _)| *cached == name);
    let mut is_there = false;
    for home in profile.homes {
        for place in places(look, home) {
            let Some(real) = look.opened(&place) else { continue };
            is_there = true;
            if home.parts.is_empty() {
                found.read.push((real.clone(), profile.name));
            } else {
                let parts = home.parts.iter().filter_map(|part| look.opened(&real.join(part)));
                found.read.extend(parts.map(|part| (part, profile.name)));
            }
            if let Some(name) = home.variable.filter(|name| !is_cached(name)) {
                let set = look.variables.contains_key(name) || name == "RUSTUP_HOME";
                if set {
                    found.env.insert(name.to_owned(), real.display().to_string());
                }
            }
            homes.push((real, profile.name));
        }
    }
    if !(is_there || profile.programs.iter().any(|program| on_path(look, program))) {
        return;
    }
    let Some(cache) = found.cache.clone() else { return };
    for (name, place) in profile.caches {
        found.env.insert((*name).to_owned(), cache.join(place).display().to_string());
        found.writable.push(cache.join(place));
    }
    match profile.name {
        "rust" => rust(look, &cache, found),
        "node" => node(look, &cache, found),
        "python" => python(look, &cache, found),
        "go" => go(look, found),
        "jvm" => jvm(look, &cache, found),
        _ => {}
    }
}

fn places(look: Look<'_>, home: &Home) -> Vec<PathBuf> {
    if let Some(named) = home.variable.and_then(|name| look.variable(name)) {
        return vec![named];
    }
    let mut all = Vec::new();
    expand(&look.home.join(home.place), &mut all);
    all
}

fn search_path(look: Look<'_>) -> impl Iterator<Item = PathBuf> {
    let path = look.variables.get("PATH").map(String::as_str).unwrap_or_default();
    path.split(':').map(PathBuf::from).filter(|path| path.is_absolute()).collect::<Vec<_>>().into_iter()
}

fn on_path(look: Look<'_>, program: &str) -> bool {
    search_path(look).any(|place| place.join(program).is_file())
}

/// A copy without secrets of a file; says whether something was taken out.
fn copy(look: Look<'_>, from: &Path, to: PathBuf, found: &mut Toolchains) -> bool {
    let Ok(real) = leads_to(from, look.writable) else { return false };
    let Some(text) = git::read(&real) else { return false };
    let bare = filter::lines(&text);
    let secret = bare.is_some();
    if secret {
        found.filtered.push(real);
    }
    found.copies.push((to, bare.unwrap_or(text)));
    secret
}

fn rust(look: Look<'_>, cache: &Path, found: &mut Toolchains) {
    let cargo = look.variable("CARGO_HOME").unwrap_or_else(|| look.home.join(".cargo"));
    for name in ["config.toml", "config"] {
        let file = cargo.join(name);
        if copy(look, &file, cache.join("cargo").join(name), found) {
            // Not opened: it holds a secret.
            let real = leads_to(&file, look.writable).unwrap_or(file);
            found.read.retain(|(path, _)| *path != real);
        }
    }
    // What was downloaded; unpacked it is in the cache, where there is room for what the home has not unpacked.
    for name in ["registry/index", "registry/cache", "git/db"] {
        if let Some(real) = look.opened(&cargo.join(name)) {
            found.links.push((cache.join("cargo").join(name), real));
        }
    }
    // A toolchain that was linked in lies elsewhere.
    let rustup = look.variable("RUSTUP_HOME").unwrap_or_else(|| look.home.join(".rustup"));
    let Ok(toolchains) = std::fs::read_dir(rustup.join("toolchains")) else { return };
    for entry in toolchains.flatten().take(MAX_LINKS) {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink())
            && let Some(real) = look.opened(&entry.path())
        {
            found.read.push((real, "rust"));
        }
    }
}

fn node(look: Look<'_>, cache: &Path, found: &mut Toolchains) {
    let own = look.variable("NPM_CONFIG_USERCONFIG").or_else(|| look.variable("npm_config_userconfig"));
    let own = own.unwrap_or_else(|| look.home.join(".npmrc"));
    let to = cache.join("config/npmrc");
    copy(look, &own, to.clone(), found);
    // Also where there is none: the person's own is closed, and npm would fail on it.
    found.env.insert("NPM_CONFIG_USERCONFIG".to_owned(), to.display().to_string());
    let caches = look.variable("XDG_CACHE_HOME").unwrap_or_else(|| look.home.join(".cache"));
    if let Some(real) = look.opened(&caches.join("node/corepack/v1")) {
        found.read.push((real.clone(), "node"));
        found.links.push((cache.join("corepack/v1"), real));
    }
}

fn python(look: Look<'_>, cache: &Path, found: &mut Toolchains) {
    let own = look.variable("PIP_CONFIG_FILE");
    let usual = [look.config().join("pip/pip.conf"), look.home.join(".pip/pip.conf")];
    let Some(own) = own.into_iter().chain(usual).find(|path| path.is_file()) else { return };
    let to = cache.join("config/pip.conf");
    copy(look, &own, to.clone(), found);
    found.env.insert("PIP_CONFIG_FILE".to_owned(), to.display().to_string());
}

/// The modules the home has are a proxy to the private ones, so that builds without network find them.
fn go(look: Look<'_>, found: &mut Toolchains) {
    let modules = look.variable("GOMODCACHE").unwrap_or_else(|| look.home.join("go/pkg/mod"));
    if let Some(downloads) = look.opened(&modules.join("cache/download")) {
        let own = look.variables.get("GOPROXY").map_or("direct", String::as_str);
        let proxy = format!("file://{},{own}", downloads.display());
        found.env.insert("GOPROXY".to_owned(), proxy);
    }
}

fn jvm(look: Look<'_>, cache: &Path, found: &mut Toolchains) {
    if let Some(caches) = look.opened(&look.home.join(".gradle/caches")) {
        found.env.insert("GRADLE_RO_DEP_CACHE".to_owned(), caches.display().to_string());
    }
    let own = cache.join(MORE_CACHES[0]);
    let mut maven = format!("-Dmaven.repo.local={}", own.display());
    if let Some(real) = look.opened(&look.home.join(".m2/repository")) {
        maven.push_str(&format!(" -Dmaven.repo.local.tail={}", real.display()));
    }
    found.env.insert("MAVEN_ARGS".to_owned(), maven);
    found.writable.push(own);
}

fn git_of(look: Look<'_>, found: &mut Toolchains) {
    let cache = found.cache.clone();
    let place = |name: &str| cache.as_deref().unwrap_or(Path::new("/")).join("config").join(name);
    let git = git::find(look.home, &look.config(), look.writable, &place);
    found.read.extend(git.read.into_iter().map(|path| (path, "git")));
    found.signs = git.signs;
    found.filtered.extend(git.filtered);
    if let Some(cache) = &cache
        && let Some((first, _)) = git.copies.first()
    {
        let at = cache.join("config").join(first);
        found.env.insert("GIT_CONFIG_GLOBAL".to_owned(), at.display().to_string());
        found.copies.extend(git.copies.into_iter().map(|(name, text)| (place(&name), text)));
    }
    // Keys and their agents are not in the sandbox: a signature can only fail there (§1.3).
    let off = ["commit.gpgsign", "tag.gpgsign", "tag.forceSignAnnotated", "push.gpgsign"];
    found.env.insert("GIT_CONFIG_COUNT".to_owned(), off.len().to_string());
    for (at, key) in off.iter().enumerate() {
        found.env.insert(format!("GIT_CONFIG_KEY_{at}"), (*key).to_owned());
        found.env.insert(format!("GIT_CONFIG_VALUE_{at}"), "false".to_owned());
    }
}

/// What directories of the search path beneath the home need (the directories themselves are opened anyway).
fn shims(look: Look<'_>, homes: &[(PathBuf, &'static str)], found: &mut Toolchains) {
    let mut seen = BTreeSet::new();
    for place in search_path(look).filter(|place| place.starts_with(look.home)) {
        let Some(real) = look.opened(&place) else { continue };
        if !seen.insert(real.clone()) {
            continue;
        }
        let links = std::fs::read_dir(&real).into_iter().flatten().flatten();
        let links = links.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        let targets = links.take(MAX_LINKS).filter_map(|entry| leads_to(&entry.path(), look.writable).ok());
        let reached: Vec<PathBuf> = targets.chain([real.clone()]).collect();
        for (home, name) in homes {
            // A home of which only parts are opened stays so.
            let whole = found.read.iter().any(|(path, _)| path == home);
            let known = |path: &PathBuf| found.read.iter().any(|(open, _)| path.starts_with(open));
            if !whole
                && let Some(path) = reached.iter().find(|path| path.starts_with(home) && !known(path))
                && let Some(part) = path.parent().and_then(|parent| look.opened(parent))
            {
                found.read.push((part, name));
            }
        }
        let depth = real.strip_prefix(look.home).map_or(0, |rest| rest.components().count());
        if real.file_name().is_some_and(|name| name == "bin") && depth >= 2 {
            let parent = real.parent().unwrap_or(look.home).to_owned();
            let beside = BESIDE_BIN.iter().filter_map(|name| look.opened(&parent.join(name)));
            found.read.extend(beside.map(|path| (path, BESIDE_PATH)));
        }
    }
}

impl Toolchains {
    /// Makes the cache as it is to be. With network a project gets downloads of its own in place of the links.
    pub(crate) fn prepare(&self, network: bool) -> std::io::Result<()> {
        match &self.cache {
            None => Ok(()),
            Some(place) => {
                cache::make(place, &self.writable)?;
                for (path, text) in &self.copies {
                    cache::put(place, path, text)?;
                }
                for (path, to) in &self.links {
                    cache::link(place, path, to, network)?;
                }
                Ok(())
            }
        }
    }

    /// Everything but what needs the cache: it could not be made.
    pub(crate) fn without_cache(&self) -> Self {
        let cache = self.cache.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let mut rest = self.clone();
        rest.env.retain(|_, value| cache.is_empty() || !value.contains(&cache));
        rest.cache = None;
        rest.writable.clear();
        rest
    }

    /// What commands read of the cache.
    pub(crate) fn configuration(&self) -> Option<PathBuf> {
        self.cache.as_ref().map(|cache| cache.join("config"))
    }
}
