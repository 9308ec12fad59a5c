//! `kind="result"`: a text to read, and the answer an asynchronous task waits for (seed 003 §3).

use serde_json::Value;

use super::Checker;
use crate::json::Object;
use crate::problem::{Code, Problem};

/// Where the text comes from, in this order (seed 003 §3).
const SOURCES: [&str; 3] = ["markdown", "result", "content"];

/// The text of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultText {
    /// The first non-blank string.
    Text(String),
    /// The first object or array, as JSON.
    Json(String),
    /// Nothing usable; surfaces show "(no content)".
    Empty,
}

impl ResultText {
    pub fn of(prompt: &Object) -> Self {
        let texts = SOURCES.iter().filter_map(|key| prompt.get(*key));
        for value in texts.clone() {
            if let Some(text) = value.as_str()
                && !text.trim().is_empty()
            {
                return Self::Text(text.to_owned());
            }
        }
        for value in texts {
            if value.is_object() || value.is_array() {
                return Self::Json(value.to_string());
            }
        }
        Self::Empty
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Json(text) => Some(text),
            Self::Empty => None,
        }
    }
}

pub(super) fn check(ck: &mut Checker, prompt: &Object, normal: &mut Object) -> ResultText {
    let mut any = false;
    for key in SOURCES {
        match prompt.get(key) {
            None => {}
            Some(value @ (Value::String(_) | Value::Object(_) | Value::Array(_))) => {
                any = true;
                normal.insert(key.into(), value.clone());
            }
            // Present as a number or null: not a text, but no reason to refuse the others.
            Some(value) => {
                normal.insert(key.into(), value.clone());
            }
        }
    }
    if !any {
        ck.repairable(Problem::new(Code::ResultTextRequired, "/prompt"));
    }
    ck.text(prompt, "mimeType", "/prompt", normal);
    ResultText::of(prompt)
}
