//! From the schema a Rust type generates to the one a client sees: one language, plain types, closed
//! objects (tools §2), and the rules every tool's schema has to keep.
//!
//! Our own keywords begin with `x-` and never leave the program: `x-zh` (the Chinese description),
//! `x-no-nul`, `x-max-bytes`, `x-no-default` (an optional key whose absence means something of its own).

use serde_json::{Map, Value, json};

use crate::text::Lang;

/// The dialect of every schema we publish.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Brings a generated schema of arguments into our form: closed objects, no `null` alternatives (null
/// means absent), no Rust number formats, no type names.
pub fn arguments(mut schema: Value) -> Value {
    tidy(&mut schema, Openness::Closed);
    if let Some(map) = schema.as_object_mut() {
        map.entry("type").or_insert_with(|| json!("object"));
        map.entry("properties").or_insert_with(|| json!({}));
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    schema
}

/// The same for what a tool returns: objects stay open, so a later version may say more, and an
/// absent value may be `null`.
pub fn data(mut schema: Value) -> Value {
    tidy(&mut schema, Openness::Open);
    schema
}

/// The schema a client sees, in one language.
pub fn publish(schema: &Value, lang: Lang) -> Value {
    let mut published = localised(schema, lang);
    if let Some(map) = published.as_object_mut() {
        map.shift_insert(0, "$schema".to_owned(), json!(DIALECT));
    }
    published
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Openness {
    Closed,
    Open,
}

fn tidy(schema: &mut Value, openness: Openness) {
    let Some(map) = schema.as_object_mut() else { return };
    for key in ["$schema", "title"] {
        map.shift_remove(key);
    }
    // Formats of Rust numbers mean nothing to a client; the bounds say it.
    let number_format = map.get("format").and_then(Value::as_str).is_some_and(|format| {
        let digits = format.trim_start_matches("uint").trim_start_matches("int");
        matches!(format, "float" | "double" | "uint" | "int")
            || (digits != format && digits.bytes().all(|b| b.is_ascii_digit()))
    });
    if number_format {
        map.shift_remove("format");
    }
    if openness == Openness::Closed {
        drop_null(map);
        if map.get("default").is_some_and(Value::is_null) {
            map.shift_remove("default");
        }
        // tools §3: an unknown key is refused at every depth.
        if map.contains_key("properties") {
            map.entry("additionalProperties").or_insert(Value::Bool(false));
        }
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(|schema| tidy(schema, openness));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(schema) = map.get_mut(key) {
            tidy(schema, openness);
        }
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = map.get_mut(key) {
            for branch in branches {
                tidy(branch, openness);
            }
        }
    }
}

fn drop_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(branches)) = map.get_mut("anyOf") else { return };
    branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
    if let [Value::Object(only)] = branches.as_slice() {
        let only = only.clone();
        map.shift_remove("anyOf");
        for (key, value) in only {
            map.entry(key).or_insert(value);
        }
    }
}

fn localised(schema: &Value, lang: Lang) -> Value {
    let Some(map) = schema.as_object() else { return schema.clone() };
    let mut out = Map::new();
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            (key, _) if key.starts_with("x-") => continue,
            ("description", english) => match (lang, map.get("x-zh")) {
                (Lang::Zh, Some(chinese)) => chinese.clone(),
                // Results are described in English only; nobody gets two languages in one text.
                (Lang::Zh, None) => continue,
                (Lang::En, _) => english.clone(),
            },
            ("properties" | "$defs", Value::Object(schemas)) => {
                schemas.iter().map(|(name, schema)| (name.clone(), localised(schema, lang))).collect()
            }
            ("items" | "additionalProperties", schema) => localised(schema, lang),
            ("anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter().map(|schema| localised(schema, lang)).collect()
            }
            (_, value) => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Object(out)
}

/// Where a value does not fit a published schema, as a client that validates results would say it.
///
/// Strict: no conversions, and `null` is a value. The tests of every server run their results
/// through it; the peers' tests do the same with a validator that is not ours.
pub fn mismatches(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    mismatch(schema, value, "", &mut found);
    found
}

fn mismatch(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(map) = schema.as_object() else { return };
    if let Some(Value::Array(branches)) = map.get("anyOf")
        && branches.iter().all(|branch| !mismatches(branch, value).is_empty())
    {
        found.push(format!("{at}: fits none of {} alternatives", branches.len()));
    }
    let types: Vec<&str> = match map.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &&str| match *name {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    };
    if !types.is_empty() && !types.iter().any(is) {
        found.push(format!("{at}: is not {}", types.join(" or ")));
        return;
    }
    if let Some(Value::Array(allowed)) = map.get("enum")
        && !allowed.contains(value)
    {
        found.push(format!("{at}: is not one of the listed values"));
    }
    let below =
        map.get("minimum").and_then(Value::as_f64).zip(value.as_f64()).is_some_and(|(min, own)| own < min);
    if below {
        found.push(format!("{at}: is too small"));
    }
    if let (Some(items), Value::Array(values)) = (map.get("items"), value) {
        for (index, value) in values.iter().enumerate() {
            mismatch(items, value, &format!("{at}/{index}"), found);
        }
    }
    let Value::Object(members) = value else { return };
    let properties = map.get("properties").and_then(Value::as_object);
    for name in map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !members.contains_key(name) {
            found.push(format!("{at}: has no `{name}`"));
        }
    }
    for (name, value) in members {
        match (properties.and_then(|properties| properties.get(name)), map.get("additionalProperties")) {
            (Some(schema), _) => mismatch(schema, value, &format!("{at}/{name}"), found),
            (None, Some(Value::Bool(false))) => found.push(format!("{at}: has an unknown `{name}`")),
            (None, Some(schema)) => mismatch(schema, value, &format!("{at}/{name}"), found),
            (None, None) => {}
        }
    }
}

