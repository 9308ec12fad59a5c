//! The project journal.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of entries.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalList {
    pub project_root: String,
    pub items: Vec<JournalEntryView>,
    pub total: u64,
    pub next_cursor: Option<String>,
}

/// One entry.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntryView {
    pub id: String,
    pub ts: String,
    pub title: String,
    pub tags: Vec<String>,
    pub summary: String,
    pub details: String,
    pub files: Vec<String>,
    pub highlights: Vec<String>,
    pub next_steps: Vec<String>,
    pub run_id: String,
    pub session_id: String,
}

/// Projects that have a journal, most recent first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct JournalProjects {
    pub items: Vec<JournalProject>,
}

/// One of them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct JournalProject {
    pub root: String,
    pub entries: u64,
}

/// An entry to be added.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JournalInput {
    /// The host's project when absent.
    pub project_root: Option<String>,
    #[serde(default)]
    pub title: String,
    pub summary: String,
    #[serde(default)]
    pub details: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub highlights: Vec<String>,
    #[serde(default)]
    pub next_steps: Vec<String>,
    pub dedupe_key: Option<String>,
}

/// Which entries are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct JournalQuery {
    /// The host's project when absent.
    pub project_root: Option<String>,
    /// Only records with exactly this value.
    pub tag: String,
    /// In all texts.
    pub q: String,
    /// At most so many, 1 to 200.
    pub limit: Option<u32>,
    /// From the page before.
    pub cursor: Option<u32>,
}

/// Where an entry is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct JournalEntryQuery {
    /// The host's project when absent.
    pub project_root: Option<String>,
}
