//! `chatos plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::GrantFlags;

/// `chatos plugin …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// List plugins with their apps and trust
    List {
        /// Show their problems
        #[arg(long)]
        problems: bool,
        /// Only from this source
        #[arg(long)]
        source: Option<PluginSource>,
    },
    /// Show a plugin in full
    Show {
        /// Plugin ID
        id: String,
    },
    /// Create a plugin of your own from a template: a project that runs
    Init(InitArgs),
    /// Check a plugin folder or package without installing it
    Validate {
        /// Folder with plugin.json, or a .zip file
        #[arg(default_value = ".")]
        path: PathBuf,
        /// Treat warnings as errors
        #[arg(long)]
        strict: bool,
    },
    /// Make a reproducible package
    Pack {
        /// Folder with plugin.json
        #[arg(default_value = ".")]
        path: PathBuf,
        /// File to write [default: `dist/ID-VERSION.zip`]
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Install or update a plugin
    Install {
        /// Folder or .zip file
        path: PathBuf,
        /// Install the working parts even if an app, a backend or an ai part is broken
        #[arg(long)]
        allow_problems: bool,
        /// Only show what would change
        #[arg(long)]
        dry_run: bool,
        /// Review and trust it right away, in this terminal
        #[arg(long)]
        trust: bool,
        /// Answer yes to questions; never trusts anything
        #[arg(long)]
        yes: bool,
        /// With --trust: who can use it
        #[command(flatten)]
        grant: GrantFlags,
    },
    /// Uninstall a plugin
    Remove {
        /// Plugin ID
        id: String,
        /// What happens to its data [default: ask in a terminal, otherwise keep]
        #[arg(long)]
        data: Option<PluginData>,
        /// Don't ask; data is kept unless --data says otherwise
        #[arg(long)]
        yes: bool,
    },
    /// Review a plugin and let it run
    Trust {
        /// Plugin ID
        id: String,
        /// Only show what there is to review
        #[arg(long)]
        show: bool,
        /// Trust exactly this digest, reviewed elsewhere
        #[arg(long, value_name = "sha256:…")]
        digest: Option<String>,
        /// Allow it to connect to addresses on this computer or network
        #[arg(long)]
        allow_inside_network: bool,
        /// Also allow this permission it asks for, such as chat.read; repeatable
        #[arg(long, value_name = "CAPABILITY")]
        allow: Vec<String>,
        #[command(flatten)]
        grant: GrantFlags,
    },
    /// Stop a plugin from running
    Untrust {
        /// Plugin ID
        id: String,
    },
    /// Show the latest output of a plugin's programs
    Log {
        /// Plugin ID
        id: String,
        /// Maximum number of lines
        #[arg(long, default_value_t = 200, value_name = "N")]
        limit: usize,
    },
    /// Restart a plugin's backend, even after it failed
    Restart {
        /// Plugin ID
        id: String,
    },
    /// Show what an app gives agents: server, prompts, exposure, call metadata
    Ai {
        /// PLUGIN.APP, such as com.example.tools.hello; PLUGIN/APP if two apps share the name
        app: String,
    },
}

/// What `chatos plugin init` is told about the project to make.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder to create
    #[arg(required_unless_present = "list_templates")]
    pub(crate) dir: Option<PathBuf>,
    /// Template to start from [default: basic]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) template: Option<String>,
    /// List the templates
    #[arg(long)]
    pub(crate) list_templates: bool,
    /// Plugin ID, such as com.example.notes [default: asked for in a terminal, else made from the folder's name]
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Display name [default: asked for in a terminal, else the folder's name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// ID of its app
    #[arg(long, default_value = "app", value_name = "ID")]
    pub(crate) app_id: String,
    /// Its version
    #[arg(long = "version", default_value = "0.1.0", value_name = "VERSION")]
    pub(crate) plugin_version: String,
    /// Add what is missing to a folder that is not empty; nothing is overwritten
    #[arg(long)]
    pub(crate) force: bool,
    /// Make a project that needs no package registry and no bundling
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Where plugins come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginSource {
    /// Built in.
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
    /// Keep it.
    Keep,
    /// Delete it.
    Delete,
}
