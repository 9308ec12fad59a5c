//! The system prompt of a run (agents §6): labelled blocks in a fixed order, each text once, in the
//! language that was decided on. What was left out is told with the reason.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chatos_contribution::ServerIdentity;
use chatos_policy::{AgentPrompts, Code, Grant, LandConfig, Mode, Outcome, PromptLang, Role, UiApp};
use chatos_store::AgentRecord;
use chatos_tool::{Lang, Text};

use crate::book::{NoText, PromptBook, language};

/// One part of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where it comes from, for the trace: `agent`, `prompt:<name>`,
    /// `skill:<name>`, `server_instructions`, `capabilities`, `guard`.
    pub label: String,
    /// What the model reads.
    pub text: String,
}

/// A prompt that is there in another language than the wanted one, and is used all the same.
const OTHER_LANGUAGE: &str = "other_language";

/// What became of one prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptUse {
    /// The key.
    pub key: String,
    /// Whether it is part of the system prompt.
    pub included: bool,
    /// `included`, `other_language`, `duplicate`, `missing_prompt`, `not_for_role`, `not_in_land_config`, `not_exposed`,
    /// `not_chosen`, `server_refused`.
    pub code: &'static str,
    /// For a person.
    pub why: Text,
}

/// A system prompt and how it came about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemBlocks {
    /// In order; joined by one blank line.
    pub blocks: Vec<Block>,
    /// Every prompt that was looked at.
    pub prompts: Vec<PromptUse>,
}

impl PromptUse {
    /// What a person is told of it once: a text that is missing, or missing in the wanted language.
    pub fn notice(&self) -> Option<Text> {
        matches!(self.code, "missing_prompt" | OTHER_LANGUAGE).then(|| {
            let (key, why) = (&self.key, &self.why);
            Text::new(format!("prompt `{key}`: {}", why.en), format!("提示词 `{key}`：{}", why.zh))
        })
    }
}

impl SystemBlocks {
    /// The whole text.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.blocks.iter().map(|block| block.text.as_str()).collect();
        texts.join("\n\n")
    }
}

/// What a subagent brings along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubTexts {
    /// Its own prompt, used where there is no command.
    pub prompt: String,
    /// Instructions of the command, with `$ARGUMENTS` already replaced.
    pub command: Option<String>,
    /// Name and instructions, in order: requested, default, the agent's.
    pub skills: Vec<(String, String)>,
}

/// What a run knows that is not written down anywhere.
#[derive(Debug, Clone, Default)]
pub struct BlockContext {
    /// Where it works.
    pub workdir: PathBuf,
    /// Subagents it may start, by name.
    pub subagents: Vec<String>,
    /// Skills it may name.
    pub skills: Vec<String>,
    /// For the role sub.
    pub sub: Option<SubTexts>,
    /// What granted servers say about themselves, as one text.
    pub instructions: Option<String>,
}

/// Names of each kind in the capability block; more are counted.
const SERVERS: usize = 12;
const SUBAGENTS: usize = 12;
const SKILLS: usize = 24;
/// Built-in server whose tools are worth a hint to subagents.
const TASK_SERVER: &str = "task_manager";

pub(crate) struct Assembly<'a> {
    pub(crate) agent: &'a AgentRecord,
    pub(crate) land: &'a LandConfig,
    pub(crate) outcome: &'a Outcome,
    pub(crate) book: &'a PromptBook,
    pub(crate) setting: Lang,
    pub(crate) context: &'a BlockContext,
}

