//! The event stream: one variant of [`HostEvent`] per event, with the data it carries.
//!
//! A frame on the socket is `{seq, topic, type, data}`; `topic` and `type` follow from the variant, so an event
//! of an unknown name or with other data than its own cannot be published.

use std::borrow::Cow;

use chatos_tool::Trace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::BackendStatus;
use crate::chat_event::ChatEvent;
use crate::described::JsonSchema;
use crate::operation::OperationView;
use crate::prompt::PromptCounts;
use crate::server::{ServerStateView, SignInView};
use crate::words::words;
use crate::{RunState, Severity};

/// Makes the enum, the names of its variants and their schemas from one table.
macro_rules! events {
    ($($(#[$meaning:meta])* $value:ident($data:ty) = $topic:literal / $kind:literal,)+) => {
        /// Something the host tells everybody who listens.
        #[derive(Debug, Clone, Serialize)]
        #[serde(untagged)]
        #[expect(clippy::large_enum_variant, reason = "an event is made, written as JSON and gone; nothing keeps many")]
        pub enum HostEvent {
            $($(#[$meaning])* $value($data),)+
            /// Something that happened in a chat; its topic is `chat:` and the id of the chat.
            Chat(Box<ChatEvent>),
        }

        impl HostEvent {
            /// What the event is about; clients choose by it.
            pub fn topic(&self) -> Cow<'static, str> {
                match self {
                    $(Self::$value(_) => Cow::Borrowed($topic),)+
                    Self::Chat(event) => Cow::Owned(format!("chat:{}", event.session_id)),
                }
            }

            /// The name of the event.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$value(_) => $kind,)+
                    Self::Chat(event) => event.body.kind(),
                }
            }

            /// Events of chats say their position inside the data as well (agents §11).
            pub fn set_seq(&mut self, seq: u64) {
                if let Self::Chat(event) = self {
                    event.seq = seq;
                }
            }
        }

        /// What each event says, in the order of the table: topic, name and the schema of its data.
        #[cfg(feature = "schema")]
        pub(crate) fn described(
            generator: &mut schemars::SchemaGenerator,
        ) -> Vec<(&'static str, &'static str, schemars::Schema)> {
            vec![$(($topic, $kind, generator.subschema_for::<$data>()),)+]
        }
    };
}

events! {
    /// An agent was made, changed or deleted.
    AgentsChanged(ChangedId) = "admin" / "agents_changed",
    /// A land_config was made, changed or deleted.
    LandConfigsChanged(ChangedId) = "admin" / "land_configs_changed",
    /// A system prompt was made, changed or deleted.
    SystemPromptsChanged(ChangedId) = "admin" / "system_prompts_changed",
    /// A model was made, changed or deleted.
    ModelsChanged(ChangedId) = "admin" / "models_changed",
    /// A plugin of subagents was imported, switched or removed.
    SubagentsChanged(ChangedId) = "admin" / "subagents_changed",
    /// A secret was set or deleted.
    SecretsChanged(ChangedName) = "admin" / "secrets_changed",
    /// What a client may do was decided.
    ClientsChanged(ChangedName) = "admin" / "clients_changed",
    /// A rule was made, paused, resumed or removed.
    RuleChanged(ChangedId) = "admin" / "rule_changed",
    /// A browser was signed in.
    BrowsersChanged(ChangedId) = "admin" / "browsers_changed",
    /// A browser was signed out.
    BrowserRevoked(RevokedBrowser) = "admin" / "browser_revoked",
    /// A setting has another value.
    SettingsChanged(ChangedSetting) = "admin" / "settings_changed",
    /// Tools changed files, or changes were undone.
    FileChangesChanged(ChangedIds) = "admin" / "file_changes_changed",
    /// Tasks were made, changed or deleted.
    TasksChanged(ChangedIds) = "admin" / "tasks_changed",
    /// The journal of a project has other entries.
    JournalChanged(ChangedProject) = "admin" / "journal_changed",
    /// The state has another key.
    StateKeyChanged(ChangedKey) = "admin" / "state_key_changed",
    /// The state of an older program was taken over.
    StateImported(ImportedState) = "admin" / "state_imported",
    /// The channels a person is told through are others.
    ChannelsChanged(ChangedId) = "admin" / "channels_changed",
    /// Long work began, went on or ended.
    OperationChanged(OperationView) = "admin" / "operation_changed",
    /// Something about this start a person should know.
    Notice(HostNotice) = "host" / "notice",
    /// A question was asked.
    PromptRequested(PromptItem) = "prompts" / "prompt_requested",
    /// A question was answered.
    PromptAnswered(PromptItem) = "prompts" / "prompt_answered",
    /// A question closed because its time was over.
    PromptExpired(PromptItem) = "prompts" / "prompt_expired",
    /// A question was put off, or is back (`snoozedUntil` is null).
    PromptSnoozed(PromptItem) = "prompts" / "prompt_snoozed",
    /// A question counts no more: what it was about is another thing by now, or another answer decided it.
    PromptSuperseded(PromptItem) = "prompts" / "prompt_superseded",
    /// A rule answered instead of a person.
    RuleUsed(RuleUsed) = "prompts" / "rule_used",
    /// Somebody wrote an answer into the log that nobody gave.
    PromptForged(ForgedLine) = "prompts" / "prompt_forged",
    /// How many questions wait.
    PromptCounts(PromptCounts) = "prompts" / "prompt_counts",
    /// A channel failed three times in a row.
    NoticeFailed(ChangedId) = "prompts" / "notice_failed",
    /// Something is wrong with the log of questions.
    PromptLogProblem(PromptLogHealth) = "prompts" / "prompt_log_problem",
    /// Events of questions were lost: read them again.
    PromptResync(Nothing) = "prompts" / "prompt_resync",
    /// A tool was called.
    ToolStarted(ToolStarted) = "logs" / "tool_started",
    /// A call says how far it is.
    ToolProgress(ToolProgress) = "logs" / "tool_progress",
    /// A call waits for a person.
    ToolWaiting(ToolWaiting) = "logs" / "tool_waiting",
    /// A call goes on while its caller does something else.
    ToolBackground(ToolBackground) = "logs" / "tool_background",
    /// A call has its result.
    ToolFinished(ToolFinished) = "logs" / "tool_finished",
    /// A line of the tool log, whoever wrote it.
    ToolLog(ToolLogLine) = "logs" / "tool_log",
    /// More lines than can be told came at once: read the pages.
    ToolLogGap(Nothing) = "logs" / "tool_log_gap",
    /// The files or the grants of a plugin's apps are others.
    AppChanged(AppChanged) = "apps" / "app_changed",
    /// It was decided whether an app may work in a folder.
    AppRoot(AppRootDecided) = "apps" / "app_root",
    /// The backend of a plugin does something else than before.
    BackendState(BackendChanged) = "apps" / "backend_state",
    /// An app tried what it may not.
    AppWanted(AppWanted) = "apps" / "app_wanted",
    /// An app is needed while nobody looks at it: keep it mounted.
    AppNeeded(AppNeeded) = "apps" / "app_needed",
    /// Nobody needs that app any more.
    AppReleased(AppReleased) = "apps" / "app_released",
    /// A chat was made, changed or deleted.
    SessionChanged(SessionChanged) = "runs" / "session_changed",
    /// A run is in another state.
    RunChanged(RunChanged) = "runs" / "run_changed",
    /// The tools of a server are others, or were approved.
    ToolsChanged(ChangedTools) = "servers" / "tools_changed",
    /// What is known of a server is something else.
    ServerChanged(ChangedId) = "servers" / "server_changed",
    /// A server wrote lines of log.
    ServerLog(ChangedId) = "servers" / "server_log",
    /// A server does something else than before.
    ServerState(ServerStateChanged) = "servers" / "server_state",
    /// A server is gone.
    ServerRemoved(ChangedId) = "servers" / "server_removed",
    /// There is a new snapshot of the plugins.
    PluginsChanged(ChangedPlugins) = "plugins" / "plugins_changed",
}

impl From<ChatEvent> for HostEvent {
    fn from(event: ChatEvent) -> Self {
        Self::Chat(Box::new(event))
    }
}

/// No data: the event says everything by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nothing {}

/// The first frame a client gets.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    pub version: String,
    /// Another one means another start of the host.
    pub boot_id: String,
    /// False: the past is gone, read everything again.
    pub resumed: bool,
}

