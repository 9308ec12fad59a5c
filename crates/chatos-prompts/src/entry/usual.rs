//! The quick way through a line written as the protocol writes it: compact, keys in the order of
//! `ui-prompts §2`, nothing else on the line.
//!
//! Nearly every line of a long log is one, so a cold start spends its time here. Anything unusual —
//! a blank between tokens, another key, an escape in an id, a second object — is left to the general
//! scanner, which decides; where this function answers, the two agree (a property test holds them to it).

use chatos_lines::scan::{self, MAX_DEPTH};

use super::{Action, Head};
use crate::clock::Days;
use crate::ids;
use crate::kind::Kind;
use crate::response::Status;

const TS: &[u8] = b"{\"ts\":\"";
const STAMP: usize = 24;
const TYPE: &[u8] = b"\",\"type\":\"ui_prompt\",\"action\":\"re";
const REQUEST: &[u8] = b"quest\",\"requestId\":\"";
const RESPONSE: &[u8] = b"sponse\",\"requestId\":\"";
const RUN: &[u8] = b",\"runId\":\"";
const PROMPT: &[u8] = b",\"prompt\":{";
const RESPONSE_BODY: &[u8] = b",\"response\":{";
const CHATOS: &[u8] = b",\"chatos\":{";

/// The head of a usual line: lengths instead of texts, since the places are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usual {
    pub(crate) ts: i64,
    /// 0: none.
    timeout_ms: u32,
    id_len: u16,
    /// 0: no run.
    run_len: u16,
    pub(crate) action: Action,
    pub(crate) kind: Option<Kind>,
    pub(crate) status: Status,
    pub(crate) signed: bool,
}

impl Usual {
    fn id_start(self) -> usize {
        let action = if self.action == Action::Request { REQUEST } else { RESPONSE };
        TS.len() + STAMP + TYPE.len() + action.len()
    }

    /// The id, out of the line this was read from.
    #[inline]
    pub(crate) fn id(self, line: &str) -> &str {
        let start = self.id_start();
        line.get(start..start + usize::from(self.id_len)).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn run(self, line: &str) -> Option<&str> {
        if self.run_len == 0 {
            return None;
        }
        let start = self.id_start() + usize::from(self.id_len) + 1 + RUN.len();
        line.get(start..start + usize::from(self.run_len))
    }

    pub(crate) fn timeout_ms(self) -> Option<u32> {
        (self.timeout_ms != 0).then_some(self.timeout_ms)
    }

    pub(crate) fn head(self, line: &str) -> Head<'_> {
        self.head_of(self.id(line), self.run(line), None)
    }

    /// The head with texts that were kept elsewhere.
    #[inline]
    pub(crate) fn head_of<'a>(self, id: &'a str, run: Option<&'a str>, hash: Option<u64>) -> Head<'a> {
        Head {
            action: self.action,
            id: id.into(),
            run: run.map(Into::into),
            ts: Some(self.ts),
            kind: self.kind,
            timeout_ms: self.timeout_ms(),
            status: self.status,
            signed: self.signed,
            hash,
            repeats: false,
        }
    }
}

/// Reads a whole line, or says `None` when it is not of the usual form.
pub(crate) fn read(line: &str, days: &mut Days) -> Option<Usual> {
    let b = line.as_bytes();
    let rest = b.strip_prefix(TS)?;
    let ts = days.parse(rest.get(..STAMP)?)?;
    let mut pos = TS.len() + STAMP;
    pos += eat(b, pos, TYPE)?;
    let action = match b.get(pos) {
        Some(b'q') => Action::Request,
        _ => Action::Response,
    };
    pos += eat(b, pos, if action == Action::Request { REQUEST } else { RESPONSE })?;
    let id_len = id(b, pos)?;
    pos += usize::from(id_len) + 1;
    let mut run_len = 0;
    if let Some(skip) = eat(b, pos, RUN) {
        pos += skip;
        run_len = id(b, pos)?;
        pos += usize::from(run_len) + 1;
    }
    let (mut kind, mut timeout_ms, mut status) = (None, 0, Status::Error);
    if action == Action::Request {
        pos += eat(b, pos, PROMPT)?;
        let body = body(b, pos, b"kind", b"timeoutMs")?;
        kind = body.first.text(line).and_then(Kind::parse);
        if let Value::Scalar(start, end) = body.second {
            timeout_ms = super::timeout_of(line.get(start..end)?).unwrap_or(0);
        }
        pos = body.end;
    } else {
        pos += eat(b, pos, RESPONSE_BODY)?;
        let body = body(b, pos, b"status", b"")?;
        let text = body.first.text(line).filter(|status| !status.trim().is_empty())?;
        status = Status::read(text);
        pos = body.end;
    }
    let mut signed = false;
    if let Some(skip) = eat(b, pos, CHATOS) {
        let stamp = body(b, pos + skip, b"sig", b"")?;
        signed = matches!(stamp.first, Value::Text(..));
        pos = stamp.end;
    }
    if &b[pos..] != b"}" {
        return None;
    }
    Some(Usual { ts, timeout_ms, id_len, run_len, action, kind, status, signed })
}

