//! `chatos browsers`.

use clap::Subcommand;

/// `chatos browsers …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Browsers {
    /// List the browsers that are signed in
    List,
    /// Sign a browser out; its pages stay open until somebody signs in again
    Revoke {
        /// Browser ID, or its beginning
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Sign all browsers out
        #[arg(long)]
        all: bool,
    },
}
