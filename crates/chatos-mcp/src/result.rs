//! What a tool call brought, block by block; nothing a server sent is lost, nothing is believed.

use serde_json::{Map, Value};

use crate::elicitation::InputRequest;

/// The result of a finished call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The blocks in order.
    pub content: Vec<Block>,
    /// The structured result.
    pub structured: Option<Value>,
    /// The tool says it failed, or its result cannot be used.
    pub is_error: bool,
    /// What stood beside that, which no model reads.
    pub extra: Extra,
    /// What was wrong with the result itself.
    pub problems: Vec<String>,
}

/// What a server put beside its words and pictures, for clients a result is passed on to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extra {
    /// Of each block in order, such as its annotations; of blocks that are kept whole, nothing.
    pub blocks: Vec<Map<String, Value>>,
    /// What the server attached to the result.
    pub meta: Option<Value>,
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// An image, its bytes as Base64.
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime: String,
    },
    /// Sound, its bytes as Base64.
    Audio {
        /// Base64.
        data: String,
        /// Such as `audio/wav`.
        mime: String,
    },
    /// A pointer to something the server has.
    ResourceLink {
        /// Its address.
        uri: String,
        /// Its name.
        name: Option<String>,
        /// The whole block.
        raw: Value,
    },
    /// Something the server has, with its content.
    Resource {
        /// Its address.
        uri: String,
        /// Its type.
        mime: Option<String>,
        /// Text, when it is text.
        text: Option<String>,
        /// Base64, when it is not.
        blob: Option<String>,
        /// The whole block.
        raw: Value,
    },
    /// A kind this client does not know, or no proper block at all; kept as it came.
    Unknown(Value),
}

/// How a call went on.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// It is done.
    Complete(ToolResult),
    /// It needs input and is then sent again (only modern servers).
    InputRequired(InputRequired),
    /// It goes on as a task of the server (only modern servers).
    Task(crate::task::TaskState),
}

/// What a server needs before it can answer. Persist it, ask, and call again with the answers.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The questions by the server's own keys.
    pub requests: Vec<(String, InputRequest)>,
    /// Sent back as it came; never looked into.
    pub request_state: Option<String>,
    /// Everything as it came, for the record.
    pub raw: Value,
}

impl CallOutcome {
    /// Reads the result of `tools/call`.
    pub(crate) fn read(result: Value, output_schema: Option<&Value>) -> Result<Self, String> {
        match result.get("resultType").and_then(Value::as_str) {
            Some("input_required") => InputRequired::read(result).map(Self::InputRequired),
            Some("task") => crate::task::TaskState::read(&result).map(Self::Task),
            _ => Ok(Self::Complete(ToolResult::read(result, output_schema))),
        }
    }
}

impl InputRequired {
    fn read(raw: Value) -> Result<Self, String> {
        let requests = match raw.get("inputRequests") {
            Some(Value::Object(requests)) => requests
                .iter()
                .map(|(key, request)| (key.clone(), InputRequest::from_json(request)))
                .collect(),
            None | Some(Value::Null) => Vec::new(),
            Some(_) => return Err("its questions are no object".to_owned()),
        };
        let request_state = raw.get("requestState").and_then(Value::as_str).map(str::to_owned);
        if requests.is_empty() && request_state.is_none() {
            return Err("it needs input but asks nothing".to_owned());
        }
        Ok(Self { requests, request_state, raw })
    }
}

impl ToolResult {
    /// Reads a finished result; what is wrong with it becomes an error for the model, not for the run.
    pub fn read(mut result: Value, output_schema: Option<&Value>) -> Self {
        let mut read = Self::default();
        let Some(map) = result.as_object_mut() else {
            read.broken("the result is not an object");
            return read;
        };
        match map.remove("isError") {
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(_) => read.is_error = true,
        }
        read.extra.meta = map.remove("_meta").filter(Value::is_object);
        // The very first revision had one free value instead of blocks.
        let structured = map.remove("structuredContent").or_else(|| map.remove("toolResult"));
        read.structured = structured.filter(|value| !value.is_null());
        match map.remove("content") {
            Some(Value::Array(blocks)) => {
                read.extra.blocks = blocks.iter().map(extra_of).collect();
                read.content = blocks.into_iter().map(Block::read).collect();
            }
            // Some servers send one block without the list around it.
            Some(block @ Value::Object(_)) => {
                read.problems.push("the content is not a list".to_owned());
                read.extra.blocks.push(extra_of(&block));
                read.content.push(Block::read(block));
            }
            None | Some(Value::Null) if read.structured.is_some() => {}
            None => read.broken("the result has no content"),
            Some(_) => read.broken("the content is not a list"),
        }
        let unknown = || {
            read.content.iter().filter_map(|block| match block {
                Block::Unknown(raw) => Some(raw),
                _ => None,
            })
        };
        let foreign = unknown().filter(|raw| is_foreign(raw)).count();
        let broken = unknown().count() - foreign;
        if foreign > 0 {
            read.problems.push(format!("{foreign} blocks are of an unknown kind"));
        }
        if broken > 0 {
            read.broken(&format!("{broken} blocks of the content are not in the form of their kind"));
        }
        if let (Some(schema), false) = (output_schema, read.is_error) {
            match &read.structured {
                Some(value) => {
                    if let Err(reason) = fits(schema, value) {
                        read.broken(&format!("the structured result does not fit its schema: {reason}"));
                    }
                }
                None => read.problems.push("the structured result is missing".to_owned()),
            }
        }
        read
    }

    fn broken(&mut self, reason: &str) {
        self.is_error = true;
        self.problems.push(reason.to_owned());
    }

    /// All text blocks, one after the other.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                Block::Resource { text: Some(text), .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }
}

