//! `chatos access`.

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Access {
    /// List what agents' commands may use beyond their sandbox; with --project, in that folder
    List,
    /// Open a path or a machine to agents' commands in this folder, or in --project
    Allow {
        /// What to open
        kind: AccessKind,
        /// An absolute path, or a machine as name or name:port
        value: String,
    },
    /// Take something back
    Revoke {
        /// ID from the list, or its beginning
        id: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum AccessKind {
    /// A path for reading
    Read,
    /// A path for writing
    Write,
    /// A machine
    Host,
}
