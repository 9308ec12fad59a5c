//! Programs that ask over a connection of their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Programs that were seen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClientList {
    pub items: Vec<ClientView>,
}

/// A program that was seen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientView {
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// Its executable.
    pub program: String,
    /// What an interpreter runs.
    pub script: Option<String>,
    pub uid: u32,
    /// Only under this directory.
    pub project: Option<String>,
    pub seen_at: String,
    /// It may decide about its own calls.
    pub allowed: bool,
    pub allowed_at: Option<String>,
}

/// Which program may decide about its own calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowClient {
    /// What it calls itself.
    pub name: String,
    /// Its executable or script, where several have that name.
    pub program: Option<String>,
    /// Only under this directory; everywhere when absent.
    pub project: Option<String>,
    /// The process that asks for it; no program allows itself.
    pub pid: Option<u32>,
}

/// Which program is forgotten.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetClient {
    /// Its id, or what it calls itself.
    pub id: String,
}

/// How many were forgotten.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClientsForgotten {
    pub ok: bool,
    pub forgotten: usize,
}
