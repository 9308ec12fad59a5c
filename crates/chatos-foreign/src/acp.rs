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

/// Larger files are not compared for an editor.
const DIFF_BYTES: u64 = 1 << 20;

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
            let (server, tool, args) = (text("server"), text("tool"), text("args"));
            let mut update = tool_call(text("callId"), server, tool, args, "in_progress", root);
            if let Some(diff) = diff(server, tool, &update["rawInput"], root) {
                update["content"] = json!([diff]);
            }
            Some(update)
        }
        "usage" => usage(event),
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

/// How full the model's window is, as the protocol has it.
fn usage(event: &Value) -> Option<Value> {
    let (used, size) = (event["context"]["used"].as_u64()?, event["context"]["window"].as_u64()?);
    Some(json!({ "sessionUpdate": "usage_update", "used": used, "size": size }))
}

/// A file change as an editor draws it. Whole files are compared with what is on disk now, which is what was there
/// before the call; an edit shows what it exchanges.
fn diff(server: &str, tool: &str, arguments: &Value, root: &Path) -> Option<Value> {
    if server != "code_writer" {
        return None;
    }
    let path = root.join(arguments["path"].as_str()?);
    let (old, new) = match tool {
        "write_file" => {
            let there = std::fs::metadata(&path).ok().filter(|meta| meta.is_file());
            if there.as_ref().is_some_and(|meta| meta.len() > DIFF_BYTES) {
                return None;
            }
            let old = there.map(|_| std::fs::read_to_string(&path)).transpose().ok()?;
            (old, arguments["contents"].as_str()?)
        }
        "edit_file" => {
            (Some(arguments["old_string"].as_str()?.to_owned()), arguments["new_string"].as_str()?)
        }
        _ => return None,
    };
    Some(json!({ "type": "diff", "path": path, "oldText": old, "newText": new }))
}

/// The tasks of a chat as the plan an editor shows, oldest first; it is replaced whole each time.
pub fn plan(tasks: &[Value]) -> Value {
    let entries = tasks.iter().rev().map(|task| {
        let status = match task["status"].as_str().unwrap_or_default() {
            "done" => "completed",
            "doing" => "in_progress",
            _ => "pending",
        };
        let priority = match task["priority"].as_str().unwrap_or_default() {
            known @ ("high" | "low") => known,
            _ => "medium",
        };
        json!({ "content": task["title"], "priority": priority, "status": status })
    });
    json!({ "sessionUpdate": "plan", "entries": entries.collect::<Vec<_>>() })
}

/// Stands for the model that the agent says.
pub const AGENTS_MODEL: &str = "default";

/// Stands for the thinking that the model's own settings say.
pub const MODELS_EFFORT: &str = "default";

/// Words of a person's language for what may be chosen.
#[derive(Debug, Clone, Copy, Default)]
pub struct OptionWords<'a> {
    pub agent: &'a str,
    pub model: &'a str,
    /// The choice that leaves the model to the agent.
    pub as_agent: &'a str,
    pub effort: &'a str,
    /// The choice that leaves the thinking to the model's settings.
    pub as_model: &'a str,
}

/// How much the model of a chat may think, least first; empty for one that does not.
pub fn efforts(agents: &[Value], models: &[Value], chat: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let agent = agents.iter().find(|agent| agent["id"] == chat["agentId"]);
    let chosen = text(&chat["modelId"]).or_else(|| text(&agent?["modelId"]));
    let is_it = |model: &&Value| match &chosen {
        Some(id) => model["id"] == id.as_str(),
        None => model["isDefault"] == true,
    };
    let Some(model) = models.iter().find(is_it).filter(|model| model["supportsReasoning"] == true) else {
        return Vec::new();
    };
    let known: Vec<String> =
        model["facts"]["efforts"].as_array().into_iter().flatten().filter_map(text).collect();
    if known.is_empty() { ["low", "medium", "high"].map(str::to_owned).to_vec() } else { known }
}

