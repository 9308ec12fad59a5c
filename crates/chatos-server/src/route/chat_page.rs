//! A chat as one page to show and print: without script, with nothing to load, its pictures inside (working-day §9).
//! What models and tools wrote is text here: HTML in it is shown, not obeyed, and only links that a person may follow
//! are links.

use chatos_tool::{Lang, Redactor, Text};
use chatos_wire::MessageRole;
use chatos_wire::session::{ChatFileQuery, ChatFileTools, MessageView};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::chat_file::{Chat, called, line, moment, tool_of};

const STYLE: &str = "
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
article { margin: 1.5rem 0; overflow-wrap: anywhere; }
.user > div { padding: .6rem .9rem; border-radius: 12px; background: #8882; white-space: pre-wrap; }
header, .tool, .thought { color: #777; font-size: .85rem; }
.thought { white-space: pre-wrap; border-left: 3px solid #8884; padding-left: .75rem; }
pre { padding: .75rem; border-radius: 8px; background: #8881; overflow-x: auto; white-space: pre-wrap; font-size: .85rem; }
img { max-width: 100%; } table { border-collapse: collapse; } td, th { padding: .25rem .5rem; border: 1px solid #8886; }
.center { text-align: center; } .right { text-align: right; }
@media print { body { margin: 0; max-width: none; } article, pre { break-inside: avoid-page; } }";

/// The whole page, ready to be written to a file.
pub(super) fn page(
    title: &str,
    chat: &Chat,
    wanted: &ChatFileQuery,
    redactor: &Redactor,
    lang: Lang,
) -> String {
    let untitled = Text::fixed("New chat", "新对话");
    let title = if title.is_empty() { untitled.get(lang) } else { title };
    let title = escaped(&title.split_whitespace().collect::<Vec<_>>().join(" "));
    let parts: Vec<String> =
        chat.messages.iter().map(|message| article(message, chat, wanted, redactor, lang)).collect();
    let tag = match lang {
        Lang::En => "en",
        Lang::Zh => "zh-CN",
    };
    let policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
    format!(
        "<!doctype html>\n<html lang=\"{tag}\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <title>{title}</title>\n<style>{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n{}\n</body>\n</html>\n",
        parts.join("\n")
    )
}

fn article(
    message: &MessageView,
    chat: &Chat,
    wanted: &ChatFileQuery,
    redactor: &Redactor,
    lang: Lang,
) -> String {
    let word = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(lang).to_owned();
    let short = wanted.tools == ChatFileTools::Short;
    let block = |text: &str| {
        if short {
            format!("<p class=\"tool\">{}</p>", escaped(&line(text)))
        } else {
            format!("<pre>{}</pre>", escaped(text))
        }
    };
    if message.role == MessageRole::Tool {
        let head = format!("{}{}", word("Result: ", "结果："), tool_of(message));
        let text = block(&redactor.text(&message.content));
        let files = files(message, chat, redactor, lang);
        return format!("<article><p class=\"tool\">{}</p>{text}{files}</article>", escaped(&head));
    }
    let (class, who) = match message.role {
        MessageRole::User => ("user", word("You", "你")),
        MessageRole::Assistant => ("assistant", word("Assistant", "助手")),
        _ => ("note", word("Note", "说明")),
    };
    let mut out = format!(
        "<article class=\"{class}\"><header>{who} · {}</header>",
        escaped(&moment(&message.created_at))
    );
    out.push_str(&files(message, chat, redactor, lang));
    if let Some(thought) = message.reasoning.as_deref().filter(|text| wanted.thinking && !text.is_empty()) {
        out.push_str(&format!("<div class=\"thought\">{}</div>", escaped(&redactor.message(thought.trim()))));
    }
    let said = redactor.message(message.content.trim());
    if message.role == MessageRole::Assistant {
        out.push_str(&markdown(&said));
    } else if !said.is_empty() {
        out.push_str(&format!("<div>{}</div>", escaped(&said)));
    }
    for call in message.tool_calls.iter().filter(|_| wanted.tools != ChatFileTools::None) {
        out.push_str(&format!(
            "<p class=\"tool\">{}</p>{}",
            escaped(&called(call)),
            block(&redactor.text(&call.args))
        ));
    }
    out.push_str("</article>");
    out
}

/// The files of a message: pictures as they are, others by their names.
fn files(message: &MessageView, chat: &Chat, redactor: &Redactor, lang: Lang) -> String {
    let file = Text::fixed("File: ", "文件：");
    let shown = message.attachments.iter().map(|one| {
        let name = escaped(&redactor.message(&one.name));
        match chat.pictures.get(&one.id) {
            Some(data) => format!("<img src=\"{}\" alt=\"{name}\">", escaped(data)),
            None => format!("<p class=\"tool\">{}{name}</p>", file.get(lang)),
        }
    });
    shown.collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Markdown as HTML. Nothing of the text becomes a tag but what is written here.
fn markdown(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut out = String::with_capacity(text.len() * 2);
    let (mut table, mut cell, mut head) = (Vec::new(), 0_usize, false);
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => out.push_str(&escaped(&text)),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                out.push_str(&format!("<code>{}</code>", escaped(&text)));
            }
            Event::FootnoteReference(name) => out.push_str(&escaped(&format!("[{name}]"))),
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>"),
            Event::Rule => out.push_str("<hr>"),
            Event::TaskListMarker(done) => out.push_str(if done { "☑ " } else { "☐ " }),
            Event::Start(tag) => {
                match &tag {
                    Tag::Table(columns) => table.clone_from(columns),
                    Tag::TableHead => (head, cell) = (true, 0),
                    Tag::TableRow => (head, cell) = (false, 0),
                    _ => {}
                }
                out.push_str(&opened(&tag, table.get(cell), head));
            }
            Event::End(tag) => {
                if tag == TagEnd::TableCell {
                    cell += 1;
                }
                out.push_str(&closed(tag, head));
            }
        }
    }
    out
}

fn opened(tag: &Tag<'_>, column: Option<&Alignment>, head: bool) -> String {
    match tag {
        Tag::Paragraph => "<p>".to_owned(),
        // The title is the only first heading of the page.
        Tag::Heading { level, .. } => format!("<h{}>", (*level as usize + 1).min(6)),
        Tag::BlockQuote(_) => "<blockquote>".to_owned(),
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => "<pre><code>".to_owned(),
        Tag::List(None) => "<ul>".to_owned(),
        Tag::List(Some(first)) => format!("<ol start=\"{first}\">"),
        Tag::Item => "<li>".to_owned(),
        Tag::Table(_) => "<table>".to_owned(),
        Tag::TableHead | Tag::TableRow => "<tr>".to_owned(),
        Tag::TableCell => {
            let class = match column {
                Some(Alignment::Center) => " class=\"center\"",
                Some(Alignment::Right) => " class=\"right\"",
                _ => "",
            };
            format!("<{}{class}>", if head { "th" } else { "td" })
        }
        Tag::Emphasis => "<em>".to_owned(),
        Tag::Strong => "<strong>".to_owned(),
        Tag::Strikethrough => "<del>".to_owned(),
        Tag::Link { dest_url, .. } => match dest_url.split_once(':') {
            Some(("http" | "https" | "mailto", _)) => {
                format!("<a href=\"{}\" rel=\"noreferrer nofollow\">", escaped(dest_url))
            }
            // Where it leads is not worth a click here.
            _ => "<a>".to_owned(),
        },
        // Pictures of other places are not loaded; what stands for them is said.
        Tag::Image { .. } => "[".to_owned(),
        _ => String::new(),
    }
}

fn closed(tag: TagEnd, head: bool) -> String {
    match tag {
        TagEnd::Paragraph => "</p>\n".to_owned(),
        TagEnd::Heading(level) => format!("</h{}>\n", (level as usize + 1).min(6)),
        TagEnd::BlockQuote(_) => "</blockquote>\n".to_owned(),
        TagEnd::CodeBlock => "</code></pre>\n".to_owned(),
        TagEnd::List(ordered) => if ordered { "</ol>\n" } else { "</ul>\n" }.to_owned(),
        TagEnd::Item => "</li>\n".to_owned(),
        TagEnd::Table => "</table>\n".to_owned(),
        TagEnd::TableHead | TagEnd::TableRow => "</tr>\n".to_owned(),
        TagEnd::TableCell => if head { "</th>" } else { "</td>" }.to_owned(),
        TagEnd::Emphasis => "</em>".to_owned(),
        TagEnd::Strong => "</strong>".to_owned(),
        TagEnd::Strikethrough => "</del>".to_owned(),
        TagEnd::Link => "</a>".to_owned(),
        TagEnd::Image => "]".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_has_its_looks_and_nothing_foreign_becomes_a_tag() {
        let made = markdown(
            "# T\n\n- **b** `c<d`\n- [ ] x\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n```js\n</pre>\n```\n",
        );
        for words in [
            "<h2>T</h2>",
            "<li><strong>b</strong> <code>c&lt;d</code></li>",
            "☐ x",
            "<th class=\"right\">a</th><th>b</th>",
            "<td class=\"right\">1</td>",
            "<pre><code>&lt;/pre&gt;\n</code></pre>",
        ] {
            assert!(made.contains(words), "{words}: {made}");
        }
        let hostile = "<script>alert(1)</script>\n\n<img src=x onerror=y> ![p](https://e.example/p.png) \
            [a](javascript:alert(1)) [b](https://e.example/\"x) [c](/etc/passwd)";
        let made = markdown(hostile);
        for words in ["<script", "<img", "javascript:", "href=\"/"] {
            assert!(!made.contains(words), "{words}: {made}");
        }
        assert!(made.contains("[p]") && made.contains("href=\"https://e.example/&quot;x\""), "{made}");
    }
}
