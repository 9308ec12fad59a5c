//! Child processes held properly: each with exactly the environment it was given, a group (with the
//! launcher: a session) of its own, and a mark by which everything it starts is found again
//! (security T11–T13).
//!
//! Used by whoever owns a protocol with a child: tool servers in `chatos-mcp`, backends of plugins in
//! `chatos-plugins`. It knows no protocol. The program that hosts it calls [`exec`] and [`watch`] when
//! it is started with its launch and warden words.

mod descriptors;
mod drain;
mod environment;
mod family;
mod launch;
mod node;
mod rate;
mod records;
mod spawn;
mod tail;
mod warden;

pub use descriptors::keep_streams_only;
pub use drain::drain_lines;
pub use environment::child_environment;
pub use launch::{CHANNEL, CHANNEL_VARIABLE, Launcher, exec};
pub use node::{HostNode, NodeInfo, find_node};
pub use rate::Rate;
pub use records::{ChildRecords, end_leftovers};
pub use rustix::process::Signal;
pub use spawn::{Program, SpawnError, Spawning, Started, Streams, how_it_ended, start, start_with_channel};
pub use tail::Tail;
pub use warden::{Warden, watch};

/// The variable that marks a child and what it starts.
pub const MARK: &str = "CHATOS_CHILD";
