//! Arguments of `chatos agent`, `chatos land` and `chatos models`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `chatos agent`.
#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    /// List agents
    List,
    /// Show an agent
    Show {
        /// Agent ID, name or its beginning; `default` for the default agent
        agent: String,
    },
    /// Find other agents on this machine (Claude Code, codex, opencode, Gemini CLI, goose); starts nothing
    Detect,
    /// Add another program as an agent you chat with: a known one, or any that speaks ACP
    Add {
        /// A known program: claude-code, codex, opencode, gemini or goose
        #[arg(long, value_name = "ID", conflicts_with = "command", required_unless_present = "command")]
        acp: Option<String>,
        /// Name [default: the program's own]
        #[arg(long, allow_hyphen_values = true)]
        name: Option<String>,
        /// Folder it works in [default: the current folder]
        #[arg(long)]
        workspace: Option<PathBuf>,
        /// Permissions profile (land_config): ID, name or its beginning [default: Developer]
        #[arg(long)]
        land: Option<String>,
        /// Environment variable it can see; repeatable
        #[arg(long, value_name = "NAME")]
        pass_env: Vec<String>,
        /// Don't offer it ChatOS's servers
        #[arg(long)]
        no_gateway: bool,
        /// Don't ask before adding
        #[arg(long)]
        yes: bool,
        /// The command and its arguments, after `--`
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Create an agent
    Create(AgentFields),
    /// Change an agent; anything you don't name stays as it is
    Edit {
        /// Agent ID, name or its beginning; `default` for the default agent
        agent: String,
        #[command(flatten)]
        fields: AgentFields,
    },
    /// Delete an agent
    Remove {
        /// Agent ID, name or its beginning; `default` for the default agent
        agent: String,
    },
    /// Explain why an agent can or can't use each server and tool
    Explain {
        /// Agent ID, name or its beginning; `default` for the default agent
        agent: String,
        /// Only tools with this name; `*` and `?` are wildcards
        tool: Option<String>,
        /// Also show what the rules would do with a call with these arguments (JSON) in a folder (--project)
        #[arg(long, value_name = "JSON", requires = "tool")]
        args: Option<String>,
        /// In chats (main) or as a subagent (sub)
        #[arg(long, value_enum, default_value = "main")]
        role: RoleArg,
    },
}

/// The two flows.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RoleArg {
    Main,
    Sub,
}

/// What can be said about an agent.
#[derive(Debug, Args)]
pub(crate) struct AgentFields {
    /// Name
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
    /// What it is for
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) description: Option<String>,
    /// custom: choose servers and apps within a permissions profile; flow: the profile alone
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Permissions profile (land_config): ID, name or its beginning
    #[arg(long)]
    pub(crate) land: Option<String>,
    /// Model ID, name or its beginning; `default` for the default model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Its own instructions; `@FILE` reads them from a file
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// Working folder
    #[arg(long)]
    pub(crate) workspace: Option<PathBuf>,
    /// Prompt language: auto, zh or en
    #[arg(long)]
    pub(crate) prompt_lang: Option<String>,
    /// Server it can use (ID or identity); repeatable. `none` for no servers
    #[arg(long)]
    pub(crate) server: Vec<String>,
    /// Every server the permissions profile lists
    #[arg(long, conflicts_with = "server")]
    pub(crate) all_servers: bool,
    /// Prompt to add, by name; repeatable
    #[arg(long = "use-prompt")]
    pub(crate) prompts: Vec<String>,
    /// App to add, as PLUGIN/APP; repeatable
    #[arg(long)]
    pub(crate) app: Vec<String>,
}

/// `chatos land`.
#[derive(Debug, Subcommand)]
pub(crate) enum Land {
    /// List permissions profiles
    List,
    /// Show a permissions profile
    Show {
        /// Profile ID, name or its beginning
        id: String,
    },
    /// Create or replace a permissions profile from a JSON file; `-` reads stdin
    Import {
        /// JSON file
        file: PathBuf,
    },
    /// Print a permissions profile as JSON for `import`
    Export {
        /// Profile ID, name or its beginning
        id: String,
    },
    /// Delete a permissions profile no agent uses
    Remove {
        /// Profile ID, name or its beginning
        id: String,
    },
}

/// `chatos models`.
#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// List models
    List,
    /// Add a model; --key asks for its key (hidden) or reads it from stdin
    Add(AddModel),
    /// Delete a model
    Remove {
        /// Model ID, name or its beginning
        model: String,
    },
    /// Test a model with one small call
    Test {
        /// Model ID, name or its beginning [default: the default model]
        model: Option<String>,
    },
    /// Refresh what vendors and local servers report about the models
    Refresh {
        /// Model ID, name or its beginning [default: all of them]
        model: Option<String>,
    },
    /// List the chat models of a vendor or server
    Offered {
        /// Known provider (anthropic, openai, openrouter, ollama, …) or provider type (openai_compatible, openai_responses, …)
        #[arg(long)]
        provider: Option<String>,
        /// Address of the server
        #[arg(long)]
        url: Option<String>,
        /// Name of the secret with its key
        #[arg(long)]
        key_name: Option<String>,
    },
    /// Forget the window, capabilities and prices you set for a model
    Reset {
        /// Model ID, name or its beginning
        model: String,
    },
    /// Find model servers on this computer
    Detect {
        /// Add the models that are found
        #[arg(long)]
        add: bool,
    },
    /// Set the default model
    Default {
        /// Model ID, name or its beginning
        model: String,
    },
}

/// `chatos models add`.
#[derive(Debug, Args)]
pub(crate) struct AddModel {
    /// Model name the provider uses; a well-known one needs no provider
    pub(crate) model: String,
    /// Known provider (anthropic, openai, deepseek, …) or provider type (openai_compatible, openai_responses, …)
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Address of the server
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Display name
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
    /// Name of the secret with its key, such as OPENAI_API_KEY
    #[arg(long)]
    pub(crate) key_name: Option<String>,
    /// Ask for the key and save it as that secret, or as VENDOR_API_KEY
    #[arg(long)]
    pub(crate) key: bool,
    /// Make it the default model
    #[arg(long)]
    pub(crate) default: bool,
    /// Context window, in tokens
    #[arg(long)]
    pub(crate) context: Option<u32>,
    /// It accepts images
    #[arg(long)]
    pub(crate) vision: bool,
    /// Prices per million tokens: INPUT,OUTPUT,CURRENCY
    #[arg(long)]
    pub(crate) price: Option<String>,
}
