//! The plugins of one state as every part of a host has them: opened on first use, looked at again right before
//! something of them runs, and followed by whoever depends on what they are.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use chatos_contribution::DefaultLists;
use chatos_events::{Notice, Notices};
use chatos_manifest::PluginId;
use chatos_paths::StateDir;
use chatos_tool::{Fault, Lang, Text};
use chatos_wire::Severity;

use crate::backend::Backends;
use crate::builtin;
use crate::desk::{NameStore, Plugins};
use crate::digest::Inventory;
use crate::fault::package_fault;
use crate::install::{Installer, RepairReport};
use crate::layout::{Roots, UiApps};
use crate::registry::{Plugin, Refresh, Registry, Snapshot, Unverified};
use crate::trust::{TrustState, TrustStore};
use crate::watch::{Touched, Watcher};

/// Removes what the database holds of a plugin.
pub type Forget = Box<dyn Fn(&PluginId) -> Result<(), Fault> + Send + Sync>;

/// What it is made of.
pub struct PluginHomeParts {
    pub dir: StateDir,
    /// The built-in plugins, as path below their root and content; empty for a program without any.
    pub embedded: &'static [(&'static str, &'static [u8])],
    /// Folders of plugins that are being written, each a plugin of source `dev`.
    pub dev: Vec<PathBuf>,
    pub trust: Arc<dyn TrustStore>,
    pub names: Arc<dyn NameStore>,
    /// Removes everything the database holds of a plugin whose removal was cut off.
    pub forget: Forget,
    pub notices: Notices,
    /// The language of messages nobody asked for.
    pub lang: Lang,
}

/// Somebody who does something whenever the plugins are others.
type Follower = Box<dyn Fn(&Snapshot) + Send + Sync>;

/// The plugins of one state. Clones are the same.
#[derive(Clone)]
pub struct PluginHome(Arc<Inner>);

struct Inner {
    parts: PluginHomeParts,
    opened: OnceLock<Plugins>,
    backends: OnceLock<Backends>,
    followers: RwLock<Vec<Follower>>,
}

impl PluginHome {
    /// Nothing is looked at yet.
    pub fn new(parts: PluginHomeParts) -> Self {
        Self(Arc::new(Inner {
            parts,
            opened: OnceLock::new(),
            backends: OnceLock::new(),
            followers: RwLock::default(),
        }))
    }

    /// The plugins; the first use scans their folders. Blocks on disk.
    pub fn plugins(&self) -> Result<&Plugins, Fault> {
        if let Some(plugins) = self.0.opened.get() {
            return Ok(plugins);
        }
        let plugins = self.open()?;
        if let Some(backends) = self.0.backends.get() {
            plugins.set_backends(backends.clone());
        }
        Ok(self.0.opened.get_or_init(|| plugins))
    }

    /// Who runs backends; listings say how they are.
    pub fn set_backends(&self, backends: Backends) {
        let backends = self.0.backends.get_or_init(|| backends);
        if let Some(plugins) = self.0.opened.get() {
            plugins.set_backends(backends.clone());
        }
    }

    fn open(&self) -> Result<Plugins, Fault> {
        let parts = &self.0.parts;
        let user = UiApps::of_state_dir(parts.dir.path());
        let defaults = DefaultLists::embedded();
        let installer = Installer::new(user.clone(), defaults.clone());
        // plugins §1.1: unfinished swaps first, before anything is scanned.
        let report = installer.repair().map_err(|error| package_fault(&error, parts.lang, None))?;
        for id in &report.removed {
            (parts.forget)(id)?;
        }
        self.tell_repairs(&report);
        let builtin = builtin::materialise(&parts.dir.runtime(), parts.embedded)
            .map_err(|error| builtin::unwritable(&error))?;
        let roots = Roots { builtin, user, dev: parts.dev.clone() };
        let registry = Registry::open(roots, Arc::clone(&parts.trust), defaults);
        Ok(Plugins::open(Arc::new(registry), installer, Arc::clone(&parts.names), parts.dir.plugin_logs()))
    }

    fn tell_repairs(&self, report: &RepairReport) {
        let notices = &self.0.parts.notices;
        for id in &report.undone {
            notices.add(Notice {
                code: "install_undone".to_owned(),
                severity: Severity::Info,
                message: Text::new(
                    format!("an interrupted install of {id} was undone; what was there before is in use"),
                    format!("已撤销中断的安装 {id}；继续使用之前的版本"),
                ),
                hint: Some(Text::fixed("install it again", "请重新安装")),
            });
        }
        for (path, reason) in &report.left {
            notices.add(Notice {
                code: "staging_left".to_owned(),
                severity: Severity::Warning,
                message: Text::new(
                    format!("an interrupted install could not be repaired ({reason}): {}", path.display()),
                    format!("无法修复中断的安装（{reason}）：{}", path.display()),
                ),
                hint: Some(Text::fixed(
                    "start ChatOS again once the cause is gone",
                    "请在排除原因后重新启动 ChatOS",
                )),
            });
        }
    }

    /// From now on `follower` is called with every new snapshot, in order.
    pub fn follow(&self, follower: impl Fn(&Snapshot) + Send + Sync + 'static) {
        self.0.followers.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(follower));
    }

    /// Tells every follower about a new snapshot, once. When it returns that is done, whoever did it: one snapshot
    /// is followed after the other, never an older one last.
    pub fn changed(&self, snapshot: &Snapshot) {
        let Ok(plugins) = self.plugins() else { return };
        let _in_order = plugins.following();
        if plugins.is_news(snapshot.revision) {
            for follower in &*self.0.followers.read().unwrap_or_else(PoisonError::into_inner) {
                follower(snapshot);
            }
        }
    }

    /// Watches the folders until [`PluginHome::close`]; `touched` hears of files that changed.
    pub fn watch(&self, touched: impl Fn(&Touched) + Send + Sync + 'static) -> Result<(), Fault> {
        let plugins = self.plugins()?;
        self.changed(&plugins.snapshot());
        // The watcher is stopped before the home goes, so an upgrade only fails at the very end.
        let home = Arc::downgrade(&self.0);
        let told = move |snapshot: Arc<Snapshot>| {
            if let Some(inner) = home.upgrade() {
                Self(inner).changed(&snapshot);
            }
        };
        match Watcher::start_with(Arc::clone(plugins.registry()), told, touched) {
            Ok(watcher) => plugins.keep_watcher(watcher),
            Err(error) => tracing::error!(%error, "plugin directories are not watched"),
        }
        // The watcher tells what is newer than its start; somebody else may have looked just before that.
        self.changed(&plugins.snapshot());
        Ok(())
    }

    /// Stops watching.
    pub fn close(&self) {
        if let Some(plugins) = self.0.opened.get() {
            plugins.close();
        }
    }

    /// Every file of a plugin that is in use, when it may run (plugins §7). One that may not is looked at
    /// again at once, so that everybody sees why. Blocks on disk.
    pub fn verify(&self, plugin: &Plugin) -> Result<Inventory, Unverified> {
        if !plugin.is_trusted() {
            return Err(Unverified::NotTrusted(TrustState::Untrusted));
        }
        let Ok(plugins) = self.plugins() else {
            return Err(Unverified::NotTrusted(TrustState::Untrusted));
        };
        let verified = plugins.registry().verify(plugin);
        if let Err(reason) = &verified {
            // The watcher has not seen it yet.
            tracing::warn!(plugin = %plugin.id(), %reason, "nothing of a plugin is started");
            let dirs = [plugin.loaded.dir.clone()].into();
            self.changed(&plugins.registry().refresh(&Refresh::Dirs(dirs)));
        }
        verified
    }
}
