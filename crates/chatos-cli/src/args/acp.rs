//! `chatos acp`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Acp {
    /// Agent to chat with, ID or name [default: the default agent]
    #[arg(long, value_name = "A")]
    pub(crate) agent: Option<String>,
    /// Don't start a host if none is running
    #[arg(long)]
    pub(crate) no_serve: bool,
    /// Print the configuration to paste into an editor, and exit
    #[arg(long, value_name = "EDITOR")]
    pub(crate) print_config: Option<EditorName>,
}

/// An editor that speaks ACP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditorName {
    Zed,
    Jetbrains,
}
