//! A value that must not appear in logs, listings or error texts.

use serde::{Serialize, Serializer};

/// What is shown instead of a secret (ai-contributions §5).
pub const MASK: &str = "********";

/// Text from `ai.mcp.auth`. `Debug` and `Serialize` show the mask; only [`Secret::expose`] gives
/// the value, so every use of one can be found by name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself; for the connection that needs it and the sealed column that keeps it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}
