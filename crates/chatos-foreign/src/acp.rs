//! The Agent Client Protocol, version 1, as an agent speaks it to an editor (other-agents §5): what a chat of ours is
//! in its words. Moving bytes and asking the host are the caller's.

use std::path::Path;

use serde_json::{Value, json};

/// The version of the protocol that is spoken.
pub const VERSION: u64 = 1;

pub const NOT_JSON: i64 = -32_700;
pub const UNKNOWN_METHOD: i64 = -32_601;
pub const INVALID_PARAMS: i64 = -32_602;
pub const FAILED: i64 = -32_603;
/// What the protocol itself adds.
pub const NOT_FOUND: i64 = -32_002;

/// The answer to `initialize`, whichever version was asked for.
pub fn hello(version: &str) -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": true, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": false, "sse": false },
            "sessionCapabilities": { "list": {}, "resume": {}, "close": {} },
        },
        "agentInfo": { "name": "chatos", "title": "ChatOS", "version": version },
        "authMethods": [],
    })
}

/// What a person sends: the text, and pictures beside it as the API takes them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Message {
    pub text: String,
    pub attachments: Vec<Value>,
}

/// Reads the blocks of `session/prompt`. A block of a kind nobody offered is named in the text, never dropped.
pub fn message(blocks: &[Value]) -> Message {
    let mut message = Message::default();
    let mut parts: Vec<String> = Vec::new();
    for block in blocks {
        let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match text("/type") {
            "text" => parts.push(text("/text").to_owned()),
            "image" => message.attachments.push(json!({
                "name": "image", "mime": text("/mimeType"), "data": text("/data"),
            })),
            "resource_link" => parts.push(place(text("/uri"))),
            "resource" => {
                let (uri, content) = (place(text("/resource/uri")), text("/resource/text"));
                parts.push(format!("{uri}:\n```\n{content}\n```"));
            }
            other => parts.push(format!("[{other}]")),
        }
    }
    message.text = parts.join("\n");
    message
}

/// A file by its path, anything else by its address.
fn place(uri: &str) -> String {
    uri.strip_prefix("file://").unwrap_or(uri).to_owned()
}

/// An event of a chat as a `session/update`; `None` for what an editor has no place for. `root` is the folder of the
/// chat, `page` where questions are answered.
pub fn update(event: &Value, root: &Path, page: &str, waiting: &str) -> Option<Value> {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    match text("type") {
        "assistant_delta" => Some(chunk("agent_message_chunk", text("delta"))),
        "assistant_reasoning_delta" => Some(chunk("agent_thought_chunk", text("delta"))),
        "notice" => Some(chunk("agent_thought_chunk", text("message"))),
        "tool_call" => {
            Some(tool_call(text("callId"), text("server"), text("tool"), text("args"), "in_progress", root))
        }
        "tool_progress" => {
            let message = event["message"].as_str().filter(|message| !message.is_empty())?;
            Some(changed(text("callId"), "in_progress", message))
        }
        "prompt_waiting" => Some(changed(text("callId"), "pending", &format!("{waiting}\n{page}"))),
        "prompt_answered" => Some(json!({
            "sessionUpdate": "tool_call_update", "toolCallId": text("callId"), "status": "in_progress",
        })),
        "tool_result" => result(&event["message"]),
        _ => None,
    }
}

/// A message of the past as updates, for a chat that is loaded.
pub fn replay(message: &Value, root: &Path) -> Vec<Value> {
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    match text("role") {
        "user" => vec![chunk("user_message_chunk", text("content"))],
        "assistant" => {
            let mut all = Vec::new();
            if !text("reasoning").is_empty() {
                all.push(chunk("agent_thought_chunk", text("reasoning")));
            }
            if !text("content").is_empty() {
                all.push(chunk("agent_message_chunk", text("content")));
            }
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                let part = |key: &str| call[key].as_str().unwrap_or_default();
                all.push(tool_call(
                    part("callId"),
                    part("server"),
                    part("tool"),
                    part("args"),
                    "pending",
                    root,
                ));
            }
            all
        }
        "tool" => result(message).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

fn tool_call(id: &str, server: &str, tool: &str, args: &str, status: &str, root: &Path) -> Value {
    let arguments: Value = serde_json::from_str(args).unwrap_or_else(|_| json!(args));
    let path = ["path", "file", "file_path", "target"].iter().find_map(|key| arguments[*key].as_str());
    let locations: Vec<Value> = path.map(|path| json!({ "path": root.join(path) })).into_iter().collect();
    let title = match (arguments["command"].as_str(), path) {
        (Some(command), _) => command.chars().take(120).collect(),
        (None, Some(path)) => format!("{tool} {path}"),
        (None, None) => format!("{server}: {tool}"),
    };
    json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind(server, tool), "status": status,
        "rawInput": arguments, "locations": locations,
    })
}

