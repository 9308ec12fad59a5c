//! Why the store could not do something, in the few kinds a caller can act on.

use rusqlite::ErrorCode as Sqlite;

use crate::word::CorruptWord;

/// What a caller can do about a failure depends only on this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// No such row.
    NotFound,
    /// A uniqueness or version rule stands against it.
    Conflict,
    /// The value cannot be stored.
    Invalid,
    /// The database cannot be reached now: locked, unreadable, read-only, input/output error.
    Unavailable,
    /// The disk is full.
    Full,
    /// The file is damaged.
    Corrupt,
    /// A database, but of another program.
    Foreign,
    /// A newer ChatOS made this database.
    Newer,
    /// An older schema, and this process may not migrate it.
    Older,
    /// A bug of ours.
    Internal,
}

/// A failure of the store. The database is as it was before the call.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// What a caller can do.
    pub kind: StoreErrorKind,
    /// What was being done, and why it failed.
    pub message: String,
}

impl StoreError {
    /// An error of the given kind.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The writer thread is gone: the store was closed.
    pub(crate) fn closed() -> Self {
        Self::new(StoreErrorKind::Unavailable, "the database is closed")
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if let rusqlite::Error::FromSqlConversionFailure(_, _, source) = &error
            && let Some(corrupt) = source.downcast_ref::<CorruptWord>()
        {
            return Self::new(StoreErrorKind::Corrupt, corrupt.to_string());
        }
        let kind = match &error {
            rusqlite::Error::QueryReturnedNoRows => StoreErrorKind::NotFound,
            // The log's index could not grow: the only reason on a local disk is that it is full.
            rusqlite::Error::SqliteFailure(failure, _)
                if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE =>
            {
                StoreErrorKind::Full
            }
            rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
                Sqlite::DiskFull => StoreErrorKind::Full,
                Sqlite::DatabaseCorrupt | Sqlite::NotADatabase => StoreErrorKind::Corrupt,
                Sqlite::ConstraintViolation => StoreErrorKind::Conflict,
                Sqlite::DatabaseBusy
                | Sqlite::DatabaseLocked
                | Sqlite::ReadOnly
                | Sqlite::CannotOpen
                | Sqlite::PermissionDenied
                | Sqlite::SystemIoFailure
                | Sqlite::FileLockingProtocolFailed => StoreErrorKind::Unavailable,
                Sqlite::TooBig => StoreErrorKind::Invalid,
                _ => StoreErrorKind::Internal,
            },
            _ => StoreErrorKind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}
