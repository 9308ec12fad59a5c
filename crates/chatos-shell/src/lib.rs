//! A command: the server `shell_tasks`, commands and sessions inside the boundary the operating system gives
//! (servers §3; docs/servers/shell.md).
//!
//! A call is looked at (`lex`, `check`), decided (`gate`), started through a supervisor inside its
//! boundary (`pool`, `supervisor`, `sandbox`) and read (`output`).

mod server;

mod check;
mod explain;
mod gate;
mod lex;

mod command;
mod listing;
mod run;
mod sessions;

mod pool;
mod program;
mod sandbox;
mod secrets;
mod supervisor;
mod wire;

mod changes;
mod denied;
mod output;
mod prompting;

pub use explain::{Explained, explain};
pub use program::{Ended, Launcher, Program, ProgramOrder, Streams};
pub use sandbox::{Kernel, Level, Pruned, prune_caches, seal};
pub use server::{INFO, SUPERVISOR_COMMAND, ShellHome, server};
pub use supervisor::supervise;
