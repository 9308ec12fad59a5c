//! Problems: structured errors and warnings about a plugin (plugin-manifest §4). A bad plugin is
//! data, not a failure of the host, so these are values that travel with the snapshot.

mod code;

use serde::Serialize;

pub use code::ProblemCode;

use crate::{AppId, Lang, PluginId, Text, quote};

/// Whether something was dropped (or would be refused at install) or is only worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A part was left out.
    Error,
    /// Nothing was left out.
    Warning,
}

/// Which activity found the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words of the protocol")]
pub enum Source {
    Scan,
    Manifest,
    Entry,
    Backend,
    Ai,
    Trust,
    Install,
    Sync,
    Runtime,
}

/// The part a problem leaves out of the snapshot. Installing with "install what works" tolerates
/// only the parts from `App` down (plugins §8 step 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dropped {
    /// The whole plugin.
    Plugin,
    /// A display field of the plugin, such as `homepage`.
    Field,
    /// One app.
    App,
    /// The compact entry of an app.
    Compact,
    /// Nothing is dropped, but the backend cannot run.
    Backend,
    /// `ai` of an app, or a part of it.
    Ai,
    /// Nothing: a warning.
    Nothing,
}

impl Dropped {
    /// True where "install what works" may go on.
    pub fn is_tolerable(self) -> bool {
        !matches!(self, Dropped::Plugin | Dropped::Field)
    }
}

/// The app a problem belongs to: its place in `apps[]`, and its id once that is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AppRef {
    /// Index in `apps[]`.
    pub index: usize,
    /// The id, when it could be read.
    pub id: Option<AppId>,
}

/// One error or warning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// JSON pointer into the manifest, or `<file>#<pointer>` for a config file.
    pub path: String,
    /// Stable code.
    pub code: ProblemCode,
    /// Error or warning.
    pub severity: Severity,
    /// The sentence, without the app's name in front.
    pub message: Text,
    /// Who found it.
    pub source: Source,
    /// What was left out.
    pub dropped: Dropped,
    /// The plugin, when known.
    pub plugin_id: Option<PluginId>,
    /// The app, when the problem is within one.
    pub app: Option<AppRef>,
    /// The plugin directory; filled in by whoever read the files.
    pub dir: Option<String>,
}

impl Problem {
    /// A problem about a whole plugin or the scan itself; refine it with the builder methods.
    pub fn new(code: ProblemCode, path: impl Into<String>, message: Text) -> Self {
        Self {
            path: path.into(),
            code,
            severity: code.severity(),
            message,
            source: Source::Manifest,
            dropped: if code.severity() == Severity::Warning { Dropped::Nothing } else { Dropped::Plugin },
            plugin_id: None,
            app: None,
            dir: None,
        }
    }

    /// Sets who found it.
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Sets what it leaves out (ignored for warnings).
    pub fn dropping(mut self, dropped: Dropped) -> Self {
        if self.severity == Severity::Error {
            self.dropped = dropped;
        }
        self
    }

    /// Sets the plugin.
    pub fn of_plugin(mut self, id: &PluginId) -> Self {
        self.plugin_id = Some(id.clone());
        self
    }

    /// Sets the app.
    pub fn of_app(mut self, index: usize, id: &AppId) -> Self {
        self.app = Some(AppRef { index, id: Some(id.clone()) });
        self
    }

    /// Sets the directory.
    pub fn in_dir(mut self, dir: impl Into<String>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// True for errors.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// What to do about it.
    pub fn hint(&self, lang: Lang) -> &'static str {
        self.code.hint(lang)
    }

    /// The chapter of the documents with the rule it breaks, as a path below the root of the repository.
    pub fn document(&self) -> &'static str {
        let (code, place) = (self.code.as_str(), self.path.as_str());
        // A config file is the `ai` part of its app.
        let ai = place.split_once('#').map(|(_, pointer)| pointer).or_else(|| {
            place
                .split_once("/ai")
                .map(|(_, rest)| rest)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let about = |part: &str| ai.is_some_and(|pointer| pointer.starts_with(part));
        match code {
            _ if code.starts_with("path_") => "docs/protocols/plugin-manifest.md#paths",
            _ if code.starts_with("id_") => "docs/protocols/plugin-manifest.md#ids",
            _ if code.starts_with("manifest_") => "docs/protocols/plugin-manifest.md#the-file",
            _ if code.starts_with("cmd_") => "docs/protocols/ai-contributions.md#cmd",
            "unbundled_import" | "module_missing" => "docs/first-plugin.md#6-use-a-package-from-npm",
            _ if about("/mcpPrompt") => "docs/protocols/ai-contributions.md#prompt-aimcpprompt",
            _ if about("/mcpServers") || about("/prompts") => {
                "docs/protocols/ai-contributions.md#exposure-aimcpservers-aiprompts"
            }
            _ if about("/mcp/callMeta/asyncTask") => {
                "docs/protocols/ai-contributions.md#asynctask-callmetaasynctask"
            }
            _ if about("/mcp/callMeta") => "docs/protocols/ai-contributions.md#call-metadata",
            _ if about("/mcp") => "docs/protocols/ai-contributions.md#server-aimcp",
            _ if ai.is_some() => "docs/protocols/ai-contributions.md#forms",
            _ if place.starts_with("/apps/") => "docs/protocols/plugin-manifest.md#apps",
            _ if place.starts_with('/') => "docs/protocols/plugin-manifest.md#top-level",
            _ => "docs/protocols/plugin-manifest.md#problems",
        }
    }

    /// The sentence with the app in front, as listings show it; `validate` shows
    /// [`Problem::message`] beside the pointer instead.
    pub fn full_message(&self, lang: Lang) -> String {
        let text = self.message.get(lang);
        match (&self.plugin_id, &self.app) {
            (Some(plugin), Some(AppRef { id: Some(app), .. }))
                if self.source != Source::Manifest && self.source != Source::Runtime =>
            {
                let name = quote(&format!("{plugin}:{app}"));
                match lang {
                    Lang::En => format!("App {name}: {text}"),
                    Lang::Zh => format!("应用 {name}：{text}"),
                }
            }
            _ => text.to_owned(),
        }
    }

    /// The wire form in one language.
    pub fn view(&self, lang: Lang) -> ProblemView<'_> {
        ProblemView {
            path: &self.path,
            code: self.code,
            severity: self.severity,
            message: self.full_message(lang),
            hint: self.hint(lang),
            dir: self.dir.as_deref(),
            plugin_id: self.plugin_id.as_ref(),
            app_id: self.app.as_ref().and_then(|app| app.id.as_ref()),
            source: self.source,
            docs: None,
        }
    }

    /// The wire form for the author, as `validate` gives it: the bare sentence and the chapter, no directory.
    pub fn plain_view(&self, lang: Lang) -> ProblemView<'_> {
        let message = self.message.get(lang).to_owned();
        ProblemView { message, dir: None, docs: Some(self.document()), ..self.view(lang) }
    }
}

/// [`Problem`] as it is written in JSON (plugin-manifest §4).
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct ProblemView<'a> {
    pub path: &'a str,
    pub code: ProblemCode,
    pub severity: Severity,
    pub message: String,
    pub hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<&'a PluginId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<&'a AppId>,
    pub source: Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs: Option<&'static str>,
}
