//! The registry listing as JSON (plugins §6): `GET /api/v1/plugins` and `host.registry.list()`.
//! `auth`, `callMeta` and prompt texts are never in it.

use std::sync::Arc;

use chatos_contribution::{Exposed, ResolvedAi};
use chatos_manifest::{Lang, Problem, Publisher};
use chatos_wire::plugin::{
    AiEntry, AppEntry, AppPlugin, AppPromptEntry, AppServerEntry, BackendEntry, IconEntry, ModuleEntry,
    PluginDirs, PluginEntry, PluginListing, ProblemEntry, PromptNameEntry, PromptPlace, PublisherEntry,
    TrustEntry,
};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::layout::Origin;
use crate::load::{Icon, LoadedApp};
use crate::registry::{AppNames, Plugin, Registry, Snapshot};
use crate::trust::TrustState;

/// Who reads the listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The person, in the UI or a terminal.
    Person,
    /// An app: directories and absolute paths are blanked.
    App,
}

/// State of a plugin's backend, asked of whoever runs it.
pub type BackendState<'a> = &'a dyn Fn(&Plugin) -> &'static str;

impl Registry {
    /// The listing of a snapshot. Digests of user plugins that nobody needed yet are computed here.
    pub fn listing(
        &self,
        snapshot: &Snapshot,
        lang: Lang,
        reader: Reader,
        state: BackendState<'_>,
    ) -> PluginListing {
        let mut plugins: Vec<PluginEntry> =
            snapshot.plugins.iter().map(|plugin| self.entry(plugin, reader, state)).collect();
        plugins.sort_by_cached_key(|plugin| (collation_key(&plugin.name), plugin.id.clone()));
        let mut apps: Vec<AppEntry> = snapshot
            .plugins
            .iter()
            .filter(|plugin| plugin.active)
            .flat_map(|plugin| app_entries(plugin, reader))
            .collect();
        apps.sort_by_cached_key(|app| (collation_key(&app.name), app.id.clone(), app.plugin.id.clone()));
        let blank = |dir: &str| if reader == Reader::App { String::new() } else { dir.to_owned() };
        PluginListing {
            ok: true,
            revision: snapshot.revision,
            plugin_dirs: PluginDirs {
                builtin: blank(snapshot.builtin_dir.as_deref().unwrap_or_default()),
                user: blank(&snapshot.user_dir),
            },
            plugins,
            apps,
            errors: snapshot.problems.iter().map(|problem| problem_entry(problem, lang, reader)).collect(),
        }
    }

    /// One plugin as in the listing.
    pub fn entry(&self, plugin: &Arc<Plugin>, reader: Reader, state: BackendState<'_>) -> PluginEntry {
        let manifest = &plugin.loaded.manifest;
        // A tree that cannot be read has no digest; the trust page says why when it is opened.
        let digest = match plugin.loaded.origin {
            Origin::User => self.digest(plugin).ok().map(|digest| digest.to_string()),
            Origin::Dev => plugin.trust.digest.as_ref().map(ToString::to_string),
            Origin::Builtin => None,
        };
        let mut backend = backend_entry(plugin);
        if let Some(backend) = &mut backend {
            backend.state = Some(state(plugin).to_owned());
        }
        PluginEntry {
            id: manifest.id.to_string(),
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            description: manifest.description.clone(),
            publisher: manifest.publisher.as_ref().map(publisher_entry),
            source: plugin.loaded.origin.as_str().to_owned(),
            trusted: plugin.is_trusted(),
            active: plugin.active,
            shadows: plugin.shadows.map(|origin| origin.as_str().to_owned()),
            trust: TrustEntry {
                state: trust_word(plugin.trust.state).to_owned(),
                digest,
                decided_at: plugin.trust.decided_at.and_then(iso_time),
            },
            backend,
            apps: app_entries(plugin, reader),
            extra: manifest.extra.clone(),
        }
    }
}

/// The word of a trust state.
pub fn trust_word(state: TrustState) -> &'static str {
    match state {
        TrustState::Trusted => "trusted",
        TrustState::Untrusted => "untrusted",
        TrustState::Changed => "changed",
    }
}

/// A problem in one language.
pub fn problem_entry(problem: &Problem, lang: Lang, reader: Reader) -> ProblemEntry {
    let view = problem.view(lang);
    let word = |value: &dyn erased::Word| value.word();
    ProblemEntry {
        path: view.path.to_owned(),
        code: view.code.to_string(),
        severity: word(&view.severity),
        message: view.message.clone(),
        hint: view.hint.to_owned(),
        dir: view.dir.map(|dir| if reader == Reader::App { String::new() } else { dir.to_owned() }),
        plugin_id: view.plugin_id.map(ToString::to_string),
        app_id: view.app_id.map(ToString::to_string),
        source: word(&view.source),
    }
}

/// Milliseconds since 1970 as ISO 8601 with milliseconds.
pub fn iso_time(ms: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(ms).ok().map(|time| format!("{time:.3}"))
}

