//! MCP form elicitation as a prompt and back (`ui-prompts §10.1`).
//!
//! The requested schema is a flat object of primitives. One enum alone becomes a `choice`, anything
//! else a `kv` form; answers are strings in the log and become typed values again here.

mod property;

pub use property::{Property, Shape};

use serde_json::{Value, json};

use crate::json::{Object, pointer_segment};
use crate::problem::{Code, Problem, quoted};

/// Most properties a form may have; more would not fit a `kv` prompt.
const MAX_PROPERTIES: usize = crate::kind::kv::MAX_FIELDS;

/// Why a schema cannot be asked: JSON-RPC −32602, naming the property.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    #[error("the requested schema must be an object with `properties`")]
    NotAnObject,
    #[error("the requested schema has {0} properties; 1 to 50 are supported")]
    Count(usize),
    #[error("property `{name}` is not supported: {reason}")]
    Property { name: String, reason: &'static str },
}

/// A form schema this host can ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub properties: Vec<Property>,
}

impl Schema {
    pub fn parse(schema: &Value) -> Result<Self, SchemaError> {
        let map = schema.as_object().ok_or(SchemaError::NotAnObject)?;
        if map.get("type").is_some_and(|t| t != "object") {
            return Err(SchemaError::NotAnObject);
        }
        let given = map.get("properties").and_then(Value::as_object).ok_or(SchemaError::NotAnObject)?;
        if given.is_empty() || given.len() > MAX_PROPERTIES {
            return Err(SchemaError::Count(given.len()));
        }
        let required: Vec<&str> = map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = given
            .iter()
            .map(|(name, value)| Property::parse(name, value, required.contains(&name.as_str())))
            .collect::<Result<_, _>>()?;
        Ok(Self { properties })
    }

    fn get(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|p| p.name == name)
    }

    // One enum or one multi-select alone is a choice.
    fn single_choice(&self) -> Option<&Property> {
        match self.properties.as_slice() {
            [only] if !only.options().is_empty() => Some(only),
            _ => None,
        }
    }

    /// Every way in which `values` (strings, as in a `kv` answer) does not fit.
    pub(crate) fn check_values(&self, values: &Object) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (key, value) in values {
            let (Some(property), Some(text)) = (self.get(key), value.as_str()) else { continue };
            if text.is_empty() && !property.required {
                continue;
            }
            if let Err(expected) = property.typed(text) {
                problems.push(format_problem(
                    &format!("/response/values/{}", pointer_segment(key)),
                    key,
                    &expected,
                ));
            }
        }
        problems
    }

    /// The same for a `choice` answer; counts and unknown values were checked by the kind.
    pub(crate) fn check_selection(&self, selected: &[String]) -> Vec<Problem> {
        let Some(property) = self.single_choice() else { return Vec::new() };
        match property.check_count(selected.len()) {
            Ok(()) => Vec::new(),
            Err(expected) => vec![format_problem("/response/selection", &property.name, &expected)],
        }
    }

    /// The `content` of an accepted elicitation.
    pub fn content(&self, response: &Object) -> Result<Object, Vec<Problem>> {
        let mut content = Object::new();
        if let Some(property) = self.single_choice() {
            let selected: Vec<&str> = match response.get("selection") {
                Some(Value::String(one)) => vec![one],
                Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            if let Some(value) = property.selected(&selected) {
                content.insert(property.name.clone(), value);
            }
            return Ok(content);
        }
        let empty = Object::new();
        let values = response.get("values").and_then(Value::as_object).unwrap_or(&empty);
        let problems = self.check_values(values);
        if !problems.is_empty() {
            return Err(problems);
        }
        for property in &self.properties {
            let text = values.get(&property.name).and_then(Value::as_str).unwrap_or("");
            // An optional field left empty is absent, not an empty string or a zero.
            if text.is_empty() && !property.required {
                continue;
            }
            if let Ok(value) = property.typed(text) {
                content.insert(property.name.clone(), value);
            }
        }
        Ok(content)
    }
}

fn format_problem(path: &str, name: &str, expected: &str) -> Problem {
    Problem::new(Code::ValueFormat, path).arg(quoted(name)).arg(expected)
}

/// The prompt that asks for `schema`; `server` is the name of the asking MCP server.
pub fn prompt(server: &str, message: &str, schema: &Value) -> Result<Value, SchemaError> {
    let parsed = Schema::parse(schema)?;
    let mut prompt = if let Some(property) = parsed.single_choice() {
        let options: Vec<Value> = property
            .options()
            .iter()
            .map(|(value, label)| match label {
                Some(label) => json!({"value": value, "label": label}),
                None => json!({"value": value}),
            })
            .collect();
        choice_prompt(property, options)
    } else {
        json!({"kind": "kv", "fields": parsed.properties.iter().map(Property::field).collect::<Vec<_>>()})
    };
    if let Value::Object(map) = &mut prompt {
        map.insert("message".into(), message.into());
        map.insert("source".into(), format!("mcp:{server}").into());
        map.insert("requestedSchema".into(), schema.clone());
    }
    Ok(prompt)
}

fn choice_prompt(property: &Property, options: Vec<Value>) -> Value {
    let mut prompt = json!({"kind": "choice", "options": options});
    let Value::Object(map) = &mut prompt else { return prompt };
    if let Some(title) = &property.title {
        map.insert("title".into(), title.as_str().into());
    }
    if let Shape::Many { min, max, .. } = &property.shape {
        map.insert("multiple".into(), true.into());
        // An optional list may be left empty, whatever its own minimum says.
        let least = if property.required { min.unwrap_or(0) } else { 0 };
        map.insert("minSelections".into(), least.min(property.options().len()).into());
        if let Some(max) = max {
            map.insert("maxSelections".into(), (*max).clamp(1, property.options().len()).into());
        }
    }
    if let Some(default) = property.choice_default() {
        map.insert("default".into(), default);
    }
    prompt
}

/// What the MCP server is told (`ui-prompts §10.1`).
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Accept(Object),
    Decline,
    Cancel,
}

/// Maps the verified answer of an elicitation prompt.
pub fn outcome(schema: &Schema, response: &Object) -> Outcome {
    match response.get("status").and_then(Value::as_str) {
        Some("ok") => schema.content(response).map_or(Outcome::Cancel, Outcome::Accept),
        Some("canceled") if response.get("declined") == Some(&Value::Bool(true)) => Outcome::Decline,
        _ => Outcome::Cancel,
    }
}

#[cfg(test)]
mod tests;
