//! What an answer decides: everything beside the prompt that makes the effect what it is, and how two
//! looks at the world differ (`security T24`).

use serde_json::{Value, json};

use crate::json::{Object, canonical};
use crate::problem::Lang;
use crate::whole;

/// The form of the material; another one gives another `shown`.
pub const VERSION: u32 = 2;

/// Arguments up to this many bytes are in the material as they are, longer ones as their digest.
const INLINE_ARGUMENTS: usize = 64 * 1024;

/// What the answer decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// `file_change`, `command`, `tasks`, `tool_approval`, `sampling`, `url`, `budget`, `uncertain`, …: makes
    /// `shown` mandatory for kinds that do not demand it themselves.
    pub name: String,
    /// Everything beside the prompt that decides the effect: digests of targets, tool and plugin, arguments,
    /// command, directory. It is hashed, never stored or shown.
    pub material: Value,
}

impl Effect {
    /// An effect of this kind with its facts.
    pub fn new(kind: &str, facts: Object) -> Self {
        let mut material = facts;
        material.insert("v".into(), json!(VERSION));
        material.insert("kind".into(), kind.into());
        Self { name: kind.to_owned(), material: Value::Object(material) }
    }

    /// With one fact more.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        if let Value::Object(material) = &mut self.material {
            material.insert(key.to_owned(), value);
        }
        self
    }

    /// From the `{name, material}` of a payload.
    pub fn from_payload(value: &Value) -> Option<Self> {
        let name = value.get("name")?.as_str().filter(|name| !name.is_empty())?.to_owned();
        let material = value.get("material").filter(|material| material.is_object())?.clone();
        Some(Self { name, material })
    }

    /// As a payload takes it.
    pub fn to_payload(&self) -> Value {
        json!({ "name": self.name, "material": self.material })
    }

    /// What is another thing in `now`.
    pub fn difference(&self, now: &Effect) -> Difference {
        let mut found = Difference::default();
        let (empty_before, empty_now) = (Object::new(), Object::new());
        let before = self.material.as_object().unwrap_or(&empty_before);
        let now = now.material.as_object().unwrap_or(&empty_now);
        let keys: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for key in keys {
            let (was, is) = (before.get(key), now.get(key));
            if was == is {
                continue;
            }
            match key.as_str() {
                "files" => found.files = changed_files(was, is),
                // It follows from the files.
                "diff" => {}
                "command" if was.map(without_variables) == is.map(without_variables) => {
                    found.facts.push("env".to_owned());
                }
                _ => found.facts.push(key.clone()),
            }
        }
        found
    }
}

/// A command but for the variables of its surroundings.
fn without_variables(command: &Value) -> Value {
    let mut command = command.clone();
    if let Value::Object(map) = &mut command {
        map.retain(|key, _| !matches!(key.as_str(), "env" | "envDigest"));
    }
    command
}

fn changed_files(was: Option<&Value>, is: Option<&Value>) -> Vec<String> {
    let rows = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let (was, is) = (rows(was), rows(is));
    let path = |row: &Value| row["path"].as_str().unwrap_or_default().to_owned();
    let mut paths: Vec<String> = was
        .iter()
        .filter(|row| !is.contains(row))
        .chain(is.iter().filter(|row| !was.contains(row)))
        .map(path)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Arguments for the material: as they are, or the digest of many.
pub fn arguments(arguments: &Value) -> Value {
    let bytes = canonical::to_vec(arguments);
    if bytes.len() <= INLINE_ARGUMENTS {
        return arguments.clone();
    }
    json!({ "sha256": whole::sha256(&bytes), "bytes": bytes.len() })
}

/// The digest of any value, for the material.
pub fn digest_of(value: &Value) -> String {
    whole::sha256(&canonical::to_vec(value))
}

/// A directory as the material names it: its path and which directory that is.
pub fn directory(path: &std::path::Path) -> Value {
    use std::os::unix::fs::MetadataExt;
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let id = std::fs::metadata(&real).ok().map(|stat| (stat.dev(), stat.ino()));
    json!({
        "path": real.to_string_lossy(),
        "device": id.map(|(device, _)| device),
        "inode": id.map(|(_, inode)| inode),
    })
}

/// What changed between a question and its use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// Paths of files.
    pub files: Vec<String>,
    /// Keys of the material.
    pub facts: Vec<String>,
}

/// Most names in a line.
const NAMES: usize = 5;

impl Difference {
    /// One line for the question that is asked instead of one that was not answered, or whose answer nobody used.
    pub fn line_since_asked(&self, lang: Lang) -> String {
        let line = self.line(lang);
        match lang {
            Lang::En => line.replace("after you approved", "since you were asked"),
            Lang::Zh => line.replace("在你同意之后", "自提问以来"),
        }
    }

