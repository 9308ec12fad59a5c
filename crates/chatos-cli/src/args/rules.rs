//! `chatos rules`.

use std::path::PathBuf;

use clap::Subcommand;

/// What `chatos rules` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Rules {
    /// List rules: what each one answers, where, until when and how often
    List,
    /// Show a rule in full
    Show {
        /// Rule ID, or its beginning
        id: String,
    },
    /// Show what the rules would do with a command or tool in a folder (--project), and why; exit status 0 allow, 1 ask, 3 deny
    Test {
        /// The command, as an agent would run it
        #[arg(required_unless_present = "tool")]
        command: Option<String>,
        /// Instead of a command: a server and one of its tools
        #[arg(long, num_args = 2, value_names = ["SERVER", "TOOL"], conflicts_with = "command")]
        tool: Option<Vec<String>>,
        /// The arguments of the tool, as JSON
        #[arg(long, value_name = "JSON", requires = "tool")]
        args: Option<String>,
        /// As this agent: ID, name or its beginning
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Suggest rules for what you approve again and again, each compared with your earlier answers; asks which to keep
    Propose,
    /// Compare a rule with your earlier answers: how many it would have answered the same way; exit status 0 where none differs, 1 otherwise
    Backtest {
        /// Rule ID, or its beginning; or a file with one rule as `show` and `export` write it
        rule: String,
    },
    /// Save the rule in a JSON file; asks you first
    Add {
        /// The file
        #[arg(long)]
        file: PathBuf,
    },
    /// Pause a rule: it answers nothing until you resume it
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
    /// Import rules written by `export`; they start out paused
    Import {
        /// The file
        file: PathBuf,
    },
}
