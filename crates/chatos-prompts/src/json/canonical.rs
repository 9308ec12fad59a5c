//! RFC 8785 canonical JSON: what digests and signatures are computed over.
//!
//! Recursion is bounded: every value that reaches this module passed the depth limit of
//! [`super::scan::MAX_DEPTH`].

use serde_json::{Number, Value};

/// The canonical bytes of `value`.
pub(crate) fn to_vec(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(n) => write_number(n, out),
        Value::String(s) => write_string(s, out),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut keys: Vec<(&String, &Value)> = map.iter().collect();
            // RFC 8785 §3.2.3 sorts by UTF-16 code units, which differs from byte order above U+FFFF.
            keys.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push(b'{');
            for (i, (key, item)) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                write(item, out);
            }
            out.push(b'}');
        }
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\r' => out.extend_from_slice(b"\\r"),
            c if u32::from(c) < 0x20 => out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

fn write_number(n: &Number, out: &mut Vec<u8>) {
    const EXACT: i64 = 1 << 53;
    if let Some(i) = n.as_i64()
        && (-EXACT..=EXACT).contains(&i)
    {
        out.extend_from_slice(i.to_string().as_bytes());
        return;
    }
    // Every JSON number is an IEEE double in this form; serde_json never holds a non-finite one.
    let f = n.as_f64().unwrap_or(0.0);
    out.extend_from_slice(es6(f).as_bytes());
}

// ECMAScript Number::toString: shortest digits, exponent form outside 1e-7 ≤ |x| < 1e21.
fn es6(f: f64) -> String {
    if f == 0.0 {
        return "0".to_owned();
    }
    let shortest = format!("{:e}", f.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1; // digits before the decimal point
    let sign = if f < 0.0 { "-" } else { "" };
    let body = if (count..=21).contains(&point) {
        format!("{digits}{}", "0".repeat((point - count) as usize))
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at(point as usize);
        format!("{whole}.{rest}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", "0".repeat((-point) as usize))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{}{}", if exponent < 0 { "-" } else { "+" }, exponent.abs())
    };
    format!("{sign}{body}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn canonical(value: &Value) -> String {
        String::from_utf8(to_vec(value)).unwrap()
    }

    #[test]
    fn keys_sort_by_utf16_and_strings_escape_minimally() {
        let value = json!({"\u{20ac}":1, "\r":2, "\u{fb33}":3, "1":4, "\u{1f600}":5, "\u{80}":6, "\u{f6}":7});
        let got = canonical(&value);
        assert_eq!(
            got,
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}"
        );
        assert_eq!(canonical(&json!("a\u{1}\u{2028}/\"\\\n")), "\"a\\u0001\u{2028}/\\\"\\\\\\n\"");
    }

    #[test]
    fn numbers_print_as_ecmascript_does() {
        for (n, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (4.5, "4.5"),
            (0.002, "0.002"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.234e25, "1.234e+25"),
            (333_333_333.333_333_3, "333333333.3333333"),
            (-5e-324, "-5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (9_007_199_254_740_994.0, "9007199254740994"),
        ] {
            assert_eq!(es6(n), text);
        }
        assert_eq!(canonical(&json!(9_007_199_254_740_993_u64)), "9007199254740992");
        assert_eq!(canonical(&json!([1.0, -7, u64::MAX])), "[1,-7,18446744073709552000]");
    }
}
