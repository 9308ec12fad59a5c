//! Secrets by their look: well-known prefixes, tokens, keys, and what follows `password=`
//! (tools §9.2 b and c).
//!
//! One pass finds the few words a secret can begin with; each is then checked by hand, so that cost
//! grows with the text and never with what is in it.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::Reading;
use super::span::{Rule, Spans};

#[derive(Debug, Clone, Copy)]
enum Word {
    /// A prefix that the token's letters follow.
    Prefix(Prefix),
    Jwt,
    Pem,
    Bearer,
    Basic,
    Url,
    /// A name whose value follows.
    Name,
    UserOption,
}

#[derive(Debug, Clone, Copy)]
struct Prefix {
    text: &'static str,
    letters: fn(u8) -> bool,
    least: usize,
}

const fn prefix(text: &'static str, letters: fn(u8) -> bool, least: usize) -> (&'static str, Word) {
    (text, Word::Prefix(Prefix { text, letters, least }))
}

static WORDS: [(&str, Word); 29] = [
    prefix("sk-", is_token, 8),
    prefix("ghp_", is_word, 10),
    prefix("gho_", is_word, 10),
    prefix("ghu_", is_word, 10),
    prefix("ghs_", is_word, 10),
    prefix("ghr_", is_word, 10),
    prefix("github_pat_", is_word, 10),
    prefix("xoxa-", is_token, 8),
    prefix("xoxb-", is_token, 8),
    prefix("xoxp-", is_token, 8),
    prefix("xoxr-", is_token, 8),
    prefix("xoxs-", is_token, 8),
    prefix("AKIA", is_upper, 16),
    prefix("ASIA", is_upper, 16),
    prefix("AIza", is_token, 35),
    ("eyJ", Word::Jwt),
    ("-----BEGIN ", Word::Pem),
    ("bearer", Word::Bearer),
    ("basic", Word::Basic),
    ("://", Word::Url),
    ("password", Word::Name),
    ("passwd", Word::Name),
    ("token", Word::Name),
    ("secret", Word::Name),
    ("apikey", Word::Name),
    ("api_key", Word::Name),
    ("api-key", Word::Name),
    ("-u", Word::UserOption),
    ("--user", Word::UserOption),
];

/// `None` only if the table above could not be built, which a test excludes.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .build(WORDS.iter().map(|(word, _)| word))
        .ok()
});

pub(super) fn find(text: &str, reading: Reading, spans: &mut Spans) {
    let Some(finder) = &*FINDER else {
        // Without the finder nothing can be vouched for.
        spans.add(0, text.len(), Rule::Pattern);
        return;
    };
    let bytes = text.as_bytes();
    for found in finder.find_overlapping_iter(text) {
        let (start, end) = (found.start(), found.end());
        let place = match WORDS[found.pattern().as_usize()].1 {
            Word::Prefix(prefix) => prefixed(bytes, start, prefix).map(|range| (range, Rule::Pattern)),
            Word::Jwt => jwt(bytes, start).map(|range| (range, Rule::Pattern)),
            Word::Pem => pem(text, start).map(|range| (range, Rule::Pattern)),
            Word::Bearer => bearer(bytes, start, end).map(|range| (range, Rule::Bearer)),
            Word::Basic => basic(text, start, end).map(|range| (range, Rule::Basic)),
            Word::Url => user_info(bytes, start, end).map(|range| (range, Rule::UserInfo)),
            Word::Name => named(bytes, start, end),
            Word::UserOption => user_option(bytes, start, end).map(|range| (range, Rule::UserInfo)),
        };
        let Some((range, rule)) = place else { continue };
        if bytes[range.clone()].starts_with(b"[redacted:") {
            continue;
        }
        let guessed = matches!(rule, Rule::Bearer | Rule::Assignment | Rule::Option);
        if reading == Reading::Prose && guessed && !looks_secret(&bytes[range.clone()]) {
            continue;
        }
        spans.add(range.start, range.end, rule);
    }
}

fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn is_upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn run(bytes: &[u8], from: usize, of: fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take_while(|b| of(**b)).count()
}

/// No letter or digit stands right before: `task-…` does not begin with `sk-`.
fn begins_word(bytes: &[u8], start: usize) -> bool {
    start == 0 || !bytes[start - 1].is_ascii_alphanumeric()
}

fn prefixed(bytes: &[u8], start: usize, prefix: Prefix) -> Option<Range<usize>> {
    let body = start + prefix.text.len();
    // The search ignores case, these prefixes do not.
    if !bytes[start..].starts_with(prefix.text.as_bytes()) || !begins_word(bytes, start) {
        return None;
    }
    let end = run(bytes, body, prefix.letters);
    let letters = &bytes[body..end];
    let wordy = prefix.text == "sk-" && letters.len() < 20 && !letters.iter().any(u8::is_ascii_digit);
    (letters.len() >= prefix.least && !wordy).then_some(start..end)
}

fn jwt(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    if !bytes[start..].starts_with(b"eyJ") || !begins_word(bytes, start) {
        return None;
    }
    let header = run(bytes, start, is_token);
    if header - start < 8 || bytes.get(header) != Some(&b'.') {
        return None;
    }
    let payload = run(bytes, header + 1, is_token);
    if payload - header < 3 || bytes.get(payload) != Some(&b'.') {
        return None;
    }
    Some(start..run(bytes, payload + 1, is_token))
}

