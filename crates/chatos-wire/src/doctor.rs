//! What the doctor and the check of the audit log found.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything the doctor looked at, worst first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// No errors; warnings are allowed.
    pub ok: bool,
    pub checked_at: String,
    pub findings: Vec<DoctorFinding>,
}

/// One thing it looked at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DoctorFinding {
    pub code: String,
    /// `error`, `warning`, `info` or `ok`.
    pub severity: String,
    pub title: String,
    pub message: String,
    pub path: Option<String>,
    /// What to do.
    pub action: Option<String>,
    /// `--fix` can do it.
    pub fixable: bool,
}

/// Is the chain of audit records whole?
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditCheck {
    pub ok: bool,
    /// Records found in order.
    pub records: u64,
    /// The first bad place.
    pub file: Option<String>,
    pub line: Option<u64>,
    pub reason: Option<String>,
}

/// How thoroughly to look.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DoctorQuery {
    /// True: check the complete database.
    pub deep: bool,
}
