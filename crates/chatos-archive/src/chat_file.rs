//! A chat in a file, the form programs read (`chatos-chat/1`), brought into this state as a chat that is only read.
//!
//! Whoever made the file may have written anything into it: it gives texts, and nothing else. Ids are made anew, so it
//! takes no other message's place; who answered, where it worked and what it used are not believed; secrets are taken
//! out before anything is kept (security T15).

use chatos_store::{MessageRow, NewMessage, SessionRow, Store, StoreError, ToolCallRow, now_ms, parse_time};
use chatos_tool::{ErrorCode, Fault, Redactor, Text};
use chatos_wire::{MessageKind, MessageRole};
use serde::Deserialize;

/// The largest file that is taken.
const FILE_BYTES: usize = 50 * 1024 * 1024;
/// Messages of one chat.
const MESSAGES: usize = 50_000;
/// Calls of one answer, and the longest text of one message.
const CALLS: usize = 200;
const TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Longest title, and longest name of a tool, a server or a file.
const TITLE_CHARS: usize = 200;

/// A chat read from a file.
#[derive(Debug)]
pub struct ChatOfFile {
    /// Its title; may be empty.
    pub title: String,
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
struct Document {
    #[serde(default)]
    session: Session,
    messages: Vec<Message>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Session {
    title: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    role: MessageRole,
    #[serde(default)]
    kind: MessageKind,
    #[serde(default)]
    content: String,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    attachments: Vec<File>,
    #[serde(default)]
    tool_calls: Vec<Call>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    tool_is_error: Option<bool>,
    #[serde(default)]
    created_at: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Call {
    call_id: String,
    name: String,
    server: String,
    tool: String,
    args: String,
}

fn refused(en: impl Into<String>, zh: impl Into<String>) -> Fault {
    Fault::new(ErrorCode::InvalidArgument, Text::new(en.into(), zh.into())).code("chat_file_invalid").hint(
        Text::fixed(
            "export the chat again with `chatos chats export --format json`, or on its page as JSON",
            "请用 `chatos chats export --format json` 或在对话页面重新导出为 JSON",
        ),
    )
}

impl ChatOfFile {
    /// Reads a file; every secret this state knows or recognises is taken out.
    pub fn read(text: &str, redactor: &Redactor) -> Result<Self, Fault> {
        if text.len() > FILE_BYTES {
            return Err(refused("the file is larger than 50 MiB", "文件超过 50 MiB"));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
            refused(format!("the file is not JSON: {error}"), format!("文件不是有效的 JSON：{error}"))
        })?;
        match value.get("format").and_then(serde_json::Value::as_str) {
            Some("chatos-chat/1") => {}
            Some(other) if other.starts_with("chatos-chat/") => {
                return Err(refused(
                    format!(
                        "the file is `{}`, made by a newer ChatOS; this one reads `chatos-chat/1`",
                        short(other)
                    ),
                    format!(
                        "文件格式为 `{}`，由更新版本的 ChatOS 导出；此版本只能读取 `chatos-chat/1`",
                        short(other)
                    ),
                ));
            }
            _ => {
                return Err(refused(
                    "the file is not an exported chat: its `format` is not `chatos-chat/1`",
                    "文件不是导出的对话：`format` 不是 `chatos-chat/1`",
                ));
            }
        }
        let value = redactor.value(&value, usize::MAX / 2);
        let document: Document = serde_json::from_value(value).map_err(|error| {
            refused(
                format!("the chat in the file is damaged: {error}"),
                format!("文件中的对话已损坏：{error}"),
            )
        })?;
        check(&document.messages)?;
        let title: String =
            document.session.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { title: title.chars().take(TITLE_CHARS).collect(), messages: document.messages })
    }

    /// How many messages it has.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Makes the chat: all of it or nothing. `session` is who would answer here; it is marked as imported.
    pub fn put(self, store: &Store, session: SessionRow) -> Result<SessionRow, StoreError> {
        let now = now_ms();
        let mut rows = Vec::with_capacity(self.messages.len());
        for message in self.messages {
            rows.push(row(store, &session.id, message, now)?);
        }
        let session = SessionRow { title: self.title, imported_at: Some(now), ..session };
        store.create_session_with(session, rows)
    }
}

fn check(messages: &[Message]) -> Result<(), Fault> {
    if messages.is_empty() {
        return Err(refused("the chat in the file has no messages", "文件中的对话没有消息"));
    }
    if messages.len() > MESSAGES {
        return Err(refused(
            format!("the chat in the file has more than {MESSAGES} messages"),
            format!("文件中的对话超过 {MESSAGES} 条消息"),
        ));
    }
    for (index, message) in messages.iter().enumerate() {
        let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > TEXT_BYTES);
        let calls = &message.tool_calls;
        if message.content.len() > TEXT_BYTES
            || long(&message.reasoning)
            || calls.iter().any(|call| call.args.len() > TEXT_BYTES)
            || calls.len() > CALLS
            || message.attachments.len() > CALLS
        {
            let number = index + 1;
            return Err(refused(
                format!("message {number} of the file is larger than any message can be"),
                format!("文件中第 {number} 条消息过大"),
            ));
        }
    }
    Ok(())
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(TITLE_CHARS).collect()
}

