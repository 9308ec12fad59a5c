//! The state as a whole and its key.

use std::path::PathBuf;

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What to take over.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateImportBody {
    /// An absolute path of an older database; without it every known place is looked at.
    pub path: Option<PathBuf>,
}

/// What to keep. It has no `Debug`: the passphrase must not reach a log by accident.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackupBody {
    /// The file to make, absolute; it must not exist.
    pub path: PathBuf,
    /// Leave out the content of changed files, attachments and tool results.
    #[serde(default)]
    pub no_blobs: bool,
    /// Add the state key, locked with this.
    pub passphrase: Option<String>,
}

/// What to remove.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PruneBody {
    /// Runs that finished before this time: ISO 8601, or days as in `90d`.
    pub runs_before: String,
    /// Only say what would go.
    #[serde(default)]
    pub dry_run: bool,
}

/// What went, or would go.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PruneView {
    pub dry_run: bool,
    pub before: String,
    pub runs: u64,
    pub steps: u64,
    /// When the first and the last of them finished.
    pub oldest: Option<String>,
    pub newest: Option<String>,
}

/// Imports there were, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StateImports {
    pub items: Vec<StateImportView>,
}

/// One import.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateImportView {
    pub source: String,
    pub imported_at: String,
    /// Per table of the source: found, imported, updated, skipped, repaired.
    pub counts: Value,
    /// The file with every skipped row and its reason.
    pub report: PathBuf,
}

/// What may be told about the key.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateKeyView {
    /// The first eight digits of its hash.
    pub key_id: String,
    /// `file`, `keychain`, or `named`: a file that CHATOS_MASTER_KEY_FILE names.
    #[serde(rename = "where")]
    pub place: String,
    /// The file, if it is one.
    pub path: Option<String>,
    /// Keys before this one that still check what they signed.
    pub former: usize,
}

/// What a rotation did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRotated {
    /// The key before.
    pub from: String,
    /// The key in force.
    pub to: String,
    /// Values sealed anew.
    pub resealed: usize,
    /// Values that a lost key sealed; they stay as they are.
    pub left: usize,
}

/// Nothing to say; an empty object.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateKey {}

/// Where to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveKey {
    pub to: KeyPlace,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyPlace {
    Keychain,
    File,
}

/// What a move did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MovedKey {
    /// False: it was there.
    pub moved: bool,
    pub key: StateKeyView,
}
