//! A strict JSON reader for files that strangers wrote: duplicate keys are errors with their line,
//! nesting is bounded before anything is allocated for it, and every error says where it is.
//!
//! `serde_json` is not used for reading here because it keeps the last of two equal keys silently.

use serde_json::{Map, Number, Value};

/// Why a text is not acceptable JSON, and where (both counted from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Line of the fault.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing but white space.
    Empty,
    /// Not JSON; the text says what was expected.
    Syntax(&'static str),
    /// More containers inside containers than allowed.
    TooDeep(usize),
    /// The same key twice in one object.
    DuplicateKey(String),
}

/// Reads one JSON value with at most `max_depth` nested containers.
///
/// Numbers that neither 64-bit integers nor finite doubles can hold are kept as their text, so that
/// unknown keys can be shown as they were written.
pub fn parse(text: &str, max_depth: usize) -> Result<Value, Fault> {
    let mut reader = Reader { text, at: 0, depth: 0, max_depth };
    reader.skip_space();
    if reader.at == text.len() {
        return Err(reader.fault(FaultKind::Empty));
    }
    let value = reader.value()?;
    reader.skip_space();
    if reader.at != text.len() {
        return Err(reader.syntax("the end of the file"));
    }
    Ok(value)
}

/// The JSON word for the type of `value`, for messages.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Nesting of a value: 0 for scalars, 1 for a flat container.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// One step of a JSON pointer (RFC 6901).
pub fn pointer_token(key: &str) -> String {
    if key.contains(['~', '/']) { key.replace('~', "~0").replace('/', "~1") } else { key.to_owned() }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    max_depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        self.fault_at(self.at, kind)
    }

    fn fault_at(&self, at: usize, kind: FaultKind) -> Fault {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        // Columns count characters: every byte that does not continue one.
        let column = before[line_start..].iter().filter(|b| (**b & 0xc0) != 0x80).count() + 1;
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        Fault { line, column, kind }
    }

    fn syntax(&self, expected: &'static str) -> Fault {
        self.fault(FaultKind::Syntax(expected))
    }

    fn value(&mut self) -> Result<Value, Fault> {
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(self.syntax("a value")),
        }
    }

    /// Enters a container. The recursion is as deep as `max_depth` and no deeper, whatever the input.
    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Fault>) -> Result<Value, Fault> {
        if self.depth == self.max_depth {
            return Err(self.fault(FaultKind::TooDeep(self.max_depth)));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Fault> {
        let mut map = Map::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(map));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.syntax("a key in double quotes"));
            }
            let key_at = self.at;
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.syntax("`:` after the key"));
            }
            self.at += 1;
            self.skip_space();
            if map.contains_key(&key) {
                return Err(self.fault_at(key_at, FaultKind::DuplicateKey(key)));
            }
            let value = self.value()?;
            map.insert(key, value);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(map));
                }
                _ => return Err(self.syntax("`,` or `}`")),
            }
        }
    }

    fn array(&mut self) -> Result<Value, Fault> {
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value()?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                _ => return Err(self.syntax("`,` or `]`")),
            }
        }
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, Fault> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.syntax("true, false or null"))
        }
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.syntax("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.syntax("a number without leading zeros"));
            }
        } else {
            self.digits()?;
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(number_value(&self.text[start..self.at], integer))
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.bytes().position(|b| b == b'"' || b == b'\\' || b < 0x20) else {
                self.at = self.text.len();
                return Err(self.syntax("the closing quote of a string"));
            };
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                _ => return Err(self.syntax("no line breaks or control characters inside a string")),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Fault> {
        const EXPECTED: &str = "an escape such as \\n or \\u0041";
        self.at += 1;
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape(out);
            }
            _ => return Err(self.syntax(EXPECTED)),
        };
        self.at += 1;
        out.push(c);
        Ok(())
    }

    fn unicode_escape(&mut self, out: &mut String) -> Result<(), Fault> {
        const PAIR: &str = "a complete surrogate pair";
        let first = self.hex4()?;
        let code = match first {
            0xd800..=0xdbff => {
                if !self.text[self.at..].starts_with("\\u") {
                    return Err(self.syntax(PAIR));
                }
                self.at += 2;
                let second = self.hex4()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(self.syntax(PAIR));
                }
                0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            other => other,
        };
        // A lone low surrogate is the only code left that is no character.
        let c = char::from_u32(code).ok_or_else(|| self.syntax(PAIR))?;
        out.push(c);
        Ok(())
    }

    fn hex4(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.syntax("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(code)
    }
}

