//! An approval that covers an act done elsewhere: a person agreed to what another program announced, and that program
//! then lets us do exactly this (other-agents §4.8). It removes the second question about the same act, once; every
//! difference is asked about as if nobody had agreed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chatos_prompts::{Effect, effect};

/// Most acts that are covered at one moment.
const MOST: usize = 1_000;

/// What a person agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Covered {
    /// This file gets these bytes.
    File {
        /// Relative to the root of the call.
        path: String,
        /// Of the whole new content.
        sha256: String,
    },
    /// This command line runs in this folder.
    Command {
        text: String,
        /// Absolute.
        cwd: String,
    },
}

impl Covered {
    /// Whether it is this act and nothing beside it.
    fn is(&self, effect: &Effect) -> bool {
        let material = &effect.material;
        match self {
            Self::File { path, sha256 } => {
                let files = material["files"].as_array().map(Vec::as_slice).unwrap_or_default();
                let [file] = files else { return false };
                effect.name == "file_change"
                    && file["path"] == path.as_str()
                    && file["after"] == sha256.as_str()
                    && file["from"].is_null()
            }
            Self::Command { text, cwd } => {
                let command = &material["command"];
                effect.name == "command"
                    && command["text"] == text.as_str()
                    && command["cwd"] == effect::directory(Path::new(cwd))
            }
        }
    }
}

/// The acts that are covered now, by the span of the call that does them.
#[derive(Default)]
pub(crate) struct Acts(Mutex<HashMap<String, Covered>>);

impl Acts {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Covered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cover(&self, span: &str, what: Covered) {
        let mut all = self.all();
        if all.len() < MOST {
            all.insert(span.to_owned(), what);
        }
    }

    pub(crate) fn uncover(&self, span: &str) {
        self.all().remove(span);
    }

    /// Whether a person agreed to exactly this act of this call; it is used up then.
    pub(crate) fn take(&self, span: &str, effect: &Effect) -> bool {
        let mut all = self.all();
        let fits = all.get(span).is_some_and(|covered| covered.is(effect));
        if fits {
            all.remove(span);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use chatos_prompts::Object;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_the_same_bytes_in_the_same_place_are_covered() {
        let covered = Covered::File { path: "a".to_owned(), sha256: "1".to_owned() };
        let of = |files: Value| Effect::new("file_change", Object::new()).with("files", files);
        let file = |path: &str, after: &str| json!({ "path": path, "after": after, "from": null });
        assert!(covered.is(&of(json!([file("a", "1")]))));
        assert!(!covered.is(&of(json!([file("a", "2")]))));
        assert!(!covered.is(&of(json!([file("b", "1")]))));
        assert!(!covered.is(&of(json!([file("a", "1"), file("b", "1")]))));
        assert!(!covered.is(&of(json!([{ "path": "a", "after": "1", "from": "b" }]))));
        let command = Covered::Command { text: "ls".to_owned(), cwd: "/".to_owned() };
        let run = |text: &str, cwd: &str| {
            let facts = json!({ "text": text, "cwd": effect::directory(Path::new(cwd)) });
            Effect::new("command", Object::new()).with("command", facts)
        };
        assert!(command.is(&run("ls", "/")));
        assert!(!command.is(&run("ls -a", "/")) && !command.is(&run("ls", "/tmp")));
        assert!(!command.is(&of(json!([]))));
    }
}
