//! The command line as clap reads it. Names and flags here are a contract with scripts.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use chatos_host::Lang;
use clap::{Args, Parser, Subcommand, ValueEnum};

mod agents;
mod mcp;
mod runs;
mod servers;
mod tools;

pub(crate) use agents::{AddModel, Agent, AgentFields, Land, Models, RoleArg};
pub(crate) use mcp::{ConfigClient, Gateway, Known, Mcp};
pub(crate) use runs::{Chat, Runs, TraceCommand, Usage};
pub(crate) use servers::{Import, ServerParts, Servers};
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

/// `chatos plugin …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// All plugins with their apps and trust
    List {
        /// Show what is wrong with them
        #[arg(long)]
        problems: bool,
        /// Only from there
        #[arg(long)]
        source: Option<PluginSource>,
    },
    /// One plugin in full
    Show {
        /// Its id
        id: String,
    },
    /// Check a plugin directory or package without installing it
    Validate {
        /// A directory with plugin.json, or a .zip file
        #[arg(default_value = ".")]
        path: PathBuf,
        /// Warnings are errors
        #[arg(long)]
        strict: bool,
    },
    /// Make a package that installs byte for byte
    Pack {
        /// A directory with plugin.json
        #[arg(default_value = ".")]
        path: PathBuf,
        /// The file to write [default: `dist/ID-VERSION.zip`]
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Install or update a plugin
    Install {
        /// A directory or .zip file
        path: PathBuf,
        /// Install what works, although an app, a backend or an ai part is wrong
        #[arg(long)]
        allow_problems: bool,
        /// Only say what would change
        #[arg(long)]
        dry_run: bool,
        /// Go on to deciding about it, in this terminal
        #[arg(long)]
        trust: bool,
        /// Answer questions with yes; never trusts anything
        #[arg(long)]
        yes: bool,
    },
    /// Remove an installed plugin
    Remove {
        /// Its id
        id: String,
        /// What happens to its data [default: asked in a terminal, else keep]
        #[arg(long)]
        data: Option<PluginData>,
        /// Ask nothing; data is kept unless --data says otherwise
        #[arg(long)]
        yes: bool,
    },
    /// Look at a plugin and let it run
    Trust {
        /// Its id
        id: String,
        /// Only show what there is to decide about
        #[arg(long)]
        show: bool,
        /// Trust exactly these bytes, reviewed elsewhere
        #[arg(long, value_name = "sha256:…")]
        digest: Option<String>,
        /// It may connect to addresses inside this computer or network
        #[arg(long)]
        allow_inside_network: bool,
    },
    /// Stop a plugin from running
    Untrust {
        /// Its id
        id: String,
    },
    /// Newest output of a plugin's processes
    Log {
        /// Its id
        id: String,
        /// Lines at most
        #[arg(long, default_value_t = 200, value_name = "N")]
        limit: usize,
    },
    /// Start the backend of a plugin again, also after it failed
    Restart {
        /// Its id
        id: String,
    },
    /// What an app offers to agents: server, prompts, exposure, call metadata
    Ai {
        /// PLUGIN.APP, as in com.example.tools.hello
        app: String,
    },
}

/// Where plugins come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginSource {
    /// With the program.
    Builtin,
    /// Installed.
    User,
    /// Under development.
    Dev,
}

impl PluginSource {
    /// The word in listings.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::User => "user",
            Self::Dev => "dev",
        }
    }
}

/// What happens to a plugin's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginData {
    /// It stays.
    Keep,
    /// It goes.
    Delete,
}

/// `chatos prompts …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Prompts {
    /// What waits for you, oldest first
    List(PromptsList),
    /// One question as it would be asked
    Show {
        /// Its id, or the first characters of it (at least 4)
        id: String,
    },
    /// Answer a question; without flags it is asked in this terminal
    Answer(Box<PromptsAnswer>),
    /// Ask a question
    Request {
        /// JSON: {"prompt":{…}} or the prompt itself; - reads standard input
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// Wait for the answer and print it
        #[arg(long)]
        wait: bool,
        /// Give up after this time, as in 60s, 5m, 2h
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        timeout: Option<std::time::Duration>,
    },
    /// Follow the queue
    Watch {
        /// Ask each new question in this terminal
        #[arg(long)]
        answer: bool,
    },
    /// Move old answered questions out of the log
    Archive {
        /// Answered before this: a date, or days as in 30d
        #[arg(long, default_value = "30d", value_name = "WHEN")]
        before: String,
    },
    /// What is wrong with the log
    Check,
}

/// `chatos prompts list`.
#[derive(Debug, Args)]
pub(crate) struct PromptsList {
    /// Open questions, results and history
    #[arg(long)]
    pub(crate) all: bool,
    /// Unread results
    #[arg(long, conflicts_with = "all")]
    pub(crate) results: bool,
    /// What was answered, newest first
    #[arg(long, conflicts_with_all = ["all", "results"])]
    pub(crate) history: bool,
    /// Only of this run
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Only from this source
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// Only of this kind: kv, choice, task_confirm, file_change_confirm, result
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only with this text
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) query: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: u32,
}

