//! Settings and secrets.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All settings, grouped as the page shows them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SettingList {
    pub items: Vec<Setting>,
}

/// One setting.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    pub key: String,
    /// The value in force.
    pub value: Value,
    pub default: Value,
    pub source: ValueSource,
    /// The flag or variable that decides it.
    pub source_name: Option<String>,
    pub section: String,
    #[serde(rename = "type")]
    pub kind: SettingType,
    /// Takes effect at the next start.
    pub restart: bool,
    /// The value in force is less safe than the default.
    pub weakens_safety: bool,
    /// False while a flag or variable decides.
    pub editable: bool,
    /// A value that was ignored or brought into range.
    pub warning: Option<String>,
    pub label: TextPair,
    pub description: TextPair,
    pub updated_at: Option<String>,
}

/// Where a value comes from, strongest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ValueSource {
    Flag,
    Env,
    Setting,
    Default,
}

/// What may be entered.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SettingType {
    Bool,
    #[serde(rename_all = "camelCase")]
    Int {
        min: i64,
        max: i64,
        zero_means_off: bool,
    },
    Enum {
        options: Vec<String>,
    },
    String,
    #[serde(rename_all = "camelCase")]
    List {
        max_items: usize,
    },
    Map {
        min: i64,
        max: i64,
    },
}

/// A text in both languages.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TextPair {
    pub zh: String,
    pub en: String,
}

/// A new value.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SettingValue {
    pub value: Value,
}

/// All secrets by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SecretList {
    pub items: Vec<SecretView>,
}

/// What may be told about a secret.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    pub name: String,
    /// `named`: set by a person, for models and headers; `grant` and `sign-in`: of an MCP server somebody
    /// signed in to or is about to.
    pub kind: String,
    /// Always true: what is not set is not listed.
    pub set: bool,
    pub description: String,
    pub created_at: String,
    pub updated_at: String,
    pub last_used_at: Option<String>,
    /// False when it was sealed with a key that is not here.
    pub openable: bool,
}

/// A new value. It has no `Debug`, so that it cannot reach a log by accident.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    pub value: String,
    pub description: Option<String>,
}

/// Whether it was new.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SecretSet {
    pub ok: bool,
    pub created: bool,
}
