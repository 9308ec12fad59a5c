//! Tools beside what a person approved (security T18): the first list of a server is approved with it,
//! every later difference waits for a person.

use std::collections::{BTreeMap, HashMap};

use chatos_events::Notice;
use chatos_mcp::{Tool, ToolDigest, ToolList};
use chatos_store::{PinRow, PinState};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::Severity;
use chatos_wire::event::{ChangedTools, HostEvent};
use serde_json::{Map, Value, json};

use crate::parts::ServersParts;

/// A row that says the server was seen, so that an empty first list does not make the next one the first.
pub(crate) const SEEN: &str = "";

/// Compares a list with what was approved; gives the tools that are off. Blocks.
pub(crate) fn check(
    parts: &ServersParts,
    identity: &str,
    server: &str,
    list: &ToolList,
) -> Result<HashMap<String, PinState>, Fault> {
    // Whoever writes the plugin changes its tools all the time, and is the person who would be asked.
    if parts.is_in_development(identity)? {
        return Ok(HashMap::new());
    }
    let rows = parts.store.tool_pins(Some(identity))?;
    if rows.is_empty() {
        let mut first: Vec<(String, String, String)> = list
            .tools
            .iter()
            .map(|tool| {
                (tool.name.clone(), tool.digest.to_string(), json!({ "now": spec(tool) }).to_string())
            })
            .collect();
        first.push((SEEN.to_owned(), SEEN.to_owned(), "{}".to_owned()));
        let made = parts.store.first_pins(identity, first, "first connection");
        if made? {
            return Ok(HashMap::new());
        }
        // Somebody else was first; their list is the one that counts.
        return check(parts, identity, server, list);
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
        let noted = parts.store.note_pins(identity, news)?;
        if !noted.is_empty() {
            tell(parts, identity, server, &noted);
        }
    }
    Ok(off)
}

fn tell(parts: &ServersParts, identity: &str, server: &str, names: &[String]) {
    let mut fields = Map::new();
    fields.insert("identity".to_owned(), json!(identity));
    fields.insert("tools".to_owned(), json!(names));
    parts.audit.note("pins_changed", fields);
    let shown = names.iter().take(5).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    parts.notices.add(Notice {
        code: "tools_changed".to_owned(),
        severity: Severity::Warning,
        message: Text::new(
            format!(
                "`{server}` has {} new or changed tools that are off until you approve them: {shown}",
                names.len()
            ),
            format!("`{server}` 有 {} 个新增或变化的工具，在你批准前保持关闭：{shown}", names.len()),
        ),
        hint: Some(Text::fixed("look at the differences on the Servers page", "请在服务器页面查看差异")),
    });
    parts
        .events
        .publish(HostEvent::ToolsChanged(ChangedTools { id: identity.to_owned(), tools: names.to_vec() }));
}

/// A tool as a person approves it: in full, nothing hidden.
pub(crate) fn spec(tool: &Tool) -> Value {
    json!({
        "name": tool.name, "title": tool.title, "description": tool.description,
        "inputSchema": tool.input_schema, "outputSchema": tool.output_schema, "annotations": tool.annotations,
    })
}

pub(crate) fn failed(error: &dyn std::error::Error) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same("the work failed")).caused_by(error)
}