    /// One line for the new question.
    pub fn line(&self, lang: Lang) -> String {
        let mut names: Vec<String> =
            self.files.iter().take(NAMES).map(|path| path.replace(char::is_control, "�")).collect();
        if self.files.len() > NAMES {
            names.push("…".to_owned());
        }
        let facts: Vec<&str> = self.facts.iter().map(|fact| word(fact, lang)).collect();
        match (lang, names.is_empty(), facts.is_empty()) {
            (Lang::En, false, _) => format!("{} changed on disk after you approved.", names.join(", ")),
            (Lang::Zh, false, _) => format!("在你同意之后，{} 在磁盘上发生了变化。", names.join("、")),
            (Lang::En, true, false) => format!("Changed after you approved: {}.", facts.join(", ")),
            (Lang::Zh, true, false) => format!("在你同意之后发生了变化：{}。", facts.join("、")),
            (Lang::En, true, true) => "What would happen changed after you approved.".to_owned(),
            (Lang::Zh, true, true) => "在你同意之后，将要执行的内容发生了变化。".to_owned(),
        }
    }
}

fn word(fact: &str, lang: Lang) -> &str {
    match (fact, lang) {
        ("toolDigest", Lang::En) => "the tool",
        ("toolDigest", Lang::Zh) => "工具",
        ("pluginDigest", Lang::En) => "the plugin",
        ("pluginDigest", Lang::Zh) => "插件",
        ("arguments", Lang::En) => "the arguments",
        ("arguments", Lang::Zh) => "参数",
        ("root", Lang::En) => "the working directory",
        ("root", Lang::Zh) => "工作目录",
        ("command", Lang::En) => "how the command would run",
        ("command", Lang::Zh) => "命令的运行方式",
        ("env", Lang::En) => "the environment variables of the command",
        ("env", Lang::Zh) => "命令的环境变量",
        ("model", Lang::En) => "the model",
        ("model", Lang::Zh) => "模型",
        (other, _) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown;

    fn material() -> Value {
        json!({
            "identity": "app:com.x/mail", "tool": "send", "toolDigest": "t1", "pluginDigest": "p1",
            "arguments": { "to": "a@b", "list": [1, { "deep": true }] },
            "root": { "path": "/p", "device": 1, "inode": 2 },
            "files": [
                { "path": "a.txt", "change": "modified", "before": "b1", "after": "a1", "mode": "644" },
                { "path": "b.txt", "change": "created", "before": null, "after": "a2", "mode": "600" },
            ],
            "diff": { "sha256": "d1", "bytes": 10, "lines": 3 },
            "command": {
                "text": "ls", "cwd": "/p", "shell": "/bin/sh", "env": ["A"], "envDigest": "e1", "network": false,
                "sandbox": { "level": "full", "policyDigest": "s1" },
            },
        })
    }

    fn leaves(value: &Value, at: &str, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| leaves(value, &format!("{at}/{key}"), out));
            }
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(i, value)| leaves(value, &format!("{at}/{i}"), out));
            }
            _ => out.push(at.to_owned()),
        }
    }

    #[test]
    fn every_single_fact_of_the_material_changes_what_was_shown() {
        let prompt = json!({ "kind": "file_change_confirm", "title": "t" }).as_object().unwrap().clone();
        let effect = Effect::new("file_change", material().as_object().unwrap().clone());
        let first = shown::digest(&prompt, Some(&effect.material));
        let mut places = Vec::new();
        leaves(&effect.material, "", &mut places);
        assert!(places.len() > 25, "{places:?}");
        let mut seen = std::collections::BTreeSet::from([first]);
        for place in &places {
            let mut other = effect.clone();
            let leaf = other.material.pointer_mut(place).unwrap();
            *leaf = match &*leaf {
                Value::String(text) => json!(format!("{text}x")),
                Value::Bool(flag) => json!(!flag),
                Value::Number(number) => json!(number.as_u64().unwrap() + 1),
                _ => json!("something"),
            };
            assert!(seen.insert(shown::digest(&prompt, Some(&other.material))), "{place}");
        }
        assert!(seen.insert(shown::digest(&prompt, None)));
    }

    #[test]
    fn a_new_question_says_what_changed() {
        let before = Effect::new("file_change", material().as_object().unwrap().clone());
        let mut after = before.clone();
        after.material["files"][0]["before"] = json!("b9");
        after.material["diff"]["sha256"] = json!("d9");
        let found = before.difference(&after);
        assert_eq!(found.files, ["a.txt"]);
        assert_eq!(found.line(Lang::En), "a.txt changed on disk after you approved.");
        let tool = before.clone().with("toolDigest", json!("t2"));
        assert_eq!(before.difference(&tool).line(Lang::En), "Changed after you approved: the tool.");
        let mut variables = before.clone();
        variables.material["command"]["envDigest"] = json!("e2");
        assert_eq!(
            before.difference(&variables).line_since_asked(Lang::En),
            "Changed since you were asked: the environment variables of the command."
        );
        assert_eq!(
            before.difference(&variables).line_since_asked(Lang::Zh),
            "自提问以来发生了变化：命令的环境变量。"
        );
        variables.material["command"]["network"] = json!(true);
        assert_eq!(before.difference(&variables).facts, ["command"]);
        assert_eq!(before.difference(&before), Difference::default());
    }

    #[test]
    fn long_arguments_are_in_the_material_by_their_digest() {
        let short = json!({ "a": "x" });
        assert_eq!(arguments(&short), short);
        let long = |last: &str| json!({ "content": format!("{}{last}", "y".repeat(200_000)) });
        let (one, two) = (arguments(&long("1")), arguments(&long("2")));
        assert!(one["sha256"].is_string() && one != two);
    }
}
