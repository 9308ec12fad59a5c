//! What crosses the wire between the host and those who speak to it: closed lists of words, bodies, events.
//!
//! Types and their texts only. Nothing here opens a file, answers a request or knows a row of the database;
//! the store keeps the same words in its columns, so that a state has one spelling everywhere.

mod states;
mod words;

pub use states::{MessageKind, MessageRole, RunEnd, RunKind, RunState, StepKind, StepState};
pub use words::UnknownWord;
