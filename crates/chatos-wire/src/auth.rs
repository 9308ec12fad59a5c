//! Signing in, the browsers that are, and the ticket of the event socket.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// A one-time code from a sign-in link.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// The text after `#code=`.
    pub code: String,
    /// The browser's own public key: an uncompressed point of P-256, base64url. With it the browser stays signed in;
    /// without it this is one session.
    pub public_key: Option<String>,
    /// What the browser calls itself.
    pub name: Option<String>,
}

/// What a signed-in page sends from then on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedIn {
    /// `Authorization: Bearer <token>`.
    pub token: String,
    pub expires_in_ms: u64,
    /// The browser, where it stays signed in.
    pub browser_id: Option<String>,
}

/// Something to sign, once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    pub challenge: String,
    pub expires_in_ms: u64,
}

/// A browser that is signed in asks for a token, with its cookie.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Renew {
    /// The first 32 hexadecimal digits of the SHA-256 of its public key.
    pub browser_id: String,
    pub challenge: String,
    /// ECDSA over P-256 and SHA-256 (r ‖ s, base64url) of the lines `chatos-renew-v1`, origin, browser ID, challenge.
    pub sig: String,
}

/// Browsers that are signed in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BrowserList {
    pub items: Vec<BrowserView>,
}

/// A browser that is signed in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserView {
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// It is the one that asks.
    pub current: bool,
    pub created_at: String,
    pub last_seen: String,
    /// From where it was last seen; absent for this computer.
    pub address: Option<String>,
    /// When it has to sign in again if it is not used before.
    pub expires_at: String,
}

/// How many browsers were signed out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BrowsersRevoked {
    pub ok: bool,
    pub revoked: usize,
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
