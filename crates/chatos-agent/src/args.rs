//! Arguments as models write them: read as JSON, or repaired once where that is harmless (agents §7).
//!
//! A repair adds what is missing around values and between them; it never changes a character inside a
//! string other than to escape a raw line break that JSON does not allow there.

use serde_json::{Map, Value};

/// Longest text that is looked at: what is longer is no call but a runaway answer.
pub(crate) const MAX_BYTES: usize = 2 * 1024 * 1024;

/// What a model wrote, read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arguments {
    /// A JSON object.
    Plain(Map<String, Value>),
    /// Not one; this is what it probably means.
    Repaired(Map<String, Value>),
    /// Not one, and nobody can say what it means.
    Broken {
        /// Byte position of the fault.
        at: usize,
        /// What is wrong there.
        why: String,
    },
}

/// Reads arguments. Nothing at all means no arguments.
pub(crate) fn read(text: &str) -> Arguments {
    if text.trim().is_empty() {
        return Arguments::Plain(Map::new());
    }
    if text.len() > MAX_BYTES {
        return Arguments::Broken { at: MAX_BYTES, why: "the arguments are too long".to_owned() };
    }
    let broken = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) => return Arguments::Plain(map),
        Ok(_) => (0, "the arguments are not a JSON object".to_owned()),
        Err(error) => (position(text, error.line(), error.column()), error.to_string()),
    };
    match repair(text).and_then(|fixed| serde_json::from_str::<Value>(&fixed).ok()) {
        Some(Value::Object(map)) => Arguments::Repaired(map),
        _ => Arguments::Broken { at: broken.0, why: broken.1 },
    }
}

fn position(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// A text that reads as JSON when only its frame was wrong: a code fence, trailing commas, missing
/// closers, single quotes, bare keys, raw line breaks in strings.
fn repair(text: &str) -> Option<String> {
    let text = unfence(text.trim());
    let start = text.find('{')?;
    // Anything but blanks before the object is a sentence, not arguments.
    if !text[..start].trim().is_empty() {
        return None;
    }
    let mut fixer = Fixer { rest: text[start..].chars().peekable(), out: String::new(), open: Vec::new() };
    fixer.run()?;
    Some(fixer.out)
}

fn unfence(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    let inner = inner.split_once('\n').map_or(inner, |(_, rest)| rest);
    inner.trim_end().strip_suffix("```").unwrap_or(inner).trim()
}

struct Fixer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    out: String,
    open: Vec<char>,
}

impl Fixer<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.rest.next() {
            match c {
                '{' => self.begin('{', '}'),
                '[' => self.begin('[', ']'),
                '}' | ']' => {
                    self.drop_comma();
                    if self.open.pop() != Some(c) {
                        return None;
                    }
                    self.out.push(c);
                    if self.open.is_empty() {
                        // What follows the object must be nothing.
                        return self.rest.by_ref().all(char::is_whitespace).then_some(());
                    }
                }
                '"' => self.string('"'),
                '\'' => self.string('\''),
                c if c.is_whitespace() || matches!(c, ',' | ':') => self.out.push(c),
                c => self.word(c),
            }
        }
        self.drop_comma();
        while let Some(closer) = self.open.pop() {
            self.out.push(closer);
        }
        Some(())
    }

    fn begin(&mut self, opener: char, closer: char) {
        self.open.push(closer);
        self.out.push(opener);
    }

    fn drop_comma(&mut self) {
        let kept = self.out.trim_end().len();
        if self.out[..kept].ends_with(',') {
            self.out.truncate(kept - 1);
        }
    }

    fn string(&mut self, quote: char) {
        self.out.push('"');
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => {
                    match self.rest.next() {
                        // JSON knows no escaped single quote.
                        Some('\'') => self.out.push('\''),
                        Some(next) => self.out.extend(['\\', next]),
                        None => self.out.push_str("\\\\"),
                    }
                }
                c if c == quote => {
                    self.out.push('"');
                    return;
                }
                '"' => self.out.push_str("\\\""),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// A number, a literal, or a key without quotes.
    fn word(&mut self, first: char) {
        let mut word = String::from(first);
        while let Some(c) = self.rest.peek().copied() {
            if c.is_whitespace() || matches!(c, ',' | ':' | '}' | ']' | '{' | '[' | '"') {
                break;
            }
            word.push(c);
            self.rest.next();
        }
        let key = {
            let mut ahead = self.rest.clone();
            ahead.find(|c| !c.is_whitespace()) == Some(':')
        };
        if key && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$')) {
            self.out.push_str(&format!("\"{word}\""));
        } else {
            self.out.push_str(&word);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn repaired(text: &str) -> Value {
        match read(text) {
            Arguments::Repaired(map) => Value::Object(map),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn plain_arguments_are_taken_as_they_are() {
        assert_eq!(read(""), Arguments::Plain(Map::new()));
        assert_eq!(read(" {\"a\": 1} "), Arguments::Plain(json!({"a": 1}).as_object().unwrap().clone()));
    }

    #[test]
    fn the_frame_is_repaired() {
        for (text, wanted) in [
            ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
            ("{\"a\": [1, 2,], }", json!({"a": [1, 2]})),
            ("{\"a\": {\"b\": [1, \"x", json!({"a": {"b": [1, "x"]}})),
            ("{'a': 'it\\'s \"so\"'}", json!({"a": "it's \"so\""})),
            ("{a: true, b-c: null}", json!({"a": true, "b-c": null})),
            ("{\"a\": \"one\ntwo\tthree\"}", json!({"a": "one\ntwo\tthree"})),
        ] {
            assert_eq!(repaired(text), wanted, "{text}");
        }
    }

    #[test]
    fn contents_of_strings_stay() {
        let text = "{\"code\": \"f('x', {a: 1,}) // ```\", }";
        assert_eq!(repaired(text), json!({"code": "f('x', {a: 1,}) // ```"}));
    }

    #[test]
    fn what_nobody_can_read_says_where_it_breaks() {
        for text in ["[1]", "7", "sure, here: {\"a\": 1}", "{\"a\" 1}", "{\"a\": 1}} x", "{\"a\": 1]"] {
            assert!(matches!(read(text), Arguments::Broken { .. }), "{text}: {:?}", read(text));
        }
        let Arguments::Broken { at, .. } = read("{\"a\": \n nope}") else { panic!() };
        assert!((7..=13).contains(&at), "{at}");
        assert!(matches!(read(&"[".repeat(100_000)), Arguments::Broken { .. }));
        assert!(matches!(read(&"{\"a\":".repeat(100_000)), Arguments::Broken { .. }));
    }
}
