//! Opening an app: the address of its frame, the nonce of its handshake, what it may call.

use std::sync::Arc;

use chatos_manifest::{AppId, PluginId};
use chatos_plugins::{LoadedApp, Origin, Plugin, Touched, Unverified};
use chatos_tool::Fault;
use chatos_wire::app::Surface;
use chatos_wire::event::{AppChangeReason, AppChanged, HostEvent};
use serde_json::{Value, json};

use crate::apps::Apps;
use crate::fault::{no_app, no_compact, no_plugin, not_trusted, unreadable};
use crate::frames::{Revision, frame_hash};

/// Which app to open, and for which page.
#[derive(Debug, Clone)]
pub struct OpenOrder {
    /// Id of the plugin with the app.
    pub plugin_id: String,
    /// Id of the app inside its plugin.
    pub app_id: String,
    /// Where it is shown.
    pub surface: Surface,
    /// Origin of the page that will show the frame.
    pub ui_origin: String,
}

/// An app that may be shown.
#[derive(Debug)]
pub struct Opened {
    /// Hash of the plugin, part of its origin.
    pub hash: String,
    /// Which bytes are served.
    pub revision: Arc<Revision>,
    /// Proves in the handshake that the page opened this very frame.
    pub nonce: String,
    /// The module, relative to the plugin.
    pub entry: String,
    /// What it may call.
    pub capabilities: Vec<String>,
    /// What the page tells the frame at its start.
    pub snapshot: Value,
}

impl Apps {
    /// An app whose plugin is in use and trusted.
    pub(crate) fn usable_app(&self, plugin: &str, app: &str) -> Result<(Arc<Plugin>, AppId), Fault> {
        let snapshot = self.plugins()?.snapshot();
        let id = PluginId::parse(plugin).map_err(|_| no_plugin(plugin))?;
        let found = snapshot.plugin(&id).ok_or_else(|| no_plugin(plugin))?;
        if !found.is_trusted() {
            return Err(not_trusted(plugin));
        }
        let app_id = AppId::parse(app).map_err(|_| no_app(plugin, app))?;
        found.app(&app_id).ok_or_else(|| no_app(plugin, app))?;
        Ok((Arc::clone(found), app_id))
    }

    /// Opens an app. The files are read now: a revision is only minted for bytes that are trusted
    /// (plugins §7). Blocks on disk.
    pub fn open_app(&self, order: &OpenOrder) -> Result<Opened, Fault> {
        let (plugin, app_id) = self.usable_app(&order.plugin_id, &order.app_id)?;
        let found = self.plugin_home().verify(&plugin).map_err(|reason| match reason {
            Unverified::Unreadable(error) => unreadable(&order.plugin_id, &error),
            Unverified::NotTrusted(_) => not_trusted(&order.plugin_id),
        })?;
        let (app, _) = plugin.app(&app_id).ok_or_else(|| no_app(&order.plugin_id, &order.app_id))?;
        let entry =
            entry_of(app, order.surface).ok_or_else(|| no_compact(&order.plugin_id, &order.app_id))?;
        let allowed = self.allowed(&plugin, &order.app_id)?;
        let mut revisions = self.revisions();
        let revision = revisions.take(&plugin, &found, &order.ui_origin, &allowed.policy)?;
        let nonce = revisions.new_nonce()?;
        drop(revisions);
        let snapshot = json!({
            "hostVersion": self.0.parts.version, "apiVersion": 1, "pluginId": order.plugin_id, "appId": order.app_id,
            "pluginName": plugin.loaded.manifest.name, "appName": app.manifest.name,
            "surface": order.surface.as_str(), "source": plugin.loaded.origin.as_str(), "trust": "trusted",
        });
        Ok(Opened {
            hash: frame_hash(plugin.id().as_str()),
            revision,
            nonce,
            entry,
            capabilities: allowed.names.iter().map(|name| (*name).to_owned()).collect(),
            snapshot,
        })
    }

    /// Frames of plugins whose files, trust or presence changed are told to go.
    pub fn frames_follow(&self, snapshot: &chatos_plugins::Snapshot) {
        let shown = self.revisions().plugins();
        for id in shown {
            let reason = match snapshot.plugin(&id) {
                None => AppChangeReason::Removed,
                Some(plugin) if !plugin.is_trusted() => AppChangeReason::Trust,
                Some(plugin) if plugin.loaded.origin != Origin::Builtin => {
                    let same = self.revisions().is_current(&id, plugin.trust.digest.as_ref());
                    if same {
                        continue;
                    }
                    AppChangeReason::Files
                }
                // Built-in ones have no digest in the snapshot; their files are followed one by one.
                Some(_) => continue,
            };
            self.app_changed(&id, reason);
        }
    }

    /// Files of plugins changed, those included that no snapshot shows.
    pub fn plugin_files_touched(&self, what: &Touched) {
        let Ok(desk) = self.plugins() else { return };
        let snapshot = desk.snapshot();
        let dirs: Vec<&std::path::Path> = match what {
            Touched::Dirs(dirs) => dirs.iter().map(std::path::PathBuf::as_path).collect(),
            Touched::Any => snapshot.plugins.iter().map(|plugin| plugin.loaded.dir.as_path()).collect(),
        };
        for dir in dirs {
            self.frames_touched(dir);
            self.backend_touched(dir);
        }
    }

    /// Files below this directory changed, whatever the snapshot says.
    pub(crate) fn frames_touched(&self, dir: &std::path::Path) {
        let Ok(desk) = self.plugins() else { return };
        let snapshot = desk.snapshot();
        let Some(plugin) = snapshot.plugins.iter().find(|plugin| plugin.active && plugin.loaded.dir == dir)
        else {
            return;
        };
        if plugin.loaded.origin != Origin::Builtin || !self.revisions().plugins().contains(plugin.id()) {
            return;
        }
        match desk.registry().inventory(plugin) {
            Ok(found) if self.revisions().is_current(plugin.id(), Some(&found.digest)) => {}
            Ok(_) => self.app_changed(plugin.id(), AppChangeReason::Files),
            Err(error) => tracing::warn!(%error, plugin = %plugin.id(), "changed files cannot be read"),
        }
    }

    /// A person decided about capabilities.
    pub(crate) fn grants_changed(&self, id: &PluginId) {
        self.app_changed(id, AppChangeReason::Grants);
    }

    fn app_changed(&self, id: &PluginId, reason: AppChangeReason) {
        let rev = self.revisions().forget(id);
        if rev.is_some() || reason == AppChangeReason::Grants {
            self.events().publish(HostEvent::AppChanged(AppChanged {
                plugin_id: id.to_string(),
                rev,
                reason,
            }));
        }
    }
}

fn entry_of(app: &LoadedApp, surface: Surface) -> Option<String> {
    let entry = &app.manifest.entry;
    match surface {
        Surface::Full => Some(entry.module.path.as_str().to_owned()),
        Surface::Compact => entry.compact.as_ref().map(|module| module.path.as_str().to_owned()),
    }
}
