//! What goes before a message of a run, decided from the disk, the person's word and what the chat was sent before; and
//! the same for who wants to look. Blocks on the database and the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chatos_store::{MessageBlock, Store, StoreError};
use chatos_tool::{ErrorCode, Fault, Lang, Text, in_both};
use chatos_wire::Severity;
use chatos_wire::instructions::{InstructionConsent, InstructionOrder, InstructionsView};
use serde_json::{Value, json};

use crate::block::{Block, MOST_BYTES, WITHDRAWN};
use crate::project::Project;
use crate::question;
use crate::reading::{Reading, read};

/// Where texts of projects are looked for, and where the words of people about them are kept.
pub struct Desk<'a> {
    /// Consents, and what was sent.
    pub store: &'a Store,
    /// The person's home directory; nothing above it is ever read.
    pub home: Option<PathBuf>,
    /// The state directory, with the person's own text.
    pub state: PathBuf,
    /// Names of instruction files in the order in which they count (setting `instructionFiles`).
    pub names: Vec<String>,
}

/// The message before which texts of the project may go, and the run it belongs to.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The folder in which the run of this message works.
    pub workspace: PathBuf,
    /// The chat, or the run of a subagent.
    pub transcript: String,
    /// The id of the message that the texts are kept with.
    pub message_id: String,
    /// What the sender of this message said about texts of the project.
    pub order: Option<InstructionOrder>,
    /// The model's window in tokens: of a small one the texts take a quarter at most.
    pub window: u64,
    /// Where and when it is written, for models that are told.
    pub environment: Option<String>,
}

/// Something a person is told about the texts of their project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters to the person who reads it.
    pub severity: Severity,
    /// The stable name under which programs know this notice.
    pub code: &'static str,
    /// What it says to people, in both languages.
    pub text: Text,
}

/// What is to be done before the first request.
#[derive(Debug)]
pub enum Plan {
    /// A person has to be asked; `show` is the same question with the text in it.
    Ask {
        /// The folder of the project, by which a word given elsewhere finds this question.
        root: PathBuf,
        /// The question as it is asked first, without the text.
        ask: Value,
        /// The same question, with the text of the project in it.
        show: Value,
    },
    /// This is kept with the message, if anything, and these are told.
    Go {
        /// What goes before the message.
        block: Option<MessageBlock>,
        /// What the person is told.
        notices: Vec<Notice>,
    },
}

/// A byte of text is a quarter of a token or more.
fn most(window: u64) -> usize {
    usize::try_from(window).unwrap_or(MOST_BYTES).clamp(1_024, MOST_BYTES)
}

