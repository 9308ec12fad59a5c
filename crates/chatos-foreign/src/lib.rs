//! Other agents on this machine: what their hooks say and want to hear, their configuration files, and our own agents
//! as editors drive them ([`acp`]).
//!
//! Claude Code, codex, Gemini CLI and opencode run a command before they act. That command is this program: it
//! reads what they are about to do ([`hook`]), a person is asked through the queue, and the answer goes back in
//! the words of the program. Asking and waiting are the caller's; nothing here waits.

pub mod acp;
pub mod config;
pub mod hook;
pub mod jsonc;
mod program;

pub use program::{Homes, Program};
