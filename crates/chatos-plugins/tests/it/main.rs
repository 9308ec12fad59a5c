//! Tests against real directories, one binary for all of them.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod archive;
mod details;
mod documents;
mod faults;
mod install;
mod kill;
mod load;
mod pack;
mod registry;
mod support;
mod watch;
