//! What an app offers to agents (`docs/protocols/ai-contributions.md`).
//!
//! Pure: it is given manifests, the bytes of the files they name and the paths that were proven to
//! be inside the plugin, and answers with names, addresses, texts and exposure. It opens nothing,
//! starts nothing and stores nothing. No other crate derives a server name, a prompt name, a tool
//! name or a `cmd://` address.

pub mod call_meta;
pub mod cmd_url;
mod config;
mod contribution;
mod defaults;
pub mod exposure;
mod merge;
pub mod names;
pub mod sync;
mod yaml;

pub use chatos_manifest::AsyncTask;
pub use cmd_url::CmdError;
pub use config::{ConfigFault, parse_config};
pub use contribution::{
    AppContribution, Endpoint, LoadedAi, PromptContribution, PromptText, ResolvedAi, ResolvedPrompt,
    ResolvedServer, ServerContribution, resolve,
};
pub use defaults::DefaultLists;
pub use exposure::{Exposed, Layer, Outcome};
pub use merge::{Merged, merge};
pub use names::{NameBook, PromptNames, ServerIdentity, normalize_server, normalize_tool, server_name};

/// The text of an app that a person granted: a block of an agent's system prompt, or what goes along with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppText {
    /// The plugin it came with.
    pub plugin: String,
    /// The app of that plugin; what a person types behind `/`.
    pub app: String,
    /// What people are shown of it.
    pub title: String,
    /// What a model reads of it.
    pub text: String,
}

/// Reads YAML as files of ours have it: one document, no anchors, tags or repeated keys.
pub fn parse_yaml(text: &str) -> Result<serde_json::Value, String> {
    yaml::parse(text, 32).map_err(|fault| fault.describe().0)
}