impl Desk<'_> {
    fn read(&self, workspace: &Path) -> Reading {
        read(workspace, self.home.as_deref(), &self.state, &self.names)
    }

    fn consent(&self, reading: &Reading) -> Result<Option<InstructionConsent>, StoreError> {
        let Some(project) = &reading.project else { return Ok(None) };
        let known = self.store.project_consent(&project.root.to_string_lossy())?;
        Ok(known.and_then(|known| InstructionConsent::parse(&known.instructions)))
    }

    /// What a run has to do before its first request.
    pub fn plan(&self, wanted: &Wanted, lang: Lang) -> Result<Plan, Fault> {
        let reading = self.read(&wanted.workspace);
        let before = self.store.newest_block(&wanted.transcript)?.map(|block| block.text);
        let before = before.filter(|text| text != WITHDRAWN);
        let environment = self.news(wanted)?;
        if reading.candidates.is_empty() && !reading.has_project() && before.is_none() {
            return Ok(Plan::Go { block: kept(wanted, environment, None), notices: Vec::new() });
        }
        let most = most(wanted.window);
        let stored = self.consent(&reading)?;
        let mut notices = Vec::new();
        let used = match (wanted.order, stored) {
            (Some(InstructionOrder::Use), _) => true,
            (Some(InstructionOrder::Skip), _) => false,
            (_, Some(word)) => word == InstructionConsent::Use,
            (_, None) if !reading.has_project() => false,
            (Some(InstructionOrder::Ask), None) => {
                return Ok(Plan::Ask {
                    root: reading.project.as_ref().map(|project| project.root.clone()).unwrap_or_default(),
                    ask: in_both(lang, |lang| question::prompt(&reading, most, false, lang)),
                    show: in_both(lang, |lang| question::prompt(&reading, most, true, lang)),
                });
            }
            (None, None) => {
                notices.extend(reading.has_project_text().then(|| not_used(&reading)));
                false
            }
        };
        let block = Block::of(&reading, used, most);
        if used && stored == Some(InstructionConsent::Use) {
            notices.extend(self.changed(&reading, &block)?);
        }
        notices.extend(unreadable(&reading, used));
        let text = match &before {
            Some(sent) if block.is_empty() && !sent.is_empty() => Some(WITHDRAWN.to_owned()),
            Some(sent) if block.is_in(sent) => None,
            before if !block.is_empty() => Some(block.text(before.is_some())),
            _ => None,
        };
        let block = kept(wanted, environment, text.map(|text| (text, block.files())));
        Ok(Plan::Go { block, notices })
    }

    /// The environment, where it is other than what the chat was told.
    fn news(&self, wanted: &Wanted) -> Result<String, StoreError> {
        let Some(now) = &wanted.environment else { return Ok(String::new()) };
        let told = self.store.newest_environment(&wanted.transcript)?;
        Ok(if told.as_ref() == Some(now) { String::new() } else { now.clone() })
    }

    /// Notes what is used of a project, and says what is not as it was the last time.
    fn changed(&self, reading: &Reading, block: &Block) -> Result<Option<Notice>, StoreError> {
        let Some(project) = &reading.project else { return Ok(None) };
        let root = project.root.to_string_lossy();
        let now = block.digests();
        let seen = self.store.project_consent(&root)?.map(|known| known.seen).unwrap_or_default();
        let seen: BTreeMap<String, String> = serde_json::from_str(&seen).unwrap_or_default();
        if seen == now {
            return Ok(None);
        }
        self.store.note_project_seen(&root, &json!(now).to_string())?;
        if seen.is_empty() {
            return Ok(None);
        }
        let differs = |path: &&String| seen.get(*path) != now.get(*path);
        let mut paths: Vec<&String> = seen.keys().chain(now.keys()).filter(differs).collect();
        paths.sort();
        paths.dedup();
        let paths: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
        Ok(Some(Notice {
            severity: Severity::Info,
            code: "instructions_changed",
            text: Text::new(
                format!("the project's instructions changed since the last run here: {}", paths.join(", ")),
                format!("此项目的说明文件自上次运行后有改动：{}", paths.join("、")),
            ),
        }))
    }

    /// The project of a workspace and what the person said about it.
    pub fn word(&self, workspace: &Path) -> Result<Option<(Project, Option<InstructionConsent>)>, Fault> {
        let Some(project) = Project::around(workspace, self.home.as_deref()) else { return Ok(None) };
        let known = self.store.project_consent(&project.root.to_string_lossy())?;
        Ok(Some((project, known.and_then(|known| InstructionConsent::parse(&known.instructions)))))
    }

    /// Keeps a person's word about the project of a workspace; without one the next message asks. Gives the folder of
    /// the project.
    pub fn decide(
        &self,
        workspace: &Path,
        word: Option<InstructionConsent>,
        by: &str,
    ) -> Result<PathBuf, Fault> {
        let project = Project::around(workspace, self.home.as_deref()).ok_or_else(|| {
            let place = workspace.display();
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(
                    format!("no project can be in this folder: {place}"),
                    format!("此文件夹不能作为项目：{place}"),
                ),
            )
            .hint(Text::fixed(
                "name a folder that exists, below your home directory or outside of it, but not above",
                "请指定一个存在的文件夹，且不能位于主目录之上",
            ))
        })?;
        set_consent(self.store, &project.root, word, by)?;
        Ok(project.root)
    }

    /// What there is for a workspace, and what a chat was sent.
    pub fn view(
        &self,
        workspace: &Path,
        session: Option<&str>,
        lang: Lang,
    ) -> Result<InstructionsView, Fault> {
        let reading = self.read(workspace);
        let consent = self.consent(&reading)?;
        let block = Block::of(&reading, consent == Some(InstructionConsent::Use), MOST_BYTES);
        let sent = session.map(|session| self.store.newest_block(session)).transpose()?.flatten();
        let sent = sent.map(|block| block.text).filter(|text| text != WITHDRAWN).unwrap_or_default();
        let root = reading.project.as_ref().map(|project| project.root.display().to_string());
        Ok(InstructionsView {
            root: root.unwrap_or_default(),
            consent,
            files: block.list(&reading, lang),
            text: block.text(false),
            skills: reading.skills as u32,
            commands: reading.commands as u32,
            nested: reading.nested,
            sent,
        })
    }
}

/// Keeps a person's word about a project.
pub fn set_consent(
    store: &Store,
    root: &Path,
    word: Option<InstructionConsent>,
    by: &str,
) -> Result<(), Fault> {
    Ok(store.set_project_consent(&root.to_string_lossy(), word.map(InstructionConsent::as_str), by)?)
}

/// What is kept with a message, if anything.
fn kept(wanted: &Wanted, environment: String, texts: Option<(String, String)>) -> Option<MessageBlock> {
    let (text, files) = texts.unwrap_or_else(|| (String::new(), "[]".to_owned()));
    (!environment.is_empty() || !text.is_empty()).then(|| MessageBlock {
        message_id: wanted.message_id.clone(),
        session_id: wanted.transcript.clone(),
        environment,
        text,
        files,
    })
}

fn not_used(reading: &Reading) -> Notice {
    let of_project = reading.candidates.iter().filter(|one| !one.own);
    let names: Vec<String> = of_project.map(|one| format!("`{}`", one.path)).collect();
    Notice {
        severity: Severity::Info,
        code: "instructions_not_used",
        text: Text::new(
            format!(
                "the project's instructions were not used ({}): nobody allowed it yet. `chatos instructions --set use` \
                 or `chatos chat --instructions use` does",
                names.join(", ")
            ),
            format!(
                "未使用此项目的说明文件（{}）：尚未得到允许。可运行 `chatos instructions --set use` 或 \
                 `chatos chat --instructions use`",
                names.join("、")
            ),
        ),
    }
}

fn unreadable(reading: &Reading, project: bool) -> Option<Notice> {
    let wanted = reading.candidates.iter().filter(|one| one.own || project);
    let odd: Vec<(&str, &Text)> = wanted
        .filter_map(|one| match &one.content {
            crate::reading::Content::Unreadable(why) => Some((one.path.as_str(), why)),
            _ => None,
        })
        .collect();
    let list = |lang: Lang| {
        let all = odd.iter().map(|(path, why)| format!("`{path}` {}", why.get(lang)));
        all.collect::<Vec<_>>().join(if lang == Lang::En { "; " } else { "；" })
    };
    (!odd.is_empty()).then(|| Notice {
        severity: Severity::Warning,
        code: "instructions_unreadable",
        text: Text::new(
            format!("an instruction file was left out: {}", list(Lang::En)),
            format!("有说明文件未被采用：{}", list(Lang::Zh)),
        ),
    })
}

#[cfg(test)]
#[path = "desk/tests.rs"]
mod tests;
