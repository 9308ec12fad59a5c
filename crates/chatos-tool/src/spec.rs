//! What a tool says about itself: name, texts in two languages, hints, which confirmation it needs
//! (tools §2), and the definition a client gets from it.

use serde::Serialize;
use serde_json::{Value, json};

use crate::limits;
use crate::schema;
use crate::text::{Lang, Text};

/// The fixed part of a tool. Its schemas come from its argument and data types.
#[derive(Debug)]
pub struct ToolSpec {
    /// `^[a-z][a-z0-9_]{0,47}$`, unique in the server.
    pub name: &'static str,
    /// At most 40 characters per language.
    pub title: Text,
    /// What it does, when not to use it, limits, what a refusal looks like.
    pub description: Text,
    /// All four hints, always said.
    pub annotations: Annotations,
    /// Which confirmation a person may be asked for before it runs.
    pub confirm: Confirm,
    /// Rises when the meaning of arguments or data changes.
    pub version: u32,
}

/// Hints for clients. A letter of the tables in `servers.md` is `true`, an absent one `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// R: changes nothing.
    pub read_only: bool,
    /// D: may destroy something.
    pub destructive: bool,
    /// I: an interrupted call may be repeated blindly; resumed runs rely on it.
    pub idempotent: bool,
    /// O: reaches beyond this machine or to a person.
    pub open_world: bool,
}

impl Annotations {
    /// No hint at all.
    pub const NONE: Self =
        Self { read_only: false, destructive: false, idempotent: false, open_world: false };

    /// The hints of a row such as `R I`.
    pub const fn of(letters: &str) -> Self {
        let mut hints = Self::NONE;
        let bytes = letters.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'R' => hints.read_only = true,
                b'D' => hints.destructive = true,
                b'I' => hints.idempotent = true,
                b'O' => hints.open_world = true,
                _ => {}
            }
            at += 1;
        }
        hints
    }
}

/// Which question a person may be asked before the tool acts (tools §15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirm {
    /// None.
    None,
    /// A diff.
    FileChange,
    /// A list of tasks.
    Task,
    /// A command.
    Shell,
}

impl ToolSpec {
    /// The definition in `tools/list`, in one language. `arguments` and `output` are schemas in our
    /// own form (see [`schema::arguments`], [`crate::envelope::output_schema`]); a tool whose results are pictures
    /// or other media has no `output`.
    pub fn definition(&self, arguments: &Value, output: Option<&Value>, lang: Lang) -> Value {
        let hints = self.annotations;
        let title = self.title.get(lang);
        let mut definition = json!({
            "name": self.name,
            "title": title,
            "description": self.description.get(lang),
            "inputSchema": schema::publish(arguments, lang),
            "outputSchema": output.map(|output| schema::publish(output, lang)),
            "annotations": {
                "title": title,
                "readOnlyHint": hints.read_only,
                "destructiveHint": hints.destructive,
                "idempotentHint": hints.idempotent,
                "openWorldHint": hints.open_world,
            },
            "_meta": { "chatos": {
                "i18n": {
                    "title": { "zh": self.title.zh, "en": self.title.en },
                    "description": { "zh": self.description.zh, "en": self.description.en },
                },
                "confirm": self.confirm,
                "version": self.version,
            } },
        });
        if let (None, Some(map)) = (output, definition.as_object_mut()) {
            map.shift_remove("outputSchema");
        }
        definition
    }

    /// What is wrong with the spec; empty when it keeps every rule of tools §2. Run by the tests of
    /// every server.
    pub fn lint(&self) -> Vec<String> {
        let mut found = Vec::new();
        if !is_tool_name(self.name) {
            found.push(format!("`{}` is not a tool name", self.name));
        }
        let texts = [
            ("title", &self.title, limits::TITLE_CHARS),
            ("description", &self.description, limits::DESCRIPTION_CHARS),
        ];
        for (what, text, max) in texts {
            for lang in [Lang::En, Lang::Zh] {
                let chars = text.get(lang).chars().count();
                if text.get(lang).trim().is_empty() || chars > max {
                    found.push(format!(
                        "{}: the {lang} {what} has {chars} characters, 1..{max} are allowed",
                        self.name
                    ));
                }
            }
            if text.en == text.zh {
                found.push(format!("{}: the {what} is not translated", self.name));
            }
        }
        if self.annotations.read_only && self.annotations.destructive {
            found.push(format!("{}: read-only and destructive", self.name));
        }
        found
    }
}

/// `^[a-z][a-z0-9_]{0,47}$`
pub fn is_tool_name(name: &str) -> bool {
    name.len() <= limits::TOOL_NAME_CHARS
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    static SPEC: ToolSpec = ToolSpec {
        name: "read_it",
        title: Text::fixed("Read it", "读取"),
        description: Text::fixed("Reads it.", "读取它。"),
        annotations: Annotations::of("R I"),
        confirm: Confirm::FileChange,
        version: 1,
    };

    #[test]
    fn the_definition_has_every_field_in_one_language() {
        let arguments = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let output = json!({"type": "object"});
        assert_eq!(
            SPEC.definition(&arguments, Some(&output), Lang::Zh),
            json!({
                "name": "read_it", "title": "读取", "description": "读取它。",
                "inputSchema": {"$schema": schema::DIALECT, "type": "object", "properties": {}, "additionalProperties": false},
                "outputSchema": {"$schema": schema::DIALECT, "type": "object"},
                "annotations": {"title": "读取", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
                "_meta": {"chatos": {
                    "i18n": {"title": {"zh": "读取", "en": "Read it"}, "description": {"zh": "读取它。", "en": "Reads it."}},
                    "confirm": "file_change", "version": 1,
                }},
            })
        );
        assert_eq!(SPEC.definition(&arguments, None, Lang::En).get("outputSchema"), None);
        assert_eq!(SPEC.lint(), Vec::<String>::new());
    }

    #[test]
    fn each_rule_is_enforced() {
        let broken = ToolSpec {
            name: "Read",
            title: Text::same("x".repeat(41)),
            description: Text::fixed("", "好"),
            annotations: Annotations::of("R D"),
            confirm: Confirm::None,
            version: 1,
        };
        assert_eq!(broken.lint().len(), 6, "{:?}", broken.lint());
    }

    #[test]
    fn tool_names() {
        assert!(is_tool_name("a") && is_tool_name("prompt_key_values") && is_tool_name(&"a".repeat(48)));
        for bad in ["", "A", "1a", "_a", "a-b", "a.b", "é", &"a".repeat(49)] {
            assert!(!is_tool_name(bad), "{bad}");
        }
    }
}
