//! A chat as a file: Markdown or one page for people, JSON for programs (working-day §9). What is in it is what the chat shows, in
//! the versions that are chosen; secrets are not (security T15).

use std::collections::HashMap;

use chatos_tool::{ErrorCode, Fault, Lang, Redactor, Text};
use chatos_wire::MessageRole;
use chatos_wire::session::{
    ChatFile, ChatFileBranch, ChatFileQuery, ChatFileTools, ChatFormat, MessageView, SessionView,
    ToolCallView,
};
use serde_json::{Value, json};

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::{Path, Query};
use crate::route::chat_page;

/// Messages that are read at once.
const PAGE: u32 = 500;
/// Characters of a title that become the name of the file.
const NAME_CHARS: usize = 80;
/// Characters of a call or a result where they are wanted short.
const SHORT_CHARS: usize = 160;

pub(super) async fn export(
    app: App,
    cx: Caller,
    (Path(id), Query(wanted)): (Path<String>, Query<ChatFileQuery>),
) -> Result<ChatFile, ApiError> {
    let runs = app.host().runs();
    let session = runs.session(&id).await?;
    let mut pages: Vec<Vec<MessageView>> = Vec::new();
    let mut before = None;
    loop {
        let page = runs.messages(&id, PAGE, before).await?;
        before = page.messages.first().map(|message| message.id.clone());
        pages.push(page.messages);
        if !page.has_more || before.is_none() {
            break;
        }
    }
    let messages = pages.into_iter().rev().flatten().filter(|message| is_shown(message, wanted.tools));
    let messages: Vec<MessageView> = messages.collect();
    let mut chat = Chat { session, messages, left: Vec::new(), pictures: HashMap::new() };
    match (wanted.branch, wanted.format) {
        (ChatFileBranch::Path, _) => {}
        (ChatFileBranch::All, ChatFormat::Json) => chat.left = runs.left_messages(&id).await?,
        (ChatFileBranch::All, _) => {
            return Err(ApiError::Fault(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed(
                    "/branch: other versions are in JSON alone (`format=json`)",
                    "/branch：其他版本仅在 JSON 中（`format=json`）",
                ),
            )));
        }
    }
    if wanted.format == ChatFormat::Html {
        let files = chat.messages.iter().flat_map(|message| &message.attachments);
        for file in files.filter(|file| file.mime.starts_with("image/")) {
            // One that is gone is named.
            if let Ok((_, mime, bytes)) = runs.attachment(&id, &file.id).await {
                let data = format!("data:{mime};base64,{}", chatos_host::encode_base64(&bytes));
                chat.pictures.insert(file.id.clone(), data);
            }
        }
    }
    Ok(made(chat, &wanted, app.host().redactor(), cx.lang)?)
}

/// What goes into a file.
pub(super) struct Chat {
    pub(super) session: SessionView,
    pub(super) messages: Vec<MessageView>,
    /// Other versions of messages and what followed them.
    left: Vec<MessageView>,
    /// Pictures as `data:` addresses, by the ids of their files.
    pub(super) pictures: HashMap<String, String>,
}

fn made(chat: Chat, wanted: &ChatFileQuery, redactor: &Redactor, lang: Lang) -> Result<ChatFile, Fault> {
    let title = redactor.message(chat.session.title.trim()).into_owned();
    let name = file_name(&title);
    Ok(match wanted.format {
        ChatFormat::Md => ChatFile {
            name: format!("{name}.md"),
            mime: "text/markdown".to_owned(),
            text: markdown(&title, &chat.messages, wanted, redactor, lang),
        },
        ChatFormat::Html => ChatFile {
            name: format!("{name}.html"),
            mime: "text/html".to_owned(),
            text: chat_page::page(&title, &chat, wanted, redactor, lang),
        },
        ChatFormat::Json => {
            let document = redactor.value(&document(chat, wanted), usize::MAX / 2);
            let text = serde_json::to_string_pretty(&document)
                .map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
            ChatFile { name: format!("{name}.json"), mime: "application/json".to_owned(), text: text + "\n" }
        }
    })
}

fn is_shown(message: &MessageView, tools: ChatFileTools) -> bool {
    let tools = tools != ChatFileTools::None;
    match message.role {
        MessageRole::Tool => tools,
        _ => {
            !message.content.is_empty()
                || !message.attachments.is_empty()
                || (tools && !message.tool_calls.is_empty())
        }
    }
}

