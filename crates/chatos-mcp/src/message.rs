//! One JSON-RPC message, read tolerantly and classified strictly.
//!
//! Reading is forgiving about bytes (broken UTF-8, raw control characters, lone surrogates) because
//! real servers print real output. It is strict about ids: only a reply with exactly our kind of id
//! can match a call, so nothing a server makes up is ever taken for an answer (security E11, E24).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::limits::{LIST_TOOLS, TREE_BYTES};

/// A message from a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    /// An answer to one of our requests.
    Reply { id: u64, result: Result<Value, RpcError> },
    /// A request of the server; its id is sent back as it came.
    Request { id: Value, method: String, params: Value },
    /// Something told, nothing expected.
    Notification { method: String, params: Value },
}

/// A JSON-RPC error object.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// What the server says.
    pub message: String,
    /// Its detail.
    pub data: Option<Value>,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Nothing in it.
    Blank,
    /// Not one JSON object on one line.
    Framing,
    /// JSON, but no message we could use.
    Foreign(&'static str),
    /// A reply to this id that cannot be read.
    Reply { id: u64, reason: String },
}

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Result<Incoming, Unread> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Err(Unread::Blank);
    }
    if line[0] != b'{' {
        return Err(Unread::Framing);
    }
    match parse(line) {
        Ok(value) => classify(value),
        Err(reason) => match shallow_reply_id(line) {
            Some(id) => Err(Unread::Reply { id, reason }),
            None => Err(Unread::Framing),
        },
    }
}

/// The id of a reply, found without reading it.
pub(crate) fn reply_id(line: &[u8]) -> Option<u64> {
    shallow_reply_id(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii())
}

/// Reads the reply to a request for a list of tools. Each tool of it comes as the text it was written in:
/// what a tree of it costs is not known before somebody looked (security T11).
pub(crate) fn read_listing(line: &[u8]) -> Result<Incoming, Unread> {
    #[derive(Deserialize)]
    struct Reply<'a> {
        #[serde(borrow)]
        result: Option<&'a RawValue>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    let text = text_of(line);
    let reply = serde_json::from_str::<Reply<'_>>(&text).ok();
    let result = reply.and_then(|reply| if reply.error.is_none() { reply.result } else { None });
    // Anything else is read as every message, unless it could not be a small one.
    let (Some(id), Some(result)) = (reply_id(text.as_bytes()), result) else {
        return match reply_id(line).filter(|_| weigh(line).bytes > TREE_BYTES) {
            Some(id) => Err(Unread::Reply { id, reason: "it is too large".to_owned() }),
            None => read(text.as_bytes()),
        };
    };
    let listing = serde_json::from_str::<Listing>(result.get());
    let listing = listing.map_err(|error| Unread::Reply { id, reason: error.to_string() })?;
    let mut result = Map::new();
    if let Some(tools) = listing.tools {
        result.insert("tools".to_owned(), Value::Array(tools));
    }
    if let Some(cursor) = listing.next_cursor {
        result.insert("nextCursor".to_owned(), Value::String(cursor));
    }
    Ok(Incoming::Reply { id, result: Ok(Value::Object(result)) })
}

/// What a tree of some JSON would be, found without making one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// Memory it takes, roughly: an object with one short member takes a hundred times its text.
    pub bytes: usize,
    pub depth: usize,
}

/// Weighs a text that should be JSON.
pub fn weigh(json: &[u8]) -> Weight {
    /// Room for four members and their table, for four items, and for each further one.
    const OBJECT: usize = 512;
    const ARRAY: usize = 288;
    const MORE: usize = 140;
    let mut weight = Weight { bytes: json.len(), depth: 0 };
    let (mut at, mut depth) = (0, 0usize);
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(found) = memchr::memchr2(b'"', b'\\', json.get(at..).unwrap_or_default()) {
                    at += found;
                    if json.get(at) == Some(&b'"') {
                        break;
                    }
                    at += 2;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                weight.depth = weight.depth.max(depth);
                weight.bytes += if byte == b'{' { OBJECT } else { ARRAY };
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => weight.bytes += MORE,
            _ => {}
        }
        at += 1;
    }
    weight
}

/// The messages of an array, as an older revision allowed them over HTTP.
pub(crate) fn batch(body: &[u8], mut each: impl FnMut(&[u8])) {
    let text = text_of(body);
    for message in serde_json::from_str::<Vec<&RawValue>>(&text).unwrap_or_default() {
        each(message.get().as_bytes());
    }
}

