//! What an agent's messages say, read tolerantly: one odd field never loses a message.

use std::path::{Path, PathBuf};

use chatos_wire::card::plain;
use serde_json::{Map, Value};

/// Longest text of one tool call that is kept.
const TEXT_CHARS: usize = 200_000;
/// Most options of one question.
const OPTIONS: usize = 60;
/// Most files of one change.
const FILES: usize = 2_000;

/// What a tool call does, in the protocol's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    /// The list of what it is about to do; a word of ours.
    Plan,
    #[default]
    Other,
}

impl Kind {
    fn of(word: &str) -> Self {
        match word {
            "read" => Self::Read,
            "edit" => Self::Edit,
            "delete" => Self::Delete,
            "move" => Self::Move,
            "search" => Self::Search,
            "execute" => Self::Execute,
            "think" => Self::Think,
            "fetch" => Self::Fetch,
            _ => Self::Other,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::Plan => "plan",
            Self::Other => "other",
        }
    }

    /// Doing it again is harmless.
    pub(crate) fn only_looks(self) -> bool {
        matches!(self, Self::Read | Self::Search | Self::Think | Self::Plan)
    }

    pub(crate) fn changes_files(self) -> bool {
        matches!(self, Self::Edit | Self::Delete | Self::Move)
    }
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Progress {
    #[default]
    Pending,
    Running,
    Done,
    Failed,
}

/// One file as a call would leave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileDiff {
    pub(crate) path: PathBuf,
    pub(crate) old: Option<String>,
    pub(crate) new: String,
}

/// A tool call as far as it was announced.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) kind: Kind,
    pub(crate) progress: Progress,
    pub(crate) input: Value,
    pub(crate) output: Value,
    pub(crate) diffs: Vec<FileDiff>,
    pub(crate) text: String,
    pub(crate) places: Vec<PathBuf>,
    /// Terminals of ours whose output it shows.
    pub(crate) terminals: Vec<String>,
}

impl ToolCall {
    /// The call of a `tool_call`, a `tool_call_update` or a permission, on top of what was known.
    pub(crate) fn told(&mut self, update: &Value) {
        let text = |key: &str| update[key].as_str();
        if let Some(title) = text("title") {
            self.title = plain(title);
        }
        if let Some(kind) = text("kind") {
            self.kind = Kind::of(kind);
        }
        match text("status") {
            Some("pending") => self.progress = Progress::Pending,
            Some("in_progress") => self.progress = Progress::Running,
            Some("completed") => self.progress = Progress::Done,
            Some("failed" | "cancelled") => self.progress = Progress::Failed,
            _ => {}
        }
        if let Some(input) = update.get("rawInput").filter(|input| !input.is_null()) {
            self.input = input.clone();
        }
        if let Some(output) = update.get("rawOutput").filter(|output| !output.is_null()) {
            self.output = output.clone();
        }
        if let Some(places) = update["locations"].as_array() {
            self.places = places
                .iter()
                .filter_map(|place| place["path"].as_str())
                .take(FILES)
                .map(PathBuf::from)
                .collect();
        }
        if let Some(content) = update["content"].as_array() {
            let (diffs, text, terminals) = contents(content);
            if !diffs.is_empty() {
                self.diffs = diffs;
            }
            if !terminals.is_empty() {
                self.terminals = terminals;
            }
            if !text.is_empty() {
                self.text = text;
            }
        }
    }

    /// The call of a permission, on top of what was announced: an agent that repeats a part of its input asks for the
    /// whole of it.
    pub(crate) fn asked(&mut self, update: &Value) {
        let before = self.input.clone();
        self.told(update);
        if let (Value::Object(before), Value::Object(now)) = (before, &mut self.input) {
            for (key, value) in before {
                now.entry(key).or_insert(value);
            }
        }
    }

    /// The command of an `execute`, as it was announced.
    pub(crate) fn command(&self) -> Option<String> {
        match &self.input["command"] {
            Value::String(command) => Some(command.clone()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                (!words.is_empty()).then(|| in_shell(&words).unwrap_or_else(|| words.join(" ")))
            }
            _ => ["cmd", "script"].iter().find_map(|key| self.input[*key].as_str()).map(str::to_owned),
        }
    }

    /// Where a command runs.
    pub(crate) fn cwd(&self, root: &Path) -> PathBuf {
        let named = ["cwd", "workdir", "directory"].iter().find_map(|key| self.input[*key].as_str());
        named.map_or_else(|| root.to_owned(), |cwd| root.join(cwd))
    }