fn publisher_entry(publisher: &Publisher) -> PublisherEntry {
    PublisherEntry {
        name: publisher.name.clone(),
        url: publisher.url.clone(),
        email: publisher.email.clone(),
    }
}

fn backend_entry(plugin: &Plugin) -> Option<BackendEntry> {
    let declared = plugin.loaded.manifest.backend.as_ref()?;
    Some(BackendEntry {
        entry: declared.entry.clone(),
        available: plugin.loaded.backend.is_some(),
        state: None,
    })
}

fn app_entries(plugin: &Plugin, reader: Reader) -> Vec<AppEntry> {
    plugin
        .loaded
        .apps
        .iter()
        .zip(&plugin.names)
        .map(|(app, names)| app_entry(plugin, app, names.as_ref(), reader))
        .collect()
}

fn app_entry(plugin: &Plugin, app: &LoadedApp, names: Option<&AppNames>, reader: Reader) -> AppEntry {
    let plugin_manifest = &plugin.loaded.manifest;
    let id = plugin_manifest.id.as_str();
    let module = |path: &str, compact| ModuleEntry {
        kind: "module".to_owned(),
        path: path.to_owned(),
        url: format!("chatos-plugin://{id}/{}", encode_path(path)),
        compact,
    };
    let compact =
        app.manifest.entry.compact.as_ref().map(|compact| Box::new(module(compact.path.as_str(), None)));
    AppEntry {
        id: app.manifest.id.to_string(),
        name: app.manifest.name.clone(),
        description: app.manifest.description.clone(),
        icon: app.manifest.icon.clone(),
        icon_view: match &app.icon {
            Icon::Text { text } => IconEntry { kind: "text".into(), value: text.clone() },
            Icon::File { path } => IconEntry { kind: "file".into(), value: path.clone() },
            Icon::Letter { text } => IconEntry { kind: "letter".into(), value: text.clone() },
        },
        entry: module(app.manifest.entry.module.path.as_str(), compact),
        ai: app.ai.as_ref().zip(names).map(|(ai, names)| ai_entry(plugin, app, ai, names, reader)),
        route: format!("apps/plugin/{id}/{}", app.manifest.id),
        plugin: AppPlugin {
            id: id.to_owned(),
            name: plugin_manifest.name.clone(),
            version: plugin_manifest.version.clone(),
            source: plugin.loaded.origin.as_str().to_owned(),
            trusted: plugin.is_trusted(),
            backend: backend_entry(plugin),
        },
    }
}

fn ai_entry(plugin: &Plugin, app: &LoadedApp, ai: &ResolvedAi, names: &AppNames, reader: Reader) -> AiEntry {
    let mcp = ai.mcp.as_ref().map(|server| AppServerEntry {
        name: chatos_contribution::server_name(plugin.id(), &app.manifest.id),
        url: if reader == Reader::App { String::new() } else { server.url.clone() },
        description: server.decl.description.clone(),
        tags: server.tags.clone(),
        enabled: server.decl.enabled.unwrap_or(true),
        allow_main: server.decl.allow_main.unwrap_or(true),
        allow_sub: server.decl.allow_sub.unwrap_or(true),
        has_auth: server.decl.auth.is_some(),
    });
    let mcp_prompt = ai.prompt.as_ref().map(|prompt| AppPromptEntry {
        title: prompt.title.clone(),
        zh: prompt.text.zh.as_ref().map(|_| PromptPlace { path: prompt.zh_path.clone() }),
        en: prompt.text.en.as_ref().map(|_| PromptPlace { path: prompt.en_path.clone() }),
        names: PromptNameEntry { zh: names.prompts.zh.clone(), en: names.prompts.en.clone() },
    });
    AiEntry {
        mcp,
        mcp_prompt,
        mcp_servers: exposed_value(&ai.mcp_servers.exposed),
        prompts: exposed_value(&ai.prompts.exposed),
        agent: ai.agent.as_ref().and_then(|agent| serde_json::to_value(agent).ok()),
    }
}

fn exposed_value(exposed: &Exposed) -> Value {
    match exposed {
        Exposed::None => Value::Null,
        Exposed::All => Value::Bool(true),
        Exposed::List(names) => Value::from(names.clone()),
    }
}

/// `?`, `#`, `%` and everything else outside the path characters of RFC 3986 is percent-encoded.
fn encode_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Letters without case and accents first, then the text itself: how people expect names sorted.
fn collation_key(name: &str) -> (String, String) {
    let plain = name.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    (plain, name.to_owned())
}

/// The serialised word of a unit enum.
mod erased {
    pub(super) trait Word {
        fn word(&self) -> String;
    }

    impl<T: serde::Serialize> Word for T {
        fn word(&self) -> String {
            match serde_json::to_value(self) {
                Ok(serde_json::Value::String(word)) => word,
                _ => String::new(),
            }
        }
    }
}
