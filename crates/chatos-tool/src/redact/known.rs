//! Secrets by their value: as they are, in base64 at any offset, URL-encoded and JSON-escaped
//! (tools §9.2 a). Only the shape of the text decides; nothing here depends on who wrote it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem::Finder;
use zeroize::Zeroizing;

use super::span::{Rule, Spans};

/// One secret, prepared for searching.
pub(super) struct Known {
    text: Zeroizing<String>,
    plain: Finder<'static>,
    /// What is certain of its base64 form when 0, 1 or 2 bytes stand before it.
    base64: [Finder<'static>; 3],
}

impl Known {
    pub(super) fn new(secret: &str) -> Self {
        let needles =
            [0, 1, 2].map(|offset| Finder::new(&base64_core(secret.as_bytes(), offset)).into_owned());
        Self {
            text: Zeroizing::new(secret.to_owned()),
            plain: Finder::new(secret).into_owned(),
            base64: needles,
        }
    }

    pub(super) fn is(&self, secret: &str) -> bool {
        self.text.as_str() == secret
    }

    /// Most bytes an encoded form takes: `\uXXXX` for every byte.
    pub(super) fn longest(&self) -> usize {
        self.text.len().saturating_mul(6).saturating_add(8)
    }

    pub(super) fn find(&self, text: &str, spans: &mut Spans) {
        let bytes = text.as_bytes();
        for at in self.plain.find_iter(bytes) {
            spans.add(at, at + self.text.len(), Rule::Known);
        }
        self.find_base64(bytes, spans);
        if memchr::memchr2(b'%', b'+', bytes).is_some() {
            self.find_encoded(text, spans, url_at);
        }
        if memchr::memchr(b'\\', bytes).is_some() {
            self.find_encoded(text, spans, json_at);
        }
    }

    fn find_base64(&self, bytes: &[u8], spans: &mut Spans) {
        // The URL alphabet differs in two letters; one copy serves both.
        let letters: Vec<u8> = bytes
            .iter()
            .map(|b| match b {
                b'-' => b'+',
                b'_' => b'/',
                other => *other,
            })
            .collect();
        for needle in &self.base64 {
            for at in needle.find_iter(&letters) {
                // The letters at both ends hold bits of the secret too: the whole run goes.
                let is_letter = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
                let end = at + needle.needle().len();
                let before = letters[..at].iter().rev().take_while(|b| is_letter(b)).count();
                let after = letters[end..].iter().take_while(|b| is_letter(b)).count();
                spans.add(at - before, end + after, Rule::Known);
            }
        }
    }

    fn find_encoded(&self, text: &str, spans: &mut Spans, match_at: fn(&[u8], usize, &str) -> Option<usize>) {
        let bytes = text.as_bytes();
        let Some(first) = self.text.as_bytes().first() else { return };
        let mut at = 0;
        while at < bytes.len() {
            // An encoded secret begins with its first byte or with an escape.
            let starts = bytes[at] == *first || matches!(bytes[at], b'%' | b'+' | b'\\');
            match starts.then(|| match_at(bytes, at, &self.text)).flatten() {
                Some(end) => {
                    spans.add(at, end, Rule::Known);
                    at = end;
                }
                None => at += 1,
            }
        }
    }
}

/// The letters of the base64 form of a secret behind `offset` unknown bytes that do not depend on
/// what stands before or behind it.
fn base64_core(secret: &[u8], offset: usize) -> Vec<u8> {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(secret);
    let encoded = STANDARD_NO_PAD.encode(&padded).into_bytes();
    let mixed_before = [0, 2, 3][offset];
    let mixed_after = usize::from(!padded.len().is_multiple_of(3));
    encoded[mixed_before..encoded.len() - mixed_after].to_vec()
}

/// The end of the secret when it stands at `at` with any of its bytes percent-encoded.
fn url_at(text: &[u8], mut at: usize, secret: &str) -> Option<usize> {
    for byte in secret.bytes() {
        let coded = match text.get(at..at + 3) {
            Some([b'%', high, low]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        at += match text.get(at)? {
            _ if coded == Some(byte) => 3,
            own if *own == byte => 1,
            b'+' if byte == b' ' => 1,
            _ => return None,
        };
    }
    Some(at)
}

/// The end of the secret when it stands at `at` with any of its characters escaped as JSON allows.
fn json_at(text: &[u8], mut at: usize, secret: &str) -> Option<usize> {
    for c in secret.chars() {
        if let Some(taken) = escape_at(text, at, c) {
            at += taken;
            continue;
        }
        let mut buffer = [0; 4];
        let raw = c.encode_utf8(&mut buffer).as_bytes();
        if text.get(at..at + raw.len())? != raw {
            return None;
        }
        at += raw.len();
    }
    Some(at)
}

/// How many bytes an escape of `c` takes at `at`, if one stands there.
fn escape_at(text: &[u8], at: usize, c: char) -> Option<usize> {
    if text.get(at)? != &b'\\' {
        return None;
    }
    let short = match text.get(at + 1)? {
        b'n' => Some('\n'),
        b'r' => Some('\r'),
        b't' => Some('\t'),
        b'b' => Some('\u{8}'),
        b'f' => Some('\u{c}'),
        b'"' => Some('"'),
        b'\\' => Some('\\'),
        b'/' => Some('/'),
        _ => None,
    };
    if short == Some(c) {
        return Some(2);
    }
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units);
    let mut taken = 0;
    for unit in units.iter() {
        let [b'\\', b'u', digits @ ..] = text.get(at + taken..at + taken + 6)? else { return None };
        let mut value = 0;
        for digit in digits {
            value = value * 16 + u16::from(hex(*digit)?);
        }
        if value != *unit {
            return None;
        }
        taken += 6;
    }
    Some(taken)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
