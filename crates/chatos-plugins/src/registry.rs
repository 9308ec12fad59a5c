//! The registry: one immutable snapshot of all plugins with their trust and names (plugins §5–7).
//!
//! Readers take the current snapshot and keep it as long as they like; a refresh makes a new one
//! and never changes an old one. Only one refresh runs at a time; it blocks on disk reads, so async
//! callers put it on a blocking thread.

mod build;
mod snapshot;
mod trusting;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use chatos_contribution::{DefaultLists, NameBook, ServerIdentity};
use chatos_manifest::{Problem, ProblemCode, Source, Text};

pub(crate) use build::preview_names;
pub use snapshot::{AppNames, Plugin, Snapshot};
pub(crate) use trusting::{DIFF_BYTES, is_text, open as open_plugin_dir};
pub use trusting::{TrustError, Unverified};

use crate::digest::Digest;
use crate::layout::{Origin, Roots};
use crate::names_file;
use crate::scan::{self, Cached, Candidate, Job, Look};
use crate::trust::{TrustRecord, TrustStore};

/// How much a refresh looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refresh {
    /// Compare the keys of every plugin; read those that changed.
    Check,
    /// Forget the cache and read everything.
    Deep,
    /// Check only these plugin directories; new and removed directories are always noticed.
    Dirs(HashSet<PathBuf>),
}

/// Names that are not plugins' but share their namespaces (ai-contributions §4.3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExternalNames {
    /// Built-in and user-added servers with their display names.
    pub servers: Vec<(ServerIdentity, String)>,
    /// Names of all prompts in the Admin DB that no app owns.
    pub prompts: HashSet<String>,
}

/// All plugins of one host.
pub struct Registry {
    roots: Roots,
    trust: Arc<dyn TrustStore>,
    defaults: DefaultLists,
    /// Held for the length of a refresh; guards everything a refresh remembers.
    inner: Mutex<Inner>,
    /// Replaced whole; held only to clone the `Arc`.
    current: RwLock<Arc<Snapshot>>,
    /// Taken for writing while the installer swaps directories, so that no scan sees a plugin
    /// between its two renames.
    gate: Arc<RwLock<()>>,
}

#[derive(Default)]
struct Inner {
    cache: HashMap<PathBuf, Cached>,
    book: NameBook,
    external: ExternalNames,
    /// A problem with `names.json`, shown until it is gone.
    names_problem: Option<Problem>,
    watch_problem: Option<Problem>,
    /// Set when external names or problems changed, so that the fast path is not taken.
    stale: bool,
}

impl Registry {
    /// A registry over `roots`; scans nothing yet.
    pub fn open(roots: Roots, trust: Arc<dyn TrustStore>, defaults: DefaultLists) -> Self {
        let (book, names_problem) = names_file::read(&roots.user.names_file());
        let inner = Inner { book, names_problem, ..Inner::default() };
        let current = RwLock::new(Arc::new(Snapshot::empty(&roots)));
        Self { roots, trust, defaults, inner: Mutex::new(inner), current, gate: Arc::default() }
    }

    /// The directories this registry looks at.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Excludes scans while directories are swapped.
    pub(crate) fn gate(&self) -> Arc<RwLock<()>> {
        Arc::clone(&self.gate)
    }

    pub(crate) fn trust_store(&self) -> &dyn TrustStore {
        self.trust.as_ref()
    }

    /// Tells the registry which names others use; takes effect with the next refresh.
    pub fn set_external_names(&self, names: ExternalNames) {
        let mut inner = self.lock();
        if inner.external != names {
            inner.external = names;
            inner.stale = true;
        }
    }

    /// The name that was given to a server, built-in and user-added ones included.
    pub fn normalized(&self, identity: &ServerIdentity) -> Option<String> {
        self.lock().book.normalized(identity).map(str::to_owned)
    }

    /// Shows or hides the problem that changes are found by polling only.
    pub(crate) fn set_watch_problem(&self, problem: Option<Problem>) {
        let mut inner = self.lock();
        if inner.watch_problem != problem {
            inner.watch_problem = problem;
            inner.stale = true;
        }
    }

    /// Looks at the disk and publishes a snapshot. Its revision is the old one when nothing differs.
    pub fn refresh(&self, what: &Refresh) -> Arc<Snapshot> {
        let mut inner = self.lock();
        let gate = Arc::clone(&self.gate);
        let _scan = gate.read().unwrap_or_else(PoisonError::into_inner);
        self.refresh_locked(&mut inner, what)
    }

