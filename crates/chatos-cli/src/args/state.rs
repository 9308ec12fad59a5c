//! `chatos audit`, `state`, `backup`, `restore` and `secrets`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `chatos audit …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Check that no record was changed, dropped or cut
    Verify,
}

/// `chatos state …`.
#[derive(Debug, Subcommand)]
pub(crate) enum State {
    /// Take over what an older program kept
    Import {
        /// Its database [default: every known place]
        path: Option<PathBuf>,
    },
    /// Save what can be read of a damaged database; the damaged file is kept
    Recover {
        /// Put this into its place without asking
        #[arg(long, value_name = "WHICH")]
        r#use: Option<UseFor>,
    },
    /// Remove old finished runs, after showing what goes
    Prune {
        /// Finished before: a date, a time, or days as in 90d
        #[arg(long, value_name = "WHEN")]
        runs_before: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// What takes the place of a damaged database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UseFor {
    /// What could be read.
    Salvaged,
    /// The newest good copy.
    Backup,
}

/// `chatos backup`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file to make; it must not exist
    pub(crate) file: PathBuf,
    /// Leave out the content of changed files, attachments and tool results
    #[arg(long)]
    pub(crate) no_blobs: bool,
    /// Add the state key, locked with a passphrase that is asked for (or read from standard input)
    #[arg(long)]
    pub(crate) with_key: bool,
}

/// `chatos restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// A file that `chatos backup` made
    pub(crate) file: PathBuf,
    /// Into this folder instead of the state directory
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Only check the backup and say what would happen
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Where the state key may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyTarget {
    /// The keychain of the desktop, through `secret-tool`
    Keychain,
    /// A file in the folder of keys
    File,
}

/// `chatos secrets …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Names and when they were set
    List,
    /// Set a secret; its value is typed without echo or read from standard input
    Set {
        /// Its name, as in OPENAI_API_KEY
        name: String,
        /// What it is for
        #[arg(long, allow_hyphen_values = true)]
        description: Option<String>,
    },
    /// Remove a secret
    Remove {
        /// Its name
        name: String,
    },
    /// A new state key: everything sealed is sealed anew in one step
    Rotate,
    /// Move the state key to the keychain of the desktop, or back into a file
    MoveKey {
        /// Where to
        to: KeyTarget,
    },
}
