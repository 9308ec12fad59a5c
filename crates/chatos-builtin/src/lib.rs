//! Our servers on the tool layer, and the list of all of them.
//!
//! File tools, undo of what they changed, tasks, the journal, forms for the person, subagents; commands are
//! `chatos-shell`, language servers `chatos-lsp`.
//! What a tool is and how it is run is `chatos-layer`; `docs/protocols/tools.md` is what all of them promise.

mod catalog;
pub mod files;
pub mod journal;
pub mod subagent;
pub mod tasks;
pub mod ui_prompt;
pub mod undo;

pub use catalog::{find_server, nearest_server, server_info, server_names};