impl Assembly<'_> {
    pub(crate) fn assemble(&self) -> SystemBlocks {
        let mut out = Collecting { result: SystemBlocks::default(), seen: BTreeSet::new() };
        let (role, flow) = (self.outcome.role, self.land.flow(self.outcome.role));
        match (role, self.agent.mode) {
            (Role::Sub, _) => {
                let texts = self.context.sub.clone().unwrap_or_default();
                match texts.command.filter(|text| !text.trim().is_empty()) {
                    Some(command) => out.block("command", &command),
                    None => out.block("agent", &texts.prompt),
                }
                for (name, instructions) in &texts.skills {
                    if !instructions.trim().is_empty() {
                        out.block(
                            &format!("skill:{name}"),
                            &format!("# Skill: {name}\n\n{}", instructions.trim()),
                        );
                    }
                }
                for entry in &flow.prompts {
                    self.add(&mut out, &entry.key, entry.lang);
                }
                self.servers(&mut out);
                self.instructions(&mut out);
                out.block("guard", &self.guard());
            }
            (Role::Main, Mode::Flow) => {
                for entry in &flow.prompts {
                    self.add(&mut out, &entry.key, entry.lang);
                }
                self.servers(&mut out);
                self.instructions(&mut out);
                out.block("capabilities", &self.capabilities());
            }
            (Role::Main, Mode::Custom) => {
                out.block("agent", &self.agent.prompt);
                for written in &self.agent.prompt_ids {
                    let key = self.book.key_of(written);
                    if flow.agent_prompts == AgentPrompts::Any || self.lists(&key) {
                        self.add(&mut out, &key, self.listed_lang(&key));
                    } else {
                        out.skip(&key, "not_in_land_config");
                    }
                }
                self.apps(&mut out);
                self.servers(&mut out);
                self.instructions(&mut out);
                out.block("capabilities", &self.capabilities());
            }
        }
        out.result
    }

    /// Whether the flow lists this prompt.
    fn lists(&self, key: &str) -> bool {
        self.land.flow(self.outcome.role).prompts.iter().any(|entry| entry.key.eq_ignore_ascii_case(key))
    }

    fn listed_lang(&self, key: &str) -> PromptLang {
        let flow = self.land.flow(self.outcome.role);
        flow.prompts
            .iter()
            .find(|entry| entry.key.eq_ignore_ascii_case(key))
            .map_or(PromptLang::Auto, |e| e.lang)
    }

    fn add(&self, out: &mut Collecting, key: &str, lang: PromptLang) {
        let lang = language(&[lang, self.agent.prompt_lang], self.setting);
        match self.book.find(key, lang, self.outcome.role) {
            Ok(_) if self.is_of_refused(key) => out.skip(key, "server_refused"),
            Ok(text) => out.prompt(key, &text.id, &text.name, &text.content, text.is_other(lang)),
            Err(NoText::Missing) => out.skip(key, "missing_prompt"),
            Err(NoText::NotForRole) => out.skip(key, "not_for_role"),
        }
    }

    /// Whether this is the prompt of a server that was wanted and may not be used: a text about tools that
    /// are not there. One that nobody chose is not refused; its prompt may be chosen alone.
    fn is_of_refused(&self, key: &str) -> bool {
        let refused = self.outcome.refusals.iter().filter(|refusal| refusal.code != Code::NotChosen);
        let is_of = |identity: &ServerIdentity, server: &str| {
            self.book.of_server(identity, server).eq_ignore_ascii_case(key)
        };
        let granted = || self.outcome.grants.values().any(|grant| is_of(&grant.identity, &grant.server));
        refused
            .filter_map(|refusal| Some((refusal.identity.as_ref()?, &refusal.server)))
            .any(|(identity, server)| is_of(identity, server))
            && !granted()
    }

    /// Whether an agent chose apps of which this is the own prompt, and ticked it for none of them
    /// (seed 000 §4.3).
    fn is_unticked(&self, key: &str) -> bool {
        if self.agent.mode != Mode::Custom {
            return false;
        }
        let is_key = |other: &str| other.eq_ignore_ascii_case(key);
        let ticks = |app: &&UiApp| {
            let ids = &app.prompt_ids;
            app.prompt && (ids.is_empty() || ids.iter().any(|written| is_key(&self.book.key_of(written))))
        };
        let owns = |app: &&UiApp| self.book.own_of(&app.plugin_id, &app.app_id).is_some_and(is_key);
        let mut chosen = self.agent.ui_apps.iter().filter(owns).peekable();
        chosen.peek().is_some() && !chosen.any(|app| ticks(&app))
    }

    /// Whether the land_config keeps the prompt of a granted server out.
    fn is_kept_out(&self, key: &str) -> bool {
        let is_of =
            |grant: &&Grant| self.book.of_server(&grant.identity, &grant.server).eq_ignore_ascii_case(key);
        let mut grants = self.outcome.grants.values().filter(is_of).peekable();
        grants.peek().is_some() && grants.all(|grant| grant.prompt.is_none())
    }

    /// The own prompt of an app that is ticked for it.
    fn add_own(&self, out: &mut Collecting, key: &str, lang: PromptLang) {
        if self.is_kept_out(key) {
            out.skip(key, "not_in_land_config");
        } else {
            self.add(out, key, lang);
        }
    }

    /// The own text of an app for somebody who asks for it by its name: of an app the agent chose, of one whose server it
    /// may use, or one the land_config lists; never one it keeps out.
    pub(crate) fn own_text(&self, plugin: &str, app: &str) -> Option<&str> {
        let key = self.book.own_of(plugin, app)?;
        let chosen = self.agent.ui_apps.iter().any(|one| one.plugin_id == plugin && one.app_id == app);
        let granted = self.outcome.grants.values();
        let mut granted = granted.map(|grant| self.book.of_server(&grant.identity, &grant.server));
        let wanted = chosen || self.lists(key) || granted.any(|other| other.eq_ignore_ascii_case(key));
        if !wanted || self.is_kept_out(key) || self.is_of_refused(key) {
            return None;
        }
        let text = self.book.find(key, self.lang(), self.outcome.role).ok()?;
        Some(text.content.trim())
    }

    /// Prompts of chosen apps: those chosen for the app, else its own.
    fn apps(&self, out: &mut Collecting) {
        for app in self.agent.ui_apps.iter().filter(|app| app.prompt) {
            let own = self.book.own_of(&app.plugin_id, &app.app_id);
            if app.prompt_ids.is_empty() {
                if let Some(own) = own {
                    self.add_own(out, own, app.prompt_lang);
                }
                continue;
            }
            for written in &app.prompt_ids {
                let key = self.book.key_of(written);
                let is_own = own.is_some_and(|own| own.eq_ignore_ascii_case(&key));
                let any = self.land.flow(self.outcome.role).agent_prompts == AgentPrompts::Any;
                if !self.book.selectable(&app.plugin_id, &app.app_id, &key) {
                    out.skip(&key, "not_exposed");
                } else if is_own {
                    self.add_own(out, &key, app.prompt_lang);
                } else if any || self.lists(&key) {
                    self.add(out, &key, app.prompt_lang);
                } else {
                    out.skip(&key, "not_in_land_config");
                }
            }
        }
    }

    /// Prompts of granted servers. A server without one is nothing to tell.
    fn servers(&self, out: &mut Collecting) {
        for grant in self.outcome.grants.values() {
            let Some(lang) = grant.prompt else { continue };
            let key = self.book.of_server(&grant.identity, &grant.server);
            let lang = language(&[lang, self.agent.prompt_lang], self.setting);
            if let Ok(text) = self.book.find(&key, lang, self.outcome.role) {
                if self.is_unticked(&key) && !out.has(&key) {
                    out.skip(&key, "not_chosen");
                    continue;
                }
                out.prompt(&key, &text.id, &text.name, &text.content, text.is_other(lang));
            }
        }
    }

    fn instructions(&self, out: &mut Collecting) {
        out.block("server_instructions", self.context.instructions.as_deref().unwrap_or_default());
    }

    fn lang(&self) -> Lang {
        language(&[self.agent.prompt_lang], self.setting)
    }

    /// What changes from run to run stands here, so that the blocks before it can be cached. Date and folder stand before
    /// the person's message, for they change within a chat.
    fn capabilities(&self) -> String {
        let zh = self.lang() == Lang::Zh;
        let servers: Vec<&str> = self.outcome.grants.values().map(|grant| grant.server.as_str()).collect();
        let subagents: Vec<&str> = self.context.subagents.iter().map(String::as_str).collect();
        let skills: Vec<&str> = self.context.skills.iter().map(String::as_str).collect();
        let mut lines = vec![if zh { "# 可用的内容".to_owned() } else { "# What there is".to_owned() }];
        let mut line = |en: &str, cn: &str, names: &[&str], most: usize| {
            if !names.is_empty() {
                lines.push(format!("- {}: {}", if zh { cn } else { en }, shortened(names, most)));
            }
        };
        line("Servers", "服务", &servers, SERVERS);
        line("Subagents", "子智能体", &subagents, SUBAGENTS);
        line("Skills", "技能", &skills, SKILLS);
        if servers.is_empty() {
            let none = if zh { "- 没有可用的服务" } else { "- No server may be used" };
            lines.push(none.to_owned());
        }
        lines.join("\n")
    }

    fn guard(&self) -> String {
        let tasks = self.outcome.grants.values().any(|grant| grant.server == TASK_SERVER);
        let place = self.context.workdir.display();
        let mut lines = if self.lang() == Lang::Zh {
            vec![
                "# 规则".to_owned(),
                "- 你不能再启动子智能体。".to_owned(),
                "- 完成后给出完整的报告；调用方只能看到你的最后一条消息。".to_owned(),
                format!("- 工作目录: {place}"),
            ]
        } else {
            vec![
                "# Rules".to_owned(),
                "- You cannot start subagents.".to_owned(),
                "- Report back in full; your caller sees only your last message.".to_owned(),
                format!("- Workspace: {place}"),
            ]
        };
        if tasks {
            lines.push(if self.lang() == Lang::Zh {
                "- 用任务工具记录进度。".to_owned()
            } else {
                "- Track your progress with the task tools.".to_owned()
            });
        }
        lines.join("\n")
    }
}

