//! Plugins as the product uses them: the registry over this state directory, trust in the database,
//! installs as operations, contributions mirrored where the person wants that.

mod builtin;
mod doctor;
mod operations;
mod sync;
mod trust;
mod verify;

use std::sync::Arc;

use chatos_contribution::DefaultLists;
use chatos_events::Notice;
use chatos_plugins::{Installer, Plugins, Registry, Roots, UiApps, Watcher, package_fault};
use chatos_tool::Fault;
use chatos_wire::Severity;

use crate::host::Host;
pub(crate) use sync::SETTING as SYNC_SETTING;
use trust::{StoreNames, StoreTrust};

impl Host {
    /// The plugins of this state, scanned on first use.
    pub fn plugins(&self) -> Result<&Plugins, Fault> {
        if let Some(desk) = self.plugin_cell().get() {
            return Ok(desk);
        }
        let desk = self.open_plugins()?;
        if let Ok(backends) = self.backends() {
            desk.set_backends(backends.clone());
        }
        Ok(self.plugin_cell().get_or_init(|| desk))
    }

    fn open_plugins(&self) -> Result<Plugins, Fault> {
        let state = self.dir().path();
        let user = UiApps::of_state_dir(state);
        let defaults = DefaultLists::embedded();
        let installer = Installer::new(user.clone(), defaults.clone());
        let trust = StoreTrust::new(self.store().clone());
        // plugins §1.1: unfinished swaps first, before anything is scanned.
        let report = installer.repair().map_err(|error| package_fault(&error, self.lang(), None))?;
        for id in &report.removed {
            trust.forget(id)?;
        }
        self.tell_repairs(&report);
        let builtin = builtin::materialise(&self.dir().runtime(), self.built_in_plugins())
            .map_err(|error| builtin::unwritable(&error))?;
        let roots = Roots { builtin, user, dev: self.dev_dirs().to_vec() };
        let registry = Registry::open(roots, Arc::new(trust), defaults);
        let names = Arc::new(StoreNames::new(self.store().clone()));
        Ok(Plugins::open(Arc::new(registry), installer, names, self.dir().plugin_logs()))
    }

    fn tell_repairs(&self, report: &chatos_plugins::RepairReport) {
        use chatos_tool::Text;
        for id in &report.undone {
            self.notice(Notice {
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
            self.notice(Notice {
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

    /// Watches plugin directories until the host stops, telling everybody what changed.
    pub(crate) fn tend_plugins(self: &Arc<Self>) -> Result<(), Fault> {
        let desk = self.plugins()?;
        self.plugins_changed(&desk.snapshot());
        if !self.watches_plugins() {
            return Ok(());
        }
        // The watcher is stopped before the host goes, so an upgrade only fails at the very end.
        let (host, touched) = (Arc::downgrade(self), Arc::downgrade(self));
        let watcher = Watcher::start_with(
            Arc::clone(desk.registry()),
            move |snapshot| {
                if let Some(host) = host.upgrade() {
                    host.plugins_changed(&snapshot);
                }
            },
            move |what| {
                if let Some(host) = touched.upgrade() {
                    host.plugin_files_touched(what);
                }
            },
        );
        match watcher {
            Ok(watcher) => desk.keep_watcher(watcher),
            Err(error) => tracing::error!(%error, "plugin directories are not watched"),
        }
        // The watcher tells what is newer than its start; somebody else may have looked just before that.
        self.plugins_changed(&desk.snapshot());
        Ok(())
    }
}
