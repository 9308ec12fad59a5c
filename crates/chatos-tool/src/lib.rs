//! The tool contract: what a tool says, in which words and codes. Pure; no input or output.
//!
//! Every surface (command line, HTTP, tool envelopes) speaks of failures with the same closed list
//! of codes, and of everything a person reads in two languages. On top of that stands what every
//! tool of ours shares: its definition, the check of its arguments, the envelope of its result, the
//! limits, the cutting, the redaction, the trace and the lines of the tool log.

mod text;

mod both;

mod error_code;
mod fault;
mod hex;

pub mod limits;
mod spec;

pub mod schema;
pub mod validation;

mod issues;
pub mod names;
mod note;
mod tool_error;
mod trace;

mod content;
pub mod envelope;
pub mod truncate;

mod call_record;
mod canonical;
mod redact;

pub use both::{in_both, in_words_of};
pub use call_record::{CallRecord, Finish, LogLevel, LogRules, Transport};
pub use canonical::canonical;
pub use content::{Content, Document, DocumentBody};
pub use envelope::{Answer, Ended, Envelope, Opening, Product, Stamp, Status, output_schema, with_text};
pub use error_code::ErrorCode;
pub use fault::Fault;
pub use hex::hex;
pub use issues::{Issues, overlay};
pub use limits::TextLimits;
pub use note::{fenced, persons_note};
pub use redact::Redactor;
pub use spec::{Annotations, Confirm, ToolSpec, is_tool_name};
pub use text::{Lang, Text};
pub use tool_error::{
    CanceledBy, ConflictKind, DenyRule, Needed, OsOpening, Phase, Reason, Resource, ToolError,
};
pub use trace::{IdSource, Trace};
pub use truncate::{Cut, Keep, Unit};
pub use validation::{Issue, IssueCode};
