//! What an agent record says about its tools (agents §3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How an agent gets its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Chooses servers, apps and prompts, narrowed by its land_config.
    Custom,
    /// Everything its land_config lists, and nothing of its own.
    Flow,
}

/// Which text of a prompt is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptLang {
    /// The next broader choice decides.
    #[default]
    Auto,
    /// Chinese.
    Zh,
    /// English.
    En,
}

/// The part of an agent record that grants are decided from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// Custom or flow.
    pub mode: Mode,
    /// The land_config; empty means Safe default for custom and a refusal for flow.
    pub land_config_id: Option<String>,
    /// Chosen servers (row ids or identities); `None` is "not configured": all that are listed.
    pub mcp_server_ids: Option<Vec<String>>,
    /// Chosen apps.
    pub ui_apps: Vec<UiApp>,
}

/// One chosen app (seed 000 §4.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct UiApp {
    pub plugin_id: String,
    pub app_id: String,
    #[serde(default = "yes")]
    pub mcp: bool,
    #[serde(default = "yes")]
    pub prompt: bool,
    #[serde(default)]
    pub prompt_lang: PromptLang,
    #[serde(default)]
    pub mcp_server_ids: Vec<String>,
    #[serde(default)]
    pub prompt_ids: Vec<String>,
    /// What others wrote beside that; it survives a save and decides nothing (ai-contributions §12).
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

fn yes() -> bool {
    true
}

impl UiApp {
    /// The app with everything of its own and nothing else.
    pub fn own(plugin_id: impl Into<String>, app_id: impl Into<String>) -> Self {
        Self {
            plugin_id: plugin_id.into(),
            app_id: app_id.into(),
            mcp: true,
            prompt: true,
            prompt_lang: PromptLang::Auto,
            mcp_server_ids: Vec::new(),
            prompt_ids: Vec::new(),
            extra: Map::new(),
        }
    }
}
