//! The OpenAPI 3.1 document, made from the route table and the schemas of its types: only where documents are
//! generated. The program serves the text that came of it.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::app::routes;
use crate::input::Takes;
use crate::table::RouteDoc;

/// The document as `docs/protocols/openapi.json` keeps it and `/api/v1/openapi.json` serves it.
pub fn document() -> Value {
    let mut schemas = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let mut paths = Map::new();
    for doc in &routes().docs {
        let item = paths.entry(doc.path.to_owned()).or_insert_with(|| json!({}));
        item[doc.method.as_str().to_ascii_lowercase()] = operation(doc, &mut schemas);
    }
    let mut schemas = schemas.take_definitions(true);
    schemas.insert("Error".to_owned(), error_schema());
    for schema in schemas.values_mut() {
        strip_format(schema);
    }
    let mut paths = Value::Object(paths);
    strip_format(&mut paths);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ChatOS",
            "version": chatos_host::VERSION,
            "description": "The local API of a ChatOS host. Loopback only; every route needs the bearer token of host.json or of a signed-in page. With `?resolve=1` the id of an agent, model, chat or land_config in a path, in a query or in a top member of a body (`agentId`, `modelId`, `landConfigId`, `sessionId`) may be its name, the beginning of it, or `default` (`last` for chats): 404 names the nearest, 409 `ambiguous_name` the candidates.",
        },
        "servers": [{ "url": "http://127.0.0.1:7878" }],
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(doc: &RouteDoc, schemas: &mut SchemaGenerator) -> Value {
    let mut takes = Takes::default();
    (doc.takes)(schemas, &mut takes);
    let parameters: Vec<Value> = path_names(doc.path)
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .chain(takes.query.into_iter().map(|(name, text, schema)| {
            json!({ "name": name, "in": "query", "description": text, "schema": schema })
        }))
        .collect();
    let content = |schema: schemars::Schema| json!({ "application/json": { "schema": schema } });
    let failure = json!({
        "description": "The error object",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    });
    let answer = json!({ "description": doc.summary, "content": content((doc.gives)(schemas)) });
    let mut operation = json!({
        "summary": doc.summary,
        "operationId": operation_id(doc),
        "responses": { (doc.status.to_string()): answer, "default": failure },
    });
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(schema) = takes.body {
        operation["requestBody"] = json!({ "required": true, "content": content(schema) });
    }
    operation
}
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// `GET /api/v1/settings/{key}` → `getSettingsKey`.
fn operation_id(doc: &RouteDoc) -> String {
    let mut id = doc.method.as_str().to_ascii_lowercase();
    for word in doc.path.trim_start_matches("/api/v1/").split(['/', '-', '_', '.', '{', '}']) {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            id.extend(first.to_uppercase());
            id.push_str(letters.as_str());
        }
    }
    id
}

/// Number formats such as `uint64` are Rust's, not JSON Schema's; strict readers stumble over them.
fn strip_format(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("type").is_some_and(|kind| kind != "string") {
                map.remove("format");
            }
            map.remove("$schema");
            map.values_mut().for_each(strip_format);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_format),
        _ => {}
    }
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": { "type": "string", "description": "Stable, never translated" },
                    "message": { "type": "string", "description": "What was being done to what" },
                    "hint": { "type": "string", "description": "What to do about it" },
                    "details": { "description": "Machine-readable detail; `errors` holds JSON pointers" },
                },
            },
        },
    })
}
