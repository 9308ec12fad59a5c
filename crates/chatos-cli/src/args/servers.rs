//! `chatos mcp servers` and `chatos import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::GrantFlags;

/// `chatos mcp servers …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Servers {
    /// List all servers with their state and last error (default)
    List,
    /// Show a server in full
    Show {
        /// Server ID, identity or name
        server: String,
    },
    /// Add a server: an address, or a program after `--`
    Add(ServerAdd),
    /// Change a server
    Edit(ServerEdit),
    /// Remove a server and stop its process
    Remove {
        /// Server ID, identity or name
        server: String,
    },
    /// Start a server and wait until it is ready
    Connect {
        /// Server ID, identity or name
        server: String,
    },
    /// Restart a server and clear its failures
    Restart {
        /// Server ID, identity or name
        server: String,
    },
    /// Stop a server until it is restarted
    Stop {
        /// Server ID, identity or name
        server: String,
    },
    /// Sign in to a server in the browser
    SignIn {
        /// Server ID, identity or name
        server: String,
        /// Only print the address; don't open the browser
        #[arg(long)]
        no_open: bool,
        /// Where to sign in, if the server names several services
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
    },
    /// Sign out of a server, both here and there
    SignOut {
        /// Server ID, identity or name
        server: String,
    },
    /// List a server's tools
    Tools {
        /// Server ID, identity or name
        server: String,
    },
    /// Show the latest lines of a server's log
    Logs {
        /// Server ID, identity or name
        server: String,
        /// Maximum number of lines
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=2000))]
        limit: u32,
    },
    /// List new and changed tools that need your approval
    Pins {
        /// Only for this server
        server: Option<String>,
    },
    /// Approve new and changed tools, after reviewing them with `pins`
    Approve {
        /// Server ID, identity or name
        server: String,
        /// Tools to approve [default: all that need approval]
        tools: Vec<String>,
    },
}

/// What is the same for adding and changing.
#[derive(Debug, Args, Default)]
pub(crate) struct ServerParts {
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Working folder of the program
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Environment variable as NAME=VALUE, or NAME to take it from this environment; repeatable
    #[arg(long = "env", value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// File with the bearer token; - reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// File with `Name: value` lines to send as headers
    #[arg(long, value_name = "FILE", conflicts_with = "token_file")]
    pub(crate) headers_file: Option<PathBuf>,
    /// Client ID you registered for signing in; empty removes it
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// File with the client secret of that registration; - reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// Permission to ask for when signing in, instead of the server's own; repeatable
    #[arg(long = "scope", value_name = "WORD")]
    pub(crate) scopes: Vec<String>,
    /// Milliseconds without progress before a call times out
    #[arg(long, value_name = "MS")]
    pub(crate) timeout: Option<u64>,
    /// Milliseconds before a call times out, whatever its progress
    #[arg(long, value_name = "MS")]
    pub(crate) max_timeout: Option<u64>,
    /// Milliseconds the server may take to start, 1000 to 600000
    #[arg(long, value_name = "MS")]
    pub(crate) start_timeout: Option<u64>,
    /// JSON object to add to _meta of every call
    #[arg(long, value_name = "JSON")]
    pub(crate) call_meta: Option<String>,
    /// Allow addresses on this computer and its network
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Folder to tell the server about when it asks for roots; repeatable, empty removes all
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<String>,
    /// Search tag; repeatable
    #[arg(long = "tag", value_name = "WORD")]
    pub(crate) tags: Vec<String>,
}

/// `chatos mcp servers add`.
#[derive(Debug, Args)]
pub(crate) struct ServerAdd {
    /// Name
    pub(crate) name: String,
    /// http(s)://, ws(s):// or cmd://
    #[arg(conflicts_with = "program")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) parts: ServerParts,
    #[command(flatten)]
    pub(crate) grant: GrantFlags,
    /// Program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
}

/// `chatos mcp servers edit`.
#[derive(Debug, Args)]
pub(crate) struct ServerEdit {
    /// Server ID, identity or name
    pub(crate) server: String,
    /// New name
    #[arg(long, value_name = "TEXT")]
    pub(crate) rename: Option<String>,
    /// New address
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Turn it on
    #[arg(long, conflicts_with = "disable")]
    pub(crate) enable: bool,
    /// Turn it off
    #[arg(long)]
    pub(crate) disable: bool,
    #[command(flatten)]
    pub(crate) parts: ServerParts,
    /// New program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
}

/// `chatos import …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Import MCP servers from another client's JSON file (`mcpServers`, `servers`)
    Mcp {
        /// JSON file; - reads stdin
        file: PathBuf,
        /// Only show what would be imported
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        grant: GrantFlags,
    },
}
