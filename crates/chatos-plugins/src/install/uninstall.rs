//! Removing a plugin (plugins §9): what was installed is deleted, a folder that somebody else put there is
//! moved aside. Its data directory is kept unless the person said otherwise, and
//! nothing outside the two roots is ever touched: a link is removed, not what it points to.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use chatos_manifest::{PluginId, quote};

use super::journal::Journal;
use super::{Installer, KeptDir, Work, new_log_id, record, swap};
use crate::fs::{Fs, ensure_dir, exists, open_path};
use crate::layout::{Origin, UiApps};
use crate::package::{PackageCode, PackageError};
use crate::registry::{Refresh, Registry};

/// What happens to the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataChoice {
    /// It stays, and so do the names.
    #[default]
    Keep,
    /// It is deleted.
    Delete,
}

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uninstalled {
    /// The plugin.
    pub id: PluginId,
    /// For the log.
    pub log_id: String,
    /// True when there was a data directory and it was deleted.
    pub data_deleted: bool,
    /// Folders with its id that were not installed: they were moved aside.
    pub kept: Vec<KeptDir>,
}

impl Installer {
    /// Removes a user plugin. The caller has stopped its processes and removed its rows.
    pub fn uninstall(
        &self,
        id: &PluginId,
        data: DataChoice,
        registry: &Registry,
        progress: &dyn super::Progress,
    ) -> Result<Uninstalled, PackageError> {
        let log_id = new_log_id("uns");
        self.prepare()?;
        let _lock = self.lock(progress)?;
        let dirs = self.dirs_of(id, registry)?;
        tracing::info!(log_id, plugin = %id, ?data, "uninstall: begins");
        let installs = record::Installs::read(&self.ui_apps);
        let keep: Vec<String> =
            dirs.iter().filter(|name| !installs.is(&self.ui_apps, id, OsStr::new(name))).cloned().collect();
        let work = Work::begin(self)?;
        let delete_data = data == DataChoice::Delete;
        let journal = Journal::Uninstall {
            version: 1,
            log_id: log_id.clone(),
            id: id.clone(),
            dirs: dirs.clone(),
            keep: keep.clone(),
            delete_data,
        };
        let fs = self.fs.as_ref();
        let failed = |error| PackageError::io("remove the plugin", "删除插件", error);
        let result = journal.write(fs, work.dir.as_fd()).map_err(failed).and_then(|()| {
            let gate = registry.gate();
            let _no_scan = gate.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            let plugins = open_path(&self.ui_apps.plugins()).map_err(failed)?;
            if let Err(error) = take_away(fs, work.dir.as_fd(), plugins.as_fd(), &dirs) {
                put_back(fs, work.dir.as_fd(), plugins.as_fd(), &dirs).map_err(failed)?;
                swap::forget(fs, work.dir.as_fd()).map_err(failed)?;
                return Err(failed(error));
            }
            Ok(())
        });
        if let Err(error) = result {
            work.clean(self, false);
            registry.refresh(&Refresh::Check);
            return Err(error);
        }
        // From here on the plugin is gone; a failure only leaves work for the next start.
        let data_deleted =
            delete_data && take_data(fs, work.dir.as_fd(), &self.ui_apps, id).map_err(failed)?;
        registry.trust_store().remove(id).map_err(|error| {
            PackageError::io("remove the trust record", "删除信任记录", io::Error::other(error))
        })?;
        if delete_data || !self.ui_apps.data_of(id).exists() {
            registry.retain_names(|identity| !identity.is_of_plugin(id));
        }
        record::note(fs, &self.ui_apps, [(id, None)]);
        // Last: it ends what a repair can see of this removal.
        self.keep_aside(&work, &log_id, &keep);
        work.clean(self, true);
        registry.refresh(&Refresh::Check);
        tracing::info!(log_id, plugin = %id, data_deleted, "uninstall: done");
        let kept = keep.iter().map(|name| KeptDir::new(&self.ui_apps, Some(&log_id), OsStr::new(name)));
        Ok(Uninstalled { id: id.clone(), kept: kept.collect(), log_id, data_deleted })
    }

