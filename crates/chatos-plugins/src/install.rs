//! Installing packages in one atomic step (plugins §8): read everything into staging, check it
//! completely, make it durable, then swap directories under a journal. Killed at any moment, the
//! next start finds either the old version or the new one, whole.

mod journal;
mod kept;
mod record;
mod repair;
mod stage;
mod swap;
mod uninstall;

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chatos_contribution::DefaultLists;
use chatos_manifest::{PluginId, Problem, quote};
use chatos_paths::{FileLock, LockError};
use serde::Serialize;

pub use kept::KeptDir;
pub use repair::RepairReport;
pub use uninstall::{DataChoice, Uninstalled};

use crate::digest::{self, Digest, TreeFile};
use crate::fs::{Fs, RealFs, ensure_dir, open_path, remove_tree};
use crate::layout::{Origin, UiApps};
use crate::load;
use crate::package::{Limits, Package, PackageCode, PackageError};
use crate::registry::{Refresh, Registry};
use crate::trust::{FileChange, TrustState, TrustedFile, changes};
use stage::Stage;

/// How long an install waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// What to install and how.
#[derive(Debug, Clone)]
pub struct InstallRequest {
    /// A directory or a `.zip` file.
    pub source: PathBuf,
    /// "Install what works": app-, compact-, backend- and ai-level errors are tolerated.
    pub allow_problems: bool,
    /// Stop before the swap and say what would change.
    pub dry_run: bool,
    /// Names every step in the log.
    pub log_id: String,
}

impl InstallRequest {
    /// An ordinary install with a new log id.
    pub fn new(source: impl Into<PathBuf>) -> Self {
        Self { source: source.into(), allow_problems: false, dry_run: false, log_id: new_log_id("ins") }
    }
}

/// What is being done, for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Waiting for another install.
    Waiting,
    /// Reading and checking the package.
    Reading,
    /// Checking manifests and files.
    Checking,
    /// Making the files durable.
    Saving,
    /// Exchanging the old version for the new one.
    Swapping,
}

/// Told about progress, and asked whether to go on.
pub trait Progress: Send + Sync {
    /// `done` of `total` bytes (when known) in this phase.
    fn report(&self, phase: Phase, done: u64, total: Option<u64>);
    /// True to stop; honoured until the swap begins.
    fn is_canceled(&self) -> bool;
}

/// Nobody watches and nobody cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _: Phase, _: u64, _: Option<u64>) {}
    fn is_canceled(&self) -> bool {
        false
    }
}

/// What was installed.
#[derive(Debug, Clone)]
pub struct InstallReport {
    /// For the log.
    pub log_id: String,
    /// The user root.
    pub plugins_root: PathBuf,
    /// In package order.
    pub plugins: Vec<InstalledPlugin>,
    /// Problems that did not prevent it: warnings, and errors the person tolerated.
    pub problems: Vec<Problem>,
    /// Files beside the plugins that were not installed.
    pub ignored: usize,
    /// True when nothing was changed.
    pub dry_run: bool,
}

/// One plugin of an install.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "field for field the documented result")]
pub struct InstalledPlugin {
    pub id: PluginId,
    pub name: String,
    pub version: String,
    pub previous_version: Option<String>,
    pub dir: PathBuf,
    pub replaced: bool,
    pub trust: TrustState,
    pub digest: Digest,
    pub files: usize,
    pub bytes: u64,
    pub excluded: usize,
    /// Differences to the installed version, for a dry run.
    pub changes: Vec<FileChange>,
    /// Folders with its id that were not installed: they are moved aside.
    pub kept: Vec<KeptDir>,
}

/// Installs and removes plugins of one state directory.
#[derive(Clone)]
pub struct Installer {
    ui_apps: UiApps,
    fs: Arc<dyn Fs>,
    limits: Limits,
    defaults: DefaultLists,
    patience: Duration,
}

impl Installer {
    /// The ordinary installer.
    pub fn new(ui_apps: UiApps, defaults: DefaultLists) -> Self {
        Self { ui_apps, fs: Arc::new(RealFs), limits: Limits::default(), defaults, patience: PATIENCE }
    }

    /// With another file system, for fault tests.
    pub fn with_fs(mut self, fs: Arc<dyn Fs>) -> Self {
        self.fs = fs;
        self
    }

    /// With other limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Waiting less (or longer) for another install.
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Installs a package, or says what it would change.
    pub fn install(
        &self,
        request: &InstallRequest,
        registry: &Registry,
        progress: &dyn Progress,
    ) -> Result<InstallReport, PackageError> {
        let log_id = request.log_id.as_str();
        tracing::info!(log_id, source = %request.source.display(), "install: begins");
        let result = self.install_locked(request, registry, progress);
        match &result {
            Ok(report) => {
                for plugin in &report.plugins {
                    tracing::info!(log_id, plugin = %plugin.id, version = plugin.version, "install: done");
                }
            }
            Err(error) => {
                tracing::warn!(log_id, code = error.code.as_str(), %error, "install: refused or failed");
            }
        }
        result
    }

