//! `chatos chats`: the chats of a state, to be found, read, kept and cleared away.

use std::io::{IsTerminal, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::session::{ChatFile, MessageView, SearchResults, VersionDeleted};
use chatos_wire::{MessageRole, status::Done};
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Chats, ChatsExport, ChatsList, FileFormat, Global};
use crate::client::{Answer, Api, block_on};
use crate::markdown::Markdown;
use crate::names::{Names, used};
use crate::output::{Output, Paint, columns, pad, visible, width};
use crate::prompts::input;
use chatos_desk::encode;

/// Messages that are read at once.
const PAGE: usize = 500;
/// Columns a title may take in a list.
const TITLE: usize = 48;

pub fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Chats,
) -> Result<ExitCode, Fault> {
    let here = environment.current_dir().to_owned();
    let api = Api::connect(global, environment)?;
    block_on(async {
        let names = Names::new(&api, output.lang);
        match action {
            Chats::List(wanted) => list(&api, output, &wanted).await?,
            Chats::Show { chat, last } => {
                let id = names.chat(&chat).await?;
                show(&api, output, &id, last).await?;
            }
            Chats::Search { text, limit } => {
                let path = format!("/api/v1/sessions/search?q={}&limit={limit}", encode(&text));
                let found = api.get::<SearchResults>(&path, output.lang).await?;
                if output.json { output.json_line(&found.raw) } else { print_found(output, &found) }
            }
            Chats::Export(wanted) => {
                let id = names.chat(&wanted.chat).await?;
                export(&api, output, &id, &wanted, &here).await?;
            }
            Chats::Import { file } => import(&api, output, &here.join(&file)).await?,
            Chats::Rename { chat, title } => {
                let id = names.chat(&chat).await?;
                let done = change(&api, output, &id, &json!({ "title": title })).await?;
                let title = named(&done, output);
                output.say(&Text::new(format!("Renamed to “{title}”"), format!("已重命名为“{title}”")));
            }
            Chats::Archive { chat, undo } => {
                let id = names.chat(&chat).await?;
                let done = change(&api, output, &id, &json!({ "archived": !undo })).await?;
                let title = named(&done, output);
                output.say(&if undo {
                    Text::new(format!("“{title}” is back from the archive"), format!("已取消归档“{title}”"))
                } else {
                    Text::new(format!("Archived “{title}”"), format!("已归档“{title}”"))
                });
            }
            Chats::Remove { chat, message, yes } => {
                let id = names.chat(&chat).await?;
                return match message {
                    Some(message) => remove_version(&api, output, &id, &message, yes).await,
                    None => remove(&api, output, &id, yes).await,
                };
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(api: &Api, output: &Output, wanted: &ChatsList) -> Result<(), Fault> {
    let names = Names::new(api, output.lang);
    let agent = match &wanted.agent {
        Some(written) => Some(names.agent(written).await?),
        None => None,
    };
    let since = wanted.since.as_deref().map(moment).transpose()?;
    let mut chats = names.chats(wanted.archived).await?;
    chats.retain(|chat| {
        agent.as_deref().is_none_or(|agent| chat["agentId"] == agent)
            && since.as_deref().is_none_or(|since| used(chat) >= since)
    });
    chats.sort_by(|a, b| used(b).cmp(used(a)));
    chats.truncate(wanted.limit);
    if output.json {
        output.json_line(&json!({ "items": chats }));
        return Ok(());
    }
    if chats.is_empty() {
        output.say(&Text::fixed("No chats", "没有对话"));
    }
    print_list(output, &chats, None);
    Ok(())
}

/// One line per chat; the one that is open carries a mark.
pub(crate) fn print_list(output: &Output, chats: &[Value], open: Option<&str>) {
    let titles: Vec<String> = chats.iter().map(|chat| short(&named(chat, output))).collect();
    let widest = titles.iter().map(|title| width(title)).max().unwrap_or_default();
    for (chat, title) in chats.iter().zip(&titles) {
        let id = chat["id"].as_str().unwrap_or_default();
        let mut marks = String::new();
        for (there, mark) in [
            (chat["running"] == true, Text::fixed("running", "运行中")),
            (chat["run"]["state"] == "interrupted", Text::fixed("interrupted", "已中断")),
            (chat["pinned"] == true, Text::fixed("pinned", "已置顶")),
        ] {
            if there {
                marks.push_str(&format!("  {}", output.paint(Paint::Warn, mark.get(output.lang))));
            }
        }
        let mark = if open == Some(id) { "*" } else { " " };
        output.line(&format!(
            "{mark} {}  {}  {}{marks}",
            pad(title, widest),
            minute(used(chat)),
            output.paint(Paint::Dim, &visible(id))
        ));
    }
}

/// What a chat is called where there is no title yet.
pub(crate) fn named(chat: &Value, output: &Output) -> String {
    match chat["title"].as_str().unwrap_or_default() {
        "" => Text::fixed("New chat", "新对话").get(output.lang).to_owned(),
        title => visible(title),
    }
}

fn short(title: &str) -> String {
    if width(title) <= TITLE {
        return title.to_owned();
    }
    let mut cut = String::new();
    for c in title.chars() {
        if width(&cut) + 2 > TITLE {
            break;
        }
        cut.push(c);
    }
    cut + "…"
}

fn minute(iso: &str) -> String {
    iso.get(..16).unwrap_or(iso).replace('T', " ")
}

/// The time a person means, as the API writes times.
fn moment(written: &str) -> Result<String, Fault> {
    const DAY: i64 = 86_400_000;
    let days = written.strip_suffix('d').and_then(|days| days.parse::<i64>().ok());
    let ms = match days {
        Some(days) => days.checked_mul(DAY).and_then(|ago| chatos_store::now_ms().checked_sub(ago)),
        None => chatos_store::parse_time(written),
    };
    ms.map(chatos_store::iso_from_ms).ok_or_else(|| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("`{written}` is not a date"), format!("`{written}` 不是日期")),
        )
        .hint(Text::fixed(
            "use a date such as 2026-01-31, or days such as 7d",
            "请使用日期（如 2026-01-31）或天数（如 7d）",
        ))
    })
}

/// The messages of a chat, oldest first; only the last ones where a number is given.
pub(crate) async fn messages(
    api: &Api,
    output: &Output,
    id: &str,
    last: Option<usize>,
) -> Result<Vec<MessageView>, Fault> {
    let mut all: Vec<MessageView> = Vec::new();
    loop {
        let limit = last.map_or(PAGE, |last| last.saturating_sub(all.len()).clamp(1, PAGE));
        let mut path = format!("/api/v1/sessions/{}/messages?limit={limit}", encode(id));
        if let Some(first) = all.first() {
            path.push_str(&format!("&beforeId={}", encode(&first.id)));
        }
        let page = api.get::<chatos_wire::session::MessagePage>(&path, output.lang).await?.body;
        let more = page.has_more && !page.messages.is_empty();
        all.splice(..0, page.messages);
        if !more || last.is_some_and(|last| all.len() >= last) {
            return Ok(all);
        }
    }
}

async fn show(api: &Api, output: &Output, id: &str, last: Option<usize>) -> Result<(), Fault> {
    let chat = api.get_json(&format!("/api/v1/sessions/{}", encode(id)), output.lang).await?;
    let messages = messages(api, output, id, last).await?;
    if output.json {
        output.json_line(&json!({ "session": chat, "messages": messages }));
        return Ok(());
    }
    output.line(&output.paint(Paint::Bold, &named(&chat, output)));
    for message in &messages {
        print_message(output, message);
    }
    Ok(())
}

pub(crate) fn print_message(output: &Output, message: &MessageView) {
    match message.role {
        MessageRole::Tool => {
            let first = message.content.lines().next().unwrap_or_default();
            let status = message.status.as_deref().unwrap_or_default();
            output.line(&output.paint(Paint::Dim, &format!("← {status} {}", visible(first))));
            return;
        }
        MessageRole::User => {
            output.line("");
            for (number, line) in visible(&message.content).lines().enumerate() {
                let mark = if number == 0 { ">" } else { " " };
                output.line(&output.paint(Paint::Bold, &format!("{mark} {line}")));
            }
            for file in &message.attachments {
                output.line(&output.paint(Paint::Dim, &format!("  + {}", visible(&file.name))));
            }
        }
        MessageRole::Assistant if message.content.is_empty() => {}
        MessageRole::Assistant if output.paints() => {
            output.piece(&Markdown::whole(&message.content, columns()));
        }
        MessageRole::Assistant => output.line(&visible(&message.content)),
        MessageRole::System => output.line(&output.paint(Paint::Warn, &visible(&message.content))),
    }
    for call in &message.tool_calls {
        let line = format!("→ {} {} {}", call.server, call.tool, call.args);
        output.line(&output.paint(Paint::Dim, &visible(&line)));
    }
}

fn print_found(output: &Output, found: &SearchResults) {
    if found.items.is_empty() {
        output.say(&Text::fixed("No matching messages", "没有匹配的消息"));
    }
    for hit in &found.items {
        let title = match hit.session_title.as_str() {
            "" => Text::fixed("New chat", "新对话").get(output.lang).to_owned(),
            title => visible(title),
        };
        let head = format!("{title}  {}  {}", minute(&hit.created_at), hit.session_id);
        output.line(&output.paint(Paint::Dim, &head));
        output.line(&format!("  {}", visible(&hit.excerpt).replace('\n', " ")));
    }
}

/// The chat as a file, as the host makes it.
pub(crate) async fn file(
    api: &Api,
    output: &Output,
    id: &str,
    format: FileFormat,
    more: &str,
) -> Result<Answer<ChatFile>, Fault> {
    let path = format!("/api/v1/sessions/{}/export?format={}{more}", encode(id), format.as_str());
    api.get(&path, output.lang).await
}

async fn export(
    api: &Api,
    output: &Output,
    id: &str,
    wanted: &ChatsExport,
    here: &Path,
) -> Result<(), Fault> {
    let by_name = || wanted.output.as_deref().map_or(FileFormat::Md, FileFormat::of_file);
    let format = wanted.format.unwrap_or_else(by_name);
    let tools = match (wanted.no_tools, wanted.short_tools) {
        (true, _) => "none",
        (_, true) => "short",
        _ => "full",
    };
    let branch = if wanted.all_versions { "all" } else { "path" };
    let more = format!("&tools={tools}&branch={branch}&thinking={}", wanted.thinking);
    let made = file(api, output, id, format, &more).await?;
    match &wanted.output {
        Some(path) => {
            std::fs::write(here.join(path), &made.text).map_err(|error| unwritten(path, &error))?;
            if output.json {
                output.json_line(&json!({ "file": path, "mime": made.mime }));
            }
            told_written(output, path);
        }
        None if output.json => output.json_line(&made.raw),
        // A terminal obeys what a file may hold.
        None if std::io::stdout().is_terminal() => output.piece(&visible(&made.text)),
        None => output.piece(&made.text),
    }
    Ok(())
}

pub(crate) fn told_written(output: &Output, path: &Path) {
    let path = visible(&path.display().to_string());
    output.say(&Text::new(format!("Written to {path}"), format!("已写入 {path}")));
}

pub(crate) fn unwritten(path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("cannot write {}", path.display()), format!("无法写入 {}", path.display())),
    )
    .caused_by(error)
}

