//! Plugins: the listing, what a person decides by, trusting, installing, removing.

use std::path::PathBuf;

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::CapabilityView;

/// A package on this machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallBody {
    /// Absolute path of a directory or `.zip` file.
    pub path: PathBuf,
    /// Tolerate errors of apps, compact entries, backends and `ai` parts.
    #[serde(default)]
    pub allow_problems: bool,
    /// Only say what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// What the person saw when deciding.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustBody {
    /// `sha256:…` as shown.
    pub digest: String,
    /// The person ticked that it may connect to addresses inside this computer or network.
    #[serde(default)]
    pub allow_inside_network: bool,
    /// What the person ticked of the lines that reach beyond the plugin (`chat.read`, `network:<host>`, …); the
    /// others are off. Absent: the ticks of before stay.
    #[serde(default)]
    pub allow: Option<Vec<String>>,
}

/// How thoroughly to look.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct RefreshBody {
    /// Forget the cache first.
    #[serde(default)]
    pub deep: bool,
}

/// What an app contributes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppAi {
    pub plugin_id: String,
    pub app_id: String,
    /// May it be used?
    pub trusted: bool,
    /// The documented contribution; null when the app contributes nothing.
    pub contribution: Option<Value>,
}

/// The result of a removal.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginRemoved {
    pub ok: bool,
    pub plugin_id: String,
    pub removed: bool,
    /// `kept` or `deleted`.
    pub data: String,
    pub rows_removed: usize,
    /// Folders with its id that were not installed: they were moved aside, not deleted.
    pub kept: Vec<KeptFolder>,
}

/// A folder that was moved aside.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct KeptFolder {
    /// Where it was.
    pub from: String,
    /// Where it is now.
    pub to: String,
}

/// Files of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PluginFiles {
    pub files: Vec<PluginFile>,
}

/// Everything the trust page shows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrustSheet {
    /// The plugin in full.
    #[serde(flatten)]
    pub details: PluginDetails,
    /// What changed in text files, as far as it fits.
    pub diffs: Vec<FileDiff>,
    /// What its pages may call, and what of it needs a tick.
    pub rights: Vec<CapabilityView>,
}

/// The newest lines of a plugin's output.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PluginLog {
    /// Where the file is.
    pub path: String,
    /// Oldest first; empty when nothing ever ran.
    pub lines: Vec<String>,
}

/// One plugin in full.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginDetails {
    pub plugin: PluginEntry,
    pub dir: String,
    pub homepage: Option<String>,
    pub license: Option<String>,
    pub capabilities: Option<Vec<String>>,
    /// Of what is on disk now; null when the files cannot be read.
    pub digest: Option<String>,
    /// Why there is no digest.
    pub unreadable: Option<String>,
    pub file_count: usize,
    pub total_bytes: u64,
    pub servers: Vec<PluginServer>,
    /// Packages its programs take from ChatOS, with their versions; not part of the digest.
    #[serde(default)]
    pub lent: Vec<String>,
    pub exposure: Vec<PluginExposure>,
    pub prompts: Vec<PluginPrompt>,
    pub files: Vec<PluginFile>,
    /// Null without a trust record.
    pub changes: Option<PluginChanges>,
    pub overrides_builtin: bool,
    pub data: PluginData,
    pub problems: Vec<ProblemEntry>,
}

/// A server the plugin would run or connect to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginServer {
    pub app_id: String,
    pub name: String,
    /// Program and arguments, one token each.
    pub argv: Option<Vec<String>>,
    pub url: Option<String>,
    /// `public`, `loopback`, `private` or `link_local`.
    pub host_class: Option<String>,
    /// The program is not Node.
    pub unusual_command: bool,
    /// Hosts that are sent credentials.
    pub auth_hosts: Vec<String>,
    pub enabled: bool,
    pub allow_main: bool,
    pub allow_sub: bool,
    /// The working directory it asks for, when that is not below its data directory or the project.
    pub workdir_outside: Option<String>,
}

/// What an app asks to be selectable.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginExposure {
    pub app_id: String,
    /// null, true or a list of names.
    pub mcp_servers: Value,
    /// null, true or a list of names.
    pub prompts: Value,
}

/// A prompt text the plugin brings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginPrompt {
    pub app_id: String,
    pub language: String,
    pub name: String,
    pub title: String,
    pub bytes: usize,
}

/// A file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PluginFile {
    pub path: String,
    pub size: u64,
    pub executable: bool,
}

/// Differences to what was trusted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct PluginChanges {
    pub added: Vec<ChangedFile>,
    pub removed: Vec<ChangedFile>,
    pub changed: Vec<ChangedFile>,
}

/// One differing file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    pub path: String,
    pub size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_size: Option<u64>,
    /// Can it be run? Given where that is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<bool>,
    /// Could it be run when it was trusted? Given where that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_executable: Option<bool>,
}