fn changed(id: &str, status: &str, text: &str) -> Value {
    json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
        "content": [{ "type": "content", "content": { "type": "text", "text": text } }],
    })
}

fn result(message: &Value) -> Option<Value> {
    let id = message["toolCallId"].as_str()?;
    let failed = message["toolIsError"] == true;
    let text = message["content"].as_str().unwrap_or_default();
    Some(changed(id, if failed { "failed" } else { "completed" }, text))
}

/// What an editor draws for a tool of ours.
fn kind(server: &str, tool: &str) -> &'static str {
    match (server, tool) {
        ("code_writer", tool) if tool.starts_with("delete") => "delete",
        ("code_writer", tool) if tool.starts_with("move") => "move",
        ("code_writer", _) => "edit",
        ("project_files", tool) if tool.contains("search") || tool.contains("find") => "search",
        ("project_files", _) => "read",
        ("shell_tasks", _) => "execute",
        ("lsp_bridge", _) => "search",
        _ => "other",
    }
}

/// Why a turn ended, from the event that ends a run; the message of a failure instead.
pub fn stop(event: &Value) -> Option<Result<&'static str, String>> {
    match event["type"].as_str()? {
        "assistant_done" => Some(Ok(match event["stopReason"].as_str().unwrap_or_default() {
            "max_tokens" | "length" => "max_tokens",
            "refusal" => "refusal",
            reason if reason.starts_with("max_") || reason.ends_with("_limit") => "max_turn_requests",
            _ => "end_turn",
        })),
        "assistant_aborted" => Some(Ok("cancelled")),
        "assistant_error" => Some(Err(event["message"].as_str().unwrap_or_default().to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_a_message_arrives() {
        let blocks = [
            json!({ "type": "text", "text": "look at" }),
            json!({ "type": "resource_link", "uri": "file:///p/a.rs", "name": "a.rs" }),
            json!({ "type": "resource", "resource": { "uri": "file:///p/b.rs", "text": "fn b() {}" } }),
            json!({ "type": "image", "mimeType": "image/png", "data": "AAAA" }),
            json!({ "type": "audio", "data": "" }),
        ];
        let message = message(&blocks);
        assert_eq!(message.text, "look at\n/p/a.rs\n/p/b.rs:\n```\nfn b() {}\n```\n[audio]");
        assert_eq!(message.attachments, [json!({ "name": "image", "mime": "image/png", "data": "AAAA" })]);
    }

    #[test]
    fn calls_are_drawn_with_their_kind_and_place() {
        let event = json!({
            "type": "tool_call", "callId": "c", "server": "code_writer", "tool": "write_file", "args": "{\"path\":\"a.rs\"}",
        });
        let update = update(&event, Path::new("/p"), "http://x", "wait").unwrap();
        assert_eq!((&update["kind"], &update["locations"][0]["path"]), (&json!("edit"), &json!("/p/a.rs")));
        let odd = json!({ "type": "tool_call", "callId": "c", "server": "x", "tool": "y", "args": "{\"cut" });
        assert_eq!(super::update(&odd, Path::new("/p"), "", "").unwrap()["rawInput"], "{\"cut");
    }

    #[test]
    fn a_turn_ends_for_one_reason() {
        assert_eq!(stop(&json!({ "type": "assistant_done", "stopReason": "end" })), Some(Ok("end_turn")));
        assert_eq!(stop(&json!({ "type": "assistant_aborted" })), Some(Ok("cancelled")));
        assert_eq!(stop(&json!({ "type": "assistant_error", "message": "no" })), Some(Err("no".to_owned())));
        assert_eq!(stop(&json!({ "type": "tool_call" })), None);
    }
}
