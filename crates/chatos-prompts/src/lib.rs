//! The durable queue of questions to the person: `ui-prompts.jsonl`, its fold, its waiters.
//!
//! Any component asks by putting a request into the log; a person answers; the asker gets the answer.
//! Nothing is lost when processes die, the disk fills up or several programs write at once. The
//! protocol is `docs/protocols/ui-prompts.md`; results of asynchronous tool calls, which travel the
//! same way, are `docs/protocols/async-task.md`.
//!
//! This crate is the only one that opens the log; how a line gets into the file and out of it is `chatos-lines`.
//! What decides served prompts (records, outbox, private answers) is passed in as [`Records`]; the key as
//! [`Signer`]; time as [`Clock`]; file access as [`Fs`](chatos_lines::Fs). Reading order below: names and JSON,
//! entries and kinds, the log, the fold, the queue.

mod clock;
mod health;
mod ids;
mod json;
mod problem;

mod approval;
pub mod effect;
pub mod elicitation;
mod entry;
pub mod kind;
pub mod metadata;
pub mod response;
pub mod shown;
mod sign;
pub mod whole;

mod reader;
mod tail;

mod lifetime;
mod queue;
mod records;

mod archive;
pub mod async_task;
mod prompts;
pub mod rehearsal;
#[cfg(feature = "testing")]
pub mod testing;

pub use approval::{Approval, Ruling, Unasked};
pub use archive::{ArchiveError, ArchiveReport};
pub use clock::{Clock, SystemClock, format_ms, parse_iso};
pub use effect::Effect;
pub use entry::Origin;
pub use health::{FaultCount, Health};
pub use ids::{Answerer, HostReason, IdError, Owner, RequestId, RunId, Surface, TaskId};
pub use json::Object;
pub use metadata::LogMode;
pub use problem::{Code, Lang, Problem};
pub use prompts::{
    AnswerView, Ask, AskError, AskReceipt, Asked, Askers, Class, Config, Counts, Cursor, Event, Item,
    ItemState, LineRef, NotReady, OpenError, Page, Phase, Policy, Prompts, Query, QueryError, Respond,
    RespondError, Responded, ResultEntry, ResultWait, Role, Scope, SystemAskers, UseError, Verified, View,
    Viewer, WaitError,
};
pub use records::{
    Answered, Inserted, NewAnswer, NewRecord, OutboxRow, Private, RawRecord, Record, RecordedAnswer, Records,
    RecordsError,
};
pub use response::Status;
pub use sign::{KeySigner, Signer};
pub use tail::LineFault;
