//! Why a model did not answer: a closed list of classes, decided by status and type fields.

use serde::Serialize;

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of agents §1.2")]
pub enum Class {
    Auth,
    Permission,
    NotFound,
    RateLimited,
    Quota,
    ContextLength,
    InvalidRequest,
    Server,
    Network,
    Canceled,
    ContentFilter,
    Config,
}

impl Class {
    /// Whether waiting and asking again may help (agents §7).
    pub fn retries(self) -> bool {
        matches!(self, Self::RateLimited | Self::Server | Self::Network)
    }

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::RateLimited => "rate_limited",
            Self::Quota => "quota",
            Self::ContextLength => "context_length",
            Self::InvalidRequest => "invalid_request",
            Self::Server => "server",
            Self::Network => "network",
            Self::Canceled => "canceled",
            Self::ContentFilter => "content_filter",
            Self::Config => "config",
        }
    }
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}: {message}", class.as_str())]
pub struct ModelError {
    /// What kind.
    pub class: Class,
    /// HTTP status, when there was one.
    pub status: Option<u16>,
    /// How many milliseconds the vendor asked to wait.
    pub retry_after_ms: Option<u64>,
    /// The vendor's sentence, cut; or ours.
    pub message: String,
    /// The member of the request the vendor complained about.
    pub param: Option<String>,
    /// The limit that was passed, where the vendor names it: of tokens, or of tools.
    pub limit: Option<u64>,
    /// How much was asked for.
    pub requested: Option<u64>,
    /// How many tokens of that were input.
    pub input: Option<u64>,
}

/// Longest sentence kept from a vendor.
const MESSAGE_CHARS: usize = 600;

impl ModelError {
    /// A failure of this class.
    pub fn new(class: Class, message: impl AsRef<str>) -> Self {
        let message: String = message
            .as_ref()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(MESSAGE_CHARS)
            .collect();
        Self {
            class,
            status: None,
            retry_after_ms: None,
            message,
            param: None,
            limit: None,
            requested: None,
            input: None,
        }
    }

    /// With the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The class a bare status means when the body says nothing.
    pub fn class_of_status(status: u16) -> Class {
        match status {
            401 => Class::Auth,
            402 => Class::Quota,
            403 => Class::Permission,
            404 => Class::NotFound,
            408 | 425 => Class::Network,
            413 => Class::ContextLength,
            429 => Class::RateLimited,
            400..=499 => Class::InvalidRequest,
            _ => Class::Server,
        }
    }
}
