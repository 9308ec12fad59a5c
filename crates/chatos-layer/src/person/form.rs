//! A question as a form of the connected client (MCP elicitation), and its content as an answer.
//!
//! Secrets are never asked this way: a form travels through the client and its model's context. A change
//! or a list of tasks is shown in full and accepted or declined as it is; editing is for the queue.

use chatos_prompts::Object;
use chatos_prompts::kind::{Body, Prompt};
use chatos_tool::{Lang, Text};
use serde_json::{Map, Value, json};

/// A form for a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// What the person reads.
    pub message: String,
    /// A flat object of primitives.
    pub schema: Value,
    /// Holds a list of options of which several may be chosen; older clients cannot draw it.
    pub multi_select: bool,
}

/// The property of a choice.
const SELECTION: &str = "selection";

/// The form of a question; `None` when this kind of question is not asked of clients.
pub(super) fn of(prompt: &Prompt, lang: Lang) -> Option<Form> {
    let heading: Vec<&str> = [&prompt.title, &prompt.message]
        .into_iter()
        .filter_map(|text| text.as_deref())
        .filter(|text| !text.trim().is_empty())
        .collect();
    let mut message = heading.join("\n\n");
    if message.is_empty() {
        prompt.source.as_deref().unwrap_or("ChatOS").clone_into(&mut message);
    }
    let (properties, required, multi_select) = match &prompt.body {
        Body::Kv(kv) => {
            if kv.fields.iter().any(|field| field.secret) {
                return None;
            }
            let mut properties = Map::new();
            for field in &kv.fields {
                let mut property =
                    json!({ "type": "string", "title": field.label.as_deref().unwrap_or(&field.key) });
                let hint = field.description.as_deref().or(field.placeholder.as_deref());
                if let Some(hint) = hint.filter(|text| !text.is_empty()) {
                    property["description"] = json!(hint);
                }
                if let Some(default) = &field.default {
                    property["default"] = json!(default);
                }
                if field.required {
                    property["minLength"] = json!(1);
                }
                properties.insert(field.key.clone(), property);
            }
            let required: Vec<&str> =
                kv.fields.iter().filter(|f| f.required).map(|f| f.key.as_str()).collect();
            (properties, json!(required), false)
        }
        Body::Choice(choice) => {
            let options: Vec<Value> = choice
                .options
                .iter()
                .map(|option| json!({ "const": option.value, "title": option.label.as_deref().unwrap_or(&option.value) }))
                .collect();
            let property = if choice.multiple {
                json!({
                    "type": "array", "items": { "anyOf": options },
                    "minItems": choice.min, "maxItems": choice.max, "default": choice.default,
                })
            } else {
                let mut property = json!({ "type": "string", "oneOf": options });
                if let Some(default) = choice.default.first() {
                    property["default"] = json!(default);
                }
                property
            };
            let mut properties = Map::new();
            properties.insert(SELECTION.to_owned(), property);
            (properties, json!([SELECTION]), choice.multiple)
        }
        Body::FileChangeConfirm => {
            message.push_str(&change(&prompt.normal, lang));
            (remark(lang), json!([]), false)
        }
        Body::TaskConfirm(_) => {
            message.push_str(&tasks(&prompt.normal));
            (remark(lang), json!([]), false)
        }
        Body::Result(_) => return None,
    };
    let mut schema = json!({ "type": "object", "properties": properties });
    if required.as_array().is_some_and(|names| !names.is_empty()) {
        schema["required"] = required;
    }
    Some(Form { message, schema, multi_select })
}

/// The one thing a person may say besides yes and no.
const REMARK: &str = "remark";

fn remark(lang: Lang) -> Map<String, Value> {
    let title = Text::fixed("Remark", "备注");
    let description = Text::fixed(
        "Accepting the form means yes to exactly what is shown; this is optional",
        "提交表单即表示同意以上所示内容；备注可不填",
    );
    let property =
        json!({ "type": "string", "title": title.get(lang), "description": description.get(lang) });
    [(REMARK.to_owned(), property)].into_iter().collect()
}

/// What would change or run, in full.
fn change(prompt: &Object, lang: Lang) -> String {
    let rows = [
        ("path", Text::fixed("Path", "路径")),
        ("command", Text::fixed("Command", "命令")),
        ("cwd", Text::fixed("Directory", "目录")),
        ("diff", Text::fixed("Changes", "变更")),
    ];
    let mut text = String::new();
    for (key, label) in rows {
        let Some(value) = prompt.get(key).and_then(Value::as_str).filter(|value| !value.is_empty()) else {
            continue;
        };
        let gap = if value.contains('\n') { "\n" } else { " " };
        text.push_str(&format!("\n\n{}:{gap}{value}", label.get(lang)));
    }
    text
}

fn tasks(prompt: &Object) -> String {
    let mut text = String::new();
    for (index, task) in prompt.get("tasks").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let word = |key: &str| task.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = index + 1;
        text.push_str(&format!("\n\n{number}. [{}/{}] {}", word("status"), word("priority"), word("title")));
        for tag in task.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            text.push_str(&format!(" #{tag}"));
        }
        if !word("details").is_empty() {
            text.push_str(&format!("\n{}", word("details")));
        }
    }
    text
}

