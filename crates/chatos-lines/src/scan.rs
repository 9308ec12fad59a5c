//! One pass over a JSON object without recursion: says where it ends, whether it is valid, and where
//! the few values live that the fold needs.
//!
//! A log of a million lines is read with this and nothing else; the full text of a prompt is parsed
//! only when somebody looks at it. Depth is bounded by [`MAX_DEPTH`] with a bit stack, so hostile
//! nesting costs a bad line and no stack (`ui-prompts §3.3`).

/// Objects and arrays nested deeper than this make a line bad.
pub const MAX_DEPTH: u32 = 64;

/// Why no object was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanError {
    /// The bytes end inside the object; more may follow.
    Incomplete,
    /// No continuation can make these bytes valid.
    Invalid,
    TooDeep,
}

/// Where a value lies in the scanned bytes. Lines are at most 16 MiB, so 32 bits are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Raw {
    #[default]
    Absent,
    /// Between the quotes; `escaped` when a backslash occurs.
    Str {
        start: u32,
        end: u32,
        escaped: bool,
    },
    Num {
        start: u32,
        end: u32,
    },
    Object {
        start: u32,
        end: u32,
    },
    /// Present, but none of the above.
    Other,
}

/// The values the fold looks at. For a repeated key the last one counts, as in every JSON reader.
#[derive(Debug, Default)]
pub struct Object {
    /// Position after the closing brace.
    pub end: usize,
    pub ts: Raw,
    pub kind_of_line: Raw,
    pub action: Raw,
    pub request_id: Raw,
    pub run_id: Raw,
    pub prompt: Raw,
    pub response: Raw,
    pub chatos: Raw,
    /// `prompt.kind`
    pub kind: Raw,
    /// `prompt.timeoutMs`
    pub timeout: Raw,
    /// `response.status`
    pub status: Raw,
    /// `chatos.sig`
    pub sig: Raw,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    None,
    Ts,
    Type,
    Action,
    RequestId,
    RunId,
    Prompt,
    Response,
    Chatos,
    Kind,
    Timeout,
    Status,
    Sig,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    FirstKey,
    Key,
    FirstValue,
    Value,
    After,
}

/// Scans the object that starts at `b[start]`, which must be `{`.
pub fn object(b: &[u8], start: usize) -> Result<Object, ScanError> {
    let mut out = Object::default();
    let mut stack: u64 = 1; // bit i set: the container at depth i+1 is an object
    let mut depth: u32 = 1;
    let mut pos = start + 1;
    let mut key = Key::None;
    let mut outer = Key::None; // the depth-1 key whose object we are in
    let mut outer_start = 0usize;
    let mut expect = Expect::FirstKey;
    loop {
        pos = skip_space(b, pos);
        let Some(&c) = b.get(pos) else { return Err(ScanError::Incomplete) };
        match expect {
            Expect::FirstKey | Expect::Key if c == b'"' => {
                let text = string(b, pos)?;
                key = match depth {
                    1 => outer_key(b, &text),
                    2 if outer != Key::None => inner_key(outer, b, &text),
                    _ => Key::None,
                };
                pos = skip_space(b, text.end + 1);
                match b.get(pos) {
                    Some(b':') => pos += 1,
                    Some(_) => return Err(ScanError::Invalid),
                    None => return Err(ScanError::Incomplete),
                }
                expect = Expect::Value;
            }
            Expect::FirstKey if c == b'}' => expect = Expect::After,
            Expect::FirstKey | Expect::Key => return Err(ScanError::Invalid),
            Expect::FirstValue if c == b']' => expect = Expect::After,
            Expect::Value | Expect::FirstValue => match c {
                b'"' => {
                    let text = string(b, pos)?;
                    if key != Key::None {
                        let found = Raw::Str {
                            start: text.start as u32,
                            end: text.end as u32,
                            escaped: text.escaped,
                        };
                        out.set(key, found);
                        key = Key::None;
                    }
                    pos = text.end + 1;
                    expect = Expect::After;
                }
                b'{' | b'[' => {
                    if depth == MAX_DEPTH {
                        return Err(ScanError::TooDeep);
                    }
                    if key != Key::None {
                        // A container where a text belongs; the three objects are set when they close.
                        out.set(key, Raw::Other);
                        if depth == 1 {
                            outer = if c == b'{' { key } else { Key::None };
                            outer_start = pos;
                        }
                        key = Key::None;
                    } else if depth == 1 {
                        outer = Key::None;
                    }
                    let bit = 1u64 << depth;
                    if c == b'{' {
                        stack |= bit;
                        expect = Expect::FirstKey;
                    } else {
                        stack &= !bit;
                        expect = Expect::FirstValue;
                    }
                    depth += 1;
                    pos += 1;
                }
                _ => {
                    let end = scalar(b, pos)?;
                    if key != Key::None {
                        let number = c == b'-' || c.is_ascii_digit();
                        let found =
                            if number { Raw::Num { start: pos as u32, end: end as u32 } } else { Raw::Other };
                        out.set(key, found);
                        key = Key::None;
                    }
                    pos = end;
                    expect = Expect::After;
                }
            },
            Expect::After => {}
        }
        if expect != Expect::After {
            continue;
        }
        // Close as many containers as end here, then continue the innermost open one.
        pos = skip_space(b, pos);
        let Some(&c) = b.get(pos) else { return Err(ScanError::Incomplete) };
        let in_object = stack & (1u64 << (depth - 1)) != 0;
        match c {
            b',' => {
                pos += 1;
                expect = if in_object { Expect::Key } else { Expect::Value };
            }
            b'}' | b']' if in_object == (c == b'}') => {
                pos += 1;
                depth -= 1;
                if depth == 0 {
                    out.end = pos;
                    return Ok(out);
                }
                if depth == 1 && outer != Key::None {
                    out.set(outer, Raw::Object { start: outer_start as u32, end: pos as u32 });
                    outer = Key::None;
                }
            }
            _ => return Err(ScanError::Invalid),
        }
    }
}

