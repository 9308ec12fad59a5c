//! The tools of a server: listed page by page within bounds, each checked and digested.
//!
//! A tool that breaks a rule is dropped with its reason; the others stay (security T11).

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::connection::Connection;
use crate::failure::{Failure, Waited};
use crate::limits::{
    CURSOR_BYTES, LIST_BYTES, LIST_PAGES, LIST_TOOLS, SCHEMA_BYTES, SCHEMA_DEPTH, TOOL_BYTES, TOOL_DEPTH,
    TOOL_NAME_BYTES, TREE_BYTES,
};
use crate::message;
use crate::session::Wait;
use crate::transport::headers::{self, ParamHeader};

/// A tool as its server describes it. Nothing in it is trusted: annotations are for display.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The server's own name of it; may hold dots and anything else but control characters.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// What it does, in full.
    pub description: String,
    /// Its arguments.
    pub input_schema: Value,
    /// Its structured result.
    pub output_schema: Option<Value>,
    /// Hints of the server.
    pub annotations: Option<Value>,
    /// Pictures of it, as the server names them.
    pub icons: Option<Value>,
    /// What else the server attached (`_meta`), such as the view of an app.
    pub meta: Option<Value>,
    /// Place in the server's own order, which decides between equal names (ai-contributions §4.3).
    pub position: usize,
    /// What a person approves.
    pub digest: ToolDigest,
    pub(crate) param_headers: Vec<ParamHeader>,
}

/// SHA-256 over everything a person approves about a tool: name, title, description, schemas and
/// annotations (security T18).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolDigest(String);

impl ToolDigest {
    /// From its text, as it was stored.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Lower-case hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ToolDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ToolDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tools of one listing, sorted by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolList {
    /// The usable ones.
    pub tools: Vec<Tool>,
    /// What was dropped or cut off, and why.
    pub problems: Vec<ToolProblem>,
    /// The listing went on beyond a bound.
    pub partial: bool,
}

/// Something wrong with a tool or the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProblem {
    /// The tool, where it has a name.
    pub tool: Option<String>,
    /// Why.
    pub reason: String,
}

/// Tools beside what a person approved (security T18).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PinReport {
    /// Never approved.
    pub new: Vec<String>,
    /// Approved, but other now.
    pub changed: Vec<String>,
    /// Approved, but no longer there.
    pub gone: Vec<String>,
}

pub(crate) struct Cached {
    pub(crate) list: Arc<ToolList>,
    pub(crate) revision: u64,
    pub(crate) fetched: Instant,
}

impl ToolList {
    /// One tool by the server's own name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        let at = self.tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
        self.tools.get(at)
    }

    /// What a first approval records.
    pub fn pins(&self) -> BTreeMap<String, ToolDigest> {
        self.tools.iter().map(|tool| (tool.name.clone(), tool.digest.clone())).collect()
    }

    /// Compares with what was approved. New and changed tools stay off until a person agrees.
    pub fn compare(&self, approved: &BTreeMap<String, ToolDigest>) -> PinReport {
        let mut report = PinReport::default();
        for tool in &self.tools {
            match approved.get(&tool.name) {
                None => report.new.push(tool.name.clone()),
                Some(digest) if *digest != tool.digest => report.changed.push(tool.name.clone()),
                Some(_) => {}
            }
        }
        report.gone = approved.keys().filter(|name| self.get(name).is_none()).cloned().collect();
        report
    }
}

