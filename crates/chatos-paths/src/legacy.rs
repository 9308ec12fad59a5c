//! The one-time move from the older state location, resumable at every step (plugins §1.2).
//!
//! At every instant one complete copy of the state exists: on the same device the directory is
//! renamed; across devices it is copied, compared, put into place, and only then is the source
//! removed. A marker beside the new location says that a move is under way.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::atomic::{replace_file, sync_dir};
use crate::error::PathError;
use crate::lock::FileLock;
use crate::state_dir::Locations;

/// Something a person should look at; the host starts all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LegacyWarning {
    /// Both the older and the new directory hold data; nothing was moved.
    BothPresent {
        /// The older directory.
        legacy: PathBuf,
        /// The one in use.
        state_dir: PathBuf,
    },
    /// The older place holds a link to elsewhere or a file.
    Unexpected {
        /// The older place.
        legacy: PathBuf,
    },
    /// The link could not be made; programs that compute the older path will not find the data.
    LinkFailed {
        /// The older place.
        legacy: PathBuf,
        /// Why.
        reason: String,
    },
}

impl LegacyWarning {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BothPresent { .. } => "legacy_both_present",
            Self::Unexpected { .. } => "legacy_unexpected",
            Self::LinkFailed { .. } => "legacy_link_failed",
        }
    }
}

/// What the move did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LegacyOutcome {
    /// The state was moved by this call (or a move begun earlier was finished).
    pub moved: bool,
    /// Worth showing on the start page and in `chatos doctor`.
    pub warning: Option<LegacyWarning>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Marker {
    from: PathBuf,
    to: PathBuf,
    started_at: String,
    method: Method,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Method {
    Rename,
    Copy,
}

const DONE: &str = ".migrated.json";

/// Moves the older directory to the new place where the table of plugins §1.2 says so.
///
/// Does nothing when the state directory was named explicitly. `now` is the ISO time for the records.
pub fn move_legacy(places: &Locations, now: &str) -> Result<LegacyOutcome, PathError> {
    let (Some(root), Some(legacy)) = (&places.state_root, &places.legacy_dir) else {
        return Ok(LegacyOutcome::default());
    };
    let state = &places.state_dir;
    let marker_path = root.join(format!(".migrating-{}.json", places.host_app));
    let real_legacy = is_real_dir(legacy);
    if !real_legacy && !marker_path.exists() {
        let warning = unexpected_at(legacy, state);
        return Ok(LegacyOutcome { moved: false, warning });
    }
    let fail = |action, path: &Path| {
        let path = path.to_owned();
        move |source| PathError::Io { action, path, source }
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(root)
        .map_err(fail("create the state root", root))?;
    let lock_path = root.join(format!(".migrating-{}.lock", places.host_app));
    let _lock = FileLock::exclusive(&lock_path, Duration::from_secs(30)).map_err(|error| PathError::Io {
        action: "lock the older state for its move",
        path: lock_path.clone(),
        source: io::Error::other(error),
    })?;
    // Looked at again under the lock: another process may have finished the move meanwhile.
    let marker = read_marker(&marker_path).filter(|m| m.from == *legacy && m.to == *state);
    if marker.is_none() && !is_real_dir(legacy) {
        return Ok(LegacyOutcome { moved: false, warning: unexpected_at(legacy, state) });
    }
    // Content that no finished copy of ours put there belongs to somebody: both stay as they are,
    // even if a marker of an earlier, unfinished attempt lies around.
    let finished = marker.as_ref().is_some_and(|marker| is_done(state, marker));
    if is_real_dir(legacy)
        && !finished
        && has_content(state).map_err(fail("read the state directory", state))?
    {
        if marker.is_some() {
            fs::remove_file(&marker_path).map_err(fail("remove a stale marker", &marker_path))?;
        }
        let warning = LegacyWarning::BothPresent { legacy: legacy.clone(), state_dir: state.clone() };
        return Ok(LegacyOutcome { moved: false, warning: Some(warning) });
    }
    let method = match marker {
        Some(marker) => marker.method,
        None => choose_method(legacy, root).map_err(fail("examine the older state", legacy))?,
    };
    let marker = Marker { from: legacy.clone(), to: state.clone(), started_at: now.to_owned(), method };
    let text = serde_json::to_vec(&marker).map_err(|e| fail("write", &marker_path)(io::Error::other(e)))?;
    replace_file(&marker_path, &text, 0o600)
        .map_err(fail("record the move of the older state", &marker_path))?;
    let moved = match method {
        Method::Rename => by_rename(&marker),
        Method::Copy => by_copy(&marker),
    };
    moved.map_err(fail("move the older state", legacy))?;
    fs::remove_file(&marker_path).map_err(fail("finish the move of the older state", &marker_path))?;
    sync_dir(root).map_err(fail("finish the move of the older state", root))?;
    Ok(LegacyOutcome { moved: true, warning: None })
}

/// Leaves a link at the older place, so that plugins which compute that path find the same data.
pub fn ensure_link(places: &Locations) -> Option<LegacyWarning> {
    let legacy = places.legacy_dir.as_ref()?;
    let state = &places.state_dir;
    match fs::symlink_metadata(legacy) {
        Ok(meta) if meta.is_dir() => None, // both present: reported by the move
        Ok(_) => unexpected_at(legacy, state),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = legacy
                .parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| std::os::unix::fs::symlink(state, legacy));
            made.err()
                .map(|error| LegacyWarning::LinkFailed { legacy: legacy.clone(), reason: error.to_string() })
        }
        Err(error) => Some(LegacyWarning::LinkFailed { legacy: legacy.clone(), reason: error.to_string() }),
    }
}

