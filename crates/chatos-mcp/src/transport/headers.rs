//! The headers by which a modern HTTP request repeats what its body says.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

/// A property of a tool whose value also travels as a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    path: Vec<String>,
    name: String,
}

/// The standard headers of a request.
pub(crate) fn standard(method: &str, params: &Map<String, Value>) -> Vec<(String, String)> {
    let mut headers = vec![("Mcp-Method".to_owned(), method.to_owned())];
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return headers,
    };
    if let Some(name) = params.get(key).and_then(Value::as_str) {
        headers.push(("Mcp-Name".to_owned(), encode(name)));
    }
    headers
}

/// The headers of a call's arguments.
pub(crate) fn of_arguments(headers: &[ParamHeader], arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let value = |path: &[String]| {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(arguments.get(first)?, |value, key| value.get(key))
    };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    };
    headers
        .iter()
        .filter_map(|header| {
            let value = text(value(&header.path)?)?;
            Some((format!("Mcp-Param-{}", header.name), encode(&value)))
        })
        .collect()
}

/// Text that survives as a header value: other text goes as Base64 between marks.
fn encode(value: &str) -> String {
    let marked = value.starts_with("=?base64?") && value.ends_with("?=");
    let outer_space = value.starts_with(' ') || value.ends_with(' ');
    let printable = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let plain = printable && !outer_space && !marked;
    if plain { value.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(value)) }
}

/// The annotated properties of a tool's schema, or why the tool cannot be offered.
pub(crate) fn annotations(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), true, &mut found)?;
    for (index, header) in found.iter().enumerate() {
        let twin = found[..index].iter().any(|other| other.name.eq_ignore_ascii_case(&header.name));
        if twin {
            return Err(format!("the header `{}` is used twice", header.name));
        }
    }
    Ok(found)
}

/// Walks a schema. `chained` says that only `properties` lead here from the root. The depth of a
/// parsed value is bounded, so this recursion is.
fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    chained: bool,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    match schema {
        Value::Object(map) => {
            if let Some(header) = map.get("x-mcp-header") {
                let name = header.as_str().unwrap_or_default();
                let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
                if name.is_empty() || !name.bytes().all(token) {
                    return Err("`x-mcp-header` is not a header name".to_owned());
                }
                let plain = map.get("type").and_then(Value::as_str);
                if !chained || path.is_empty() || !matches!(plain, Some("string" | "integer" | "boolean")) {
                    return Err(format!("the header `{name}` is not at a plain property"));
                }
                found.push(ParamHeader { path: path.clone(), name: name.to_owned() });
            }
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        for (name, schema) in properties {
                            path.push(name.clone());
                            collect(schema, path, chained, found)?;
                            path.pop();
                        }
                    }
                    // Data, not schemas.
                    ("default" | "const" | "enum" | "examples", _) => {}
                    (_, value) => collect(value, path, false, found)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, path, false, found)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn annotated_arguments_become_headers() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "absent": { "type": "boolean", "x-mcp-header": "Absent" } } });
        let headers = annotations(&schema).unwrap();
        let arguments = json!({ "region": "上海", "deep": { "n": 4 }, "other": "x" });
        let sent = of_arguments(&headers, arguments.as_object().unwrap());
        assert_eq!(
            sent,
            vec![
                ("Mcp-Param-Region".to_owned(), "=?base64?5LiK5rW3?=".to_owned()),
                ("Mcp-Param-N".to_owned(), "4".to_owned())
            ]
        );
    }

    #[test]
    fn a_misplaced_annotation_spoils_the_tool() {
        for schema in [
            json!({ "x-mcp-header": "A" }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "a b" } } }),
            json!({ "properties": { "a": { "type": "object", "x-mcp-header": "A" } } }),
            json!({ "properties": { "a": { "items": { "type": "string", "x-mcp-header": "A" } } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" },
                                     "b": { "type": "string", "x-mcp-header": "a" } } }),
        ] {
            assert!(annotations(&schema).is_err(), "{schema}");
        }
        assert_eq!(
            annotations(&json!({ "properties": { "a": { "default": { "x-mcp-header": "A" } } } })),
            Ok(vec![])
        );
    }

    #[test]
    fn names_travel_as_they_can() {
        let params = json!({ "name": "a.b/c" });
        let headers = standard("tools/call", params.as_object().unwrap());
        assert_eq!(headers[1], ("Mcp-Name".to_owned(), "a.b/c".to_owned()));
        assert_eq!(encode(" x"), "=?base64?IHg=?=");
        assert_eq!(encode("a\r\nb"), "=?base64?YQ0KYg==?=");
    }
}
