//! The closed list of general error codes (tools §6) and what each means to the outside.

use serde::{Deserialize, Serialize};

/// Why something did not happen. Never translated, never extended by a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The caller gave something that cannot be used.
    InvalidArgument,
    /// The caller may not do this.
    PermissionDenied,
    /// The named thing does not exist.
    NotFound,
    /// It took longer than allowed.
    Timeout,
    /// A person, the caller or a shutdown ended it.
    Canceled,
    /// It contradicts the present state.
    Conflict,
    /// A limit, the disk or memory is used up.
    ResourceExhausted,
    /// Something it needs is not there at the moment.
    Unavailable,
    /// This program does not do that.
    NotSupported,
    /// Too many at once.
    RateLimited,
    /// Something alive waits for input.
    NeedsInput,
    /// A bug of ours.
    Internal,
}

impl ErrorCode {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::PermissionDenied => "permission_denied",
            Self::NotFound => "not_found",
            Self::Timeout => "timeout",
            Self::Canceled => "canceled",
            Self::Conflict => "conflict",
            Self::ResourceExhausted => "resource_exhausted",
            Self::Unavailable => "unavailable",
            Self::NotSupported => "not_supported",
            Self::RateLimited => "rate_limited",
            Self::NeedsInput => "needs_input",
            Self::Internal => "internal",
        }
    }

    /// The exit status of a command that ended with this code (cli-and-api, rules for every command).
    pub fn exit_status(self) -> u8 {
        match self {
            Self::InvalidArgument | Self::Timeout | Self::Canceled | Self::Conflict | Self::NeedsInput => 1,
            Self::PermissionDenied => 3,
            Self::NotFound => 4,
            Self::ResourceExhausted | Self::Unavailable | Self::NotSupported | Self::RateLimited => 5,
            Self::Internal => 70,
        }
    }

    /// The HTTP status of an answer with this code (cli-and-api, HTTP API).
    pub fn http_status(self) -> u16 {
        match self {
            Self::InvalidArgument | Self::NeedsInput => 422,
            Self::PermissionDenied => 403,
            Self::NotFound => 404,
            Self::Timeout => 504,
            Self::Canceled | Self::Conflict => 409,
            Self::ResourceExhausted => 507,
            Self::Unavailable => 503,
            Self::NotSupported => 501,
            Self::RateLimited => 429,
            Self::Internal => 500,
        }
    }

    /// Reads a code from the wire.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_value(serde_json::Value::String(text.to_owned())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_name_and_the_serialised_name_agree() {
        for code in [
            ErrorCode::InvalidArgument,
            ErrorCode::PermissionDenied,
            ErrorCode::NotFound,
            ErrorCode::Timeout,
            ErrorCode::Canceled,
            ErrorCode::Conflict,
            ErrorCode::ResourceExhausted,
            ErrorCode::Unavailable,
            ErrorCode::NotSupported,
            ErrorCode::RateLimited,
            ErrorCode::NeedsInput,
            ErrorCode::Internal,
        ] {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
        }
        assert_eq!(ErrorCode::parse("nonsense"), None);
    }
}
