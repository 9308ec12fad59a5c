//! The text block: it says everything a model needs, because many models get nothing else (tools §5.7).

use serde_json::{Value, json};

use super::{Opening, Status};
use crate::text::{Lang, Text};
use crate::tool_error::{Reason, ToolError};
use crate::validation::Issue;

/// The first character of a text.
fn sign(status: Status) -> char {
    match status {
        Status::Ok => '✓',
        Status::Noop => '=',
        Status::Partial => '◐',
        Status::NeedsInput => '?',
        Status::Canceled => '–',
        Status::Invalid | Status::Denied | Status::NotFound | Status::Timeout | Status::Error => '✗',
    }
}

/// The whole text, and how far the body in it has moved.
pub(super) fn text(
    status: Status,
    error: Option<&ToolError>,
    body: String,
    opening: Opening,
    lang: Lang,
) -> (String, usize) {
    let sign = sign(status);
    let Some(error) = error else {
        return match opening {
            Opening::Header => (body, 0),
            Opening::Sign => (format!("{sign} {body}"), sign.len_utf8() + 1),
        };
    };
    let reason = reason(error, status, lang);
    match (status, opening) {
        // What was done comes first, then why the rest was not.
        (Status::Partial, Opening::Header) => (format!("{body}\n\n{sign} {reason}"), 0),
        (Status::Partial, Opening::Sign) => (format!("{sign} {body}\n{reason}"), sign.len_utf8() + 1),
        _ if body.is_empty() => (format!("{sign} {reason}"), 0),
        _ => {
            let head = format!("{sign} {reason}\n");
            (format!("{head}{body}"), head.len())
        }
    }
}

fn reason(error: &ToolError, status: Status, lang: Lang) -> String {
    // Failures name their code; a canceled call is no failure.
    let code =
        if status == Status::Canceled { String::new() } else { format!("[{}] ", error.code().as_str()) };
    if let Reason::InvalidArgument { issues } = &error.reason
        && !issues.is_empty()
    {
        return match issues.as_slice() {
            [only] => format!("{code}{}", issue(only, lang)),
            many => {
                let lines: Vec<String> = many.iter().map(|one| format!("- {}", issue(one, lang))).collect();
                format!("{code}{}\n{}", error.message.get(lang), lines.join("\n"))
            }
        };
    }
    let mut text = format!("{code}{}", error.message.get(lang));
    if let Some(hint) = &error.hint {
        text = with_sentence(text, hint.get(lang), lang);
    }
    text
}

fn issue(issue: &Issue, lang: Lang) -> String {
    let text = match issue.path.as_str() {
        "" => issue.message.get(lang).to_owned(),
        path => format!("{path}: {}", issue.message.get(lang)),
    };
    match &issue.hint {
        Some(hint) => with_sentence(text, hint.get(lang), lang),
        None => text,
    }
}

fn with_sentence(mut text: String, next: &str, lang: Lang) -> String {
    if !text.ends_with(['.', '。', '!', '！', '?', '？']) {
        text.push(if lang == Lang::Zh { '。' } else { '.' });
    }
    if lang == Lang::En {
        text.push(' ');
    }
    text.push_str(&sentence(next));
    text
}

/// Messages are written lower case; a sentence of its own begins with a capital letter, unless it begins
/// with the name of a tool or an argument, which has only one spelling.
pub(super) fn sentence(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| word.contains('_')) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The error object of a result that needs input: nothing failed, so there is no typed reason.
pub(super) fn needs_input(lang: Lang) -> Value {
    let message = Text::fixed("the program seems to wait for input", "程序似乎在等待输入");
    json!({ "type": "needs_input", "message": message.get(lang), "retryable": false })
}