/// The form programs read, `chatos-chat/1`.
fn document(chat: Chat, wanted: &ChatFileQuery) -> Value {
    let Chat { session, messages, left, .. } = chat;
    let kept = |mut message: MessageView| {
        match wanted.tools {
            ChatFileTools::None => message.tool_calls.clear(),
            ChatFileTools::Short => {
                message.tool_calls.iter_mut().for_each(|call| call.args = line(&call.args));
                if message.role == MessageRole::Tool {
                    message.content = line(&message.content);
                }
            }
            ChatFileTools::Full => {}
        }
        if !wanted.thinking {
            message.reasoning = None;
        }
        message
    };
    let messages: Vec<MessageView> = messages.into_iter().map(kept).collect();
    let mut document = json!({
        "format": "chatos-chat/1",
        "session": {
            "id": session.id, "title": session.title, "createdAt": session.created_at,
            "updatedAt": session.updated_at, "agentId": session.agent_id, "modelId": session.model_id,
            "usage": session.usage,
        },
        "messages": messages,
    });
    if wanted.branch == ChatFileBranch::All {
        let left = left.into_iter().filter(|message| is_shown(message, wanted.tools));
        document["otherVersions"] = json!(left.map(kept).collect::<Vec<MessageView>>());
    }
    document
}

/// The beginning of a text, on one line.
pub(super) fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(SHORT_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// What a call of a tool is shown as.
pub(super) fn called(call: &ToolCallView) -> String {
    let tool = if call.tool.is_empty() { &call.name } else { &call.tool };
    format!("{} · {tool}", call.server)
}

/// The tool whose result a message is.
pub(super) fn tool_of(message: &MessageView) -> &str {
    message.tool.as_ref().or(message.tool_name.as_ref()).map_or("", String::as_str)
}

fn markdown(
    title: &str,
    messages: &[MessageView],
    wanted: &ChatFileQuery,
    redactor: &Redactor,
    lang: Lang,
) -> String {
    let word = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(lang).to_owned();
    let short = wanted.tools == ChatFileTools::Short;
    let title = if title.is_empty() { word("New chat", "新对话") } else { title.to_owned() };
    let mut out = vec![format!("# {}", title.split_whitespace().collect::<Vec<_>>().join(" "))];
    let mut before = None;
    for message in messages {
        if message.role == MessageRole::Tool {
            let result = format!("**{}: {}**", word("Result", "结果"), tool_of(message));
            if short {
                out.push(format!("{result} {}", code(&line(&redactor.text(&message.content)))));
            } else {
                out.push(result);
                out.push(fenced(&redactor.text(&message.content), ""));
            }
            continue;
        }
        // One heading for all an assistant says in a turn.
        if message.role != MessageRole::Assistant || before != Some(MessageRole::Assistant) {
            let who = match message.role {
                MessageRole::User => word("You", "你"),
                MessageRole::Assistant => word("Assistant", "助手"),
                _ => word("Note", "说明"),
            };
            out.push(format!("## {who} · {}", moment(&message.created_at)));
        }
        before = Some(message.role);
        for file in &message.attachments {
            out.push(format!("*{}: {}*", word("File", "文件"), redactor.message(&file.name)));
        }
        if let Some(thought) = message.reasoning.as_deref().filter(|text| wanted.thinking && !text.is_empty())
        {
            let quoted: Vec<String> =
                redactor.message(thought.trim()).lines().map(|line| format!("> {line}")).collect();
            out.push(quoted.join("\n"));
        }
        if !message.content.is_empty() {
            out.push(redactor.message(message.content.trim()).into_owned());
        }
        for call in message.tool_calls.iter().filter(|_| wanted.tools != ChatFileTools::None) {
            let args = redactor.text(&call.args);
            if short {
                out.push(format!("**{}** {}", called(call), code(&line(&args))));
            } else {
                out.push(format!("**{}**", called(call)));
                out.push(fenced(&args, "json"));
            }
        }
    }
    out.join("\n\n") + "\n"
}

/// A text of one line as code.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let mark = "`".repeat(longest + 1);
    if text.is_empty() { String::new() } else { format!("{mark} {text} {mark}") }
}

/// A time to the minute, as in `2026-01-11 09:30 UTC`.
pub(super) fn moment(iso: &str) -> String {
    format!("{} UTC", iso.get(..16).unwrap_or(iso).replace('T', " "))
}

/// A fence longer than any in the text it holds.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.strip_suffix('\n').unwrap_or(text))
}

