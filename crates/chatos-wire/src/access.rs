//! What a person opened to the commands of a project.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// What is open.
    AccessKind {
        /// A path for reading.
        Read = "read",
        /// A path for writing.
        Write = "write",
        /// A machine.
        Host = "host",
    }
}

/// One thing that is open.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessView {
    pub id: String,
    /// The project's folder.
    pub root: String,
    pub kind: AccessKind,
    /// An absolute path, or `name[:port]`.
    pub value: String,
    pub granted_at: String,
    pub last_used_at: Option<String>,
    /// The question it was the answer to.
    pub request_id: Option<String>,
}

/// What is open.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AccessList {
    pub items: Vec<AccessView>,
}

/// Opens something.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowAccess {
    /// The project's folder, absolute.
    pub root: String,
    pub kind: AccessKind,
    pub value: String,
}
