//! `chatos plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
    /// Start a plugin of your own: a project that runs, from a template
    Init(InitArgs),
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
        /// Also allow this of what it asks for beyond itself, such as chat.read; again for more
        #[arg(long, value_name = "CAPABILITY")]
        allow: Vec<String>,
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
        /// PLUGIN.APP, as in com.example.tools.hello; PLUGIN/APP where two apps have that name
        app: String,
    },
}

/// What `chatos plugin init` is told about the project to make.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder to make
    #[arg(required_unless_present = "list_templates")]
    pub(crate) dir: Option<PathBuf>,
    /// What to start from [default: basic]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) template: Option<String>,
    /// Show the templates
    #[arg(long)]
    pub(crate) list_templates: bool,
    /// Its id, such as com.example.notes; asked for in a terminal
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Its name for people; asked for in a terminal
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The id of its app
    #[arg(long, default_value = "app", value_name = "ID")]
    pub(crate) app_id: String,
    /// Its version
    #[arg(long = "version", default_value = "0.1.0", value_name = "VERSION")]
    pub(crate) plugin_version: String,
    /// Add what is missing to a folder that is not empty; nothing is overwritten
    #[arg(long)]
    pub(crate) force: bool,
    /// Nothing in it needs a package registry: no bundling with npm
    #[arg(long)]
    pub(crate) offline: bool,
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
