//! The card of a question: what the host itself knows about it, so that a person can decide in two seconds. It is
//! written and signed by the host and never taken from whoever asks (inbox §2).

use crate::described::JsonSchema;
use chatos_tool::Text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::words::words;

/// Most characters of a name on a card.
const NAME_CHARS: usize = 200;
/// Deleting more files than this is a high risk.
const MANY_FILES: usize = 20;
/// Deleting more bytes than this is a high risk.
const MANY_BYTES: u64 = 1 << 20;

words! {
    /// What would be done.
    CardVerb {
        RunCommand = "run_command",
        SendInput = "send_input",
        CreateFile = "create_file",
        EditFile = "edit_file",
        DeleteFile = "delete_file",
        MoveFile = "move_file",
        ChangeFiles = "change_files",
        UseTool = "use_tool",
        AddTasks = "add_tasks",
        AskModel = "ask_model",
        OpenPage = "open_page",
        GoOverBudget = "go_over_budget",
        Uncertain = "uncertain",
        UseFolder = "use_folder",
        /// Nothing: a plain question.
        Answer = "answer",
    }
}

words! {
    /// How much a yes can cost.
    CardRisk {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

words! {
    /// Why a risk is high.
    CardReason {
        /// Something was seen in the command that has to be asked about.
        Finding = "finding",
        NoSandbox = "no_sandbox",
        Network = "network",
        /// A file that decides what runs or who may sign in.
        ProtectedFile = "protected_file",
        ManyDeleted = "many_deleted",
        /// Nobody knows whether it happened.
        Unknown = "unknown",
        /// A name that may imitate another one.
        Imitation = "imitation",
        /// More than one project.
        Wide = "wide",
    }
}

/// What the host knows of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptCard {
    #[serde(flatten)]
    pub deed: Deed,
    pub risk: CardRisk,
    /// Why the risk is high.
    #[serde(default)]
    pub reasons: Vec<CardReason>,
    /// The agent by the name people gave it.
    pub agent: Option<String>,
    /// The subagent that asks for it.
    pub sub_agent: Option<String>,
    pub server: Option<String>,
    pub tool: Option<String>,
    /// Another program, as it calls itself.
    pub client: Option<String>,
    pub project: Option<CardProject>,
    pub session: Option<CardSession>,
    /// The app through which the run was started.
    pub app: Option<String>,
    /// The permissions profile in force.
    pub profile: Option<String>,
    pub sandbox: Option<CardSandbox>,
    /// The questions it is asked together with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<CardGroup>,
    /// The person may change the command or the arguments before approving.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub editable: bool,
    /// The person may reject it and have the run that asks end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stops: bool,
}

/// Where a question stands among those of the same model answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardGroup {
    /// The same for all questions that are asked together.
    pub id: String,
    /// From 0, in the order of the calls.
    pub at: u64,
    pub of: u64,
}

/// What would be done, to what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deed {
    pub verb: CardVerb,
    /// A path, a tool, a host name; empty where the question itself says it.
    pub object: String,
    /// Where it is moved to.
    pub to: Option<String>,
    /// How many of them.
    pub count: u64,
}

/// The folder something is done in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardProject {
    pub name: String,
    pub root: String,
}

/// The chat in which it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardSession {
    pub id: String,
    pub title: String,
}

/// What confines a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardSandbox {
    /// `full`, `fs` or `none`.
    pub level: String,
    pub network: bool,
}

impl CardSandbox {
    /// The reason in words of both languages, for the simulator.
    pub fn line(&self) -> Text {
        let (en, zh) = match (self.level.as_str(), self.network) {
            ("full", false) => ("Sandboxed · no network", "沙箱内 · 无网络"),
            ("full", true) => ("Sandboxed · network allowed", "沙箱内 · 可联网"),
            ("fs", false) => ("Sandboxed (files only) · no network", "沙箱内（仅限文件） · 无网络"),
            ("fs", true) => ("Sandboxed (files only) · network allowed", "沙箱内（仅限文件） · 可联网"),
            _ => ("Not sandboxed: runs with your rights", "不在沙箱中：以你的权限运行"),
        };
        Text::fixed(en, zh)
    }
}

impl PromptCard {
    /// The title in words; nothing where the question has one of its own.
    pub fn title(&self) -> Option<Text> {
        // An app that asks by itself says what it is about.
        if self.app.is_some() {
            return None;
        }
        self.deed.title(self.agent.as_deref(), self.server.as_deref())
    }

