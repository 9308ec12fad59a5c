//! Chats and runs through the real program: a scripted model, a real tool server, and kills in between.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod async_task;
mod away;
mod boundaries;
mod budget;
mod bulk_kill;
mod cached;
mod changed;
mod chat;
mod chat_files;
mod chats;
mod commands;
mod day;
mod documents;
mod faults;
mod golden;
mod granted;
mod hanging;
mod instructions;
mod kill;
mod language;
mod late;
mod lived;
mod long;
mod many_servers;
mod meta;
mod notes;
mod on_demand;
mod otlp;
mod pictures;
mod pipes;
mod plugin;
mod prompts;
mod proxy;
mod queue_kill;
mod refused;
#[path = "../support/socket.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod socket;
mod stop;
mod support;
mod terminal;
mod thinking;
mod together;
mod too_long;
mod trace;
mod vendors_refuse;
mod versions;
mod whole;