/// The closest [`Value`] of a number's text; used for YAML scalars too.
pub fn number_value(text: &str, integer: bool) -> Value {
    if integer {
        if let Ok(n) = text.parse::<i64>() {
            return Value::from(n);
        }
        if let Ok(n) = text.parse::<u64>() {
            return Value::from(n);
        }
    } else if let Some(n) = text.parse::<f64>().ok().and_then(Number::from_f64) {
        return Value::Number(n);
    }
    Value::String(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn kind(text: &str) -> (usize, usize, FaultKind) {
        let fault = parse(text, 64).unwrap_err();
        (fault.line, fault.column, fault.kind)
    }

    #[test]
    fn values() {
        let text = r#" {"a":[1,-2.5e3,true,false,null,"\u00e9\ud83d\ude00\n\/"],"b":{},"c":[]} "#;
        let value = parse(text, 64).unwrap();
        assert_eq!(value, json!({"a":[1,-2500.0,true,false,null,"é😀\n/"],"b":{},"c":[]}));
        assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), ["a", "b", "c"], "order is kept");
    }

    #[test]
    fn numbers_beyond_doubles_keep_their_text() {
        assert_eq!(
            parse("123456789012345678901234567890", 1).unwrap(),
            json!("123456789012345678901234567890")
        );
        assert_eq!(parse("1e400", 1).unwrap(), json!("1e400"));
        assert_eq!(parse("18446744073709551615", 1).unwrap(), json!(u64::MAX));
    }

    #[test]
    fn faults_say_where() {
        assert_eq!(kind("  \n "), (2, 2, FaultKind::Empty));
        assert_eq!(kind("{\n \"id\":1,\n \"id\":2}"), (3, 2, FaultKind::DuplicateKey("id".into())));
        assert_eq!(kind(r#"{"id":1,"\u0069d":2}"#), (1, 9, FaultKind::DuplicateKey("id".into())));
        assert_eq!(kind("{\"é\":tru}"), (1, 6, FaultKind::Syntax("true, false or null")));
        for bad in [
            "{",
            "}",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "'a'",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "nul",
            "\"\n\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\"\\u12\"",
            "\"abc",
            "1 2",
            "// c\n1",
            "NaN",
            "Infinity",
            "[1 2]",
            "{\"a\" 1}",
            "\u{feff}1",
        ] {
            assert!(matches!(kind(bad).2, FaultKind::Syntax(_)), "{bad:?}");
        }
    }

    #[test]
    fn depth_is_bounded_without_recursion_on_input() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(&nested(64), 64).is_ok());
        assert_eq!(kind(&nested(65)), (1, 65, FaultKind::TooDeep(64)));
        assert_eq!(kind(&"[".repeat(100_000)).2, FaultKind::TooDeep(64));
        assert_eq!(kind(&"{\"a\":".repeat(100_000)).2, FaultKind::TooDeep(64));
        assert_eq!(depth(&parse(&nested(7), 64).unwrap()), 7);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// What serde_json writes, this reader reads back.
        #[test]
        fn reads_what_serde_json_writes(value in any_value()) {
            prop_assert_eq!(&parse(&serde_json::to_string(&value).unwrap(), 64).unwrap(), &value);
            prop_assert_eq!(&parse(&serde_json::to_string_pretty(&value).unwrap(), 64).unwrap(), &value);
        }

        /// It accepts nothing that serde_json refuses (other than numbers out of range).
        #[test]
        fn accepts_nothing_more(text in "[\\[\\]{}\",:0-9truefalsn\\\\u. \\-eE]{0,24}") {
            if parse(&text, 64).is_ok() {
                let other = serde_json::from_str::<Value>(&text);
                prop_assert!(other.is_ok() || other.unwrap_err().to_string().contains("out of range"));
            }
        }
    }
}
