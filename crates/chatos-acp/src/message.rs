//! What an agent's messages say, read tolerantly: one odd field never loses a message.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use chatos_wire::card::plain;
use serde_json::{Map, Value};

use crate::head::unread;

/// Longest text of one tool call that is kept.
const TEXT_CHARS: usize = 200_000;
/// Most options of one question.
const OPTIONS: usize = 60;
/// Longest arguments of a card; then each of their parts is cut.
const SHOWN_BYTES: usize = 64 * 1024;
const PART_CHARS: usize = 4_000;
const PARTS: usize = 60;
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
    /// What it gave, as text.
    pub(crate) output: String,
    pub(crate) diffs: Vec<FileDiff>,
    pub(crate) text: String,
    pub(crate) places: Vec<PathBuf>,
    /// Terminals of ours whose output it shows.
    pub(crate) terminals: Vec<String>,
    /// It was told more than can be kept: what it is about is known no more, and nobody can be asked about it.
    pub(crate) shed: bool,
    /// What it gave was more than can be kept.
    pub(crate) cut: bool,
}

impl ToolCall {
    /// The call of a `tool_call`, a `tool_call_update` or a permission, on top of what was known.
    pub(crate) fn told(&mut self, update: &Value) {
        let text = |key: &str| update[key].as_str();
        for part in unread(update) {
            match part {
                "rawOutput" => self.cut = true,
                _ => self.shed(),
            }
        }
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
            self.output = output_text(output);
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

    /// Memory that what it was told takes, roughly.
    pub(crate) fn held(&self) -> usize {
        let files =
            self.diffs.iter().map(|diff| diff.new.len() + diff.old.as_ref().map_or(0, String::len) + 200);
        let places = self.places.iter().map(|place| place.as_os_str().len() + 24);
        let terminals = self.terminals.iter().map(|terminal| terminal.len() + 24);
        let texts = [&self.title, &self.output, &self.text].map(String::len);
        let lists = files.chain(places).chain(terminals).chain(texts);
        size(&self.input) + lists.sum::<usize>()
    }

    /// Forgets what it was told, but for what it is called, its sort and how far it is.
    pub(crate) fn shed(&mut self) {
        *self = Self {
            id: std::mem::take(&mut self.id),
            title: std::mem::take(&mut self.title),
            kind: self.kind,
            progress: self.progress,
            shed: true,
            ..Self::default()
        };
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
        let shown = Value::Object(shown);
        if size(&shown) <= SHOWN_BYTES { shown } else { cut(shown) }
    }
}

/// Memory of a value, roughly.
fn size(value: &Value) -> usize {
    /// A value, and the name and place of a member beside its own.
    const VALUE: usize = size_of::<Value>();
    const MEMBER: usize = 40;
    VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(size).sum(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| MEMBER + key.len() + size(value)).sum()
            }
            _ => 0,
        }
}

/// Arguments that are too long for a card, each of them cut; how many more there are is the last one.
fn cut(arguments: Value) -> Value {
    let Value::Object(members) = arguments else { return arguments };
    let short = |text: &str, most: usize| match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    let more = members.len().saturating_sub(PARTS);
    let cut_one = |(key, value): (String, Value)| {
        let value = match &value {
            Value::String(text) => short(text, PART_CHARS).into(),
            _ if size(&value) > PART_CHARS => short(&value.to_string(), PART_CHARS).into(),
            _ => value,
        };
        (short(&key, 200), value)
    };
    let mut kept: Map<String, Value> = members.into_iter().take(PARTS).map(cut_one).collect();
    if more > 0 {
        kept.insert("…".to_owned(), format!("+{more}").into());
    }
    Value::Object(kept)
}

/// What a call gave, where it says so outside of its content.
fn output_text(output: &Value) -> String {
    let named = ["output", "stdout", "content", "text"].iter().find_map(|key| output[*key].as_str());
    match output.as_str().or(named) {
        Some(text) => text.chars().take(TEXT_CHARS).collect(),
        None => output.to_string().chars().take(TEXT_CHARS).collect(),
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
            "content" => texts.push(block_text(&part["content"]).into_owned()),
            "terminal" => terminals.extend(part["terminalId"].as_str().map(str::to_owned)),
            other => texts.push(format!("[{}]", plain(other))),
        }
    }
    (diffs, texts.join("\n").chars().take(TEXT_CHARS).collect(), terminals)
}

/// A content block as text.
pub(crate) fn block_text(block: &Value) -> Cow<'_, str> {
    let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match text("/type") {
        "text" => text("/text").into(),
        "resource_link" => text("/uri").into(),
        "resource" => match block.pointer("/resource/text").and_then(Value::as_str) {
            Some(inside) => inside.into(),
            None => text("/resource/uri").into(),
        },
        "" => "".into(),
        other => format!("[{}]", plain(other)).into(),
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
    use crate::head::UNREAD;

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
    fn a_call_whose_input_was_too_large_to_be_read_is_about_nothing_known() {
        let mut call = ToolCall::default();
        call.told(&json!({ "kind": "edit", "rawInput": { "path": "/p/a.txt" } }));
        call.told(&json!({ UNREAD: ["rawOutput"], "status": "in_progress" }));
        assert_eq!((call.shed, call.cut, &call.input["path"]), (false, true, &json!("/p/a.txt")));
        call.told(&json!({ UNREAD: ["content"], "status": "completed" }));
        assert_eq!((call.shed, call.progress, &call.input), (true, Progress::Done, &Value::Null));
        // What it is told later does not make the rest of it known.
        call.asked(&json!({ "rawInput": { "path": "/p/a.txt" } }));
        assert!(call.shed);
    }

    #[test]
    fn arguments_too_long_for_a_card_are_cut_and_short_ones_stay_as_they_are() {
        let shown = |input: Value| {
            let mut call = ToolCall::default();
            call.told(&json!({ "kind": "edit", "rawInput": input }));
            call.arguments(Path::new("/p"))
        };
        let of = |text: String| shown(json!({ "path": "/p/a.txt", "content": text, "more": [1] }));
        assert_eq!(of("很".repeat(20_000))["content"].as_str().unwrap().chars().count(), 20_000);
        let long = of("很".repeat(500_000));
        assert_eq!(long["content"].as_str().unwrap().chars().count(), PART_CHARS + 1);
        assert_eq!((&long["path"], &long["more"]), (&json!("a.txt"), &json!([1])));
        let many: Map<String, Value> =
            (0..100).map(|n| (format!("k{n}"), "很".repeat(3_000).into())).collect();
        let many = shown(Value::Object(many));
        assert_eq!(many["k0"].as_str().unwrap().chars().count(), 3_000, "it has less than it may have");
        assert_eq!((many.as_object().unwrap().len(), &many["…"]), (PARTS + 1, &json!("+40")));
    }

    #[test]
    fn what_is_no_content_is_no_text() {
        assert_eq!(block_text(&Value::Null), "");
        assert_eq!(block_text(&json!({ "type": "image", "data": "x" })), "[image]");
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
