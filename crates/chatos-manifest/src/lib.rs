//! What `plugin.json` may say (`docs/protocols/plugin-manifest.md`).
//!
//! Pure: bytes in, a manifest and a list of problems out. This crate opens no file and knows no
//! directory; whether a path exists is decided by `chatos-plugins`, what an app finally contributes
//! by `chatos-contribution`.

mod ai;
mod app;
mod async_task;
mod fields;
mod id;
pub mod json;
pub mod limits;
mod mcp;
mod mcp_prompt;
mod plugin;
mod problem;
mod rel_path;
pub mod schema;
mod secret;
mod text;
pub mod url;

pub use ai::{AgentTemplate, AiLayer, AiManifest, Exposure, Slot, parse_layer};
pub use app::{AppManifest, Entry, EntryModule};
pub use async_task::AsyncTask;
pub use id::{AppId, IdError, PluginId};
pub use mcp::{Auth, BasicAuth, McpDecl, McpProgram, McpTarget};
pub use mcp_prompt::{McpPromptDecl, PromptSource};
pub use plugin::{Backend, KNOWN_CAPABILITIES, Parsed, PluginManifest, Publisher, parse};
pub use problem::{AppRef, Dropped, Problem, ProblemCode, ProblemView, Severity, Source};
pub use rel_path::{PathFault, RelPath};
pub use secret::{MASK, Secret};
pub use text::{Lang, Text, quote, visible};
