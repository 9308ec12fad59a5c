//! What the doctor found at one place; each part of the host reports its own.

use std::path::PathBuf;

use chatos_tool::Text;
use chatos_wire::Severity;

/// One thing that was looked at.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Stable code.
    pub code: String,
    /// How bad.
    pub severity: Severity,
    /// What was looked at.
    pub title: Text,
    /// What was found.
    pub message: Text,
    /// Where.
    pub path: Option<PathBuf>,
    /// What to do.
    pub action: Option<Text>,
    /// `--fix` can do it without losing anything.
    pub fixable: bool,
}

impl Finding {
    /// A finding without path, action or fix.
    pub fn new(code: impl Into<String>, severity: Severity, title: Text, message: Text) -> Self {
        Self { code: code.into(), severity, title, message, path: None, action: None, fixable: false }
    }

    /// Names the place.
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Says what to do.
    pub fn action(mut self, action: Text) -> Self {
        self.action = Some(action);
        self
    }
}
