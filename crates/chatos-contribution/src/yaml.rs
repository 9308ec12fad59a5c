//! YAML of `ai.config` files, read from parser events into JSON values (ai-contributions §1).
//!
//! The 1.2 core schema, one document. Anchors, aliases, merge keys, tags and repeated keys are
//! errors, so a file can never be larger in memory than on disk and never means two things. Events
//! are used instead of a deserialiser because all of this is refused as it is seen, before any tree
//! exists; nothing here recurses on input.

use chatos_manifest::{json, quote};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Why a text is not acceptable, and on which line (from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlFault {
    pub(crate) line: usize,
    pub(crate) kind: YamlFaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum YamlFaultKind {
    Syntax(String),
    Anchor,
    Alias,
    Tag,
    MergeKey,
    DuplicateKey(String),
    ComplexKey,
    SecondDocument,
    TooDeep(usize),
    NotANumber,
    Control,
}

/// A container that is being filled.
enum Open {
    Sequence(Vec<Value>),
    Mapping { map: Map<String, Value>, key: Option<String> },
}

/// Reads one document; an empty one is `null`.
pub(crate) fn parse(text: &str, max_depth: usize) -> Result<Value, YamlFault> {
    check_characters(text)?;
    let mut stack: Vec<Open> = Vec::new();
    let mut root: Option<Value> = None;
    let mut documents = 0;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| YamlFault {
            line: error.marker().line(),
            // An alias without its anchor is a parser error, but the author wrote an alias.
            kind: match error.info() {
                info if info.contains("unknown anchor") => YamlFaultKind::Alias,
                info => YamlFaultKind::Syntax(info.to_owned()),
            },
        })?;
        let line = span.start.line();
        let fault = |kind| Err(YamlFault { line, kind });
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return fault(YamlFaultKind::SecondDocument);
                }
            }
            Event::Alias(_) => return fault(YamlFaultKind::Alias),
            Event::Scalar(text, style, anchor, tag) => {
                refuse_decorations(anchor, tag.is_some(), line)?;
                if let Some(Open::Mapping { map, key: key @ None }) = stack.last_mut() {
                    if style == ScalarStyle::Plain && text == "<<" {
                        return fault(YamlFaultKind::MergeKey);
                    }
                    if map.contains_key(text.as_ref()) {
                        return fault(YamlFaultKind::DuplicateKey(text.into_owned()));
                    }
                    *key = Some(text.into_owned());
                    continue;
                }
                let value = if style == ScalarStyle::Plain {
                    plain(&text)
                } else {
                    Some(Value::String(text.into_owned()))
                };
                let Some(value) = value else { return fault(YamlFaultKind::NotANumber) };
                place(&mut stack, &mut root, value);
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_decorations(anchor, tag.is_some(), line)?;
                open(&mut stack, Open::Sequence(Vec::new()), max_depth, line)?;
            }
            Event::MappingStart(anchor, tag) => {
                refuse_decorations(anchor, tag.is_some(), line)?;
                open(&mut stack, Open::Mapping { map: Map::new(), key: None }, max_depth, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(Open::Sequence(items)) => place(&mut stack, &mut root, Value::Array(items)),
                Some(Open::Mapping { map, .. }) => place(&mut stack, &mut root, Value::Object(map)),
                None => {
                    return fault(YamlFaultKind::Syntax("a container ends that was not begun".to_owned()));
                }
            },
        }
    }
    Ok(root.unwrap_or(Value::Null))
}

/// NUL ends the text for the scanner, so what follows it would be unseen; the other control
/// characters are not YAML.
fn check_characters(text: &str) -> Result<(), YamlFault> {
    let bad = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    match text.find(bad) {
        None => Ok(()),
        Some(at) => {
            let line = text[..at].matches('\n').count() + 1;
            Err(YamlFault { line, kind: YamlFaultKind::Control })
        }
    }
}

