//! `chatos tasks` and `chatos journal`.

use clap::Subcommand;

/// `chatos tasks …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Tasks {
    /// List open tasks, most recently updated first
    List {
        /// todo, doing, blocked or done
        #[arg(long)]
        status: Option<String>,
        /// Only with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Only with this text in the title or details
        #[arg(long, allow_hyphen_values = true)]
        query: Option<String>,
        /// Include finished tasks
        #[arg(long)]
        all: bool,
        /// Maximum number of results
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// Add a task
    Add {
        /// What needs to be done
        title: String,
        /// Details
        #[arg(long, default_value = "", allow_hyphen_values = true)]
        details: String,
        /// high, medium or low
        #[arg(long, default_value = "medium")]
        priority: String,
        /// Tag; repeatable
        #[arg(long)]
        tag: Vec<String>,
    },
    /// Show a task with its notes
    Show {
        /// Task ID
        id: String,
    },
    /// Change a task
    Update {
        /// Task ID
        id: String,
        /// New title
        #[arg(long, allow_hyphen_values = true)]
        title: Option<String>,
        /// New details
        #[arg(long, allow_hyphen_values = true)]
        details: Option<String>,
        /// high, medium or low
        #[arg(long)]
        priority: Option<String>,
        /// todo, doing, blocked or done
        #[arg(long)]
        status: Option<String>,
        /// Note to add
        #[arg(long, allow_hyphen_values = true)]
        note: Option<String>,
    },
    /// Finish a task with a note
    Done {
        /// Task ID
        id: String,
        /// How it went
        #[arg(long, default_value = "", allow_hyphen_values = true)]
        note: String,
    },
    /// Delete a task
    Delete {
        /// Task ID
        id: String,
    },
    /// Delete finished tasks
    Clear {
        /// Include open tasks
        #[arg(long)]
        all: bool,
    },
}

/// `chatos journal …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Journal {
    /// List this project's entries, newest first
    List {
        /// Only with this text in it
        #[arg(long, allow_hyphen_values = true)]
        query: Option<String>,
        /// Only with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Maximum number of results
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// Show an entry
    Show {
        /// Entry ID
        id: String,
    },
    /// Add an entry
    Add {
        /// What was done
        summary: String,
        /// Title
        #[arg(long, allow_hyphen_values = true)]
        title: Option<String>,
        /// Details
        #[arg(long, allow_hyphen_values = true)]
        details: Option<String>,
        /// Tag; repeatable
        #[arg(long)]
        tag: Vec<String>,
    },
    /// Print all entries as JSON lines, oldest first
    Export,
}
