//! Signing in, and the ticket of the event socket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A one-time code from a sign-in link.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignIn {
    /// The text after `#code=`.
    pub code: String,
}

/// What a signed-in page sends from then on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignedIn {
    /// `Authorization: Bearer <token>`.
    pub token: String,
}

/// A fresh one-time link.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    /// Works once, for a minute.
    pub sign_in_url: String,
}

/// Opens one WebSocket.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// Sent as the sub-protocol `ticket.<ticket>` beside `chatos.v1`.
    pub ticket: String,
    pub expires_in_ms: u64,
}
