//! Folders with the id of a plugin that were not installed: an install or a removal moves them aside and
//! names them, and never deletes one.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use serde::Serialize;

use crate::fs::{Fs, ensure_dir, exists, open_dir, open_path};
use crate::layout::UiApps;

/// A folder that was not deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptDir {
    /// Where it was.
    pub from: PathBuf,
    /// Where it is now; absent when nothing was changed yet.
    pub to: Option<PathBuf>,
}

impl KeptDir {
    pub(super) fn new(ui_apps: &UiApps, log_id: Option<&str>, name: &OsStr) -> Self {
        let to = log_id.map(|log_id| ui_apps.kept().join(log_id).join(name));
        Self { from: ui_apps.plugins().join(name), to }
    }
}

/// Moves folders out of a work directory before that is deleted. Run again it does what is left.
pub(super) fn move_aside(
    fs: &dyn Fs,
    work: BorrowedFd<'_>,
    ui_apps: &UiApps,
    log_id: &str,
    names: &[String],
) -> io::Result<()> {
    if !are_left(work, names)? {
        return Ok(());
    }
    let old = open_dir(work, OsStr::new("old"))?;
    let root = open_path(ui_apps.root())?;
    let kept = ensure_dir(fs, root.as_fd(), OsStr::new("kept"), 0o700)?;
    let into = ensure_dir(fs, kept.as_fd(), OsStr::new(log_id), 0o700)?;
    for name in names.iter().map(OsStr::new) {
        if exists(old.as_fd(), name)? {
            fs.rename(old.as_fd(), name, into.as_fd(), name)?;
        }
    }
    for dir in [into.as_fd(), kept.as_fd(), root.as_fd(), old.as_fd()] {
        fs.sync(dir)?;
    }
    Ok(())
}

/// Whether one of them still lies in the work directory.
pub(super) fn are_left(work: BorrowedFd<'_>, names: &[String]) -> io::Result<bool> {
    let old = match open_dir(work, OsStr::new("old")) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    for name in names {
        if exists(old.as_fd(), OsStr::new(name))? {
            return Ok(true);
        }
    }
    Ok(false)
}
