//! `chatos mcp servers` and `chatos import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `chatos mcp servers …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Servers {
    /// Every server the host knows, with its state and last error (the default)
    List,
    /// One server in full
    Show {
        /// Id, identity or name
        server: String,
    },
    /// Add a server: an address, or a program after `--`
    Add(ServerAdd),
    /// Change a server
    Edit(ServerEdit),
    /// Remove a server and end its process
    Remove {
        /// Id, identity or name
        server: String,
    },
    /// Start a server and wait for it
    Connect {
        /// Id, identity or name
        server: String,
    },
    /// Start a server anew; its failures are forgotten
    Restart {
        /// Id, identity or name
        server: String,
    },
    /// Stop a server until it is restarted
    Stop {
        /// Id, identity or name
        server: String,
    },
    /// Sign in to a server that wants it, in the browser
    SignIn {
        /// Id, identity or name
        server: String,
        /// Only print the address; do not open the browser
        #[arg(long)]
        no_open: bool,
        /// Where to sign in, when the server names several places
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
    },
    /// End a sign-in, here and where it was given
    SignOut {
        /// Id, identity or name
        server: String,
    },
    /// The tools of a server
    Tools {
        /// Id, identity or name
        server: String,
    },
    /// The newest lines of a server's log
    Logs {
        /// Id, identity or name
        server: String,
        /// Most lines
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=2000))]
        limit: u32,
    },
    /// New and changed tools that wait for your approval
    Pins {
        /// Only of this server
        server: Option<String>,
    },
    /// Approve new and changed tools, after looking at them with `pins`
    Approve {
        /// Id, identity or name
        server: String,
        /// The tools; all that wait when none is named
        tools: Vec<String>,
    },
}

/// What is the same for adding and changing.
#[derive(Debug, Args, Default)]
pub(crate) struct ServerParts {
    /// For people
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The directory a program runs in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A variable of a program: NAME=VALUE, or NAME to take the value from this environment; repeatable
    #[arg(long = "env", value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// A file that holds the bearer token; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A file with lines `Name: value` that are sent as headers
    #[arg(long, value_name = "FILE", conflicts_with = "token_file")]
    pub(crate) headers_file: Option<PathBuf>,
    /// The client id of a registration for signing in, made beforehand; empty removes it
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// A file that holds the client secret of that registration; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// A right to ask for when signing in, instead of those the server asks for; repeatable
    #[arg(long = "scope", value_name = "WORD")]
    pub(crate) scopes: Vec<String>,
    /// Milliseconds without a sign of life before a call is given up
    #[arg(long, value_name = "MS")]
    pub(crate) timeout: Option<u64>,
    /// Milliseconds a call may take in all
    #[arg(long, value_name = "MS")]
    pub(crate) max_timeout: Option<u64>,
    /// Added to _meta of every call, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) call_meta: Option<String>,
    /// Allow addresses of this machine and its network
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// A folder the server is told about when it asks for roots; repeatable, empty removes all
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<String>,
    /// A word to find it by; repeatable
    #[arg(long = "tag", value_name = "WORD")]
    pub(crate) tags: Vec<String>,
}

/// `chatos mcp servers add`.
#[derive(Debug, Args)]
pub(crate) struct ServerAdd {
    /// Its name
    pub(crate) name: String,
    /// http(s)://, ws(s):// or cmd://
    #[arg(conflicts_with = "program")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) parts: ServerParts,
    /// The program and its words
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
}

/// `chatos mcp servers edit`.
#[derive(Debug, Args)]
pub(crate) struct ServerEdit {
    /// Id, identity or name
    pub(crate) server: String,
    /// Another name
    #[arg(long, value_name = "TEXT")]
    pub(crate) rename: Option<String>,
    /// Another address
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Switch it on
    #[arg(long, conflicts_with = "disable")]
    pub(crate) enable: bool,
    /// Switch it off
    #[arg(long)]
    pub(crate) disable: bool,
    #[command(flatten)]
    pub(crate) parts: ServerParts,
    /// Another program and its words
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
}

/// `chatos import …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// MCP servers from the JSON file of another client (`mcpServers`, `servers`)
    Mcp {
        /// The file; - reads standard input
        file: PathBuf,
        /// Only show what would be taken over
        #[arg(long)]
        dry_run: bool,
    },
}
