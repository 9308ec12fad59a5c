//! Finding plugin directories and reading those that changed (plugins §5).

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatos_contribution::DefaultLists;
use chatos_manifest::{PluginId, Problem, ProblemCode, Source, Text, quote};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::development;
use crate::digest::{self, Digest, Keyed};
use crate::layout::{Origin, Roots};
use crate::load::{self, LoadedPlugin, Watched, shown};
use crate::stamp::Stamp;

/// A directory that may hold a plugin.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) dir: PathBuf,
    pub(crate) origin: Origin,
}

/// What is remembered about a directory.
#[derive(Debug, Clone)]
pub(crate) struct Cached {
    pub(crate) plugin: Option<Arc<LoadedPlugin>>,
    pub(crate) problems: Arc<Vec<Problem>>,
    watched: Vec<Watched>,
    racy: bool,
    /// `plugin` is what could be read last; what is on disk has errors.
    kept: bool,
    /// The digest, once somebody needed it; an error text when the tree could not be read.
    digest: Option<Arc<Result<Keyed, String>>>,
}

/// How thoroughly to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Believe the cache (the watcher saw nothing).
    Believe,
    /// Compare every key.
    Check,
    /// Read again.
    Reload,
}

/// The directories of all roots, in scan order, and what could not be listed.
pub(crate) fn candidates(roots: &Roots) -> (Vec<Candidate>, Vec<Problem>) {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    if let Some(builtin) = &roots.builtin {
        list_root(builtin, Origin::Builtin, &mut found, &mut problems);
    }
    list_root(&roots.user.plugins(), Origin::User, &mut found, &mut problems);
    for dir in &roots.dev {
        // A development directory may itself be a link; what counts is where it leads.
        let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.clone());
        found.push(Candidate { dir, origin: Origin::Dev });
    }
    (found, problems)
}

fn list_root(root: &Path, origin: Origin, found: &mut Vec<Candidate>, problems: &mut Vec<Problem>) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = rustix::fs::open(root, flags, Mode::empty()).and_then(|fd| {
        let mut names: Vec<(OsString, FileType)> = Vec::new();
        for entry in Dir::read_from(&fd)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => rustix::fs::statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            names.push((OsString::from_vec(name.to_bytes().to_vec()), kind));
        }
        Ok(names)
    });
    let mut names = match listed {
        Ok(names) => names,
        Err(Errno::NOENT) => return,
        Err(errno) => {
            let error = std::io::Error::from(errno);
            let message = Text::new(
                format!("The plugin directory cannot be read ({error}): {}", shown(root)),
                format!("无法读取插件目录（{error}）：{}", shown(root)),
            );
            let problem = Problem::new(ProblemCode::RootUnreadable, "", message).source(Source::Scan);
            problems.push(problem.in_dir(root.to_string_lossy()));
            return;
        }
    };
    names.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    for (name, kind) in names {
        let dir = root.join(&name);
        match kind {
            FileType::Directory => found.push(Candidate { dir, origin }),
            FileType::Symlink if std::fs::symlink_metadata(dir.join("plugin.json")).is_ok() => {
                let shown_name = quote(&name.to_string_lossy());
                let message = Text::new(
                    format!("The plugin directory {shown_name} is a link"),
                    format!("插件目录 {shown_name} 是链接"),
                );
                let problem = Problem::new(ProblemCode::PathSymlink, "", message).source(Source::Scan);
                problems.push(problem.in_dir(dir.to_string_lossy()));
            }
            _ => {}
        }
    }
}

/// What is said about a directory under development that holds no plugin any more.
pub(crate) fn nothing_there(dir: &Path) -> Problem {
    let message = Text::new(
        format!("There is no plugin.json any more: {}", shown(dir)),
        format!("plugin.json 已不存在：{}", shown(dir)),
    );
    Problem::new(ProblemCode::ManifestGone, "", message).source(Source::Scan).in_dir(dir.to_string_lossy())
}

