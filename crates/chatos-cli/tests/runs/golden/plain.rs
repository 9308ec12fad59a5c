//! Takes out of an answer what differs from run to run (ids, times, places, ports, durations) and from machine
//! to machine.

use std::collections::{BTreeMap, BTreeSet};

use chatos_testkit::Sandbox;
use serde_json::{Map, Value, json};

use crate::support::node;

/// Numbers under these names are times, positions or measurements.
const MEASURED: [&str; 14] = [
    "seq",
    "ts",
    "pid",
    "pidStart",
    "port",
    "size",
    "bytes",
    "records",
    "offset",
    "revision",
    "cursor",
    "next",
    "progressToken",
    "estimate",
];
/// Texts under these names are random or of this machine.
const RANDOM: [&str; 9] =
    ["bootId", "challenge", "ticket", "token", "signInUrl", "nonce", "shown", "fingerprint", "sig"];

/// What is known of the place a test ran in.
pub(crate) struct Plain {
    known: Vec<(String, &'static str)>,
}

impl Plain {
    pub(crate) fn new(sandbox: &Sandbox, port: u16) -> Self {
        let root = sandbox.root();
        let mut known = vec![
            (root.canonicalize().unwrap().display().to_string(), "<root>"),
            (root.display().to_string(), "<root>"),
            (root.file_name().unwrap().to_string_lossy().into_owned(), "<folder>"),
            (node(), "<node>"),
            (sandbox.program().display().to_string(), "<program>"),
            (repository(), "<repository>"),
            (format!(":{port}"), ":<port>"),
        ];
        known.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Self { known }
    }

    pub(crate) fn value(&self, value: &Value) -> Value {
        self.member("", value)
    }

    fn member(&self, name: &str, value: &Value) -> Value {
        match value {
            // The system prompt counts too, and names folders of this machine.
            Value::Object(_) if name == "sizes" || name == "parts" => shape(value),
            // Which tools there are is said elsewhere.
            Value::Object(counts) if name == "tools" && counts.contains_key("loaded") => shape(value),
            Value::Object(map) => Value::Object(
                map.iter().map(|(key, value)| (self.text(key), self.member(key, value))).collect(),
            ),
            Value::Array(items) => items.iter().map(|item| self.member(name, item)).collect(),
            Value::String(_) if RANDOM.contains(&name) => Value::from("<random>"),
            Value::String(text) => Value::from(self.text(text)),
            Value::Number(_) if MEASURED.contains(&name) || name.ends_with("Ms") || name.ends_with("_ms") => {
                Value::from(0)
            }
            other => other.clone(),
        }
    }

    fn text(&self, text: &str) -> String {
        // What stands in a text as JSON is made plain as JSON.
        if text.starts_with('{')
            && let Ok(inner @ Value::Object(_)) = serde_json::from_str(text)
        {
            return self.value(&inner).to_string();
        }
        let text = self.known.iter().fold(text.to_owned(), |text, (known, name)| text.replace(known, name));
        words(&text)
    }

