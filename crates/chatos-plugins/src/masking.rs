//! Credentials of a manifest in texts that are kept or shown: a difference of `plugin.json` must not
//! carry a token into the database or onto the page (security P7).

use chatos_manifest::MASK;

use crate::load::LoadedPlugin;

/// Shorter values occur in ordinary text; masking them would only garble it.
const SHORTEST: usize = 4;

/// The credentials of one plugin, longest first, in the spellings a manifest may have.
pub(crate) struct Masking(Vec<String>);

impl Masking {
    pub(crate) fn of(plugin: &LoadedPlugin) -> Self {
        let mut found = Vec::new();
        let servers = plugin.apps.iter().filter_map(|app| app.ai.as_ref()?.mcp.as_ref());
        for auth in servers.filter_map(|server| server.decl.auth.as_ref()) {
            let password = auth.basic.as_ref().and_then(|basic| basic.password.as_ref());
            let headers = auth.headers.iter().map(|(_, value)| value);
            for secret in auth.token.iter().chain(password).chain(headers) {
                let plain = secret.expose();
                if plain.len() >= SHORTEST {
                    let quoted = serde_json::Value::from(plain).to_string();
                    found.push(quoted[1..quoted.len() - 1].to_owned());
                    found.push(plain.to_owned());
                }
            }
        }
        // A value that is part of another one goes last, or the longer one would not be found.
        found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        found.dedup();
        Self(found)
    }

    /// The text with every credential replaced.
    pub(crate) fn apply(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), MASK) } else { text }
        })
    }
}
