//! What a person decided about new and changed tools.

use std::sync::atomic::Ordering;

use chatos_store::{PinRow, PinState, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::event::{ChangedTools, HostEvent};
use chatos_wire::server::PinView;
use serde_json::{Map, Value, json};

use crate::pins::{SEEN, failed};
use crate::servers::Servers;

impl Servers {
    /// What waits for a person, or everything that was decided.
    pub async fn pins(&self, state: Option<&str>, server: Option<&str>) -> Result<Vec<PinView>, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let identity = match server {
            None => None,
            Some(text) => {
                let known = catalogue.wanted(text)?;
                Some(known.identity().as_str().to_owned())
            }
        };
        let parts = self.parts();
        let rows = chatos_blocking::run(move || parts.store.tool_pins(identity.as_deref())).await;
        let rows = rows.map_err(|error| failed(&error))??;
        let wanted = |row: &PinRow| match state {
            None => row.state != PinState::Approved,
            Some("all") => true,
            Some(word) => row.state.as_str() == word,
        };
        let rows = rows.into_iter().filter(|row| row.tool != SEEN && wanted(row));
        Ok(rows
            .map(|row| {
                let known = catalogue.servers.iter().find(|known| known.identity().as_str() == row.identity);
                let spec: Value = serde_json::from_str(&row.spec).unwrap_or_default();
                PinView {
                    server_id: known.map(|known| known.id.clone()),
                    server: known.map_or_else(|| row.identity.clone(), |known| known.name().to_owned()),
                    identity: row.identity,
                    tool: row.tool,
                    state: row.state.as_str().to_owned(),
                    digest: row.digest,
                    now: spec["now"].clone(),
                    approved: spec.get("approved").cloned(),
                    decided_at: row.decided_at.map(iso_from_ms),
                    decided_by: row.decided_by,
                }
            })
            .collect())
    }

    /// A person approves tools as they were shown: names, each with the digest that was on screen; a
    /// name without a digest means the newest.
    pub async fn approve_pins(
        &self,
        server: &str,
        tools: Vec<(String, Option<String>)>,
        by: &str,
    ) -> Result<Vec<String>, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let known = catalogue.wanted(server)?;
        let (identity, by) = (known.identity().as_str().to_owned(), by.to_owned());
        let (parts, own) = (self.parts(), identity.clone());
        let names: Vec<String> = tools.iter().map(|(name, _)| name.clone()).collect();
        let done = chatos_blocking::run(move || {
            let rows = parts.store.tool_pins(Some(&own))?;
            let wanted = tools.into_iter().filter_map(|(name, digest)| {
                let digest =
                    digest.or_else(|| Some(rows.iter().find(|row| row.tool == name)?.digest.clone()))?;
                Some((name, digest))
            });
            parts.store.approve_pins(&own, wanted.collect(), &by)
        });
        let done = done.await.map_err(|error| failed(&error))??;
        self.inner().approvals.fetch_add(1, Ordering::SeqCst);
        let parts = self.parts();
        let mut fields = Map::new();
        fields.insert("identity".to_owned(), json!(identity));
        fields.insert("tools".to_owned(), json!(done));
        parts.audit.note("pins_approved", fields);
        parts
            .events
            .publish(HostEvent::ToolsChanged(ChangedTools { id: known.id.clone(), tools: done.clone() }));
        if let Some(missing) = names.iter().find(|name| !done.contains(name)) {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("`{missing}` is not what was shown any more"),
                    format!("`{missing}` 已与所显示的不同"),
                ),
            )
            .code("shown_mismatch")
            .details(json!({ "approved": done }))
            .hint(Text::fixed("look at the difference again", "请重新查看差异")));
        }
        Ok(done)
    }
}
