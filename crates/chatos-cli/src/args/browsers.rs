//! `chatos browsers`.

use clap::Subcommand;

/// `chatos browsers …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Browsers {
    /// List signed-in browsers
    List,
    /// Sign out a browser; its open pages wait until somebody signs in again
    Revoke {
        /// Browser ID, or its beginning
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Sign out all browsers
        #[arg(long)]
        all: bool,
    },
}