    /// Who asks, where: agent ▸ subagent ▸ tool · program · project · chat.
    pub fn who(&self) -> String {
        let chain = [self.agent.as_deref(), self.sub_agent.as_deref(), self.tool.as_deref()];
        let chain: Vec<&str> = chain.into_iter().flatten().collect();
        let chain = chain.join(" ▸ ");
        let parts = [
            Some(chain.as_str()).filter(|chain| !chain.is_empty()),
            self.client.as_deref(),
            self.app.as_deref(),
            self.project.as_ref().map(|project| project.name.as_str()),
            self.session.as_ref().map(|session| session.title.as_str()).filter(|title| !title.is_empty()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// How much it can cost, and why, and what confines it, on one line.
    pub fn risk_line(&self) -> Text {
        let why = |zh: bool| {
            let words: Vec<&str> = self.reasons.iter().map(|reason| reason_word(*reason, zh)).collect();
            words.join(if zh { "、" } else { ", " })
        };
        let (risk_en, risk_zh) = match self.risk {
            CardRisk::Low => ("Low risk", "低风险"),
            CardRisk::Medium => ("Medium risk", "中风险"),
            CardRisk::High => ("High risk", "高风险"),
        };
        let (mut en, mut zh) = (risk_en.to_owned(), risk_zh.to_owned());
        if !self.reasons.is_empty() {
            en = format!("{en}: {}", why(false));
            zh = format!("{zh}：{}", why(true));
        }
        if let Some(line) = self.sandbox.as_ref().map(CardSandbox::line) {
            en = format!("{en} · {}", line.en);
            zh = format!("{zh} · {}", line.zh);
        }
        Text::new(en, zh)
    }
}

fn reason_word(reason: CardReason, zh: bool) -> &'static str {
    let (en, cn) = match reason {
        CardReason::Finding => ("the command looks risky", "命令看起来有风险"),
        CardReason::NoSandbox => ("no sandbox", "没有沙箱"),
        CardReason::Network => ("uses the network", "会联网"),
        CardReason::ProtectedFile => ("a protected file", "涉及受保护的文件"),
        CardReason::ManyDeleted => ("deletes a lot", "会删除大量内容"),
        CardReason::Unknown => ("outcome unknown", "结果未知"),
        CardReason::Imitation => ("the name may imitate another site", "名称可能在仿冒其他网站"),
        CardReason::Wide => ("not limited to one project", "不限于单个项目"),
    };
    if zh { cn } else { en }
}

/// A name as it can stand in a line: no control or direction characters, not too long.
pub fn plain(name: &str) -> String {
    let mut out: String = name
        .chars()
        .take(NAME_CHARS)
        .map(|c| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c })
        .collect();
    if name.chars().nth(NAME_CHARS).is_some() {
        out.push('…');
    }
    out
}

/// Characters that change how a line looks without being seen.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

impl Deed {
    fn new(verb: CardVerb, object: &str) -> Self {
        Self { verb, object: plain(object), to: None, count: 1 }
    }

    /// A question that decides no effect.
    pub fn answer() -> Self {
        Self::new(CardVerb::Answer, "")
    }

    /// What an effect of this kind, with these facts, does.
    pub fn of(kind: &str, facts: &Value) -> Self {
        let text = |key: &str| facts[key].as_str().unwrap_or_default();
        match kind {
            "command" if facts["command"]["session"].is_string() => {
                Self::new(CardVerb::SendInput, facts["command"]["name"].as_str().unwrap_or_default())
            }
            "command" => {
                Self::new(CardVerb::RunCommand, facts["command"]["text"].as_str().unwrap_or_default())
            }
            "file_change" => Self::of_files(facts["files"].as_array().map_or(&[][..], Vec::as_slice)),
            "tool_approval" => Self::new(CardVerb::UseTool, text("tool")),
            "tasks" => Self {
                count: facts["tasks"].as_array().map_or(0, Vec::len) as u64,
                ..Self::new(CardVerb::AddTasks, "")
            },
            "sampling" => Self::new(CardVerb::AskModel, ""),
            "url" => Self::new(CardVerb::OpenPage, host_of(text("url"))),
            "budget" => Self::new(CardVerb::GoOverBudget, ""),
            "uncertain" => Self::new(CardVerb::Uncertain, ""),
            // A question of its own words: what a command may use besides.
            "access" if !facts["access"].is_null() => Self::answer(),
            "access" => Self::new(CardVerb::UseFolder, ""),
            _ => Self::answer(),
        }
    }

