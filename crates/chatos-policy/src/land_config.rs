//! A land_config: which servers, tools, apps and prompts the main and the sub flow may use
//! (agents §2). It is the upper bound of every run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Glob, PromptLang, Role};

/// One land_config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LandConfig {
    /// Fixed once made; absent in a new one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Shown to people.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Can be copied, not edited or deleted.
    #[serde(default)]
    pub locked: bool,
    /// What main agents may use.
    pub main: Flow,
    /// What subagents may use.
    pub sub: Flow,
    /// Caps of a run.
    #[serde(default)]
    pub limits: Limits,
}

/// What one role may use.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Flow {
    /// Servers by row id.
    pub mcp_servers: Vec<ServerEntry>,
    /// Apps with a server of their own.
    pub apps: Vec<AppEntry>,
    /// Whether a custom agent may add trusted apps it chose.
    pub agent_apps: AgentApps,
    /// Whether a custom agent may use any prompt it chose.
    pub agent_prompts: AgentPrompts,
    /// Prompts by key.
    pub prompts: Vec<PromptEntry>,
}

/// One server of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerEntry {
    /// Row id; the only thing that identifies it.
    pub id: String,
    /// Display only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Language of its prompt.
    #[serde(default)]
    pub prompt_lang: PromptLang,
    /// Whether its prompt joins the system prompt.
    #[serde(default = "yes")]
    pub prompt: bool,
    /// Whether it may ask for model answers.
    #[serde(default)]
    pub sampling: bool,
    /// Whether what the server says about itself joins the system prompt.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub instructions: bool,
    /// Which of its tools.
    #[serde(default)]
    pub tools: ToolFilter,
}

/// One app of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "as in ServerEntry")]
pub struct AppEntry {
    pub plugin_id: String,
    pub app_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default)]
    pub prompt_lang: PromptLang,
    #[serde(default = "yes")]
    pub prompt: bool,
    #[serde(default)]
    pub sampling: bool,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub instructions: bool,
    #[serde(default)]
    pub tools: ToolFilter,
}

/// One prompt of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct PromptEntry {
    pub key: String,
    #[serde(default)]
    pub lang: PromptLang,
}

/// Which tools of a server, by patterns over raw names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolFilter {
    /// Absent: all. Present, even empty: only these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<Glob>>,
    /// Never these; beats `allow`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Glob>,
    /// These only after a person said yes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<Glob>,
}

/// Whether a custom agent may add apps that the flow does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentApps {
    /// No.
    #[default]
    None,
    /// Any trusted app it explicitly chose.
    Trusted,
}

/// Whether a custom agent may use prompts that the flow does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentPrompts {
    /// Only listed keys and the own prompts of bound apps.
    #[default]
    Listed,
    /// Any it chose.
    Any,
}

/// Caps of a run; absent ones come from the settings.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct Limits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_passes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_sub_depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
}

fn yes() -> bool {
    true
}

/// What is the rule is not written down.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks this way")]
fn is_yes(said: &bool) -> bool {
    *said
}

impl LandConfig {
    /// The flow of `role`.
    pub fn flow(&self, role: Role) -> &Flow {
        match role {
            Role::Main => &self.main,
            Role::Sub => &self.sub,
        }
    }

    /// The flow of `role`, to change it.
    pub fn flow_mut(&mut self, role: Role) -> &mut Flow {
        match role {
            Role::Main => &mut self.main,
            Role::Sub => &mut self.sub,
        }
    }

    /// What is wrong with it: the rules of the schema that types do not carry, and doubles.
    pub fn faults(&self) -> Vec<LandConfigFault> {
        let mut faults = Vec::new();
        let mut length = |pointer: String, text: &str, min: usize, max: usize| {
            let chars = text.chars().count();
            if chars < min || chars > max {
                faults.push(LandConfigFault::Length { pointer, min, max, got: chars });
            }
        };
        if !self.id.is_empty() {
            length("/id".to_owned(), &self.id, 1, 64);
        }
        length("/name".to_owned(), &self.name, 1, 120);
        for (role, flow) in [(Role::Main, &self.main), (Role::Sub, &self.sub)] {
            for (i, entry) in flow.mcp_servers.iter().enumerate() {
                length(format!("/{role}/mcpServers/{i}/id"), &entry.id, 1, 256);
            }
            for (i, entry) in flow.apps.iter().enumerate() {
                length(format!("/{role}/apps/{i}/pluginId"), &entry.plugin_id, 1, 256);
                length(format!("/{role}/apps/{i}/appId"), &entry.app_id, 1, 256);
            }
            for (i, entry) in flow.prompts.iter().enumerate() {
                length(format!("/{role}/prompts/{i}/key"), &entry.key, 1, 256);
            }
        }
        for role in [Role::Main, Role::Sub] {
            let flow = self.flow(role);
            let servers = flow.mcp_servers.iter().map(|e| (&e.tools, "mcpServers"));
            let apps = flow.apps.iter().map(|e| (&e.tools, "apps"));
            for (i, (tools, list)) in servers.enumerate().chain(apps.enumerate()) {
                globs(&mut faults, &format!("/{role}/{list}/{i}/tools"), tools);
            }
            for (i, entry) in flow.mcp_servers.iter().enumerate() {
                if flow.mcp_servers[..i].iter().any(|before| before.id == entry.id) {
                    faults.push(LandConfigFault::Twice {
                        pointer: format!("/{role}/mcpServers/{i}"),
                        what: entry.id.clone(),
                    });
                }
            }
            for (i, entry) in flow.apps.iter().enumerate() {
                let same = |e: &AppEntry| e.plugin_id == entry.plugin_id && e.app_id == entry.app_id;
                if flow.apps[..i].iter().any(same) {
                    let what = format!("{}.{}", entry.plugin_id, entry.app_id);
                    faults.push(LandConfigFault::Twice { pointer: format!("/{role}/apps/{i}"), what });
                }
            }
        }
        let limits = &self.limits;
        let mut range = |name: &str, value: Option<u32>, min: u32, max: u32| {
            if value.is_some_and(|v| v < min || v > max) {
                faults.push(LandConfigFault::Range { pointer: format!("/limits/{name}"), min, max });
            }
        };
        range("maxPasses", limits.max_passes, 1, 500);
        range("maxSubDepth", limits.max_sub_depth, 0, 1);
        if limits.max_cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
            faults.push(LandConfigFault::Cost);
        }
        faults
    }
}