async fn change(api: &Api, output: &Output, id: &str, body: &Value) -> Result<Value, Fault> {
    let path = format!("/api/v1/sessions/{}", encode(id));
    let done = api.call(Method::PATCH, &path, Some(body), output.lang).await?;
    if output.json {
        output.json_line(&done);
    }
    Ok(done)
}

/// Makes a chat of a file that was exported, to be read.
async fn import(api: &Api, output: &Output, file: &Path) -> Result<(), Fault> {
    const MOST: u64 = 50 * 1024 * 1024;
    let unread = |error: &std::io::Error| {
        let file = file.display();
        Fault::new(ErrorCode::NotFound, Text::new(format!("cannot read {file}"), format!("无法读取 {file}")))
            .caused_by(error)
    };
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| unread(&error))?;
    // One byte more than is taken, so that the host says what is wrong.
    opened.take(MOST + 1).read_to_string(&mut text).map_err(|error| unread(&error))?;
    let body = json!({ "text": text });
    let made = api.call_patiently(Method::POST, "/api/v1/sessions/import", Some(&body), output.lang).await?;
    if output.json {
        output.json_line(&made);
        return Ok(());
    }
    let title = named(&made, output);
    output.say(&Text::new(
        format!("Imported “{title}” to be read; fork it to go on"),
        format!("已导入“{title}”，仅供阅读；创建副本后可继续对话"),
    ));
    output.line(&visible(made["id"].as_str().unwrap_or_default()));
    Ok(())
}

