//! The tool layer and the built-in servers on it.
//!
//! Every tool of every built-in server is registered in one way and answers through one path: checked,
//! logged, limited, timed, enveloped (`docs/protocols/tools.md`). A server is a folder of tools; the
//! rest is the same for all. The host calls the layer directly, `chatos mcp <server>` puts it behind
//! MCP on standard input and output.
//!
//! Reading order below: what a tool is, what surrounds a call, the layer that runs it, asking people and
//! clients, MCP, the servers.

mod access;
mod server;
mod tool;

mod clock;
mod context;
mod env;
mod file_changes;
mod file_errors;
mod log;
mod meta;
mod observer;
mod progress;
mod root;
mod settings;
mod shell_settings;
mod slots;
mod subagent_runner;

mod layer;

mod client;
mod consent;
mod person;

mod feature;
mod mcp;

mod catalog;
pub mod files;
pub mod journal;
pub mod shell;
pub mod subagent;
pub mod tasks;
#[cfg(test)]
mod testing;
pub mod ui_prompt;
pub mod undo;

pub use access::Access;
pub use catalog::{find_server, nearest_server, server_info, server_names};
pub use chatos_tool::{Needed, Redactor, ToolError, Trace};
pub use client::{Capability, ClientAsk, ClientDoor, ClientLink, ClientRound, Severity};
pub use clock::Stop;
pub use context::{CallCx, Caller};
pub use env::{ServerEnv, StoreHandle, TaskScope};
pub use feature::{
    Change, CompletionOf, Completions, Features, PromptArgument, PromptCall, PromptInfo, PromptMessage,
    PromptReply, Prompts, ResourceInfo, ResourceTemplate, Resources,
};
pub use file_changes::{ChangeContext, ChangeStore};
pub use layer::{Batch, CallRequest, Layer, LayerParts, Reply, UnknownTool};
pub use log::{ToolLog, Warn};
pub use mcp::{
    Ended, Endpoint, EndpointOptions, Gate, HttpListener, Relay, RelayedCall, serve_http, serve_stdio,
};
pub use observer::{CallEvent, Nobody, Observer};
pub use person::{
    Agreed, AskRequest, Elicited, Elicitor, Era, Form, InputRequired, NoQueue, PromptQueue, Question,
    QueueError, Reach, Resume, Verdict, Withdraw,
};
pub use progress::{ProgressReport, ProgressSink};
pub use root::Root;
pub use server::{Server, ServerInfo};
pub use settings::{
    FileSettings, FixedSettings, PromptBackend, Rotation, SettingsSource, StoreSettings, ToolSettings,
};
pub use shell_settings::{ConfirmUse, NetworkUse, SafetyMode, SandboxUse, ShellSettings};
pub use subagent_runner::{SubDone, SubOrder, SubagentRunner};
pub use tool::{Body, BoxFuture, NeedsInput, Outcome, Tool};
