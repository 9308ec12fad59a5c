//! `chatos clients`.

use clap::Subcommand;

/// `chatos clients …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Clients {
    /// Programs that asked over a connection of their own, and what they may
    List,
    /// Let a program approve its own actions; with --project only under that directory
    Allow {
        /// What it calls itself
        name: String,
        /// Its executable or script; needed where several have that name, and in scripts
        #[arg(long, value_name = "PATH")]
        program: Option<String>,
    },
    /// Forget a program and what it was allowed
    Forget {
        /// Its id, or what it calls itself
        id: String,
    },
}
