//! Names and values as forms and queries write them.

use super::error::SignInError;

/// Longest text of a query or an answer that is read.
const LONGEST: usize = 16 * 1024;

/// `name=value&…` for a body or a query.
pub(super) fn encode<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let pairs = pairs.into_iter().map(|(name, value)| format!("{}={}", escape(name), escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Everything but the unreserved characters as `%XX`; right in forms, queries and for the two halves of
/// `Basic` (RFC 6749 §2.3.1).
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// The pairs of a query, with or without what stands before its question mark.
pub(super) fn decode(query: &str) -> Result<Vec<(String, String)>, SignInError> {
    let query = query.split_once('?').map_or(query, |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    if query.len() > LONGEST {
        return Err(SignInError::Answer { detail: "it is too long" });
    }
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((unescape(name)?, unescape(value)?))
        })
        .collect()
}

fn unescape(text: &str) -> Result<String, SignInError> {
    let bad = || SignInError::Answer { detail: "it is not written like the query of an address" };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                let (Some(high), Some(low)) = (high, low) else { return Err(bad()) };
                bytes.push((high * 16 + low) as u8);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let pairs = [("a b", "c&d=e?f#g"), ("登录", "+%"), ("empty", "")];
        let read = decode(&format!("http://127.0.0.1/cb?{}#x", encode(pairs))).unwrap();
        let expected: Vec<_> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(read, expected);
        assert_eq!(decode("a=b+c").unwrap(), vec![("a".to_owned(), "b c".to_owned())]);
    }

    #[test]
    fn what_is_no_query_is_refused() {
        for bad in ["a=%", "a=%4", "a=%zz", "a=%ff", &"x".repeat(LONGEST + 1)] {
            assert!(decode(bad).is_err(), "{}", &bad[..bad.len().min(20)]);
        }
    }
}
