//! A document: what a file is by its bytes, and its text as a model reads it (working-day §7).
//!
//! Files of strangers are read in a process of their own that can open nothing and reach nobody (`child`); whoever
//! wants the text asks an [`Extractor`]. The readers themselves (`read`) are plain functions from bytes to Markdown.

mod attached;
mod child;
mod extractor;
mod kind;
mod limits;
mod native;
mod read;

pub use attached::{Attached, NAME_ONLY, attached, in_message, unsupported};
pub use child::{EXTRACT_COMMAND, Opened, Sealed, serve};
pub use extractor::Extractor;
pub use kind::{Kind, fence, kind_of, old_office};
pub use limits::VARIABLE as LIMITS_VARIABLE;
pub use native::{Native, label, pages_of, seen_by_model};
pub use read::{Members, Note, Read, Unread, read};

/// The largest file that is taken.
pub const FILE_BYTES: usize = 25 * 1024 * 1024;
/// The largest sum of all files of one message.
pub const MESSAGE_BYTES: usize = 50 * 1024 * 1024;
/// Files of one message.
pub const FILES: usize = 10;
/// The longest text of one file.
pub const TEXT_BYTES: usize = 2 * 1024 * 1024;
/// Rows of a sheet that are read.
pub const SHEET_ROWS: usize = 2_000;