const GLOBS: usize = 200;
const GLOB_CHARS: usize = 128;

fn globs(faults: &mut Vec<LandConfigFault>, pointer: &str, filter: &ToolFilter) {
    let allow = filter.allow.as_deref().unwrap_or_default();
    for (list, globs) in [("allow", allow), ("deny", &filter.deny), ("ask", &filter.ask)] {
        if globs.len() > GLOBS {
            let pointer = format!("{pointer}/{list}");
            faults.push(LandConfigFault::TooMany { pointer, max: GLOBS, got: globs.len() });
        }
        for (i, glob) in globs.iter().enumerate() {
            let got = glob.as_str().chars().count();
            if got == 0 || got > GLOB_CHARS {
                let pointer = format!("{pointer}/{list}/{i}");
                faults.push(LandConfigFault::Length { pointer, min: 1, max: GLOB_CHARS, got });
            }
        }
    }
}

/// What is wrong with a land_config, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LandConfigFault {
    #[error("{pointer}: must have {min} to {max} characters, not {got}")]
    Length { pointer: String, min: usize, max: usize, got: usize },
    #[error("{pointer}: at most {max} patterns, not {got}")]
    TooMany { pointer: String, max: usize, got: usize },
    #[error("{pointer}: must be {min} to {max}")]
    Range { pointer: String, min: u32, max: u32 },
    #[error("/limits/maxCost: must be a number of at least 0")]
    Cost,
    #[error("{pointer}: `{what}` is listed twice; the two filters are intersected")]
    Twice { pointer: String, what: String },
}

impl LandConfigFault {
    /// A double is allowed, with a warning; everything else is refused.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::Twice { .. })
    }
}

/// The JSON Schema of a land_config, for the API and for editors.
pub fn schema() -> Value {
    let entry = |own: Value, required: Value| {
        let mut properties = json!({
            "name": { "type": "string" },
            "promptLang": { "enum": ["auto", "zh", "en"], "default": "auto" },
            "prompt": { "type": "boolean", "default": true },
            "sampling": { "type": "boolean", "default": false },
            "instructions": { "type": "boolean", "default": true },
            "tools": { "$ref": "#/$defs/tools" },
        });
        if let (Value::Object(all), Value::Object(own)) = (&mut properties, own) {
            all.extend(own);
        }
        json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
    };
    let id = json!({ "type": "string", "minLength": 1 });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "additionalProperties": false, "required": ["name", "main", "sub"],
        "properties": {
            "id": { "type": "string", "minLength": 1, "maxLength": 64 },
            "name": { "type": "string", "minLength": 1, "maxLength": 120 },
            "description": { "type": "string" },
            "locked": { "type": "boolean", "default": false },
            "main": { "$ref": "#/$defs/flow" },
            "sub": { "$ref": "#/$defs/flow" },
            "limits": { "type": "object", "additionalProperties": false, "properties": {
                "maxPasses": { "type": "integer", "minimum": 1, "maximum": 500 },
                "maxSubDepth": { "type": "integer", "minimum": 0, "maximum": 1 },
                "maxTokens": { "type": "integer", "minimum": 0 },
                "maxCost": { "type": "number", "minimum": 0 } } },
        },
        "$defs": {
            "globs": { "type": "array", "maxItems": GLOBS,
                       "items": { "type": "string", "minLength": 1, "maxLength": GLOB_CHARS } },
            "tools": { "type": "object", "additionalProperties": false, "properties": {
                "allow": { "$ref": "#/$defs/globs" },
                "deny": { "$ref": "#/$defs/globs" },
                "ask": { "$ref": "#/$defs/globs" } } },
            "flow": { "type": "object", "additionalProperties": false, "properties": {
                "mcpServers": { "type": "array", "default": [],
                                "items": entry(json!({ "id": id }), json!(["id"])) },
                "apps": { "type": "array", "default": [],
                          "items": entry(json!({ "pluginId": id, "appId": id }), json!(["pluginId", "appId"])) },
                "agentApps": { "enum": ["none", "trusted"], "default": "none" },
                "agentPrompts": { "enum": ["listed", "any"], "default": "listed" },
                "prompts": { "type": "array", "default": [], "items": {
                    "type": "object", "additionalProperties": false, "required": ["key"],
                    "properties": { "key": id, "lang": { "enum": ["auto", "zh", "en"], "default": "auto" } } } } } },
        },
    })
}