/// The content a client sent back, as an answer of the queue.
pub(super) fn answer(prompt: &Prompt, content: &Object) -> Value {
    match &prompt.body {
        Body::Choice(_) => {
            json!({ "status": "ok", "selection": content.get(SELECTION).cloned().unwrap_or(Value::Null) })
        }
        Body::FileChangeConfirm | Body::TaskConfirm(_) => {
            let mut answer = json!({ "status": "ok" });
            if let Some(remark) = content.get(REMARK).and_then(Value::as_str).filter(|text| !text.is_empty())
            {
                answer["remark"] = json!(remark);
            }
            if let Some(tasks) = prompt.normal.get("tasks") {
                answer["tasks"] = tasks.clone();
            }
            answer
        }
        _ => {
            // Clients may send a number for a text that looks like one; the queue knows texts only.
            let values: Object = content
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| {
                    let text = match value {
                        Value::Number(_) | Value::Bool(_) => Value::String(value.to_string()),
                        other => other.clone(),
                    };
                    (key.clone(), text)
                })
                .collect();
            json!({ "status": "ok", "values": values })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::person::Question;

    fn prompt(value: &Value) -> Prompt {
        Question::check("ui_prompter", "t", value).unwrap().prompt
    }

    #[test]
    fn fields_become_properties_and_come_back_as_values() {
        let prompt = prompt(&json!({"kind": "kv", "title": "T", "message": "M", "fields": [
            {"key": "host", "label": "Host", "required": true},
            {"key": "port", "default": "80", "description": "d"},
        ]}));
        let form = of(&prompt, Lang::En).unwrap();
        assert_eq!(form.message, "T\n\nM");
        assert_eq!(
            form.schema,
            json!({"type": "object", "properties": {
                "host": {"type": "string", "title": "Host", "minLength": 1},
                "port": {"type": "string", "title": "port", "description": "d", "default": "80"},
            }, "required": ["host"]})
        );
        let content = json!({"host": "h", "port": 8080});
        assert_eq!(
            answer(&prompt, content.as_object().unwrap()),
            json!({"status": "ok", "values": {"host": "h", "port": "8080"}})
        );
    }

    #[test]
    fn options_become_one_property() {
        let single = prompt(
            &json!({"kind": "choice", "default": "b", "options": [{"value": "a", "label": "A"}, {"value": "b"}]}),
        );
        let form = of(&single, Lang::En).unwrap();
        assert_eq!(form.message, "ui_prompter/t");
        assert_eq!(
            form.schema["properties"]["selection"],
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "b"}], "default": "b"})
        );
        assert!(!form.multi_select);
        let multiple = prompt(
            &json!({"kind": "choice", "multiple": true, "minSelections": 1, "options": [{"value": "a"}, {"value": "b"}]}),
        );
        let form = of(&multiple, Lang::En).unwrap();
        assert!(form.multi_select);
        assert_eq!(form.schema["properties"]["selection"]["maxItems"], 2);
        let content = json!({"selection": ["b"]});
        assert_eq!(
            answer(&multiple, content.as_object().unwrap()),
            json!({"status": "ok", "selection": ["b"]})
        );
    }

    #[test]
    fn secrets_are_not_asked_of_clients() {
        let secret = prompt(&json!({"kind": "kv", "fields": [{"key": "p", "secret": true}]}));
        assert_eq!(of(&secret, Lang::En), None);
    }

    #[test]
    fn a_change_is_shown_in_full_and_accepted_as_it_is() {
        let change = prompt(&json!({
            "kind": "file_change_confirm", "title": "T", "path": "a.txt", "diff": "-old\n+new",
        }));
        let form = of(&change, Lang::En).unwrap();
        assert_eq!(form.message, "T\n\nPath: a.txt\n\nChanges:\n-old\n+new");
        assert!(form.schema.get("required").is_none(), "{}", form.schema);
        let accepted = answer(&change, json!({"remark": "fine", "tasks": [1]}).as_object().unwrap());
        assert_eq!(accepted, json!({"status": "ok", "remark": "fine"}));
        let command = prompt(&json!({"kind": "file_change_confirm", "command": "rm -r x", "cwd": "."}));
        assert!(of(&command, Lang::Zh).unwrap().message.ends_with("命令: rm -r x\n\n目录: ."));
    }

    #[test]
    fn tasks_come_back_as_they_were_shown() {
        let tasks = prompt(&json!({"kind": "task_confirm", "tasks": [
            {"draftId": "d1", "title": "Write", "details": "the report", "priority": "high", "status": "todo", "tags": ["x"]},
        ]}));
        let form = of(&tasks, Lang::En).unwrap();
        assert!(form.message.contains("1. [todo/high] Write #x\nthe report"), "{}", form.message);
        let accepted = answer(&tasks, &Object::new());
        assert_eq!((&accepted["status"], &accepted["tasks"][0]["draftId"]), (&json!("ok"), &json!("d1")));
    }
}