fn refuse_decorations(anchor: usize, tagged: bool, line: usize) -> Result<(), YamlFault> {
    if anchor != 0 {
        return Err(YamlFault { line, kind: YamlFaultKind::Anchor });
    }
    if tagged {
        return Err(YamlFault { line, kind: YamlFaultKind::Tag });
    }
    Ok(())
}

fn open(stack: &mut Vec<Open>, container: Open, max_depth: usize, line: usize) -> Result<(), YamlFault> {
    if matches!(stack.last(), Some(Open::Mapping { key: None, .. })) {
        return Err(YamlFault { line, kind: YamlFaultKind::ComplexKey });
    }
    if stack.len() == max_depth {
        return Err(YamlFault { line, kind: YamlFaultKind::TooDeep(max_depth) });
    }
    stack.push(container);
    Ok(())
}

fn place(stack: &mut [Open], root: &mut Option<Value>, value: Value) {
    match stack.last_mut() {
        None => *root = Some(value),
        Some(Open::Sequence(items)) => items.push(value),
        Some(Open::Mapping { map, key }) => {
            // A key is always set here: `open` and the scalar branch saw to it.
            if let Some(key) = key.take() {
                map.insert(key, value);
            }
        }
    }
}

/// A plain scalar by the core schema; `None` for `.inf` and `.nan`, which JSON does not have.
fn plain(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_special_float(text) => return None,
        _ => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    })
}

fn is_special_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn number(text: &str) -> Option<Value> {
    if let Some(octal) = text.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Value::from);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        // from_str_radix takes a sign, the core schema does not.
        return u64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+')).map(Value::from);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Some(json::number_value(text.strip_prefix('+').unwrap_or(text), true));
    }
    // [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && (fraction.is_empty() || !mantissa.contains('.')));
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    if !mantissa_ok || !exponent_ok {
        return None;
    }
    text.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
        .or(Some(Value::String(text.to_owned())))
}

