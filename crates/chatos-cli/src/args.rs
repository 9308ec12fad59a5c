//! The command line as clap reads it. Names and flags here are a contract with scripts.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use chatos_tool::Lang;
use clap::{Args, Parser, Subcommand, ValueEnum};

mod agents;
mod changes;
mod clients;
mod mcp;
mod plugins;
mod prompts;
mod records;
mod runs;
mod servers;
mod state;
mod tools;

pub(crate) use agents::{AddModel, Agent, AgentFields, Land, Models, RoleArg};
pub(crate) use changes::Changes;
pub(crate) use clients::Clients;
pub(crate) use mcp::{ConfigClient, Gateway, Known, Mcp};
pub(crate) use plugins::{InitArgs, Plugin, PluginData, PluginSource};
pub(crate) use prompts::{Prompts, PromptsAnswer, PromptsList};
pub(crate) use records::{Journal, Tasks};
pub(crate) use runs::{Chat, Runs, TraceCommand, Usage};
pub(crate) use servers::{Import, ServerParts, Servers};
pub(crate) use state::{Audit, Backup, KeyTarget, Restore, Secrets, State, UseFor};
pub(crate) use tools::{Tools, ToolsCall};

/// A local-first host for AI plugin apps.
#[derive(Debug, Parser)]
#[command(
    name = "chatos",
    version,
    about = "ChatOS: a local-first host for AI plugin apps",
    after_help = "Without a command, `chatos` starts the host and opens the browser (`chatos serve`).",
    disable_help_subcommand = false,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Cli {
    /// Reads the command line of this process.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let words: Vec<OsString> = std::env::args_os().collect();
        // A client starts a server and waits for it: the commands it does not use are not built. What is
        // not plainly a server is read in full, for its help and its errors.
        if let [program, word, rest @ ..] = words.as_slice()
            && word == "mcp"
            && let Ok(ServerLine { global, mcp }) =
                ServerLine::try_parse_from(std::iter::once(program).chain(rest))
            && mcp.known.is_none()
        {
            return Ok(Self { global, command: Some(Command::Mcp(Box::new(mcp))) });
        }
        Self::try_parse_from(words)
    }
}

/// `chatos mcp NAME …` without its second word.
#[derive(Debug, Parser)]
struct ServerLine {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    mcp: Mcp,
}

/// Flags every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Where ChatOS keeps its state [env: CHATOS_STATE_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The project to work in [default: the current directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Language of messages: zh or en [default: from the environment]
    #[arg(long, global = true, value_name = "LANG", value_parser = parse_lang)]
    pub(crate) lang: Option<Lang>,
    /// Print one JSON value (or JSON lines) and nothing else on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say less
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more, on stderr
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colours [env: NO_COLOR]
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

fn parse_lang(text: &str) -> Result<Lang, String> {
    text.parse()
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the host and open the browser
    Serve(Serve),
    /// Is a host running, since when, what waits
    Status,
    /// Stop the running host
    Stop,
    /// Open the running host in the browser with a fresh sign-in link
    Open(Open),
    /// Check everything ChatOS stands on
    Doctor(Doctor),
    /// Show and change settings
    #[command(subcommand)]
    Settings(Settings),
    /// Plugins: list, check, pack, install, decide, remove
    #[command(subcommand)]
    Plugin(Plugin),
    /// Questions that wait for you: list, answer, ask
    #[command(subcommand)]
    Prompts(Prompts),
    /// Tasks: list, add, change, finish
    #[command(subcommand)]
    Tasks(Tasks),
    /// What tools changed in files: list, show, undo
    #[command(subcommand)]
    Changes(Changes),
    /// The journal of this project
    #[command(subcommand)]
    Journal(Journal),
    /// A built-in server for any MCP client; `list` names them
    Mcp(Box<Mcp>),
    /// Everything an agent may use, as one MCP server for other programs
    Gateway(Gateway),
    /// Take over what other programs know: `mcp FILE`
    #[command(subcommand)]
    Import(Import),
    /// Tools: list, show, call, and the log of calls
    #[command(subcommand)]
    Tools(Tools),
    /// Chat in the terminal; `-p TEXT` for scripts
    Chat(Chat),
    /// Runs: list, show, continue, correct, export
    #[command(subcommand)]
    Runs(Runs),
    /// The tree of one trace: models, tools, sub agents
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Tokens and money
    Usage(Usage),
    /// Agents: who they are and what they may use
    #[command(subcommand)]
    Agent(Box<Agent>),
    /// land_configs: what main agents and sub agents may use at most
    #[command(subcommand)]
    Land(Land),
    /// Models: list, add, test, choose
    #[command(subcommand)]
    Models(Models),
    /// The audit log
    #[command(subcommand)]
    Audit(Audit),
    /// Programs that ask through us: which may approve their own actions
    #[command(subcommand)]
    Clients(Clients),
    /// Secrets such as API keys: names, never values
    #[command(subcommand)]
    Secrets(Secrets),
    /// Keep the whole state in one file, while the host works
    Backup(Backup),
    /// Bring a backup back; the state that was there is kept
    Restore(Restore),
    /// The state as a whole: take over an older one, rescue a damaged one, remove old runs
    #[command(subcommand)]
    State(State),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the description of the HTTP API
    #[command(hide = true)]
    DumpOpenapi,
    /// Print the schema of the event stream (for code generation).
    #[command(hide = true)]
    DumpEvents,
}

impl Command {
    /// `chatos` alone is `chatos serve`.
    pub(crate) fn default_serve() -> Self {
        Self::Serve(Serve {
            port: None,
            host: IpAddr::from([127, 0, 0, 1]),
            allow_remote: false,
            allow_host: Vec::new(),
            allow_network_fs: false,
            no_open: false,
            ready_json: false,
            ui_dir: None,
        })
    }
}

/// `chatos serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Port to listen on; 0 is any free one [default: 7878, or the next free one]
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// Allow an address that the network can reach
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// A name accepted in the Host header besides loopback; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Start although the state directory is on a network file system
    #[arg(long)]
    pub(crate) allow_network_fs: bool,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Print one line of JSON when ready (it holds the token: keep it private)
    #[arg(long)]
    pub(crate) ready_json: bool,
    /// Serve the web UI from this folder (for people who work on the UI)
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) ui_dir: Option<PathBuf>,
}

/// `chatos open`.
#[derive(Debug, Args)]
pub(crate) struct Open {
    /// Only print the link
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// `chatos doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Check the whole database, however long it takes
    #[arg(long)]
    pub(crate) deep: bool,
    /// Do the repairs that lose nothing
    #[arg(long)]
    pub(crate) fix: bool,
}

/// `chatos settings …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Settings {
    /// Every setting with its value and where it comes from
    List {
        /// Only those that differ from their default
        #[arg(long)]
        changed: bool,
    },
    /// One setting
    Get {
        /// Its name
        key: String,
    },
    /// Store a value
    Set {
        /// Its name
        key: String,
        /// The value: JSON, or plain as in `on`, `2MiB`, `a:b`
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Go back to the default
    Reset {
        /// Its name
        key: String,
    },
}
