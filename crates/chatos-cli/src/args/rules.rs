//! `chatos rules`.

use std::path::PathBuf;

use clap::Subcommand;

/// What `chatos rules` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Rules {
    /// List rules: what each answers, where, until when, how often it did
    List,
    /// Show a rule in full
    Show {
        /// Rule ID, or its beginning
        id: String,
    },
    /// Say what the rules would do about a command in a folder (--project), and why; exit status 0 allow, 1 ask, 3 deny
    Test {
        /// The command, as an agent would run it
        command: String,
    },
    /// Pause a rule: it answers nothing until it is resumed
    Pause {
        /// Rule ID, or its beginning
        id: String,
    },
    /// Resume a paused rule; asks you first
    Resume {
        /// Rule ID, or its beginning
        id: String,
    },
    /// Remove a rule
    Remove {
        /// Rule ID, or its beginning
        id: String,
    },
    /// Write all rules as JSON to standard output
    Export,
    /// Read rules that `export` wrote; they come in paused
    Import {
        /// The file
        file: PathBuf,
    },
}