/// One record of a list is another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChangedId {
    pub id: String,
}

/// One record of a list that has names instead of ids is another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChangedName {
    pub name: String,
}

/// A rule answered instead of a person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleUsed {
    /// Which rule it was, as `rule_changed` and the list of rules name it.
    pub id: String,
    pub name: String,
    /// What it said for the person: `allow` or `deny`.
    pub decision: String,
    pub tool: Option<String>,
    pub run_id: Option<String>,
}

/// A browser was signed out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RevokedBrowser {
    pub id: String,
    pub name: String,
    /// An older copy of its cookie was shown: somebody may have a copy of its profile.
    pub reused: bool,
}

/// A setting has another value.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChangedSetting {
    /// Null: another process changed some.
    pub key: Option<String>,
}

/// Several records of a list are others.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ChangedIds {
    /// Empty: another process changed some.
    pub ids: Vec<String>,
}

/// The journal of a project has other entries.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedProject {
    /// Null: another process changed one.
    pub project_root: Option<String>,
}

/// The state has another key.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedKey {
    pub key_id: String,
}

/// The state of an older program was taken over.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ImportedState {
    /// The folder it was read from.
    pub source: String,
}

/// Something about this start a person should know. In English; the status has it in the caller's language.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HostNotice {
    pub code: String,
    pub severity: Severity,
    pub message: String,
}

