//! Sessions, messages and summaries.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::OptionalExtension;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};

use super::Import;
use super::merge::{Taken, Unfit, decide, flag, maybe, put};
use super::record::{Record, as_text, take};
use super::report::Reason;

/// Arguments of a tool call shown in lists.
const PREVIEW_CHARS: usize = 200;

pub(super) fn session(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    if record.text("mode") == "room" {
        return Err(Reason::Room.into());
    }
    let taken = decide(import.target, "sessions", &record.id, record.updated_at, "0")?;
    let mut agent = record.text("agentId");
    if agent.is_empty() {
        agent = record.text("selectedAgentId");
    }
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("title", Sql::from(record.text("title"))),
        ("agent_id", Sql::from(agent)),
        ("workspace_root", Sql::from(record.text("workspaceRoot"))),
        ("pinned", flag(record.switch("pinned").unwrap_or_default())),
        ("archived_at", maybe(record.time("archivedAt"))),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    put(import.target, "sessions", row)?;
    Ok(taken)
}

pub(super) fn message(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let session = record.required("sessionId")?;
    let target = import.target;
    let known: Option<i64> = target
        .prepare_cached("SELECT coalesce((SELECT max(seq) FROM messages WHERE session_id = s.id), 0) FROM sessions s WHERE id = ?1")?
        .query_row([&session], |row| row.get(0))
        .optional()?;
    let last = known.ok_or_else(|| Reason::NoSession(session.clone()))?;
    let there: bool = target
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM messages WHERE id = ?1) OR EXISTS (SELECT 1 FROM summaries WHERE id = ?1)")?
        .query_row([&record.id], |row| row.get(0))?;
    if there {
        return Err(Reason::NotNewer.into());
    }
    let mut content = Content::read(record.take("content"));
    if is_summary(record) {
        target.execute(
            "INSERT INTO summaries (id, session_id, from_seq, to_seq, text, created_at) VALUES (?1, ?2, 1, ?3, ?4, ?5)",
            (&record.id, &session, last, &content.text, record.created_at),
        )?;
        return Ok(Taken::New);
    }
    let role = record.text("role");
    if !matches!(role.as_str(), "user" | "assistant" | "tool" | "system") {
        return Err(Reason::Unknown("role", role).into());
    }
    let reasoning = [record.text("reasoning"), record.text("reasoningContent")].concat();
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("session_id", Sql::from(session.clone())),
        ("seq", Sql::from(last + 1)),
        ("run_id", Sql::from(record.text("runId"))),
        ("user_message_id", Sql::from(record.text("userMessageId"))),
        ("role", Sql::from(role)),
        ("name", Sql::from(record.text("name"))),
        ("content", Sql::from(std::mem::take(&mut content.text))),
        ("reasoning", Sql::from(reasoning)),
        ("tool_call_id", Sql::from(record.text("toolCallId"))),
        ("tool_name", Sql::from(record.text("toolName"))),
        ("is_error", flag(record.switch("isError").unwrap_or_default())),
        ("created_at", Sql::from(record.created_at)),
    ];
    put(target, "messages", row)?;
    if let Some(Value::Array(attachments)) = record.take("attachments") {
        content.files.extend(attachments.into_iter().filter_map(File::read));
    }
    for (position, file) in content.files.into_iter().enumerate() {
        let size = file.bytes.len() as i64;
        let blob = import.blob(&file.bytes, &file.mime)?;
        let kind = if file.mime.starts_with("image/") { "image" } else { "file" };
        target.execute(
            "INSERT INTO message_attachments (id, message_id, position, kind, name, mime, blob, size)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                format!("{}-{position}", record.id),
                &record.id,
                position as i64,
                kind,
                &file.name,
                &file.mime,
                blob,
                size,
            ),
        )?;
    }
    if let Some(Value::Array(calls)) = record.take("toolCalls") {
        for (position, call) in calls.into_iter().enumerate() {
            put_call(import, &record.id, position, call)?;
        }
    }
    target
        .prepare_cached(
            "UPDATE sessions SET last_message_at = max(coalesce(last_message_at, 0), ?1) WHERE id = ?2",
        )?
        .execute((record.created_at, &session))?;
    Ok(Taken::New)
}

