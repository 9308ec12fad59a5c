//! What an app may do: its own things by default, narrowed by its manifest; what reaches beyond itself when
//! the manifest asks for it and a person agreed (host-api §5). The page checks each call of a frame; the
//! server checks again with this.

use chatos_manifest::{KNOWN_CAPABILITIES, PluginId};
use chatos_plugins::{Origin, Plugin};
use chatos_store::{CapabilityGrantRow, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::app::{CapabilityLevel, CapabilityState, CapabilityView, GrantChange, GrantView};
use chatos_wire::event::{AppWanted, HostEvent};
use serde_json::{Map, json};

use crate::apps::Apps;
use crate::fault::{bad_grant_value, no_app, no_plugin, not_declared, not_granted, unknown_capability};
use crate::frames::FramePolicy;

/// These need a person's word. A manifest without a list may be given them, too.
const ASK: [&str; 3] = ["prompts.readAll", "network", "unsafe-eval"];
/// These see or do things of the person: off unless the manifest names them and a person agreed. What comes
/// with the program or is being written here has the first word's weight already.
const BEYOND: [&str; 4] = ["admin.read", "chat.read", "chat.write", "agents.write"];
/// Whoever asks for one of these has chats of its own.
const OWN_CHATS: [&str; 4] = ["chat.own", "chat.read", "chat.write", "agents.write"];

fn level_of(name: &str) -> CapabilityLevel {
    if ASK.contains(&name) || BEYOND.contains(&name) { CapabilityLevel::Amber } else { CapabilityLevel::Grey }
}

/// Whether a manifest asks for a capability; one without a list asks for everything that needs no word.
fn requested(listed: Option<&[String]>, name: &str) -> bool {
    let Some(listed) = listed else { return true };
    listed.iter().any(|item| match name {
        "chat.own" => OWN_CHATS.contains(&item.as_str()),
        "network" => item == name || item.starts_with(NETWORK_HOST),
        _ => item == name,
    })
}

/// How a manifest names a host it wants to reach.
const NETWORK_HOST: &str = "network:";

/// What one app may do now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) names: Vec<&'static str>,
    pub(crate) policy: FramePolicy,
}

impl Allowed {
    pub(crate) fn of(plugin: &Plugin, app: &str, grants: &[CapabilityGrantRow]) -> Self {
        let listed = plugin.loaded.manifest.capabilities.as_deref();
        let mut hosts = Vec::new();
        let names: Vec<&'static str> = KNOWN_CAPABILITIES
            .iter()
            .copied()
            .filter(|name| {
                let requested = requested(listed, name);
                let about: Vec<&CapabilityGrantRow> = grants
                    .iter()
                    .filter(|row| row.capability == *name && (row.app_id.is_empty() || row.app_id == app))
                    .collect();
                // Taken back as a whole beats every grant; one host taken back is only that host.
                let withdrawn = about.iter().any(|row| !row.granted && row.value.is_empty());
                if !requested || withdrawn {
                    return false;
                }
                if *name == "network" {
                    let refused: Vec<&str> =
                        about.iter().filter(|row| !row.granted).map(|row| row.value.as_str()).collect();
                    hosts = about
                        .iter()
                        .filter(|row| row.granted && !row.value.is_empty())
                        .filter(|row| !refused.contains(&row.value.as_str()))
                        .map(|row| row.value.clone())
                        .collect();
                    return !hosts.is_empty();
                }
                let granted = about.iter().any(|row| row.granted);
                if BEYOND.contains(name) {
                    let given = plugin.loaded.origin != Origin::User && listed.is_some();
                    return granted || given;
                }
                granted || !ASK.contains(name)
            })
            .collect();
        let unsafe_eval = names.contains(&"unsafe-eval");
        Self { names, policy: FramePolicy { hosts, unsafe_eval } }
    }

    pub(crate) fn has(&self, capability: &str) -> bool {
        self.names.contains(&capability)
    }
}

impl Apps {
    /// What an app may do now.
    pub(crate) fn allowed(&self, plugin: &Plugin, app: &str) -> Result<Allowed, Fault> {
        let grants = self.store().capability_grants(Some(plugin.id().as_str()))?;
        Ok(Allowed::of(plugin, app, &grants))
    }

    /// Refuses what an app may not do: the server's own check beside the page's (security T5).
    pub fn require_capability(&self, plugin_id: &str, app_id: &str, capability: &str) -> Result<(), Fault> {
        if self.app_allowed(plugin_id, app_id)?.contains(&capability) {
            return Ok(());
        }
        Err(self.not_granted(plugin_id, capability))
    }

