//! Which tools of a server a caller may use (tools §1.4).

use std::collections::BTreeSet;

/// What the land_config grants. Nothing else widens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Every tool: a person started this server by hand.
    All,
    /// These tools only.
    Listed {
        /// Granted.
        allow: BTreeSet<String>,
        /// Granted, but a person is asked for each call.
        ask: BTreeSet<String>,
    },
}

impl Access {
    /// The tool may be listed and called.
    pub fn allows(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Listed { allow, ask } => allow.contains(tool) || ask.contains(tool),
        }
    }

    /// A person has to agree to each call.
    pub fn asks(&self, tool: &str) -> bool {
        match self {
            Self::All => false,
            Self::Listed { ask, .. } => ask.contains(tool),
        }
    }
}