/// Everything a thread needs to bring one directory up to date.
pub(crate) struct Job<'a> {
    pub(crate) candidate: &'a Candidate,
    pub(crate) cached: Option<Cached>,
    pub(crate) look: Look,
}

/// Brings all directories up to date, on several threads when there are many. A directory without
/// `plugin.json` gives `None`. `digest_wanted` says which plugins' digests trust depends on.
pub(crate) fn update_all(
    jobs: Vec<Job<'_>>,
    defaults: &DefaultLists,
    digest_wanted: &(dyn Fn(&PluginId) -> bool + Sync),
) -> Vec<Option<Cached>> {
    /// Below this many directories a thread costs more than it saves.
    const WORTH_A_THREAD: usize = 64;
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4)
        .min(jobs.len() / WORTH_A_THREAD)
        .max(1);
    if threads == 1 {
        return jobs.into_iter().map(|job| update(job, defaults, digest_wanted)).collect();
    }
    let share = jobs.len().div_ceil(threads);
    let mut rest = jobs;
    let mut shares = Vec::with_capacity(threads);
    while rest.len() > share {
        let tail = rest.split_off(share);
        shares.push(std::mem::replace(&mut rest, tail));
    }
    shares.push(rest);
    std::thread::scope(|scope| {
        let handles: Vec<_> = shares
            .into_iter()
            .map(|share| {
                let count = share.len();
                let work = move || -> Vec<Option<Cached>> {
                    share.into_iter().map(|job| update(job, defaults, digest_wanted)).collect()
                };
                (count, scope.spawn(work))
            })
            .collect();
        handles
            .into_iter()
            .flat_map(|(count, handle)| {
                // A panic in a loader is a bug; those plugins are left out, the others stay.
                handle.join().unwrap_or_else(|_| {
                    tracing::error!("a scan thread panicked; {count} plugin directories were skipped");
                    vec![None; count]
                })
            })
            .collect()
    })
}

fn update(
    job: Job<'_>,
    defaults: &DefaultLists,
    digest_wanted: &(dyn Fn(&PluginId) -> bool + Sync),
) -> Option<Cached> {
    let Job { candidate, cached, look } = job;
    // A digest somebody looked at stays known: it is compared or computed again, never forgotten.
    let known_digest = cached.as_ref().and_then(|cached| cached.digest.clone());
    let last_good = cached.as_ref().filter(|_| candidate.origin == Origin::Dev).and_then(Cached::good);
    let kept = cached.filter(|cached| match look {
        Look::Believe => true,
        Look::Check => cached.is_current(&candidate.dir),
        Look::Reload => false,
    });
    let mut current = match kept {
        Some(cached) => cached,
        None => Cached { digest: known_digest, ..read(candidate, defaults)?.or(last_good) },
    };
    let wanted = match candidate.origin {
        Origin::Builtin => false,
        Origin::User => current.plugin.as_ref().is_some_and(|plugin| digest_wanted(plugin.id())),
        Origin::Dev => current.plugin.is_some(),
    };
    let stale = look != Look::Believe && current.digest.is_some();
    if stale || (wanted && current.digest.is_none()) {
        current.refresh_digest(&candidate.dir, candidate.origin);
    }
    Some(current)
}

