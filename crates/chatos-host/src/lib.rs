//! The wiring: opens every resource of one state directory in the right order and closes it again.
//!
//! This is the only crate that reads environment variables. It holds no rules of its own: those
//! live in the contract and resource crates below. The edges (HTTP, command line) see the product
//! through [`Host`] and through the types re-exported here.

mod agents;
mod apps;
mod asker;
mod audit;
mod beside;
mod changes;
mod children;
mod clients;
mod doctor;
mod environment;
mod fault;
mod host;
mod host_log;
mod instance;
mod issues;
mod mcp;
mod models;
mod modes;
mod node;
mod plugins;
mod process;
mod prompts;
mod runs;
mod secrets;
mod state;
mod state_key;
mod tasks;
mod tools;
mod upkeep;
mod whole;

pub use agents::{AgentDesk, Block, BlockContext, FIRST_AGENT, PromptUse, SubTexts, SystemBlocks};
pub use apps::{
    AppCaller, AppDesk, AppNeed, BackendCall, FrameAsset, FramePolicy, Looked, OpenOrder, Opened, OpenedView,
    Revision, View, ViewOrder, frame_hash,
};
pub use asker::{
    AskedBy, DeskOwner, DeskQueue, asked_id, payload as question_payload, queue_error, taken_part, verdict,
    withdraw_code,
};
pub use audit::{Audit, AuditVerdict};
pub use beside::{Beside, BesideSettings};
pub use changes::{ChangeDetail, UndoOrder, UndoOutcome};
pub use chatos_agent as agent_api;
pub use chatos_builtin as builtin_api;
pub use chatos_child as child_api;
pub use chatos_contribution as contribution_api;
pub use chatos_manifest as manifest_api;
pub use chatos_model as model_api;
pub use chatos_paths::{Locations, StateDir};
pub use chatos_plugins as plugins_api;
pub use chatos_policy as policy_api;
pub use chatos_prompts as prompts_api;
pub use chatos_store::{
    AddedTasks, AgentRecord, ChangeContent, ChangeFilter, ContentState, DEMO_MODEL, JournalEntry, KeyMove,
    KeyTo, KeyWhere, ModelRecord, ModelTest, NewJournalEntry, NewTask, RecordedChange, SecretKind,
    SettingError, StoreError, StoreErrorKind, SystemPrompt, Task, TaskContext, TaskFilter, TaskPatch,
    iso_from_ms, now_iso, now_ms,
};
pub use chatos_tool::{ErrorCode, Fault, Lang, Text};
pub use children::{LAUNCH_COMMAND, WARDEN_COMMAND};
pub use clients::AllowOrder;
pub use doctor::{Finding, failed_to_open};
pub use environment::Environment;
pub use fault::{path_fault, setting_fault, store_fault};
pub use host::{EmbeddedFiles, Host, HostConfig};
pub use host_log::log_to_stderr;
pub use instance::{Announcement, read_announcement, running_host};
pub use mcp::{RETURN_PATH, Returned, ServerDesk, ToolsetOrder};
pub use models::{ModelAnswer, ModelDesk, ModelState, PRESETS, Preset, Recognised, recognise};
pub use modes::TokenKeeper;
pub use node::{NodeInfo, find_node};
pub use plugins::{AppKey, InstallOrder, PluginDesk, check_modules, package_fault, problems_json};
pub use process::{port_owner, raise_file_limit, resident_bytes};
pub use prompts::{PromptDesk, PromptReply, Visit, visit_prompts};
pub use runs::{
    CompleteOrder, Completion, Exported, Reopened, RunDesk, Sender, decode_base64, encode_base64,
};
pub use state::{BackupOrder, RecoverChoice, Recovery, RestoreOrder, examine_damage, restore};
pub use state_key::KeyState;
pub use tools::{CallState, ToolCall, ToolDesk, ToolLogFilter, ToolLogPage};

/// The version of ChatOS, the one number every surface shows.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
