//! The JSON Schema of the event stream, and what derived schemas leave to us; only where documents are generated.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::chat_event::{ChatBody, ChatEvent};
use crate::event::{Hello, described};
use crate::question::{PromptBody, PromptForm, PromptResponse, PromptSummary, ResponseForm};

/// A frame of the event stream, for its schema: the socket writes frames as text, once for all readers.
struct EventFrame;

impl JsonSchema for EventFrame {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("EventFrame")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let named = described(generator).into_iter();
        let mut all: Vec<Schema> = named
            .map(|(topic, kind, data)| frame(&json!({ "const": topic }), &json!({ "const": kind }), &data))
            .collect();
        let data = generator.subschema_for::<ChatEvent>();
        let topic = json!({ "type": "string", "pattern": "^chat:" });
        all.push(frame(&topic, &json!({ "enum": ChatBody::KINDS }), &data));
        let hello = generator.subschema_for::<Hello>();
        all.push(frame(&json!({ "const": "host" }), &json!({ "enum": ["hello", "resync"] }), &hello));
        let null = json_schema!({ "type": "null" });
        all.push(frame(&json!({ "const": "host" }), &json!({ "const": "pong" }), &null));
        json_schema!({ "description": "A frame of the event stream.", "oneOf": all })
    }
}

fn frame(topic: &Value, kind: &Value, data: &Schema) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "seq": { "type": "integer", "minimum": 0 },
            "topic": topic,
            "type": kind,
            "data": data,
        },
        "required": ["seq", "topic", "type", "data"],
    })
}

/// The schema of every frame, as `docs/protocols/events.schema.json` has it.
pub fn schema() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<EventFrame>();
    schema.insert("title".to_owned(), json!("Frames of the event stream of ChatOS"));
    schema.to_value()
}

/// The nine fields are always there; unknown ones are null.
pub(crate) fn trace_schema(_: &mut SchemaGenerator) -> Schema {
    const FIELDS: [&str; 9] = [
        "traceId",
        "spanId",
        "parentSpanId",
        "rootAgentId",
        "agentId",
        "subAgentId",
        "runId",
        "sessionId",
        "toolName",
    ];
    let fields = FIELDS.map(|name| (name.to_owned(), json!({ "type": ["string", "null"] })));
    let fields: Map<String, Value> = fields.into_iter().collect();
    json_schema!({ "type": "object", "properties": fields, "required": FIELDS })
}

impl JsonSchema for PromptBody {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PromptBody".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (form, summary) =
            (generator.subschema_for::<PromptForm>(), generator.subschema_for::<PromptSummary>());
        json_schema!({ "anyOf": [form, summary] })
    }
}

impl JsonSchema for PromptResponse {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PromptResponse".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<ResponseForm>()
    }
}
