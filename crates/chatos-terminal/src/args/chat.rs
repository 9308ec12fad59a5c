//! `chatos chat` and `chatos chats` as clap reads them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What `chatos chat` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
In a terminal: `/help` lists the commands, a line typed while the agent works waits its turn, `!text` steers it. \
Ctrl-C clears the line, stops the agent, or, pressed twice, leaves; Ctrl-D leaves.\n\n\
In a pipe: `echo QUESTION | chatos chat`, or `chatos chat -p QUESTION < DATA`. The reply goes to stdout, what the \
agent does meanwhile to stderr. Exit status: 0 done, 1 the run failed, 5 a question for you was left open.")]
pub struct Chat {
    /// Agent to chat with: ID, name or its beginning [default: the default agent]
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Chat to continue: ID, title or its beginning; `last` for the newest [default: a new one]
    #[arg(long, value_name = "CHAT")]
    pub session: Option<String>,
    /// Model to use: ID, name or its beginning [default: the agent's]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Send this message, print the reply and exit; data on stdin goes along as `stdin.txt`
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,
    /// File to send along with the first message; repeatable
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Send only the names of attached documents, not their text
    #[arg(long, requires = "attach")]
    pub names_only: bool,
    /// Without a terminal: wait until questions are answered elsewhere instead of leaving them open
    #[arg(long)]
    pub wait_prompts: bool,
    /// Use or skip this project's AGENTS.md and CLAUDE.md, for this call [default: what you decided; asks in a terminal]
    #[arg(long, value_name = "HOW")]
    pub instructions: Option<Instructions>,
    /// How much of the model's thinking to show
    #[arg(long, value_name = "HOW", default_value = "fold")]
    pub thinking: Thinking,
}

/// What becomes of a project's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Instructions {
    /// Send them with messages
    Use,
    /// Don't send them
    Skip,
}

impl Instructions {
    /// As the API has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::Skip => "skip",
        }
    }
}

/// How thoughts are shown in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Thinking {
    /// All of it
    Show,
    /// One line saying that it is thinking
    Fold,
    /// Nothing
    Hide,
}

/// What `chatos chats` can do.
#[derive(Debug, Subcommand)]
pub enum Chats {
    /// List chats, newest first
    List(ChatsList),
    /// Show a chat's messages
    Show {
        /// Chat ID, title or its beginning; `last` for the newest
        chat: String,
        /// Only the last N messages
        #[arg(long, value_name = "N")]
        last: Option<usize>,
    },
    /// Find messages that contain a text
    Search {
        /// Text to find
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// Maximum number of results
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// Export a chat as Markdown, HTML or JSON, without secrets
    Export(ChatsExport),
    /// Import an exported chat (JSON) to read it; fork it to continue
    Import {
        /// File made by `chatos chats export --format json`
        file: PathBuf,
    },
    /// Rename a chat
    Rename {
        /// Chat ID, title or its beginning; `last` for the newest
        chat: String,
        /// New title
        #[arg(allow_hyphen_values = true)]
        title: String,
    },
    /// Move a chat to the archive
    Archive {
        /// Chat ID, title or its beginning; `last` for the newest
        chat: String,
        /// Bring it back from the archive
        #[arg(long)]
        undo: bool,
    },
    /// Delete a chat with its messages, or one version of a message with its replies
    Remove {
        /// Chat ID, title or its beginning; `last` for the newest
        chat: String,
        /// Only this message of yours, by its ID, and everything after it
        #[arg(long, value_name = "ID")]
        message: Option<String>,
        /// Don't ask
        #[arg(long)]
        yes: bool,
    },
}

/// Which chats `chatos chats list` shows.
#[derive(Debug, Args)]
pub struct ChatsList {
    /// Only chats with this agent: ID, name or its beginning
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Only chats used since then: a date, or days such as 7d
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Archived chats instead
    #[arg(long)]
    pub archived: bool,
    /// Maximum number of results
    #[arg(long, default_value_t = 30)]
    pub limit: usize,
}

/// How `chatos chats export` writes a chat.
#[derive(Debug, Args)]
pub struct ChatsExport {
    /// Chat ID, title or its beginning; `last` for the newest
    pub chat: String,
    /// Output file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format [default: by the file's name, else md]
    #[arg(long)]
    pub format: Option<FileFormat>,
    /// One line for each tool call and its result
    #[arg(long, conflicts_with = "no_tools")]
    pub short_tools: bool,
    /// Leave out tool calls and their results
    #[arg(long)]
    pub no_tools: bool,
    /// Include other versions of messages and what followed them (JSON)
    #[arg(long)]
    pub all_versions: bool,
    /// Include the model's thinking
    #[arg(long)]
    pub thinking: bool,
}

/// What an exported chat is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// Markdown
    Md,
    /// One HTML page, with pictures
    Html,
    /// JSON (chatos-chat/1)
    Json,
}

impl FileFormat {
    /// As the API has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Html => "html",
            Self::Json => "json",
        }
    }

    /// What the name of a file asks for.
    pub fn of_file(path: &std::path::Path) -> Self {
        let ending = path.extension().map(|end| end.to_ascii_lowercase());
        match ending.as_deref().and_then(|end| end.to_str()) {
            Some("json") => Self::Json,
            Some("html" | "htm") => Self::Html,
            _ => Self::Md,
        }
    }
}
