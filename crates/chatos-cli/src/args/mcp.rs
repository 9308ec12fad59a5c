//! The flags of `chatos mcp`. Those that decide settings come from the table of settings.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use chatos_settings::{SETTINGS, SettingKind, SettingSpec};
use chatos_tool::{Fault, Text};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueEnum};
use serde_json::Value;

use super::servers::Servers;

/// `chatos mcp …`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) known: Option<Known>,
    /// `list`, or the name of a built-in server
    #[arg(value_name = "NAME")]
    server: Option<String>,
    /// Folder its tools work in [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Name clients see [default: the server's own]
    #[arg(long = "name", value_name = "TEXT")]
    pub(crate) shown_name: Option<String>,
    /// Include the tools that change files
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = switch)]
    pub(crate) write: Option<bool>,
    /// Which task list task_manager uses: default, cli or chat [env: MODEL_CLI_TASK_SCOPE]
    #[arg(long, value_name = "WORD")]
    pub(crate) scope: Option<String>,
    /// File of language servers for lsp_bridge [default: lsp-servers.json in the state folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Serve streamable HTTP at this loopback address, such as 127.0.0.1:0, instead of stdio
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// With --http: allow an address that can be reached from the network
    #[arg(long, requires = "http")]
    pub(crate) allow_remote: bool,
    /// With --http: host name to accept besides loopback; repeatable
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// With --http: origin that pages can call from; repeatable
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// With --http: file with the token [env: CHATOS_MCP_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print the configuration to paste into a client, and exit
    #[arg(long, value_name = "CLIENT")]
    pub(crate) print_config: Option<ConfigClient>,
    #[command(flatten)]
    pub(crate) settings: SettingFlags,
}

/// The sub-command that is about all servers.
#[derive(Debug, Subcommand)]
pub(crate) enum Known {
    /// Manage all servers the host knows
    Servers {
        #[command(subcommand)]
        action: Option<Servers>,
    },
}

/// `chatos gateway …`.
#[derive(Debug, Args)]
pub(crate) struct Gateway {
    /// Agent whose tools to serve, ID or name [default: the default agent]
    #[arg(long, value_name = "A", default_value = "default")]
    pub(crate) agent: String,
    /// Project folder [default: the one the client names, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Which tools clients see: all, a short list with a search, or auto [default: the setting gatewayTools]
    #[arg(long, value_name = "WORD")]
    pub(crate) tools: Option<ListWord>,
    /// Name of this session on cards
    #[arg(long, value_name = "TEXT")]
    pub(crate) session: Option<String>,
    /// For clients with a short time limit: after this long, reply that a person has to answer first; the model then
    /// gets the result with the tool chatos_wait
    #[arg(long, value_name = "TIME", value_parser = chatos_terminal::args::parse_time)]
    pub(crate) hold: Option<std::time::Duration>,
    /// Start a host if none is running; it keeps running when the client is gone
    #[arg(long)]
    pub(crate) serve: bool,
    /// Server to leave out, by name; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) without: Vec<String>,
    /// Print the configuration to paste into a client, and exit
    #[arg(long, value_name = "CLIENT")]
    pub(crate) print_config: Option<ConfigClient>,
    /// Name clients see
    #[arg(long = "name", value_name = "TEXT", default_value = "chatos")]
    pub(crate) shown_name: String,
    /// Serve streamable HTTP at this loopback address, such as 127.0.0.1:0, instead of stdio
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// With --http: allow an address that can be reached from the network
    #[arg(long, requires = "http")]
    pub(crate) allow_remote: bool,
    /// With --http: host name to accept besides loopback; repeatable
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// With --http: origin that pages can call from; repeatable
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// With --http: file with the token [env: CHATOS_MCP_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
}

/// Which tools clients are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListWord {
    Auto,
    All,
    Search,
}

impl Gateway {
    /// The flags of serving, as `chatos mcp` has them.
    pub(crate) fn serving(&self) -> Mcp {
        Mcp {
            known: None,
            server: None,
            root: self.root.clone(),
            shown_name: Some(self.shown_name.clone()),
            write: None,
            scope: None,
            config: None,
            http: self.http,
            allow_remote: self.allow_remote,
            allow_host: self.allow_host.clone(),
            allow_origin: self.allow_origin.clone(),
            token_file: self.token_file.clone(),
            print_config: None,
            settings: SettingFlags::default(),
        }
    }
}

impl Mcp {
    /// The server that is meant; nothing means the list of them.
    pub(crate) fn server(&self) -> &str {
        self.server.as_deref().unwrap_or("list")
    }
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "y" | "on" => Ok(true),
        "0" | "false" | "no" | "n" | "off" => Ok(false),
        _ => Err("use true or false".to_owned()),
    }
}

