//! One line as text: written compact, and without any character that another reader could take for a line
//! break (`ui-prompts §3.1` step 4); read with what other programs get wrong.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Map, Value};

use crate::scan;

/// The compact line of `value`, without the final newline.
pub fn to_string(value: &Value) -> String {
    let mut out = Vec::with_capacity(256);
    let mut to = serde_json::Serializer::with_formatter(&mut out, OneLine);
    // Serialising a `Value` into memory cannot fail: keys are strings and the sink is a Vec.
    if value.serialize(&mut to).is_err() {
        out.clear();
    }
    String::from_utf8(out).unwrap_or_default()
}

/// Plain compact JSON, except that DEL, the C1 controls and the Unicode line separators are escaped
/// like the C0 controls that serde_json escapes already.
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut from = 0;
        for (at, c) in fragment.char_indices() {
            if matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') {
                out.write_all(&fragment.as_bytes()[from..at])?;
                write!(out, "\\u{:04x}", u32::from(c))?;
                from = at + c.len_utf8();
            }
        }
        out.write_all(&fragment.as_bytes()[from..])
    }
}

/// Parses one object that the scanner accepted. Lone surrogate escapes (a JavaScript string cut in
/// half writes them) are read as U+FFFD; the scanner keeps them out of ids.
pub fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, serde_json::Error> {
    match serde_json::from_slice::<Map<String, Value>>(bytes) {
        Ok(map) => Ok(map),
        Err(first) => match scan::mend_surrogates(bytes) {
            Some(mended) => serde_json::from_slice::<Map<String, Value>>(&mended),
            None => Err(first),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_line_holds_no_line_break_of_any_sort() {
        let value = json!({"a\u{2028}": "x\n\r\u{0}\u{7f}\u{85}\u{2029}中😀y"});
        let line = super::to_string(&value);
        assert_eq!(line, r#"{"a\u2028":"x\n\r\u0000\u007f\u0085\u2029中😀y"}"#);
        let back: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(back, value);
    }
}
