//! One row of an older database: a JSON object whose keys are taken one by one, so that what nobody
//! took can be told.

use std::collections::BTreeMap;

use chatos_store::now_ms;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::report::Reason;

/// A row of `records`.
pub(super) struct Record {
    pub(super) id: String,
    fields: Map<String, Value>,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
}

impl Record {
    /// Reads a payload. Times come from the payload, else from the columns, else are now.
    pub(super) fn parse(id: &str, payload: &str, columns: [Option<Value>; 2]) -> Result<Self, Reason> {
        let mut fields = match serde_json::from_str(payload) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(Reason::NotAnObject),
            Err(error) => return Err(Reason::NotJson(error.to_string())),
        };
        let own = take(&mut fields, "id").and_then(|id| as_text(&id));
        let id = Some(id.trim().to_owned()).filter(|id| !id.is_empty()).or(own).ok_or(Reason::NoId)?;
        let [created, updated] = columns;
        let created_at =
            take(&mut fields, "createdAt").as_ref().and_then(time).or(created.as_ref().and_then(time));
        let updated_at =
            take(&mut fields, "updatedAt").as_ref().and_then(time).or(updated.as_ref().and_then(time));
        let created_at = created_at.or(updated_at).unwrap_or_else(now_ms);
        Ok(Self { id, fields, created_at, updated_at: updated_at.unwrap_or(created_at) })
    }

    /// Takes a value by its camelCase name or the same in snake_case; `null` counts as absent.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        take(&mut self.fields, name)
    }

    /// Like [`Record::take`], telling `null` from absent.
    pub(super) fn take_nullable(&mut self, name: &str) -> Option<Value> {
        take_raw(&mut self.fields, name)
    }

    /// A text; numbers and switches are read as people write them.
    pub(super) fn text(&mut self, name: &str) -> String {
        self.take(name).and_then(|value| as_text(&value)).unwrap_or_default()
    }

    /// A text that must not be blank.
    pub(super) fn required(&mut self, name: &'static str) -> Result<String, Reason> {
        let text = self.text(name);
        if text.trim().is_empty() { Err(Reason::Missing(name)) } else { Ok(text.trim().to_owned()) }
    }

    /// A switch; anything that is not clearly one is absent.
    pub(super) fn switch(&mut self, name: &str) -> Option<bool> {
        as_switch(&self.take(name)?)
    }

    /// A number of at least zero.
    pub(super) fn count(&mut self, name: &str) -> Option<i64> {
        let value = self.take(name)?;
        let number = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())?;
        (number >= 0).then_some(number)
    }

    /// A finite number.
    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        let value = self.take(name)?;
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        number.is_finite().then_some(number)
    }

    /// A time.
    pub(super) fn time(&mut self, name: &str) -> Option<i64> {
        time(&self.take(name)?)
    }

    /// A list of texts, without blanks and repeats, in order.
    pub(super) fn list(&mut self, name: &str) -> Vec<String> {
        texts(self.take(name).as_ref())
    }

    /// What nobody took.
    pub(super) fn left(self) -> impl Iterator<Item = String> {
        self.fields.into_iter().map(|(key, _)| key)
    }

    /// Everything not taken yet, by name; for rows whose keys are data.
    pub(super) fn drain(&mut self) -> BTreeMap<String, Value> {
        std::mem::take(&mut self.fields).into_iter().collect()
    }
}

/// Takes a value out of an object by its camelCase or snake_case name; `null` counts as absent.
pub(super) fn take(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    take_raw(fields, name).filter(|value| !value.is_null())
}

fn take_raw(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    let snake = fields.shift_remove(&snake(name));
    match fields.shift_remove(name) {
        Some(value) if !value.is_null() => Some(value),
        null => snake.or(null),
    }
}

fn snake(name: &str) -> String {
    name.chars().fold(String::with_capacity(name.len() + 4), |mut out, c| {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        out
    })
}

/// A scalar as text.
pub(super) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(switch) => Some(switch.to_string()),
        _ => None,
    }
}

/// A switch in the forms older rows have.
pub(super) fn as_switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(switch) => Some(*switch),
        Value::Number(number) => Some(number.as_f64()? != 0.0),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Texts of a list, without blanks and repeats, in order.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for item in value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default() {
        let Some(text) = as_text(item).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        else {
            continue;
        };
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// Milliseconds, or ISO 8601 with any offset; seconds are too ambiguous to be guessed.
pub(super) fn time(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| Some(number.as_f64()? as i64)),
        Value::String(text) => {
            let text = text.trim();
            text.parse::<Timestamp>().map(|at| at.as_millisecond()).ok().or_else(|| text.parse().ok())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_spellings_are_taken_and_the_rest_is_told() {
        let payload =
            json!({ "apiKeyEnv": null, "api_key_env": "K", "extra": 1, "createdAt": "2025-01-02T03:04:05Z" });
        let mut record = Record::parse("a", &payload.to_string(), [None, None]).unwrap();
        assert_eq!(record.text("apiKeyEnv"), "K");
        assert_eq!(record.created_at, 1_735_787_045_000);
        assert_eq!(record.updated_at, record.created_at);
        assert_eq!(record.left().collect::<Vec<_>>(), ["extra"]);
    }

    #[test]
    fn what_is_no_row_says_why() {
        assert!(matches!(Record::parse("a", "[]", [None, None]), Err(Reason::NotAnObject)));
        assert!(matches!(Record::parse("a", "{", [None, None]), Err(Reason::NotJson(_))));
        assert!(matches!(Record::parse(" ", "{}", [None, None]), Err(Reason::NoId)));
        assert_eq!(Record::parse("", r#"{"id":"x"}"#, [None, None]).ok().unwrap().id, "x");
    }
}
