//! Tools beside what a person approved (security T18): the first list of a server is approved with it,
//! every later difference waits for a person.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chatos_events::Notice;
use chatos_mcp::{Tool, ToolDigest, ToolList};
use chatos_store::{PinRow, PinState};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::Severity;
use chatos_wire::event::{ChangedTools, HostEvent};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::parts::ServersParts;

/// A row that says the server was seen, so that an empty first list does not make the next one the first.
pub(crate) const SEEN: &str = "";

/// The name under which the text is approved that a server says about itself (packages §5.4); no tool has it.
pub(crate) const INSTRUCTIONS: &str = chatos_mcp::INSTRUCTIONS;

/// What a server offers, as a person approves it.
pub(crate) struct Offered {
    /// The tools as they were listed now.
    pub(crate) list: Arc<ToolList>,
    /// What it says about itself.
    pub(crate) instructions: Said,
}

/// What a server says about itself.
pub(crate) enum Said {
    /// It is not connected, so nobody knows.
    Unknown,
    Nothing,
    Words(String),
}

impl Offered {
    /// Digest and text of what it says about itself.
    fn said(&self) -> Option<(String, Value)> {
        let Said::Words(text) = &self.instructions else { return None };
        let digest = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let kept: String = text.chars().take(KEPT_CHARS).collect();
        Some((digest, json!({ "instructions": kept })))
    }
}

/// What is kept of a text to be looked at; a model is given less.
const KEPT_CHARS: usize = 16_000;

/// Compares what a server offers with what was approved; gives the tools that are off. Blocks.
pub(crate) fn check(
    parts: &ServersParts,
    identity: &str,
    server: &str,
    offered: &Offered,
) -> Result<HashMap<String, PinState>, Fault> {
    let list = &offered.list;
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
        if let Some((digest, text)) = offered.said() {
            first.push((INSTRUCTIONS.to_owned(), digest, json!({ "now": text }).to_string()));
        }
        first.push((SEEN.to_owned(), SEEN.to_owned(), "{}".to_owned()));
        let made = parts.store.first_pins(identity, first, "first connection");
        if made? {
            return Ok(HashMap::new());
        }
        // Somebody else was first; their list is the one that counts.
        return check(parts, identity, server, offered);
    }
    let approved: BTreeMap<String, ToolDigest> = rows
        .iter()
        .filter(|row| row.state == PinState::Approved && row.tool != SEEN && row.tool != INSTRUCTIONS)
        .map(|row| (row.tool.clone(), ToolDigest::from_stored(row.digest.clone())))
        .collect();
    let known: HashMap<&str, &PinRow> = rows.iter().map(|row| (row.tool.as_str(), row)).collect();
    let report = list.compare(&approved);
    let mut off = HashMap::new();
    let mut news = Vec::new();
    for name in report.new.iter().chain(&report.changed) {
        let Some(tool) = list.get(name) else { continue };
        let (state, new) = noted(known.get(name.as_str()).copied(), tool.digest.as_str(), spec(tool));
        off.insert(name.clone(), state);
        news.extend(new.map(|kept| (name.clone(), state, tool.digest.to_string(), kept)));
    }
    let before = known.get(INSTRUCTIONS).copied();
    match (offered.said(), before) {
        (Some((digest, _)), Some(row)) if row.state == PinState::Approved && row.digest == digest => {}
        (Some((digest, text)), before) => {
            let (state, new) = noted(before, &digest, text);
            news.extend(new.map(|kept| (INSTRUCTIONS.to_owned(), state, digest, kept)));
        }
        // It says nothing any more.
        (None, Some(_)) if matches!(offered.instructions, Said::Nothing) => {
            parts.store.forget_pin(identity, INSTRUCTIONS)?;
        }
        (None, _) => {}
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

/// The state of something that is not what was approved, and what is kept of it where nobody noted it before.
fn noted(before: Option<&PinRow>, digest: &str, now: Value) -> (PinState, Option<String>) {
    // What was approved once stays "changed", however often it changes again.
    let state = match before.map(|row| row.state) {
        Some(PinState::Approved | PinState::Changed) => PinState::Changed,
        Some(PinState::New) | None => PinState::New,
    };
    if before.is_some_and(|row| row.state == state && row.digest == digest) {
        return (state, None);
    }
    let mut kept = json!({ "now": now });
    if state == PinState::Changed
        && let Some(row) = before
        && let Ok(old) = serde_json::from_str::<Value>(&row.spec)
    {
        kept["approved"] = old.get("approved").unwrap_or(&old["now"]).clone();
    }
    (state, Some(kept.to_string()))
}

fn tell(parts: &ServersParts, identity: &str, server: &str, names: &[String]) {
    let mut fields = Map::new();
    fields.insert("identity".to_owned(), json!(identity));
    fields.insert("tools".to_owned(), json!(names));
    parts.audit.note("pins_changed", fields);
    let tools: Vec<&String> = names.iter().filter(|name| *name != INSTRUCTIONS).collect();
    let shown = tools.iter().take(5).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let of_tools = (!tools.is_empty()).then(|| {
        Text::new(
            format!(
                "`{server}` has {} new or changed tools that are off until you approve them: {shown}",
                tools.len()
            ),
            format!("`{server}` 有 {} 个新增或变化的工具，在你同意前保持关闭：{shown}", tools.len()),
        )
    });
    let of_text = (tools.len() < names.len()).then(|| {
        Text::new(
            format!("`{server}` has new or changed instructions for models, which are withheld until you approve them"),
            format!("`{server}` 给模型的说明有新增或变化，在你同意前不会使用"),
        )
    });
    for (code, message) in [("tools_changed", of_tools), ("instructions_changed", of_text)] {
        let Some(message) = message else { continue };
        parts.notices.add(Notice {
            code: code.to_owned(),
            severity: Severity::Warning,
            message,
            hint: Some(Text::fixed("look at the differences on the Servers page", "请在服务器页面查看差异")),
        });
    }
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
