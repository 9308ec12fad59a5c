//! `chatos tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `chatos tools …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List servers with their tools
    List {
        /// Show what this agent can use, and why not the rest
        #[arg(long, value_name = "A")]
        agent: Option<String>,
        /// With --agent: main (in chats) or sub (as subagent)
        #[arg(long, value_name = "ROLE", requires = "agent", default_value = "main")]
        role: String,
    },
    /// Show a server with its tools, or a tool with its arguments
    Show {
        /// Server, such as project_files
        server: String,
        /// Tool name
        tool: Option<String>,
    },
    /// Call a tool and print its result
    Call(ToolsCall),
    /// List tool calls, newest first
    Log {
        /// Only this server
        #[arg(long)]
        server: Option<String>,
        /// Only this tool
        #[arg(long)]
        tool: Option<String>,
        /// Only calls that failed
        #[arg(long)]
        errors: bool,
        /// Only this run
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Maximum number of results
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
    },
}

/// `chatos tools call`.
#[derive(Debug, Args)]
pub(crate) struct ToolsCall {
    /// Server, such as project_files
    pub(crate) server: String,
    /// Tool, such as read_file
    pub(crate) tool: String,
    /// Arguments as name=value; a value starting with [ or { is JSON
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) pairs: Vec<String>,
    /// Arguments as a JSON object, @FILE to read a file, or - for stdin
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "pairs")]
    pub(crate) args: Option<String>,
    /// _meta of the call, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) meta: Option<String>,
    /// Chat the call belongs to
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Call as this agent: with its permissions and approvals
    #[arg(long, value_name = "A")]
    pub(crate) agent: Option<String>,
    /// Folder the tool works in [default: the project folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}
