//! A person at a terminal: how commands speak, and the two things one does there for longer, chatting and answering.
//!
//! The program `chatos` parses its commands and calls these; everything here is written against the API of the host,
//! whether one runs or this process opens the state for a moment.

pub mod args;

pub mod client;
pub mod output;

mod markdown;

pub mod names;

pub mod prompts;

pub mod chat;
pub mod chats;
