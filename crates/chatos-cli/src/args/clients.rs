//! `chatos clients`.

use clap::Subcommand;

/// `chatos clients …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Clients {
    /// List programs that have asked or called through ChatOS, and what they can do
    List,
    /// Show a program: what it can use, and what it last asked and called
    Show {
        /// ID from the list; the beginning is enough
        id: String,
    },
    /// Let a program approve its own actions; with --project, only in that folder
    Allow {
        /// Name it gives itself
        name: String,
        /// Its executable or script; needed in scripts, or if several programs share the name
        #[arg(long, value_name = "PATH")]
        program: Option<String>,
    },
    /// Forget a program and what it was allowed
    Forget {
        /// ID of a program or of one of its sessions, or the name it gives itself
        id: String,
    },
}
