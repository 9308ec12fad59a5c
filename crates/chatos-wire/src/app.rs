//! Apps while they are used: frames, capabilities, backends, and views of MCP servers.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// How an app is to be shown.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpenBody {
    /// `full` or `compact`.
    #[serde(default)]
    pub surface: Surface,
    /// The page's colours, so that the frame begins with them.
    #[serde(default)]
    pub theme: Option<FrameTheme>,
    #[serde(default)]
    pub lang: Option<FrameLang>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FrameTheme {
    Light,
    Dark,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FrameLang {
    En,
    Zh,
}

/// Where the frame of an app is, and what the page needs to talk to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenedApp {
    /// On the plugin's own origin.
    pub frame_url: String,
    /// Below the page's own origin, for a sandbox without an origin.
    pub fallback_url: String,
    /// The origin of `frameUrl`.
    pub origin: String,
    /// The frame shows it in its first message.
    pub nonce: String,
    /// The files that are served.
    pub rev: String,
    /// The module, relative to the plugin.
    pub entry: String,
    /// What the app may call now.
    pub capabilities: Vec<String>,
    /// What the frame is told at its start.
    pub snapshot: Value,
}

/// A call of an app's own backend.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendCallBody {
    #[serde(default)]
    pub method: Option<String>,
    #[serde(default)]
    #[schemars(with = "Value")]
    pub params: Option<Box<RawValue>>,
    /// 1,000 to 7,200,000; ten minutes when absent.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// To cancel it by; made by the caller, unique among its calls.
    #[serde(default)]
    pub call_id: Option<String>,
}

/// What a backend answered.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BackendResult {
    /// The plugin's own JSON.
    #[schemars(with = "Value")]
    pub result: Box<RawValue>,
}

/// Apps whose front end is needed now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NeededApps {
    pub items: Vec<NeededApp>,
}

/// One of them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NeededApp {
    pub plugin_id: String,
    pub app_id: String,
    /// Ids of the calls whose result its page has to bring.
    pub call_ids: Vec<String>,
}

/// What the page found out about its browser.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredBody {
    /// `full`: pages of apps reach no network; `partial`: this browser cannot keep them off it.
    pub confinement: Confinement,
}

/// Decisions about capabilities.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GrantList {
    pub items: Vec<GrantView>,
}

/// Capabilities of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityList {
    pub items: Vec<CapabilityView>,
    /// Folders its apps asked for, and what a person said.
    pub roots: Vec<AppRootView>,
}

/// What an app tried and may not.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WantedBody {
    pub capability: String,
}

/// A folder of a plugin's apps.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RootBody {
    /// As listed.
    pub root: String,
}

/// Which view to show.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenView {
    /// The server's identity, row id or name.
    pub server: String,
    /// The tool whose result it shows.
    pub tool: String,
    /// The agent whose grants count for what the view calls; a person by hand when absent.
    #[serde(default)]
    pub agent: Option<String>,
    /// A person allowed the hosts the view asks for.
    #[serde(default)]
    pub allow_hosts: bool,
}

/// Where a view is, and what the page needs to talk to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenedView {
    /// Names it in calls.
    pub id: String,
    /// On an origin of its server.
    pub frame_url: String,
    /// Below the page's own origin, for a sandbox without an origin.
    pub fallback_url: String,
    /// The origin of `frameUrl`.
    pub origin: String,
    /// What people call the server.
    pub server: String,
    pub uri: String,
    /// The tool as its server describes it.
    pub tool: Value,
    /// Hosts it asks for.
    pub asks: ViewHosts,
    /// Hosts it may reach now.
    pub allowed: ViewHosts,
    /// It wants a border; absent when it does not care.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}

/// Tools with a view.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ViewList {
    pub items: Vec<ToolWithView>,
}

/// A call of a tool by a view.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ViewCall {
    /// The server's own name of the tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Option<Value>,
    /// The chat the view is shown in.
    #[serde(default)]
    pub session: Option<String>,
}

/// A resource a view wants.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewRead {
    pub uri: String,
}

