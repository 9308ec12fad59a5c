//! Plugins with the real program: the command line, the API, hostile packages, full disks, kills.
//!
//! One binary for all of them. What a rule means in detail is tested beside the code; here it is shown
//! that the whole program keeps it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod api;
mod by_hand;
mod commands;
mod dev;
mod disk;
mod hostile;
mod init;
mod lent;
mod literal;
mod seeds;
#[path = "../support/socket.rs"]
#[expect(dead_code, reason = "shared with the tests of hostile clients, which use all of it")]
mod socket;
mod support;
#[path = "../support/surroundings.rs"]
mod surroundings;
mod sync;
