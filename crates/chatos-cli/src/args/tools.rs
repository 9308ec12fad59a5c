//! `chatos tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `chatos tools …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// Every server with its tools
    List {
        /// What this agent may use, and why not the rest
        #[arg(long, value_name = "A")]
        agent: Option<String>,
        /// With --agent: main or sub
        #[arg(long, value_name = "ROLE", requires = "agent", default_value = "main")]
        role: String,
    },
    /// One server with its tools, or one tool with its arguments
    Show {
        /// The server, for example project_files
        server: String,
        /// The tool
        tool: Option<String>,
    },
    /// Call a tool and print what it says
    Call(ToolsCall),
    /// Calls of tools, newest first
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
        /// Most records
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
    },
}

/// `chatos tools call`.
#[derive(Debug, Args)]
pub(crate) struct ToolsCall {
    /// The server, for example project_files
    pub(crate) server: String,
    /// The tool, for example read_file
    pub(crate) tool: String,
    /// Arguments as name=value; a value that begins with [ or { is JSON
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) pairs: Vec<String>,
    /// Arguments as a JSON object, @FILE to read them from a file, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "pairs")]
    pub(crate) args: Option<String>,
    /// _meta of the call as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) meta: Option<String>,
    /// The session the call belongs to
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Call as this agent would: its grants, its questions
    #[arg(long, value_name = "A")]
    pub(crate) agent: Option<String>,
    /// The directory the tool works in [default: the project]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}
