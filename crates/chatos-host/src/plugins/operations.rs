//! What changes plugins: installing as an operation, removing, trusting. Each is audited and told.

use std::path::PathBuf;
use std::sync::Arc;

use chatos_contribution::ServerIdentity;
use chatos_events::Operation;
use chatos_manifest::PluginId;
use chatos_plugins::{
    DataChoice, Digest, InstallOrder, InstallProgress, InstallRequest, NoProgress, inside_network,
    install_report, module_warnings, no_plugin, package_fault,
};
use chatos_store::now_ms;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::plugin::{PluginEntry, TrustSheet};
use serde_json::{Map, Value, json};

use crate::host::Host;

impl Host {
    /// Begins an install; the operation tells how it goes and what came of it (plugins §8).
    pub fn install_plugin(self: &Arc<Self>, order: InstallOrder) -> Result<Operation, Fault> {
        self.plugins()?;
        let operation = self.operations().begin("install");
        let (host, own) = (Arc::clone(self), operation.clone());
        self.life().spawn_blocking(Box::new(move || {
            let outcome = host.install_now(&order, &own);
            if order.uploaded
                && let Err(error) = std::fs::remove_file(&order.source)
            {
                tracing::warn!(%error, "an uploaded package is left; it is removed at the next start");
            }
            own.finish(outcome);
        }));
        Ok(operation)
    }

