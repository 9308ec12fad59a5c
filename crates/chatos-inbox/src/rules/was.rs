//! What a question was about, as digests of its parts: over a restart nobody else knows what it was, and the person is
//! told what became another thing (inbox §1.2). No value can be read back from them.

use std::collections::BTreeMap;

use chatos_prompts::effect::{Difference, digest_of};
use serde_json::{Map, Value, json};

/// Most files whose digests are kept.
const MAX_FILES: usize = 50;
/// Enough to tell two values apart.
const DIGITS: usize = 16;

/// The digests of what decides an effect.
pub(super) fn digests(material: &Value) -> Value {
    json!(parts(material))
}

/// What is another thing in this material.
pub(super) fn difference(was: &Value, now: &Value) -> Option<Difference> {
    let was: BTreeMap<String, String> = serde_json::from_value(was.clone()).ok()?;
    let now = parts(now);
    let mut found = Difference::default();
    for key in was.keys().chain(now.keys().filter(|key| !was.contains_key(*key))) {
        if was.get(key) != now.get(key) {
            match key.strip_prefix("files/") {
                Some(path) => found.files.push(path.to_owned()),
                None => found.facts.push(key.clone()),
            }
        }
    }
    (found != Difference::default()).then_some(found)
}

fn parts(material: &Value) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    let mut add = |key: String, value: &Value| {
        let digest = digest_of(value);
        parts.insert(key, digest.chars().take(DIGITS).collect());
    };
    for (key, value) in material.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            // They say nothing of their own.
            ("v" | "kind" | "diff", _) => {}
            ("files", Value::Array(files)) => {
                for file in files.iter().take(MAX_FILES) {
                    add(format!("files/{}", file["path"].as_str().unwrap_or_default()), file);
                }
            }
            ("command", Value::Object(command)) => {
                let is_variable = |key: &str| matches!(key, "env" | "envDigest");
                let of = |variables: bool| -> Map<String, Value> {
                    let chosen = command.iter().filter(|(key, _)| is_variable(key) == variables);
                    chosen.map(|(key, value)| (key.clone(), value.clone())).collect()
                };
                add("env".to_owned(), &Value::Object(of(true)));
                add("command".to_owned(), &Value::Object(of(false)));
            }
            _ => add(key.clone(), value),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_another_thing_is_named_by_digests_alone() {
        let before = json!({
            "v": 2, "kind": "command", "root": { "path": "/p", "inode": 1 },
            "command": { "text": "ls", "env": [], "envDigest": "secret-1", "network": false },
            "files": [{ "path": "a", "before": "1" }, { "path": "b", "before": "2" }],
        });
        let kept = digests(&before);
        assert!(!kept.to_string().contains("secret") && !kept.to_string().contains("/p"), "{kept}");
        assert_eq!(difference(&kept, &before), None);
        let changed = |at: &str, value: Value| {
            let mut now = before.clone();
            *now.pointer_mut(at).unwrap() = value;
            let found = difference(&kept, &now).unwrap();
            [found.files, found.facts].concat()
        };
        assert_eq!(changed("/command/envDigest", json!("secret-2")), ["env"]);
        assert_eq!(changed("/command/network", json!(true)), ["command"]);
        assert_eq!(changed("/root/inode", json!(2)), ["root"]);
        assert_eq!(changed("/files/1/before", json!("3")), ["b"]);
        assert_eq!(changed("/files", json!([{ "path": "a", "before": "1" }])), ["b"]);
        assert_eq!(difference(&json!("nothing"), &before), None);
    }
}