/// How much a capability weighs (the third, programs, is no capability: it is what a plugin starts).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CapabilityLevel {
    /// Sees or does things beyond itself.
    Amber,
    /// Stays with its own things.
    Grey,
}

/// How a capability stands for an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CapabilityState {
    /// The app may use it.
    On,
    /// It may not.
    Off,
}

/// One capability of a plugin, for its page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityView {
    pub capability: String,
    /// How much it weighs.
    pub level: CapabilityLevel,
    /// The manifest names it, or has no list at all.
    pub requested: bool,
    /// The manifest names it.
    pub declared: bool,
    /// An app tried to use it and was refused.
    pub wanted: bool,
    /// `on` without a decision, or `ask`.
    pub default: String,
    /// As it stands for all apps of the plugin.
    pub state: CapabilityState,
    /// Hosts a person allowed; `network` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Hosts the manifest names; `network` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted_hosts: Vec<String>,
}

/// One recorded decision.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantView {
    pub plugin_id: String,
    /// One app, or empty for all.
    pub app_id: String,
    pub capability: String,
    /// A host for `network`.
    pub value: String,
    /// `granted` or `withdrawn`.
    pub state: String,
    /// When this was decided or happened.
    pub decided_at: String,
    /// Where: `ui`, `cli`.
    pub decided_by: String,
}

/// A decision to record.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantChange {
    pub plugin_id: String,
    /// One app; all when absent.
    #[serde(default)]
    pub app_id: String,
    pub capability: String,
    /// A host for `network`.
    #[serde(default)]
    pub value: String,
    /// `granted`, `withdrawn`, or `default` to forget the decision.
    pub state: String,
}

/// What a browser does with the header that confines frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// It keeps to it: pages of apps reach nothing.
    Full,
    /// It does not know it, or it could not be measured.
    Partial,
}

/// Where an app is shown (host-api §1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// The whole view.
    #[default]
    Full,
    /// Beside the chat.
    Compact,
}

impl Surface {
    /// As in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Compact => "compact",
        }
    }
}

/// A folder of an app, for the plugin's page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppRootView {
    pub root: String,
    /// `asked`, `full`, `read` or `no`.
    pub mode: String,
    /// When this was decided or happened.
    pub decided_at: String,
}

/// Hosts a view may load from, each list for one purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ViewHosts {
    /// Requests.
    pub connect_domains: Vec<String>,
    /// Scripts, styles, images, fonts, media.
    pub resource_domains: Vec<String>,
    /// Frames inside it.
    pub frame_domains: Vec<String>,
    /// Bases of relative addresses.
    pub base_uri_domains: Vec<String>,
}

impl ViewHosts {
    /// Nothing from anywhere.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A tool that has a view.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ToolWithView {
    /// The server's own name of it.
    pub tool: String,
    /// The resource that shows its results.
    pub uri: String,
}

/// What a backend is doing (plugins §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackendPhase {
    /// Not running; the next call starts it.
    Stopped,
    /// Being started.
    Starting,
    Running,
    /// Crashed; started again after a pause.
    Backoff,
    /// Crashed too often; a person or a changed file starts it again.
    Failed,
}

impl BackendPhase {
    /// As in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Backoff => "backoff",
            Self::Failed => "failed",
        }
    }
}

/// A backend as people see it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendStatus {
    /// What it is doing.
    pub state: BackendPhase,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Calls it works on.
    pub in_flight: usize,
    /// Calls that wait for a place.
    pub queued: usize,
    /// Crashes since the last change, restart or healthy minute.
    pub crashes: usize,
    /// Until it may be started again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Why it ended or did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<BackendFailure>,
}

/// The last error of a backend.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BackendFailure {
    /// One of the codes an app knows.
    pub code: String,
    pub message: String,
    /// When this was decided or happened.
    pub at: String,
}

/// Which decisions are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct GrantQuery {
    /// Only those about this plugin.
    pub plugin_id: Option<String>,
}

/// Whose views are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ViewQuery {
    /// The server's identity, row id or name.
    pub server: Option<String>,
}
