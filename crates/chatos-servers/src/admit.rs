//! The look at a plugin's bytes right before an MCP server of it begins.

use std::sync::Arc;

use chatos_contribution::ServerIdentity;
use chatos_manifest::PluginId;
use chatos_mcp::Failure;
use chatos_plugins::Origin;
use chatos_tool::Fault;

use crate::catalogue::{ServerRecord, digest_of, untrusted};
use crate::parts::ServersParts;
use crate::servers::Servers;

impl ServersParts {
    /// Whether a server is one of a plugin under development.
    pub(crate) fn is_in_development(&self, identity: &str) -> Result<bool, Fault> {
        let snapshot = self.plugins.plugins()?.snapshot();
        let mut dev = snapshot.plugins.iter().filter(|plugin| plugin.loaded.origin == Origin::Dev);
        Ok(dev.any(|plugin| {
            let ids = plugin.loaded.apps.iter().map(|app| &app.manifest.id);
            ids.into_iter().any(|app| ServerIdentity::app(plugin.id(), app).as_str() == identity)
        }))
    }

    /// Whether a server may be started now. Blocks on disk.
    pub(crate) fn admit_server(&self, known: &ServerRecord) -> Result<(), Failure> {
        let Some(plugin_id) = &known.plugin_id else { return Ok(()) };
        let untrusted = || Failure::Untrusted { plugin: plugin_id.clone() };
        let id = PluginId::parse(plugin_id).map_err(|_| untrusted())?;
        let snapshot = self.plugins.plugins().map_err(|_| untrusted())?.snapshot();
        let plugin = snapshot.plugin(&id).ok_or_else(untrusted)?;
        self.plugins.verify(plugin).map_err(|_| untrusted())?;
        // What is started was written down for exactly these bytes; for others there is a new description
        // in a moment.
        let same = known.spec.as_ref().is_none_or(|spec| spec.digest == digest_of(plugin, &known.url));
        if same { Ok(()) } else { Err(Failure::Stopped) }
    }
}

impl Servers {
    /// Whether the files of a server's plugin are still those that were trusted. Also for one that runs: what a person
    /// approved is held against the disk of now, not against what the watcher saw last.
    pub async fn is_as_trusted(&self, known: &Arc<ServerRecord>) -> Result<(), Fault> {
        let Some(plugin) = known.plugin_id.as_deref().and_then(|id| PluginId::parse(id).ok()) else {
            return Ok(());
        };
        let (parts, known) = (self.inner().parts(), Arc::clone(known));
        let looked = chatos_blocking::run(move || parts.admit_server(&known)).await;
        looked.unwrap_or(Err(Failure::Stopped)).map_err(|_| untrusted(&plugin))
    }
}
