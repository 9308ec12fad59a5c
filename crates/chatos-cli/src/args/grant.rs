//! `chatos grant`, and the flags of commands that end with somebody who may use what they added.

use clap::{Args, ValueEnum};

/// What `chatos grant` takes: a server or an app, and the agents it is for.
#[derive(Debug, Args)]
pub(crate) struct Grant {
    /// Server or app: ID, name or its beginning; an app also as PLUGIN/APP
    pub(crate) server: String,
    /// Agent ID, name or its beginning; repeatable. `default` for the default agent
    #[arg(long = "agent", value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// Only tools that match this pattern; `*` and `?` are wildcards; repeatable
    #[arg(long, value_name = "GLOB")]
    pub(crate) tools: Vec<String>,
    /// Subagents can use it too
    #[arg(long)]
    pub(crate) sub: bool,
    /// When to ask you
    #[arg(long, value_enum, default_value = "each")]
    pub(crate) ask: AskArg,
    /// Take it back
    #[arg(long, conflicts_with_all = ["sub", "ask"])]
    pub(crate) revoke: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Flags that say which agents may use what is being added.
#[derive(Debug, Args, Default)]
pub(crate) struct GrantFlags {
    /// Give it to this agent; repeatable. `default` for the default agent
    #[arg(long = "grant", value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Subagents can use it too
    #[arg(long, requires = "agents")]
    pub(crate) sub: bool,
    /// When to ask you [default: each]
    #[arg(long, value_enum, requires = "agents")]
    pub(crate) ask: Option<AskArg>,
}

/// When a person is asked about a tool of what was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskArg {
    /// Before each call of a tool
    #[default]
    Each,
    /// Never because of this grant
    No,
}
