//! Every JSON example of `docs/protocols/tools.md` is executed here: calls are made, and what they give
//! and log must be what the document prints. Values that differ from call to call have fixed stand-ins.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "tool_protocol/sample.rs"]
mod sample;

use std::path::Path;
use std::sync::Arc;

use chatos_layer::{
    Access, CallRequest, Caller, FixedSettings, Layer, LayerParts, NoQueue, Nobody, Reply, ToolLog,
    ToolSettings,
};
use chatos_tool::{Lang, Redactor, Status, Transport};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/tools.md");
    std::fs::read_to_string(path).unwrap()
}

/// The fenced blocks with what stands after their fence, in order.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => open = Some((info.trim().to_owned(), String::new())),
            (None, Some((_, body))) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// Puts stand-ins where values differ from call to call.
fn fixed(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "ts" => *value = json!("2026-01-11T00:00:00.000Z"),
                    "spanId" => *value = json!("00f067aa0ba902b7"),
                    "elapsedMs" | "queuedMs" | "waitedMs" => *value = json!(0),
                    _ => fixed(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(fixed),
        _ => {}
    }
}

#[track_caller]
fn same(what: &str, printed: &str, mut actual: Value) {
    let mut printed: Value =
        serde_json::from_str(printed).unwrap_or_else(|error| panic!("{what}: {error}\n{printed}"));
    fixed(&mut printed);
    fixed(&mut actual);
    assert!(printed == actual, "{what}: the document differs; it should say\n{actual:#}");
}

#[tokio::test]
async fn every_example_of_the_document_is_what_happens() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("tool-log.jsonl");
    let settings = ToolSettings { lang: Lang::En, ..ToolSettings::default() };
    let layer = Layer::new(LayerParts {
        settings: Arc::new(FixedSettings::new(settings)),
        log: Some(ToolLog::new(log.clone(), Box::new(|_, error| panic!("{error}")))),
        redactor: Arc::new(Redactor::new()),
        queue: Arc::new(NoQueue),
        observer: Arc::new(Nobody),
    });
    let server = sample::server();
    let (mut reply, mut counts) = (Value::Null, std::collections::BTreeMap::new());
    for (info, body) in blocks(&document()) {
        let what = format!("block `{info}`:\n{body}");
        match info.as_str() {
            "json call" => {
                let call: Value = serde_json::from_str(&body).unwrap();
                let request = CallRequest {
                    tool: call["name"].as_str().unwrap().to_owned(),
                    arguments: call.get("arguments").cloned(),
                    meta: call["_meta"].as_object().cloned().unwrap_or_default(),
                    transport: Transport::Stdio,
                    session: "s".to_owned(),
                    access: Arc::new(Access::All),
                    caller: Caller::Main,
                    root: None,
                    cancel: CancellationToken::new(),
                    closed: CancellationToken::new(),
                    progress: None,
                    elicitor: None,
                    resume: None,
                    asked: None,
                    approved: None,
                    together: None,
                    client: None,
                    batch: None,
                };
                std::fs::remove_file(&log).ok();
                let Ok(Reply::Done(envelope)) = layer.call(&server, request).await else { panic!("{what}") };
                reply = envelope.result();
            }
            "json result" => same(&what, &body, reply.clone()),
            "json structured" => same(&what, &body, reply["structuredContent"].clone()),
            "json log" => {
                let lines = std::fs::read_to_string(&log).unwrap();
                let (printed, actual): (Vec<_>, Vec<_>) = (body.lines().collect(), lines.lines().collect());
                assert_eq!(printed.len(), actual.len(), "{what}\nthe log says\n{lines}");
                for (printed, actual) in printed.iter().zip(actual) {
                    same(&what, printed, serde_json::from_str(actual).unwrap());
                }
            }
            "json definition" => {
                let mut definition = server.definitions(&Access::All, Lang::En).remove(0);
                // The same for every tool; printed once, below.
                definition["outputSchema"] = json!({ "…": "see below" });
                same(&what, &body, definition);
            }
            "json output-schema" => {
                let schema = server.definitions(&Access::All, Lang::En)[0]["outputSchema"].clone();
                let printed: Value = serde_json::from_str(&body).unwrap();
                for (key, value) in printed.as_object().unwrap() {
                    assert_eq!(&schema[key], value, "{what}\n{schema:#}");
                }
            }
            "json redaction" => {
                let pair: Value = serde_json::from_str(&body).unwrap();
                assert_eq!(Redactor::new().value(&pair["given"], 4000), pair["logged"], "{what}");
            }
            "json" => panic!("a JSON example without a word for what executes it: {body}"),
            _ => continue,
        }
        *counts.entry(info).or_insert(0_u32) += 1;
    }
    for kind in
        ["json call", "json result", "json structured", "json log", "json definition", "json redaction"]
    {
        assert!(counts.get(kind).is_some_and(|count| *count > 0), "the document has no `{kind}`: {counts:?}");
    }
}

#[test]
fn the_document_names_every_status_and_code() {
    let text = document();
    for status in Status::ALL {
        assert!(text.contains(&format!("`{}`", status.as_str())), "{}", status.as_str());
    }
    let schema = &sample::server().definitions(&Access::All, Lang::En)[0]["outputSchema"];
    for code in schema["properties"]["code"]["enum"].as_array().unwrap() {
        assert!(text.contains(&format!("`{}`", code.as_str().unwrap())), "{code}");
    }
}
