//! What can be wrong with a request or an answer, said with a code, a place and advice in two languages.
//!
//! Codes are the contract (`ui-prompts §5–6`) and never translated; texts are for people.

mod table;

pub use table::Code;

use serde_json::{Value, json};

/// The language of a text for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lang {
    Zh,
    #[default]
    En,
}

/// One finding about a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer into the payload, e.g. `/prompt/fields/0/key`.
    pub path: String,
    pub code: Code,
    /// What the text mentions: a name, a limit, a value. Placeholders `{0}`, `{1}` in the table.
    args: Vec<String>,
}

impl Problem {
    pub(crate) fn new(code: Code, path: impl Into<String>) -> Self {
        Self { path: path.into(), code, args: Vec::new() }
    }

    pub(crate) fn arg(mut self, value: impl ToString) -> Self {
        self.args.push(value.to_string());
        self
    }

    pub fn message(&self, lang: Lang) -> String {
        self.fill(self.code.texts(lang).0)
    }

    pub fn hint(&self, lang: Lang) -> String {
        self.fill(self.code.texts(lang).1)
    }

    /// The error object of `ui-prompts §5`: `{path, code, message, hint}`.
    pub fn to_json(&self, lang: Lang) -> Value {
        json!({
            "path": self.path,
            "code": self.code.as_str(),
            "message": self.message(lang),
            "hint": self.hint(lang),
        })
    }

    fn fill(&self, template: &str) -> String {
        let mut text = template.to_owned();
        for (i, arg) in self.args.iter().enumerate() {
            text = text.replace(&format!("{{{i}}}"), arg);
        }
        text
    }
}

/// Shortens a value that is quoted in a message; the whole value is in the payload anyway.
pub(crate) fn quoted(text: &str) -> String {
    const MAX: usize = 60;
    if text.chars().count() <= MAX {
        text.to_owned()
    } else {
        text.chars().take(MAX).chain(['…']).collect()
    }
}
