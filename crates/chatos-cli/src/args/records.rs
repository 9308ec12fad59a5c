//! `chatos tasks` and `chatos journal`.

use clap::Subcommand;

/// `chatos tasks …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Tasks {
    /// Open tasks, most recently updated first
    List {
        /// todo, doing, blocked or done
        #[arg(long)]
        status: Option<String>,
        /// Only with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Only with this text in title or details
        #[arg(long, allow_hyphen_values = true)]
        query: Option<String>,
        /// Finished ones too
        #[arg(long)]
        all: bool,
        /// How many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// Make a task
    Add {
        /// What is to be done
        title: String,
        /// More about it
        #[arg(long, default_value = "", allow_hyphen_values = true)]
        details: String,
        /// high, medium or low
        #[arg(long, default_value = "medium")]
        priority: String,
        /// A tag; repeatable
        #[arg(long)]
        tag: Vec<String>,
    },
    /// One task with its notes
    Show {
        /// Its id
        id: String,
    },
    /// Change a task
    Update {
        /// Its id
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
        /// A note to add
        #[arg(long, allow_hyphen_values = true)]
        note: Option<String>,
    },
    /// Finish a task with a note
    Done {
        /// Its id
        id: String,
        /// How it ended
        #[arg(long, default_value = "", allow_hyphen_values = true)]
        note: String,
    },
    /// Delete a task
    Delete {
        /// Its id
        id: String,
    },
    /// Delete finished tasks
    Clear {
        /// Open ones too
        #[arg(long)]
        all: bool,
    },
}

/// `chatos journal …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Journal {
    /// Entries of this project, newest first
    List {
        /// Only with this text
        #[arg(long, allow_hyphen_values = true)]
        query: Option<String>,
        /// Only with this tag
        #[arg(long)]
        tag: Option<String>,
        /// How many
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// One entry
    Show {
        /// Its id
        id: String,
    },
    /// Add an entry
    Add {
        /// What was done
        summary: String,
        /// Its heading
        #[arg(long, allow_hyphen_values = true)]
        title: Option<String>,
        /// More about it
        #[arg(long, allow_hyphen_values = true)]
        details: Option<String>,
        /// A tag; repeatable
        #[arg(long)]
        tag: Vec<String>,
    },
    /// Print every entry as JSON lines, oldest first
    Export,
}