/// A name every system takes.
fn file_name(title: &str) -> String {
    let harmless = |c: char| if c.is_control() || r#"\/:*?"<>|"#.contains(c) { ' ' } else { c };
    let plain: String = title.chars().map(harmless).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = plain.trim_matches('.').chars().take(NAME_CHARS).collect();
    match short.trim() {
        "" => "chat".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, content: &str, more: &Value) -> MessageView {
        let mut whole = json!({
            "id": "m", "sessionId": "s", "seq": 1, "role": role, "kind": "normal", "content": content,
            "partial": false, "createdAt": "2026-01-11T09:30:00.007Z",
        });
        for (key, value) in more.as_object().unwrap() {
            whole[key] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    fn session() -> SessionView {
        let whole = json!({
            "id": "s", "title": "A/B:\n test", "agentId": "a", "workspaceRoot": "", "pinned": false,
            "createdAt": "2026-01-11T09:30:00.007Z", "updatedAt": "2026-01-11T09:30:00.007Z", "running": false,
        });
        serde_json::from_value(whole).unwrap()
    }

    fn file(query: &ChatFileQuery, lang: Lang) -> ChatFile {
        let redactor = Redactor::new();
        redactor.learn("canary-secret-77");
        let call = json!({ "callId": "c", "name": "n", "server": "files", "tool": "read", "args": "{\"k\":\"canary-secret-77\"}" });
        let messages = vec![
            message("user", "my key is canary-secret-77", &json!({})),
            message("assistant", "Let me check.", &json!({ "toolCalls": [call], "reasoning": "hm\nwell" })),
            message("tool", "```\nx\n```", &json!({ "tool": "read" })),
            message("assistant", "Done.", &json!({})),
        ];
        let messages = messages.into_iter().filter(|message| is_shown(message, query.tools)).collect();
        let left = vec![message("user", "said before: canary-secret-77", &json!({}))];
        let chat = Chat { session: session(), messages, left, pictures: HashMap::new() };
        made(chat, query, &redactor, lang).unwrap()
    }

    #[test]
    fn markdown_has_a_heading_per_turn_and_no_secret() {
        let made = file(&ChatFileQuery::default(), Lang::En);
        assert_eq!(made.name, "A B test.md");
        let expected = "# A/B: test\n\n## You · 2026-01-11 09:30 UTC\n\nmy key is [redacted:known]\n\n\
            ## Assistant · 2026-01-11 09:30 UTC\n\nLet me check.\n\n**files · read**\n\n\
            ```json\n{\"k\":\"[redacted:known]\"}\n```\n\n**Result: read**\n\n````\n```\nx\n```\n````\n\nDone.\n";
        assert_eq!(made.text, expected);
    }

    #[test]
    fn without_tools_with_thoughts_in_chinese() {
        let query = ChatFileQuery { tools: ChatFileTools::None, thinking: true, ..ChatFileQuery::default() };
        let made = file(&query, Lang::Zh);
        assert!(
            made.text.contains("## 助手 · 2026-01-11 09:30 UTC\n\n> hm\n> well\n\nLet me check.\n\nDone.")
        );
        assert!(!made.text.contains("files"));
    }

    #[test]
    fn json_is_the_documented_form_without_secrets() {
        let made = file(&ChatFileQuery { format: ChatFormat::Json, ..ChatFileQuery::default() }, Lang::En);
        let value: Value = serde_json::from_str(&made.text).unwrap();
        assert_eq!(
            (&value["format"], value["messages"].as_array().unwrap().len()),
            (&json!("chatos-chat/1"), 4)
        );
        assert!(!made.text.contains("canary") && !made.text.contains("well"), "{}", made.text);
    }

    #[test]
    fn tools_may_be_a_line_each_and_other_versions_are_in_json() {
        let short = ChatFileQuery { tools: ChatFileTools::Short, ..ChatFileQuery::default() };
        let made = file(&short, Lang::En);
        assert!(made.text.contains("**files · read** ` {\"k\":\"[redacted:known]\"} `"), "{}", made.text);
        assert!(made.text.contains("**Result: read** ```` ``` x ``` ````"), "{}", made.text);
        let all = ChatFileQuery { format: ChatFormat::Json, branch: ChatFileBranch::All, ..short };
        let made = file(&all, Lang::En);
        let value: Value = serde_json::from_str(&made.text).unwrap();
        assert_eq!(value["otherVersions"][0]["content"], "said before: [redacted:known]");
    }

    #[test]
    fn a_page_shows_the_chat_and_loads_nothing() {
        let html = ChatFileQuery { format: ChatFormat::Html, ..ChatFileQuery::default() };
        let made = file(&html, Lang::Zh);
        assert_eq!((made.name.as_str(), made.mime.as_str()), ("A B test.html", "text/html"));
        for words in [
            "<title>A/B: test</title>",
            "my key is [redacted:known]",
            "Let me check.",
            "files · read",
            "结果：read",
        ] {
            assert!(made.text.contains(words), "{words}: {}", made.text);
        }
        assert!(made.text.contains("default-src 'none'") && !made.text.contains("canary"), "{}", made.text);
    }
}
