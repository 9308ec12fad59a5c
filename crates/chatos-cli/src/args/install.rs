//! `chatos version`, `upgrade` and `service` as clap reads them.

use clap::{Args, Subcommand};

/// What `chatos upgrade` takes from a person.
#[derive(Debug, Args)]
#[command(after_help = "\
ChatOS upgrades only when you ask. The release's signature is checked before anything changes, the current program \
is kept as `chatos.former`, and the new one copies the database when it first starts.")]
pub(crate) struct Upgrade {
    /// Only show what is available
    #[arg(long, conflicts_with = "undo")]
    pub(crate) check: bool,
    /// Version to get [default: the newest]
    #[arg(long, value_name = "VERSION", conflicts_with = "undo")]
    pub(crate) to: Option<String>,
    /// Bring back the program from before the last upgrade
    #[arg(long)]
    pub(crate) undo: bool,
    /// Address of releases of your own; needs --key
    #[arg(long, value_name = "URL", requires = "key", conflicts_with = "undo")]
    pub(crate) from: Option<String>,
    /// Public key those releases are signed with
    #[arg(long, value_name = "KEY", requires = "from")]
    pub(crate) key: Option<String>,
}

/// What can be done with the service.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Start ChatOS now and whenever you sign in
    Install {
        /// Port to listen on, kept over restarts
        #[arg(long, default_value_t = 7878, value_parser = clap::value_parser!(u16).range(1..))]
        port: u16,
    },
    /// Stop the service and remove it; your data stays
    Remove,
}
