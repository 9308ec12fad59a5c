//! The look at a plugin's bytes right before an MCP server of it begins.

use chatos_contribution::ServerIdentity;
use chatos_manifest::PluginId;
use chatos_mcp::Failure;
use chatos_plugins::Origin;
use chatos_tool::Fault;

use crate::catalogue::{ServerRecord, digest_of};
use crate::parts::ServersParts;

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