/// Hidden summaries the older program kept among the messages.
fn is_summary(record: &mut Record) -> bool {
    let hidden = record.switch("hidden").unwrap_or_default();
    let mut meta = match record.take("meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    let mut words: Vec<String> = ["kind", "type", "metaType", "subtype"]
        .iter()
        .filter_map(|name| record.take(name).or_else(|| take(&mut meta, name)))
        .filter_map(|value| as_text(&value))
        .collect();
    if hidden {
        words.push(record.text("name"));
    }
    words.iter().any(|word| word == "conversation_summary")
}

fn put_call(import: &Import<'_>, message: &str, position: usize, call: Value) -> Result<(), Unfit> {
    let Value::Object(mut call) = call else { return Ok(()) };
    let mut function = match take(&mut call, "function") {
        Some(Value::Object(function)) => function,
        _ => Map::new(),
    };
    let text = |map: &mut Map<String, Value>, name: &str| take(map, name).and_then(|value| as_text(&value));
    let name = text(&mut function, "name").or_else(|| text(&mut call, "name")).unwrap_or_default();
    let id = text(&mut call, "id").or_else(|| text(&mut call, "callId")).unwrap_or_default();
    let arguments = ["arguments", "args", "input"]
        .iter()
        .find_map(|name| take(&mut function, name).or_else(|| take(&mut call, name)));
    let arguments = match arguments {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let blob = if arguments.is_empty() {
        String::new()
    } else {
        import.blob(arguments.as_bytes(), "application/json")?
    };
    let preview: String = arguments.chars().take(PREVIEW_CHARS).collect();
    import.target.execute(
        "INSERT INTO message_tool_calls (message_id, position, call_id, name, args_blob, args_preview)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (message, position as i64, id, name, blob, preview),
    )?;
    Ok(())
}

/// What a message says, and the files inside it.
struct Content {
    text: String,
    files: Vec<File>,
}

/// Bytes that were written into a message as a data URL.
struct File {
    name: String,
    mime: String,
    bytes: Vec<u8>,
}

impl Content {
    fn read(value: Option<Value>) -> Self {
        let mut content = Self { text: String::new(), files: Vec::new() };
        match value {
            Some(Value::Array(parts)) => {
                for part in parts {
                    content.part(part);
                }
            }
            Some(value @ Value::Object(_)) => content.part(value),
            Some(value) => content.text = as_text(&value).unwrap_or_default(),
            None => {}
        }
        content
    }

    fn part(&mut self, part: Value) {
        let text = match &part {
            Value::String(text) => Some(text.clone()),
            Value::Object(map) => map.get("text").and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        if let Some(text) = text {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(&text);
            return;
        }
        match File::read(part.clone()) {
            Some(file) => self.files.push(file),
            // An address or a part of another kind: kept as it is, so that nothing disappears.
            None if !part.is_null() => {
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(&part.to_string());
            }
            None => {}
        }
    }
}

impl File {
    fn read(value: Value) -> Option<Self> {
        let Value::Object(mut map) = value else { return None };
        let name =
            take(&mut map, "name").or_else(|| take(&mut map, "fileName")).and_then(|name| as_text(&name));
        let address =
            ["dataUrl", "url", "imageUrl", "data", "source"].iter().find_map(|field| {
                match take(&mut map, field)? {
                    Value::String(text) => Some(text),
                    Value::Object(mut inner) => as_text(&take(&mut inner, "url")?),
                    _ => None,
                }
            })?;
        let (head, body) = address.strip_prefix("data:")?.split_once(',')?;
        let mime = head.split(';').next().unwrap_or_default().to_owned();
        let bytes = if head.split(';').any(|part| part.eq_ignore_ascii_case("base64")) {
            STANDARD.decode(body.trim()).ok()?
        } else {
            percent_decoded(body)
        };
        let mime = if mime.is_empty() { "text/plain".to_owned() } else { mime };
        Some(Self { name: name.unwrap_or_default(), mime, bytes })
    }
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped =
            (bytes[at] == b'%').then(|| u8::from_str_radix(text.get(at + 1..at + 3)?, 16).ok()).flatten();
        match escaped {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}
