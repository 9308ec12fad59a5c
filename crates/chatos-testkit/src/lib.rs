//! What tests of several crates share: the real program in a home of its own, homes that have been lived in, raw sockets,
//! and zip files that lie.
//!
//! Never shipped. Helpers here panic on what a test cannot go on without, because a test's failure
//! is its message; they never retry an assertion.

mod client;
#[cfg(target_os = "linux")]
mod kernel;
pub mod lived;
mod model;
mod ntfy;
mod process;
mod random;
mod receiver;
mod skip;
mod telegram;
mod terminal;
mod wait;
mod wire;
pub mod zips;

pub use client::{McpClient, McpEra};
#[cfg(target_os = "linux")]
pub use kernel::{Lacking, on_a_kernel_without};
pub use model::{Input, Script, ScriptedModel};
pub use ntfy::Ntfy;
pub use process::{Outcome, RunningHost, Sandbox, child, make_dir};
pub use random::Random;
pub use receiver::{Received, Receiver};
pub use skip::{SKIPPED_FILE, skipped};
pub use telegram::{BOT_TOKEN, BotMessage, Telegram};
pub use terminal::Terminal;
pub use wait::eventually;
pub use wire::{Answer, Wire};
