//! The one error object of the command line and the HTTP API.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, json};

use crate::error_code::ErrorCode;
use crate::text::{Lang, Text};

/// A failure as a person or a script sees it: what was being done to what, and what to do now.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The general code; decides exit status and HTTP status.
    pub class: ErrorCode,
    /// The domain's own code where one is specified, else the general one. Boxed in a Cow because
    /// the codes of other processes pass through unchanged.
    pub code: Cow<'static, str>,
    /// What happened.
    pub message: Text,
    /// The underlying reasons, outermost first, as the system told them.
    pub causes: Vec<String>,
    /// What to do about it.
    pub hint: Option<Text>,
    /// Machine-readable detail.
    pub details: Option<Value>,
}

impl Fault {
    /// A failure with a general code.
    pub fn new(class: ErrorCode, message: Text) -> Self {
        Self {
            class,
            code: Cow::Borrowed(class.as_str()),
            message,
            causes: Vec::new(),
            hint: None,
            details: None,
        }
    }

    /// Replaces the general code by a domain code; the class stays.
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }

    /// Adds advice.
    pub fn hint(mut self, hint: Text) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Adds machine-readable detail.
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Adds the chain of sources of an error below its own message.
    pub fn caused_by(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            if self.causes.last() != Some(&text) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    /// `{"error":{"code","message","hint"?,"details"?}}` in one language. The causes join the message,
    /// because the object has no place of its own for them.
    pub fn to_json(&self, lang: Lang) -> Value {
        let mut message = self.message.get(lang).to_owned();
        for cause in &self.causes {
            message.push_str(": ");
            message.push_str(cause);
        }
        let mut error = json!({ "code": self.code, "message": message });
        if let Some(hint) = &self.hint {
            error["hint"] = json!(hint.get(lang));
        }
        if let Some(details) = &self.details {
            error["details"] = details.clone();
        }
        json!({ "error": error })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.en)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_has_exactly_the_documented_keys() {
        let fault =
            Fault::new(ErrorCode::Unavailable, Text::fixed("port 7878 is taken", "端口 7878 已被占用"))
                .code("port_taken")
                .caused_by(&std::io::Error::other("address in use"))
                .hint(Text::fixed("use --port 0", "请使用 --port 0"));
        assert_eq!(
            fault.to_json(Lang::Zh).to_string(),
            r#"{"error":{"code":"port_taken","message":"端口 7878 已被占用: address in use","hint":"请使用 --port 0"}}"#
        );
    }
}
