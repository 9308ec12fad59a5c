//! A question as a form of the connected client (MCP elicitation), and its content as an answer.
//!
//! Secrets are never asked this way: a form travels through the client and its model's context.

use chatos_prompts::Object;
use chatos_prompts::kind::{Body, Prompt};
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
pub(super) fn of(prompt: &Prompt) -> Option<Form> {
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
        Body::TaskConfirm(_) | Body::FileChangeConfirm | Body::Result(_) => return None,
    };
    let mut schema = json!({ "type": "object", "properties": properties });
    if required.as_array().is_some_and(|names| !names.is_empty()) {
        schema["required"] = required;
    }
    Some(Form { message, schema, multi_select })
}

/// The content a client sent back, as an answer of the queue.
pub(super) fn answer(prompt: &Prompt, content: &Object) -> Value {
    match &prompt.body {
        Body::Choice(_) => {
            json!({ "status": "ok", "selection": content.get(SELECTION).cloned().unwrap_or(Value::Null) })
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
        let form = of(&prompt).unwrap();
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
        let form = of(&single).unwrap();
        assert_eq!(form.message, "ui_prompter/t");
        assert_eq!(
            form.schema["properties"]["selection"],
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "b"}], "default": "b"})
        );
        assert!(!form.multi_select);
        let multiple = prompt(
            &json!({"kind": "choice", "multiple": true, "minSelections": 1, "options": [{"value": "a"}, {"value": "b"}]}),
        );
        let form = of(&multiple).unwrap();
        assert!(form.multi_select);
        assert_eq!(form.schema["properties"]["selection"]["maxItems"], 2);
        let content = json!({"selection": ["b"]});
        assert_eq!(
            answer(&multiple, content.as_object().unwrap()),
            json!({"status": "ok", "selection": ["b"]})
        );
    }

    #[test]
    fn secrets_and_confirmations_are_not_asked_of_clients() {
        assert_eq!(of(&prompt(&json!({"kind": "kv", "fields": [{"key": "p", "secret": true}]}))), None);
        assert_eq!(of(&prompt(&json!({"kind": "file_change_confirm", "diff": "d"}))), None);
    }
}
