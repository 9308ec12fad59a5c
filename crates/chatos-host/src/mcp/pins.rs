//! Tools beside what a person approved (security T18): the first list of a server is approved with it,
//! every later difference waits for a person.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;

use chatos_events::Notice;
use chatos_mcp::{Tool, ToolDigest, ToolList};
use chatos_store::{PinRow, PinState, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::Severity;
use chatos_wire::event::{ChangedTools, HostEvent};
use chatos_wire::server::PinView;
use serde_json::{Map, Value, json};

use super::ServerDesk;
use crate::host::Host;

/// A row that says the server was seen, so that an empty first list does not make the next one the first.
const SEEN: &str = "";

/// Compares a list with what was approved; gives the tools that are off. Blocks.
pub(super) fn check(
    host: &Host,
    identity: &str,
    server: &str,
    list: &ToolList,
) -> Result<HashMap<String, PinState>, Fault> {
    // Whoever writes the plugin changes its tools all the time, and is the person who would be asked.
    if host.is_in_development(identity)? {
        return Ok(HashMap::new());
    }
    let rows = host.store().tool_pins(Some(identity))?;
    if rows.is_empty() {
        let mut first: Vec<(String, String, String)> = list
            .tools
            .iter()
            .map(|tool| {
                (tool.name.clone(), tool.digest.to_string(), json!({ "now": spec(tool) }).to_string())
            })
            .collect();
        first.push((SEEN.to_owned(), SEEN.to_owned(), "{}".to_owned()));
        let made = host.store().first_pins(identity, first, "first connection");
        if made? {
            return Ok(HashMap::new());
        }
        // Somebody else was first; their list is the one that counts.
        return check(host, identity, server, list);
    }
    let approved: BTreeMap<String, ToolDigest> = rows
        .iter()
        .filter(|row| row.state == PinState::Approved && row.tool != SEEN)
        .map(|row| (row.tool.clone(), ToolDigest::from_stored(row.digest.clone())))
        .collect();
    let known: HashMap<&str, &PinRow> = rows.iter().map(|row| (row.tool.as_str(), row)).collect();
    let report = list.compare(&approved);
    let mut off = HashMap::new();
    let mut news = Vec::new();
    for name in report.new.iter().chain(&report.changed) {
        let Some(tool) = list.get(name) else { continue };
        let before = known.get(name.as_str());
        // A tool that was approved once stays "changed", however often it changes again.
        let state = match before.map(|row| row.state) {
            Some(PinState::Approved | PinState::Changed) => PinState::Changed,
            Some(PinState::New) | None => PinState::New,
        };
        off.insert(name.clone(), state);
        if before.is_some_and(|row| row.state == state && row.digest == tool.digest.as_str()) {
            continue;
        }
        let mut kept = json!({ "now": spec(tool) });
        if state == PinState::Changed
            && let Some(row) = before
            && let Ok(old) = serde_json::from_str::<Value>(&row.spec)
        {
            kept["approved"] = old.get("approved").unwrap_or(&old["now"]).clone();
        }
        news.push((name.clone(), state, tool.digest.to_string(), kept.to_string()));
    }
    if !news.is_empty() {
        // Whoever hears of them reads them, so they are written first. Of two who found the same, one tells.
        let noted = host.store().note_pins(identity, news)?;
        if !noted.is_empty() {
            tell(host, identity, server, &noted);
        }
    }
    Ok(off)
}

fn tell(host: &Host, identity: &str, server: &str, names: &[String]) {
    let mut fields = Map::new();
    fields.insert("identity".to_owned(), json!(identity));
    fields.insert("tools".to_owned(), json!(names));
    host.audit("pins_changed", fields);
    let shown = names.iter().take(5).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    host.notice(Notice {
        code: "tools_changed".to_owned(),
        severity: Severity::Warning,
        message: Text::new(
            format!(
                "`{server}` has {} new or changed tools that are off until you approve them: {shown}",
                names.len()
            ),
            format!("`{server}` 有 {} 个新增或变化的工具，在您批准前保持关闭：{shown}", names.len()),
        ),
        hint: Some(Text::fixed("look at the differences on the Servers page", "请在服务器页面查看差异")),
    });
    host.events()
        .publish(HostEvent::ToolsChanged(ChangedTools { id: identity.to_owned(), tools: names.to_vec() }));
}

/// A tool as a person approves it: in full, nothing hidden.
pub(super) fn spec(tool: &Tool) -> Value {
    json!({
        "name": tool.name, "title": tool.title, "description": tool.description,
        "inputSchema": tool.input_schema, "outputSchema": tool.output_schema, "annotations": tool.annotations,
    })
}

impl ServerDesk {
    /// What waits for a person, or everything that was decided.
    pub async fn pins(&self, state: Option<&str>, server: Option<&str>) -> Result<Vec<PinView>, Fault> {
        let catalogue = self.shared().catalogue().await?;
        let identity = match server {
            None => None,
            Some(text) => {
                let known = catalogue.wanted(text)?;
                Some(known.identity().as_str().to_owned())
            }
        };
        let host = self.shared().host()?;
        let rows = tokio::task::spawn_blocking(move || host.store().tool_pins(identity.as_deref())).await;
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
        let catalogue = self.shared().catalogue().await?;
        let known = catalogue.wanted(server)?;
        let (identity, by) = (known.identity().as_str().to_owned(), by.to_owned());
        let (host, own) = (self.shared().host()?, identity.clone());
        let names: Vec<String> = tools.iter().map(|(name, _)| name.clone()).collect();
        let done = tokio::task::spawn_blocking(move || {
            let rows = host.store().tool_pins(Some(&own))?;
            let wanted = tools.into_iter().filter_map(|(name, digest)| {
                let digest =
                    digest.or_else(|| Some(rows.iter().find(|row| row.tool == name)?.digest.clone()))?;
                Some((name, digest))
            });
            host.store().approve_pins(&own, wanted.collect(), &by)
        });
        let done = done.await.map_err(|error| failed(&error))??;
        self.shared().approvals.fetch_add(1, Ordering::SeqCst);
        let host = self.shared().host()?;
        let mut fields = Map::new();
        fields.insert("identity".to_owned(), json!(identity));
        fields.insert("tools".to_owned(), json!(done));
        host.audit("pins_approved", fields);
        host.events()
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

pub(super) fn failed(error: &dyn std::error::Error) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same("the work failed")).caused_by(error)
}
