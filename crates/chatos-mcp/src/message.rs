//! One JSON-RPC message, read tolerantly and classified strictly.
//!
//! Reading is forgiving about bytes (broken UTF-8, raw control characters, lone surrogates) because
//! real servers print real output. It is strict about ids: only a reply with exactly our kind of id
//! can match a call, so nothing a server makes up is ever taken for an answer (security E11, E24).

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value, json};

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

/// How deep [`read_shallow`] reads; well within what the parser takes.
pub(crate) const SHALLOW_DEPTH: usize = 100;

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

/// Reads one line whose values may be nested deeper than a parser goes: what lies too deep comes as
/// `null`. Only for listings, whose reader refuses what is deeper than half of that; a result must come
/// whole or not at all.
pub(crate) fn read_shallow(line: &[u8]) -> Result<Incoming, Unread> {
    read(&shallow(line))
}

fn shallow(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for &byte in line {
        let cut = depth > SHALLOW_DEPTH;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth == SHALLOW_DEPTH + 1 {
                    out.extend_from_slice(b"null");
                    continue;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !cut {
            out.push(byte);
        }
    }
    out
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
    fn a_reply_too_deep_to_read_still_ends_its_call() {
        let deep =
            format!("{{\"jsonrpc\":\"2.0\",\"id\": 42 ,\"result\":{}1{}}}", "[".repeat(500), "]".repeat(500));
        assert!(matches!(read(deep.as_bytes()), Err(Unread::Reply { id: 42, .. })));
        let other =
            format!("{{\"result\":{{\"id\":9,\"x\":{}1{}}},\"id\":\"a\"}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(read(other.as_bytes()), Err(Unread::Framing));
    }
}
