//! Arguments that are not a JSON object: one tolerant reading, for tools that change nothing; everybody
//! else is asked to send them again (agents §7). What stands inside strings is never altered.

use chatos_tool::{Issue, IssueCode, Text, ToolError, validation};
use serde_json::{Map, Value};

/// Reads what a model wrote.
pub(super) fn read(raw: &str, schema: &Value, read_only: bool) -> Result<Map<String, Value>, ToolError> {
    let strict = match serde_json::from_str::<Value>(raw) {
        Ok(Value::Object(map)) => return Ok(map),
        // Nothing at all is how some models say "no arguments".
        _ if raw.trim().is_empty() => return Ok(Map::new()),
        Ok(other) => format!("expected a JSON object, found {}", kind(&other)),
        Err(error) => format!("not JSON: {error}"),
    };
    if read_only
        && let Ok(Value::Object(map)) = serde_json::from_str::<Value>(&repair(raw))
        && validation::check(schema, Some(Value::Object(map.clone()))).is_ok()
    {
        return Ok(map);
    }
    let zh = format!("参数不是 JSON 对象：{strict}");
    Err(ToolError::invalid(vec![
        Issue::new("", IssueCode::Format, Text::new(format!("the arguments are {strict}"), zh)).hint(
            Text::fixed(
                "send the call again with one complete JSON object",
                "请用一个完整的 JSON 对象重新发送",
            ),
        ),
    ]))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Code fences, single quotes, bare keys, raw line breaks in strings, trailing commas, missing closers.
fn repair(raw: &str) -> String {
    let text = without_fence(raw.trim());
    let mut out = String::with_capacity(text.len() + 8);
    let mut open: Vec<char> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => string(c, &mut chars, &mut out),
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                out.push(c);
            }
            '}' | ']' => {
                drop_comma(&mut out);
                if open.last() == Some(&c) {
                    open.pop();
                }
                out.push(c);
            }
            c if c.is_ascii_alphabetic() || c == '_' || c == '$' => {
                let mut word = String::from(c);
                while let Some(next) = chars.next_if(|n| n.is_ascii_alphanumeric() || "_$-".contains(*n)) {
                    word.push(next);
                }
                let is_key = chars.clone().find(|next| !next.is_whitespace()) == Some(':');
                if is_key {
                    out.push_str(&Value::from(word).to_string());
                } else {
                    out.push_str(&word);
                }
            }
            _ => out.push(c),
        }
    }
    while let Some(closer) = open.pop() {
        drop_comma(&mut out);
        out.push(closer);
    }
    out
}

fn without_fence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.split_once('\n').map_or(inside, |(_, rest)| rest);
    inside.trim_end().strip_suffix("```").unwrap_or(inside)
}

/// Copies a string to its end in double quotes. One that never ends is closed where the text ends.
fn string(quote: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    out.push('"');
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\'') => out.push('\''),
                Some(next) => {
                    out.push('\\');
                    out.push(next);
                }
                None => {}
            },
            c if c == quote => break,
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn drop_comma(out: &mut String) {
    let kept = out.trim_end().len();
    if out[..kept].ends_with(',') {
        out.truncate(kept - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": false, "properties": {
            "path": { "type": "string" }, "n": { "type": "integer" }, "list": { "type": "array" } } })
    }

    #[test]
    fn a_reading_tool_gets_what_was_meant() {
        let read_it = |raw: &str| Value::Object(read(raw, &schema(), true).unwrap());
        for (raw, expected) in [
            ("```json\n{\"path\": \"a\"}\n```", json!({ "path": "a" })),
            ("{'path': 'it\\'s \"x\"', n: 3,}", json!({ "path": "it's \"x\"", "n": 3 })),
            ("{\"path\": \"a\nb\", \"list\": [1, 2,", json!({ "path": "a\nb", "list": [1, 2] })),
            ("{\"path\": \"keep: {these}, // words", json!({ "path": "keep: {these}, // words" })),
            ("", json!({})),
        ] {
            assert_eq!(read_it(raw), expected, "{raw}");
        }
    }

    #[test]
    fn a_changing_tool_is_never_guessed_for_and_what_does_not_fit_is_refused() {
        assert!(read("{'path': 'a'}", &schema(), false).is_err());
        assert!(read("{\"path\": \"a\"}", &schema(), false).is_ok());
        for bad in ["[1]", "null", "\"x\"", "{'pfad': 'a'}", "{\"n\": \"x\"", "}{", "\\"] {
            assert!(read(bad, &schema(), true).is_err(), "{bad}");
        }
    }
}
