//! Earlier results of a chat, read by lines: what `read_result` answers (working-day §2).

use chatos_store::{AttachmentRow, Store, StoreError};
use chatos_tool::{Needed, Reason, Text, ToolError, Trace, validation};
use serde_json::{Map, Value, json};

/// Lines that are given where nobody says how many.
const LINES: u64 = 400;
const MOST: u64 = 2_000;
/// A longer line counts as several.
const LINE_CHARS: usize = 2_000;
/// Ids that are compared with one that does not exist.
const KNOWN: u32 = 500;

/// The text of a file beside a message; nothing where it has none or goes by its name alone.
pub fn text_of(store: &Store, file: &AttachmentRow) -> Option<String> {
    if !file.text_blob.is_empty() {
        return store.kept(&file.text_blob);
    }
    let bytes = store.blob(&file.blob).filter(|_| file.note != chatos_documents::NAME_ONLY);
    bytes.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Reads; only what belongs to the caller's own chat. Blocks.
pub(super) fn read(
    store: &Store,
    trace: &Trace,
    arguments: &Map<String, Value>,
) -> Result<(String, Value), ToolError> {
    let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default().trim();
    // A subagent's messages are kept under its run.
    let chats: Vec<&str> =
        [&trace.run_id, &trace.session_id].into_iter().flatten().map(String::as_str).collect();
    for chat in &chats {
        if let Some(text) = whole(store, chat, id)? {
            return Ok(page(id, &text, arguments));
        }
    }
    let mut known = Vec::new();
    for chat in &chats {
        known.extend(store.newest_calls(chat, KNOWN).map_err(unreadable)?);
    }
    let nearest: Vec<String> =
        validation::nearest(id, known.iter().map(String::as_str)).map(str::to_owned).into_iter().collect();
    let near = nearest.first().cloned().or_else(|| known.first().cloned());
    let mut error = ToolError::new(
        Reason::NotFound { what: "result".to_owned(), id: Some(id.to_owned()), path: None, nearest },
        Text::new(format!("this chat has no result `{id}`"), format!("此会话没有结果 `{id}`")),
    );
    if let Some(near) = near {
        error = error.hint(Text::new(
            format!("ids stand in the markers of cut results, such as `{near}`"),
            format!("标识符写在被截断结果的标记中，例如 `{near}`"),
        ));
    }
    Err(error)
}

/// The whole text with this id: a call's result, a file beside a message, or a message.
fn whole(store: &Store, chat: &str, id: &str) -> Result<Option<String>, ToolError> {
    if let Some(text) = store.result_of_call(chat, id).map_err(unreadable)? {
        return Ok(Some(text));
    }
    if let Some(file) = store.attachment(chat, id).map_err(unreadable)? {
        return match text_of(store, &file) {
            Some(text) => Ok(Some(text)),
            None => Err(ToolError::new(
                Reason::NotSupported { what: file.mime.clone() },
                Text::new(
                    format!("`{}` is not text ({}, {} bytes)", file.name, file.mime, file.size),
                    format!("`{}` 不是文本（{}，{} 字节）", file.name, file.mime, file.size),
                ),
            )),
        };
    }
    // A message that was too long was cut with its files.
    let message = store.message(id).map_err(unreadable)?.filter(|message| message.session_id == chat);
    Ok(message.map(|message| {
        let files = message.attachments.iter().filter(|file| file.kind != "image").map(|file| {
            let text = text_of(store, file);
            chatos_documents::in_message(&file.name, &file.origin, &file.mime, file.size, text.as_deref())
        });
        files.fold(message.content, |text, file| text + &file)
    }))
}

/// The lines that were asked for.
fn page(id: &str, text: &str, arguments: &Map<String, Value>) -> (String, Value) {
    let number = |name: &str, usual: u64| arguments.get(name).and_then(Value::as_u64).unwrap_or(usual);
    let start = number("start_line", 1).max(1);
    let most = number("lines", LINES).clamp(1, MOST);
    let pattern = arguments.get("pattern").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let lines = folded(text);
    let total = lines.len() as u64;
    let wanted = lines.iter().zip(1_u64..).skip(usize::try_from(start - 1).unwrap_or(usize::MAX));
    let mut matching =
        wanted.filter(|(line, _)| pattern.is_empty() || line.to_lowercase().contains(&pattern));
    let mut shown: Vec<String> = Vec::new();
    let mut last = start.saturating_sub(1);
    for (line, number) in matching.by_ref().take(usize::try_from(most).unwrap_or(usize::MAX)) {
        shown.push(if pattern.is_empty() { line.clone() } else { format!("{number}: {line}") });
        last = number;
    }
    let next = matching.next().map(|(_, number)| number);
    let more = next.map(|next| format!("; go on with start_line={next}")).unwrap_or_default();
    let head = format!("[{id}: lines {start} to {last} of {total}{more}]");
    let data = json!({ "id": id, "startLine": start, "endLine": last, "totalLines": total, "next": next });
    (format!("{head}\n{}", shown.join("\n")), data)
}

/// The lines, each cut to a bearable length.
fn folded(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((at, _)) = rest.char_indices().nth(LINE_CHARS) {
            lines.push(rest[..at].to_owned());
            rest = &rest[at..];
        }
        lines.push(rest.to_owned());
    }
    lines
}

fn unreadable(error: StoreError) -> ToolError {
    let fault = chatos_tool::Fault::from(error);
    ToolError::unavailable(Needed::Host, fault.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str, arguments: &Value) -> String {
        page("c1", text, arguments.as_object().unwrap_or(&Map::new())).0
    }

    #[test]
    fn a_page_says_where_it_is_and_how_to_go_on() {
        let text = (1..=10).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let page = asked(&text, &json!({ "start_line": 3, "lines": 2 }));
        assert_eq!(page, "[c1: lines 3 to 4 of 10; go on with start_line=5]\nline 3\nline 4");
        assert_eq!(
            asked(&text, &json!({ "pattern": "LINE 1" })),
            "[c1: lines 1 to 10 of 10]\n1: line 1\n10: line 10"
        );
        assert_eq!(asked(&text, &json!({ "start_line": 99 })), "[c1: lines 99 to 98 of 10]\n");
    }

    #[test]
    fn one_endless_line_can_be_read_to_its_end() {
        let text = format!("{}end", "界".repeat(4_500));
        let page = asked(&text, &json!({ "start_line": 3, "lines": 1 }));
        assert!(page.starts_with("[c1: lines 3 to 3 of 3]") && page.ends_with("end"), "{page}");
    }
}