fn unexpected_at(legacy: &Path, state: &Path) -> Option<LegacyWarning> {
    let meta = fs::symlink_metadata(legacy).ok()?;
    if meta.file_type().is_symlink() && fs::read_link(legacy).is_ok_and(|target| target == state) {
        return None;
    }
    Some(LegacyWarning::Unexpected { legacy: legacy.to_owned() })
}

fn is_real_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn has_content(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn choose_method(legacy: &Path, root: &Path) -> io::Result<Method> {
    let same = fs::metadata(legacy)?.dev() == fs::metadata(root)?.dev();
    Ok(if same { Method::Rename } else { Method::Copy })
}

fn read_marker(path: &Path) -> Option<Marker> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn write_done(dir: &Path, marker: &Marker) -> io::Result<()> {
    let text = serde_json::to_vec(marker).map_err(io::Error::other)?;
    replace_file(&dir.join(DONE), &text, 0o600)
}

fn is_done(dir: &Path, marker: &Marker) -> bool {
    read_marker(&dir.join(DONE)).is_some_and(|done| done.from == marker.from)
}

fn by_rename(marker: &Marker) -> io::Result<()> {
    if is_real_dir(&marker.from) && !has_content(&marker.to)? {
        // rename(2) replaces an empty directory.
        fs::rename(&marker.from, &marker.to)?;
        if let Some(parent) = marker.to.parent() {
            sync_dir(parent)?;
        }
        if let Some(parent) = marker.from.parent() {
            sync_dir(parent)?;
        }
    }
    if has_content(&marker.to)? && !is_done(&marker.to, marker) {
        write_done(&marker.to, marker)?;
    }
    Ok(())
}

fn by_copy(marker: &Marker) -> io::Result<()> {
    if !is_done(&marker.to, marker) {
        let mut partial = marker.to.clone().into_os_string();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        match fs::remove_dir_all(&partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        copy_tree(&marker.from, &partial)?;
        compare_trees(&marker.from, &partial)?;
        write_done(&partial, marker)?;
        fs::rename(&partial, &marker.to)?;
        if let Some(parent) = marker.to.parent() {
            sync_dir(parent)?;
        }
    }
    // The new copy is complete and durable: only now may the source go.
    match fs::remove_dir_all(&marker.from) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let mode = fs::metadata(from)?.permissions().mode() & 0o7777;
    fs::DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            File::open(&target)?.sync_all()?;
        }
        // Sockets and FIFOs are ends of processes, not data; they are not copied.
    }
    fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
    sync_dir(to)
}

fn compare_trees(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let twin = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            compare_trees(&entry.path(), &twin)?;
        } else if kind.is_symlink() {
            if fs::read_link(entry.path())? != fs::read_link(&twin)? {
                return Err(io::Error::other("a copied link differs from its source"));
            }
        } else if kind.is_file() && !same_content(&entry.path(), &twin)? {
            return Err(io::Error::other("a copied file differs from its source"));
        }
    }
    Ok(())
}

/// Byte for byte: stronger than the hash the specification asks for, and one read of each side.
fn same_content(left: &Path, right: &Path) -> io::Result<bool> {
    let (mut left, mut right) = (File::open(left)?, File::open(right)?);
    if left.metadata()?.len() != right.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (vec![0; 256 * 1024], vec![0; 256 * 1024]);
    loop {
        let count = left.read(&mut a)?;
        if count == 0 {
            return Ok(right.read(&mut b)? == 0);
        }
        right.read_exact(&mut b[..count])?;
        if a[..count] != b[..count] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests;
