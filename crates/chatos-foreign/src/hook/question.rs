//! The question about a call: what a person sees, and everything the answer decides.

use chatos_prompts::whole::{self, Whole};
use chatos_prompts::{Effect, Object, effect};
use chatos_tool::{Lang, in_both};
use serde_json::{Value, json};

use super::tools::{Subject, subject};
use super::{Call, Unreadable, unreadable};

/// Who asks, for the queue: `host:hook`.
pub const SOURCE_OWNER: &str = "hook";
/// Most characters of arguments in a question.
const ARGUMENT_CHARS: usize = 8_000;

/// A question about a call.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The prompt for the queue.
    pub prompt: Object,
    /// What the answer decides.
    pub effect: Effect,
    /// The text of which the prompt shows a part.
    pub whole: Option<String>,
}

impl Asked {
    /// Whether the answer is a yes.
    pub fn agrees(&self, response: &Object) -> bool {
        let text = |key: &str| response.get(key).and_then(Value::as_str);
        // A choice has to be made; a confirmation has nothing to choose.
        let chosen = self.prompt["kind"] != "choice" || text("selection") == Some("once");
        text("status") == Some("ok") && chosen
    }
}

/// The beginning of a command, for a list of questions; the whole command is in the question itself.
fn short(command: &str) -> String {
    const MOST: usize = 48;
    let first = command.trim().lines().next().unwrap_or_default();
    let cut: String = first.chars().take(MOST).collect();
    if cut.len() < command.trim().len() { format!("{}…", cut.trim_end()) } else { cut }
}

impl Call {
    /// The question, as the world is now. `client` is the id of the program's session with us.
    pub fn question(&self, client: &str, wait_ms: Option<u64>, lang: Lang) -> Result<Asked, Unreadable> {
        let subject = subject(&self.tool, &self.input, &self.cwd);
        let text = self.text(&subject);
        if text.len() > whole::MAX_BYTES {
            return Err(unreadable(
                "the call is too large to be shown to a person",
                "该调用过大，无法展示给用户",
            ));
        }
        let chars = if matches!(subject, Subject::Other) { ARGUMENT_CHARS } else { whole::SHOWN_CHARS };
        let cut = Whole::of(&text, chars);
        // The program's terminal may speak another language than the page on which this is answered.
        let mut prompt = in_both(lang, |lang| self.prompt(&subject, cut.shown, lang));
        if matches!(subject, Subject::File { .. } | Subject::Patch(_)) {
            prompt["diff"] = json!(cut.shown);
        }
        if cut.is_cut {
            prompt["diffRef"] = cut.reference();
        }
        if let Some(ms) = wait_ms {
            prompt["timeoutMs"] = json!(ms);
        }
        let effect = self.effect(&subject, client);
        let whole = cut.is_cut.then(|| text.clone());
        let Value::Object(prompt) = prompt else {
            return Err(unreadable("the question could not be written", "无法写出问题"));
        };
        Ok(Asked { prompt, effect, whole })
    }

    fn effect(&self, subject: &Subject, client: &str) -> Effect {
        let kind = match subject {
            Subject::Command { .. } => "command",
            Subject::File { .. } | Subject::Patch(_) => "file_change",
            Subject::Other => "tool_approval",
        };
        let mut effect = Effect::new(kind, Object::new())
            .with("identity", json!(format!("hook:{}", self.program.word())))
            .with("tool", json!(self.tool))
            .with("client", json!(client))
            .with("arguments", effect::arguments(&self.input))
            .with("root", effect::directory(&self.cwd));
        if let Subject::File { path, before, after } = subject {
            let digest = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| whole::sha256(bytes));
            effect = effect.with(
                "files",
                json!([{ "path": path.to_string_lossy(), "before": digest(before), "after": digest(after) }]),
            );
        }
        effect
    }

    /// The path as people of this project know it.
    fn of_root(&self, path: &std::path::Path) -> String {
        path.strip_prefix(&self.cwd).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// What may be too long to be shown at once: the change, or the arguments.
    fn text(&self, subject: &Subject) -> String {
        match subject {
            Subject::Command { .. } => String::new(),
            Subject::File { path, before, after } => {
                let shown = self.of_root(path);
                chatos_files::diff::diff(&shown, before.as_deref(), &shown, after.as_deref()).text
            }
            Subject::Patch(patch) => patch.clone(),
            Subject::Other => serde_json::to_string_pretty(&self.input).unwrap_or_default(),
        }
    }

    /// The prompt without its change. `arguments` are those of a call that nobody knows better.
    fn prompt(&self, subject: &Subject, arguments: &str, lang: Lang) -> Value {
        let (en, title) = (lang == Lang::En, self.program.title());
        let text = |en_text: String, zh_text: String| if en { en_text } else { zh_text };
        let why = self.input.get("description").and_then(Value::as_str).unwrap_or_default();
        match subject {
            Subject::Command { text: command, cwd } => {
                let short = short(command);
                let title = text(format!("Run “{short}”?"), format!("运行“{short}”？"));
                json!({
                    "kind": "file_change_confirm", "title": title, "message": why, "source": self.source(),
                    "command": command, "cwd": cwd.to_string_lossy(),
                })
            }
            Subject::File { path, before, .. } => {
                let shown = self.of_root(path);
                let title = match before {
                    Some(_) => text(format!("Edit {shown}?"), format!("修改 {shown}？")),
                    None => text(format!("Create {shown}?"), format!("创建 {shown}？")),
                };
                json!({
                    "kind": "file_change_confirm", "title": title, "message": "", "source": self.source(),
                    "path": path.to_string_lossy(), "cwd": self.cwd.to_string_lossy(),
                })
            }
            Subject::Patch(_) => {
                let title = text("Apply this patch?".to_owned(), "应用此补丁？".to_owned());
                json!({
                    "kind": "file_change_confirm", "title": title, "message": why, "source": self.source(),
                    "cwd": self.cwd.to_string_lossy(),
                })
            }
            Subject::Other => {
                let tool = &self.tool;
                let asks = text(format!("Let {title} use {tool}?"), format!("允许 {title} 使用 {tool}？"));
                let message = text(
                    format!("{title} wants to call `{tool}` with:"),
                    format!("{title} 要调用 `{tool}`，参数："),
                );
                json!({
                    "kind": "choice", "title": asks, "source": self.source(),
                    "message": format!("{message}\n\n```json\n{arguments}\n```"),
                    "options": [
                        { "value": "once", "label": text("Allow once".to_owned(), "仅允许这一次".to_owned()) },
                        { "value": "no", "label": text("No".to_owned(), "不允许".to_owned()) },
                    ],
                })
            }
        }
    }

    /// `Claude Code · shop`.
    fn source(&self) -> String {
        let project = self.cwd.file_name().map(|name| name.to_string_lossy().into_owned());
        match project {
            Some(project) => format!("{} · {project}", self.program.title()),
            None => self.program.title().to_owned(),
        }
    }
}
