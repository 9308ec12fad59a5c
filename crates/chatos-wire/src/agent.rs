//! Agents, land_configs and texts for models, and why an agent may use what.

use crate::described::JsonSchema;
use chatos_policy::{LandConfig, Mode, PromptLang, Role, UiApp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The agent this program makes at the first start; a chat that names none begins with it while it is there, else with
/// the first of the list.
pub const FIRST_AGENT: &str = "agent_default";

/// All agents.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AgentList {
    pub items: Vec<AgentView>,
}

/// One agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    pub id: String,
    pub name: String,
    pub description: String,
    pub mode: Mode,
    /// Empty: Safe default for custom agents.
    pub land_config_id: String,
    /// `null`: the default model.
    pub model_id: Option<String>,
    pub prompt: String,
    pub workspace_root: String,
    pub prompt_lang: PromptLang,
    pub prompt_ids: Vec<String>,
    /// `null`: everything the land_config lists.
    pub mcp_server_ids: Option<Vec<String>>,
    /// `null`: every subagent.
    pub subagent_ids: Option<Vec<String>>,
    pub skills: Vec<String>,
    pub ui_apps: Vec<UiApp>,
    /// The program of another maker that this agent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acp: Option<AcpView>,
    /// Things it refers to that are gone or may not be used.
    pub problems: Vec<Reason>,
    /// The plugin whose app made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The question whether the app may let it work in the folder it wished for; only in the answer to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_root: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

/// How an agent that is a program of another maker is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpView {
    /// A path, or a name on `PATH`.
    pub program: String,
    pub args: Vec<String>,
    /// Variables of the host's environment it gets.
    pub pass_env: Vec<String>,
    /// Which known program it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_id: Option<String>,
    /// It is offered our servers, through the gateway.
    pub gateway: bool,
}

/// A program of another maker as a new agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AcpInput {
    /// A known program; its command is known as well.
    pub known_id: Option<String>,
    /// A path, or a name on `PATH`; for one that is not known.
    pub program: Option<String>,
    pub args: Vec<String>,
    /// Further variables of the host's environment it gets.
    pub pass_env: Vec<String>,
    pub name: Option<String>,
    pub workspace_root: Option<String>,
    /// Developer when absent: files and commands, each asked about.
    pub land_config_id: Option<String>,
    /// It is not offered our servers.
    pub without_gateway: bool,
    /// The person agreed that this program is started as them, with their login, in its folder.
    pub confirmed: bool,
}

/// Programs of other makers on this machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AcpFoundList {
    pub items: Vec<AcpFound>,
}

/// One program of another maker, as it is on this machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpFound {
    pub id: String,
    pub title: String,
    /// `ready`; `adapter_missing`: the program is there, what lets ChatOS talk to it is not; `missing`.
    pub state: String,
    /// The file that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What would be started.
    pub command: String,
    /// The command that installs it.
    pub install: String,
    /// How a person signs in to it, in a terminal.
    pub sign_in: String,
    /// The agent that is this program already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// What a chat has of an agent that is another program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcpSession {
    pub agent_id: String,
    /// The program's own name and version; empty before its first turn.
    pub program: String,
    /// The program runs at this moment.
    pub running: bool,
    #[serde(flatten)]
    pub told: AcpTold,
}

/// What such an agent told about its session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct AcpTold {
    /// Modes, models and whatever else can be chosen.
    pub options: Vec<AcpOption>,
    /// What can be typed behind `/`.
    pub commands: Vec<AcpCommand>,
    /// What the session cost so far, as the agent says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<AcpCost>,
}

/// Something a person can choose of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct AcpOption {
    pub id: String,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// `mode`, `model`, `thought_level` or a word of the agent.
    pub category: String,
    /// `mode`: set as a mode; `select` or `boolean`: set as an option.
    pub kind: String,
    /// What is chosen.
    pub value: String,
    pub choices: Vec<AcpChoice>,
}

/// One value of an option.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct AcpChoice {
    pub id: String,
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// With this one the agent stops asking; a person has to confirm it.
    pub unasked: bool,
}

/// A command of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct AcpCommand {
    /// Without the stroke.
    pub name: String,
    pub description: String,
    /// What may follow it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// An amount as an agent tells it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct AcpCost {
    pub amount: f64,
    pub currency: String,
}

/// What a person chooses of a session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcpChosen {
    pub option: String,
    pub value: String,
    /// The person agreed that the agent stops asking.
    #[serde(default)]
    pub confirmed: bool,
}

/// What may be said about an agent; what is absent stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInput {
    pub name: Option<String>,
    pub description: Option<String>,
    pub mode: Option<Mode>,
    pub land_config_id: Option<String>,
    pub model_id: Option<String>,
    pub prompt: Option<String>,
    pub workspace_root: Option<String>,
    pub prompt_lang: Option<PromptLang>,
    pub prompt_ids: Option<Vec<String>>,
    pub mcp_server_ids: Option<Vec<String>>,
    pub subagent_ids: Option<Vec<String>>,
    pub skills: Option<Vec<String>>,
    pub ui_apps: Option<Vec<UiApp>>,
}

