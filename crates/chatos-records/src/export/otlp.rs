//! OpenTelemetry's JSON: one span per span of the trace, `gen_ai.*` and `chatos.*` attributes.

use std::collections::HashMap;

use chatos_store::{ModelRecord, Store, StoreError, parse_time};
use chatos_tool::Redactor;
use chatos_wire::run::SpanView;
use serde_json::{Value, json};

use crate::runs::spans_of;

/// Most characters of a content.
const CONTENT_CHARS: usize = 6_000;

/// What a span read and wrote, by its id.
type Contents = HashMap<String, (String, String)>;

/// The document of a trace. Texts of people, models and tools are in it only when asked for, and always
/// redacted.
pub fn of_trace(
    store: &Store,
    redactor: &Redactor,
    trace_id: &str,
    content: bool,
) -> Result<Value, StoreError> {
    let spans = spans_of(store, redactor, trace_id)?;
    let contents = if content { Some(contents(store, redactor, trace_id)?) } else { None };
    Ok(document(&spans, &store.models()?, contents.as_ref()))
}

fn contents(store: &Store, redactor: &Redactor, trace_id: &str) -> Result<Contents, StoreError> {
    let mut all = Contents::new();
    let shown = |column: &str| {
        store.kept(column).map(|text| redactor.trimmed(&text, CONTENT_CHARS)).unwrap_or_default()
    };
    for run in store.runs_of_trace(trace_id)? {
        all.insert(run.span_id.clone(), (redactor.trimmed(&run.task, CONTENT_CHARS), String::new()));
        for step in store.steps(&run.id)? {
            all.insert(step.span_id, (shown(&step.input_blob), shown(&step.output_blob)));
        }
    }
    Ok(all)
}

fn document(spans: &[SpanView], models: &[ModelRecord], contents: Option<&Contents>) -> Value {
    let spans: Vec<Value> = spans.iter().map(|span| one(span, models, contents)).collect();
    json!({
        "resourceSpans": [{
            "resource": { "attributes": [
                text("service.name", "chatos"), text("service.version", env!("CARGO_PKG_VERSION")),
            ]},
            "scopeSpans": [{ "scope": { "name": "chatos", "version": env!("CARGO_PKG_VERSION") }, "spans": spans }],
        }],
    })
}

fn one(span: &SpanView, models: &[ModelRecord], contents: Option<&Contents>) -> Value {
    let mut attributes = Vec::new();
    let operation = match span.kind.as_str() {
        "run" => Some("invoke_agent"),
        "model" => Some("chat"),
        "tool" => Some("execute_tool"),
        _ => None,
    };
    if let Some(operation) = operation {
        attributes.push(text("gen_ai.operation.name", operation));
    }
    if span.kind == "model" {
        let model = models.iter().find(|model| model.id == span.name);
        let name = model.map_or(span.name.as_str(), |model| model.model.as_str());
        attributes.push(text("gen_ai.request.model", name));
        attributes.push(text("gen_ai.response.model", name));
        attributes
            .push(text("gen_ai.provider.name", model.map_or("unknown", |model| model.provider.as_str())));
        if let Some(usage) = &span.usage {
            for (key, field) in
                [("gen_ai.usage.input_tokens", "input"), ("gen_ai.usage.output_tokens", "output")]
            {
                if let Some(count) = usage[field].as_i64() {
                    attributes.push(json!({ "key": key, "value": { "intValue": count.to_string() } }));
                }
            }
        }
    }
    if let Some(tool) = &span.tool {
        attributes.push(text("gen_ai.tool.name", tool));
    }
    if let Some(call) = &span.call_id {
        attributes.push(text("gen_ai.tool.call.id", call));
    }
    for (key, value) in span.trace.as_object().into_iter().flatten() {
        if let Some(value) = value.as_str() {
            attributes.push(text(&format!("chatos.{key}"), value));
        }
    }
    if let Some((read, wrote)) = contents.and_then(|all| all.get(&span.span_id)) {
        let keys = match span.kind.as_str() {
            "tool" => ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
            _ => ("gen_ai.input.messages", "gen_ai.output.messages"),
        };
        for (key, value) in [(keys.0, read), (keys.1, wrote)] {
            if !value.is_empty() {
                attributes.push(text(key, value));
            }
        }
    }
    attributes.push(text("chatos.kind", &span.kind));
    attributes.push(text("chatos.status", &span.status));
    let failed =
        matches!(span.status.as_str(), "failed" | "error" | "timeout" | "invalid" | "denied" | "not_found");
    let nanos = |at: &Option<String>| {
        at.as_deref().and_then(parse_time).map(|ms| (ms * 1_000_000).to_string()).unwrap_or_default()
    };
    let started = nanos(&span.started_at);
    let ended = if span.finished_at.is_some() { nanos(&span.finished_at) } else { started.clone() };
    json!({
        "traceId": span.trace["traceId"], "spanId": span.span_id,
        "parentSpanId": span.parent_span_id.clone().unwrap_or_default(),
        "name": match operation {
            // The name of a person's run is the beginning of what they wrote: content.
            Some(operation) if span.kind == "run" && span.trace["subAgentId"].is_null() => operation.to_owned(),
            Some(operation) => format!("{operation} {}", span.name),
            None => span.name.clone(),
        },
        "kind": if span.kind == "model" { 3 } else { 1 },
        "startTimeUnixNano": started, "endTimeUnixNano": ended,
        "attributes": attributes,
        "status": { "code": if failed { 2 } else { 1 }, "message": span.code.clone().unwrap_or_default() },
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}
