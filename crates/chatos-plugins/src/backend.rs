//! Plugin backends: one supervised Node process per plugin, spoken to over a channel of its own
//! (host-api §9).
//!
//! [`Backends`] is what the host calls; what the host has to answer is [`BackendPort`]. A backend that
//! misbehaves costs its own calls: queues, sizes, times, output and restarts are bounded per plugin.

mod channel;
mod error;
pub mod limits;
mod log;
mod port;
mod process;
mod runner;
mod unit;
mod units;

pub use error::{BackendError, CodeName};
pub use log::PluginLogFile;
pub use port::{BackendPort, CallContext, Later, Launch};
pub use runner::{RUNNER_SHA256, runner_file};
pub use units::{Backends, Invocation};
