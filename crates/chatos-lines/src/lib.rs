//! The prompt log as a file: JSON lines that any program may append to at any time.
//!
//! Lines are appended whole and durable ([`Log`]), found without recursion and without trust in who wrote them
//! ([`scan`]), written so that no reader takes one for two ([`mod@line`]), and noticed when they arrive ([`Watch`]).
//! Every file operation goes through [`Fs`], so that tests can let any of them fail. What a line means is
//! `chatos-prompts`, the only crate that opens the log.

mod fs;
pub mod line;
mod log;
pub mod scan;
mod sync;
mod watch;

pub use fs::{DiskFs, Fs, Stat};
pub use log::{AppendError, Locked, Log, Paths, Ticket, Written};
pub use sync::lock;
pub use watch::{Waker, Watch};
