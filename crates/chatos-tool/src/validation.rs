//! Arguments against their schema, before anything runs: every problem at once, with a pointer and a
//! hint, and only conversions that lose nothing (tools §3).
//!
//! This is a reader of the schemas our own tools publish, not a general JSON Schema engine: a keyword
//! it does not know is refused by [`crate::schema::lint`] in a test, so it can never be skipped silently.

mod walk;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::limits;
use crate::text::{Lang, Text};

/// One problem of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// JSON pointer into the arguments.
    pub path: String,
    /// What sort of problem.
    pub code: IssueCode,
    /// What is wrong.
    pub message: Text,
    /// What to write instead.
    pub hint: Option<Text>,
}

/// The closed list of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueCode {
    /// Nobody knows this key.
    UnknownKey,
    /// A required key is absent or null.
    Missing,
    /// Another type is needed.
    Type,
    /// Too small or too large.
    Range,
    /// Too short or too long.
    Length,
    /// Does not have the wanted form.
    Pattern,
    /// Not one of the listed values.
    Enum,
    /// Not usable for another reason.
    Format,
    /// Contradicts another argument.
    Exclusive,
}

impl IssueCode {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownKey => "unknown_key",
            Self::Missing => "missing",
            Self::Type => "type",
            Self::Range => "range",
            Self::Length => "length",
            Self::Pattern => "pattern",
            Self::Enum => "enum",
            Self::Format => "format",
            Self::Exclusive => "exclusive",
        }
    }
}

impl Issue {
    /// A problem without advice.
    pub fn new(path: impl Into<String>, code: IssueCode, message: Text) -> Self {
        Self { path: path.into(), code, message, hint: None }
    }

    /// Adds advice.
    pub fn hint(mut self, hint: Text) -> Self {
        self.hint = Some(hint);
        self
    }

    /// `{path, code, message, hint?}` in one language.
    pub fn to_json(&self, lang: Lang) -> Value {
        let mut issue =
            json!({ "path": self.path, "code": self.code.as_str(), "message": self.message.get(lang) });
        if let Some(hint) = &self.hint {
            issue["hint"] = json!(hint.get(lang));
        }
        issue
    }
}

/// Checks arguments against a schema and gives them back in the schema's types: a number written as
/// text is a number, a `null` for an optional key is gone. Nothing is cut and nothing else converted.
pub fn check(schema: &Value, arguments: Option<Value>) -> Result<Map<String, Value>, Vec<Issue>> {
    let mut arguments = match arguments {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(value) => value,
    };
    if !arguments.is_object() {
        let message = Text::fixed("the arguments must be an object", "参数必须是一个对象");
        return Err(vec![Issue::new("", IssueCode::Type, message)]);
    }
    let mut walk = walk::Walk::new(schema);
    walk.value(schema, &mut arguments, "", 0);
    let mut issues = walk.issues;
    if issues.len() > limits::ISSUES {
        let more = issues.len() - limits::ISSUES;
        issues.truncate(limits::ISSUES);
        issues.push(Issue::new(
            "",
            IssueCode::Format,
            Text::new(format!("{more} further problems are not listed"), format!("另有 {more} 个问题未列出")),
        ));
    }
    match arguments {
        Value::Object(map) if issues.is_empty() => Ok(map),
        _ => Err(issues),
    }
}

/// `/a/b`, with the characters of a key escaped as RFC 6901 says.
pub fn pointer(parent: &str, key: &str) -> String {
    if key.contains(['~', '/']) {
        format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
    } else {
        format!("{parent}/{key}")
    }
}

/// The known name that a mistyped one probably means: at most three edits away after ignoring case,
/// `_` and `-` (tools §3).
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| -> Vec<char> {
        text.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    // Longer names have no near neighbour among ours, and comparing them would cost their square.
    if wanted.len() > 4 * limits::TOOL_NAME_CHARS {
        return None;
    }
    let wanted = plain(wanted);
    known
        .into_iter()
        .map(|name| (edit_distance(&plain(name), &wanted), name))
        // Three edits turn any two short words into each other; a name must keep at least half of itself.
        .filter(|(distance, name)| *distance <= 3 && *distance * 2 <= name.len().max(wanted.len()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
