//! `chatos hook`.

use std::time::Duration;

use chatos_terminal::args::parse_time;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Without --install, --remove, --status or --print this is what the program runs before it acts: one JSON object on \
standard input, the answer on standard output, exit status 0 or 2.")]
pub(crate) struct Hook {
    /// The program
    pub(crate) program: HookProgram,
    /// Install the hook in the program's settings; shows the change first
    #[arg(long, group = "does")]
    pub(crate) install: bool,
    /// Remove the hook; shows the change first
    #[arg(long, group = "does")]
    pub(crate) remove: bool,
    /// Show whether the hook is installed and works
    #[arg(long, group = "does")]
    pub(crate) status: bool,
    /// Print what --install would write, and exit
    #[arg(long, group = "does")]
    pub(crate) print: bool,
    /// Whose settings: user, or project (shared with everyone who works in it)
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: HookScope,
    /// Claude Code: ask about every command, edit, fetch and MCP call, not only when it would ask itself
    #[arg(long)]
    pub(crate) every_call: bool,
    /// Make the change without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// How long to wait for an answer before it counts as a no
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_time)]
    pub(crate) wait: Duration,
    /// Ask only about tools with this name, `*` for any text; repeatable
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Vec<String>,
    /// Agent whose permissions profile is checked first: what it doesn't allow is refused without asking
    #[arg(long, value_name = "A")]
    pub(crate) agent: Option<String>,
    /// If ChatOS can't ask: let the program ask itself (own), or refuse (deny)
    #[arg(long, value_name = "WHAT", default_value = "own")]
    pub(crate) on_failure: OnFailure,
}

/// A program with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookProgram {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// Which settings are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookScope {
    /// For all your projects.
    User,
    /// For the project in the current folder.
    Project,
}

/// What happens when nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFailure {
    /// The program asks itself.
    Own,
    /// It counts as a no.
    Deny,
}
