//! What a start does with staging (plugins §1.1): unfinished swaps are undone, begun removals are
//! finished, and then everything in it is deleted.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use chatos_manifest::PluginId;

use super::journal::Journal;
use super::{Installer, NoProgress, kept, record, swap, uninstall};
use crate::fs::{open_dir, open_path, remove_tree};
use crate::package::PackageError;

/// What was found and done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Plugins whose interrupted install was undone.
    pub undone: Vec<PluginId>,
    /// Plugins whose interrupted removal was finished; their trust records should go too.
    pub removed: Vec<PluginId>,
    /// Work directories that could not be repaired; they are left as they are.
    pub left: Vec<(PathBuf, String)>,
}

impl Installer {
    /// Repairs and empties staging. Call it before the first scan.
    pub fn repair(&self) -> Result<RepairReport, PackageError> {
        self.prepare()?;
        let _lock = self.lock(&NoProgress)?;
        let failed = |error| PackageError::io("look at the staging directory", "查看暂存目录", error);
        let staging = open_path(&self.ui_apps.staging()).map_err(failed)?;
        let plugins = open_path(&self.ui_apps.plugins()).map_err(failed)?;
        let mut report = RepairReport::default();
        for name in crate::fs::names(staging.as_fd()).map_err(failed)? {
            let repaired = self.repair_one(staging.as_fd(), plugins.as_fd(), &name, &mut report);
            let cleaned = repaired.and_then(|()| remove_tree(self.fs.as_ref(), staging.as_fd(), &name));
            if let Err(error) = cleaned {
                let path = self.ui_apps.staging().join(&name);
                tracing::error!(%error, path = %path.display(), "a staging directory cannot be repaired and is left");
                report.left.push((path, error.to_string()));
            }
        }
        Ok(report)
    }

    fn repair_one(
        &self,
        staging: BorrowedFd<'_>,
        plugins: BorrowedFd<'_>,
        name: &OsStr,
        report: &mut RepairReport,
    ) -> io::Result<()> {
        // A file (an upload that was cut off) has no journal.
        let Ok(work) = open_dir(staging, name) else { return Ok(()) };
        let fs = self.fs.as_ref();
        match Journal::read(work.as_fd())? {
            None => Ok(()),
            Some(journal @ Journal::Install { done: true, .. }) => {
                let keep = journal.keep();
                let Journal::Install { plugins: swaps, log_id, .. } = journal else { return Ok(()) };
                kept::move_aside(fs, work.as_fd(), &self.ui_apps, &log_id, &keep)?;
                let installed =
                    swaps.iter().filter_map(|swap| Some((&swap.id, Some(swap.digest.as_deref()?))));
                record::note(fs, &self.ui_apps, installed);
                Ok(())
            }
            Some(Journal::Install { plugins: swaps, log_id, .. }) => {
                tracing::warn!(log_id, "an interrupted install is undone");
                swap::undo(fs, work.as_fd(), plugins, &swaps)?;
                report.undone.extend(swaps.into_iter().map(|swap| swap.id));
                swap::forget(fs, work.as_fd())
            }
            Some(Journal::Uninstall { id, dirs, keep, delete_data, log_id, .. }) => {
                // A folder that was moved aside is no longer in the work directory.
                let moved = self.ui_apps.kept().join(&log_id).exists();
                if moved || uninstall::had_begun(work.as_fd(), plugins, &dirs)? {
                    tracing::warn!(log_id, plugin = %id, "an interrupted removal is finished");
                    uninstall::finish(fs, work.as_fd(), plugins, &dirs)?;
                    if delete_data {
                        uninstall::take_data(fs, work.as_fd(), &self.ui_apps, &id)?;
                    }
                    record::note(fs, &self.ui_apps, [(&id, None)]);
                    kept::move_aside(fs, work.as_fd(), &self.ui_apps, &log_id, &keep)?;
                    report.removed.push(id);
                }
                swap::forget(fs, work.as_fd())
            }
        }
    }
}