fn shortened(names: &[&str], most: usize) -> String {
    let shown = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown}, +{more}"),
    }
}

fn seen_key(key: &str) -> String {
    format!("key:{}", key.to_lowercase())
}

struct Collecting {
    result: SystemBlocks,
    seen: BTreeSet<String>,
}

impl Collecting {
    fn block(&mut self, label: &str, text: &str) {
        if !text.trim().is_empty() {
            self.result.blocks.push(Block { label: label.to_owned(), text: text.trim().to_owned() });
        }
    }

    /// A text counts once, by its id and by its key: the two languages of a key are one prompt.
    /// `other`: it is there only in another language than the wanted one.
    fn prompt(&mut self, key: &str, id: &str, name: &str, content: &str, other: bool) {
        let new = self.seen.insert(format!("id:{id}"));
        if !(self.seen.insert(seen_key(key)) && new) {
            self.skip(key, "duplicate");
            return;
        }
        self.block(&format!("prompt:{name}"), content);
        self.note(key, true, if other { OTHER_LANGUAGE } else { "included" });
    }

    fn has(&self, key: &str) -> bool {
        self.seen.contains(&seen_key(key))
    }

    fn skip(&mut self, key: &str, code: &'static str) {
        self.note(key, false, code);
    }

    fn note(&mut self, key: &str, included: bool, code: &'static str) {
        let why = match code {
            "included" => Text::fixed("part of the system prompt", "已包含在系统提示词中"),
            OTHER_LANGUAGE => Text::fixed(
                "part of the system prompt in another language: there is no text in the wanted one",
                "已以另一种语言包含在系统提示词中：没有所需语言的文本",
            ),
            "duplicate" => Text::fixed("already there; the first one counts", "已存在；以第一个为准"),
            "missing_prompt" => Text::fixed("there is no such prompt", "没有该提示词"),
            "not_for_role" => Text::fixed("the prompt is not meant for this flow", "该提示词不用于此流程"),
            "not_in_land_config" => Text::fixed(
                "chosen by the agent but not listed in the land_config",
                "已被选择，但 land_config 未列出",
            ),
            "not_chosen" => {
                Text::fixed("not ticked for the app in this agent", "该 Agent 没有为此应用勾选它")
            }
            "server_refused" => Text::fixed("its server may not be used here", "其服务器在这里不可使用"),
            _ => Text::fixed("not among what the app lets you select", "不在该应用可选择的范围内"),
        };
        self.result.prompts.push(PromptUse { key: key.to_owned(), included, code, why });
    }
}

#[cfg(test)]
mod tests;