/// A block from its first to its last line; one without an end goes to the end of the text.
fn pem(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    // Labels are short; what stands between the dashes of a longer one is not a key's. Bytes, because a
    // bound of so many bytes may fall into the middle of a character.
    let label = rest.len().min(64).min(rest[11..].find("-----")? + 16);
    memchr::memmem::find(&rest.as_bytes()[..label], b"PRIVATE KEY")?;
    let after = start + (label..=rest.len()).find(|at| rest.is_char_boundary(*at))?;
    let end = text[after..].find("-----END ").map(|at| after + at + 9);
    let end = end.and_then(|at| text[at..].find("-----").map(|dashes| at + dashes + 5));
    Some(start..end.unwrap_or(text.len()))
}

fn bearer(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    if !begins_word(bytes, start) {
        return None;
    }
    let value = run(bytes, end, |b| matches!(b, b' ' | b'\t'));
    let stop = run(bytes, value, |b| !ends_value(b));
    (value > end && stop > value).then_some(value..stop)
}

/// `Authorization: Basic <base64>`; the word alone is too common to mean anything.
fn basic(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = text[..start].trim_end_matches([' ', '\t', '"', '\'', '\\', ':', '=']);
    let header = before.len().checked_sub("authorization".len()).and_then(|at| before.get(at..))?;
    if !header.eq_ignore_ascii_case("authorization") {
        return None;
    }
    let value = run(bytes, end, |b| matches!(b, b' ' | b'\t'));
    let stop =
        run(bytes, value, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'));
    (value > end && stop > value).then_some(value..stop)
}

/// `scheme://user:pass@`, and `scheme://<long token>@`.
fn user_info(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    if start == 0 || !bytes[start - 1].is_ascii_alphanumeric() {
        return None;
    }
    let stop = run(bytes, end, |b| {
        !matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>') && !b.is_ascii_whitespace()
    });
    let at = end + bytes[end..stop].iter().rposition(|b| *b == b'@')?;
    let info = &bytes[end..at];
    (info.contains(&b':') || info.len() >= 16).then_some(end..at)
}

/// `password = value`, `"token":"value"`, `--api-key value`.
fn named(bytes: &[u8], start: usize, end: usize) -> Option<(Range<usize>, Rule)> {
    let option = start >= 2 && &bytes[start - 2..start] == b"--";
    let closed = run(bytes, end, |b| matches!(b, b'"' | b'\'' | b'\\'));
    let spaced = run(bytes, closed, |b| b.is_ascii_whitespace());
    let separated = run(bytes, spaced, |b| matches!(b, b'=' | b':' | b'>'));
    if separated > spaced {
        // `token://` is an address, not an assignment.
        if bytes[spaced..separated].ends_with(b":") && bytes[separated..].starts_with(b"//") {
            return None;
        }
        let value = run(bytes, separated, |b| b.is_ascii_whitespace());
        return value_at(bytes, value).map(|range| (range, Rule::Assignment));
    }
    if option && spaced > end && closed == end && bytes.get(spaced) != Some(&b'-') {
        return value_at(bytes, spaced).map(|range| (range, Rule::Option));
    }
    None
}

/// `-u user:pass`, as curl takes it.
fn user_option(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let alone = start == 0 || bytes[start - 1].is_ascii_whitespace();
    let spaced = run(bytes, end, |b| matches!(b, b' ' | b'\t' | b'='));
    if !alone || spaced == end {
        return None;
    }
    let range = value_at(bytes, spaced)?;
    let value = &bytes[range.clone()];
    let colon = value.iter().position(|b| *b == b':')?;
    (colon > 0 && colon + 1 < value.len() && !value[colon..].starts_with(b"://")).then_some(range)
}

/// The value that begins here: quoted up to its closing quote, else up to a space or separator.
fn value_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let escapes = run(bytes, at, |b| b == b'\\');
    let (start, end) = match bytes.get(escapes) {
        Some(quote @ (b'"' | b'\'' | b'`')) => {
            let start = escapes + 1;
            let mut end = start;
            while end < bytes.len() && bytes[end] != *quote {
                // An escaped character belongs to the value, except where the quotes are escaped themselves.
                end += if bytes[end] == b'\\' && escapes == at { 2 } else { 1 };
            }
            let mut end = end.min(bytes.len());
            if escapes > at {
                while end > start && bytes[end - 1] == b'\\' {
                    end -= 1;
                }
            }
            (start, end)
        }
        _ => (at, run(bytes, at, |b| !ends_value(b) && b != b'&')),
    };
    // A step over an escape may end inside a character; its last byte belongs to the value as well.
    let mut end = end;
    while end < bytes.len() && (bytes[end] & 0xC0) == 0x80 {
        end += 1;
    }
    (end > start).then_some(start..end)
}

fn ends_value(b: u8) -> bool {
    b.is_ascii_whitespace()
        || matches!(b, b',' | b';' | b'"' | b'\'' | b'`' | b')' | b']' | b'}' | b'<' | b'>')
}

/// In a sentence, what follows "password:" is a secret only if no word looks like it.
fn looks_secret(value: &[u8]) -> bool {
    let odd = |b: &u8| {
        b.is_ascii_digit()
            || (b.is_ascii_punctuation() && !matches!(b, b'.' | b',' | b'!' | b'?' | b'-' | b'(' | b')'))
    };
    value.len() >= 6 && value.iter().any(odd)
}
