//! `chatos runs`, `chatos trace` and `chatos usage` as clap reads them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `chatos runs …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first
    List {
        /// Only from this chat: ID, title or its beginning; `last` for the newest
        #[arg(long)]
        session: Option<String>,
        /// Only in this state, such as `interrupted`
        #[arg(long)]
        state: Option<String>,
        /// The work of other programs: what they called and asked
        #[arg(long, conflicts_with = "session")]
        programs: bool,
        /// Maximum number of results
        #[arg(long, default_value_t = 30)]
        limit: u32,
    },
    /// Show a run with its steps
    Show {
        /// Run ID, or a .chatosrun file
        id: String,
    },
    /// Stop a run
    Abort {
        /// Run ID
        id: String,
    },
    /// Continue an interrupted run
    Resume {
        /// Run ID
        id: String,
    },
    /// Discard an interrupted run
    Discard {
        /// Run ID
        id: String,
    },
    /// Steer a run while it is working
    Steer {
        /// Run ID
        id: String,
        /// What to tell the agent
        text: String,
    },
    /// Replay a run step by step; nothing is called
    Replay {
        /// Run ID, or a .chatosrun file
        id: String,
        /// Speed factor; 0 means no waiting
        #[arg(long, default_value_t = 0.0)]
        speed: f64,
        /// Wait for Enter after each step
        #[arg(long)]
        step: bool,
    },
    /// Start a new chat from a step of a run
    Branch {
        /// Run ID
        id: String,
        /// Step number
        #[arg(long, value_name = "STEP")]
        at: i64,
    },
    /// Export a run to a file
    Export {
        /// Run ID
        id: String,
        /// `jsonl`, `otlp` or `chatosrun`
        #[arg(long, default_value = "jsonl")]
        format: String,
        /// Output file [default: stdout; required for chatosrun]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// `chatos trace …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Show a timeline as a tree, by trace or run
    Show {
        /// Trace or run ID, or a .chatosrun file
        id: String,
    },
}

/// `chatos usage`.
#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// Group by `model`, `agent` or `day`
    #[arg(long, default_value = "model")]
    pub(crate) by: String,
    /// Only from this date on
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
}
