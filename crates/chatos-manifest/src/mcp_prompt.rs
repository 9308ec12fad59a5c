//! `ai.mcpPrompt`: the text that tells a model how to use the app (ai-contributions §6).

use serde_json::{Map, Value};

use crate::ai::AI;
use crate::fields::{Object, Read, Refused, Report};
use crate::{ProblemCode, RelPath, Text, json, limits};

/// The declaration; texts in files are read when the plugin is loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct McpPromptDecl {
    /// `None` = the default title, made from the app's name.
    pub title: Option<String>,
    /// Chinese.
    pub zh: Option<PromptSource>,
    /// English.
    pub en: Option<PromptSource>,
    /// Unknown keys, verbatim.
    pub extra: Map<String, Value>,
}

/// Where the text of one language comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptSource {
    /// A file of the plugin, and the pointer that problems about it carry.
    File {
        /// Relative to the plugin directory.
        path: RelPath,
        /// Where it stands.
        pointer: String,
    },
    /// Text in the manifest or config file, trimmed.
    Inline(String),
}

pub(crate) fn parse(value: &Value, pointer: &str, report: &mut Report) -> Read<McpPromptDecl> {
    let (title, zh, en, extra) = match value {
        // A bare path is the Chinese text (seed 001 §6).
        Value::String(_) => (None, source(value, pointer, "ai.mcpPrompt", report).ok(), None, Map::new()),
        Value::Object(map) => {
            let object = Object { map, pointer: pointer.to_owned(), label: "ai.mcpPrompt", scope: AI };
            let extra = object.extra(report, &["title", "zh", "en"]);
            let title = object.str(report, "title")?.filter(|text| !text.is_empty());
            if let Some(title) = title {
                object.check_control(report, "title", title)?;
            }
            if !map.contains_key("zh") && !map.contains_key("en") {
                let message = Text::new("ai.mcpPrompt needs zh or en", "ai.mcpPrompt 需要 zh 或 en");
                return Err(report.refuse(AI, ProblemCode::PromptNoLanguage, pointer.to_owned(), message));
            }
            let mut language = |key: &str, label: &'static str| {
                object.get(key).and_then(|value| source(value, &object.at(key), label, report).ok())
            };
            let zh = language("zh", "ai.mcpPrompt.zh");
            let en = language("en", "ai.mcpPrompt.en");
            (title.map(str::to_owned), zh, en, extra)
        }
        other => {
            let found = json::type_name(other);
            let message = Text::new(
                format!("ai.mcpPrompt must be a path or an object, found {found}"),
                format!("ai.mcpPrompt 必须是路径或对象，实际为 {found}"),
            );
            return Err(report.refuse(AI, ProblemCode::WrongType, pointer.to_owned(), message));
        }
    };
    // Every language that was written has been reported by now; without any there is no prompt.
    if zh.is_none() && en.is_none() { Err(Refused) } else { Ok(McpPromptDecl { title, zh, en, extra }) }
}

fn source(value: &Value, pointer: &str, label: &'static str, report: &mut Report) -> Read<PromptSource> {
    match value {
        Value::String(text) => {
            let path = RelPath::parse(text.trim()).map_err(|fault| {
                report.refuse(AI, fault.code(), pointer.to_owned(), fault.message(label, text.trim()))
            })?;
            Ok(PromptSource::File { path, pointer: pointer.to_owned() })
        }
        Value::Object(map) => {
            let object = Object { map, pointer: pointer.to_owned(), label, scope: AI };
            object.extra(report, &["path", "content"]);
            let content = object.raw_str(report, "content")?;
            // The path is checked even when inline text wins: an escape is never left unsaid.
            let path = object.path(report, "path")?;
            if let Some(text) = content {
                check_size(text.len() as u64, label, &object.at("content"), report)?;
                if !text.trim().is_empty() {
                    return Ok(PromptSource::Inline(text.trim().to_owned()));
                }
            }
            match path {
                Some(path) => Ok(PromptSource::File { path, pointer: object.at("path") }),
                None => Err(report.refuse(AI, ProblemCode::PromptEmpty, pointer.to_owned(), empty(label))),
            }
        }
        other => {
            let found = json::type_name(other);
            let message = Text::new(
                format!("{label} must be a path or an object, found {found}"),
                format!("{label} 必须是路径或对象，实际为 {found}"),
            );
            Err(report.refuse(AI, ProblemCode::WrongType, pointer.to_owned(), message))
        }
    }
}

fn check_size(bytes: u64, label: &str, pointer: &str, report: &mut Report) -> Read<()> {
    if bytes <= limits::PROMPT_BYTES as u64 {
        return Ok(());
    }
    Err(report.refuse(AI, ProblemCode::PromptTooLarge, pointer.to_owned(), too_large(label, bytes)))
}

fn too_large(label: &str, bytes: u64) -> Text {
    let max = limits::PROMPT_BYTES;
    Text::new(
        format!("{label} has {bytes} bytes; at most {max} are allowed"),
        format!("{label} 有 {bytes} 字节；最多允许 {max} 字节"),
    )
}

fn empty(label: &str) -> Text {
    Text::new(format!("{label} is empty"), format!("{label} 为空"))
}

impl PromptSource {
    /// Why the bytes of a prompt file are not a prompt text, or the text: UTF-8 without BOM, trimmed.
    /// `label` is `ai.mcpPrompt.zh` and the like.
    pub fn text_of_file(bytes: &[u8], label: &str) -> Result<String, (ProblemCode, Text)> {
        if bytes.len() > limits::PROMPT_BYTES {
            return Err((ProblemCode::PromptTooLarge, too_large(label, bytes.len() as u64)));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let Ok(text) = std::str::from_utf8(bytes) else {
            let message =
                Text::new(format!("{label} is not valid UTF-8"), format!("{label} 不是有效的 UTF-8"));
            return Err((ProblemCode::PromptNotUtf8, message));
        };
        match text.trim() {
            "" => Err((ProblemCode::PromptEmpty, empty(label))),
            text => Ok(text.to_owned()),
        }
    }

    /// The problem of a prompt file of `bytes` bytes that was not read because of its size.
    pub fn too_large_file(bytes: u64, label: &str) -> (ProblemCode, Text) {
        (ProblemCode::PromptTooLarge, too_large(label, bytes))
    }
}
