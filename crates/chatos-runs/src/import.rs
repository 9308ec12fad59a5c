//! Subagents from a folder of another tool, brought into the catalogue of this host and taken out of it.
//!
//! A folder is read and shown first; it is written only when the person agrees to exactly what was shown.

use std::path::PathBuf;

use chatos_agents::{read_sub_folder, write_sub_plugin};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::{ChangedId, HostEvent};
use chatos_wire::subagent::SubImport;
use serde_json::json;

use super::desk::Runs;

impl Runs {
    /// Reads a folder; with `apply` and the digest that was shown it becomes part of the catalogue.
    pub async fn import_subagents(
        &self,
        path: &str,
        apply: bool,
        digest: Option<String>,
    ) -> Result<SubImport, Fault> {
        let parts = self.open()?;
        let path = PathBuf::from(path);
        chatos_blocking::run(move || {
            let mut found = read_sub_folder(&path)?;
            if !apply {
                return Ok(found);
            }
            if digest.is_some_and(|shown| shown != found.digest) {
                return Err(Fault::new(
                    ErrorCode::Conflict,
                    Text::fixed("the folder changed since it was shown", "该文件夹在显示之后已更改"),
                )
                .hint(Text::fixed("look at it again, then import", "请重新查看后再导入")));
            }
            let place = parts.dir.path().join("subagents").join("plugins").join(&found.plugin.id);
            write_sub_plugin(&place, &found.plugin).map_err(|error| {
                Fault::new(
                    ErrorCode::Unavailable,
                    Text::fixed("the subagents could not be written", "无法写入子智能体"),
                )
                .caused_by(&error)
            })?;
            let plugin = &found.plugin;
            parts.store.put_subagent_plugin(&plugin.id, &plugin.name, "user", true)?;
            let mut fields = serde_json::Map::new();
            fields.insert("plugin".to_owned(), json!(plugin.id));
            fields.insert("digest".to_owned(), json!(found.digest));
            parts.audit.note("subagents_imported", fields);
            parts.events.publish(HostEvent::SubagentsChanged(ChangedId { id: plugin.id.clone() }));
            found.imported = true;
            Ok(found)
        })
        .await
        .map_err(|error| super::desk::broken(&error))?
    }

    /// Removes a plugin of the person; a built-in one is switched off instead.
    pub async fn remove_subagents(&self, id: &str) -> Result<(), Fault> {
        let (runs, parts) = (self.clone(), self.open()?);
        let id = id.to_owned();
        chatos_blocking::run(move || {
            let (all, _) = runs.subagents()?;
            let plugin = all.into_iter().find(|plugin| plugin.id == id);
            let plugin = plugin.ok_or_else(|| super::subagents::no_plugin(&id))?;
            if plugin.source == "builtin" {
                return parts
                    .store
                    .put_subagent_plugin(&plugin.id, &plugin.name, "builtin", false)
                    .map_err(Fault::from);
            }
            let place = parts.dir.path().join("subagents").join("plugins").join(&plugin.id);
            std::fs::remove_dir_all(&place).map_err(|error| {
                Fault::new(
                    ErrorCode::Unavailable,
                    Text::fixed("the subagents could not be removed", "无法移除子智能体"),
                )
                .caused_by(&error)
            })?;
            parts.events.publish(HostEvent::SubagentsChanged(ChangedId { id: plugin.id.clone() }));
            Ok(())
        })
        .await
        .map_err(|error| super::desk::broken(&error))?
    }
}
