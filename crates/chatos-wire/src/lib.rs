//! What crosses the wire between the host and those who speak to it: closed lists of words, bodies, events.
//!
//! Types and their texts only. Nothing here opens a file, answers a request or knows a row of the database;
//! the store keeps the same words in its columns, so that a state has one spelling everywhere.

pub mod access;
pub mod agent;
pub mod app;
pub mod auth;
pub mod card;
pub mod change;
pub mod channel;
pub mod chat_event;
pub mod client;
pub mod command;
pub mod described;
pub mod dev;
pub mod doctor;
pub mod event;
pub mod instructions;
pub mod journal;
pub mod model;
pub mod operation;
pub mod plugin;
pub mod prompt;
pub mod question;
pub mod rule;
pub mod run;
pub mod run_line;
#[cfg(feature = "schema")]
pub mod schema;
pub mod server;
pub mod session;
pub mod setting;
pub mod state;
mod states;
pub mod status;
pub mod subagent;
pub mod task;
pub mod tool;
mod words;

pub use states::{
    MessageKind, MessageRole, OperationState, RunEnd, RunKind, RunState, Severity, StepKind, StepState,
};
pub use words::UnknownWord;