    /// Files the call is about, as announced.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.diffs.iter().map(|diff| diff.path.clone()).collect();
        if paths.is_empty() {
            paths.clone_from(&self.places);
        }
        if paths.is_empty() {
            let named = ["path", "file_path", "filePath", "file", "absolute_path"];
            paths.extend(named.iter().find_map(|key| self.input[*key].as_str()).map(PathBuf::from));
        }
        paths
    }

    /// The arguments as a card of the chat shows them: what it is about first.
    pub(crate) fn arguments(&self, root: &Path) -> Value {
        let mut shown = Map::new();
        if let Some(command) = self.command() {
            shown.insert("command".to_owned(), command.into());
        } else if let Some(path) = self.paths().first() {
            let path = path.strip_prefix(root).unwrap_or(path);
            shown.insert("path".to_owned(), path.to_string_lossy().into());
        }
        if !self.title.is_empty() {
            shown.insert("title".to_owned(), self.title.clone().into());
        }
        match &self.input {
            Value::Null => {}
            Value::Object(input) => {
                for (key, value) in input {
                    shown.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            other => {
                shown.insert("input".to_owned(), other.clone());
            }
        }
        Value::Object(shown)
    }
}

/// What a shell is given with `-c` is the command; the shell in front of it says nothing.
pub(crate) fn in_shell(words: &[&str]) -> Option<String> {
    match words {
        [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c') => {
            Some((*command).to_owned())
        }
        _ => None,
    }
}

/// Diffs, texts and terminals of a call's content; pictures are named.
fn contents(content: &[Value]) -> (Vec<FileDiff>, String, Vec<String>) {
    let (mut diffs, mut texts, mut terminals) = (Vec::new(), Vec::new(), Vec::new());
    for part in content {
        match part["type"].as_str().unwrap_or_default() {
            "diff" => {
                if let (Some(path), true) = (part["path"].as_str(), diffs.len() < FILES) {
                    diffs.push(FileDiff {
                        path: PathBuf::from(path),
                        old: part["oldText"].as_str().map(str::to_owned),
                        new: part["newText"].as_str().unwrap_or_default().to_owned(),
                    });
                }
            }
            "content" => texts.push(block_text(&part["content"])),
            "terminal" => terminals.extend(part["terminalId"].as_str().map(str::to_owned)),
            other => texts.push(format!("[{}]", plain(other))),
        }
    }
    (diffs, texts.join("\n").chars().take(TEXT_CHARS).collect(), terminals)
}

/// A content block as text.
pub(crate) fn block_text(block: &Value) -> String {
    let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match text("/type") {
        "text" => text("/text").to_owned(),
        "resource_link" => text("/uri").to_owned(),
        "resource" => match block.pointer("/resource/text").and_then(Value::as_str) {
            Some(inside) => inside.to_owned(),
            None => text("/resource/uri").to_owned(),
        },
        other => format!("[{}]", plain(other)),
    }
}

/// An answer an agent offers to its own question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: String,
}

/// The options of a permission: repeated ids once, at most as many as a card can hold.
pub(crate) fn choices(params: &Value) -> Vec<Choice> {
    let mut all: Vec<Choice> = Vec::new();
    for option in params["options"].as_array().into_iter().flatten() {
        let Some(id) = option["optionId"].as_str().filter(|id| !id.is_empty() && id.len() <= 200) else {
            continue;
        };
        if all.iter().any(|known| known.id == id) || all.len() >= OPTIONS {
            continue;
        }
        let name = plain(option["name"].as_str().unwrap_or(id));
        all.push(Choice {
            id: id.to_owned(),
            name,
            kind: option["kind"].as_str().unwrap_or_default().to_owned(),
        });
    }
    all
}

/// An entry of a plan as a line of a list.
pub(crate) fn plan_lines(update: &Value) -> Vec<String> {
    let line = |entry: &Value| {
        let mark = match entry["status"].as_str().unwrap_or_default() {
            "completed" => "- [x]",
            "in_progress" => "- [~]",
            _ => "- [ ]",
        };
        format!("{mark} {}", plain(entry["content"].as_str().unwrap_or_default()))
    };
    update["entries"].as_array().into_iter().flatten().take(200).map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_grows_with_every_update_and_odd_fields_change_nothing() {
        let mut call = ToolCall::default();
        call.told(&json!({ "title": "Edit a.txt\u{202e}", "kind": "edit", "status": "pending", "rawInput": { "path": "/p/a.txt" } }));
        call.told(&json!({ "status": 7, "kind": null, "locations": "x", "content": [
            { "type": "diff", "path": "/p/a.txt", "oldText": "a", "newText": "b" }, { "type": "new_thing" }, 4,
        ] }));
        assert_eq!((call.kind, call.progress), (Kind::Edit, Progress::Pending));
        assert_eq!(call.diffs.len(), 1);
        assert!(!call.title.contains('\u{202e}'));
        assert_eq!(call.arguments(Path::new("/p"))["path"], "a.txt");
        call.told(&json!({ "status": "completed" }));
        assert_eq!(call.progress, Progress::Done);
    }

    #[test]
    fn a_permission_that_names_a_part_is_about_the_whole() {
        let mut call = ToolCall::default();
        call.told(&json!({ "kind": "execute", "rawInput": { "command": "ls", "cwd": "/p" } }));
        call.asked(&json!({ "rawInput": { "command": "ls -a" } }));
        assert_eq!(call.input, json!({ "command": "ls -a", "cwd": "/p" }));
        call.asked(&json!({ "status": "pending" }));
        assert_eq!(call.input, json!({ "command": "ls -a", "cwd": "/p" }));
    }

    #[test]
    fn commands_are_read_as_agents_write_them() {
        let of = |input: Value| ToolCall { input, ..ToolCall::default() }.command();
        assert_eq!(of(json!({ "command": "ls -l" })).as_deref(), Some("ls -l"));
        assert_eq!(of(json!({ "command": ["bash", "-lc", "ls -l"] })).as_deref(), Some("ls -l"));
        assert_eq!(of(json!({ "command": ["ls", "-l"] })).as_deref(), Some("ls -l"));
        assert_eq!(of(json!({ "path": "x" })), None);
    }

    #[test]
    fn options_are_named_once() {
        let options: Vec<Value> =
            (0..200).map(|n| json!({ "optionId": format!("o{}", n / 2), "name": "x" })).collect();
        assert_eq!(choices(&json!({ "options": options })).len(), OPTIONS);
        assert!(choices(&json!({ "options": [{ "name": "x" }, 4] })).is_empty());
    }
}