// The length of an id that needs no trimming; `pos` is after the opening quote.
#[inline]
fn id(b: &[u8], pos: usize) -> Option<u16> {
    let end = scan::plain_run(b, pos);
    let text = &b[pos..end];
    (b.get(end) == Some(&b'"') && ids::is_plain(text)).then_some(text.len() as u16)
}

#[inline]
fn eat(b: &[u8], pos: usize, text: &[u8]) -> Option<usize> {
    b.get(pos..pos + text.len()).is_some_and(|there| there == text).then_some(text.len())
}

/// What a watched key holds.
#[derive(Clone, Copy)]
enum Value {
    Absent,
    /// Between the quotes, without escapes.
    Text(usize, usize),
    /// A number or a literal.
    Scalar(usize, usize),
    Other,
}

impl Value {
    fn text(self, line: &str) -> Option<&str> {
        match self {
            Value::Text(start, end) => line.get(start..end),
            _ => None,
        }
    }
}

struct Body {
    /// Position after the closing brace.
    end: usize,
    first: Value,
    second: Value,
}

// Walks the object whose opening brace stands before `pos`. Of the two watched keys the last value
// counts. `None` for anything invalid or unusual.
#[inline]
fn body(b: &[u8], mut pos: usize, first: &[u8], second: &[u8]) -> Option<Body> {
    let mut out = Body { end: 0, first: Value::Absent, second: Value::Absent };
    if b.get(pos) == Some(&b'}') {
        out.end = pos + 1;
        return Some(out);
    }
    // Bit i set: the container at depth i + 1 is an object. The line itself is one level around it.
    let mut stack: u64 = 1;
    let mut depth: u32 = 1;
    let mut in_object = true;
    loop {
        // 0: not watched; 1, 2: which.
        let mut watched = 0;
        if in_object {
            if b.get(pos) != Some(&b'"') {
                return None;
            }
            let (end, escaped) = string(b, pos + 1)?;
            if depth == 1 {
                if escaped {
                    return None;
                }
                let name = &b[pos + 1..end];
                watched = if name == first {
                    1
                } else if name == second {
                    2
                } else {
                    0
                };
            }
            if b.get(end + 1) != Some(&b':') {
                return None;
            }
            pos = end + 2;
        }
        let start = pos;
        let found = match *b.get(pos)? {
            b'"' => {
                let (end, escaped) = string(b, pos + 1)?;
                if watched != 0 && escaped {
                    return None;
                }
                pos = end + 1;
                Value::Text(start + 1, end)
            }
            open @ (b'{' | b'[') => {
                pos += 1;
                let close = if open == b'{' { b'}' } else { b']' };
                if b.get(pos) == Some(&close) {
                    pos += 1;
                } else {
                    if depth == MAX_DEPTH - 1 {
                        return None;
                    }
                    match watched {
                        1 => out.first = Value::Other,
                        2 => out.second = Value::Other,
                        _ => {}
                    }
                    in_object = open == b'{';
                    stack = (stack & !(1 << depth)) | (u64::from(in_object) << depth);
                    depth += 1;
                    continue;
                }
                Value::Other
            }
            _ => {
                pos = scan::scalar(b, pos).ok()?;
                Value::Scalar(start, pos)
            }
        };
        match watched {
            1 => out.first = found,
            2 => out.second = found,
            _ => {}
        }
        loop {
            match *b.get(pos)? {
                b',' => {
                    pos += 1;
                    break;
                }
                close @ (b'}' | b']') if (close == b'}') == in_object => {
                    pos += 1;
                    depth -= 1;
                    if depth == 0 {
                        out.end = pos;
                        return Some(out);
                    }
                    in_object = stack & (1 << (depth - 1)) != 0;
                }
                _ => return None,
            }
        }
    }
}