    /// The capabilities of an app that may be used.
    pub fn app_allowed(&self, plugin_id: &str, app_id: &str) -> Result<Vec<&'static str>, Fault> {
        let (plugin, _) = self.usable_app(plugin_id, app_id)?;
        Ok(self.allowed(&plugin, app_id)?.names)
    }

    /// The refusal; what would reach beyond the app is remembered for the plugin's page.
    pub fn not_granted(&self, plugin_id: &str, capability: &str) -> Fault {
        self.note_wish(plugin_id, capability);
        not_granted(capability, plugin_id)
    }

    /// An app tried what it may not; told once per start of the host.
    pub fn note_wish(&self, plugin_id: &str, capability: &str) {
        let Some(name) = KNOWN_CAPABILITIES.iter().copied().find(|known| *known == capability) else {
            return;
        };
        let first =
            level_of(name) == CapabilityLevel::Amber && self.wished().insert((plugin_id.to_owned(), name));
        if !first {
            return;
        }
        if let Err(error) = self.store().note_capability_wish(plugin_id, name) {
            tracing::warn!(%error, "what an app wanted cannot be noted");
        }
        let wanted = AppWanted { plugin_id: plugin_id.to_owned(), capability: name.to_owned() };
        self.events().publish(HostEvent::AppWanted(wanted));
    }

    /// The capabilities of a plugin as its page shows them.
    pub fn capabilities(&self, plugin_id: &str) -> Result<Vec<CapabilityView>, Fault> {
        let snapshot = self.plugins()?.snapshot();
        let id = PluginId::parse(plugin_id).map_err(|_| no_plugin(plugin_id))?;
        let plugin = snapshot.plugin_for_person(&id).ok_or_else(|| no_plugin(plugin_id))?;
        let allowed = self.allowed(plugin, "")?;
        let listed = plugin.loaded.manifest.capabilities.as_deref();
        let wishes = self.store().capability_wishes(id.as_str())?;
        let wanted_hosts = || -> Vec<String> {
            let all = listed.unwrap_or_default().iter().filter_map(|item| item.strip_prefix(NETWORK_HOST));
            all.map(str::to_owned).collect()
        };
        let views = KNOWN_CAPABILITIES.iter().map(|name| {
            let (level, has) = (level_of(name), allowed.has(name));
            CapabilityView {
                capability: (*name).to_owned(),
                level,
                requested: requested(listed, name),
                declared: listed.is_some() && requested(listed, name),
                wanted: !has && wishes.iter().any(|wish| wish == name),
                default: if level == CapabilityLevel::Amber { "ask" } else { "on" }.to_owned(),
                state: if has { CapabilityState::On } else { CapabilityState::Off },
                hosts: if *name == "network" { allowed.policy.hosts.clone() } else { Vec::new() },
                wanted_hosts: if *name == "network" { wanted_hosts() } else { Vec::new() },
            }
        });
        Ok(views.collect())
    }

    /// Decisions, all or those about one plugin.
    pub fn grants(&self, plugin_id: Option<&str>) -> Result<Vec<GrantView>, Fault> {
        let rows = self.store().capability_grants(plugin_id)?;
        Ok(rows
            .into_iter()
            .map(|row| GrantView {
                plugin_id: row.plugin_id,
                app_id: row.app_id,
                capability: row.capability,
                value: row.value,
                state: if row.granted { "granted" } else { "withdrawn" }.to_owned(),
                decided_at: iso_from_ms(row.decided_at),
                decided_by: row.decided_by,
            })
            .collect())
    }

    /// Records a person's decision; frames are told, because their policy may be another now.
    pub fn set_grant(&self, change: &GrantChange, by: &str) -> Result<Vec<GrantView>, Fault> {
        let snapshot = self.plugins()?.snapshot();
        let id = PluginId::parse(&change.plugin_id).map_err(|_| no_plugin(&change.plugin_id))?;
        let plugin = snapshot.plugin_for_person(&id).ok_or_else(|| no_plugin(&change.plugin_id))?;
        let known_app = plugin.loaded.apps.iter().any(|app| app.manifest.id.as_str() == change.app_id);
        if !change.app_id.is_empty() && !known_app {
            return Err(no_app(id.as_str(), &change.app_id));
        }
        if !KNOWN_CAPABILITIES.contains(&change.capability.as_str()) {
            return Err(unknown_capability(&change.capability));
        }
        let value = change.value.trim();
        let is_network = change.capability == "network";
        let valid = if is_network && change.state == "granted" {
            crate::frames::network_sources(value).is_some()
        } else {
            value.is_empty() || (is_network && crate::frames::network_sources(value).is_some())
        };
        if !valid {
            return Err(bad_grant_value(value));
        }
        let store = self.store();
        let done = match change.state.as_str() {
            "default" => store
                .remove_capability_grant(id.as_str(), &change.app_id, &change.capability, value)
                .map(|_| ()),
            "granted" | "withdrawn" => store.put_capability_grant(CapabilityGrantRow {
                plugin_id: id.to_string(),
                app_id: change.app_id.clone(),
                capability: change.capability.clone(),
                value: value.to_owned(),
                granted: change.state == "granted",
                decided_at: now_ms(),
                decided_by: by.to_owned(),
            }),
            _ => {
                return Err(Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::fixed(
                        "`state` is `granted`, `withdrawn` or `default`",
                        "`state` 只能是 `granted`、`withdrawn` 或 `default`",
                    ),
                ));
            }
        };
        done?;
        // A person who decided otherwise wants to hear of it again.
        self.wished().retain(|(plugin, name)| plugin != id.as_str() || *name != change.capability);
        let mut fields = Map::new();
        fields.insert("plugin".to_owned(), json!(id));
        fields.insert("app".to_owned(), json!(change.app_id));
        fields.insert("capability".to_owned(), json!(change.capability));
        fields.insert("value".to_owned(), json!(value));
        fields.insert("state".to_owned(), json!(change.state));
        fields.insert("by".to_owned(), json!(by));
        self.audit("capability_grant", fields);
        self.grants_changed(&id);
        self.grants(Some(id.as_str()))
    }

    /// Refuses a tick that the trust sheet does not have.
    pub fn check_ticks(&self, id: &PluginId, ticked: &[String]) -> Result<(), Fault> {
        let lines = self.ticks_of(id)?;
        match ticked.iter().find(|name| !lines.contains(name)) {
            Some(unknown) => Err(not_declared(unknown, id.as_str())),
            None => Ok(()),
        }
    }

    fn ticks_of(&self, id: &PluginId) -> Result<Vec<String>, Fault> {
        let snapshot = self.plugins()?.snapshot();
        let plugin = snapshot.plugin_for_person(id).ok_or_else(|| no_plugin(id.as_str()))?;
        Ok(ticks(plugin.loaded.manifest.capabilities.as_deref().unwrap_or_default()))
    }

    /// What a person ticked on the trust sheet: exactly these of what the manifest names and reaches beyond
    /// the app. A host of `network` is written as in the manifest.
    pub fn set_ticks(&self, id: &PluginId, ticked: &[String], by: &str) -> Result<(), Fault> {
        for line in self.ticks_of(id)? {
            let (capability, value) = match line.strip_prefix(NETWORK_HOST) {
                Some(host) => ("network", host),
                None => (line.as_str(), ""),
            };
            let change = GrantChange {
                plugin_id: id.to_string(),
                app_id: String::new(),
                capability: capability.to_owned(),
                value: value.to_owned(),
                state: if ticked.contains(&line) { "granted" } else { "default" }.to_owned(),
            };
            self.set_grant(&change, by)?;
        }
        Ok(())
    }
}

/// The lines of a manifest that have a tick of their own; `network` alone names no host to allow.
fn ticks(listed: &[String]) -> Vec<String> {
    let own = |item: &&String| {
        let name = item.as_str();
        name.strip_prefix(NETWORK_HOST).is_some_and(|host| crate::frames::network_sources(host).is_some())
            || (name != "network" && level_of(name) == CapabilityLevel::Amber)
    };
    listed.iter().filter(own).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_beyond_an_app_is_asked_for_by_name() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(requested(None, "chat.own"));
        assert!(requested(Some(&list(&["chat.read"])), "chat.own"));
        assert!(requested(Some(&list(&["network:api.example.com"])), "network"));
        assert!(!requested(Some(&list(&["backend"])), "chat.own"));
        assert!(!requested(Some(&[]), "backend"));
        let named = list(&["backend", "chat.read", "network", "network:api.example.com", "network:*", "x"]);
        assert_eq!(ticks(&named), ["chat.read", "network:api.example.com"]);
        for name in BEYOND.iter().chain(&ASK) {
            assert_eq!(level_of(name), CapabilityLevel::Amber, "{name}");
        }
        assert_eq!(level_of("chat.own"), CapabilityLevel::Grey);
    }
}
