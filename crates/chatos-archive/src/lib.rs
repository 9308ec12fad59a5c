//! A state put away and brought back: backups of all of it, restoring one, rescue of a damaged database, taking
//! over the state of an older program, and retention by a person (state §7, §8).
//!
//! [`Archive`] is what a running host offers; restoring and rescue are functions, because they work on a state
//! nobody has open.

mod backup;
mod chat_file;
mod fault;
mod file;
mod import;
mod prune;
mod recover;
mod restore;
mod salvage;
mod take_over;
mod work;

pub use backup::BackupOrder;
pub use chat_file::ChatOfFile;
pub use file::{ArchiveError, ArchiveFile, Manifest, extract_archive, verify_archive, write_archive};
pub use import::{
    ImportCount, ImportOrder, ImportOutcome, ImportReport, ImportState, Imported, import, import_state,
    imports,
};
pub use recover::{RecoverChoice, Recovery, examine_damage};
pub use restore::{RestoreOrder, restore};
pub use work::{Archive, ArchiveParts};
