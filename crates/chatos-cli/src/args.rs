//! The command line as clap reads it. Names and flags here are a contract with scripts.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::PathBuf;

use chatos_paths::Environment;
pub(crate) use chatos_terminal::args::{Chat, Chats, Global, Prompts};
use chatos_tool::Lang;
use clap::{Args, CommandFactory, Parser, Subcommand};

mod access;
mod acp;
mod agents;
mod browsers;
mod changes;
mod clients;
mod grant;
mod hook;
mod install;
mod instructions;
mod mcp;
mod plugins;
mod reach;
mod records;
mod rules;
mod runs;
mod servers;
mod state;
mod tools;
mod zh;

pub(crate) use access::{Access, AccessKind};
pub(crate) use acp::{Acp, EditorName};
pub(crate) use agents::{AddModel, Agent, AgentFields, Land, Models, RoleArg};
pub(crate) use browsers::Browsers;
pub(crate) use changes::Changes;
pub(crate) use clients::Clients;
pub(crate) use grant::{AskArg, Grant, GrantFlags};
pub(crate) use hook::{Hook, HookProgram, HookScope, OnFailure};
pub(crate) use install::{ServiceAction, Upgrade};
pub(crate) use instructions::{ConsentArg, Instructions};
pub(crate) use mcp::{ConfigClient, Gateway, Known, ListWord, Mcp};
pub(crate) use plugins::{InitArgs, Plugin, PluginData, PluginSource};
pub(crate) use reach::{Reach, ReachAdd};
pub(crate) use records::{Journal, Tasks};
pub(crate) use rules::Rules;
pub(crate) use runs::{Runs, TraceCommand, Usage};
pub(crate) use servers::{Import, ServerParts, Servers};
pub(crate) use state::{Audit, Backup, KeyTarget, Restore, Secrets, State, UseFor};
pub(crate) use tools::{Tools, ToolsCall};

/// A local-first host for AI plugin apps.
#[derive(Debug, Parser)]
#[command(
    name = "chatos",
    version,
    about = "ChatOS: run AI agents and apps on your own computer",
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
        let words = words();
        // A client starts a server and waits for it: the commands it does not use are not built. What is
        // not plainly a server is read in full, for its help and its errors.
        if let [program, word, rest @ ..] = words.as_slice()
            && word == "mcp"
            && let Ok(ServerLine { global, mcp }) =
                ServerLine::try_parse_from(std::iter::once(program).chain(rest))
            && mcp.known.is_none()
        {
            return Ok(Self { global, command: Some(Command::Mcp(Box::new(mcp))) }.whole());
        }
        Self::try_parse_from(words).map(Self::whole)
    }

    /// What is said in place of running, to somebody who reads Chinese; none where the English words are fine.
    pub(crate) fn in_chinese(environment: &Environment, error: &clap::Error) -> Option<String> {
        let words = words();
        let lines = words.iter().any(|word| word == "--json") && error.exit_code() != 0;
        if lines || zh::asked_for(&words, environment) != Lang::Zh {
            return None;
        }
        let terminal = if error.use_stderr() {
            std::io::stderr().is_terminal()
        } else {
            std::io::stdout().is_terminal()
        };
        zh::told(Self::command(), &words, terminal && environment.get("NO_COLOR").is_none())
    }

    /// With what belongs to this program.
    fn whole(mut self) -> Self {
        self.global.plugins = chatos_assets::PLUGINS;
        self
    }
}

