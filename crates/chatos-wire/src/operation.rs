//! Long work: how far it is, and what came of it.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::OperationState;

/// One piece of long work.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OperationView {
    pub id: String,
    /// Such as `install`.
    pub kind: String,
    pub state: OperationState,
    pub progress: Option<OperationProgress>,
    /// What came of it, when it is done.
    pub result: Option<Value>,
    /// The error object without its envelope, when it failed.
    pub error: Option<Value>,
    /// The HTTP status the failure would have had as an answer.
    pub status: Option<u16>,
}

/// How far it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OperationProgress {
    pub done: u64,
    pub total: Option<u64>,
    /// `bytes` or `files`.
    pub unit: String,
    pub message: String,
}

/// All known operations, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OperationList {
    pub items: Vec<OperationView>,
}