    fn of_files(files: &[Value]) -> Self {
        let [file] = files else {
            return Self { count: files.len() as u64, ..Self::new(CardVerb::ChangeFiles, "") };
        };
        let path = file["path"].as_str().unwrap_or_default();
        match file["change"].as_str() {
            Some("created") => Self::new(CardVerb::CreateFile, path),
            Some("deleted") => Self::new(CardVerb::DeleteFile, path),
            Some("moved") => Self {
                to: Some(plain(path)),
                ..Self::new(CardVerb::MoveFile, file["from"].as_str().unwrap_or_default())
            },
            _ => Self::new(CardVerb::EditFile, path),
        }
    }

    /// The title in words; nothing where the question has one of its own.
    pub fn title(&self, agent: Option<&str>, server: Option<&str>) -> Option<Text> {
        let (object, count) = (&self.object, self.count);
        let to = self.to.as_deref().unwrap_or_default();
        let text = |en: String, zh: String| Some(Text::new(en, zh));
        match self.verb {
            CardVerb::RunCommand if count > 1 => {
                text(format!("Run {count} commands?"), format!("运行 {count} 条命令？"))
            }
            CardVerb::RunCommand => text("Run this command?".into(), "运行此命令？".into()),
            CardVerb::SendInput if object.is_empty() => {
                text("Type this into the session?".into(), "将此内容输入会话？".into())
            }
            CardVerb::SendInput => {
                text(format!("Type this into {object}?"), format!("将此内容输入 {object}？"))
            }
            CardVerb::CreateFile => text(format!("Create {object}?"), format!("创建 {object}？")),
            CardVerb::EditFile => text(format!("Edit {object}?"), format!("修改 {object}？")),
            CardVerb::DeleteFile => text(format!("Delete {object}?"), format!("删除 {object}？")),
            CardVerb::MoveFile => {
                text(format!("Move {object} to {to}?"), format!("将 {object} 移动到 {to}？"))
            }
            CardVerb::ChangeFiles => text(format!("Change {count} files?"), format!("修改 {count} 个文件？")),
            CardVerb::UseTool => {
                let who = agent.map_or_else(|| "the agent".to_owned(), plain);
                let zh_who = agent.map_or_else(|| "智能体".to_owned(), plain);
                match server {
                    Some(server) => {
                        let server = plain(server);
                        text(
                            format!("Let {who} use {object} of {server}?"),
                            format!("允许 {zh_who} 使用 {server} 的 {object}？"),
                        )
                    }
                    None => {
                        text(format!("Let {who} use {object}?"), format!("允许 {zh_who} 使用 {object}？"))
                    }
                }
            }
            CardVerb::AddTasks if count == 1 => text("Add 1 task?".into(), "添加 1 个任务？".into()),
            CardVerb::AddTasks => text(format!("Add {count} tasks?"), format!("添加 {count} 个任务？")),
            CardVerb::OpenPage => text(format!("Open {object}?"), format!("打开 {object}？")),
            CardVerb::AskModel
            | CardVerb::GoOverBudget
            | CardVerb::Uncertain
            | CardVerb::UseFolder
            | CardVerb::Answer => None,
        }
    }
}

/// The host part of an address.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// How much an effect of this kind with these facts can cost, and why (inbox §2.3).
pub fn risk(kind: &str, facts: &Value) -> (CardRisk, Vec<CardReason>) {
    let mut why = Vec::new();
    match kind {
        "command" => {
            let command = &facts["command"];
            if command["findings"].as_array().is_some_and(|found| !found.is_empty()) {
                why.push(CardReason::Finding);
            }
            if !matches!(command["sandbox"]["level"].as_str(), Some("full" | "fs")) {
                why.push(CardReason::NoSandbox);
            }
            if command["network"] != false {
                why.push(CardReason::Network);
            }
        }
        "file_change" => {
            if !facts["sensitive"].is_null() {
                why.push(CardReason::ProtectedFile);
            }
            let files = facts["files"].as_array().map_or(&[][..], Vec::as_slice);
            if deletes_much(files) {
                why.push(CardReason::ManyDeleted);
            }
        }
        "uncertain" => why.push(CardReason::Unknown),
        "access" if !facts["access"].is_null() => {
            if facts["access"]["outside"] == true {
                why.push(CardReason::NoSandbox);
            }
            if facts["access"]["later"].is_array() {
                why.push(CardReason::ProtectedFile);
            }
        }
        "url"
            if host_of(facts["url"].as_str().unwrap_or_default())
                .split('.')
                .any(|l| l.starts_with("xn--")) =>
        {
            why.push(CardReason::Imitation);
        }
        "rule" if facts["rule"]["scope"]["kind"] == "everywhere" => why.push(CardReason::Wide),
        "" | "instructions" => return (CardRisk::Low, why),
        _ => {}
    }
    (if why.is_empty() { CardRisk::Medium } else { CardRisk::High }, why)
}

fn deletes_much(files: &[Value]) -> bool {
    let deleted: Vec<&Value> = files.iter().filter(|file| file["change"] == "deleted").collect();
    // A directory is one row that says how much is below it.
    let tree = |key: &str| deleted.iter().filter_map(|file| file["before"][key].as_u64()).sum::<u64>();
    deleted.len() > MANY_FILES || tree("files") > MANY_FILES as u64 || tree("bytes") > MANY_BYTES
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn title(kind: &str, facts: &Value) -> (String, String) {
        let text = Deed::of(kind, facts).title(Some("Helper"), Some("Mail")).unwrap();
        (text.en.to_string(), text.zh.to_string())
    }

    #[test]
    fn titles_are_a_verb_and_its_object() {
        let file =
            |change: &str| json!({ "files": [{ "path": "b.txt", "from": "a.txt", "change": change }] });
        for (kind, facts, en, zh) in [
            ("command", json!({}), "Run this command?", "运行此命令？"),
            ("file_change", file("created"), "Create b.txt?", "创建 b.txt？"),
            ("file_change", file("modified"), "Edit b.txt?", "修改 b.txt？"),
            ("file_change", file("deleted"), "Delete b.txt?", "删除 b.txt？"),
            ("file_change", file("moved"), "Move a.txt to b.txt?", "将 a.txt 移动到 b.txt？"),
            ("file_change", json!({ "files": [1, 2, 3, 4, 5] }), "Change 5 files?", "修改 5 个文件？"),
            (
                "tool_approval",
                json!({ "tool": "send_mail" }),
                "Let Helper use send_mail of Mail?",
                "允许 Helper 使用 Mail 的 send_mail？",
            ),
            ("tasks", json!({ "tasks": [1, 2, 3] }), "Add 3 tasks?", "添加 3 个任务？"),
            (
                "url",
                json!({ "url": "https://me@example.com/x?y" }),
                "Open example.com?",
                "打开 example.com？",
            ),
        ] {
            assert_eq!(title(kind, &facts), (en.to_owned(), zh.to_owned()));
        }
        assert!(Deed::of("uncertain", &json!({})).title(None, None).is_none());
    }

    #[test]
    fn hostile_names_cannot_move_or_hide_anything_in_a_title() {
        let name = format!("a\u{202e}txt.exe\n\u{1b}[31m{}", "x".repeat(1_000_000));
        let (en, _) = title("file_change", &json!({ "files": [{ "path": name, "change": "created" }] }));
        assert!(en.chars().count() < 250, "{}", en.len());
        assert!(!en.chars().any(|c| c.is_control() || is_invisible(c)), "{en:?}");
    }

    #[test]
    fn risk_follows_from_facts() {
        let command = |level: &str, network: bool, found: Value| json!({ "command": { "network": network, "sandbox": { "level": level }, "findings": found } });
        let quiet = command("full", false, json!([]));
        assert_eq!(risk("command", &quiet), (CardRisk::Medium, vec![]));
        for (facts, why) in [
            (command("none", false, json!([])), CardReason::NoSandbox),
            (command("full", true, json!([])), CardReason::Network),
            (command("full", false, json!([{ "id": "rm" }])), CardReason::Finding),
        ] {
            assert_eq!(risk("command", &facts), (CardRisk::High, vec![why]));
        }
        // What is not said counts as the worst.
        assert_eq!(risk("command", &json!({})).0, CardRisk::High);
        let deleted: Vec<Value> = (0..21).map(|_| json!({ "change": "deleted" })).collect();
        assert_eq!(risk("file_change", &json!({ "files": deleted })).0, CardRisk::High);
        assert_eq!(risk("file_change", &json!({ "files": deleted[..20] })).0, CardRisk::Medium);
        let tree = json!({ "files": [{ "change": "deleted", "before": { "files": 3, "bytes": 2 << 20 } }] });
        assert_eq!(risk("file_change", &tree).0, CardRisk::High);
        assert_eq!(risk("url", &json!({ "url": "https://a.xn--pple-43d.com" })).0, CardRisk::High);
        assert_eq!(risk("uncertain", &json!({})).0, CardRisk::High);
        assert_eq!(risk("", &Value::Null).0, CardRisk::Low);
    }
}
