//! `chatos changes`.

use clap::Subcommand;

/// `chatos changes …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Changes {
    /// List file changes made by tools, newest first
    List {
        /// Only paths that contain this text
        #[arg(long, allow_hyphen_values = true)]
        path: Option<String>,
        /// Only in this root folder
        #[arg(long, value_name = "DIR")]
        root: Option<String>,
        /// Only in this run
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Only in this chat
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Only by this server
        #[arg(long)]
        server: Option<String>,
        /// Only by this tool
        #[arg(long)]
        tool: Option<String>,
        /// Only of this kind
        #[arg(long, value_name = "KIND", value_parser = ["created", "modified", "deleted", "moved"])]
        change: Option<String>,
        /// Maximum number of results
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// Only changes before this one
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Show one change with its diff, and whether it can be undone
    Show {
        /// Change ID
        id: String,
    },
    /// Undo changes: all of them, or none
    Undo {
        /// IDs of the changes, all in one root folder
        #[arg(required_unless_present = "run", conflicts_with = "run")]
        ids: Vec<String>,
        /// Every change in this run that isn't undone yet
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Only show what would happen
        #[arg(long, conflicts_with = "yes")]
        dry_run: bool,
        /// Don't ask
        #[arg(long)]
        yes: bool,
    },
}
