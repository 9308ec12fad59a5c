//! `chatos changes`.

use clap::Subcommand;

/// `chatos changes …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Changes {
    /// What tools changed in files, newest first
    List {
        /// Only with this text in the path
        #[arg(long, allow_hyphen_values = true)]
        path: Option<String>,
        /// Only in this root directory
        #[arg(long, value_name = "DIR")]
        root: Option<String>,
        /// Only of this run
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Only of this session
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
        /// How many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// Those before this change
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// One change with its diff, and whether it can be undone
    Show {
        /// Its id
        id: String,
    },
    /// Bring files back as they were before changes: all of them, or nothing happens
    Undo {
        /// The changes, of one root directory
        #[arg(required_unless_present = "run", conflicts_with = "run")]
        ids: Vec<String>,
        /// Every change of this run that is not undone yet
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Only say what would happen
        #[arg(long, conflicts_with = "yes")]
        dry_run: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}
