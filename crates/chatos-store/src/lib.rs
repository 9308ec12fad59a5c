//! The database `state.db`: the only crate that opens it.
//!
//! One writer thread owns the writing connection and commits in small groups; readers have their
//! own connections. Callers get typed methods per subject, never SQL. What the host decides
//! (which directory, which environment values, which key file) is passed in.

mod agent_makers;
mod agents;
mod app_rights;
mod app_rows;
mod approval_rules;
mod audit;
mod backup;
mod capability_grants;
mod change_history;
mod check;
mod client_grants;
mod clients;
mod context_marks;
mod db;
mod dedupe;
pub mod door;
mod error;
mod fault;
mod file_changes;
mod halt;
mod journal;
mod kept;
mod key;
mod key_acts;
mod land_configs;
mod mcp_servers;
mod messages;
mod meta;
mod migrate;
mod models;
mod named_secrets;
mod plugin_trust;
mod prompt_records;
mod prune;
mod reseal;
mod runs;
mod secrets;
mod server_facts;
mod server_work;
mod sessions;
mod settings;
mod shell_sessions;
mod system_prompts;
mod tasks;
mod time;
mod tool_pins;
mod usage;
mod versions;
mod watch;
mod word;

pub use agents::AgentRecord;
pub use app_rights::{AppRootMode, AppRootRow};
pub use app_rows::{AppEntity, AppRow, AppRowChange, NamedRow};
pub use approval_rules::RuleRow;
pub use audit::{Audit, AuditError, AuditVerdict};
pub use backup::{Backup, list_backups};
pub use capability_grants::CapabilityGrantRow;
pub use change_history::{ChangeContent, ChangeFilter, ContentState, MOST_CHANGES_AT_ONCE, RecordedChange};
pub use check::{CheckDepth, CheckFinding};
pub use client_grants::{ClientGrantRow, ClientKey};
pub use clients::{ClientRow, clean_client_text};
pub use context_marks::ContextMark;
pub use db::{CHECK_AT_OPEN, OpenOptions, Store, sqlite_version};
pub use error::{StoreError, StoreErrorKind};
pub use file_changes::{ChangedContent, FileChangeRow, NewFileChange};
pub use halt::halt_at;
pub use journal::{
    JournalEntry, JournalImport, NewJournalEntry, ProjectInfo, ProjectIteration, ProjectPatch,
};
pub use kept::Kept;
pub use key::{KeyMove, KeyPlace, KeyProblem, KeyTo, KeyWhere, Rotated, SealError, StateKey, SubKey};
pub use key_acts::{KeyState, StateKeys};
pub use mcp_servers::{ServerRow, ServerSource};
pub use messages::{AttachmentRow, MessageRow, NewMessage, SummaryRow, ToolCallRow};
pub use migrate::{SCHEMA_VERSION, schema_of};
pub use models::{DEMO_MODEL, ModelFacts, ModelRecord, ModelTest, PriceTier};
pub use named_secrets::Secrets;
pub use plugin_trust::{PluginTrustFile, PluginTrustRow};
pub use prompt_records::{NewPrompt, NewPromptAnswer, PromptAnswered, PromptLine, PromptRow, SealedAnswer};
pub use prune::{BlobState, Pruned};
pub use runs::{MessageWrite, RunChange, RunFilter, RunRow, RunWrite, StepRow, StepWrite};
pub use secrets::{SecretInfo, SecretKind, SecretValue, is_secret_name};
pub use server_facts::ServerFact;
pub use server_work::{AsyncTaskRow, OpenAskRow};
pub use sessions::{MessageHit, SessionPatch, SessionRow};
pub use settings::{SettingError, stored_setting};
pub use shell_sessions::ShellSessionRow;
pub use system_prompts::SystemPrompt;
pub use tasks::{AddedTasks, NewTask, Task, TaskContext, TaskFilter, TaskNote, TaskPatch};
pub use time::{iso_from_ms, now_iso, now_ms, parse_time};
pub use tool_pins::{PinRow, PinState};
pub use usage::{UsageBy, UsageRow, UsageSum};
