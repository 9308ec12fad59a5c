//! What the host's database does for the queue: the records that decide served prompts, the outbox of
//! lines still to be mirrored, and private answers (`ui-prompts §1`, §7.3–7.4; `state §3.4`).
//!
//! Implemented in `chatos-inbox` on SQLite; `testing` has one for tests. Every method is
//! synchronous and is called from blocking contexts. An implementation must not call back into this crate.

use serde_json::Value;

use crate::ids::{Owner, RequestId};
use crate::json::Object;

/// Why the store could not do it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RecordsError {
    #[error("no space left for the prompt record")]
    Full,
    #[error("the prompt records are not available: {0}")]
    Unavailable(String),
    #[error("the prompt records are damaged: {0}")]
    Corrupt(String),
}

/// A served prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub request_id: RequestId,
    pub owner: Owner,
    /// The whole request entry as it is mirrored.
    pub entry: Value,
    pub shown: String,
    pub expires_at: Option<i64>,
    pub answer: Option<RecordedAnswer>,
    /// When the approval was acted on; it is used once.
    pub used_at: Option<i64>,
}

/// The verified answer of a served prompt. Secrets are masked; metadata only in minimal mode.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAnswer {
    pub response: Object,
    pub by: String,
    pub at: i64,
}

/// A request about to be served.
#[derive(Debug, Clone)]
pub struct NewRecord {
    pub request_id: RequestId,
    pub owner: Owner,
    pub entry: Value,
    pub shown: String,
    pub expires_at: Option<i64>,
    /// The mirror line with its newline, for the outbox.
    pub line: String,
    pub created_at: i64,
}

/// What came of inserting a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Inserted {
    /// Committed, with its row in the outbox.
    New { outbox: i64 },
    /// The id has a record; nothing was changed.
    Exists(Box<Record>),
}

/// An answer about to be recorded.
#[derive(Debug, Clone)]
pub struct NewAnswer {
    pub response: Object,
    pub by: String,
    pub at: i64,
    /// The mirror line; `None` when the line is in the log already.
    pub line: Option<String>,
    /// What only the asker may see.
    pub private: Option<Private>,
}

/// Values that never enter the log; sealed by the store. Debug output hides them.
#[derive(Clone, PartialEq)]
pub struct Private {
    pub owner: Owner,
    /// The parts of the response that replace the masked ones.
    pub response: Object,
    /// Apps may read them until then; a tool takes them once, whenever it comes.
    pub expires_at: Option<i64>,
}

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Private").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// What came of answering.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// This answer is the first; committed, with its row in the outbox if a line was given.
    Won { outbox: Option<i64> },
    /// Another answer was first.
    Lost(RecordedAnswer),
    /// The id has no record.
    Unknown,
}

/// A line that may not be in the log yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    pub id: i64,
    pub request_id: RequestId,
    pub line: String,
    pub created_at: i64,
}

/// A record as the fold reads it at start: JSON texts, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct RawRecord<'a> {
    pub request_id: &'a str,
    pub entry: &'a str,
    pub answer: Option<&'a str>,
    pub answered_at: Option<i64>,
}

/// The store behind served prompts.
pub trait Records: Send + Sync {
    fn get(&self, id: &RequestId) -> Result<Option<Record>, RecordsError>;

    /// Every record, in any order.
    fn scan(&self, each: &mut dyn FnMut(RawRecord<'_>)) -> Result<(), RecordsError>;

    /// Record and outbox row in one commit, durable on return; never replaces a record.
    fn insert(&self, new: &NewRecord) -> Result<Inserted, RecordsError>;

    /// Puts back a record that a verified line proves (an older database was restored); no outbox row.
    /// Does nothing when the record exists.
    fn restore(&self, new: &NewRecord) -> Result<(), RecordsError>;

    /// One conditional update: the first answer wins. Record, outbox row and private part in one
    /// commit, durable on return.
    fn answer(&self, id: &RequestId, answer: &NewAnswer) -> Result<Answered, RecordsError>;

    /// Sets `used_at` if it is not set. True for the one caller that set it.
    fn mark_used(&self, id: &RequestId, at: i64) -> Result<bool, RecordsError>;

    /// Lines not marked as mirrored, oldest first.
    fn outbox(&self, limit: usize) -> Result<Vec<OutboxRow>, RecordsError>;

    fn mark_mirrored(&self, ids: &[i64], at: i64) -> Result<(), RecordsError>;

    /// The private part without erasing it; for apps.
    fn peek_private(&self, id: &RequestId) -> Result<Option<Private>, RecordsError>;

    /// The private part, exactly once.
    fn take_private(&self, id: &RequestId) -> Result<Option<Private>, RecordsError>;

    /// Erases private parts that expired; returns how many.
    fn sweep_private(&self, now: i64) -> Result<usize, RecordsError>;

    /// Replaces entry and answer of a closed record by their metadata forms (archive in minimal mode).
    fn reduce(&self, id: &RequestId, entry: &Value, answer: &Object) -> Result<(), RecordsError>;
}
