//! What a vendor's refusal means (working-day §3): one reader for all vendors, and one table of their sentences.
//!
//! The order: unwrap what gateways wrapped; a request that is too large for a minute is too large; everything
//! else about rates is not a matter of length; then codes; then sentences; then the status.

mod table;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::{Class, ModelError};
use table::{CODES, ROWS, SERVER_CODES};

/// Gateways wrap a vendor's words in their own, at most this deep.
const DEEPEST: usize = 3;

/// Where a refusal came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Instead of an answer.
    Status(u16),
    /// In the middle of one.
    Stream,
}

/// What a vendor said, unwrapped.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Codes, types and status words, the most telling first.
    codes: Vec<String>,
    param: Option<String>,
    limit: Option<u64>,
    requested: Option<u64>,
    /// How long to wait.
    wait_ms: Option<u64>,
}

/// Why a call was refused; `None` when the body is in nobody's form.
pub(crate) fn read(place: Place, body: &Value) -> Option<ModelError> {
    let said = unwrap(body, 0)?;
    let status = match place {
        Place::Status(status) => status,
        Place::Stream => in_body(body).unwrap_or(500),
    };
    let text = said.message.to_lowercase();
    let row = ROWS.iter().find(|row| row.sentences.iter().all(|part| text.contains(part)));
    let class = class_of(place, status, &said, &text, row.map(|row| row.class));
    let mut error = ModelError::new(class, &said.message).with_status(status);
    error.param = said.param;
    error.retry_after_ms = said.wait_ms;
    (error.limit, error.requested) = (said.limit, said.requested);
    if let Some(row) = row.filter(|row| row.class == class || class == Class::ContextLength) {
        let number = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| number_after(&text, prefix));
        error.limit = error.limit.or_else(|| number(row.limit));
        error.requested = error.requested.or_else(|| number(row.requested));
        error.input = number(row.input);
    }
    Some(error)
}

fn class_of(place: Place, status: u16, said: &Said, text: &str, by_row: Option<Class>) -> Class {
    // What does not fit into a minute will not fit into the next one either.
    if matches!(status, 400 | 413) && text.contains("request too large") && text.contains("requested ") {
        return Class::ContextLength;
    }
    let about_rates = ["rate limit", "too many requests", "throttl", "please wait"];
    let rated = status == 429 || about_rates.iter().any(|words| text.contains(words));
    let coded = said.codes.iter().find_map(|code| {
        CODES.iter().find(|(known, _)| code.eq_ignore_ascii_case(known)).map(|(_, class)| *class)
    });
    if rated {
        return coded.filter(|class| *class != Class::ContextLength).unwrap_or(Class::RateLimited);
    }
    if let Some(class) = coded {
        return class;
    }
    let by_sentence = matches!(status, 400 | 413 | 422 | 500 | 502) || place == Place::Stream;
    if let Some(class) = by_row.filter(|_| by_sentence) {
        return class;
    }
    if said.codes.iter().any(|code| SERVER_CODES.iter().any(|known| code.eq_ignore_ascii_case(known))) {
        return Class::Server;
    }
    // Some say this word with every status.
    let general = |code: &String| code == "invalid_request_error" || code == "INVALID_ARGUMENT";
    if by_sentence && said.codes.iter().any(general) {
        return Class::InvalidRequest;
    }
    ModelError::class_of_status(status)
}

/// The status a body in a stream names.
fn in_body(body: &Value) -> Option<u16> {
    let code = body.pointer("/error/code").or_else(|| body.pointer("/error/status_code"))?;
    let code = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(code).ok().filter(|status| (400..600).contains(status))
}

fn unwrap(body: &Value, depth: usize) -> Option<Said> {
    let body = body.get(0).unwrap_or(body);
    let error = ["error", "response"]
        .iter()
        .find_map(|member| body.get(member).filter(|inner| inner.is_object() || inner.is_string()))
        .unwrap_or(body);
    // `response.failed` has its error one deeper.
    let error = error.get("error").filter(|inner| inner.is_object()).unwrap_or(error);
    let text = |member: &str| error.get(member).and_then(Value::as_str);
    let message = error
        .as_str()
        .or_else(|| text("message"))
        .or_else(|| text("detail"))
        .or_else(|| text("error"))
        .or_else(|| body.get("message").and_then(Value::as_str));
    let mut said = Said { message: message.unwrap_or_default().to_owned(), ..Said::default() };
    let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of = |member: &'static str| details.iter().filter_map(move |detail| detail.get(member)?.as_str());
    said.codes.extend(of("reason").map(str::to_owned));
    said.wait_ms = of("retryDelay").find_map(seconds);
    for member in ["code", "type", "status", "__type"] {
        match error.get(member) {
            Some(Value::String(word)) => said.codes.push(word.clone()),
            Some(Value::Number(number)) => said.codes.push(number.to_string()),
            _ => {}
        }
    }
    said.param = text("param").map(str::to_owned);
    let number = |members: &[&str]| members.iter().find_map(|member| error.get(*member)?.as_u64());
    said.limit = number(&["n_ctx"]);
    said.requested = number(&["n_prompt_tokens"]);
    if depth < DEEPEST
        && let Some(inner) = inside(error, &said.message).and_then(|inner| unwrap(&inner, depth + 1))
    {
        // The innermost words are the vendor's; outer codes count after its own.
        let codes = inner.codes.into_iter().chain(said.codes).collect();
        let param = inner.param.or(said.param);
        let wait_ms = inner.wait_ms.or(said.wait_ms);
        return Some(Said { codes, param, wait_ms, ..inner });
    }
    (!said.message.is_empty()).then_some(said)
}

/// A refusal inside a refusal: `metadata.raw`, or a message that is JSON or ends in it.
fn inside(error: &Value, message: &str) -> Option<Value> {
    match error.pointer("/metadata/raw") {
        Some(Value::String(raw)) => {
            let parsed = serde_json::from_str::<Value>(raw).ok().filter(|value| !value.is_number());
            return Some(parsed.unwrap_or_else(|| serde_json::json!({ "message": raw })));
        }
        Some(raw @ Value::Object(_)) => return Some(raw.clone()),
        _ => {}
    }
    let starts = message.char_indices().filter(|(_, c)| matches!(c, '{' | '[')).take(8);
    let mut found = starts.filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&message[at..]).into_iter::<Value>();
        values.next()?.ok().filter(|value| value.get(0).unwrap_or(value).is_object())
    });
    found.next()
}

/// A time such as `31s` or `1.5s`.
fn seconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1_000.0).min(1e12) as u64)
}

/// The number right behind a text, with or without signs between its digits.
fn number_after(text: &str, prefix: &str) -> Option<u64> {
    let at = text.find(prefix)? + prefix.len();
    let digits: String = text[at..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '_'))
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}
