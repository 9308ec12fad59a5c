//! Chats and runs: who runs now, what waits, what was interrupted; the one place the API, the terminal
//! and plugins start a run, stop it, continue it and read it (agents §7–§15).

mod active;
mod ask;
mod begin;
mod budget;
mod correction;
mod desk;
mod emit;
mod follow;
mod fork;
mod import;
mod other;
mod parts;
#[cfg(feature = "otlp")]
mod push;
mod resume;
mod send;
mod sessions;
mod stage;
mod start;
mod stop;
mod sub_share;
mod subagents;
mod titles;
mod tools;
mod under_way;

pub use desk::{Runs, WeakRuns};
pub use parts::RunParts;
pub use send::Sender;