    fn install_locked(
        &self,
        request: &InstallRequest,
        registry: &Registry,
        progress: &dyn Progress,
    ) -> Result<InstallReport, PackageError> {
        let mut package = Package::open(&request.source, self.limits)?;
        self.prepare()?;
        let _lock = self.lock(progress)?;
        let work = Work::begin(self)?;
        let result = self.install_in(&work, request, &mut package, registry, progress);
        // What is left in staging is removed here, or at the next start if that fails too.
        work.clean(self, result.is_ok());
        if result.is_ok() && !request.dry_run {
            registry.refresh(&Refresh::Check);
        }
        result
    }

    fn install_in(
        &self,
        work: &Work,
        request: &InstallRequest,
        package: &mut Package,
        registry: &Registry,
        progress: &dyn Progress,
    ) -> Result<InstallReport, PackageError> {
        progress.report(Phase::Reading, 0, None);
        let mut stage = Stage::new(self.fs.as_ref(), work.new_dir()?, self.limits, progress);
        let tally = package.read(&mut stage)?;
        let staged = stage.finish();
        progress.report(Phase::Checking, 0, None);
        let mut plan = self.check(work, request, registry, tally.excluded)?;
        if request.dry_run {
            self.compare(&mut plan)?;
        } else {
            progress.report(Phase::Saving, 0, Some(staged.bytes));
            staged.make_durable(self.fs.as_ref(), work)?;
            if progress.is_canceled() {
                return Err(PackageError::canceled());
            }
            progress.report(Phase::Swapping, 0, None);
            let gate = registry.gate();
            let _no_scan = gate.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            swap::swap(self.fs.as_ref(), work, &self.ui_apps, &plan.swaps, &request.log_id)?;
            self.keep_aside(work, &request.log_id, &plan.keep());
            let installed = plan.swaps.iter().map(|swap| (&swap.id, Some(swap.digest.as_str())));
            record::note(self.fs.as_ref(), &self.ui_apps, installed);
        }
        Ok(InstallReport {
            log_id: request.log_id.clone(),
            plugins_root: self.ui_apps.plugins(),
            plugins: plan.plugins,
            problems: plan.problems,
            ignored: tally.ignored,
            dry_run: request.dry_run,
        })
    }

    /// Moves aside what was not installed. When that fails it stays in staging, and the next start does it.
    fn keep_aside(&self, work: &Work, log_id: &str, names: &[String]) {
        let moved = kept::move_aside(self.fs.as_ref(), work.dir.as_fd(), &self.ui_apps, log_id, names);
        if let Err(error) = moved {
            tracing::error!(log_id, %error, "folders that were not installed are moved aside at the next start");
        }
    }

    /// Finds and validates the plugins in staging, and decides what each of them replaces.
    fn check(
        &self,
        work: &Work,
        request: &InstallRequest,
        registry: &Registry,
        excluded: usize,
    ) -> Result<Plan, PackageError> {
        let roots = staged_roots(&work.path.join("new"))?;
        let installed = swap::installed(&self.ui_apps.plugins())
            .map_err(|error| PackageError::io("look at the installed plugins", "查看已安装的插件", error))?;
        let builtin: Vec<PluginId> = registry
            .snapshot()
            .plugins
            .iter()
            .filter(|plugin| plugin.loaded.origin == Origin::Builtin)
            .map(|plugin| plugin.id().clone())
            .collect();
        let mut plan = Plan::default();
        let mut refused = Vec::new();
        let record = record::Installs::read(&self.ui_apps);
        let log_id = Some(request.log_id.as_str()).filter(|_| !request.dry_run);
        for (from, path) in roots {
            let Some(loaded) = load::load(&path, Origin::User, &self.defaults) else {
                return Err(PackageError::no_manifest());
            };
            let mut problems = loaded.problems;
            for problem in &mut problems {
                problem.dir = None;
            }
            let tolerable = |problem: &Problem| {
                !problem.is_error() || (request.allow_problems && problem.dropped.is_tolerable())
            };
            let acceptable = problems.iter().all(tolerable);
            match loaded.plugin {
                Some(plugin) if acceptable => {
                    plan.problems.extend(problems);
                    plan.problems.extend(crate::imports::imports_of(&plugin).warnings());
                    let id = plugin.id().clone();
                    self.check_id(&id, &plan, &installed, &builtin)?;
                    let root = open_path(&path).map_err(staging_error)?;
                    let found = digest::inventory(root.as_fd()).map_err(staging_error)?;
                    let old: Vec<&swap::InstalledDir> =
                        installed.iter().filter(|dir| dir.holds(&id)).collect();
                    let keep: Vec<OsString> = old
                        .iter()
                        .map(|dir| dir.name.clone())
                        .filter(|name| !record.is(&self.ui_apps, &id, name))
                        .collect();
                    let kept = keep.iter().map(|name| KeptDir::new(&self.ui_apps, log_id, name)).collect();
                    plan.swaps.push(swap::Swap {
                        id: id.clone(),
                        from,
                        olds: old.iter().map(|dir| dir.name.clone()).collect(),
                        keep,
                        digest: record::text(&found.digest),
                    });
                    plan.plugins.push(InstalledPlugin {
                        name: plugin.manifest.name.clone(),
                        version: plugin.manifest.version.clone(),
                        previous_version: old.iter().find_map(|dir| dir.version.clone()),
                        dir: self.ui_apps.plugins().join(id.as_str()),
                        replaced: !old.is_empty(),
                        trust: trust_after(registry, &id, &found.digest),
                        digest: found.digest.clone(),
                        files: found.files.len(),
                        bytes: found.bytes(),
                        excluded,
                        changes: Vec::new(),
                        kept,
                        id,
                    });
                    plan.found.push(found.files);
                }
                _ => refused.extend(problems),
            }
        }
        if refused.is_empty() { Ok(plan) } else { Err(PackageError::problems(refused)) }
    }

