//! What is remembered of every change, so that a person can see and undo it (servers §2.7).

use serde::Serialize;

use super::diff::diff;
use super::digest::Digest;
use super::held::Held;

/// Contents up to this size are kept; larger ones by digest and size.
pub const MAX_KEPT_BYTES: usize = 5 << 20;
/// Files of one deleted, moved or copied tree that get a row each; then one summary row.
pub const MAX_ROWS: usize = 500;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It has other contents.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another path.
    Moved,
}

impl ChangeKind {
    /// The name on the wire and in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Moved => "moved",
        }
    }
}

/// A content before or after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There was no file.
    Absent,
    /// The bytes.
    Bytes(Held),
    /// Too large to keep.
    Large {
        /// Its digest.
        sha256: Digest,
        /// Its size.
        size: u64,
    },
}

impl Content {
    /// Keeps bytes if they are not too many.
    pub fn keep(bytes: &Held) -> Self {
        if bytes.len() > MAX_KEPT_BYTES {
            Self::Large { sha256: bytes.digest().clone(), size: bytes.len() as u64 }
        } else {
            Self::Bytes(bytes.clone())
        }
    }
}

/// One row of `file_changes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// What happened.
    pub kind: ChangeKind,
    /// The path relative to the root, after the change.
    pub path: String,
    /// `create`, `edit`, `move_overwrite` and so on.
    pub mode: &'static str,
    /// The content before.
    pub before: Content,
    /// The content after.
    pub after: Content,
    /// The unified diff, or words about a move.
    pub diff: String,
}

impl FileChange {
    /// A change of one file's content.
    pub fn of(path: &str, mode: &'static str, before: Option<&[u8]>, after: Option<&[u8]>) -> Self {
        let kind = match (before, after) {
            (None, _) => ChangeKind::Created,
            (_, None) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let kept = |bytes: Option<&[u8]>| bytes.map_or(Content::Absent, |bytes| Content::keep(&bytes.into()));
        Self {
            kind,
            path: path.to_owned(),
            mode,
            before: kept(before),
            after: kept(after),
            diff: diff(path, before, path, after).text,
        }
    }
}

/// Where change records go. The store's table in the program, a list in tests.
pub trait ChangeLog: Send + Sync {
    /// Stores one record. A failure is reported with the result of the call, never silently dropped.
    fn record(&self, change: FileChange) -> std::result::Result<(), String>;

    /// Puts the contents of a change where its record will need them, while the change itself is made.
    /// What cannot be done now is tried again, and reported, by [`Self::record`].
    fn keep_ahead(&self, _change: &FileChange) {}

    /// The change was not made: its contents are not needed.
    fn give_up(&self, _change: &FileChange) {}
}