// The position of the closing quote, and whether a backslash came before it.
#[inline]
fn string(b: &[u8], mut pos: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        pos = scan::plain_run(b, pos);
        match *b.get(pos)? {
            b'"' => return Some((pos, escaped)),
            b'\\' => {
                escaped = true;
                pos = scan::escape(b, pos).ok()?;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{Read, read_head};
    use super::*;

    fn general(line: &str) -> Option<Head<'_>> {
        let found = scan::object(line.as_bytes(), 0).ok().filter(|found| found.end == line.len())?;
        match read_head(line.as_bytes(), &found) {
            Read::Entry(head) => Some(head),
            Read::Other | Read::Bad => None,
        }
    }

    #[test]
    fn usual_lines_are_read_and_others_left() {
        let usual = |line: &str| -> Option<Head<'static>> {
            let head = read(line, &mut Days::default())?.head(line);
            assert_eq!(Some(&head), general(line).as_ref(), "{line}");
            Some(head.to_owned())
        };
        let request = r#"{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":"a-1","runId":"r","prompt":{"kind":"kv","timeoutMs":5000,"fields":[{"key":"中\n","n":[1,-2.5e3,true,null,[],{}]}]},"chatos":{"v":1,"sig":"x"}}"#;
        let head = usual(request).unwrap();
        assert_eq!((&*head.id, head.run.as_deref(), head.signed), ("a-1", Some("r"), true));
        assert_eq!((head.kind, head.timeout_ms), (Some(Kind::Kv), Some(5000)));
        let response = r#"{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"response","requestId":"a","response":{"status":"cancelled"}}"#;
        assert_eq!(usual(response).unwrap().status, Status::Canceled);
        for (from, to) in [
            ("{\"ts\"", "{ \"ts\""),
            ("a-1", " a-1"),
            ("a-1", ""),
            ("a-1", "a\\u002d1"),
            ("a-1", "é"),
            ("\"runId\"", "\"more\":1,\"runId\""),
            ("\"kind\"", "\"k\\u0069nd\""),
            ("\"sig\":\"x\"}}", "\"sig\":\"x\"}}{}"),
            ("\"sig\":\"x\"}}", "\"sig\":\"x\"}"),
            ("2026-01-11T", "2026-13-11T"),
        ] {
            assert_eq!(usual(&request.replacen(from, to, 1)), None, "{to}");
        }
        // The last of repeated keys counts, as in the general scanner.
        for twice in [
            request.replacen("\"kv\"", "\"kv\",\"kind\":\"choice\"", 1),
            request.replacen("\"kv\"", "\"kv\",\"kind\":{\"kind\":\"x\"}", 1),
            request.replacen("5000", "5000,\"timeoutMs\":[1]", 1),
            request.replacen("5000", "true", 1),
            request.replacen("\"x\"}", "\"x\",\"sig\":1}", 1),
        ] {
            assert!(usual(&twice).is_some(), "{twice}");
        }
    }

    #[test]
    fn the_depth_limit_is_the_same() {
        for levels in [60, 61, 62, 63, 64, 65] {
            let inner = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
            let line = format!(
                r#"{{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":"a","prompt":{{"kind":"kv","x":{inner}}}}}"#
            );
            assert_eq!(read(&line, &mut Days::default()).is_some(), general(&line).is_some(), "{levels}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        /// Whatever is changed in a usual line: where this way answers, the general one says the same.
        #[test]
        fn agrees_with_the_general_scanner(
            response in any::<bool>(),
            run in any::<bool>(),
            signed in any::<bool>(),
            text in "[a中\"\\\\{}\\[\\],: \n]{0,10}",
            status in prop_oneof![Just("ok"), Just(" "), Just("x\"y")],
            edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(
                b"\"\\{}[],:0a \n\x7f".to_vec()), any::<bool>()), 0..3),
        ) {
            let mut entry = json!({"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt",
                "action":if response {"response"} else {"request"},"requestId":"id-1"});
            if run {
                entry["runId"] = json!("run-1");
            }
            if response {
                entry["response"] = json!({"status":status,"values":{"k":text}});
            } else {
                entry["prompt"] = json!({"kind":"kv","title":text,"timeoutMs":1000,"fields":[{"key":"k"},[],{},true]});
            }
            if signed {
                entry["chatos"] = json!({"v":1,"sig":text});
            }
            let mut bytes = entry.to_string().into_bytes();
            for (at, byte, insert) in edits {
                let at = at.index(bytes.len());
                if insert { bytes.insert(at, byte) } else { bytes[at] = byte }
            }
            if let Ok(line) = std::str::from_utf8(&bytes)
                && let Some(usual) = read(line, &mut Days::default())
            {
                prop_assert_eq!(Some(usual.head(line)), general(line), "{}", line);
            }
        }
    }
}