/// What a person may choose for a chat in the editor: who answers, with which model, and how much it thinks; `effort` is
/// what they chose of that before.
pub fn config_options(
    agents: &[Value],
    models: &[Value],
    chat: &Value,
    effort: Option<&str>,
    words: OptionWords<'_>,
) -> Vec<Value> {
    let choice = |row: &Value| json!({ "value": row["id"], "name": row["name"] });
    let mut all = Vec::new();
    let people: Vec<Value> = agents.iter().filter(|row| row["kind"] != "acp").map(choice).collect();
    if people.iter().any(|agent| agent["value"] == chat["agentId"]) {
        all.push(json!({
            "id": "agent", "name": words.agent, "type": "select", "currentValue": chat["agentId"], "options": people,
        }));
    }
    let mut known = vec![json!({ "value": AGENTS_MODEL, "name": words.as_agent })];
    known.extend(models.iter().map(choice));
    let current = chat["modelId"].as_str().filter(|id| known.iter().any(|model| model["value"] == *id));
    all.push(json!({
        "id": "model", "name": words.model, "category": "model", "type": "select",
        "currentValue": current.unwrap_or(AGENTS_MODEL), "options": known,
    }));
    let efforts = efforts(agents, models, chat);
    if !efforts.is_empty() {
        let mut known = vec![json!({ "value": MODELS_EFFORT, "name": words.as_model })];
        known.extend(efforts.iter().map(|word| json!({ "value": word, "name": word })));
        let current = effort.filter(|word| efforts.iter().any(|known| known == word));
        all.push(json!({
            "id": "effort", "name": words.effort, "category": "thought_level", "type": "select",
            "currentValue": current.unwrap_or(MODELS_EFFORT), "options": known,
        }));
    }
    all
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
    fn changes_tasks_windows_and_choices_are_in_the_protocols_words() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.rs"), "old\n").unwrap();
        let call = |tool: &str, args: Value| {
            let event = json!({
                "type": "tool_call", "callId": "c", "server": "code_writer", "tool": tool, "args": args.to_string(),
            });
            update(&event, place.path(), "", "").unwrap()["content"][0].clone()
        };
        let written = call("write_file", json!({ "path": "a.rs", "contents": "new\n" }));
        assert_eq!((&written["oldText"], &written["newText"]), (&json!("old\n"), &json!("new\n")));
        assert_eq!(written["path"], json!(place.path().join("a.rs")));
        let made = call("write_file", json!({ "path": "b.rs", "contents": "x" }));
        assert_eq!(made["oldText"], Value::Null);
        let edited = call("edit_file", json!({ "path": "a.rs", "old_string": "o", "new_string": "n" }));
        assert_eq!((&edited["oldText"], &edited["newText"]), (&json!("o"), &json!("n")));
        assert_eq!(call("delete_file", json!({ "path": "a.rs" })), Value::Null);

        let used = json!({ "type": "usage", "context": { "used": 10, "window": 100 } });
        assert_eq!(update(&used, place.path(), "", "").unwrap()["size"], 100);
        assert_eq!(
            update(&json!({ "type": "usage" }), place.path(), "", ""),
            None,
            "nobody knows the window"
        );

        let tasks = [
            json!({ "title": "second", "status": "blocked", "priority": "high" }),
            json!({ "title": "first", "status": "doing" }),
        ];
        let plan = plan(&tasks);
        assert_eq!(
            plan["entries"][0],
            json!({ "content": "first", "priority": "medium", "status": "in_progress" })
        );
        assert_eq!(plan["entries"][1]["status"], "pending");

        let agents =
            [json!({ "id": "a1", "name": "Ann" }), json!({ "id": "a2", "name": "codex", "kind": "acp" })];
        let models = [json!({ "id": "m1", "name": "M" })];
        let chat = json!({ "agentId": "a1", "modelId": "m1" });
        let words = OptionWords { agent: "Agent", model: "Model", ..OptionWords::default() };
        let options = config_options(&agents, &models, &chat, None, words);
        assert_eq!(options.len(), 2, "a model that does not think is not told how much");
        assert_eq!(options[0]["options"].as_array().unwrap().len(), 1);
        assert_eq!((&options[1]["currentValue"], &options[1]["category"]), (&json!("m1"), &json!("model")));
        let gone = json!({ "agentId": "a1", "modelId": "gone" });
        assert_eq!(config_options(&agents, &models, &gone, None, words)[1]["currentValue"], AGENTS_MODEL);
        let thinking = [
            json!({ "id": "m1", "name": "M", "supportsReasoning": true, "facts": { "efforts": ["low", "max"] } }),
            json!({ "id": "m2", "name": "N", "isDefault": true, "supportsReasoning": true, "facts": { "efforts": [] } }),
        ];
        let chosen =
            |chat: &Value, effort| config_options(&agents, &thinking, chat, effort, words)[2].clone();
        assert_eq!(chosen(&chat, Some("max"))["currentValue"], "max");
        assert_eq!(chosen(&chat, Some("medium"))["currentValue"], MODELS_EFFORT, "not a word of this model");
        assert_eq!(chosen(&json!({ "agentId": "a1" }), Some("medium"))["currentValue"], "medium");
    }

    #[test]
    fn a_turn_ends_for_one_reason() {
        assert_eq!(stop(&json!({ "type": "assistant_done", "stopReason": "end" })), Some(Ok("end_turn")));
        assert_eq!(stop(&json!({ "type": "assistant_aborted" })), Some(Ok("cancelled")));
        assert_eq!(stop(&json!({ "type": "assistant_error", "message": "no" })), Some(Err("no".to_owned())));
        assert_eq!(stop(&json!({ "type": "tool_call" })), None);
    }
}
