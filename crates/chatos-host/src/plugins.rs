//! Plugins as the product uses them: trust in the database, installs as operations, contributions mirrored where
//! the person wants that.

mod doctor;
mod operations;
mod trust;

use std::sync::Arc;

use chatos_events::Notices;
use chatos_paths::StateDir;
use chatos_plugins::{PluginHome, PluginHomeParts, Plugins, Snapshot};
use chatos_store::Store;
use chatos_tool::{Fault, Lang};
use chatos_wire::event::{ChangedPlugins, HostEvent};

use crate::host::{Host, HostConfig};
use trust::{StoreNames, StoreTrust};

/// The plugins of a state, with their trust in its database.
pub(crate) fn home(
    config: &HostConfig,
    dir: &StateDir,
    store: &Store,
    notices: &Notices,
    lang: Lang,
) -> PluginHome {
    let trust = StoreTrust::new(store.clone());
    let forgetting = StoreTrust::new(store.clone());
    PluginHome::new(PluginHomeParts {
        dir: dir.clone(),
        embedded: config.plugins,
        dev: config.dev.clone(),
        trust: Arc::new(trust),
        names: Arc::new(StoreNames::new(store.clone())),
        forget: Box::new(move |id| forgetting.forget(id)),
        notices: notices.clone(),
        lang,
    })
}

impl Host {
    /// The plugins of this state, scanned on first use.
    pub fn plugins(&self) -> Result<&Plugins, Fault> {
        self.plugin_home().plugins()
    }

    /// Everything that depends on plugins follows them.
    pub(crate) fn wire_plugins(self: &Arc<Self>) {
        let host = Arc::downgrade(self);
        self.plugin_home().follow(move |snapshot| {
            if let Some(host) = host.upgrade() {
                host.follow_plugins(snapshot);
            }
        });
    }

    fn follow_plugins(&self, snapshot: &Snapshot) {
        self.server_home().parts().sync_contributions(snapshot);
        self.apps().frames_follow(snapshot);
        self.apps().backends_follow(snapshot);
        // Before the event: whoever hears it reads the servers as they are now.
        if let Some(servers) = self.server_home().opened() {
            servers.changed();
        }
        self.events().publish(HostEvent::PluginsChanged(ChangedPlugins { revision: snapshot.revision }));
    }

    /// Tells everybody about a new snapshot, once.
    pub(crate) fn plugins_changed(&self, snapshot: &Snapshot) {
        self.plugin_home().changed(snapshot);
    }

    /// Watches plugin directories until the host stops, telling everybody what changed.
    pub(crate) fn tend_plugins(self: &Arc<Self>) -> Result<(), Fault> {
        if !self.watches_plugins() {
            self.plugins_changed(&self.plugins()?.snapshot());
            return Ok(());
        }
        let touched = Arc::downgrade(self);
        self.plugin_home().watch(move |what| {
            if let Some(host) = touched.upgrade() {
                host.apps().plugin_files_touched(what);
            }
        })
    }
}