/// A question as lists have it (ui-prompts §12.2).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PromptItem(#[schemars(with = "crate::prompt::PromptView")] pub Value);

/// What is wrong with the log of questions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PromptLogHealth(#[schemars(with = "crate::prompt::PromptHealth")] pub Value);

/// An answer in the log that nobody gave.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ForgedLine {
    pub item: PromptItem,
    pub line: LogPlace,
}

/// A line of a file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogPlace {
    pub offset: u64,
    pub line: String,
}

/// A tool was called.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ToolStarted {
    pub server: String,
    #[schemars(schema_with = "crate::schema::trace_schema")]
    pub trace: Trace,
}

/// How far a call is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    pub call_id: String,
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
    /// What the server sent besides.
    pub detail: Option<Value>,
}

/// A call waits for a person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolWaiting {
    /// Calls of built-in servers say which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    pub request_id: String,
    #[schemars(schema_with = "crate::schema::trace_schema")]
    pub trace: Trace,
}

/// A call goes on while its caller does something else.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolBackground {
    pub call_id: String,
    pub server: String,
    pub tool: String,
    pub elapsed_ms: u64,
}

/// A call has its result.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolFinished {
    pub server: String,
    pub status: String,
    pub code: String,
    pub elapsed_ms: u64,
    /// Bytes of the result.
    pub size: usize,
    #[schemars(schema_with = "crate::schema::trace_schema")]
    pub trace: Trace,
}

/// A line of the tool log as it was written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolLogLine(pub Value);

words! {
    /// Why the apps of a plugin have to be loaded again.
    AppChangeReason {
        /// The plugin is gone.
        Removed = "removed",
        /// Nobody trusts its files as they are now.
        Trust = "trust",
        /// Its files are others.
        Files = "files",
        /// What they may do is something else.
        Grants = "grants",
    }
}

/// The files or the grants of a plugin's apps are others.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppChanged {
    pub plugin_id: String,
    /// The revision that is not served any more.
    pub rev: Option<String>,
    pub reason: AppChangeReason,
}

/// It was decided whether an app may work in a folder.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppRootDecided {
    pub plugin_id: String,
    /// `asked`, `full`, `read` or `no`.
    pub mode: String,
}

/// The backend of a plugin does something else than before.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendChanged {
    #[serde(flatten)]
    pub status: BackendStatus,
    pub plugin_id: String,
    /// Why it ended or did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An app tried what it may not.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppWanted {
    pub plugin_id: String,
    pub capability: String,
}

/// An app is needed while nobody looks at it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppNeeded {
    pub plugin_id: String,
    pub app_id: String,
    /// Why it is needed, such as `async_task`.
    pub reason: String,
    pub call_id: String,
}

/// Nobody needs an app any more.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppReleased {
    pub plugin_id: String,
    pub app_id: String,
}

words! {
    /// What happened to a chat.
    ChatChange {
        /// It was made just now.
        Created = "created",
        /// It has another title, agent, model, folder or place.
        Changed = "changed",
        /// It was deleted with its messages.
        Deleted = "deleted",
    }
}

/// A chat was made, changed or deleted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SessionChanged {
    pub id: String,
    pub change: ChatChange,
}

/// A run is in another state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunChanged {
    pub id: String,
    pub state: RunState,
    pub session_id: String,
}

/// The tools of a server are others, or were approved.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChangedTools {
    pub id: String,
    pub tools: Vec<String>,
}

/// A server does something else than before.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerStateChanged {
    pub id: String,
    pub state: ServerStateView,
    pub sign_in: SignInView,
}

/// There is a new snapshot of the plugins.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPlugins {
    pub revision: u64,
}
