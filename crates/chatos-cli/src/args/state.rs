//! `chatos audit`, `state`, `backup`, `restore` and `secrets`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `chatos audit …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Check that no record was changed, dropped or truncated
    Verify,
}

/// `chatos state …`.
#[derive(Debug, Subcommand)]
pub(crate) enum State {
    /// Import the state of an older program
    Import {
        /// Its database [default: every known location]
        path: Option<PathBuf>,
    },
    /// Recover what can be read from a damaged database; the damaged file is kept
    Recover {
        /// Put this in its place without asking
        #[arg(long, value_name = "WHICH")]
        r#use: Option<UseFor>,
    },
    /// Remove old finished runs, after showing which, or the private caches of commands
    Prune {
        /// Finished before this: a date, a time, or days such as 90d
        #[arg(long, value_name = "WHEN", required_unless_present = "shell_cache")]
        runs_before: Option<String>,
        /// The private command caches of all projects; they are filled again when needed
        #[arg(long)]
        shell_cache: bool,
        /// Don't ask
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
    /// File to create; it must not exist yet
    pub(crate) file: PathBuf,
    /// Leave out the contents of changed files, attachments and tool results
    #[arg(long)]
    pub(crate) no_blobs: bool,
    /// Include the state key, protected by a passphrase you enter (or pass on stdin)
    #[arg(long)]
    pub(crate) with_key: bool,
}

/// `chatos restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// File made by `chatos backup`
    pub(crate) file: PathBuf,
    /// Restore into this folder instead of the state folder
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Only check the backup and show what would happen
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Where the state key may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyTarget {
    /// The desktop keychain, through `secret-tool`
    Keychain,
    /// A file in the key folder
    File,
}

/// `chatos secrets …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// List secrets and when they were set
    List,
    /// Set a secret; its value is typed hidden or read from stdin
    Set {
        /// Secret name, such as OPENAI_API_KEY
        name: String,
        /// What it is for
        #[arg(long, allow_hyphen_values = true)]
        description: Option<String>,
    },
    /// Delete a secret
    Remove {
        /// Secret name
        name: String,
    },
    /// Change the state key: everything is re-encrypted in one step
    Rotate,
    /// Move the state key to the desktop keychain, or back to a file
    MoveKey {
        /// Where to keep it
        to: KeyTarget,
    },
}