/// Whether a person agrees to a deletion; without a terminal only `--yes` does.
fn agreed(output: &Output, what: &str, question: &Text) -> Result<bool, Fault> {
    if output.json || !std::io::stdin().is_terminal() {
        return Err(Fault::new(
            ErrorCode::NeedsInput,
            Text::new(format!("deleting {what} needs your word"), format!("删除{what}需要你确认")),
        )
        .hint(Text::fixed("add --yes", "请加上 --yes")));
    }
    let said = input::line(question.get(output.lang)).map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot read from the terminal", "无法从终端读取"))
            .caused_by(&error)
    })?;
    let agreed = said.is_some_and(|said| matches!(said.trim(), "y" | "Y" | "yes" | "是"));
    if !agreed {
        output.say(&Text::fixed("Kept", "已保留"));
    }
    Ok(agreed)
}

async fn remove_version(
    api: &Api,
    output: &Output,
    id: &str,
    message: &str,
    yes: bool,
) -> Result<ExitCode, Fault> {
    let path = format!("/api/v1/sessions/{}/messages/{}", encode(id), encode(message));
    let dry = format!("{path}?dryRun=true");
    let size = api.ask::<VersionDeleted>(Method::DELETE, &dry, None, output.lang).await?.body.messages;
    let question = Text::new(
        format!(
            "This message and all that hangs on it ({size} messages) will be permanently deleted. Delete? [y/N] "
        ),
        format!("此消息及其后续内容（共 {size} 条消息）将被永久删除。是否删除？[y/N] "),
    );
    if !yes && !agreed(output, message, &question)? {
        return Ok(ExitCode::from(1));
    }
    let done = api.ask::<VersionDeleted>(Method::DELETE, &path, None, output.lang).await?;
    if output.json {
        output.json_line(&done.raw);
    }
    let size = done.body.messages;
    output.say(&Text::new(format!("Deleted {size} messages"), format!("已删除 {size} 条消息")));
    Ok(ExitCode::SUCCESS)
}

async fn remove(api: &Api, output: &Output, id: &str, yes: bool) -> Result<ExitCode, Fault> {
    let path = format!("/api/v1/sessions/{}", encode(id));
    let chat = api.get_json(&path, output.lang).await?;
    let title = named(&chat, output);
    let question = Text::new(
        format!("“{title}” will be permanently deleted. Delete it? [y/N] "),
        format!("“{title}”将被永久删除。是否删除？[y/N] "),
    );
    if !yes && !agreed(output, &format!("“{title}”"), &question)? {
        return Ok(ExitCode::from(1));
    }
    let done = api.ask::<Done>(Method::DELETE, &path, None, output.lang).await?;
    if output.json {
        output.json_line(&done.raw);
    }
    output.say(&Text::new(format!("Deleted “{title}”"), format!("已删除“{title}”")));
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that is not there yet.
pub(crate) fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}