impl YamlFault {
    /// What is wrong, in English and Chinese, without the file's name.
    pub(crate) fn describe(&self) -> (String, String) {
        let line = self.line;
        let (en, zh) = match &self.kind {
            YamlFaultKind::Syntax(info) => (info.clone(), format!("YAML 语法错误：{info}")),
            YamlFaultKind::Anchor => ("YAML anchors are not allowed".into(), "不允许使用 YAML 锚点".into()),
            YamlFaultKind::Alias => ("YAML aliases are not allowed".into(), "不允许使用 YAML 别名".into()),
            YamlFaultKind::Tag => ("YAML tags are not allowed".into(), "不允许使用 YAML 标签".into()),
            YamlFaultKind::MergeKey => {
                ("YAML merge keys are not allowed".into(), "不允许使用 YAML 合并键".into())
            }
            YamlFaultKind::DuplicateKey(key) => {
                (format!("key {} appears twice", quote(key)), format!("键 {} 出现了两次", quote(key)))
            }
            YamlFaultKind::ComplexKey => ("keys must be plain texts".into(), "键必须是普通文本".into()),
            YamlFaultKind::SecondDocument => {
                ("only one YAML document is allowed".into(), "只允许一个 YAML 文档".into())
            }
            YamlFaultKind::TooDeep(max) => {
                (format!("nested deeper than {max} levels"), format!("嵌套超过 {max} 层"))
            }
            YamlFaultKind::NotANumber => {
                (".inf and .nan are not allowed".into(), "不允许使用 .inf 和 .nan".into())
            }
            YamlFaultKind::Control => {
                ("control characters are not allowed".into(), "不允许出现控制字符".into())
            }
        };
        (format!("{en} (line {line})"), format!("{zh}（第 {line} 行）"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kind(text: &str) -> YamlFaultKind {
        parse(text, 64).unwrap_err().kind
    }

    #[test]
    fn the_core_schema() {
        let text = "a: ~\nb: [true, False, NULL, no, yes]\nc: {i: -12, h: 0xff, o: 0o17, f: 1.5e3, p: +3, d: .5, e: 1.}\n\
                    d: \"12\"\ne: '~'\nf: |\n  x\n  y\ng:\n  - 1.2.3\n  - 0755\n  - 1_000\n  - 0x\n  - e5\n  - .\n  - -\n1: one\n";
        assert_eq!(
            parse(text, 64).unwrap(),
            json!({"a": null, "b": [true, false, null, "no", "yes"],
                "c": {"i": -12, "h": 255, "o": 15, "f": 1500.0, "p": 3, "d": 0.5, "e": 1.0},
                "d": "12", "e": "~", "f": "x\ny\n", "g": ["1.2.3", 755, "1_000", "0x", "e5", ".", [null]], "1": "one"})
        );
        assert_eq!(parse("", 64).unwrap(), Value::Null);
        assert_eq!(parse("# nothing\n", 64).unwrap(), Value::Null);
        assert_eq!(parse("---\na: 1\n...\n", 64).unwrap(), json!({"a": 1}));
        assert_eq!(
            parse("{\"a\": [1, {\"b\": null}]}", 64).unwrap(),
            json!({"a": [1, {"b": null}]}),
            "JSON is YAML"
        );
        assert_eq!(
            parse("a: 123456789012345678901234567890", 64).unwrap(),
            json!({"a": "123456789012345678901234567890"})
        );
    }

    #[test]
    fn what_is_refused() {
        assert_eq!(kind("a: &x 1\nb: *x\n"), YamlFaultKind::Anchor);
        assert_eq!(parse("a: 1\nb: 2\nc: *x\n", 64), Err(YamlFault { line: 3, kind: YamlFaultKind::Alias }));
        assert_eq!(kind("a: !!str 1\n"), YamlFaultKind::Tag);
        assert_eq!(kind("a: !foo {}\n"), YamlFaultKind::Tag);
        assert_eq!(kind("a: !<tag:yaml.org,2002:binary> x\n"), YamlFaultKind::Tag);
        assert_eq!(kind("<<: {a: 1}\n"), YamlFaultKind::MergeKey);
        assert_eq!(kind("a: 1\n\"a\": 2\n"), YamlFaultKind::DuplicateKey("a".into()));
        assert_eq!(kind("? [a]\n: 1\n"), YamlFaultKind::ComplexKey);
        assert_eq!(kind("a: 1\n---\nb: 2\n"), YamlFaultKind::SecondDocument);
        assert_eq!(kind("a: .nan\n"), YamlFaultKind::NotANumber);
        assert_eq!(kind("a: -.inf\n"), YamlFaultKind::NotANumber);
        assert_eq!(kind("a: 1\n\0b: 2\n"), YamlFaultKind::Control);
        assert!(matches!(kind("a: [1, 2\n"), YamlFaultKind::Syntax(_)));
        assert!(matches!(kind("a: 'x\n"), YamlFaultKind::Syntax(_)));
        assert!(matches!(kind("a: 1\n b: 2\n"), YamlFaultKind::Syntax(_)));
    }

    #[test]
    fn bombs_end_early() {
        let lines =
            (1..12).map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(",")));
        let bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n") + &lines.collect::<String>();
        assert_eq!(kind(&bomb), YamlFaultKind::Anchor);
        assert_eq!(kind("a: &a [*a]\n"), YamlFaultKind::Anchor);
        assert!(matches!(kind(&"[".repeat(100_000)), YamlFaultKind::TooDeep(64) | YamlFaultKind::Syntax(_)));
        assert!(matches!(kind(&"- ".repeat(60_000)), YamlFaultKind::TooDeep(64) | YamlFaultKind::Syntax(_)));
        assert!(matches!(
            kind(&"? ".repeat(60_000)),
            YamlFaultKind::ComplexKey | YamlFaultKind::TooDeep(64) | YamlFaultKind::Syntax(_)
        ));
        assert!(matches!(
            kind(&"{a: ".repeat(30_000)),
            YamlFaultKind::TooDeep(64) | YamlFaultKind::Syntax(_)
        ));
    }
}