impl Object {
    #[inline]
    fn set(&mut self, key: Key, value: Raw) {
        match key {
            Key::Ts => self.ts = value,
            Key::Type => self.kind_of_line = value,
            Key::Action => self.action = value,
            Key::RequestId => self.request_id = value,
            Key::RunId => self.run_id = value,
            Key::Prompt => {
                self.prompt = value;
                if value == Raw::Other {
                    (self.kind, self.timeout) = (Raw::Absent, Raw::Absent);
                }
            }
            Key::Response => {
                self.response = value;
                if value == Raw::Other {
                    self.status = Raw::Absent;
                }
            }
            Key::Chatos => {
                self.chatos = value;
                if value == Raw::Other {
                    self.sig = Raw::Absent;
                }
            }
            Key::Kind => self.kind = value,
            Key::Timeout => self.timeout = value,
            Key::Status => self.status = value,
            Key::Sig => self.sig = value,
            Key::None => {}
        }
    }
}

fn outer_key(b: &[u8], text: &Text) -> Key {
    let classify = |name: &[u8]| match name {
        b"ts" => Key::Ts,
        b"type" => Key::Type,
        b"action" => Key::Action,
        b"requestId" => Key::RequestId,
        b"runId" => Key::RunId,
        b"prompt" => Key::Prompt,
        b"response" => Key::Response,
        b"chatos" => Key::Chatos,
        _ => Key::None,
    };
    named(b, text, classify)
}

fn inner_key(outer: Key, b: &[u8], text: &Text) -> Key {
    let classify = |name: &[u8]| match (outer, name) {
        (Key::Prompt, b"kind") => Key::Kind,
        (Key::Prompt, b"timeoutMs") => Key::Timeout,
        (Key::Response, b"status") => Key::Status,
        (Key::Chatos, b"sig") => Key::Sig,
        _ => Key::None,
    };
    named(b, text, classify)
}

fn named(b: &[u8], text: &Text, classify: impl Fn(&[u8]) -> Key) -> Key {
    if !text.escaped {
        return classify(&b[text.start..text.end]);
    }
    // `"t\u0079pe"` is the key `type` to every other reader, so it is to us.
    decode(b, text.start, text.end).map_or(Key::None, |name| classify(name.as_bytes()))
}

/// The text of a string value; `None` when it holds a lone surrogate or invalid UTF-8.
pub fn decode(b: &[u8], start: usize, end: usize) -> Option<String> {
    serde_json::from_slice(b.get(start.checked_sub(1)?..end + 1)?).ok()
}

#[inline]
pub fn skip_space(b: &[u8], mut pos: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = b.get(pos) {
        pos += 1;
    }
    pos
}