/// An agent as it would be, and the role to look at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentPreview {
    /// As for saving; with the `id` of a saved agent what is absent stays as it is there.
    pub agent: Map<String, Value>,
    pub role: Option<Role>,
}

/// All land_configs, the built-in ones first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LandList {
    pub items: Vec<LandView>,
}

/// One land_config.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LandView {
    #[serde(flatten)]
    pub land: LandConfig,
    /// Agents that name it.
    pub used_by: Vec<LandName>,
    /// It came with the program.
    pub builtin: bool,
    /// What was accepted with a remark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The name of a copy.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyInput {
    pub name: String,
}

/// All texts, built-in ones first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SystemPromptList {
    pub items: Vec<SystemPromptView>,
}

/// One text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemPromptView {
    pub id: String,
    /// The key land_configs and agents name it by.
    pub name: String,
    pub title: String,
    pub content: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// Empty, `zh` or `en`.
    pub lang: String,
    pub allow_main: bool,
    pub allow_sub: bool,
    pub builtin: bool,
    pub locked: bool,
    /// `builtin`, `user`, `app` or `import`.
    pub source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plugin_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app_id: String,
    /// A built-in text that a person changed.
    #[serde(default)]
    pub edited: bool,
    pub created_at: String,
    pub updated_at: String,
}

/// What may be said about a text; what is absent stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemPromptInput {
    pub name: Option<String>,
    pub title: Option<String>,
    pub content: Option<String>,
    /// Empty, `zh` or `en`.
    pub lang: Option<String>,
    pub allow_main: Option<bool>,
    pub allow_sub: Option<bool>,
}

/// Everything about one agent in one role.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentExplanation {
    pub agent_id: String,
    pub role: Role,
    /// The land_config that bounds it; `null` when there is none and the run is refused.
    pub land_config: Option<LandName>,
    /// Why a run cannot begin at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Reason>,
    pub servers: Vec<ServerExplanation>,
    pub prompts: Vec<PromptExplanation>,
    pub problems: Vec<Reason>,
    /// Against the saved agent; only in previews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<GrantDifference>>,
}

/// A land_config by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LandName {
    pub id: String,
    pub name: String,
}

/// A code for programs, a sentence for people, the page that fixes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    pub code: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// One server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServerExplanation {
    /// `null` for something that does not exist.
    pub identity: Option<String>,
    pub name: String,
    pub granted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The rule that decided, in words.
    pub rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Tools as far as they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolExplanation>>,
    /// `now`: the server offers them at this moment; `lastSeen`: it is not connected, and offered them then.
    #[serde(rename = "toolsFrom", skip_serializing_if = "Option::is_none")]
    pub tools_from: Option<String>,
}

/// One tool.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ToolExplanation {
    pub tool: String,
    pub granted: bool,
    /// Each call first asks a person.
    pub ask: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub rule: String,
}

/// One prompt.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptExplanation {
    pub key: String,
    pub included: bool,
    pub code: String,
    pub why: String,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantDifference {
    /// `gained`, `lost` or `ask`.
    pub kind: String,
    /// The name people gave the server.
    pub server: String,
    /// The tool; absent for the server as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// Which part of an explanation is wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ExplainQuery {
    /// Main or sub; main when absent.
    pub role: Option<String>,
    /// Only tools of this name or pattern.
    pub tool: Option<String>,
}

/// Agents as an app sees them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AgentsSeen {
    pub items: Vec<AgentSeen>,
}

/// An agent as an app sees it: its own in full, the default one by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AgentSeen {
    Full(Box<AgentView>),
    Name(AgentName),
}

/// An agent by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AgentName {
    pub id: String,
    pub name: String,
}

/// Gives a server or an app to an agent, or takes it back.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GiveInput {
    /// Id, identity, name or its beginning; an app also as `PLUGIN/APP`.
    pub server: String,
    /// Id, name or its beginning; `default` for the agent a chat begins with.
    pub agent: String,
    /// Only tools that fit one of these patterns; all of them when empty.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Whether subagents that this agent starts may use it too.
    #[serde(default)]
    pub sub: bool,
    /// Whether a person is asked before each call.
    #[serde(default)]
    pub ask: GiveAsk,
    /// Takes it back instead of giving it.
    #[serde(default)]
    pub revoke: bool,
    /// Only says what would change and changes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// When a person is asked about what was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GiveAsk {
    /// A person is asked before each call of one of its tools.
    #[default]
    Each,
    /// Never because of this; other rules still ask.
    No,
}

/// What giving or taking back changed, or would change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    pub agent: AgentName,
    /// The agent's permissions profile afterwards.
    pub land_config: LandName,
    /// The profile that one was copied from, because it is locked or other agents use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<LandName>,
    /// What the agent gains and loses in chats.
    pub changes: Vec<GrantDifference>,
    /// The server for this agent afterwards.
    pub server: ServerExplanation,
}

/// Every server with the agents that may use it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServerUsers {
    pub items: Vec<ServerUser>,
}

/// One server and the agents that may use it in chats.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerUser {
    pub identity: String,
    pub name: String,
    /// The row it is kept in, for a server that was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_id: Option<String>,
    /// The plugin whose app has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    pub agents: Vec<AgentName>,
}
