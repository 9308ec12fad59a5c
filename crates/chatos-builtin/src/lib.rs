//! The tool layer and the built-in servers on it.
//!
//! Every tool of every built-in server is registered in one way and answers through one path: checked,
//! logged, limited, timed, enveloped (`docs/protocols/tools.md`). A server is a folder of tools; the
//! rest is the same for all. The host calls the layer directly, `chatos mcp <server>` puts it behind
//! MCP on standard input and output.
//!
//! Reading order below: what a tool is, what surrounds a call, the layer that runs it, asking people,
//! MCP, the servers.

mod access;
mod server;
mod tool;

mod clock;
mod context;
mod env;
mod log;
mod meta;
mod observer;
mod progress;
mod root;
mod settings;
mod slots;

mod layer;

mod consent;
mod person;

mod mcp;

mod catalog;
pub mod files;
pub mod filesystem;
pub mod journal;
pub mod tasks;
#[cfg(test)]
mod testing;
pub mod ui_prompt;

pub use access::Access;
pub use catalog::{find_server, nearest_server, server_info, server_names};
pub use chatos_tool::Redactor;
pub use clock::Stop;
pub use context::{CallCx, Caller};
pub use env::{ServerEnv, StoreHandle, TaskScope};
pub use layer::{CallRequest, Layer, LayerParts, Reply, UnknownTool};
pub use log::{ToolLog, Warn};
pub use mcp::{Ended, Endpoint, EndpointOptions, Gate, HttpListener, serve_http, serve_stdio};
pub use observer::{CallEvent, Nobody, Observer};
pub use person::{
    Agreed, AskRequest, Elicited, Elicitor, Era, Form, InputRequired, PromptQueue, Question, QueueError,
    Reach, Resume, Verdict, Withdraw,
};
pub use progress::{ProgressReport, ProgressSink};
pub use root::Root;
pub use server::{Server, ServerInfo};
pub use settings::{
    FileSettings, FixedSettings, PromptBackend, Rotation, SettingsSource, StoreSettings, ToolSettings,
};
pub use tool::{Body, BoxFuture, NeedsInput, Outcome, Tool};
