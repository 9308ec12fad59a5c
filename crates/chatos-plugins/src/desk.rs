//! The one place the API and the terminal ask about plugins. Everything here blocks on disk or
//! database; async callers use a blocking thread.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use chatos_contribution::AppContribution;
use chatos_manifest::{AppId, PluginId, Problem};
use chatos_tool::{Fault, Lang};
use chatos_wire::plugin::{FileDiff, PluginDetails, PluginEntry, PluginListing, PluginLog};

use crate::backend::Backends;
use crate::fault::{manifest_lang, no_app, no_plugin, not_trusted, two_apps};
use crate::install::Installer;
use crate::listing::{Reader, problem_entry};
use crate::load::Icon;
use crate::registry::{ExternalNames, Plugin, Refresh, Registry, Snapshot, TrustError};
use crate::watch::Watcher;

/// Names of servers and prompts that are not of plugins; the host reads them from the database.
pub trait NameStore: Send + Sync {
    /// The names as they are now.
    fn names(&self) -> Result<ExternalNames, Box<dyn std::error::Error + Send + Sync>>;
}

/// The plugins of one state.
pub struct Plugins {
    registry: Arc<Registry>,
    installer: Installer,
    names: Arc<dyn NameStore>,
    logs: PathBuf,
    backends: OnceLock<Backends>,
    /// What the last sync could not do; shown with the other problems.
    sync_problems: Mutex<Vec<Problem>>,
    /// The newest revision that was told to anybody.
    told: AtomicU64,
    /// Held while a snapshot is followed.
    following: Mutex<()>,
    /// Stopped before the registry goes.
    watcher: Mutex<Option<Watcher>>,
}

/// An app as people name it: `PLUGIN.APP`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppKey {
    /// The plugin.
    pub plugin: PluginId,
    /// The app.
    pub app: AppId,
}

/// Differences given with a trust sheet; more are fetched one by one.
const SHEET_DIFFS: usize = 50;
/// Text in them, so that a sheet stays a few megabytes whatever changed.
const SHEET_BYTES: usize = 4 * 1024 * 1024;
/// How often a trust sheet is made again because files changed meanwhile.
const SETTLING: usize = 5;
/// Bytes read from the end of a log.
const LOG_BYTES: u64 = 1024 * 1024;

impl Plugins {
    /// Looks at all of them once.
    pub fn open(
        registry: Arc<Registry>,
        installer: Installer,
        names: Arc<dyn NameStore>,
        logs: PathBuf,
    ) -> Self {
        let desk = Self {
            registry,
            installer,
            names,
            logs,
            backends: OnceLock::new(),
            sync_problems: Mutex::default(),
            told: AtomicU64::new(0),
            following: Mutex::default(),
            watcher: Mutex::default(),
        };
        desk.learn_names();
        desk.registry.refresh(&Refresh::Check);
        desk
    }

    /// The registry itself.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// What installs and removes.
    pub fn installer(&self) -> &Installer {
        &self.installer
    }