/// The text of bytes that should be JSON, repaired where that is needed.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    match std::str::from_utf8(bytes) {
        Ok(text) if serde_json::from_str::<&RawValue>(text).is_ok() => Cow::Borrowed(text),
        _ => Cow::Owned(repair(&String::from_utf8_lossy(bytes)).into_owned()),
    }
}

/// The result of a request for tools.
#[derive(Deserialize)]
struct Listing {
    #[serde(default, deserialize_with = "texts")]
    tools: Option<Vec<Value>>,
    #[serde(default, rename = "nextCursor", deserialize_with = "text")]
    next_cursor: Option<String>,
}

/// The items of a list as they were written, up to one more than are taken; nothing when it is no list.
fn texts<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Vec<Value>>, D::Error> {
    struct Items;
    impl<'de> Visitor<'de> for Items {
        type Value = Vec<Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Value>, A::Error> {
            let mut all = Vec::new();
            while all.len() <= LIST_TOOLS {
                let Some(item) = items.next_element::<&RawValue>()? else { return Ok(all) };
                all.push(Value::String(item.get().to_owned()));
            }
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(all)
        }
    }
    let raw = <&RawValue>::deserialize(reader)?;
    Ok(serde_json::Deserializer::from_str(raw.get()).deserialize_seq(Items).ok())
}

/// A text, or nothing when it is something else.
fn text<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let raw = <&RawValue>::deserialize(reader)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// Sorts a parsed message.
pub(crate) fn classify(value: Value) -> Result<Incoming, Unread> {
    let Value::Object(mut map) = value else { return Err(Unread::Framing) };
    let id = map.remove("id");
    if let Some(method) = map.remove("method") {
        let Value::String(method) = method else { return Err(Unread::Foreign("a method that is no text")) };
        let params = map.remove("params").unwrap_or(Value::Null);
        return match id {
            None => Ok(Incoming::Notification { method, params }),
            Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Incoming::Request { id, method, params }),
            Some(_) => Err(Unread::Foreign("a request with an unusable id")),
        };
    }
    let (result, error) = (map.remove("result"), map.remove("error").filter(|error| !error.is_null()));
    let result = match (result, error) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(rpc_error(error)),
        // Old libraries write both keys, one of them null.
        (Some(Value::Null), Some(error)) => Err(rpc_error(error)),
        (Some(_), Some(_)) => return Err(Unread::Foreign("a reply with a result and an error")),
        (None, None) => return Err(Unread::Foreign("an object that is no message")),
    };
    // A float, a text or null is never one of our ids.
    let id = id.as_ref().and_then(Value::as_number).and_then(serde_json::Number::as_u64);
    let Some(id) = id else { return Err(Unread::Foreign("a reply with an id that is not ours")) };
    Ok(Incoming::Reply { id, result })
}

/// Reads an error object; what is missing is said.
pub(crate) fn rpc_error(error: Value) -> RpcError {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(-32603);
    let message = match error.get("message") {
        Some(Value::String(text)) if !text.is_empty() => text.clone(),
        Some(other) if !other.is_null() => other.to_string(),
        _ => match &error {
            Value::String(text) => text.clone(),
            _ => "an error without a message".to_owned(),
        },
    };
    let data = error.get("data").filter(|data| !data.is_null()).cloned();
    RpcError { code, message, data }
}

/// Parses bytes that should be JSON; a second attempt repairs what servers get wrong inside strings.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let first = match std::str::from_utf8(bytes) {
        Ok(text) => match serde_json::from_str(text) {
            Ok(value) => return Ok(value),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(&repair(&text)).map_err(|_| first)
}