    fn check_id(
        &self,
        id: &PluginId,
        plan: &Plan,
        installed: &[swap::InstalledDir],
        builtin: &[PluginId],
    ) -> Result<(), PackageError> {
        let shown = quote(id.as_str());
        if plan.plugins.iter().any(|plugin| plugin.id == *id) {
            return Err(PackageError::new(
                PackageCode::DuplicatePlugin,
                format!("Plugin id {shown} is in the package twice"),
                format!("插件 id {shown} 在安装包中出现了两次"),
            ));
        }
        let others = plan
            .plugins
            .iter()
            .map(|plugin| &plugin.id)
            .chain(installed.iter().filter_map(|dir| dir.id.as_ref()))
            .chain(builtin);
        for other in others {
            if other != id && other.as_str().eq_ignore_ascii_case(id.as_str()) {
                let other = quote(other.as_str());
                return Err(PackageError::new(
                    PackageCode::IdCaseConflict,
                    format!("Plugin id {shown} differs from {other} only in case"),
                    format!("插件 id {shown} 与 {other} 仅大小写不同"),
                ));
            }
        }
        // The directory that would be used belongs to another plugin, placed there by hand.
        let occupant = installed.iter().find(|dir| dir.name.as_os_str() == id.as_str() && !dir.holds(id));
        if let Some(other) = occupant.and_then(|dir| dir.id.as_ref()) {
            return Err(PackageError::new(
                PackageCode::DirectoryTaken,
                format!("The directory {shown} holds another plugin, {}", quote(other.as_str())),
                format!("目录 {shown} 中是另一个插件 {}", quote(other.as_str())),
            ));
        }
        Ok(())
    }

    /// Fills in what a dry run reports.
    fn compare(&self, plan: &mut Plan) -> Result<(), PackageError> {
        for ((plugin, swap), new) in plan.plugins.iter_mut().zip(&plan.swaps).zip(&plan.found) {
            let old = match swap.olds.first() {
                None => Vec::new(),
                Some(name) => {
                    let root = open_path(&self.ui_apps.plugins().join(name)).map_err(staging_error)?;
                    digest::inventory(root.as_fd()).map_err(staging_error)?.files
                }
            };
            let old: Vec<TrustedFile> = old.into_iter().map(TrustedFile::from).collect();
            plugin.changes = changes(&old, new);
        }
        Ok(())
    }

    fn prepare(&self) -> Result<(), PackageError> {
        self.ui_apps
            .prepare()
            .map_err(|error| PackageError::io("make the plugin directories", "创建插件目录", error))
    }