/// Lists everything.
pub(crate) async fn fetch(connection: &Connection) -> Result<ToolList, Failure> {
    let total = connection.session.times.list;
    let deadline = Instant::now() + total;
    let mut list = ToolList::default();
    let mut taken = Taken { header_rules: connection.repeats_in_headers(), ..Taken::default() };
    let mut seen: HashSet<String> = HashSet::new();
    let mut cursor: Option<String> = None;
    for page in 0.. {
        if page == LIST_PAGES {
            list.cut(format!("the listing has more than {LIST_PAGES} pages"));
            break;
        }
        let mut params = Map::new();
        if let Some(cursor) = &cursor {
            params.insert("cursor".to_owned(), json!(cursor));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let ask = connection.ask("tools/list", params, Wait::total(Waited::List, left));
        let mut result = match connection.session.ask(ask).await {
            Ok(result) => result,
            // No tools at all, said in the protocol's way.
            Err(ended)
                if page == 0 && matches!(&ended.failure, Failure::Rpc(error) if error.code == -32601) =>
            {
                break;
            }
            Err(ended) => {
                return Err(match ended.failure {
                    Failure::TimedOut { noise, .. } => {
                        Failure::TimedOut { what: Waited::List, after: total, noise }
                    }
                    other => other,
                });
            }
        };
        let Some(Value::Array(tools)) = result.get_mut("tools").map(Value::take) else {
            let detail = "its list of tools is no list".to_owned();
            return Err(Failure::Protocol { detail });
        };
        if !list.take(&tools, &mut taken) {
            break;
        }
        match result.get("nextCursor").and_then(Value::as_str) {
            None | Some("") => break,
            Some(next) if next.len() > CURSOR_BYTES => {
                list.cut("the listing has an unreasonable cursor".to_owned());
                break;
            }
            Some(next) => {
                if !seen.insert(next.to_owned()) {
                    list.cut("the listing repeats itself".to_owned());
                    break;
                }
                cursor = Some(next.to_owned());
            }
        }
    }
    list.tools.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(list)
}

/// What is known of a listing so far.
#[derive(Default)]
struct Taken {
    /// Only over HTTP does a wrong annotation make calls fail.
    header_rules: bool,
    names: HashSet<String>,
    count: usize,
    bytes: usize,
    memory: usize,
}

impl ToolList {
    fn cut(&mut self, reason: String) {
        self.partial = true;
        self.problems.push(ToolProblem { tool: None, reason });
    }

    /// Takes the tools of a page, each as it was written, as far as the bounds allow; says whether there
    /// may be another page. A tool is looked at before a tree is made of it.
    fn take(&mut self, tools: &[Value], taken: &mut Taken) -> bool {
        for raw in tools.iter().filter_map(Value::as_str) {
            let position = taken.count;
            if position == LIST_TOOLS {
                self.cut(format!("the server has more than {LIST_TOOLS} tools"));
                return false;
            }
            taken.count += 1;
            let weight = message::weigh(raw.as_bytes());
            if let Err(reason) = check_size(raw, weight.depth) {
                self.drop_tool(raw, reason);
                continue;
            }
            taken.bytes += raw.len();
            taken.memory += weight.bytes;
            if taken.bytes > LIST_BYTES || taken.memory > TREE_BYTES {
                let (bound, what) =
                    if taken.bytes > LIST_BYTES { (LIST_BYTES, "has") } else { (TREE_BYTES, "would take") };
                self.cut(format!("the listing {what} more than {} MiB", bound / 1024 / 1024));
                return false;
            }
            let tool = serde_json::from_str(raw).map_err(|error| error.to_string());
            let tool = tool.and_then(|value| read_tool(value, position)).and_then(|mut tool| {
                if taken.header_rules {
                    tool.param_headers = headers::annotations(&tool.input_schema)?;
                }
                if !taken.names.insert(tool.name.clone()) {
                    return Err("another tool has the same name".to_owned());
                }
                Ok(tool)
            });
            match tool {
                Ok(tool) => self.tools.push(tool),
                Err(reason) => self.drop_tool(raw, reason),
            }
        }
        true
    }

    fn drop_tool(&mut self, raw: &str, reason: String) {
        self.problems.push(ToolProblem { tool: shown_name(raw), reason });
    }
}

/// What can be said of a tool without reading it.
fn check_size(raw: &str, depth: usize) -> Result<(), String> {
    /// As much of a tool as its schemas are.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Schemas<'a> {
        #[serde(borrow)]
        input_schema: Option<&'a RawValue>,
        #[serde(borrow)]
        output_schema: Option<&'a RawValue>,
    }
    if raw.len() > TOOL_BYTES {
        // The part that is wrong is named where it can be found.
        if let Ok(schemas) = serde_json::from_str::<Schemas<'_>>(raw) {
            for (schema, name) in [(schemas.input_schema, "input"), (schemas.output_schema, "output")] {
                if schema.is_some_and(|schema| schema.get().len() > TOOL_BYTES) {
                    return Err(format!("its {name} schema has more than {} KiB", SCHEMA_BYTES / 1024));
                }
            }
        }
        return Err(format!("its description has more than {} KiB", TOOL_BYTES / 1024));
    }
    if depth > TOOL_DEPTH {
        return Err(format!("it is nested deeper than {SCHEMA_DEPTH} levels"));
    }
    Ok(())
}