fn words() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// `chatos mcp NAME …` without its second word.
#[derive(Debug, Parser)]
struct ServerLine {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    mcp: Mcp,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the host and open the browser
    Serve(Serve),
    /// Show whether a host is running and what is waiting
    Status,
    /// Stop the running host
    Stop,
    /// Open the running host in the browser, with a new sign-in link
    Open(Open),
    /// Check that everything ChatOS needs is in order
    Doctor(Doctor),
    /// Show and change settings
    #[command(subcommand)]
    Settings(Settings),
    /// Manage plugins
    #[command(subcommand)]
    Plugin(Plugin),
    /// Run a plugin you are writing in a sandbox, with panels to test it
    Dev(Dev),
    /// List and answer questions waiting for you, or ask one
    #[command(subcommand)]
    Prompts(Prompts),
    /// Manage tasks
    #[command(subcommand)]
    Tasks(Tasks),
    /// List, show and undo file changes made by tools
    #[command(subcommand)]
    Changes(Changes),
    /// Read and write this project's journal
    #[command(subcommand)]
    Journal(Journal),
    /// Run a built-in server for any MCP client; `list` names them
    Mcp(Box<Mcp>),
    /// Serve everything an agent can use as one MCP server for other programs
    Gateway(Gateway),
    /// Let an editor that speaks the Agent Client Protocol drive an agent
    Acp(Acp),
    /// Let another coding agent ask in ChatOS before it acts: claude, codex, gemini or opencode
    Hook(Box<Hook>),
    /// Import settings of other programs: `mcp FILE`
    #[command(subcommand)]
    Import(Import),
    /// List, show and call tools, and read the tool log
    #[command(subcommand)]
    Tools(Tools),
    /// Chat in the terminal; `-p TEXT` or a pipe for scripts
    Chat(Chat),
    /// List, show, search, export, rename, archive and delete chats
    #[command(subcommand)]
    Chats(Chats),
    /// List, show, continue, steer and export runs
    #[command(subcommand)]
    Runs(Runs),
    /// Show a run's timeline: models, tools and subagents
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Show token usage and cost
    Usage(Usage),
    /// List this project's instruction files (AGENTS.md, CLAUDE.md), and decide whether they are used
    Instructions(Instructions),
    /// Manage agents and their permissions
    #[command(subcommand)]
    Agent(Box<Agent>),
    /// Manage permissions profiles (land_configs): the most an agent can use
    #[command(subcommand)]
    Land(Land),
    /// Give a server or app to an agent, or take it back
    Grant(Grant),
    /// Manage models
    #[command(subcommand)]
    Models(Models),
    /// Check the audit log
    #[command(subcommand)]
    Audit(Audit),
    /// Manage signed-in browsers
    #[command(subcommand)]
    Browsers(Browsers),
    /// Manage programs that ask through ChatOS, and which of them can approve their own actions
    #[command(subcommand)]
    Clients(Clients),
    /// Manage what agents' commands may use beyond their sandbox
    #[command(subcommand)]
    Access(Access),
    /// Manage rules that answer questions for you
    #[command(subcommand)]
    Rules(Rules),
    /// Manage how you are notified that a question is waiting
    #[command(subcommand)]
    Reach(Reach),
    /// Manage secrets such as API keys; values are never shown
    #[command(subcommand)]
    Secrets(Secrets),
    /// Save the whole state to one file, even while the host is running
    Backup(Backup),
    /// Restore a backup; the current state is kept aside
    Restore(Restore),
    /// Import an older state, rescue a damaged one or remove old runs
    #[command(subcommand)]
    State(State),
    /// Show the version of this program
    Version,
    /// Upgrade this program
    Upgrade(Upgrade),
    /// Run ChatOS as a service: started when you sign in, at the same address
    #[command(subcommand)]
    Service(ServiceAction),
    /// Print a completion script for your shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
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
    /// Port to listen on; 0 picks any free one [default: 7878, or the next free one]
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// Allow an address that can be reached from the network
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Host name to accept besides loopback; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Start even if the state folder is on a network file system
    #[arg(long)]
    pub(crate) allow_network_fs: bool,
    /// Don't open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Print one line of JSON when ready (it contains the token: keep it private)
    #[arg(long)]
    pub(crate) ready_json: bool,
    /// Serve the page from this folder (for developing the page)
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) ui_dir: Option<PathBuf>,
}

/// What `chatos dev` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
This is the real host: frames, backend, tool server and prompts. The plugin is trusted while the command runs, its \
state is kept apart from yours, and saved files are loaded at once.")]
pub(crate) struct Dev {
    /// Folder with plugin.json, or with plugin/plugin.json
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Port to listen on; 0 picks any free one [default: 4399, or the next free one]
    #[arg(short, long)]
    pub(crate) port: Option<u16>,
    /// App to open first [default: the first one]
    #[arg(long, value_name = "ID")]
    pub(crate) app: Option<String>,
    /// Open a browser even where there doesn't seem to be one
    #[arg(long, overrides_with = "no_open")]
    pub(crate) open: bool,
    /// Don't open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Load saved files only when asked to
    #[arg(long)]
    pub(crate) no_reload: bool,
    /// Empty the sandbox first: its data, chats, questions and settings
    #[arg(long)]
    pub(crate) reset: bool,
    /// Don't ask before --reset
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one line of JSON when ready (it contains the token: keep it private)
    #[arg(long)]
    pub(crate) ready_json: bool,
    /// Serve the page from this folder (for developing the page)
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
    /// Make repairs that lose nothing
    #[arg(long)]
    pub(crate) fix: bool,
}

/// `chatos settings …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Settings {
    /// List all settings with their values and where they come from
    List {
        /// Only settings that differ from their default
        #[arg(long)]
        changed: bool,
    },
    /// Show one setting
    Get {
        /// Setting name
        key: String,
    },
    /// Change a setting
    Set {
        /// Setting name
        key: String,
        /// Value: JSON, or plain text such as `on`, `2MiB` or `a:b`
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Reset a setting to its default
    Reset {
        /// Setting name
        key: String,
    },
}