fn row(store: &Store, session: &str, message: Message, now: i64) -> Result<NewMessage, StoreError> {
    let words = |text: Option<String>| short(text.as_deref().unwrap_or_default());
    let mut content = message.content;
    // Their bytes are not in the file.
    for file in &message.attachments {
        content.push_str(&format!("\n\n[{}]", short(&file.name)));
    }
    let mut calls = Vec::with_capacity(message.tool_calls.len());
    for call in message.tool_calls {
        let kept = store.keep(&call.args)?;
        let args_preview = call.args.chars().take(6_000).collect();
        let row = ToolCallRow {
            call_id: short(&call.call_id),
            name: short(&call.name),
            server: short(&call.server),
            tool: short(&call.tool),
            args_preview,
            ..ToolCallRow::default()
        };
        calls.push((row, kept));
    }
    let tool = message.role == MessageRole::Tool;
    let row = MessageRow {
        id: uuid::Uuid::now_v7().to_string(),
        session_id: session.to_owned(),
        role: message.role,
        kind: message.kind,
        content: content.trim_start_matches('\n').to_owned(),
        reasoning: message.reasoning.unwrap_or_default(),
        tool_call_id: words(message.tool_call_id),
        tool_name: words(message.tool_name),
        server: words(message.server),
        tool: words(message.tool),
        tool_status: words(message.status),
        is_error: tool && message.tool_is_error.unwrap_or_default(),
        created_at: message.created_at.as_deref().and_then(parse_time).unwrap_or(now),
        ..MessageRow::default()
    };
    Ok(NewMessage { row, calls, ..NewMessage::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: &Value) -> Result<ChatOfFile, Fault> {
        ChatOfFile::read(&value.to_string(), &Redactor::new())
    }

    fn said(content: &str) -> Value {
        json!({ "role": "user", "content": content })
    }

    #[test]
    fn what_is_no_chat_is_refused_in_words() {
        let chat = |messages: Value| json!({ "format": "chatos-chat/1", "messages": messages });
        for (value, words) in [
            (json!({ "a": 1 }), "not an exported chat"),
            (json!([]), "not an exported chat"),
            (json!({ "format": "chatos-chat/2", "messages": [] }), "newer ChatOS"),
            (chat(json!([])), "no messages"),
            (chat(json!("x")), "damaged"),
            (chat(json!([{ "role": "king" }])), "damaged"),
            (chat(json!([{ "content": "x" }])), "damaged"),
            (chat(json!([said(&"x".repeat(TEXT_BYTES + 1))])), "message 1"),
        ] {
            let fault = read(&value).unwrap_err();
            assert!(fault.message.en.contains(words), "{words}: {}", fault.message.en);
            assert_eq!(fault.code, "chat_file_invalid");
        }
        let fault = ChatOfFile::read("{\"format\": \"chatos-chat/1\", \"mess", &Redactor::new()).unwrap_err();
        assert!(fault.message.en.contains("not JSON"));
        let deep = "[".repeat(100_000);
        assert!(ChatOfFile::read(&deep, &Redactor::new()).is_err());
        let huge = " ".repeat(FILE_BYTES + 1);
        assert!(ChatOfFile::read(&huge, &Redactor::new()).unwrap_err().message.en.contains("50 MiB"));
    }

    #[test]
    fn secrets_are_out_and_ids_parents_and_versions_of_the_file_mean_nothing() {
        let redactor = Redactor::new();
        redactor.learn("canary-secret-77");
        let text = json!({
            "format": "chatos-chat/1",
            "session": { "title": "a\u{1b}[31m\nb", "id": "taken", "agentId": "x" },
            "messages": [
                { "role": "user", "content": "canary-secret-77", "id": "m", "parentId": "m", "versions": ["m", "m"] },
                { "role": "assistant", "content": "<script>alert(1)</script>", "id": "m", "parentId": "n" },
            ],
        });
        let chat = ChatOfFile::read(&text.to_string(), &redactor).unwrap();
        assert_eq!((chat.title.as_str(), chat.len()), ("a [31m b", 2));
        assert!(!format!("{chat:?}").contains("canary"));
    }
}
