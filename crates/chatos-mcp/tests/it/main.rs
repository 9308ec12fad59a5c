//! The client against real processes, sockets and servers of other makers.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests find programs by PATH and start processes to be left alone"
)]

mod support;

mod calls;
mod children;
mod eras;
mod faults;
mod http;
mod in_process;
mod pool;
mod questions;
mod sign_in;
mod sign_in_hostile;
mod town;
mod web;
mod websocket;
