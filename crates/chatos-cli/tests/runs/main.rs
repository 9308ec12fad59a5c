//! Chats and runs through the real program: a scripted model, a real tool server, and kills in between.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod async_task;
mod away;
mod boundaries;
mod chat;
mod faults;
mod kill;
mod late;
mod meta;
mod notes;
mod otlp;
mod plugin;
mod prompts;
mod proxy;
mod support;
mod trace;