/// A name for a problem: short, whatever the server wrote.
fn shown_name(raw: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Option<&'a RawValue>,
    }
    let named: Named<'_> = serde_json::from_str(raw).ok()?;
    let name: String = serde_json::from_str(named.name?.get()).ok()?;
    Some(name.chars().take(100).collect())
}

/// What a server says about itself is approved under this name, beside its tools.
pub const INSTRUCTIONS: &str = "#instructions";

fn read_tool(mut value: Value, position: usize) -> Result<Tool, String> {
    let map = value.as_object_mut().ok_or("it is not an object")?;
    let Some(Value::String(name)) = map.remove("name") else { return Err("it has no name".to_owned()) };
    if name.is_empty() || name.len() > TOOL_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(format!("its name is empty, longer than {TOOL_NAME_BYTES} bytes or not printable"));
    }
    if name == INSTRUCTIONS {
        return Err("its name is reserved".to_owned());
    }
    let text = |value: Option<Value>| match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let object = |value: Option<Value>| value.filter(Value::is_object);
    let annotations = object(map.remove("annotations"));
    let title = text(map.remove("title"))
        .or_else(|| annotations.as_ref()?.get("title")?.as_str().map(str::to_owned))
        .filter(|title| !title.is_empty());
    let description = text(map.remove("description")).unwrap_or_default();
    // Old servers leave it out for tools without arguments.
    let input_schema = match map.remove("inputSchema") {
        None | Some(Value::Null) => json!({ "type": "object" }),
        Some(schema) => schema,
    };
    check_schema(&input_schema).map_err(|reason| format!("its input schema {reason}"))?;
    let output_schema = map.remove("outputSchema").filter(|schema| !schema.is_null());
    if let Some(schema) = &output_schema {
        check_schema(schema).map_err(|reason| format!("its output schema {reason}"))?;
    }
    let icons = map.remove("icons").filter(Value::is_array);
    let meta = object(map.remove("_meta"));
    let digest = digest(&json!({
        "name": name, "title": title, "description": description, "inputSchema": input_schema,
        "outputSchema": output_schema, "annotations": annotations,
    }));
    let param_headers = Vec::new();
    Ok(Tool {
        name,
        title,
        description,
        input_schema,
        output_schema,
        annotations,
        icons,
        meta,
        position,
        digest,
        param_headers,
    })
}

/// The rules of a tool's schema (security T11, T20).
fn check_schema(schema: &Value) -> Result<(), String> {
    let map = schema.as_object().ok_or("is not an object")?;
    if map.get("type").is_some_and(|kind| kind != "object") {
        return Err("does not describe an object".to_owned());
    }
    if map.get("properties").is_some_and(|properties| !properties.is_object()) {
        return Err("has properties that are no object".to_owned());
    }
    let names = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    if map.get("required").is_some_and(|required| !names(required)) {
        return Err("has a wrong list of required properties".to_owned());
    }
    if schema.to_string().len() > SCHEMA_BYTES {
        return Err(format!("has more than {} KiB", SCHEMA_BYTES / 1024));
    }
    walk_schema(schema, SCHEMA_DEPTH)
}

