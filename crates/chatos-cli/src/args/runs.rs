//! `chatos chat`, `chatos runs`, `chatos trace` and `chatos usage` as clap reads them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `chatos chat`.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// Which agent answers [default: the first one]
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Go on with this chat [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Which model answers [default: the agent's]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Send this, print the answer, exit
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
}

/// `chatos runs …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// Runs, newest first
    List {
        /// Of one chat
        #[arg(long)]
        session: Option<String>,
        /// In one state, such as `interrupted`
        #[arg(long)]
        state: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 30)]
        limit: u32,
    },
    /// One run with its steps
    Show {
        /// Its id, or a .chatosrun file
        id: String,
    },
    /// Stop a run that is under way
    Abort {
        /// Its id
        id: String,
    },
    /// Continue an interrupted run
    Resume {
        /// Its id
        id: String,
    },
    /// Give up an interrupted run
    Discard {
        /// Its id
        id: String,
    },
    /// Correct a run that is under way
    Steer {
        /// Its id
        id: String,
        /// What to tell it
        text: String,
    },
    /// Show what happened in a run once more; nothing is called
    Replay {
        /// Its id, or a .chatosrun file
        id: String,
        /// How many times as fast; 0 does not wait
        #[arg(long, default_value_t = 0.0)]
        speed: f64,
        /// Wait for Enter after each step
        #[arg(long)]
        step: bool,
    },
    /// A new chat whose history ends at a step
    Branch {
        /// Its id
        id: String,
        /// The number of the step
        #[arg(long, value_name = "STEP")]
        at: i64,
    },
    /// A run as a file
    Export {
        /// Its id
        id: String,
        /// `jsonl`, `otlp` or `chatosrun`
        #[arg(long, default_value = "jsonl")]
        format: String,
        /// Where to [default: standard output; needed for chatosrun]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// `chatos trace …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// All spans of a trace, or of the trace of a run, as a tree
    Show {
        /// The id of a trace or of a run, or a .chatosrun file
        id: String,
    },
}

/// `chatos usage`.
#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// `model`, `agent` or `day`
    #[arg(long, default_value = "model")]
    pub(crate) by: String,
    /// Only from this date on
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
}