struct Text {
    start: usize,
    end: usize,
    escaped: bool,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

// High bit of each byte that ends a plain run: a quote, a backslash or a control character.
#[inline]
fn stops(word: u64) -> u64 {
    let quote = word ^ (ONES * u64::from(b'"'));
    let slash = word ^ (ONES * u64::from(b'\\'));
    let zero_quote = quote.wrapping_sub(ONES) & !quote;
    let zero_slash = slash.wrapping_sub(ONES) & !slash;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero_quote | zero_slash | control) & HIGH
}

/// The first byte at or after `pos` that ends a plain run of a string, or the end of the bytes.
// Borrow between bytes can only mark a byte after a true stop, so the lowest marked byte is always a
// real one.
#[inline]
pub fn plain_run(b: &[u8], mut pos: usize) -> usize {
    while let Some(Ok(chunk)) = b.get(pos..pos + 8).map(<[u8; 8]>::try_from) {
        let found = stops(u64::from_le_bytes(chunk));
        if found != 0 {
            return pos + (found.trailing_zeros() / 8) as usize;
        }
        pos += 8;
    }
    while b.get(pos).is_some_and(|c| *c >= 0x20 && !matches!(c, b'"' | b'\\')) {
        pos += 1;
    }
    pos
}

// `at` is the opening quote.
#[inline]
fn string(b: &[u8], at: usize) -> Result<Text, ScanError> {
    let start = at + 1;
    let mut pos = start;
    let mut escaped = false;
    loop {
        pos = plain_run(b, pos);
        match b.get(pos) {
            None => return Err(ScanError::Incomplete),
            Some(b'"') => return Ok(Text { start, end: pos, escaped }),
            Some(b'\\') => {
                escaped = true;
                pos = escape(b, pos)?;
            }
            Some(_) => return Err(ScanError::Invalid),
        }
    }
}

#[inline]
pub fn escape(b: &[u8], at: usize) -> Result<usize, ScanError> {
    match b.get(at + 1) {
        None => Err(ScanError::Incomplete),
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            for i in 2..6 {
                match b.get(at + i) {
                    None => return Err(ScanError::Incomplete),
                    Some(h) if h.is_ascii_hexdigit() => {}
                    Some(_) => return Err(ScanError::Invalid),
                }
            }
            Ok(at + 6)
        }
        Some(_) => Err(ScanError::Invalid),
    }
}

// A literal or a number; returns its end. A number at the very end of the bytes may go on.
#[inline]
pub fn scalar(b: &[u8], at: usize) -> Result<usize, ScanError> {
    for word in [&b"true"[..], b"false", b"null"] {
        if b[at] == word[0] {
            let have = &b[at..b.len().min(at + word.len())];
            return match (have == word, word.starts_with(have)) {
                (true, _) => Ok(at + word.len()),
                (false, true) => Err(ScanError::Incomplete),
                (false, false) => Err(ScanError::Invalid),
            };
        }
    }
    number(b, at)
}

fn number(b: &[u8], at: usize) -> Result<usize, ScanError> {
    let digits = |mut pos: usize| -> Result<usize, ScanError> {
        match b.get(pos) {
            None => return Err(ScanError::Incomplete),
            Some(d) if d.is_ascii_digit() => {}
            Some(_) => return Err(ScanError::Invalid),
        }
        while b.get(pos).is_some_and(u8::is_ascii_digit) {
            pos += 1;
        }
        Ok(pos)
    };
    let mut pos = if b[at] == b'-' { at + 1 } else { at };
    pos = if b.get(pos) == Some(&b'0') { pos + 1 } else { digits(pos)? };
    if b.get(pos) == Some(&b'.') {
        pos = digits(pos + 1)?;
    }
    if let Some(b'e' | b'E') = b.get(pos) {
        pos += 1;
        if let Some(b'+' | b'-') = b.get(pos) {
            pos += 1;
        }
        pos = digits(pos)?;
    }
    if pos == b.len() { Err(ScanError::Incomplete) } else { Ok(pos) }
}