    fn refresh_locked(&self, inner: &mut Inner, what: &Refresh) -> Arc<Snapshot> {
        let (records, trust_problem) = self.records();
        let (candidates, root_problems) = scan::candidates(&self.roots);
        let mut cache = std::mem::take(&mut inner.cache);
        if *what == Refresh::Deep {
            // What was read last of a directory under development is not a cache: it stays in force while
            // the manifest is broken.
            let dev =
                |dir: &PathBuf| candidates.iter().any(|one| one.origin == Origin::Dev && one.dir == *dir);
            cache.retain(|dir, _| dev(dir));
        }
        let jobs: Vec<Job<'_>> = candidates
            .iter()
            .map(|candidate| Job {
                candidate,
                cached: cache.remove(&candidate.dir),
                look: look(what, candidate),
            })
            .collect();
        let updated = scan::update_all(jobs, &self.defaults, &|id| records.contains_key(id));
        let mut gone = Vec::new();
        let mut found: Vec<(Candidate, Cached)> = Vec::new();
        for (candidate, cached) in candidates.into_iter().zip(updated) {
            match cached {
                Some(cached) => found.push((candidate, cached)),
                None if candidate.origin == Origin::Dev => gone.push(scan::nothing_there(&candidate.dir)),
                None => {}
            }
        }
        inner.cache =
            found.iter().map(|(candidate, cached)| (candidate.dir.clone(), cached.clone())).collect();

        let previous = self.snapshot();
        let (kept, mut problems) = scan::drop_duplicates(found);
        problems.extend(root_problems);
        problems.extend(gone);
        problems.extend(trust_problem);
        problems.extend(inner.watch_problem.clone());
        let states: Vec<build::Found> = kept
            .into_iter()
            .map(|(candidate, cached)| build::Found::new(candidate, cached, &records))
            .collect();
        if !inner.stale && build::is_unchanged(&previous, &states, &problems) {
            return previous;
        }
        inner.stale = false;
        let book_before = inner.book.clone();
        let built = build::build(states, &mut inner.book, &inner.external, &previous);
        if inner.book != book_before {
            inner.names_problem = names_file::write(&self.roots.user.names_file(), &inner.book);
        }
        let found_problems = problems.clone();
        problems.extend(built.problems);
        problems.extend(inner.names_problem.clone());
        let next = Snapshot::next(&previous, &self.roots, built.plugins, problems, found_problems);
        log_new_problems(&previous, &next);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&next);
        next
    }

    /// The digest of what is on disk for a listed plugin, computed now if nobody needed it before.
    pub fn digest(&self, plugin: &Plugin) -> Result<Digest, String> {
        if let Some(digest) = &plugin.trust.digest {
            return Ok(digest.clone());
        }
        let mut inner = self.lock();
        let dir = &plugin.loaded.dir;
        match inner.cache.get_mut(dir) {
            Some(cached) => {
                if cached.digest().is_none() {
                    cached.refresh_digest(dir, plugin.loaded.origin);
                }
                cached.digest().unwrap_or_else(|| Err("the plugin directory cannot be read".to_owned()))
            }
            None => Err("the plugin is no longer installed".to_owned()),
        }
    }

    /// Frees the names of identities for which `keep` is false and saves the book.
    pub(crate) fn retain_names(&self, keep: impl FnMut(&ServerIdentity) -> bool) {
        let mut inner = self.lock();
        let before = inner.book.clone();
        inner.book.retain(keep);
        if inner.book != before {
            inner.names_problem = names_file::write(&self.roots.user.names_file(), &inner.book);
            inner.stale = true;
        }
    }

    /// Trust records by plugin. A store that cannot answer makes every user plugin untrusted.
    fn records(&self) -> (HashMap<chatos_manifest::PluginId, TrustRecord>, Option<Problem>) {
        match self.trust.list() {
            Ok(records) => {
                (records.into_iter().map(|record| (record.plugin_id.clone(), record)).collect(), None)
            }
            Err(error) => {
                let message = Text::new(
                    format!("The trust records cannot be read: {}", error.0),
                    format!("无法读取信任记录：{}", error.0),
                );
                let problem = Problem::new(ProblemCode::TrustUnreadable, "", message).source(Source::Trust);
                (HashMap::new(), Some(problem))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A refresh that panicked leaves at worst an empty cache, which the next one fills.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn look(what: &Refresh, candidate: &Candidate) -> Look {
    match what {
        Refresh::Check => Look::Check,
        Refresh::Deep => Look::Reload,
        Refresh::Dirs(dirs) if dirs.contains(&candidate.dir) => Look::Check,
        Refresh::Dirs(_) => Look::Believe,
    }
}

/// Each problem is logged when it appears, not at every listing (plugins §4).
fn log_new_problems(previous: &Snapshot, next: &Snapshot) {
    let known: HashSet<&Problem> = previous.problems.iter().collect();
    for problem in next.problems.iter().filter(|problem| !known.contains(problem)) {
        let plugin = problem.plugin_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let dir = problem.dir.as_deref().unwrap_or_default();
        let code = problem.code.as_str();
        if problem.is_error() {
            tracing::warn!(code, plugin, dir, path = problem.path, "plugin problem: {}", problem.message.en);
        } else {
            tracing::info!(code, plugin, dir, path = problem.path, "plugin warning: {}", problem.message.en);
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("roots", &self.roots).finish_non_exhaustive()
    }
}

/// True for plugins that need no person's decision.
pub(crate) fn is_trusted_by_origin(origin: Origin) -> bool {
    matches!(origin, Origin::Builtin | Origin::Dev)
}
