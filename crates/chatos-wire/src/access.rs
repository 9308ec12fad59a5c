//! What a person opened to the commands of a project.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::RulesTried;
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

words! {
    /// Why a place or a machine is open to a command.
    AccessReason {
        /// The project's folder.
        Project = "project",
        /// A temporary folder of the command's own.
        Temporary = "temporary",
        /// Programs of the system.
        System = "system",
        /// It is in `PATH`, or lies beside such a place.
        SearchPath = "search_path",
        /// A toolchain in the home directory.
        Toolchain = "toolchain",
        /// The private cache of the project.
        Cache = "cache",
        /// The mode is relaxed.
        Relaxed = "relaxed",
        /// A setting names it.
        Setting = "setting",
        /// A person opened it to the project.
        Granted = "granted",
        /// A device every program needs.
        Device = "device",
    }
}

words! {
    /// What would happen to a command.
    AccessDecision {
        /// It runs.
        Allow = "allow",
        /// A person is asked.
        Ask = "ask",
        /// It is refused.
        Deny = "deny",
    }
}

/// A command to explain.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainAccess {
    /// The project's folder, absolute.
    pub root: String,
    /// As an agent would run it there.
    pub command: String,
}

/// What a command could touch and why, and whether a person would be asked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AccessExplained {
    pub command: String,
    /// The real path of the project's folder.
    pub root: String,
    /// `strict` or `relaxed`.
    pub mode: String,
    /// How much this computer confines it: `full`, `fs` or `none`.
    pub level: String,
    /// `off`, `hosts` or `on`.
    pub network: String,
    pub decision: AccessDecision,
    /// Why it is asked about or refused.
    pub why: Vec<String>,
    /// What was seen in its text.
    pub findings: Vec<AccessFinding>,
    /// Nothing where nothing confines it.
    pub grants: Vec<AccessGrant>,
    /// Closed whatever is open around them, unless a grant names them: what belongs to ChatOS, keys, tokens and the like.
    pub closed: Vec<String>,
    /// What the person's rules say, where one of them may answer the question.
    pub rules: Option<RulesTried>,
}

/// Something seen in the text of a command.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AccessFinding {
    pub id: String,
    /// `info`, `warn`, `ask` or `block`.
    pub level: String,
    pub message: String,
}

/// One thing that is open to a command.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AccessGrant {
    /// What may be written may be read, too.
    pub kind: AccessKind,
    pub value: String,
    pub reason: AccessReason,
    /// The same in words.
    pub why: String,
    /// Of what a person opened to the project: `revoke` takes it.
    pub id: Option<String>,
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