/// `bytes` with every lone `\udXXX` escape replaced by `\ufffd` (same length), or `None` when there is none.
pub fn mend_surrogates(bytes: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| -> Option<u16> {
        let text = std::str::from_utf8(bytes.get(at..at + 6)?).ok()?;
        u16::from_str_radix(text.strip_prefix("\\u")?, 16).ok()
    };
    let mut mended: Option<Vec<u8>> = None;
    let mut pos = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[pos..]) {
        let at = pos + found;
        pos = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at + 12,
            Some(0xd800..=0xdfff) => {
                mended.get_or_insert_with(|| bytes.to_vec())[at..at + 6].copy_from_slice(b"\\ufffd");
                at + 6
            }
            _ => at + 2,
        };
        if pos > bytes.len() {
            break;
        }
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(text: &str) -> Result<usize, ScanError> {
        object(text.as_bytes(), 0).map(|o| o.end)
    }

    #[test]
    fn valid_objects_end_where_they_end() {
        for text in [
            "{}",
            r#"{"a":1}"#,
            r#"{ "a" : [ ] , "b" : { } }"#,
            r#"{"a":[1,-0.5e+10,true,false,null,"x\u00e9\"\\"],"b":{"c":[[[]]]}}"#,
        ] {
            assert_eq!(ends(text), Ok(text.len()), "{text}");
            assert_eq!(ends(&format!("{text}{{")), Ok(text.len()));
            for cut in 1..text.len() {
                assert_eq!(ends(&text[..cut]), Err(ScanError::Incomplete), "{}", &text[..cut]);
            }
        }
    }

    #[test]
    fn broken_objects_are_refused() {
        for text in [
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r"{,}",
            r#"{"a":1]"#,
            r#"{"a":[1}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":01}"#,
            r#"{"a":+1}"#,
            r#"{"a":1.}"#,
            r#"{"a":nul}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12g4"}"#,
            "{\"a\":\"\u{1}\"}",
            r"{a:1}",
            r#"{"a":1 "b":2}"#,
        ] {
            assert_eq!(ends(text), Err(ScanError::Invalid), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let nested = |n: usize| format!("{}{}", r#"{"a":"#.repeat(n), "[".repeat(100_000));
        assert_eq!(ends(&nested(10)), Err(ScanError::TooDeep));
        let fits = format!("{}1{}", r#"{"a":"#.repeat(64), "}".repeat(64));
        assert_eq!(ends(&fits), Ok(fits.len()));
        let deep = format!("{}1{}", r#"{"a":"#.repeat(65), "}".repeat(65));
        assert_eq!(ends(&deep), Err(ScanError::TooDeep));
    }

    #[test]
    fn the_last_of_repeated_keys_counts_and_escaped_keys_are_read() {
        let text = r#"{"prompt":{"kind":"kv","timeoutMs":5},"t\u0079pe":"ui_prompt","prompt":{"x":{"kind":"no"}},"chatos":{"sig":"s"},"chatos":[]}"#;
        let got = object(text.as_bytes(), 0).unwrap();
        assert!(matches!(got.prompt, Raw::Object { .. }));
        assert_eq!((got.kind, got.timeout, got.sig), (Raw::Absent, Raw::Absent, Raw::Absent));
        assert_eq!(got.chatos, Raw::Other);
        let Raw::Str { start, end, .. } = got.kind_of_line else { panic!("{got:?}") };
        assert_eq!(&text[start as usize..end as usize], "ui_prompt");
    }

    #[test]
    fn lone_surrogates_become_the_replacement_character() {
        let text = br#"{"a":"\ud83d\ude00 \ud83d x \udc00\\ud800"}"#;
        let mended = mend_surrogates(text).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&mended).unwrap();
        assert_eq!(value["a"], "😀 \u{fffd} x \u{fffd}\\ud800");
        assert_eq!(mend_surrogates(br#"{"a":"\ud83d\ude00"}"#), None);
    }

    fn json_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Into::into),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map(".{0,6}", inner, 0..4)
                    .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// The scanner and serde_json agree on every small mutation of a valid object.
        #[test]
        fn agrees_with_serde_json(value in json_value(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut text = serde_json::to_vec(&serde_json::json!({ "v": value })).unwrap();
            let accepts = |b: &[u8]| object(b, 0).is_ok_and(|o| skip_space(b, o.end) == b.len());
            prop_assert!(accepts(&text));
            let at = cut.index(text.len());
            text[at] = byte;
            if text[0] == b'{' && std::str::from_utf8(&text).is_ok() {
                let serde = serde_json::from_slice::<serde_json::Value>(&text);
                let ours = accepts(&text);
                // We accept lone surrogates and numbers beyond f64 on purpose; all else is equal.
                let lenient = serde.as_ref().is_err_and(|e| {
                    let e = e.to_string();
                    e.contains("surrogate") || e.contains("hex escape") || e.contains("out of range")
                });
                prop_assert!(ours == serde.is_ok() || lenient, "{}", String::from_utf8_lossy(&text));
            }
        }
    }
}
