//! Every text a system prompt can be made of, by key and language: rows of the database, and what
//! trusted apps contribute while they have no row.

use std::collections::BTreeMap;

use chatos_contribution::{ServerIdentity, normalize_server};
use chatos_policy::{PromptLang, Role};
use chatos_store::SystemPrompt;
use chatos_tool::{Fault, Lang};

use crate::agents::AgentParts;

/// The suffix of the English one of two texts (ai-contributions §4).
const ENGLISH: &str = "__en";

/// One text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BookText {
    /// Row id, or the name when there is no row.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) content: String,
    pub(crate) allow_main: bool,
    pub(crate) allow_sub: bool,
    /// The app that contributed it.
    pub(crate) app: Option<(String, String)>,
}

impl BookText {
    /// Whether this stands for a text in the wanted language and is in the other one. By its name the English text of a
    /// key has a suffix and the other has none; a person may have written either in any language, so what it says counts.
    pub(crate) fn is_other(&self, wanted: Lang) -> bool {
        let english = self.name.to_lowercase().ends_with(ENGLISH);
        let chinese = self.content.chars().any(|c| matches!(c, '\u{4e00}'..='\u{9fff}'));
        english == (wanted == Lang::Zh) && chinese != (wanted == Lang::Zh)
    }
}

/// All of them at one moment.
#[derive(Debug, Default)]
pub(crate) struct PromptBook {
    /// By name in lower case.
    texts: BTreeMap<String, BookText>,
    ids: BTreeMap<String, String>,
    /// Base names of an app's own prompt.
    own: BTreeMap<(String, String), String>,
    /// Names an app lets a person choose.
    exposed: BTreeMap<(String, String), chatos_contribution::Exposed>,
    /// Base names of the prompts of servers.
    of_server: BTreeMap<ServerIdentity, String>,
}

/// Why a key gave no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoText {
    Missing,
    NotForRole,
}

impl PromptBook {
    /// Reads everything.
    pub(crate) fn read(parts: &AgentParts) -> Result<Self, Fault> {
        let rows = parts.store.system_prompts()?;
        let mut book = Self::default();
        for row in rows {
            book.add_row(row);
        }
        let snapshot = parts.plugins.plugins()?.snapshot();
        for app in snapshot.contributions() {
            let key = (app.plugin_id.to_string(), app.app_id.to_string());
            book.exposed.insert(key.clone(), app.prompts.exposed.clone());
            let Some(prompt) = app.mcp_prompt else { continue };
            for (name, content) in [(&prompt.names.zh, prompt.zh), (&prompt.names.en, prompt.en)] {
                // A row of the same app is the same text, with a person's edits.
                let mirrored =
                    book.texts.values().any(|text| text.app.as_ref() == Some(&key) && text.name == *name);
                if content.trim().is_empty() || mirrored || book.texts.contains_key(&name.to_lowercase()) {
                    continue;
                }
                book.insert(BookText {
                    id: name.clone(),
                    name: name.clone(),
                    content,
                    allow_main: true,
                    allow_sub: true,
                    app: Some(key.clone()),
                });
            }
            book.add_own(key, app.mcp.map(|server| server.identity), prompt.names.zh);
        }
        Ok(book)
    }

    /// The own prompt of an app, and of its server where it has one.
    pub(crate) fn add_own(&mut self, app: (String, String), server: Option<ServerIdentity>, name: String) {
        if let Some(server) = server {
            self.of_server.insert(server, name.clone());
        }
        self.own.insert(app, name);
    }

    fn add_row(&mut self, row: SystemPrompt) {
        let app = (row.source == "app").then(|| (row.plugin_id.clone(), row.app_id.clone()));
        self.insert(BookText {
            id: row.id,
            name: row.name,
            content: row.content,
            allow_main: row.allow_main,
            allow_sub: row.allow_sub,
            app,
        });
    }

    pub(crate) fn insert(&mut self, text: BookText) {
        let name = text.name.to_lowercase();
        self.ids.entry(text.id.clone()).or_insert_with(|| name.clone());
        self.texts.entry(name).or_insert(text);
    }

    /// The key a person wrote as an id or a name, without the language.
    pub(crate) fn key_of(&self, written: &str) -> String {
        let name = match self.ids.get(written) {
            Some(name) => self.texts.get(name).map_or(written, |text| text.name.as_str()),
            None => written,
        };
        name.strip_suffix(ENGLISH).unwrap_or(name).to_owned()
    }

    /// The text of a key in a language, else in the other one.
    pub(crate) fn find(&self, key: &str, lang: Lang, role: Role) -> Result<&BookText, NoText> {
        let (zh, en) = (key.to_lowercase(), format!("{}{ENGLISH}", key.to_lowercase()));
        let order = if lang == Lang::Zh { [&zh, &en] } else { [&en, &zh] };
        let mut reason = NoText::Missing;
        for name in order {
            let Some(text) = self.texts.get(name).filter(|text| !text.content.trim().is_empty()) else {
                continue;
            };
            let allowed = if role == Role::Main { text.allow_main } else { text.allow_sub };
            if allowed {
                return Ok(text);
            }
            reason = NoText::NotForRole;
        }
        Err(reason)
    }

    /// The key of an app's own prompt.
    pub(crate) fn own_of(&self, plugin: &str, app: &str) -> Option<&str> {
        self.own.get(&(plugin.to_owned(), app.to_owned())).map(String::as_str)
    }

    /// Whether an app lets a person choose this prompt for it.
    pub(crate) fn selectable(&self, plugin: &str, app: &str, key: &str) -> bool {
        use chatos_contribution::Exposed;
        if self.own_of(plugin, app).is_some_and(|own| own.eq_ignore_ascii_case(key)) {
            return true;
        }
        match self.exposed.get(&(plugin.to_owned(), app.to_owned())) {
            None | Some(Exposed::None) => false,
            Some(Exposed::All) => true,
            Some(Exposed::List(names)) => {
                names.iter().any(|name| name.strip_suffix(ENGLISH).unwrap_or(name).eq_ignore_ascii_case(key))
            }
        }
    }

    /// The key of a server's prompt.
    pub(crate) fn of_server(&self, identity: &ServerIdentity, name: &str) -> String {
        match self.of_server.get(identity) {
            Some(key) => key.clone(),
            None => format!("mcp_{}", normalize_server(name)),
        }
    }
}

/// The first language somebody decided on.
pub(crate) fn language(choices: &[PromptLang], setting: Lang) -> Lang {
    let decided = choices.iter().find(|lang| **lang != PromptLang::Auto);
    match decided {
        Some(PromptLang::Zh) => Lang::Zh,
        Some(PromptLang::En) => Lang::En,
        _ => setting,
    }
}