/// The data directory.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PluginData {
    pub dir: String,
    pub exists: bool,
    pub bytes: u64,
}

/// A file then and now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    pub path: String,
    /// `text`, `binary`, `too_large`, or `unavailable` when the old text was not kept.
    pub kind: String,
    pub old_text: Option<String>,
    pub new_text: Option<String>,
    /// The difference as unified text, for a terminal.
    pub unified: Option<String>,
}

/// The whole listing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginListing {
    pub ok: bool,
    pub revision: u64,
    pub plugin_dirs: PluginDirs,
    pub plugins: Vec<PluginEntry>,
    pub apps: Vec<AppEntry>,
    pub errors: Vec<ProblemEntry>,
}

/// Where plugins are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PluginDirs {
    pub builtin: String,
    pub user: String,
}

/// One plugin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginEntry {
    pub id: String,
    pub name: String,
    pub version: String,
    pub description: String,
    pub publisher: Option<PublisherEntry>,
    /// `builtin`, `user` or `dev`.
    pub source: String,
    pub trusted: bool,
    /// False for a user plugin that waits for trust while the built-in of its id is used.
    pub active: bool,
    /// Origin of the plugin of the same id that it overrides, or would once trusted.
    pub shadows: Option<String>,
    pub trust: TrustEntry,
    pub backend: Option<BackendEntry>,
    pub apps: Vec<AppEntry>,
    pub extra: Map<String, Value>,
}

/// Who says to have made it; never verified.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PublisherEntry {
    pub name: Option<String>,
    pub url: Option<String>,
    pub email: Option<String>,
}

/// The trust of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustEntry {
    /// `trusted`, `untrusted` or `changed`.
    pub state: String,
    /// Of what is on disk; null for built-in and development plugins.
    pub digest: Option<String>,
    pub decided_at: Option<String>,
}

/// The backend of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BackendEntry {
    pub entry: String,
    pub available: bool,
    /// `stopped`, `starting`, `running`, `backoff` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// One app.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppEntry {
    pub id: String,
    pub name: String,
    pub description: String,
    /// As written in the manifest.
    pub icon: String,
    /// What may be drawn.
    pub icon_view: IconEntry,
    pub entry: ModuleEntry,
    pub ai: Option<AiEntry>,
    pub route: String,
    pub plugin: AppPlugin,
}

/// What may be drawn for an app; a file is fetched through the API, never by its address.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct IconEntry {
    /// `text`, `file` or `letter`.
    pub kind: String,
    /// The text or letter; the path for a file.
    pub value: String,
}

/// A front-end module.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ModuleEntry {
    #[serde(rename = "type")]
    pub kind: String,
    pub path: String,
    /// An identifier, not loadable.
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact: Option<Box<ModuleEntry>>,
}

/// The plugin of an app.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AppPlugin {
    pub id: String,
    pub name: String,
    pub version: String,
    pub source: String,
    pub trusted: bool,
    pub backend: Option<BackendEntry>,
}

/// What an app contributes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiEntry {
    pub mcp: Option<AppServerEntry>,
    pub mcp_prompt: Option<AppPromptEntry>,
    /// null, true or a list of names.
    pub mcp_servers: Value,
    /// null, true or a list of names.
    pub prompts: Value,
    pub agent: Option<Value>,
}

/// An app's own server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppServerEntry {
    pub name: String,
    pub url: String,
    pub description: String,
    pub tags: Vec<String>,
    pub enabled: bool,
    pub allow_main: bool,
    pub allow_sub: bool,
    pub has_auth: bool,
}

/// An app's own prompt; the texts are not listed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AppPromptEntry {
    pub title: String,
    pub zh: Option<PromptPlace>,
    pub en: Option<PromptPlace>,
    pub names: PromptNameEntry,
}

/// Where a prompt text stands; no path for text in the manifest itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptPlace {
    pub path: Option<String>,
}

/// Prompt names.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PromptNameEntry {
    pub zh: String,
    pub en: String,
}

/// A problem in one language.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProblemEntry {
    pub path: String,
    pub code: String,
    pub severity: String,
    pub message: String,
    pub hint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    pub source: String,
}

/// How much of a log is wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LogQuery {
    /// The newest lines, 500 when absent.
    pub limit: Option<usize>,
}

/// How an upload is installed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UploadQuery {
    /// Tolerate errors of apps, compact entries, backends and `ai` parts.
    pub allow_problems: bool,
    /// Only say what would change.
    pub dry_run: bool,
}

/// Which file is compared.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginDiffQuery {
    /// Path of the file in the plugin.
    pub path: String,
}

/// What becomes of the data of a plugin.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RemoveQuery {
    /// Keep or delete; keep when absent.
    pub data: Option<String>,
}

/// Whether trust counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PreviewQuery {
    /// True: also for an app nobody trusts.
    pub preview: bool,
}