    /// An empty file for an upload, in staging, where a start removes what was cut off.
    pub fn new_upload(&self) -> Result<PathBuf, Fault> {
        use std::os::unix::fs::OpenOptionsExt;
        self.plugins()?;
        let name = format!("{}.zip", chatos_plugins::new_log_id("upl"));
        let path = self.dir().plugin_staging().join(name);
        let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        made.map(|_| path).map_err(|error| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::fixed("the upload cannot be stored", "无法保存上传的文件"),
            )
            .caused_by(&error)
        })
    }

    fn install_now(&self, order: &InstallOrder, operation: &Operation) -> Result<Value, Fault> {
        let desk = self.plugins()?;
        let request = InstallRequest {
            allow_problems: order.allow_problems,
            dry_run: order.dry_run,
            ..InstallRequest::new(&order.source)
        };
        let progress = InstallProgress { operation, life: self.life(), lang: order.lang };
        let result = desk.installer().install(&request, desk.registry(), &progress);
        let mut report = result.map_err(|error| package_fault(&error, order.lang, Some(&request.log_id)))?;
        if !order.dry_run {
            for plugin in &report.plugins {
                // A new install brings back what was deleted of the old one (ai-contributions §8).
                if let Err(error) = self.store().forget_app_tombstones(plugin.id.as_str()) {
                    tracing::error!(%error, "deleted rows of a plugin cannot be forgotten");
                }
                let mut fields = Map::new();
                fields.insert("plugin".to_owned(), json!(plugin.id));
                fields.insert("version".to_owned(), json!(plugin.version));
                fields.insert("digest".to_owned(), json!(plugin.digest));
                fields.insert("replaced".to_owned(), json!(plugin.replaced));
                fields.insert("kept".to_owned(), json!(plugin.kept));
                self.audit("plugin_install", fields);
            }
            let snapshot = desk.snapshot();
            self.plugins_changed(&snapshot);
            let runtime = tokio::runtime::Handle::current();
            let node = runtime.block_on(self.find_node());
            for plugin in report.plugins.iter().filter_map(|one| snapshot.plugin_for_person(&one.id)) {
                report.problems.extend(runtime.block_on(module_warnings(node.as_ref(), &plugin.loaded)));
            }
        }
        Ok(install_report(&report, order.lang))
    }

    /// Removes a plugin (plugins §9).
    pub fn uninstall_plugin(&self, id: &str, data: DataChoice, lang: Lang) -> Result<Value, Fault> {
        let desk = self.plugins()?;
        let parsed = PluginId::parse(id).map_err(|_| no_plugin(id))?;
        // plugins §9: its processes first, while its files are still there for `dispose`.
        self.apps().end_backend(&parsed);
        let rows = self.server_home().parts().remove_synced_rows(&parsed)?;
        // Before its folder is gone: the registry may forget what belongs to it as soon as it sees that.
        let sign_ins = self.server_home().parts().sign_ins_of(parsed.as_str());
        let done = desk
            .installer()
            .uninstall(&parsed, data, desk.registry(), &NoProgress)
            .map_err(|error| package_fault(&error, lang, None));
        let done = match done {
            Ok(done) => done,
            Err(fault) => {
                // The plugin is still there; so are its rows after the next sync.
                let _in_order = desk.following();
                self.server_home().parts().sync_contributions(&desk.snapshot());
                return Err(fault);
            }
        };
        self.store().forget_plugin(parsed.as_str())?;
        self.server_home().parts().end_sign_ins(sign_ins);
        let mut fields = Map::new();
        fields.insert("plugin".to_owned(), json!(parsed));
        fields.insert("dataDeleted".to_owned(), json!(done.data_deleted));
        fields.insert("kept".to_owned(), json!(done.kept));
        self.audit("plugin_remove", fields);
        self.plugins_changed(&desk.snapshot());
        let kept = if data == DataChoice::Delete { "deleted" } else { "kept" };
        Ok(json!({
            "ok": true, "pluginId": parsed, "removed": true, "data": kept, "rowsRemoved": rows, "kept": done.kept,
        }))
    }

    /// A person trusts exactly these bytes. Addresses inside this computer or network need their own
    /// yes (security T20); which ones there are is read from the files that are being trusted.
    pub fn trust_plugin(
        &self,
        id: &str,
        digest: &str,
        allow_inside_network: bool,
        allow: Option<&[String]>,
        by: &str,
    ) -> Result<PluginEntry, Fault> {
        let desk = self.plugins()?;
        let parsed = PluginId::parse(id).map_err(|_| no_plugin(id))?;
        let digest = Digest::parse(digest).ok_or_else(|| {
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed(
                    "the digest is not `sha256:` and 64 hex digits",
                    "摘要不是 `sha256:` 加 64 位十六进制",
                ),
            )
            .code("digest_invalid")
        })?;
        // What its servers are is read again: the digest is compared with the files as they are now.
        desk.registry().refresh(&chatos_plugins::Refresh::Check);
        let inside = desk.inside_addresses(&parsed);
        if !inside.is_empty() && !allow_inside_network {
            return Err(inside_network(id, &inside));
        }
        if let Some(allow) = allow {
            self.apps().check_ticks(&parsed, allow)?;
        }
        let record = desk.registry().trust(&parsed, &digest, by, now_ms())?;
        if let Some(allow) = allow {
            self.apps().set_ticks(&parsed, allow, by)?;
        }
        let mut fields = Map::new();
        fields.insert("plugin".to_owned(), json!(parsed));
        fields.insert("digest".to_owned(), json!(record.digest));
        fields.insert("by".to_owned(), json!(by));
        self.audit("plugin_trust", fields);
        // The bytes that were just looked at say what its servers offer (security T18).
        let snapshot = desk.snapshot();
        for app in snapshot.plugin_for_person(&parsed).into_iter().flat_map(|plugin| &plugin.loaded.apps) {
            let identity = ServerIdentity::app(&parsed, &app.manifest.id);
            self.store().forget_pins(identity.as_str())?;
        }
        self.plugins_changed(&desk.snapshot());
        desk.entry(id)
    }

    /// What the trust page shows.
    pub fn trust_sheet(&self, id: &str, lang: Lang) -> Result<TrustSheet, Fault> {
        let (details, diffs) = self.plugins()?.trust_sheet(id, lang)?;
        Ok(TrustSheet { details, diffs, rights: self.apps().capabilities(id)? })
    }

    /// A person takes trust back; nothing of the plugin runs any more.
    pub fn untrust_plugin(&self, id: &str, by: &str) -> Result<PluginEntry, Fault> {
        let desk = self.plugins()?;
        let parsed = PluginId::parse(id).map_err(|_| no_plugin(id))?;
        if desk.registry().untrust(&parsed)? {
            let mut fields = Map::new();
            fields.insert("plugin".to_owned(), json!(parsed));
            fields.insert("by".to_owned(), json!(by));
            self.audit("plugin_untrust", fields);
        }
        self.plugins_changed(&desk.snapshot());
        desk.entry(id)
    }

    /// Looks at the disk again and tells what changed.
    pub fn refresh_plugins(&self, deep: bool) -> Result<(), Fault> {
        let desk = self.plugins()?;
        let snapshot = desk.refresh(deep);
        self.plugins_changed(&snapshot);
        Ok(())
    }
}
