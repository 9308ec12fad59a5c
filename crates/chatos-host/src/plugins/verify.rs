//! The look at a plugin's bytes right before something of it begins: a backend, an MCP server, a frame.

use chatos_contribution::ServerIdentity;
use chatos_manifest::PluginId;
use chatos_mcp::Failure;
use chatos_plugins::{Inventory, Origin, Plugin, Refresh, TrustState, Unverified};
use chatos_tool::Fault;

use crate::host::Host;
use crate::mcp::Known;

impl Host {
    /// Every file of a plugin that is in use, when it may run (plugins §7). One that may not is looked at
    /// again at once, so that everybody sees why. Blocks on disk.
    pub(crate) fn verify_plugin(&self, plugin: &Plugin) -> Result<Inventory, Unverified> {
        if !plugin.is_trusted() {
            return Err(Unverified::NotTrusted(TrustState::Untrusted));
        }
        let Ok(desk) = self.plugins() else { return Err(Unverified::NotTrusted(TrustState::Untrusted)) };
        let verified = desk.registry().verify(plugin);
        if let Err(reason) = &verified {
            // The watcher has not seen it yet.
            tracing::warn!(plugin = %plugin.id(), %reason, "nothing of a plugin is started");
            let dirs = [plugin.loaded.dir.clone()].into();
            self.plugins_changed(&desk.registry().refresh(&Refresh::Dirs(dirs)));
        }
        verified
    }

    /// Whether a server is one of a plugin under development.
    pub(crate) fn is_in_development(&self, identity: &str) -> Result<bool, Fault> {
        if self.dev_dirs().is_empty() {
            return Ok(false);
        }
        let snapshot = self.plugins()?.snapshot();
        let mut dev = snapshot.plugins.iter().filter(|plugin| plugin.loaded.origin == Origin::Dev);
        Ok(dev.any(|plugin| {
            let ids = plugin.loaded.apps.iter().map(|app| &app.manifest.id);
            ids.into_iter().any(|app| ServerIdentity::app(plugin.id(), app).as_str() == identity)
        }))
    }

    /// Whether a server may be started now. Blocks on disk.
    pub(crate) fn admit_server(&self, known: &Known) -> Result<(), Failure> {
        let Some(plugin_id) = &known.plugin_id else { return Ok(()) };
        let untrusted = || Failure::Untrusted { plugin: plugin_id.clone() };
        let id = PluginId::parse(plugin_id).map_err(|_| untrusted())?;
        let snapshot = self.plugins().map_err(|_| untrusted())?.snapshot();
        let plugin = snapshot.plugin(&id).ok_or_else(untrusted)?;
        self.verify_plugin(plugin).map_err(|_| untrusted())?;
        // What is started was written down for exactly these bytes; for others there is a new description
        // in a moment.
        let same =
            known.spec.as_ref().is_none_or(|spec| spec.digest == crate::mcp::digest_of(plugin, &known.url));
        if same { Ok(()) } else { Err(Failure::Stopped) }
    }
}