/// Escapes raw control characters inside strings and replaces lone surrogates.
fn repair(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.char_indices().peekable();
    let mut in_string = false;
    // The escape `\uXXXX` at a byte position, as its value.
    let escape = |at: usize| -> Option<u32> {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(hex, 16).ok()
    };
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => {
                in_string = !in_string;
                out.push(c);
            }
            '\\' if in_string => {
                let mut take = |count: usize, out: &mut String| {
                    for _ in 0..count {
                        if let Some((_, c)) = rest.next() {
                            out.push(c);
                        }
                    }
                };
                match escape(at) {
                    Some(high @ 0xD800..=0xDBFF)
                        if escape(at + 6).is_some_and(|low| (0xDC00..=0xDFFF).contains(&low)) =>
                    {
                        out.push('\\');
                        take(11, &mut out);
                        debug_assert!(high >= 0xD800);
                    }
                    Some(0xD800..=0xDFFF) => {
                        out.push_str("\\ufffd");
                        let mut dropped = String::new();
                        take(5, &mut dropped);
                    }
                    _ => {
                        out.push('\\');
                        take(1, &mut out);
                    }
                }
            }
            c if in_string && (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The id of a reply that is one whole object but cannot be parsed (too deep, a bad number): found
/// without recursion, so that its caller gets an error instead of silence.
fn shallow_reply_id(line: &[u8]) -> Option<u64> {
    let mut depth = 0usize;
    let mut at = 0;
    let mut id = None;
    let mut key: Option<&[u8]> = None;
    while at < line.len() {
        match line[at] {
            b'"' => {
                let start = at + 1;
                at = start;
                while *line.get(at)? != b'"' {
                    at += if line[at] == b'\\' { 2 } else { 1 };
                }
                let text = &line[start..at];
                if depth == 1 && key.is_none() {
                    key = Some(text);
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    // Something after the object: two messages on a line are no message.
                    return (at + 1 == line.len()).then_some(id).flatten();
                }
            }
            b',' if depth == 1 => key = None,
            b'0'..=b'9' if depth == 1 && key == Some(b"id") => {
                let end = line[at..].iter().position(|b| !b.is_ascii_digit()).map_or(line.len(), |n| at + n);
                let whole =
                    line.get(end).is_some_and(|b| matches!(b, b',' | b'}') || b.is_ascii_whitespace());
                id = whole.then(|| std::str::from_utf8(&line[at..end]).ok()?.parse().ok()).flatten();
                at = end - 1;
            }
            _ if depth == 1 && key == Some(b"method") => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// A request of ours as one line.
pub(crate) fn request(id: u64, method: &str, params: Map<String, Value>) -> Vec<u8> {
    line([("id", json!(id)), ("method", json!(method)), ("params", Value::Object(params))])
}

/// A notification of ours as one line.
pub(crate) fn notification(method: &str, params: Option<Map<String, Value>>) -> Vec<u8> {
    match params {
        Some(params) => line([("method", json!(method)), ("params", Value::Object(params))]),
        None => line([("method", json!(method))]),
    }
}

/// Our answer to a request of the server.
pub(crate) fn reply(id: &Value, result: Result<Value, RpcError>) -> Vec<u8> {
    match result {
        Ok(result) => line([("id", id.clone()), ("result", result)]),
        Err(error) => {
            let mut object = json!({ "code": error.code, "message": error.message });
            if let Some(data) = error.data {
                object["data"] = data;
            }
            line([("id", id.clone()), ("error", object)])
        }
    }
}

/// Moves its parts in: arguments may be megabytes.
fn line<const N: usize>(parts: [(&str, Value); N]) -> Vec<u8> {
    let mut message = Map::new();
    message.insert("jsonrpc".to_owned(), json!("2.0"));
    message.extend(parts.map(|(key, value)| (key.to_owned(), value)));
    let mut bytes = Value::Object(message).to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reply_text(line: &[u8]) -> String {
        match read(line) {
            Ok(Incoming::Reply { result: Ok(value), .. }) => value.as_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn broken_text_is_replaced_and_the_message_kept() {
        assert_eq!(reply_text(b"{\"id\":1,\"result\":\"a\xff\xfeb\"}"), "a\u{fffd}\u{fffd}b");
        assert_eq!(reply_text(b"{\"id\":1,\"result\":\"a\0b\"}"), "a\0b");
        assert_eq!(reply_text(br#"{"id":1,"result":"a\ud800b"}"#), "a\u{fffd}b");
        assert_eq!(reply_text(b"{\"id\":1,\"result\":\"\\ud83d\\ude00 \\udc00\x01\"}"), "😀 \u{fffd}\u{1}");
        assert_eq!(reply_text(b"\xef\xbb\xbf{\"id\":1,\"result\":\"x\"}\r"), "x");
        assert_eq!(reply_text(b"{\"id\":1,\"result\":\"\\\\\\\"\x02\"}"), "\\\"\u{2}");
    }

    #[test]
    fn only_our_kind_of_id_is_a_reply_to_us() {
        for line in [
            r#"{"id":"1","result":{}}"#,
            r#"{"id":1.0,"result":{}}"#,
            r#"{"id":1.5,"result":{}}"#,
            r#"{"id":-1,"result":{}}"#,
            r#"{"id":null,"result":{}}"#,
            r#"{"result":{}}"#,
            r#"{"id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
            r#"{"id":1}"#,
        ] {
            assert!(matches!(read(line.as_bytes()), Err(Unread::Foreign(_))), "{line}");
        }
        assert!(matches!(
            read(br#"{"id":1,"method":"ping"}"#),
            Ok(Incoming::Request { id, .. }) if id == json!(1)
        ));
        assert!(matches!(
            read(br#"{"id":7,"error":{"code":-32601,"message":"no"},"result":null}"#),
            Ok(Incoming::Reply { id: 7, result: Err(_) })
        ));
    }

    #[test]
    fn other_framings_are_named_as_such() {
        for line in [
            "Content-Length: 40",
            "[{\"id\":1,\"result\":{}}]",
            "{\"id\":1,\"result\":{}}{\"id\":2,\"result\":{}}",
            "{",
            "  \"id\": 1,",
            "Server running on stdio",
        ] {
            assert_eq!(read(line.as_bytes()), Err(Unread::Framing), "{line}");
        }
        assert_eq!(read(b" \r"), Err(Unread::Blank));
    }

    #[test]
    fn a_list_comes_with_its_tools_unread() {
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{{"name":"a"}}, {deep} ,7],"nextCursor":"n"}}}}"#
        );
        let Ok(Incoming::Reply { id: 3, result: Ok(list) }) = read_listing(line.as_bytes()) else {
            panic!("no list")
        };
        assert_eq!(list, json!({ "tools": [r#"{"name":"a"}"#, deep, "7"], "nextCursor": "n" }));
        let many = format!(r#"{{"id":3,"result":{{"tools":[{}1]}}}}"#, "1,".repeat(500_000));
        let Ok(Incoming::Reply { result: Ok(list), .. }) = read_listing(many.as_bytes()) else {
            panic!("no list")
        };
        assert_eq!(list["tools"].as_array().unwrap().len(), LIST_TOOLS + 1);
        for none in [r#"{"id":3,"result":{"tools":{"a":1}}}"#, r#"{"id":3,"result":{}}"#] {
            let Ok(Incoming::Reply { result: Ok(list), .. }) = read_listing(none.as_bytes()) else {
                panic!("{none}")
            };
            assert!(list.get("tools").is_none(), "{none}");
        }
        assert!(matches!(
            read_listing(br#"{"id":3,"error":{"code":-32601,"message":"no"}}"#),
            Ok(Incoming::Reply { id: 3, result: Err(_) })
        ));
        let broken = b"{\"id\":3,\"result\":{\"tools\":[{\"name\":\"a\xff\"}]}}";
        assert!(matches!(read_listing(broken), Ok(Incoming::Reply { id: 3, result: Ok(_) })));
    }

    #[test]
    fn what_a_tree_would_take_is_known_before_there_is_one() {
        let dense = format!("{}1{}", r#"{"":"#.repeat(1_000), "}".repeat(1_000));
        let weight = weigh(dense.as_bytes());
        assert_eq!(weight.depth, 1_000);
        assert!(weight.bytes > 500 * 1_000, "{weight:?}");
        let text = json!("{[,\\\"".repeat(1_000)).to_string();
        assert_eq!(weigh(text.as_bytes()), Weight { bytes: text.len(), depth: 0 });
        for torn in [&br#""a\"#[..], b"\"", b"", b"]]]]", b"{\"a"] {
            weigh(torn);
        }
    }

    #[test]
    fn a_reply_too_deep_to_read_still_ends_its_call() {
        let deep =
            format!("{{\"jsonrpc\":\"2.0\",\"id\": 42 ,\"result\":{}1{}}}", "[".repeat(500), "]".repeat(500));
        assert!(matches!(read(deep.as_bytes()), Err(Unread::Reply { id: 42, .. })));
        let other =
            format!("{{\"result\":{{\"id\":9,\"x\":{}1{}}},\"id\":\"a\"}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(read(other.as_bytes()), Err(Unread::Framing));
    }
}
