//! A chat as a file: Markdown for people, JSON for programs (working-day §9). What is in it is what the chat shows, in
//! the versions that are chosen; secrets are not (security T15).

use chatos_tool::{Fault, Lang, Redactor, Text};
use chatos_wire::MessageRole;
use chatos_wire::session::{ChatFile, ChatFileQuery, ChatFormat, MessageView, SessionView};
use serde_json::{Value, json};

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::{Path, Query};

/// Messages that are read at once.
const PAGE: u32 = 500;
/// Characters of a title that become the name of the file.
const NAME_CHARS: usize = 80;

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
    let tools = wanted.tools.unwrap_or(true);
    let messages = pages.into_iter().rev().flatten().filter(|message| is_shown(message, tools));
    let messages: Vec<MessageView> = messages.collect();
    Ok(made(&session, messages, &wanted, app.host().redactor(), cx.lang)?)
}

fn made(
    session: &SessionView,
    messages: Vec<MessageView>,
    wanted: &ChatFileQuery,
    redactor: &Redactor,
    lang: Lang,
) -> Result<ChatFile, Fault> {
    let title = redactor.message(session.title.trim()).into_owned();
    let name = file_name(&title);
    Ok(match wanted.format {
        ChatFormat::Md => ChatFile {
            name: format!("{name}.md"),
            mime: "text/markdown".to_owned(),
            text: markdown(&title, &messages, wanted, redactor, lang),
        },
        ChatFormat::Json => {
            let document = redactor.value(&document(session, messages, wanted), usize::MAX / 2);
            let text = serde_json::to_string_pretty(&document).map_err(|error| {
                Fault::new(chatos_tool::ErrorCode::Internal, Text::same(error.to_string()))
            })?;
            ChatFile { name: format!("{name}.json"), mime: "application/json".to_owned(), text: text + "\n" }
        }
    })
}

fn is_shown(message: &MessageView, tools: bool) -> bool {
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
fn document(session: &SessionView, messages: Vec<MessageView>, wanted: &ChatFileQuery) -> Value {
    let kept = messages.into_iter().map(|mut message| {
        if wanted.tools == Some(false) {
            message.tool_calls.clear();
        }
        if !wanted.thinking {
            message.reasoning = None;
        }
        message
    });
    let kept: Vec<MessageView> = kept.collect();
    json!({
        "format": "chatos-chat/1",
        "session": {
            "id": session.id, "title": session.title, "createdAt": session.created_at,
            "updatedAt": session.updated_at, "agentId": session.agent_id, "modelId": session.model_id,
            "usage": session.usage,
        },
        "messages": kept,
    })
}

fn markdown(
    title: &str,
    messages: &[MessageView],
    wanted: &ChatFileQuery,
    redactor: &Redactor,
    lang: Lang,
) -> String {
    let word = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(lang).to_owned();
    let tools = wanted.tools.unwrap_or(true);
    let title = if title.is_empty() { word("New chat", "新对话") } else { title.to_owned() };
    let mut out = vec![format!("# {}", title.split_whitespace().collect::<Vec<_>>().join(" "))];
    let mut before = None;
    for message in messages {
        if message.role == MessageRole::Tool {
            let tool = message.tool.as_ref().or(message.tool_name.as_ref()).map_or("", String::as_str);
            out.push(format!("**{}: {tool}**", word("Result", "结果")));
            out.push(fenced(&redactor.text(&message.content), ""));
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
        for call in message.tool_calls.iter().filter(|_| tools) {
            let tool = if call.tool.is_empty() { &call.name } else { &call.tool };
            out.push(format!("**{} · {tool}**", call.server));
            out.push(fenced(&redactor.text(&call.args), "json"));
        }
    }
    out.join("\n\n") + "\n"
}

/// A time to the minute, as in `2026-01-11 09:30 UTC`.
fn moment(iso: &str) -> String {
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
        let tools = query.tools.unwrap_or(true);
        let messages = messages.into_iter().filter(|message| is_shown(message, tools)).collect();
        made(&session(), messages, query, &redactor, lang).unwrap()
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
        let query = ChatFileQuery { tools: Some(false), thinking: true, ..ChatFileQuery::default() };
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
}
