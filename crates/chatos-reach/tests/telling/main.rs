//! Telling with real parts: a state on the disk, its inbox, a receiver on loopback, a session bus; only the clock is the
//! test's own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod answers;
mod canary;
mod daemons;
mod desktop;
mod hanging;
mod http;
mod place;