    /// The directories of a user plugin: direct children of the user root whose manifest has the id.
    fn dirs_of(&self, id: &PluginId, registry: &Registry) -> Result<Vec<String>, PackageError> {
        let installed = swap::installed(&self.ui_apps.plugins())
            .map_err(|error| PackageError::io("look at the installed plugins", "查看已安装的插件", error))?;
        let dirs: Vec<String> = installed
            .iter()
            .filter(|dir| dir.holds(id))
            .filter_map(|dir| dir.name.to_str().map(str::to_owned))
            .collect();
        if !dirs.is_empty() {
            return Ok(dirs);
        }
        let shown = quote(id.as_str());
        let builtin = registry
            .snapshot()
            .plugins
            .iter()
            .any(|plugin| plugin.id() == id && plugin.loaded.origin != Origin::User);
        Err(if builtin {
            PackageError::new(
                PackageCode::BuiltinNotRemovable,
                format!("Plugin {shown} is built in"),
                format!("插件 {shown} 是内置插件"),
            )
        } else {
            PackageError::new(
                PackageCode::NotFound,
                format!("No plugin has the id {shown}"),
                format!("没有 id 为 {shown} 的插件"),
            )
        })
    }
}

fn take_away(fs: &dyn Fs, work: BorrowedFd<'_>, plugins: BorrowedFd<'_>, dirs: &[String]) -> io::Result<()> {
    let old = ensure_dir(fs, work, OsStr::new("old"), 0o700)?;
    for name in dirs {
        fs.rename(plugins, OsStr::new(name), old.as_fd(), OsStr::new(name))?;
    }
    fs.sync(old.as_fd())?;
    fs.sync(plugins)
}

fn put_back(fs: &dyn Fs, work: BorrowedFd<'_>, plugins: BorrowedFd<'_>, dirs: &[String]) -> io::Result<()> {
    let old = ensure_dir(fs, work, OsStr::new("old"), 0o700)?;
    for name in dirs {
        if exists(old.as_fd(), OsStr::new(name))? {
            fs.rename(old.as_fd(), OsStr::new(name), plugins, OsStr::new(name))?;
        }
    }
    fs.sync(plugins)
}

/// Moves the data directory into the work directory, where it is deleted with the rest. A link in
/// its place is moved as a link.
pub(super) fn take_data(
    fs: &dyn Fs,
    work: BorrowedFd<'_>,
    ui_apps: &UiApps,
    id: &PluginId,
) -> io::Result<bool> {
    let data = match open_path(&ui_apps.data()) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let name = OsStr::new(id.as_str());
    if !exists(data.as_fd(), name)? {
        return Ok(false);
    }
    fs.rename(data.as_fd(), name, work, OsStr::new("data"))?;
    fs.sync(data.as_fd())?;
    Ok(true)
}

/// True when the removal had begun: a directory it lists lies in the work directory.
pub(super) fn had_begun(work: BorrowedFd<'_>, plugins: BorrowedFd<'_>, dirs: &[String]) -> io::Result<bool> {
    let old = match crate::fs::open_dir(work, OsStr::new("old")) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    for name in dirs {
        if exists(old.as_fd(), OsStr::new(name))? && !exists(plugins, OsStr::new(name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves what is left of a begun removal.
pub(super) fn finish(
    fs: &dyn Fs,
    work: BorrowedFd<'_>,
    plugins: BorrowedFd<'_>,
    dirs: &[String],
) -> io::Result<()> {
    let old = ensure_dir(fs, work, OsStr::new("old"), 0o700)?;
    for name in dirs {
        if exists(plugins, OsStr::new(name))? && !exists(old.as_fd(), OsStr::new(name))? {
            fs.rename(plugins, OsStr::new(name), old.as_fd(), OsStr::new(name))?;
        }
    }
    fs.sync(plugins)
}
