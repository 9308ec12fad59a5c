//! Tests against real directories, one binary for all of them.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod load;
mod registry;
mod support;
mod watch;