fn read(candidate: &Candidate, defaults: &DefaultLists) -> Option<Cached> {
    // A folder under development that went away holds no plugin; one that cannot be read has a problem.
    let manifest = candidate.dir.join("plugin.json");
    let gone = || {
        std::fs::symlink_metadata(&manifest).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    if candidate.origin == Origin::Dev && gone() {
        return None;
    }
    let loaded = load::load(&candidate.dir, candidate.origin, defaults)?;
    let racy = loaded.watched.iter().any(|watched| watched.stamp.is_some_and(|stamp| stamp.is_racy()));
    Some(Cached {
        plugin: loaded.plugin.map(Arc::new),
        problems: Arc::new(loaded.problems),
        watched: loaded.watched,
        racy,
        kept: false,
        digest: None,
    })
}

impl Cached {
    /// The plugin, when it may stand in for one that cannot be read: it was read without errors.
    fn good(&self) -> Option<Arc<LoadedPlugin>> {
        let good = self.kept || !self.problems.iter().any(Problem::is_error);
        self.plugin.clone().filter(|_| good)
    }

    /// devkit §4.6: a manifest that is broken while somebody types does not end what runs. The last one
    /// without errors stays in force, with the errors of what is on disk.
    fn or(self, last_good: Option<Arc<LoadedPlugin>>) -> Self {
        let Some(last) = last_good.filter(|_| self.problems.iter().any(Problem::is_error)) else {
            return self;
        };
        let mut problems = Arc::unwrap_or_clone(self.problems);
        let message = Text::new(
            "What runs is the plugin as it was before these errors",
            "当前运行的是出现这些错误之前的插件",
        );
        let told = Problem::new(ProblemCode::ManifestKept, "", message).source(Source::Manifest);
        problems.push(told.of_plugin(last.id()).in_dir(last.dir.to_string_lossy()));
        // Another one, so that the next snapshot is another one and shows the errors.
        let plugin = Some(Arc::new(LoadedPlugin::clone(&last)));
        Self { plugin, problems: Arc::new(problems), kept: true, ..self }
    }

    /// True when no file the plugin was loaded from has another key now.
    fn is_current(&self, dir: &Path) -> bool {
        if self.racy || self.watched.is_empty() {
            return false;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(root) = rustix::fs::open(dir, flags, Mode::empty()) else { return false };
        self.watched
            .iter()
            .all(|watched| Stamp::at(root.as_fd(), &watched.path, watched.follow) == watched.stamp)
    }

    /// The known digest of the tree.
    pub(crate) fn digest(&self) -> Option<Result<Digest, String>> {
        self.digest.as_ref().map(|known| match known.as_ref() {
            Ok(keyed) => Ok(keyed.digest.clone()),
            Err(error) => Err(error.clone()),
        })
    }

    /// Computes the digest unless the known one still holds.
    pub(crate) fn refresh_digest(&mut self, dir: &Path, origin: Origin) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = match rustix::fs::open(dir, flags, Mode::empty()) {
            Ok(root) => root,
            Err(errno) => {
                self.digest = Some(Arc::new(Err(std::io::Error::from(errno).to_string())));
                return;
            }
        };
        if let Some(known) = &self.digest
            && let Ok(keyed) = known.as_ref()
            && keyed.keys.still_hold(root.as_fd())
        {
            return;
        }
        self.digest = Some(Arc::new(
            digest::keyed(root.as_fd(), development::skip(origin)).map_err(|error| error.to_string()),
        ));
    }
}

/// Drops later directories with an id that an earlier one of the same root has.
pub(crate) fn drop_duplicates(found: Vec<(Candidate, Cached)>) -> (Vec<(Candidate, Cached)>, Vec<Problem>) {
    let mut first: HashMap<(Origin, PluginId), PathBuf> = HashMap::new();
    let mut problems = Vec::new();
    let mut kept = Vec::with_capacity(found.len());
    for (candidate, cached) in found {
        if let Some(plugin) = &cached.plugin {
            let key = (candidate.origin, plugin.id().clone());
            if let Some(earlier) = first.get(&key) {
                problems.push(duplicate(plugin.id(), earlier, &candidate.dir));
                continue;
            }
            first.insert(key, candidate.dir.clone());
        }
        kept.push((candidate, cached));
    }
    (kept, problems)
}

fn duplicate(id: &PluginId, first: &Path, second: &Path) -> Problem {
    let name = |path: &Path| quote(&path.file_name().unwrap_or_default().to_string_lossy());
    let (a, b) = (name(first), name(second));
    let id_text = quote(id.as_str());
    let message = Text::new(
        format!("Plugin id {id_text} is in both {a} and {b}; {a} is used"),
        format!("插件 id {id_text} 同时出现在 {a} 和 {b} 中；使用 {a}"),
    );
    Problem::new(ProblemCode::DuplicatePlugin, "/id", message)
        .source(Source::Scan)
        .of_plugin(id)
        .in_dir(second.to_string_lossy())
}
