//! Arguments of `chatos agent`, `chatos land` and `chatos models`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `chatos agent`.
#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    /// All agents
    List,
    /// One agent
    Show {
        /// Its id or name
        agent: String,
    },
    /// Make an agent
    Create(AgentFields),
    /// Change an agent: what is not named stays
    Edit {
        /// Its id or name
        agent: String,
        #[command(flatten)]
        fields: AgentFields,
    },
    /// Remove an agent
    Remove {
        /// Its id or name
        agent: String,
    },
    /// Why an agent may or may not use each server and tool
    Explain {
        /// Its id or name
        agent: String,
        /// Only tools of this name; `*` and `?` may stand in it
        tool: Option<String>,
        /// As the agent a person talks to, or as the agent of another agent
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
    /// Its name
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
    /// What it is for
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) description: Option<String>,
    /// custom: choose servers and apps within a land_config; flow: the land_config alone
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Id of the land_config
    #[arg(long)]
    pub(crate) land: Option<String>,
    /// Id or name of the model; `default` for the default one
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Its own system prompt; `@FILE` reads it
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// Where it works
    #[arg(long)]
    pub(crate) workspace: Option<PathBuf>,
    /// Language of its prompts: auto, zh or en
    #[arg(long)]
    pub(crate) prompt_lang: Option<String>,
    /// A server it may use (row id or identity); repeat it. `none`: no server
    #[arg(long)]
    pub(crate) server: Vec<String>,
    /// Every server the land_config lists
    #[arg(long, conflicts_with = "server")]
    pub(crate) all_servers: bool,
    /// A prompt by name; repeat it
    #[arg(long = "use-prompt")]
    pub(crate) prompts: Vec<String>,
    /// An app as PLUGIN/APP; repeat it
    #[arg(long)]
    pub(crate) app: Vec<String>,
}

/// `chatos land`.
#[derive(Debug, Subcommand)]
pub(crate) enum Land {
    /// All land_configs
    List,
    /// One land_config
    Show {
        /// Its id
        id: String,
    },
    /// Make or replace a land_config from a JSON file; `-` is standard input
    Import {
        /// The file
        file: PathBuf,
    },
    /// Print a land_config as JSON that `import` takes
    Export {
        /// Its id
        id: String,
    },
    /// Remove a land_config nobody uses
    Remove {
        /// Its id
        id: String,
    },
}

/// `chatos models`.
#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// All models
    List,
    /// Add a model; with --key its key is typed without echo or read from standard input
    Add(AddModel),
    /// Remove a model
    Remove {
        /// Its id or name
        model: String,
    },
    /// One minimal call
    Test {
        /// Its id or name; the default one when absent
        model: Option<String>,
    },
    /// Look for model servers on this machine
    Detect {
        /// Add what was found
        #[arg(long)]
        add: bool,
    },
    /// Make a model the default
    Default {
        /// Its id or name
        model: String,
    },
}

/// `chatos models add`.
#[derive(Debug, Args)]
pub(crate) struct AddModel {
    /// The provider's name of the model
    pub(crate) model: String,
    /// A vendor that is known (anthropic, openai, deepseek, …) or a provider
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Where it answers
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Its name here
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
    /// Name of the secret with its key, as in OPENAI_API_KEY
    #[arg(long)]
    pub(crate) key_name: Option<String>,
    /// Ask for the key, and keep it as that secret
    #[arg(long)]
    pub(crate) key: bool,
    /// Make it the default
    #[arg(long)]
    pub(crate) default: bool,
    /// Tokens it takes at once
    #[arg(long)]
    pub(crate) context: Option<u32>,
    /// It sees pictures
    #[arg(long)]
    pub(crate) vision: bool,
    /// Prices per million tokens: INPUT,OUTPUT,CURRENCY
    #[arg(long)]
    pub(crate) price: Option<String>,
}