fn walk_schema(value: &Value, depth: usize) -> Result<(), String> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("is nested deeper than {SCHEMA_DEPTH} levels"));
    };
    match value {
        Value::Object(map) => map.iter().try_for_each(|(key, value)| {
            let reference = matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef");
            if reference && value.as_str().is_some_and(|target| !target.starts_with('#')) {
                return Err("refers to something outside itself".to_owned());
            }
            walk_schema(value, depth)
        }),
        Value::Array(items) => items.iter().try_for_each(|item| walk_schema(item, depth)),
        _ => Ok(()),
    }
}

/// The digest of a value whatever the order of its keys.
fn digest(value: &Value) -> ToolDigest {
    let mut hash = Sha256::new();
    chatos_tool::canonical(value, &mut |part| hash.update(part));
    ToolDigest(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Text of a server as a model may see it: without control, bidi and tag characters (security T18).
pub fn plain_for_model(text: &str) -> String {
    text.chars()
        .filter(|c| {
            let hidden = matches!(
                *c,
                '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}'
                    | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
            );
            !hidden
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As they come from the router: each as its text.
    fn texts(raw: &[Value]) -> Vec<Value> {
        raw.iter().map(|tool| json!(tool.to_string())).collect()
    }

    fn list(raw: Value) -> ToolList {
        let mut list = ToolList::default();
        let mut taken = Taken { header_rules: true, ..Taken::default() };
        list.take(&texts(raw.as_array().unwrap()), &mut taken);
        list.tools.sort_by(|a, b| a.name.cmp(&b.name));
        list
    }

    #[test]
    fn bad_tools_are_dropped_with_a_reason_and_good_ones_stay() {
        let deep = (0..40).fold(
            json!({ "type": "string" }),
            |inner, _| json!({ "type": "object", "properties": { "x": inner } }),
        );
        let big = json!({ "type": "object", "description": "x".repeat(SCHEMA_BYTES) });
        let list = list(json!([
            { "name": "z.dotted/name", "inputSchema": { "type": "object" } },
            { "name": "a" },
            { "name": "a", "description": "twice" },
            { "name": "" }, { "name": 5 }, null, "x",
            { "name": "line\nbreak" },
            { "name": "deep", "inputSchema": deep },
            { "name": "big", "inputSchema": big },
            { "name": "array", "inputSchema": { "type": "array" } },
            { "name": "text", "inputSchema": "no" },
            { "name": "props", "inputSchema": { "properties": [] } },
            { "name": "req", "inputSchema": { "required": "a" } },
            { "name": "ref", "inputSchema": { "properties": { "a": { "$ref": "http://x.example/s.json" } } } },
            { "name": "file", "inputSchema": { "properties": { "a": { "$ref": "file:///etc/passwd" } } } },
            { "name": "local", "inputSchema": { "$defs": { "q": {} }, "properties": { "a": { "$ref": "#/$defs/q" } } } },
            { "name": "out", "outputSchema": 7 },
            { "name": "header", "inputSchema": { "x-mcp-header": "A" } },
        ]));
        let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "local", "z.dotted/name"]);
        assert_eq!(list.problems.len(), 16, "{:#?}", list.problems);
        assert!(list.problems.iter().all(|problem| !problem.reason.is_empty()));
        assert_eq!(list.get("z.dotted/name").unwrap().position, 0);
    }

    #[test]
    fn a_listing_is_bounded_in_bytes_too() {
        let mut list = ToolList::default();
        let mut taken = Taken::default();
        let huge = json!({ "name": "huge", "description": "x".repeat(TOOL_BYTES) });
        let big = json!({ "name": "big", "description": "x".repeat(TOOL_BYTES / 2) });
        assert!(list.take(&texts(&[huge, big.clone()]), &mut taken));
        assert_eq!((list.tools.len(), list.problems.len(), list.partial), (1, 1, false));
        assert!(!list.take(&texts(&vec![big; 500]), &mut taken));
        assert!(list.partial && taken.count < 200);
    }

    #[test]
    fn a_tool_too_large_for_a_tree_is_dropped_unread_and_the_others_stay() {
        // Many small values: a tree of them takes a hundred times their text.
        let nodes = vec![json!({ "a": {} }); 1 << 17];
        let wide = json!({ "name": "wide", "inputSchema": { "type": "object", "anyOf": nodes } });
        let deep = format!(
            r#"{{"name":"deep","inputSchema":{{"type":"object","x":{}1{}}}}}"#,
            "[".repeat(50_000),
            "]".repeat(50_000)
        );
        let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
        let mut list = ToolList::default();
        let tools = [json!(wide.to_string()), json!(deep), json!(good.to_string())];
        assert!(list.take(&tools, &mut Taken::default()));
        assert_eq!(list.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["good"]);
        let reasons: Vec<(Option<&str>, &str)> =
            list.problems.iter().map(|problem| (problem.tool.as_deref(), problem.reason.as_str())).collect();
        assert_eq!(
            reasons,
            [
                (Some("wide"), "its input schema has more than 64 KiB"),
                (Some("deep"), "it is nested deeper than 32 levels"),
            ]
        );
    }

    #[test]
    fn many_tools_within_the_bounds_do_not_take_more_memory_together() {
        let dense = format!("{}1{}", r#"{"a":"#.repeat(28), "}".repeat(28));
        let schema = format!(r#"{{"type":"object","anyOf":[{}]}}"#, vec![dense; 300].join(","));
        assert!(schema.len() < SCHEMA_BYTES);
        let tools: Vec<Value> =
            (0..900).map(|n| json!(format!(r#"{{"name":"t{n}","inputSchema":{schema}}}"#))).collect();
        let (mut list, mut taken) = (ToolList::default(), Taken::default());
        assert!(!list.take(&tools, &mut taken));
        assert!(list.partial && !list.tools.is_empty() && list.tools.len() < 20, "{}", list.tools.len());
    }

    #[test]
    fn the_digest_sees_meaning_and_not_order() {
        let first = list(
            json!([{ "name": "a", "inputSchema": { "type": "object", "properties": { "x": {}, "y": {} } } }]),
        );
        let same = list(
            json!([{ "inputSchema": { "properties": { "y": {}, "x": {} }, "type": "object" }, "name": "a" }]),
        );
        assert_eq!(first.tools[0].digest, same.tools[0].digest);
        let pins = first.pins();
        for other in [
            json!([{ "name": "a", "description": "now evil", "inputSchema": { "type": "object", "properties": { "x": {}, "y": {} } } }]),
            json!([{ "name": "a", "inputSchema": { "type": "object", "properties": { "x": {}, "y": {} } }, "annotations": { "readOnlyHint": true } }]),
            json!([{ "name": "a", "inputSchema": { "type": "object", "properties": { "x": {}, "y": { "type": "string" } } } }]),
        ] {
            assert_eq!(list(other).compare(&pins).changed, ["a"]);
        }
        let moved = list(json!([{ "name": "b" }]));
        let report = moved.compare(&pins);
        assert_eq!((report.new, report.gone), (vec!["b".to_owned()], vec!["a".to_owned()]));
        assert_eq!(same.compare(&pins), PinReport::default());
    }

    #[test]
    fn hidden_characters_do_not_reach_a_model() {
        assert_eq!(plain_for_model("a\u{202e}b\u{e0041}c\u{1b}[0m\u{200b}\n\t好"), "abc[0m\n\t好");
    }
}
