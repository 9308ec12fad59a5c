//! The flags of every command, and the arguments of those that are in this crate.

mod chat;
mod prompts;

use std::path::PathBuf;

use chatos_tool::Lang;
use clap::{Args, ValueEnum};

pub use chat::{Chat, Chats, ChatsExport, ChatsList, FileFormat, Instructions, Thinking};
pub use prompts::{Prompts, PromptsAnswer, PromptsList, parse_time};

/// Flags every command takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Folder ChatOS keeps its state in [env: CHATOS_STATE_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Project folder to work in [default: the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Language of messages: zh or en [default: the setting `language`, else from the environment]
    #[arg(long, global = true, value_name = "LANG", value_parser = parse_lang)]
    pub lang: Option<Lang>,
    /// Print one JSON value (or JSON lines) and nothing else on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Print less
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more, on stderr
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colors [env: NO_COLOR]
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// The built-in plugins of this program, for a command that opens the state itself.
    #[arg(skip)]
    pub plugins: BuiltIn,
}

/// Names and contents of files that are part of the program.
pub type BuiltIn = &'static [(&'static str, &'static [u8])];

fn parse_lang(text: &str) -> Result<Lang, String> {
    text.parse()
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Only on a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
