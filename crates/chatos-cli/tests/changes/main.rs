//! What tools changed in files, with the real program: seen, downloaded, undone and done again over the API
//! and in the terminal, with changes of servers of their own beside the host and of the host itself.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

#[path = "../support/socket.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod socket;
#[path = "../support/terminal.rs"]
mod terminal;

mod api;
mod commands;
mod refused;
mod support;
