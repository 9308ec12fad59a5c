//! The two flows a run can belong to.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether an agent answers a person or another agent.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The agent a person talks to.
    #[default]
    Main,
    /// An agent started by another agent.
    Sub,
}

impl Role {
    /// The word on the wire and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Sub => "sub",
        }
    }

    /// The word in Chinese messages.
    pub fn zh(self) -> &'static str {
        match self {
            Self::Main => "主",
            Self::Sub => "子",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
