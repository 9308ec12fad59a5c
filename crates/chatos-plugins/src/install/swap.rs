//! Exchanging directories: old ones into staging, new ones into place, all or none.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use chatos_contribution::DefaultLists;
use chatos_manifest::PluginId;

use super::Work;
use super::journal::{Journal, JournalSwap};
use crate::fs::{Fs, ensure_dir, exists, open_dir, open_path};
use crate::layout::{Origin, UiApps};
use crate::package::PackageError;

/// One plugin to put into place.
#[derive(Debug, Clone)]
pub(super) struct Swap {
    pub(super) id: PluginId,
    /// Where it waits, relative to the work directory.
    pub(super) from: PathBuf,
    /// Directories of the old version in the user root.
    pub(super) olds: Vec<OsString>,
    /// Those of them that were not installed.
    pub(super) keep: Vec<OsString>,
    /// What it is written down as.
    pub(super) digest: String,
}

/// A directory of the user root.
#[derive(Debug)]
pub(super) struct InstalledDir {
    pub(super) name: OsString,
    /// `None` when its manifest cannot be read.
    pub(super) id: Option<PluginId>,
    pub(super) version: Option<String>,
}

impl InstalledDir {
    /// True when installing or removing `id` concerns this directory: it holds that plugin, or has
    /// its name and holds nothing readable.
    pub(super) fn holds(&self, id: &PluginId) -> bool {
        match &self.id {
            Some(own) => own == id,
            None => self.name == OsStr::new(id.as_str()),
        }
    }
}

/// The directories of the user root with the ids in their manifests.
pub(super) fn installed(root: &Path) -> io::Result<Vec<InstalledDir>> {
    let fd = match open_path(root) {
        Ok(fd) => fd,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let nothing = DefaultLists::default();
    let mut found = Vec::new();
    for name in crate::fs::names(fd.as_fd())? {
        // Links and files in the root are not the installer's; a taken name shows at the rename.
        if open_dir(fd.as_fd(), &name).is_err() {
            continue;
        }
        let plugin =
            crate::load::load(&root.join(&name), Origin::User, &nothing).and_then(|loaded| loaded.plugin);
        let (id, version) = plugin.map(|plugin| (plugin.manifest.id, plugin.manifest.version)).unzip();
        found.push(InstalledDir { name, id, version });
    }
    Ok(found)
}

/// Exchanges all plugins of a package (plugins §8 step 5). When any rename fails, every one that was
/// done is undone.
pub(super) fn swap(
    fs: &dyn Fs,
    work: &Work,
    ui_apps: &UiApps,
    swaps: &[Swap],
    log_id: &str,
) -> Result<(), PackageError> {
    let failed = |error| PackageError::io("put the plugin into place", "将插件放到位", error);
    let plugins = open_path(&ui_apps.plugins()).map_err(failed)?;
    let journal = Journal::install(log_id, swaps, false).map_err(failed)?;
    let Journal::Install { plugins: listed, .. } = &journal else {
        return Err(failed(io::Error::other("the journal is of another kind")));
    };
    journal.write(fs, work.dir.as_fd()).map_err(failed)?;
    let error = match exchange(fs, work.dir.as_fd(), plugins.as_fd(), listed) {
        Ok(()) => {
            match Journal::install(log_id, swaps, true).and_then(|done| done.write(fs, work.dir.as_fd())) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    // The journal may already say "done". It must not say so while things are undone: a
                    // crash in between would be taken for a finished swap.
                    if let Err(second) = journal.write(fs, work.dir.as_fd()) {
                        tracing::error!(log_id, error = %second, "install: it is not known whether the swap is durable");
                        return Err(unfinished(failed(error)));
                    }
                    error
                }
            }
        }
        Err(error) => error,
    };
    tracing::warn!(log_id, %error, "install: the swap failed and is undone");
    match undo(fs, work.dir.as_fd(), plugins.as_fd(), listed).and_then(|()| forget(fs, work.dir.as_fd())) {
        Ok(()) => Err(failed(error)),
        Err(second) => {
            tracing::error!(log_id, error = %second, "install: undoing the swap failed");
            Err(unfinished(failed(error)))
        }
    }
}

/// An error after which the next start decides, from the journal, which version stays.
fn unfinished(mut error: PackageError) -> PackageError {
    error.message.en.push_str("; the next start puts one complete version into place");
    error.message.zh.push_str("；下次启动时会恢复为一个完整的版本");
    error
}

fn exchange(
    fs: &dyn Fs,
    work: BorrowedFd<'_>,
    plugins: BorrowedFd<'_>,
    swaps: &[JournalSwap],
) -> io::Result<()> {
    let old = ensure_dir(fs, work, OsStr::new("old"), 0o700)?;
    for swap in swaps {
        for name in &swap.olds {
            fs.rename(plugins, OsStr::new(name), old.as_fd(), OsStr::new(name))?;
        }
        let (dir, name) = waiting(work, &swap.from)?;
        fs.rename(dir.as_fd(), &name, plugins, OsStr::new(swap.id.as_str()))?;
    }
    fs.sync(old.as_fd())?;
    fs.sync(plugins)
}

/// The handle and name of a waiting plugin: `new`, or a directory in it.
fn waiting(work: BorrowedFd<'_>, from: &str) -> io::Result<(std::os::fd::OwnedFd, OsString)> {
    match from.split_once('/') {
        None => Ok((open_dir(work, OsStr::new("."))?, OsString::from(from))),
        Some((parent, name)) => Ok((open_dir(work, OsStr::new(parent))?, OsString::from(name))),
    }
}

fn still_waits(work: BorrowedFd<'_>, from: &str) -> io::Result<bool> {
    match waiting(work, from) {
        Ok((dir, name)) => exists(dir.as_fd(), &name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Puts every old version back. May be interrupted and run again: each step first looks whether it
/// is still to be done.
pub(super) fn undo(
    fs: &dyn Fs,
    work: BorrowedFd<'_>,
    plugins: BorrowedFd<'_>,
    swaps: &[JournalSwap],
) -> io::Result<()> {
    let undone = ensure_dir(fs, work, OsStr::new("undone"), 0o700)?;
    let old = ensure_dir(fs, work, OsStr::new("old"), 0o700)?;
    for swap in swaps.iter().rev() {
        let id = OsStr::new(swap.id.as_str());
        let arrived = !still_waits(work, &swap.from)? && !exists(undone.as_fd(), id)?;
        if arrived {
            fs.rename(plugins, id, undone.as_fd(), id)?;
        }
        for name in &swap.olds {
            let name = OsStr::new(name);
            if exists(old.as_fd(), name)? {
                fs.rename(old.as_fd(), name, plugins, name)?;
            }
        }
    }
    fs.sync(plugins)?;
    fs.sync(work)
}

/// Removes the journal: nothing depends on this work directory any more.
pub(super) fn forget(fs: &dyn Fs, work: BorrowedFd<'_>) -> io::Result<()> {
    match fs.unlink(work, OsStr::new("journal.json")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => fs.sync(work),
    }
}
