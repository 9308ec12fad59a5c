//! Names (ai-contributions §4): servers, prompts, and the names tools are offered to models under.
//! Names are derived here and never parsed back; what identifies a server is its identity.

mod book;
mod tools;

use serde::{Deserialize, Serialize};

use chatos_manifest::{AppId, PluginId};

pub use book::{Collision, NameBook, NameBookError, PromptNames, Wanted, WantedPrompt};
pub use tools::{OfferedTool, ServerTools, offer_tools};

/// The key for grants, allow lists and routing: `app:<pluginId>/<appId>` or `admin:<row id>`.
/// `/` and `:` cannot occur in ids, so two servers never share one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerIdentity(String);

impl ServerIdentity {
    /// The identity of an app's own server, synced to the Admin DB or not.
    pub fn app(plugin: &PluginId, app: &AppId) -> Self {
        Self(format!("app:{plugin}/{app}"))
    }

    /// The identity of a built-in or user-added server.
    pub fn admin(row_id: &str) -> Self {
        Self(format!("admin:{row_id}"))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for the server of an app of `plugin`.
    pub fn is_of_plugin(&self, plugin: &PluginId) -> bool {
        self.0
            .strip_prefix("app:")
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(id, _)| id == plugin.as_str())
    }
}

impl std::fmt::Display for ServerIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// `<pluginId>.<appId>` (seed 000 §2).
pub fn server_name(plugin: &PluginId, app: &AppId) -> String {
    format!("{plugin}.{app}")
}

/// The form of a server's name that prompt and tool names are made of.
pub fn normalize_server(name: &str) -> String {
    normalize(name).unwrap_or_else(|| "server".to_owned())
}

/// The form of a tool's own name.
pub fn normalize_tool(name: &str) -> String {
    normalize(name).unwrap_or_else(|| "tool".to_owned())
}

/// Trim; lower-case ASCII; each run outside `[a-z0-9_-]` becomes one `_`; strip `_` at the ends.
/// `None` when nothing remains.
fn normalize(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut in_run = false;
    for c in name.trim().chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-' {
            out.push(c);
            in_run = false;
        } else if !in_run {
            out.push('_');
            in_run = true;
        }
    }
    let kept = out.trim_matches('_');
    (!kept.is_empty()).then(|| kept.to_owned())
}

/// `base`, or `base_2`, `base_3`, … : the first that is free.
fn first_free(base: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = base.to_owned();
    let mut n = 1_u64;
    while taken(&name) {
        n += 1;
        name = format!("{base}_{n}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_normalize() {
        for (input, expected) in [
            ("com.example.tools.db-client", "com_example_tools_db-client"),
            ("Com.Example..Tools.DB Client", "com_example_tools_db_client"),
            ("  __a..b__ ", "a_b"),
            ("run/now!", "run_now"),
            ("com.example.数据.v1", "com_example_v1"),
            ("a__b", "a__b"),
            ("-a-", "-a-"),
            ("É", "server"),
            ("数据库", "server"),
            ("", "server"),
            ("___", "server"),
        ] {
            assert_eq!(normalize_server(input), expected, "{input:?}");
        }
        assert_eq!(normalize_tool("数据库"), "tool");
        assert_eq!(normalize_tool("db.query.run"), "db_query_run");
    }

    #[test]
    fn identities() {
        let plugin = PluginId::parse("com.example.tools").unwrap();
        let app = AppId::parse("db-client").unwrap();
        let identity = ServerIdentity::app(&plugin, &app);
        assert_eq!(identity.as_str(), "app:com.example.tools/db-client");
        assert!(identity.is_of_plugin(&plugin));
        assert!(!identity.is_of_plugin(&PluginId::parse("com.example").unwrap()));
        assert!(!ServerIdentity::admin("com.example.tools").is_of_plugin(&plugin));
    }
}