    /// The current plugins.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.registry.snapshot()
    }

    /// Tells the desk who runs backends.
    pub fn set_backends(&self, backends: Backends) {
        self.backends.get_or_init(|| backends);
    }

    fn backend_state(&self) -> impl Fn(&Plugin) -> &'static str {
        |plugin| match self.backends.get() {
            Some(backends) if plugin.active => backends.status(plugin.id()).state.as_str(),
            _ => "stopped",
        }
    }

    /// The listing as an app may see it: without places on this machine.
    pub fn listing_for_app(&self, lang: Lang) -> PluginListing {
        self.registry.listing(&self.snapshot(), manifest_lang(lang), Reader::App, &self.backend_state())
    }

    /// Keeps the watcher until [`Plugins::close`].
    pub fn keep_watcher(&self, watcher: Watcher) {
        *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = Some(watcher);
    }

    /// Stops watching.
    pub fn close(&self) {
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(watcher) = watcher {
            watcher.stop();
        }
    }

    /// One at a time: what follows from a snapshot is done before the next one.
    pub fn following(&self) -> MutexGuard<'_, ()> {
        self.following.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True once per new revision.
    pub fn is_news(&self, revision: u64) -> bool {
        self.told.fetch_max(revision, Ordering::SeqCst) < revision
    }

    /// Problems of mirroring contributions, shown with the others.
    pub fn set_sync_problems(&self, problems: Vec<Problem>) {
        *self.sync_problems.lock().unwrap_or_else(PoisonError::into_inner) = problems;
    }

    fn sync_problems(&self) -> Vec<Problem> {
        self.sync_problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells the registry which names the Admin DB uses (ai-contributions §4.3).
    pub fn learn_names(&self) {
        match self.names.names() {
            Ok(names) => self.registry.set_external_names(names),
            Err(error) => tracing::error!(%error, "names of servers and prompts cannot be read"),
        }
    }

    /// Names of servers that were added or removed are given or freed. No folder is looked at: files that were saved
    /// meanwhile are taken by the watcher, or when somebody asks for it.
    pub fn refresh_names(&self) {
        self.learn_names();
        self.registry.refresh(&Refresh::Dirs([].into()));
    }

    /// Errors among the problems, for the status line.
    pub fn error_count(&self) -> usize {
        let snapshot = self.snapshot();
        snapshot.problems.iter().chain(&self.sync_problems()).filter(|problem| problem.is_error()).count()
    }

    /// All problems in one language.
    pub fn problems(&self) -> Vec<Problem> {
        self.snapshot().problems.iter().cloned().chain(self.sync_problems()).collect()
    }

    /// Looks again; `deep` forgets everything first.
    pub fn refresh(&self, deep: bool) -> Arc<Snapshot> {
        self.learn_names();
        self.registry.refresh(if deep { &Refresh::Deep } else { &Refresh::Check })
    }

    /// The listing.
    pub fn listing(&self, lang: Lang) -> PluginListing {
        let lang = manifest_lang(lang);
        let mut listing =
            self.registry.listing(&self.snapshot(), lang, Reader::Person, &self.backend_state());
        let more = self.sync_problems();
        listing.errors.extend(more.iter().map(|problem| problem_entry(problem, lang, Reader::Person)));
        listing
    }

    /// One plugin as in the listing; the person's own one where a built-in has the same id.
    pub fn entry(&self, id: &str) -> Result<PluginEntry, Fault> {
        let snapshot = self.snapshot();
        let plugin = find(&snapshot, id)?;
        Ok(self.registry.entry(plugin, Reader::Person, &self.backend_state()))
    }

    /// One plugin in full.
    pub fn details(&self, id: &str, lang: Lang) -> Result<PluginDetails, Fault> {
        let snapshot = self.snapshot();
        let plugin = find(&snapshot, id)?;
        Ok(self.registry.details(&snapshot, plugin, manifest_lang(lang), &self.backend_state()))
    }

    /// Network addresses of a plugin's servers that are not on the internet.
    pub fn inside_addresses(&self, id: &PluginId) -> Vec<String> {
        use chatos_contribution::Endpoint;
        use chatos_manifest::url::HostClass;
        let snapshot = self.snapshot();
        let Some(plugin) = snapshot.plugin_for_person(id) else { return Vec::new() };
        let servers = plugin.loaded.apps.iter().filter_map(|app| app.ai.as_ref()?.mcp.as_ref());
        servers
            .filter(|server| {
                matches!(&server.endpoint, Endpoint::Network { class } if *class != HostClass::Public)
            })
            .map(|server| server.url.clone())
            .collect()
    }

    /// The plugin in full and what changed in its text files.
    pub fn trust_sheet(&self, id: &str, lang: Lang) -> Result<(PluginDetails, Vec<FileDiff>), Fault> {
        let details = self.settled_details(id, lang)?;
        let mut diffs = Vec::new();
        if let Some(changes) = &details.changes {
            let paths = changes.changed.iter().chain(&changes.added).chain(&changes.removed);
            let mut bytes = 0;
            for change in paths.take(SHEET_DIFFS) {
                let Some(diff) = self.diff(id, &change.path)? else { continue };
                let parts = [&diff.old_text, &diff.new_text, &diff.unified];
                bytes += parts.into_iter().flatten().map(String::len).sum::<usize>();
                if bytes > SHEET_BYTES {
                    break;
                }
                diffs.push(diff);
            }
        }
        Ok((details, diffs))
    }

    /// Details whose digest and words are of the same bytes (security T24): what is shown comes from the
    /// snapshot, the digest from the files, so both are looked at until nothing moved in between.
    fn settled_details(&self, id: &str, lang: Lang) -> Result<PluginDetails, Fault> {
        let mut before = self.registry.refresh(&Refresh::Check);
        for _ in 0..SETTLING {
            let details = self.details(id, lang)?;
            let after = self.registry.refresh(&Refresh::Check);
            if after.revision == before.revision {
                return Ok(details);
            }
            before = after;
        }
        Err(crate::fault::unsettled(id))
    }

    /// One file as it was trusted and as it is; `None` when it is neither.
    pub fn diff(&self, id: &str, path: &str) -> Result<Option<FileDiff>, Fault> {
        let snapshot = self.snapshot();
        let plugin = find(&snapshot, id)?;
        self.registry.file_diff(plugin, path).map_err(|source| {
            let id = plugin.id().clone();
            Fault::from(TrustError::Io { id, source })
        })
    }

    /// Finds an app by `PLUGIN/APP`, or by `PLUGIN.APP`. Ids hold dots, so every split is tried; when two
    /// apps have that name, neither is meant.
    pub fn app_key(&self, key: &str) -> Result<AppKey, Fault> {
        let snapshot = self.snapshot();
        let written = key.strip_prefix("app:").unwrap_or(key);
        let there = |(plugin, app): (&str, &str)| {
            let (plugin, app) = (PluginId::parse(plugin).ok()?, AppId::parse(app).ok()?);
            let is_there =
                snapshot.plugins.iter().any(|found| *found.id() == plugin && found.app(&app).is_some());
            is_there.then_some(AppKey { plugin, app })
        };
        if let Some(exact) = written.split_once('/') {
            return there(exact).ok_or_else(|| no_app(key));
        }
        let splits = written.match_indices('.').map(|(at, _)| (&written[..at], &written[at + 1..]));
        let mut found: Vec<AppKey> = splits.filter_map(there).collect();
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                found.push(last);
                let names = found.iter().map(|found| format!("{}/{}", found.plugin, found.app)).collect();
                Err(two_apps(key, names))
            }
            (None, _) => Err(no_app(key)),
        }
    }

    /// What an app contributes, and whether it may be used. Without `preview` an untrusted app gives
    /// nothing (ai-contributions §7).
    pub fn contribution(
        &self,
        key: &AppKey,
        preview: bool,
    ) -> Result<(Option<AppContribution>, bool), Fault> {
        let snapshot = self.snapshot();
        let plugin = find(&snapshot, key.plugin.as_str())?;
        let trusted = plugin.is_trusted();
        if !trusted && !preview {
            return Err(not_trusted(key.plugin.as_str()));
        }
        Ok((plugin.preview_contribution(&key.app, snapshot.revision), trusted))
    }

    /// The image of an app: bytes and type.
    pub fn icon(&self, plugin: &str, app: &str) -> Result<Option<(Vec<u8>, &'static str)>, Fault> {
        let snapshot = self.snapshot();
        let found = find(&snapshot, plugin)?;
        let app_id = AppId::parse(app).map_err(|_| no_app(app))?;
        let (app, _) = found.app(&app_id).ok_or_else(|| no_app(app))?;
        let Icon::File { path } = &app.icon else { return Ok(None) };
        let kind = match path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "png" => "image/png",
            "jpg" => "image/jpeg",
            "webp" => "image/webp",
            "svg" => "image/svg+xml",
            _ => return Ok(None),
        };
        let opened =
            chatos_paths::Beneath::open(&found.loaded.dir).ok().and_then(|root| root.file(path).ok());
        let Some(inside) = opened else { return Ok(None) };
        let mut bytes = Vec::new();
        let limit = chatos_manifest::limits::ICON_BYTES;
        let read = inside.into_file().take(limit + 1).read_to_end(&mut bytes);
        Ok((read.is_ok() && bytes.len() as u64 <= limit).then_some((bytes, kind)))
    }

    /// The newest lines of a plugin's captured output.
    pub fn log(&self, id: &str, limit: usize) -> Result<PluginLog, Fault> {
        let snapshot = self.snapshot();
        let plugin = find(&snapshot, id)?;
        let path = self.logs.join(format!("{}.log", plugin.id()));
        let lines = tail(&path, limit).unwrap_or_default();
        Ok(PluginLog { path: path.to_string_lossy().into_owned(), lines })
    }
}

fn find<'a>(snapshot: &'a Snapshot, id: &str) -> Result<&'a Arc<Plugin>, Fault> {
    let parsed = PluginId::parse(id).map_err(|_| no_plugin(id))?;
    snapshot.plugin_for_person(&parsed).ok_or_else(|| no_plugin(id))
}

/// The last lines of a file, at most a megabyte of it.
fn tail(path: &std::path::Path, limit: usize) -> std::io::Result<Vec<String>> {
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(LOG_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut lines = Vec::new();
    let mut reader = BufReader::new(file.take(LOG_BYTES));
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        lines.push(String::from_utf8_lossy(&line).trim_end().to_owned());
        line.clear();
    }
    // The first line may have lost its beginning.
    if start > 0 && !lines.is_empty() {
        lines.remove(0);
    }
    let skip = lines.len().saturating_sub(limit);
    Ok(lines.split_off(skip))
}