/// What stands in a block beside its words or its bytes.
fn extra_of(block: &Value) -> Map<String, Value> {
    let kept: &[&str] = match block["type"].as_str() {
        Some("text") => &["type", "text"],
        Some("image" | "audio") => &["type", "data", "mimeType"],
        _ => return Map::new(),
    };
    let all = block.as_object().into_iter().flatten();
    all.filter(|(key, _)| !kept.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

impl Block {
    fn read(raw: Value) -> Self {
        let Some(map) = raw.as_object() else { return Self::Unknown(raw) };
        let text =
            |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let read = match map.get("type").and_then(Value::as_str) {
            Some("text") => text(map, "text").map(Self::Text),
            Some(kind @ ("image" | "audio")) => match (text(map, "data"), text(map, "mimeType")) {
                (Some(data), Some(mime)) if is_base64(&data) => Some(if kind == "image" {
                    Self::Image { data, mime }
                } else {
                    Self::Audio { data, mime }
                }),
                _ => None,
            },
            Some("resource_link") => text(map, "uri").map(|uri| Self::ResourceLink {
                uri,
                name: text(map, "name"),
                raw: raw.clone(),
            }),
            Some("resource") => map.get("resource").and_then(Value::as_object).and_then(|resource| {
                Some(Self::Resource {
                    uri: text(resource, "uri")?,
                    mime: text(resource, "mimeType"),
                    text: text(resource, "text"),
                    blob: text(resource, "blob").filter(|blob| is_base64(blob)),
                    raw: raw.clone(),
                })
            }),
            _ => None,
        };
        read.unwrap_or(Self::Unknown(raw))
    }
}

/// A block of a kind that is none of ours may be sound; one of ours in another form, or without a kind, is not.
fn is_foreign(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| !["text", "image", "audio", "resource_link", "resource"].contains(&kind))
}

fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&byte))
}

/// The outer shape of a structured result: a wrong one would mislead the model. Deeper rules are the
/// server's own to keep.
fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let Some(object) = value.as_object() else { return Err("it is not an object".to_owned()) };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = name.as_str() else { continue };
        if !object.contains_key(name) {
            return Err(format!("`{name}` is missing"));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let (Some(value), Some(kind)) = (object.get(name), schema.get("type")) else { continue };
        let fits = match kind {
            Value::String(kind) => is_type(kind, value),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(|kind| is_type(kind, value)),
            _ => true,
        };
        if !fits {
            return Err(format!("`{name}` is not of type {kind}"));
        }
    }
    Ok(())
}

fn is_type(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_block_is_kept() {
        let result = ToolResult::read(
            json!({ "content": [
                { "type": "text", "text": "hi" },
                { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
                { "type": "resource_link", "uri": "file:///a", "name": "a" },
                { "type": "resource", "resource": { "uri": "x://y", "text": "inside" } },
                { "type": "hologram", "data": 1 },
            ], "structuredContent": { "n": 1 } }),
            None,
        );
        assert_eq!(result.content.len(), 6);
        assert_eq!(result.content.iter().filter(|block| matches!(block, Block::Unknown(_))).count(), 1);
        assert_eq!(result.text(), "hi\ninside");
        assert!(!result.is_error);
    }

    #[test]
    fn content_that_is_not_what_it_says_it_is_makes_the_call_fail() {
        for block in [
            json!({ "type": "text" }),
            json!({ "type": "text", "text": 5 }),
            json!({ "type": "text", "text": { "a": "b" } }),
            json!({ "type": "text", "text": null }),
            json!({ "type": "image", "data": 7, "mimeType": "image/png" }),
            json!({ "type": "image", "data": "<script>", "mimeType": "image/png" }),
            json!({ "type": "audio", "data": "AAAA" }),
            json!({ "type": "resource_link", "uri": 1 }),
            json!({ "type": "resource", "resource": "x://y" }),
            json!({ "text": "no kind" }),
            json!({ "type": ["text"], "text": "x" }),
            json!(5),
            json!("text"),
            json!(null),
        ] {
            let content = json!([{ "type": "text", "text": "before" }, block]);
            let result = ToolResult::read(json!({ "content": content }), None);
            assert!(result.is_error && !result.problems.is_empty(), "{block}");
            // What was sound is still there to be read.
            assert_eq!((result.text().as_str(), result.content.len()), ("before", 2), "{block}");
        }
    }

    #[test]
    fn a_result_that_cannot_be_used_is_an_error_of_the_call() {
        for raw in [json!(null), json!("x"), json!({}), json!({ "content": null }), json!({ "content": 5 })] {
            let result = ToolResult::read(raw.clone(), None);
            assert!(result.is_error && !result.problems.is_empty(), "{raw}");
        }
        let schema =
            json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
        let with = |value: Value| {
            ToolResult::read(json!({ "content": [], "structuredContent": value }), Some(&schema))
        };
        assert!(!with(json!({ "n": 1, "more": true })).is_error);
        assert!(with(json!({ "n": 1.5 })).is_error);
        assert!(with(json!({})).is_error);
        assert!(with(json!([1])).is_error);
        assert!(!ToolResult::read(json!({ "toolResult": { "a": 1 } }), None).is_error);
    }

    #[test]
    fn a_question_is_read_with_its_state() {
        let outcome = CallOutcome::read(
            json!({ "resultType": "input_required", "requestState": "s", "inputRequests": {
                "q": { "method": "elicitation/create", "params": { "message": "m", "requestedSchema": {} } } } }),
            None,
        );
        let Ok(CallOutcome::InputRequired(required)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(required.request_state.as_deref(), Some("s"));
        assert!(matches!(&required.requests[0], (key, InputRequest::Elicitation(_)) if key == "q"));
        assert!(CallOutcome::read(json!({ "resultType": "input_required" }), None).is_err());
    }
}
