//! One property of a form schema: its shape, its drawing as a field, its typed value.

use serde_json::{Number, Value, json};

use super::SchemaError;
use crate::clock::parse_iso;

/// One named input of the form.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub required: bool,
    pub default: Option<Value>,
    pub shape: Shape,
}

/// What a value must look like.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Text {
        format: Option<TextFormat>,
        min: Option<usize>,
        max: Option<usize>,
    },
    Number {
        integer: bool,
        min: Option<f64>,
        max: Option<f64>,
    },
    Boolean,
    /// One of these (value, label).
    One {
        options: Vec<(String, Option<String>)>,
    },
    /// Several of these.
    Many {
        options: Vec<(String, Option<String>)>,
        min: Option<usize>,
        max: Option<usize>,
    },
}

/// The string formats the protocol names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Property {
    pub(super) fn parse(name: &str, value: &Value, required: bool) -> Result<Self, SchemaError> {
        let bad = |reason| SchemaError::Property { name: name.to_owned(), reason };
        let map = value.as_object().ok_or_else(|| bad("it is not an object"))?;
        if name.trim() != name || name.is_empty() {
            return Err(bad("its name is blank or has blanks around it"));
        }
        let size = |key: &str| map.get(key).and_then(Value::as_u64).map(|n| n as usize);
        let bound = |key: &str| map.get(key).and_then(Value::as_f64);
        let kind = map.get("type").and_then(Value::as_str).ok_or_else(|| bad("it has no single type"))?;
        let shape = match kind {
            "string" => match one_of(map) {
                Given::Options(options) => Shape::One { options },
                Given::NotTexts => return Err(bad("its options are not texts")),
                Given::Nothing => Shape::Text {
                    format: match map.get("format").and_then(Value::as_str) {
                        Some("email") => Some(TextFormat::Email),
                        Some("uri") => Some(TextFormat::Uri),
                        Some("date") => Some(TextFormat::Date),
                        Some("date-time") => Some(TextFormat::DateTime),
                        _ => None,
                    },
                    min: size("minLength"),
                    max: size("maxLength"),
                },
            },
            "number" | "integer" => {
                Shape::Number { integer: kind == "integer", min: bound("minimum"), max: bound("maximum") }
            }
            "boolean" => Shape::Boolean,
            "array" => {
                let items =
                    map.get("items").and_then(Value::as_object).ok_or_else(|| bad("it has no `items`"))?;
                let options = match one_of(items) {
                    Given::Options(options) => options,
                    Given::NotTexts => return Err(bad("its options are not texts")),
                    Given::Nothing => return Err(bad("a list must name its options")),
                };
                Shape::Many { options, min: size("minItems"), max: size("maxItems") }
            }
            _ => return Err(bad("nested objects cannot be asked in a form")),
        };
        if let Shape::One { options } | Shape::Many { options, .. } = &shape {
            let blank = options.iter().any(|(value, _)| value.trim().is_empty() || value.trim() != value);
            let twice =
                options.iter().enumerate().any(|(i, (v, _))| options[..i].iter().any(|(o, _)| o == v));
            if options.is_empty() || options.len() > crate::kind::choice::MAX_OPTIONS || blank || twice {
                return Err(bad("it needs 1 to 60 different, non-blank options"));
            }
        }
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            name: name.to_owned(),
            title: text("title"),
            description: text("description"),
            required,
            default: map.get("default").cloned(),
            shape,
        })
    }

    /// The options of an enum or a multi-select; empty for other shapes.
    pub fn options(&self) -> &[(String, Option<String>)] {
        match &self.shape {
            Shape::One { options } | Shape::Many { options, .. } => options,
            _ => &[],
        }
    }

    /// The `kv` field that asks for it; readers that ignore the schema still see a text field.
    pub(super) fn field(&self) -> Value {
        let mut field = json!({"key": self.name});
        let Value::Object(map) = &mut field else { return field };
        if let Some(title) = &self.title {
            map.insert("label".into(), title.as_str().into());
        }
        if let Some(description) = &self.description {
            map.insert("description".into(), description.as_str().into());
        }
        let secret =
            looks_like_credential(&self.name) || self.title.as_deref().is_some_and(looks_like_credential);
        if let Some(default) = self.default.as_ref().filter(|_| !secret).and_then(as_text) {
            map.insert("default".into(), default.into());
        }
        map.insert("required".into(), self.required.into());
        if secret {
            // ui-prompts §10.1: form mode must not ask for credentials; drawn masked, with a warning.
            map.insert("secret".into(), true.into());
        }
        field
    }

    pub(super) fn choice_default(&self) -> Option<Value> {
        let known = |v: &&Value| self.options().iter().any(|(o, _)| v.as_str() == Some(o));
        match (&self.shape, self.default.as_ref()?) {
            (Shape::One { .. }, value) => Some(value).filter(known).cloned(),
            (Shape::Many { max, .. }, Value::Array(values)) => {
                let most = max.unwrap_or(usize::MAX).max(1);
                Some(values.iter().filter(known).take(most).cloned().collect::<Vec<_>>().into())
            }
            _ => None,
        }
    }

    /// The typed value of an answer text, or what was expected.
    pub(super) fn typed(&self, text: &str) -> Result<Value, String> {
        match &self.shape {
            Shape::Text { format, min, max } => typed_text(text, *format, *min, *max),
            Shape::Number { integer, min, max } => typed_number(text.trim(), *integer, *min, *max),
            Shape::Boolean => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Ok(true.into()),
                "false" | "no" | "off" | "0" | "" => Ok(false.into()),
                _ => Err("true | false".to_owned()),
            },
            Shape::One { options } => {
                if options.iter().any(|(value, _)| value == text) {
                    Ok(text.into())
                } else {
                    Err(listed(options))
                }
            }
            Shape::Many { options, .. } => {
                let chosen = list_of(text);
                if chosen.iter().any(|c| !options.iter().any(|(value, _)| value == c)) {
                    return Err(listed(options));
                }
                self.check_count(chosen.len())?;
                let in_order: Vec<&str> = options
                    .iter()
                    .map(|(v, _)| v.as_str())
                    .filter(|v| chosen.iter().any(|c| c == v))
                    .collect();
                Ok(in_order.into())
            }
        }
    }

    pub(super) fn check_count(&self, count: usize) -> Result<(), String> {
        let Shape::Many { min, max, .. } = &self.shape else { return Ok(()) };
        let (least, most) = (min.unwrap_or(0), max.unwrap_or(usize::MAX));
        // Left empty = not given, which an optional property may be.
        if (count == 0 && !self.required) || (least..=most).contains(&count) {
            return Ok(());
        }
        Err(format!("{least}..{}", max.map_or("n".to_owned(), |m| m.to_string())))
    }

    pub(super) fn selected(&self, values: &[&str]) -> Option<Value> {
        match &self.shape {
            Shape::Many { .. } if values.is_empty() && !self.required => None,
            Shape::Many { .. } => Some(values.to_vec().into()),
            _ => values.first().map(|v| (*v).into()),
        }
    }
}