/// `127.0.0.1:0`, `localhost:8080`, `[::1]:8080`, or a port alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let bad = || "use an address with a port, as in 127.0.0.1:0".to_owned();
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    if let Some(port) = text.strip_prefix("localhost:") {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port.parse().map_err(|_| bad())?)));
    }
    text.parse().map_err(|_| bad())
}

/// Programs whose configuration we can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfigClient {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// Gemini CLI.
    GeminiCli,
    /// Codex (TOML).
    Codex,
    Opencode,
    Goose,
    Cline,
    LmStudio,
    Copilot,
    /// Any client that reads `mcpServers`.
    Generic,
}

/// Flags that decide settings for this process (state §4), as they were typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingFlags {
    // Key of the setting and the texts of its flag.
    given: Vec<(&'static SettingSpec, String, Vec<String>)>,
}

/// Further spellings of flags, and what a bare flag stands for.
const OTHER_NAMES: [(&str, &str); 1] = [("shellTimeoutMs", "timeout")];
/// The flags that mean another setting with a server (state §4).
const OTHER_MEANINGS: [(&str, &str, &str); 2] = [
    ("lsp_bridge", "shellTimeoutMs", "lspTimeoutMs"),
    ("lsp_bridge", "filesystemMaxFileBytes", "lspMaxBytes"),
];
const UNSAFE_SHELL: &str = "allow-unsafe-shell";

/// Settings with a flag of their own here. The global flags decide the rest.
fn flagged() -> impl Iterator<Item = (&'static SettingSpec, &'static str)> {
    let own = |spec: &'static SettingSpec| {
        let name = spec.flag?.strip_prefix("--")?;
        (!matches!(name, "lang" | "verbose")).then_some((spec, name))
    };
    SETTINGS.iter().filter_map(own)
}

impl Args for SettingFlags {
    fn augment_args(mut command: Command) -> Command {
        for (spec, name) in flagged() {
            let mut arg = Arg::new(spec.key).long(name).help(spec.label.0).help_heading("Settings");
            arg = match spec.kind {
                SettingKind::Bool => {
                    arg.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL")
                }
                SettingKind::List { .. } => arg.action(ArgAction::Append).value_name("PATH"),
                SettingKind::Enum { options, .. } => {
                    arg.value_name("WORD").help(format!("{}: {}", spec.label.0, options.join(", ")))
                }
                _ => arg.value_name("VALUE").allow_hyphen_values(true),
            };
            for (key, alias) in OTHER_NAMES {
                if key == spec.key {
                    arg = arg.alias(alias);
                }
            }
            command = command.arg(arg);
        }
        let relaxed = Arg::new(UNSAFE_SHELL).long(UNSAFE_SHELL).action(ArgAction::SetTrue);
        command.arg(relaxed.hide(true).conflicts_with("shellSafetyMode"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (spec, name) in flagged() {
            if let Some(texts) = matches.get_many::<String>(spec.key) {
                self.given.push((spec, format!("--{name}"), texts.cloned().collect()));
            } else if spec.key == "shellSafetyMode" && matches.get_flag(UNSAFE_SHELL) {
                self.given.push((spec, format!("--{UNSAFE_SHELL}"), vec!["relaxed".to_owned()]));
            }
        }
        Ok(())
    }
}

impl SettingFlags {
    /// The values by key, as a server means them. A value out of range is refused with the range (tools §13).
    pub(crate) fn values(&self, server: &str) -> Result<BTreeMap<String, Value>, Fault> {
        let mut values = BTreeMap::new();
        for (spec, name, texts) in &self.given {
            let own = OTHER_MEANINGS.iter().find(|(of, key, _)| *of == server && *key == spec.key);
            let spec = own.and_then(|(_, _, key)| chatos_settings::find_setting(key)).unwrap_or(spec);
            let mut all = Vec::new();
            for text in texts {
                all.push(spec.parse(text).map_err(|_| refused(spec, name, text))?);
            }
            let value = match spec.kind {
                SettingKind::List { .. } => {
                    let items = all.into_iter().flat_map(|value| match value {
                        Value::Array(items) => items,
                        one => vec![one],
                    });
                    Value::Array(items.collect())
                }
                _ => match all.pop() {
                    Some(value) => value,
                    None => continue,
                },
            };
            values.insert(spec.key.to_owned(), value);
        }
        Ok(values)
    }

    /// As they were typed, for a command line that is kept.
    pub(crate) fn typed(&self) -> impl Iterator<Item = String> + '_ {
        self.given.iter().flat_map(|(_, name, texts)| {
            texts.iter().map(move |text| {
                if name.ends_with(UNSAFE_SHELL) { name.clone() } else { format!("{name}={text}") }
            })
        })
    }
}

fn refused(spec: &SettingSpec, name: &str, text: &str) -> Fault {
    let expected = spec.expectation();
    Fault::new(
        chatos_tool::ErrorCode::InvalidArgument,
        Text::new(format!("{name} cannot be `{text}`"), format!("{name} 不能是 `{text}`")),
    )
    .code("usage")
    .hint(expected)
}