/// `chatos prompts answer`.
#[derive(Debug, Args)]
pub(crate) struct PromptsAnswer {
    /// Its id, or the first characters of it (at least 4)
    pub(crate) id: String,
    /// Confirm, with the values given
    #[arg(long, conflicts_with_all = ["cancel", "decline"])]
    pub(crate) ok: bool,
    /// Cancel the question
    #[arg(long, conflicts_with = "decline")]
    pub(crate) cancel: bool,
    /// Decline the question of an MCP server
    #[arg(long)]
    pub(crate) decline: bool,
    /// A field: key=value; repeatable
    #[arg(long, value_name = "K=V", requires = "ok", allow_hyphen_values = true)]
    pub(crate) value: Vec<String>,
    /// A field from a file: key=path; repeatable
    #[arg(long, value_name = "K=PATH", requires = "ok")]
    pub(crate) value_file: Vec<String>,
    /// A secret field, read from the terminal without echo or from standard input; repeatable
    #[arg(long, value_name = "K", requires = "ok")]
    pub(crate) secret: Vec<String>,
    /// An option; repeatable
    #[arg(long, value_name = "V", requires = "ok", allow_hyphen_values = true)]
    pub(crate) select: Vec<String>,
    /// The tasks as JSON; - reads standard input
    #[arg(long, value_name = "FILE", requires = "ok")]
    pub(crate) tasks_file: Option<PathBuf>,
    /// A remark for the asker
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) remark: Option<String>,
    /// The digest of what you saw earlier (`show --json`)
    #[arg(long, value_name = "DIGEST")]
    pub(crate) shown: Option<String>,
}

fn parse_time(text: &str) -> Result<std::time::Duration, String> {
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let number: u64 = number.parse().map_err(|_| "use a number with s, m or h, as in 60s".to_owned())?;
    let seconds = match unit {
        "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => None,
    };
    match seconds {
        // The limits of `timeoutMs`.
        Some(seconds @ 1..=2_147_483) => Ok(std::time::Duration::from_secs(seconds)),
        _ => Err("use 1s to 2147483s, or m and h".to_owned()),
    }
}

/// `chatos tasks …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Tasks {
    /// Open tasks, most recently updated first
    List {
        /// todo, doing, blocked or done
        #[arg(long)]
        status: Option<String>,
        /// Only with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Only with this text in title or details
        #[arg(long, allow_hyphen_values = true)]
        query: Option<String>,
        /// Finished ones too
        #[arg(long)]
        all: bool,
        /// How many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// Make a task
    Add {
        /// What is to be done
        title: String,
        /// More about it
        #[arg(long, default_value = "", allow_hyphen_values = true)]
        details: String,
        /// high, medium or low
        #[arg(long, default_value = "medium")]
        priority: String,
        /// A tag; repeatable
        #[arg(long)]
        tag: Vec<String>,
    },
    /// One task with its notes
    Show {
        /// Its id
        id: String,
    },
    /// Change a task
    Update {
        /// Its id
        id: String,
        /// New title
        #[arg(long, allow_hyphen_values = true)]
        title: Option<String>,
        /// New details
        #[arg(long, allow_hyphen_values = true)]
        details: Option<String>,
        /// high, medium or low
        #[arg(long)]
        priority: Option<String>,
        /// todo, doing, blocked or done
        #[arg(long)]
        status: Option<String>,
        /// A note to add
        #[arg(long, allow_hyphen_values = true)]
        note: Option<String>,
    },
    /// Finish a task with a note
    Done {
        /// Its id
        id: String,
        /// How it ended
        #[arg(long, default_value = "", allow_hyphen_values = true)]
        note: String,
    },
    /// Delete a task
    Delete {
        /// Its id
        id: String,
    },
    /// Delete finished tasks
    Clear {
        /// Open ones too
        #[arg(long)]
        all: bool,
    },
}

/// `chatos journal …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Journal {
    /// Entries of this project, newest first
    List {
        /// Only with this text
        #[arg(long, allow_hyphen_values = true)]
        query: Option<String>,
        /// Only with this tag
        #[arg(long)]
        tag: Option<String>,
        /// How many
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
    },
    /// One entry
    Show {
        /// Its id
        id: String,
    },
    /// Add an entry
    Add {
        /// What was done
        summary: String,
        /// Its heading
        #[arg(long, allow_hyphen_values = true)]
        title: Option<String>,
        /// More about it
        #[arg(long, allow_hyphen_values = true)]
        details: Option<String>,
        /// A tag; repeatable
        #[arg(long)]
        tag: Vec<String>,
    },
    /// Print every entry as JSON lines, oldest first
    Export,
}

/// `chatos audit …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Check that no record was changed, dropped or cut
    Verify,
}

/// `chatos state …`.
#[derive(Debug, Subcommand)]
pub(crate) enum State {
    /// Take over what an older program kept
    Import {
        /// Its database [default: every known place]
        path: Option<PathBuf>,
    },
    /// Save what can be read of a damaged database; the damaged file is kept
    Recover {
        /// Put this into its place without asking
        #[arg(long, value_name = "WHICH")]
        r#use: Option<UseFor>,
    },
    /// Remove old finished runs, after showing what goes
    Prune {
        /// Finished before: a date, a time, or days as in 90d
        #[arg(long, value_name = "WHEN")]
        runs_before: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// What takes the place of a damaged database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UseFor {
    /// What could be read.
    Salvaged,
    /// The newest good copy.
    Backup,
}

/// `chatos backup`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file to make; it must not exist
    pub(crate) file: PathBuf,
    /// Leave out the content of changed files, attachments and tool results
    #[arg(long)]
    pub(crate) no_blobs: bool,
    /// Add the state key, locked with a passphrase that is asked for (or read from standard input)
    #[arg(long)]
    pub(crate) with_key: bool,
}

/// `chatos restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// A file that `chatos backup` made
    pub(crate) file: PathBuf,
    /// Into this folder instead of the state directory
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Only check the backup and say what would happen
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `chatos secrets …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Names and when they were set
    List,
    /// Set a secret; its value is typed without echo or read from standard input
    Set {
        /// Its name, as in OPENAI_API_KEY
        name: String,
        /// What it is for
        #[arg(long, allow_hyphen_values = true)]
        description: Option<String>,
    },
    /// Remove a secret
    Remove {
        /// Its name
        name: String,
    },
}
