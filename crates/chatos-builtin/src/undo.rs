//! Undoing what tools changed in files (servers §2.7): from recorded changes to one commit that brings
//! every file back, or to the reason why it cannot.
//!
//! Nothing here trusts a record: a file is only touched when it is on the disk exactly as the newest of
//! the chosen changes left it, no link has come between, and the path lies in its root. The undo is
//! recorded like any change, so it can be undone itself.

mod disk;
mod net;
mod refuse;

use std::path::PathBuf;

use chatos_files::change::FileChange;
use chatos_files::commit::{Engine, Journals, Step};
use chatos_files::fs::RealFs;
use chatos_files::stop::Never;
use chatos_files::{FileError, Root};
use chatos_layer::{ChangeContext, row};
use chatos_store::{NewFileChange, RecordedChange, Store};
use chatos_tool::Fault;

/// The name under which an undo is recorded.
pub const UNDO_SERVER: &str = "chatos";
/// The tool under which an undo is recorded.
pub const UNDO_TOOL: &str = "undo";

/// Where undoing happens.
#[derive(Debug, Clone)]
pub struct UndoHome {
    /// The state directory, which holds the journals of commits.
    pub state_dir: PathBuf,
    /// Directories no file tool touches (servers §2.1).
    pub protected: Vec<PathBuf>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoAction {
    /// It gets its former content.
    Restored,
    /// It goes.
    Removed,
    /// It is there again.
    Recreated,
    /// It is at its former path again.
    MovedBack,
}

impl UndoAction {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restored => "restored",
            Self::Removed => "removed",
            Self::Recreated => "recreated",
            Self::MovedBack => "moved_back",
        }
    }
}

/// What will be done to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoStep {
    /// Its path, where it will be.
    pub path: String,
    /// What happens.
    pub action: UndoAction,
    /// The changes that are undone by it.
    pub changes: Vec<String>,
}

/// An undo that was found possible.
#[derive(Debug)]
pub struct UndoPlan {
    root: Root,
    journals: Journals,
    steps: Vec<Step>,
    work: Vec<(UndoStep, FileChange)>,
}

/// What an undo did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// The ids of its own records.
    pub changes: Vec<String>,
    /// What a person should know besides.
    pub warnings: Vec<String>,
}

/// Why a plan is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Somebody wants to see it; nothing on the disk is touched.
    Look,
    /// It will be carried out.
    Undo,
}

/// Looks whether changes can be undone as they are on the disk now. They may come in any order.
pub fn plan(
    store: &Store,
    home: &UndoHome,
    changes: &[RecordedChange],
    intent: Intent,
) -> Result<UndoPlan, Fault> {
    let mut changes: Vec<&RecordedChange> = changes.iter().collect();
    changes.sort_by_key(|change| change.seq);
    changes.dedup_by_key(|change| change.seq);
    let root = net::common_root(&changes)?;
    let nets = net::effect(&changes)?;
    if nets.is_empty() {
        return Err(refuse::nothing());
    }
    let root = disk::open_root(home, root)?;
    let journals = Journals::new(home.state_dir.join("fs-journal"));
    if intent == Intent::Undo {
        // servers §2.5: what a dead process left half done is settled before anything is compared with it.
        let engine = Engine { root: &root, fs: &RealFs, journals: &journals };
        engine.recover().map_err(refuse::file)?;
    }
    let newest = changes.iter().map(|change| change.seq).max().unwrap_or_default();
    let (steps, work) = disk::Look { store, root: &root, newest }.compare(&nets)?;
    Ok(UndoPlan { root, journals, steps, work })
}

impl UndoPlan {
    /// What will be done.
    pub fn steps(&self) -> impl Iterator<Item = &UndoStep> {
        self.work.iter().map(|(step, _)| step)
    }

    /// The root.
    pub fn root(&self) -> String {
        self.root.path().display().to_string()
    }

    /// Does all of it or nothing, and records it.
    pub fn commit(self, store: &Store) -> Result<Undone, Fault> {
        let context = ChangeContext {
            server: UNDO_SERVER,
            tool: UNDO_TOOL,
            root: self.root(),
            ..ChangeContext::default()
        };
        let engine = Engine { root: &self.root, fs: &RealFs, journals: &self.journals };
        let committed =
            engine.commit(self.steps, &Never, &mut ()).map_err(|error: FileError| match error {
                // What is there was looked at a moment ago, so this is somebody else's doing.
                FileError::NotFound { path, .. } => refuse::changed(&path, &[]),
                other => refuse::file(other),
            })?;
        let mut undone = Undone { changes: Vec::new(), warnings: committed.warnings };
        let rows: Vec<(NewFileChange<'_>, &[String])> =
            self.work.iter().map(|(step, change)| (row(&context, change), step.changes.as_slice())).collect();
        match store.record_undo(&rows) {
            Ok(ids) => undone.changes = ids,
            Err(error) => {
                tracing::error!(%error, "an undo was not recorded");
                undone.warnings.push(format!(
                    "change_not_recorded: {} change(s) cannot be undone from the history",
                    rows.len()
                ));
            }
        }
        Ok(undone)
    }
}

#[cfg(test)]
mod tests;
