//! The head of a message that is too large to be made a tree: its short parts, and the names of those left out.

use chatos_mcp::weigh;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The key of an update of which only the head was read: the names of the parts that were not. No agent says it.
pub(crate) const UNREAD: &str = "\u{0}unread";
/// What each part of a head may take.
const PART_BYTES: usize = 256 << 10;

/// A message as far as its sort needs it.
#[derive(Deserialize)]
struct Line<'a> {
    id: Option<IgnoredAny>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    update: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_update: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    locations: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_output: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The head of a note that is too large to be read: its short parts, and which of its long ones were left out. `None`
/// for what is asked or answered, which is read as it is.
pub(crate) fn head(line: &[u8]) -> Option<Value> {
    let part = |raw: &RawValue| {
        let short = weigh(raw.get().as_bytes()).bytes <= PART_BYTES;
        if short { serde_json::from_str::<Value>(raw.get()).ok() } else { None }
    };
    let read: Line<'_> = serde_json::from_slice(line).ok()?;
    let (None, Some(method)) = (read.id, read.method.and_then(part)) else { return None };
    let params = read.params.and_then(|raw| serde_json::from_str::<Params<'_>>(raw.get()).ok());
    let params = params.unwrap_or_default();
    let update = params.update.and_then(|raw| serde_json::from_str::<Update<'_>>(raw.get()).ok());
    let update = update.unwrap_or_default();
    let (mut told, mut unread) = (json!({}), Vec::new());
    for (key, raw) in [
        ("sessionUpdate", update.session_update),
        ("toolCallId", update.tool_call_id),
        ("kind", update.kind),
        ("status", update.status),
        ("title", update.title),
        ("locations", update.locations),
        ("rawInput", update.raw_input),
        ("rawOutput", update.raw_output),
        ("content", update.content),
    ] {
        match raw.map(part) {
            Some(Some(value)) => told[key] = value,
            Some(None) => unread.push(key),
            None => {}
        }
    }
    told[UNREAD] = json!(unread);
    let session = params.session_id.and_then(part);
    Some(json!({ "method": method, "params": { "sessionId": session, "update": told } }))
}

/// Whether a line answers something that was asked.
pub(crate) fn is_reply(line: &[u8]) -> bool {
    serde_json::from_slice::<Line<'_>>(line).is_ok_and(|line| line.id.is_some() && line.method.is_none())
}

/// Names of the parts of an update that were too large to be read.
pub(crate) fn unread(update: &Value) -> impl Iterator<Item = &str> {
    update[UNREAD].as_array().into_iter().flatten().filter_map(Value::as_str)
}
