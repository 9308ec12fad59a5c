//! What an app may do: defaults, narrowed by its manifest, widened or taken back by a person
//! (host-api §5). The page checks each call of a frame; the server checks again with this.

use chatos_manifest::{KNOWN_CAPABILITIES, PluginId};
use chatos_plugins::Plugin;
use chatos_store::{CapabilityGrantRow, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::fault::{bad_grant_value, no_app, no_plugin, not_granted, unknown_capability};
use super::frames::FramePolicy;
use crate::fault::store_fault;
use crate::host::Host;

/// These also need a person's word.
const ASK: [&str; 3] = ["prompts.readAll", "network", "unsafe-eval"];

/// How a capability stands for an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CapabilityState {
    /// The app may use it.
    On,
    /// It may not.
    Off,
}

/// One capability of a plugin, for its page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CapabilityView {
    /// Its name.
    pub capability: String,
    /// The manifest names it, or has no list at all.
    pub requested: bool,
    /// `on` without a decision, or `ask`.
    pub default: String,
    /// As it stands for all apps of the plugin.
    pub state: CapabilityState,
    /// Hosts a person allowed; `network` only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// One recorded decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantView {
    /// The plugin.
    pub plugin_id: String,
    /// One app, or empty for all.
    pub app_id: String,
    /// The capability.
    pub capability: String,
    /// A host for `network`.
    pub value: String,
    /// `granted` or `withdrawn`.
    pub state: String,
    /// When.
    pub decided_at: String,
    /// Where: `ui`, `cli`.
    pub decided_by: String,
}

/// A decision to record.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantChange {
    /// The plugin.
    pub plugin_id: String,
    /// One app; all when absent.
    #[serde(default)]
    pub app_id: String,
    /// The capability.
    pub capability: String,
    /// A host for `network`.
    #[serde(default)]
    pub value: String,
    /// `granted`, `withdrawn`, or `default` to forget the decision.
    pub state: String,
}

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
                let requested = listed.is_none_or(|listed| listed.iter().any(|item| item == name));
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
                !ASK.contains(name) || about.iter().any(|row| row.granted)
            })
            .collect();
        let unsafe_eval = names.contains(&"unsafe-eval");
        Self { names, policy: FramePolicy { hosts, unsafe_eval } }
    }

    pub(crate) fn has(&self, capability: &str) -> bool {
        self.names.contains(&capability)
    }
}

impl Host {
    /// What an app may do now.
    pub(crate) fn allowed(&self, plugin: &Plugin, app: &str) -> Result<Allowed, Fault> {
        let grants = self
            .store()
            .capability_grants(Some(plugin.id().as_str()))
            .map_err(|error| store_fault(&error))?;
        Ok(Allowed::of(plugin, app, &grants))
    }

    /// Refuses what an app may not do: the server's own check beside the page's (security T5).
    pub fn require_capability(&self, plugin_id: &str, app_id: &str, capability: &str) -> Result<(), Fault> {
        let (plugin, _) = self.usable_app(plugin_id, app_id)?;
        if self.allowed(&plugin, app_id)?.has(capability) {
            return Ok(());
        }
        Err(not_granted(capability, plugin_id))
    }

    /// The capabilities of a plugin as its page shows them.
    pub fn capabilities(&self, plugin_id: &str) -> Result<Vec<CapabilityView>, Fault> {
        let snapshot = self.plugins()?.snapshot();
        let id = PluginId::parse(plugin_id).map_err(|_| no_plugin(plugin_id))?;
        let plugin = snapshot.plugin_for_person(&id).ok_or_else(|| no_plugin(plugin_id))?;
        let allowed = self.allowed(plugin, "")?;
        let listed = plugin.loaded.manifest.capabilities.as_deref();
        let views = KNOWN_CAPABILITIES.iter().map(|name| CapabilityView {
            capability: (*name).to_owned(),
            requested: listed.is_none_or(|listed| listed.iter().any(|item| item == name)),
            default: if ASK.contains(name) { "ask" } else { "on" }.to_owned(),
            state: if allowed.has(name) { CapabilityState::On } else { CapabilityState::Off },
            hosts: if *name == "network" { allowed.policy.hosts.clone() } else { Vec::new() },
        });
        Ok(views.collect())
    }

    /// Decisions, all or those about one plugin.
    pub fn grants(&self, plugin_id: Option<&str>) -> Result<Vec<GrantView>, Fault> {
        let rows = self.store().capability_grants(plugin_id).map_err(|error| store_fault(&error))?;
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
            super::frames::network_sources(value).is_some()
        } else {
            value.is_empty() || (is_network && super::frames::network_sources(value).is_some())
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
        done.map_err(|error| store_fault(&error))?;
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
}
