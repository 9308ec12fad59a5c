//! The question a person is asked once per project, as a `choice` prompt (packages §4.3).

use chatos_tool::Lang;
use serde_json::{Value, json};

use crate::block::{Block, char_floor};
use crate::reading::{Content, Reading};

/// Text that a question shows; the rest is behind the chip of the chat.
const SHOWN: usize = 12_000;

/// The size of a file as people read it: `3 KB`, `120 bytes`.
pub(crate) fn size(bytes: u64, lang: Lang) -> String {
    match (bytes, lang) {
        (0..1_000, Lang::En) => format!("{bytes} bytes"),
        (0..1_000, Lang::Zh) => format!("{bytes} 字节"),
        _ => format!("{} KB", bytes.div_ceil(1_000)),
    }
}

/// The question; with `whole` the text itself is in it.
pub(crate) fn prompt(reading: &Reading, most: usize, whole: bool, lang: Lang) -> Value {
    let of_project = reading.candidates.iter().filter(|one| !one.own);
    let mut names: Vec<String> = of_project
        .filter(|one| matches!(one.content, Content::Text { .. }))
        .map(|one| format!("`{}` ({})", one.path.replace('`', " "), size(one.bytes, lang)))
        .collect();
    let one = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    for (count, words, zh) in [
        (reading.skills, ["skill", "skills"], "个技能"),
        (reading.commands, ["command", "commands"], "个命令"),
    ] {
        if count > 0 {
            names.push(match lang {
                Lang::En => one(count, words[0], words[1]),
                Lang::Zh => format!("{count} {zh}"),
            });
        }
    }
    let root = reading.project.as_ref().map(|project| project.root.display().to_string());
    let root = root.unwrap_or_default().replace('`', " ");
    let (title, mut message, labels) = match lang {
        Lang::En => (
            "Use this project's instructions?",
            format!(
                "{}\n\nFiles in `{root}` say how to work in this project. With your yes their text goes to the model \
                 with your messages, in every chat here. They give no rights: you are asked before anything as always.",
                names.join(", ")
            ),
            ["Use them here", "Not here", "Show"],
        ),
        Lang::Zh => (
            "使用此项目的说明文件吗？",
            format!(
                "{}\n\n`{root}` 中的文件说明了如何在此项目中工作。同意后，其文字会随你的消息发送给模型，对此项目中的所有\
                 对话有效。它们不授予任何权限：需要你确认的操作照旧会询问。",
                names.join("、")
            ),
            ["在此使用", "不使用", "查看"],
        ),
    };
    if whole {
        let text = Block::of(reading, true, most).text(false);
        let cut = char_floor(&text, SHOWN);
        let fence = "`".repeat(text.split(|c| c != '`').map(str::len).max().unwrap_or_default().max(3) + 1);
        let more = if cut < text.len() { "\n…" } else { "" };
        message.push_str(&format!("\n\n{fence}text\n{}{more}\n{fence}", &text[..cut]));
    }
    let mut options =
        vec![json!({ "value": "use", "label": labels[0] }), json!({ "value": "skip", "label": labels[1] })];
    if !whole {
        options.push(json!({ "value": "show", "label": labels[2] }));
    }
    json!({ "kind": "choice", "title": title, "message": message, "allowCancel": false, "options": options })
}