/// Keywords [`crate::validation::check`] reads, or that only describe.
const KNOWN: [&str; 22] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "oneOf",
    "const",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "description",
    "default",
    "x-zh",
    "x-no-nul",
    "x-max-bytes",
    "x-no-default",
];

/// What is wrong with the schema of a tool's arguments; empty when it keeps every rule of tools §2.
///
/// Run by the tests of every server, so that a missing translation or bound never ships.
pub fn lint(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if schema["type"] != "object" || schema["additionalProperties"] != false {
        found.push("the root must be a closed object".to_owned());
    }
    lint_schema(schema, "", &mut found);
    found
}

fn lint_schema(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Some(map) = schema.as_object() else {
        found.push(format!("{at}: not a schema object"));
        return;
    };
    for key in map.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
        found.push(format!("{at}: keyword `{key}` is not checked by the validator"));
    }
    if let Some(pattern) = map.get("pattern").and_then(Value::as_str)
        && let Err(error) = regex_lite::Regex::new(pattern)
    {
        found.push(format!("{at}: pattern `{pattern}`: {error}"));
    }
    match map.get("type").and_then(Value::as_str) {
        Some("string") if !has_any(map, &["maxLength", "x-max-bytes", "enum", "pattern"]) => {
            found.push(format!("{at}: a string needs a bound"));
        }
        Some("integer" | "number") if !(map.contains_key("minimum") && map.contains_key("maximum")) => {
            found.push(format!("{at}: a number needs both bounds"));
        }
        Some("array") => {
            if !map.contains_key("maxItems") {
                found.push(format!("{at}: a list needs maxItems"));
            }
            match map.get("items") {
                Some(items) => lint_schema(items, &format!("{at}/items"), found),
                None => found.push(format!("{at}: a list needs items")),
            }
        }
        Some("object") if !map.contains_key("additionalProperties") => {
            found.push(format!("{at}: an object must be closed or say what its values are"));
        }
        _ => {}
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = map.get(key) {
            for (index, branch) in branches.iter().enumerate() {
                lint_schema(branch, &format!("{at}/{key}/{index}"), found);
            }
        }
    }
    if let Some(values @ Value::Object(_)) = map.get("additionalProperties") {
        lint_schema(values, &format!("{at}/additionalProperties"), found);
    }
    let required = map.get("required").and_then(Value::as_array);
    let properties = map.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let at = format!("{at}/{name}");
        for (key, language) in [("description", "English"), ("x-zh", "Chinese")] {
            if property[key].as_str().is_none_or(|text| text.trim().is_empty()) {
                found.push(format!("{at}: no {language} description"));
            }
        }
        let required = required.is_some_and(|names| names.iter().any(|own| own == name));
        if !required && property.get("default").is_none() && property["x-no-default"] != true {
            found.push(format!("{at}: an optional key needs a default, or `x-no-default`"));
        }
        lint_schema(property, &at, found);
    }
}

fn has_any(map: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().any(|key| map.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated() -> Value {
        json!({
            "$schema": "x", "title": "Args", "type": "object",
            "properties": {
                "count": {"description": "How many", "x-zh": "数量", "type": ["integer", "null"],
                          "format": "uint32", "minimum": 0, "maximum": 9, "default": null, "x-no-default": true},
                "when": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}],
                         "description": "When", "x-zh": "时间", "default": "now"},
            },
        })
    }

    #[test]
    fn null_alternatives_formats_and_type_names_go() {
        assert_eq!(
            publish(&arguments(generated()), Lang::Zh),
            json!({
                "$schema": DIALECT, "type": "object",
                "properties": {
                    "count": {"description": "数量", "type": "integer", "minimum": 0, "maximum": 9},
                    "when": {"type": "string", "maxLength": 3, "description": "时间", "default": "now"},
                },
                "additionalProperties": false,
            })
        );
        assert_eq!(
            publish(&arguments(generated()), Lang::En)["properties"]["count"]["description"],
            "How many"
        );
    }

    #[test]
    fn what_a_tool_returns_stays_open_and_nullable() {
        let schema = data(generated());
        assert_eq!(schema["properties"]["count"]["type"], json!(["integer", "null"]));
        assert!(schema.get("additionalProperties").is_none());
    }

    #[test]
    fn a_sound_schema_has_no_findings_and_each_rule_has_one() {
        assert_eq!(lint(&arguments(generated())), Vec::<String>::new());
        let broken = |change: fn(&mut Value)| {
            let mut schema = arguments(generated());
            change(&mut schema);
            lint(&schema)
        };
        let count = |schema: &mut Value, key: &str| {
            schema["properties"]["count"].as_object_mut().unwrap().shift_remove(key);
        };
        assert_eq!(broken(|s| s["additionalProperties"] = json!(true)).len(), 1);
        assert_eq!(broken(|s| s["properties"]["count"]["multipleOf"] = json!(2)).len(), 1);
        for key in ["description", "x-zh", "maximum", "x-no-default"] {
            let mut schema = arguments(generated());
            count(&mut schema, key);
            assert_eq!(lint(&schema).len(), 1, "{key}");
        }
        assert_eq!(
            broken(|s| s["properties"]["when"] =
                json!({"description": "d", "x-zh": "z", "type": "string", "default": ""}))
            .len(),
            1
        );
        assert_eq!(broken(|s| s["properties"]["when"]["pattern"] = json!("(")).len(), 1);
    }
}
