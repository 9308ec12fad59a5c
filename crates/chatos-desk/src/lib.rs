//! What this program is to other programs: processes beside the host that speak its API and outlive it.
//!
//! An MCP client calls tools through [`Gateway`], an editor drives agents through [`Editor`], another agent's hook
//! asks through [`ask_for_hook`], and a built-in server in a process of its own asks through [`Queue`]. They use the state
//! of a host without being it ([`Beside`]). Hosts come and go meanwhile ([`Line`]); nothing is done twice, and nothing that was asked is lost.

mod api;
mod beside;
mod client;
mod editor;
mod folder;
mod gateway;
mod hook;
mod line;
mod passing;
mod places;
mod queue;
mod search;
mod subagents;

pub use api::{CallNews, HostApi, Spoken, call_news, encode, host_fault};
pub use beside::{Beside, BesideSettings};
pub use editor::Editor;
pub use folder::ClientFolder;
pub use gateway::{GATEWAY, Gateway};
pub use hook::ask as ask_for_hook;
pub use line::Line;
pub use queue::Queue;
pub use search::ListMode;
pub use subagents::HostSubagents;