/// Field names that look like credentials (`ui-prompts §10.1`).
fn looks_like_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let api_key = name.match_indices("api").any(|(at, _)| {
        let rest = &name[at + 3..];
        rest.starts_with("key")
            || rest.chars().nth(1).is_some() && rest.chars().skip(1).collect::<String>().starts_with("key")
    });
    api_key || ["password", "secret", "token"].iter().any(|word| name.contains(word))
}

type Options = Vec<(String, Option<String>)>;

/// Whether a property names its options.
enum Given {
    Nothing,
    Options(Options),
    NotTexts,
}

fn one_of(map: &crate::json::Object) -> Given {
    let pairs: Option<Options> = if let Some(Value::Array(values)) = map.get("enum") {
        let names = map.get("enumNames").and_then(Value::as_array);
        let pairs = values.iter().enumerate().map(|(i, value)| {
            let label = names.and_then(|n| n.get(i)).and_then(Value::as_str).map(str::to_owned);
            Some((value.as_str()?.to_owned(), label))
        });
        pairs.collect()
    } else if let Some(Value::Array(values)) = map.get("oneOf").or_else(|| map.get("anyOf")) {
        let pairs = values.iter().map(|item| {
            let label = item.get("title").and_then(Value::as_str).map(str::to_owned);
            Some((item.get("const")?.as_str()?.to_owned(), label))
        });
        pairs.collect()
    } else {
        return Given::Nothing;
    };
    pairs.map_or(Given::NotTexts, Given::Options)
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

// A multi-select inside a form travels as a JSON array in a string; a comma list is understood too.
fn list_of(text: &str) -> Vec<String> {
    let text = text.trim();
    if let Ok(list) = serde_json::from_str::<Vec<String>>(text) {
        return list;
    }
    text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

fn listed(options: &[(String, Option<String>)]) -> String {
    let names: Vec<&str> = options.iter().take(8).map(|(value, _)| value.as_str()).collect();
    format!("{}{}", names.join(" | "), if options.len() > 8 { " | …" } else { "" })
}

fn typed_number(text: &str, integer: bool, min: Option<f64>, max: Option<f64>) -> Result<Value, String> {
    let name = if integer { "integer" } else { "number" };
    let range = match (min, max) {
        (None, None) => name.to_owned(),
        (Some(a), None) => format!("{name} ≥ {a}"),
        (None, Some(b)) => format!("{name} ≤ {b}"),
        (Some(a), Some(b)) => format!("{name} {a}..{b}"),
    };
    let number: Number = match (integer, text.parse::<i64>(), text.parse::<f64>()) {
        (_, Ok(whole), _) => whole.into(),
        (false, _, Ok(real)) if real.is_finite() => Number::from_f64(real).ok_or_else(|| range.clone())?,
        (true, _, Ok(real)) if real.fract() == 0.0 && real.abs() < 9e15 => (real as i64).into(),
        _ => return Err(range),
    };
    let real = number.as_f64().unwrap_or(f64::NAN);
    if min.is_some_and(|m| real < m) || max.is_some_and(|m| real > m) {
        return Err(range);
    }
    Ok(Value::Number(number))
}

fn typed_text(
    text: &str,
    format: Option<TextFormat>,
    min: Option<usize>,
    max: Option<usize>,
) -> Result<Value, String> {
    let length = text.chars().count();
    if min.is_some_and(|m| length < m) || max.is_some_and(|m| length > m) {
        return Err(format!(
            "{}..{} characters",
            min.unwrap_or(0),
            max.map_or("n".into(), |m| m.to_string())
        ));
    }
    let (fits, name) = match format {
        None => (true, ""),
        Some(TextFormat::Email) => (is_email(text), "email"),
        Some(TextFormat::Uri) => (is_uri(text), "URI"),
        Some(TextFormat::Date) => (parse_iso(&format!("{text}T00:00:00.000Z")).is_some(), "YYYY-MM-DD"),
        Some(TextFormat::DateTime) => (parse_iso(text).is_some(), "YYYY-MM-DDTHH:MM:SSZ"),
    };
    if fits { Ok(text.into()) } else { Err(name.to_owned()) }
}

fn is_email(text: &str) -> bool {
    let plain =
        |t: &str| !t.is_empty() && !t.chars().any(|c| c.is_whitespace() || c.is_control() || c == '@');
    text.rsplit_once('@').is_some_and(|(user, host)| {
        plain(user) && plain(host) && !host.starts_with('.') && !host.ends_with('.') && !host.contains("..")
    })
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut chars = scheme.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !rest.is_empty()
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}
