//! Plugins of subagents.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// The catalogue, and what could not be read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SubagentCatalogue {
    pub plugins: Vec<SubPlugin>,
    pub problems: Vec<String>,
}

/// A folder to take subagents from.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SubImportOrder {
    pub path: String,
    /// Write it into the catalogue.
    #[serde(default)]
    pub apply: bool,
    /// What was shown; a folder that changed since is refused.
    pub digest: Option<String>,
}

/// What a folder holds, and whether it was taken.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SubImport {
    /// As it is, or would be, in the catalogue.
    pub plugin: SubPlugin,
    /// What was read.
    pub files: Vec<String>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
    /// Names exactly these bytes.
    pub digest: String,
    /// It is in the catalogue now.
    pub imported: bool,
}

/// A plugin of subagents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SubPlugin {
    pub id: String,
    pub name: String,
    pub description: String,
    pub category: String,
    #[serde(default = "yes")]
    pub enabled: bool,
    /// `builtin` or `user`.
    pub source: String,
    pub agents: Vec<SubAgent>,
    pub skills: Vec<SubSkill>,
    pub commands: Vec<SubCommand>,
}

fn yes() -> bool {
    true
}

/// One agent of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SubAgent {
    pub id: String,
    pub name: String,
    pub description: String,
    pub model: Option<String>,
    pub reasoning: Option<bool>,
    pub system: String,
    #[serde(skip_serializing)]
    pub system_prompt_path: String,
    pub skills: Vec<String>,
    pub default_skills: Vec<String>,
    pub default_command: Option<String>,
}

/// A text an agent works by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SubSkill {
    pub id: String,
    pub name: String,
    pub description: String,
    pub instructions: String,
    #[serde(skip_serializing)]
    pub instructions_path: String,
}

/// A way to ask an agent for one thing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SubCommand {
    pub id: String,
    pub name: String,
    pub description: String,
    pub instructions: String,
    #[serde(skip_serializing)]
    pub instructions_path: String,
    pub model: Option<String>,
    pub reasoning: Option<bool>,
}