    /// Frames of each kind without repetition: how many there are of a kind is for the clock to say.
    pub(crate) fn events(&self, frames: &[Value]) -> Value {
        let mut kinds: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        for frame in frames {
            // What changed without saying what: somebody wrote the database, perhaps this very host.
            if frame["data"]["ids"] == json!([]) || frame["data"].get("projectRoot") == Some(&Value::Null) {
                continue;
            }
            let mut plain = self.value(frame);
            match frame["type"].as_str() {
                // What comes before is told by what comes soon after it.
                Some("server_state") if frame["data"]["state"]["phase"] != "ready" => continue,
                // Ready and the list of its tools come one after the other, or are told together.
                Some("server_state") => {
                    plain["data"]["state"].as_object_mut().map(|state| state.remove("tools"));
                    plain["data"]["state"]["inFlight"] = json!(0);
                }
                // Steps that come close together are told by one; which of them is for the clock to say.
                Some("tool_progress") => {
                    plain["data"].as_object_mut().map(|data| data.remove("detail"));
                    plain["data"]["progress"] = json!(0);
                    plain["data"]["message"] = json!("<step>");
                }
                Some("assistant_delta") => plain["data"]["delta"] = json!("<piece>"),
                Some("operation_changed") if frame["data"]["state"] == "running" => continue,
                // Lines that come close together are told by one; which of them is for the clock to say.
                Some("tool_log") if frame["data"]["server"] != "code_maintainer" => continue,
                Some("operation_changed") => plain["data"] = shape(&frame["data"]),
                _ => {}
            }
            let name = |key: &str| plain[key].as_str().unwrap_or_default().to_owned();
            let kind = kinds.entry(format!("{} {}", name("topic"), name("type"))).or_default();
            kind.insert(plain.to_string(), plain);
        }
        let list = |kind: BTreeMap<String, Value>| kind.into_values().collect::<Vec<_>>();
        json!(kinds.into_iter().map(|(name, kind)| (name, list(kind))).collect::<BTreeMap<_, _>>())
    }
}

/// The types of a chat's events in their order; repetitions count once.
pub(crate) fn order(frames: &[Value], chat: &str) -> Value {
    let of_chat = frames.iter().filter(|frame| frame["topic"] == format!("chat:{chat}"));
    let of_chat = of_chat.filter(|frame| frame["type"] != "tool_progress");
    let mut kinds: Vec<&str> = of_chat.filter_map(|frame| frame["type"].as_str()).collect();
    kinds.dedup();
    json!(kinds)
}

/// What these say depends on the machine; only the form is compared.
pub(crate) fn is_of_this_machine(route: &str) -> bool {
    let routes = ["admin/state", "doctor", "operations", "operations/{id}", "state-key", "status"];
    routes.iter().any(|known| route.strip_prefix("/api/v1/") == Some(known))
}

/// Each value by its type; the items of a list as one, with every member any of them has.
pub(crate) fn shape(value: &Value) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("boolean"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
        Value::Array(items) => {
            let forms: BTreeSet<String> =
                items.iter().filter(|item| !item.is_object()).map(|item| shape(item).to_string()).collect();
            let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (key, value) in items.iter().filter_map(Value::as_object).flatten() {
                all.entry(key.clone()).or_default().insert(shape(value).to_string());
            }
            if all.is_empty() { json!(forms) } else { json!([all]) }
        }
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), shape(value))).collect::<Map<_, _>>())
        }
    }
}

fn repository() -> String {
    let path = super::repository();
    path.canonicalize().unwrap_or(path).display().to_string()
}

/// Ids, digests, times and dates by their look.
fn words(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((name, length)) = told_by_look(rest, plain.chars().last()) {
            plain.push_str(name);
            rest = &rest[length..];
        } else {
            plain.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    plain
}

fn told_by_look(text: &str, before: Option<char>) -> Option<(&'static str, usize)> {
    if before.is_some_and(|before| before.is_ascii_alphanumeric()) {
        return None;
    }
    if let Some(port) = text.strip_prefix("127.0.0.1:") {
        let digits = port.bytes().take_while(u8::is_ascii_digit).count();
        return (digits > 0).then_some(("127.0.0.1:<port>", 10 + digits));
    }
    if let Some(length) = matches(text, "0000-00-00T00:00:00") {
        let fraction =
            text[length..].bytes().take_while(|byte| *byte == b'.' || byte.is_ascii_digit()).count();
        let zone = usize::from(text[length + fraction..].starts_with('Z'));
        return Some(("<time>", length + fraction + zone));
    }
    if let Some(length) = matches(text, "0000-00-00") {
        return Some(("<date>", length));
    }
    if let Some(length) = matches(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
        return Some(("<id>", length));
    }
    let hex = text.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    let ends = !text[hex..].starts_with(|next: char| next.is_ascii_alphanumeric());
    (hex >= 12 && ends).then_some(("<hex>", hex))
}

/// `0` stands for a digit, `x` for a hexadecimal one.
fn matches(text: &str, pattern: &str) -> Option<usize> {
    let found = text.as_bytes().get(..pattern.len())?;
    let fits = |(byte, wanted): (&u8, u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        b'x' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        other => *byte == other,
    };
    found.iter().zip(pattern.bytes()).all(fits).then_some(pattern.len())
}
