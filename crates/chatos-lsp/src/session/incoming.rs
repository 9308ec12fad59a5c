//! What a language server says: answers to those who wait, news, and requests of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncRead;

use super::keeping::Kept;
use crate::frame::Frames;
use crate::news::News;
use crate::uri;
use crate::wire::{METHOD_NOT_FOUND, Refusal, Wire};

#[derive(Deserialize)]
struct Message {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: Value,
}

/// Reads until the server says no more; what is no protocol ends the server.
pub(super) async fn read(
    stdout: impl AsyncRead + Unpin,
    wire: Arc<Wire>,
    news: Arc<News>,
    kept: Arc<Kept>,
    folder: PathBuf,
) {
    let mut frames = Frames::new(stdout);
    let why = loop {
        let body = match frames.next().await {
            Ok(Some(body)) => body,
            // How it ended says whoever holds the process.
            Ok(None) => return,
            Err(error) => break error.to_string(),
        };
        wire.hear();
        match serde_json::from_slice::<Message>(&body) {
            Ok(message) => take(message, &wire, &news, &folder),
            Err(error) => break format!("it sent a message that cannot be read: {error}"),
        }
    };
    kept.broke(why);
}

fn take(message: Message, wire: &Wire, news: &News, folder: &std::path::Path) {
    match (message.method.as_deref(), message.id) {
        (Some(method), Some(id)) => asked(method, &id, &message.params, wire, news, folder),
        (Some(method), None) => match method {
            "textDocument/publishDiagnostics" => news.publish(&message.params),
            "$/progress" => news.progress(&message.params),
            "experimental/serverStatus" => news.status(&message.params),
            _ => {}
        },
        (None, Some(id)) => {
            // Only exactly a number of ours names a request.
            let Some(id) = id.as_i64() else { return };
            wire.answer(
                id,
                match message.error {
                    None => Ok(message.result),
                    Some(failure) => {
                        let text = failure.message.as_str().unwrap_or("no reason given");
                        let message = text.chars().take(1_000).collect();
                        Err(Refusal::Server { code: failure.code, message })
                    }
                },
            );
        }
        (None, None) => {}
    }
}

/// Requests of the server.
fn asked(method: &str, id: &Value, params: &Value, wire: &Wire, news: &News, folder: &std::path::Path) {
    let answer = match method {
        "workspace/configuration" => {
            let count = params["items"].as_array().map_or(0, Vec::len).min(1_000);
            Ok(Value::Array(vec![Value::Null; count]))
        }
        "workspace/workspaceFolders" => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            Ok(json!([{ "uri": uri::of(folder), "name": name }]))
        }
        "client/registerCapability" => {
            let mut all = params["registrations"].as_array().into_iter().flatten();
            if all.any(|one| one["method"] == "textDocument/diagnostic") {
                news.pulls.store(true, Ordering::Relaxed);
            }
            Ok(Value::Null)
        }
        "workspace/applyEdit" if news.wants(params) => Ok(json!({ "applied": true })),
        "workspace/applyEdit" => {
            Ok(json!({ "applied": false, "failureReason": "no call that changes files is running" }))
        }
        "window/showDocument" => Ok(json!({ "success": false })),
        "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest"
        | "workspace/diagnostic/refresh"
        | "workspace/semanticTokens/refresh"
        | "workspace/inlayHint/refresh"
        | "workspace/codeLens/refresh"
        | "workspace/foldingRange/refresh" => Ok(Value::Null),
        _ => Err((METHOD_NOT_FOUND, "this client does not do that")),
    };
    wire.reply(id, answer);
}