    /// Waits for the one install or uninstall at a time.
    fn lock(&self, progress: &dyn Progress) -> Result<FileLock, PackageError> {
        let started = Instant::now();
        let path = self.ui_apps.lock_file();
        loop {
            match FileLock::try_exclusive(&path) {
                Ok(lock) => return Ok(lock),
                Err(LockError::Held { .. }) if progress.is_canceled() => return Err(PackageError::canceled()),
                Err(LockError::Held { .. }) if started.elapsed() < self.patience => {
                    progress.report(Phase::Waiting, 0, None);
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(LockError::Held { .. }) => {
                    return Err(PackageError::new(
                        PackageCode::Conflict,
                        "Another plugin is being installed or removed",
                        "另一个插件正在安装或删除",
                    ));
                }
                Err(LockError::Io { source, .. }) => {
                    return Err(PackageError::io("lock the plugin directories", "锁定插件目录", source));
                }
            }
        }
    }
}

fn staging_error(error: std::io::Error) -> PackageError {
    PackageError::io("read the staged files", "读取暂存文件", error)
}

/// The trust a plugin will have: its record is for these bytes, for others, or not there.
fn trust_after(registry: &Registry, id: &PluginId, digest: &Digest) -> TrustState {
    match registry.trust_store().get(id) {
        Ok(Some(record)) if record.digest == *digest => TrustState::Trusted,
        Ok(Some(_)) => TrustState::Changed,
        Ok(None) | Err(_) => TrustState::Untrusted,
    }
}

#[derive(Default)]
struct Plan {
    plugins: Vec<InstalledPlugin>,
    swaps: Vec<swap::Swap>,
    problems: Vec<Problem>,
    /// Files of each plugin, in the order of `plugins`.
    found: Vec<Vec<TreeFile>>,
}

impl Plan {
    /// Every folder that was not installed. A name that is not UTF-8 was refused with the journal.
    fn keep(&self) -> Vec<String> {
        let names = self.swaps.iter().flat_map(|swap| &swap.keep);
        names.filter_map(|name| name.to_str().map(str::to_owned)).collect()
    }
}

/// The plugin directories in staging: the top, or those directly below.
fn staged_roots(new: &Path) -> Result<Vec<(PathBuf, PathBuf)>, PackageError> {
    if std::fs::symlink_metadata(new.join("plugin.json")).is_ok() {
        return Ok(vec![(PathBuf::from("new"), new.to_owned())]);
    }
    let top = open_path(new).map_err(staging_error)?;
    let mut roots = Vec::new();
    for name in crate::fs::names(top.as_fd()).map_err(staging_error)? {
        let path = new.join(&name);
        if std::fs::symlink_metadata(path.join("plugin.json")).is_ok() {
            roots.push((Path::new("new").join(&name), path));
        }
    }
    if roots.is_empty() { Err(PackageError::no_manifest()) } else { Ok(roots) }
}

/// One directory below `.staging`, with the handles everything in it is done by.
struct Work {
    name: OsString,
    path: PathBuf,
    staging: OwnedFd,
    dir: OwnedFd,
}

impl Work {
    fn begin(installer: &Installer) -> Result<Self, PackageError> {
        let fail = |error| PackageError::io("make a staging directory", "创建暂存目录", error);
        let staging = open_path(&installer.ui_apps.staging()).map_err(fail)?;
        let name = OsString::from(new_log_id("stg"));
        let fs = installer.fs.as_ref();
        let dir = ensure_dir(fs, staging.as_fd(), &name, 0o700).map_err(fail)?;
        let path = installer.ui_apps.staging().join(&name);
        let work = Self { name, path, staging, dir };
        if let Err(error) = fs.make_dir(work.dir.as_fd(), "new".as_ref(), 0o755) {
            work.clean(installer, false);
            return Err(fail(error));
        }
        Ok(work)
    }

    fn new_dir(&self) -> Result<OwnedFd, PackageError> {
        crate::fs::open_dir(self.dir.as_fd(), "new".as_ref()).map_err(staging_error)
    }

    /// Removes the work directory, unless a journal in it is still needed to repair something.
    fn clean(&self, installer: &Installer, finished: bool) {
        if journal::is_pending(self.dir.as_fd(), finished) {
            tracing::error!(staging = %self.path.display(), "an exchange could not be ended; the next start does it");
            return;
        }
        if let Err(error) = remove_tree(installer.fs.as_ref(), self.staging.as_fd(), &self.name) {
            tracing::warn!(%error, staging = %self.path.display(), "a staging directory is left; it is removed at the next start");
        }
    }
}

/// Unpacks a package below `into` (an empty directory) with all checks of an install, and returns the
/// directories of its plugins: what `validate` looks at when it is given a zip file.
pub fn unpack(source: &Path, into: &Path) -> Result<Vec<PathBuf>, PackageError> {
    let limits = Limits::default();
    let mut package = Package::open(source, limits)?;
    let root = open_path(into).map_err(staging_error)?;
    let mut stage = Stage::new(&RealFs, root, limits, &NoProgress);
    package.read(&mut stage)?;
    Ok(staged_roots(into)?.into_iter().map(|(_, path)| path).collect())
}

/// `<prefix>_<26 characters>`: sorts by time, unique.
pub fn new_log_id(prefix: &str) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut value = uuid::Uuid::now_v7().as_u128();
    let mut digits = [b'0'; 26];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(value & 31) as usize];
        value >>= 5;
    }
    format!("{prefix}_{}", String::from_utf8_lossy(&digits))
}
