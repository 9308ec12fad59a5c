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
    /// Show what a command could touch in this folder, or in --project, with the reason of each, and whether you would be asked; nothing is run
    Explain {
        /// The command, as an agent would run it
        #[arg(required = true, last = true, value_name = "COMMAND")]
        command: Vec<String>,
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
