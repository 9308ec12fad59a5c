//! `chatos instructions`: texts of a project that go with messages.

use clap::{Args, ValueEnum};

/// What `chatos instructions` takes; `--project` names another folder.
#[derive(Debug, Args)]
pub(crate) struct Instructions {
    /// Decide for this project
    #[arg(long, value_enum, value_name = "WORD")]
    pub(crate) set: Option<ConsentArg>,
    /// Print the text that goes with messages
    #[arg(long)]
    pub(crate) text: bool,
}

/// A word about a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConsentArg {
    /// Send its texts with messages
    Use,
    /// Don't send them
    Skip,
    /// Undecided: the next chat here asks
    Ask,
}
