//! `kind="kv"`: a form of named text fields (seed 004 §5).

use serde_json::Value;

use super::Checker;
use crate::json::Object;
use crate::problem::{Code, Problem, quoted};

pub const MAX_FIELDS: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kv {
    pub fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    pub label: Option<String>,
    pub description: Option<String>,
    pub placeholder: Option<String>,
    pub default: Option<String>,
    pub required: bool,
    pub multiline: bool,
    pub secret: bool,
}

pub(super) fn check(ck: &mut Checker, prompt: &Object, normal: &mut Object) -> Option<Kv> {
    const AT: &str = "/prompt/fields";
    let Some(Value::Array(given)) = prompt.get("fields") else {
        ck.fatal(Problem::new(Code::FieldsRequired, AT));
        return None;
    };
    if given.is_empty() || given.len() > MAX_FIELDS {
        ck.fatal(Problem::new(Code::FieldsCount, AT).arg(given.len()));
        return None;
    }
    let mut fields: Vec<Field> = Vec::with_capacity(given.len());
    let mut written = Vec::with_capacity(given.len());
    for (i, value) in given.iter().enumerate() {
        let at = format!("{AT}/{i}");
        let Some(map) = value.as_object() else {
            ck.repairable(Problem::new(Code::FieldObject, at).arg(i + 1));
            continue;
        };
        let key = map.get("key").and_then(Value::as_str).unwrap_or("").trim().to_owned();
        if key.is_empty() {
            ck.repairable(Problem::new(Code::FieldKeyRequired, at).arg(i + 1));
            continue;
        }
        if fields.iter().any(|f| f.key == key) {
            ck.repairable(Problem::new(Code::FieldKeyDuplicate, at).arg(quoted(&key)));
            continue;
        }
        let (field, form) = field(ck, map, key, &at);
        fields.push(field);
        written.push(Value::Object(form));
    }
    if fields.is_empty() {
        // Strict mode reported each field; a line of the file with none left cannot be drawn.
        if !ck.strict() {
            ck.fatal(Problem::new(Code::FieldsCount, AT).arg(0));
        }
        return None;
    }
    normal.insert("fields".into(), written.into());
    Some(Kv { fields })
}

fn field(ck: &mut Checker, map: &Object, key: String, at: &str) -> (Field, Object) {
    const KNOWN: [&str; 8] =
        ["key", "label", "description", "placeholder", "default", "required", "multiline", "secret"];
    let mut form = Object::new();
    form.insert("key".into(), key.as_str().into());
    let label = ck.text(map, "label", at, &mut form);
    let description = ck.text(map, "description", at, &mut form);
    let placeholder = ck.text(map, "placeholder", at, &mut form);
    let mut default = ck.text(map, "default", at, &mut form);
    let required = ck.flag(map, "required", at, false);
    let multiline = ck.flag(map, "multiline", at, false);
    let secret = ck.flag(map, "secret", at, false);
    for (name, flag) in [("required", required), ("multiline", multiline), ("secret", secret)] {
        if map.get(name).is_some_and(Value::is_boolean) {
            form.insert(name.into(), flag.into());
        }
    }
    if secret && default.take().is_some_and(|text| !text.is_empty()) {
        // security T14: the default of a secret never reaches the log or a screen.
        ck.warn(Problem::new(Code::SecretDefault, format!("{at}/default")).arg(quoted(&key)));
    }
    if secret {
        form.shift_remove("default");
    }
    if secret && multiline {
        ck.warn(Problem::new(Code::SecretMultiline, at).arg(quoted(&key)));
    }
    for (name, value) in map {
        if !KNOWN.contains(&name.as_str()) {
            form.insert(name.clone(), value.clone());
        }
    }
    (Field { key, label, description, placeholder, default, required, multiline, secret }, form)
}
