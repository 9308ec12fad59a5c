//! Secrets never reach a log, an event or a prompt's message: removed by the name of a key, by known
//! value in every usual encoding, and by the look of common credentials (tools §9).
//!
//! Redaction comes before trimming, so that a cut cannot expose half a secret. Callers are the sinks,
//! never the tools: results given back to the caller are not redacted.

mod key;
mod known;
mod pattern;
mod span;

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::limits;
use known::Known;
use span::Spans;

/// Removes secrets. One per process; it learns secrets as they become known.
#[derive(Default)]
pub struct Redactor {
    known: RwLock<Vec<Known>>,
}

/// How much a text may look like a secret by accident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Arguments, commands, results: everything after `password=` goes.
    Data,
    /// Sentences for a person: "password: at least 8 letters" stays, "password: hunter22" goes.
    Prose,
}

impl Redactor {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers a secret before its first use. Texts of fewer than 8 characters are not taken: they
    /// would blank out ordinary words.
    pub fn learn(&self, secret: &str) {
        if secret.chars().count() < limits::KNOWN_SECRET_CHARS {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if !known.iter().any(|known| known.is(secret)) {
            known.push(Known::new(secret));
        }
    }

    /// A text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.spans(text, Reading::Data).apply(text)
    }

    /// A text for a person without secrets: only what really looks like one goes.
    pub fn message<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.spans(text, Reading::Prose).apply(text)
    }

    /// Only the known secrets, for results that go back to a caller (shell output).
    pub fn known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = Spans::default();
        self.find_known(text, &mut spans);
        spans.apply(text)
    }

    /// A text without secrets, cut to `max` characters with `…(N more chars)`. Costs the length of
    /// what stays, however long the text is.
    pub fn trimmed(&self, text: &str, max: usize) -> String {
        // A secret that begins before the cut may end far behind it; what lies in the guard is read but
        // never shown, because a secret that begins there may not be complete in the window.
        let guard = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.iter().map(Known::longest).max().unwrap_or_default() + PATTERN_GUARD
        };
        let window = floor(text, max.saturating_mul(4).saturating_add(guard));
        let (shown, rest) = if window == text.len() {
            (self.text(text), "")
        } else {
            let trusted = floor(text, window.saturating_sub(guard));
            let mut spans = self.spans(&text[..window], Reading::Data);
            let end = spans.clip(trusted);
            (Cow::Owned(spans.apply(&text[..end]).into_owned()), &text[end..])
        };
        let Some((at, _)) = shown.char_indices().nth(max) else {
            if rest.is_empty() {
                return shown.into_owned();
            }
            return format!("{shown}…({} more chars)", rest.chars().count());
        };
        let more = shown[at..].chars().count() + rest.chars().count();
        format!("{}…({more} more chars)", &shown[..at])
    }

    /// A JSON value without secrets, each string cut to `max` characters.
    pub fn value(&self, value: &Value, max: usize) -> Value {
        match value {
            Value::String(text) => Value::String(self.trimmed(text, max)),
            Value::Array(items) => items.iter().map(|item| self.value(item, max)).collect(),
            Value::Object(map) => Value::Object(self.object(map, max)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// The members of an object without secrets.
    pub fn object(&self, map: &Map<String, Value>, max: usize) -> Map<String, Value> {
        map.iter()
            .map(|(name, value)| {
                let value = match key::rule(name) {
                    Some(rule @ (key::Rule::Env | key::Rule::Headers)) => hide_inside(value, rule),
                    Some(rule) => Value::String(marker(rule.name())),
                    None => self.value(value, max),
                };
                // A key may be a secret itself (a map from tokens to names).
                (self.trimmed(name, max), value)
            })
            .collect()
    }

    fn spans(&self, text: &str, reading: Reading) -> Spans {
        let mut spans = Spans::default();
        self.find_known(text, &mut spans);
        pattern::find(text, reading, &mut spans);
        spans
    }

    fn find_known(&self, text: &str, spans: &mut Spans) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        for known in known.iter() {
            known.find(text, spans);
        }
    }
}

/// Longest look-ahead a pattern needs to recognise its beginning; its end does not matter for a cut.
const PATTERN_GUARD: usize = 1024;

/// What stands for a secret.
fn marker(rule: &str) -> String {
    format!("[redacted:{rule}]")
}

/// Every value inside goes, its keys stay.
fn hide_inside(value: &Value, rule: key::Rule) -> Value {
    match value {
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), hide_inside(value, rule))).collect()
        }
        Value::Array(items) => items.iter().map(|item| hide_inside(item, rule)).collect(),
        Value::Null => Value::Null,
        _ => Value::String(marker(rule.name())),
    }
}

/// The largest character boundary that is at most `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests;
