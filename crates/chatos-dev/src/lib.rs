//! `chatos dev`: the production host with one plugin that is under development (devkit §4).
//!
//! Frames, bridge, backends, servers, prompts and chats are the host's own; nothing is imitated. Here is only
//! what a sandbox adds: where its state lies, an agent that may use the plugin and nothing else, what
//! `validate` says about the files as they are, and the test of AsyncTask.

mod agent;
mod async_test;
mod place;
mod sandbox;

pub use place::{empty, state_dir};
pub use sandbox::{Sandbox, SandboxOptions};
