//! The metadata form of entries (`ui-prompts §8`): what remains in minimal log mode and what other
//! apps see of prompts that are not theirs.

use serde_json::{Value, json};

use crate::json::Object;

/// Whether closed prompts keep their content (setting `uiPromptLogMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogMode {
    #[default]
    Full,
    Minimal,
}

/// `{kind, title, source, allowCancel, path?, fieldCount | optionCount… | taskCount | textBytes}`.
pub fn of_prompt(prompt: &Object) -> Object {
    let mut out = Object::new();
    for key in ["kind", "title", "source"] {
        if let Some(value) = prompt.get(key).filter(|v| v.is_string()) {
            out.insert(key.into(), value.clone());
        }
    }
    out.insert("allowCancel".into(), (prompt.get("allowCancel") != Some(&Value::Bool(false))).into());
    let count = |key: &str| prompt.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    match prompt.get("kind").and_then(Value::as_str) {
        Some("kv") => {
            out.insert("fieldCount".into(), count("fields").into());
        }
        Some("choice") => {
            out.insert("optionCount".into(), count("options").into());
            let multiple = prompt.get("multiple") == Some(&Value::Bool(true));
            out.insert("multiple".into(), multiple.into());
            for key in ["minSelections", "maxSelections"] {
                if let Some(value) = prompt.get(key).filter(|v| multiple && v.is_number()) {
                    out.insert(key.into(), value.clone());
                }
            }
        }
        Some("task_confirm") => {
            out.insert("taskCount".into(), count("tasks").into());
        }
        Some("file_change_confirm") => {
            if let Some(path) = prompt.get("path").filter(|v| v.is_string()) {
                out.insert("path".into(), path.clone());
            }
        }
        Some("result") => {
            let text = crate::kind::result::ResultText::of(prompt);
            out.insert("textBytes".into(), text.as_str().map_or(0, str::len).into());
        }
        _ => {}
    }
    out
}

/// `{status, valueCount | selectionCount | taskCount, hasRemark}`.
pub fn of_response(response: &Object) -> Object {
    let mut out = Object::new();
    out.insert("status".into(), response.get("status").cloned().unwrap_or(Value::Null));
    if let Some(Value::Object(values)) = response.get("values") {
        out.insert("valueCount".into(), values.len().into());
    }
    match response.get("selection") {
        Some(Value::Array(many)) => {
            out.insert("selectionCount".into(), many.len().into());
        }
        Some(Value::String(_)) => {
            out.insert("selectionCount".into(), 1.into());
        }
        _ => {}
    }
    if let Some(Value::Array(tasks)) = response.get("tasks") {
        out.insert("taskCount".into(), tasks.len().into());
    }
    // Already reduced once: keep what it says.
    for key in ["valueCount", "selectionCount", "taskCount"] {
        if let Some(value) = response.get(key).filter(|v| v.is_u64()) {
            out.insert(key.into(), value.clone());
        }
    }
    let remark = response.get("remark").and_then(Value::as_str).is_some_and(|r| !r.is_empty());
    let had = response.get("hasRemark") == Some(&Value::Bool(true));
    out.insert("hasRemark".into(), (remark || had).into());
    for key in ["declined", "stop", "code", "auto"] {
        if let Some(value) = response.get(key) {
            out.insert(key.into(), value.clone());
        }
    }
    out
}

/// A whole entry in metadata form; anything that is not a prompt entry is reduced to its type.
pub fn of_entry(entry: &Object) -> Value {
    let mut out = Object::new();
    for (key, value) in entry {
        let reduced = match (key.as_str(), value) {
            ("ts" | "type" | "action" | "requestId" | "runId", value) => value.clone(),
            ("prompt", Value::Object(prompt)) => of_prompt(prompt).into(),
            ("response", Value::Object(response)) => of_response(response).into(),
            ("chatos", Value::Object(chatos)) => {
                let kept = ["v", "owner", "expiresAt", "shown", "by"];
                chatos
                    .iter()
                    .filter(|(k, _)| kept.contains(&k.as_str()))
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect::<Object>()
                    .into()
            }
            _ => continue,
        };
        out.insert(key.clone(), reduced);
    }
    json!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_content_remains() {
        let entry = json!({"ts":"t","type":"ui_prompt","action":"request","requestId":"r","x":"secret text",
            "prompt":{"kind":"choice","title":"T","message":"secret text","source":"s","multiple":true,
                "options":[{"value":"secret text"}],"minSelections":0,"maxSelections":1,"extra":"secret text"},
            "chatos":{"v":1,"owner":"user","trace":{"a":"secret text"},"sig":"q"}});
        let reduced = of_entry(entry.as_object().unwrap());
        assert_eq!(
            reduced,
            json!({"ts":"t","type":"ui_prompt","action":"request","requestId":"r",
                "prompt":{"kind":"choice","title":"T","source":"s","allowCancel":true,"optionCount":1,
                    "multiple":true,"minSelections":0,"maxSelections":1},
                "chatos":{"v":1,"owner":"user"}})
        );
    }

    #[test]
    fn responses_keep_counts_and_reducing_twice_changes_nothing() {
        for (response, reduced) in [
            (
                json!({"status":"ok","values":{"a":"x","b":"y"},"remark":"r"}),
                json!({"status":"ok","valueCount":2,"hasRemark":true}),
            ),
            (
                json!({"status":"ok","selection":"x"}),
                json!({"status":"ok","selectionCount":1,"hasRemark":false}),
            ),
            (
                json!({"status":"ok","selection":["x","y"]}),
                json!({"status":"ok","selectionCount":2,"hasRemark":false}),
            ),
            (json!({"status":"ok","tasks":[]}), json!({"status":"ok","taskCount":0,"hasRemark":false})),
            (
                json!({"status":"canceled","declined":true}),
                json!({"status":"canceled","hasRemark":false,"declined":true}),
            ),
        ] {
            let once = of_response(response.as_object().unwrap());
            assert_eq!(json!(once), reduced);
            assert_eq!(of_response(&once), once);
        }
    }
}
