//! The schema of the whole envelope, published for every tool, because clients validate every result
//! against it, failed and canceled ones included (tools §5.6).

use serde_json::{Value, json};

use super::Status;

/// `outputSchema` of a tool whose successful `data` has this schema (see [`crate::schema::data`]).
pub fn output_schema(data: &Value) -> Value {
    let statuses: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    let codes = [
        "ok",
        "needs_input",
        "canceled",
        "invalid_argument",
        "permission_denied",
        "not_found",
        "timeout",
        "conflict",
        "resource_exhausted",
        "unavailable",
        "not_supported",
        "rate_limited",
        "internal",
    ];
    json!({
        "type": "object",
        "properties": {
            "status": {
                "type": "string", "enum": statuses,
                "description": "How the call ended", "x-zh": "调用的结果状态",
            },
            "code": {
                "type": "string", "enum": codes,
                "description": "ok, or why it did not succeed", "x-zh": "ok，或未成功的原因",
            },
            "data": { "anyOf": [data, confirmation(), needs(), { "type": "null" }] },
            "error": error(),
        },
        "required": ["status", "code", "data"],
        "additionalProperties": false,
    })
}

/// The schema of `data` with the product as `text` (see [`crate::envelope::Product`]).
pub fn with_text(mut data: Value) -> Value {
    if let Some(properties) = data.get_mut("properties").and_then(Value::as_object_mut) {
        let text = json!({
            "type": "string",
            "description": "What the text block holds below its header line", "x-zh": "正文块标题行以下的内容",
        });
        properties.insert("text".to_owned(), text);
    }
    if let Some(required) = data.get_mut("required").and_then(Value::as_array_mut) {
        required.push(json!("text"));
    }
    data
}

/// What is left of a call that a person or a clock stopped.
fn confirmation() -> Value {
    json!({
        "type": "object",
        "properties": {
            "confirmed": { "type": "boolean" },
            "request_id": { "type": "string" },
            "remark": { "type": "string" },
        },
        "required": ["confirmed", "request_id"],
    })
}

fn needs() -> Value {
    json!({
        "type": "object",
        "properties": { "needs": {
            "type": "object",
            "properties": {
                "kind": { "type": "string" },
                "resume": {
                    "type": "object",
                    "properties": {
                        "tool": { "type": "string" },
                        "arguments": { "type": "object", "additionalProperties": true },
                    },
                    "required": ["tool", "arguments"],
                },
            },
            "required": ["kind", "resume"],
        } },
        "required": ["needs"],
    })
}

fn error() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": { "type": "string" },
            "message": { "type": "string" },
            "retryable": { "type": "boolean" },
            "hint": { "type": "string" },
            "details": { "type": "object", "additionalProperties": true },
        },
        "required": ["type", "message", "retryable"],
        "additionalProperties": false,
    })
}
