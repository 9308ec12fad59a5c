//! The tool layer: how a tool of ours is registered, run, logged and served over MCP.
//!
//! Every tool of every server of ours is registered in one way and answers through one path: checked,
//! logged, limited, timed, enveloped (`docs/protocols/tools.md`). A server is a folder of tools; the
//! rest is the same for all. The host calls the layer directly, `chatos mcp <server>` puts it behind
//! MCP on standard input and output. The servers themselves are in `chatos-shell` and `chatos-builtin`.
//!
//! Reading order below: what a tool is, what surrounds a call, the layer that runs it, asking people and
//! clients, MCP.

mod access;
mod server;
mod tool;

mod clock;
mod context;
mod env;
mod file_changes;
mod file_errors;
mod insight;
mod log;
mod lsp_settings;
mod meta;
mod observer;
mod progress;
mod root;
mod settings;
mod shelf;
mod shell_settings;
mod slots;
mod subagent;

mod layer;

mod client;
pub mod consent;
pub mod person;

mod feature;
mod mcp;

#[cfg(any(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "doubles of tests: a wrong test has to stop")]
pub mod testing;

pub use access::Access;
pub use chatos_tool::{Needed, Redactor, ToolError, Trace};
pub use client::{Capability, ClientAsk, ClientDoor, ClientLink, ClientRound, Severity};
pub use clock::Stop;
pub use context::{CallCx, Caller};
pub use env::{ServerEnv, StoreHandle, TaskScope, store_error};
pub use feature::{
    Change, CompletionOf, Completions, Features, PromptArgument, PromptCall, PromptInfo, PromptMessage,
    PromptReply, Prompts, ResourceInfo, ResourceTemplate, Resources,
};
pub use file_changes::{ChangeContext, ChangeStore, StoredChanges, row};
pub use file_errors::explain;
pub use insight::{Insight, InsightSlot};
pub use layer::{Batch, CallRequest, Layer, LayerParts, Reply, UnknownTool};
pub use log::{ToolLog, Warn};
pub use lsp_settings::LspSettings;
pub use mcp::{
    Ended, Endpoint, EndpointOptions, Gate, HttpListener, Relay, RelayedCall, RelayedClient, RelayedList,
    serve_http, serve_stdio,
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
pub use shelf::{FileHome, Job, Performed, Shelf};
pub use shell_settings::{ConfirmUse, NetworkUse, SafetyMode, SandboxUse, ShellSettings, ToolchainUse};
pub use subagent::{SubDone, SubOrder, SubagentRunner};
pub use tool::{Body, BoxFuture, NeedsInput, Outcome, Tool, arguments_schema};
