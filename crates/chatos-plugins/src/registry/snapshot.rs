//! The immutable result of a scan.

use std::sync::Arc;

use chatos_contribution::{AppContribution, PromptNames};
use chatos_manifest::{AppId, PluginId, Problem};

use crate::layout::{Origin, Roots};
use crate::load::{LoadedApp, LoadedPlugin};
use crate::trust::{Trust, TrustState};

/// All plugins at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// Grows only when the content differs.
    pub revision: u64,
    /// Every plugin that was read, in scan order; a user plugin that waits for trust stands beside
    /// the built-in it would override.
    pub plugins: Vec<Arc<Plugin>>,
    /// Errors and warnings of all plugins and of the scan itself.
    pub problems: Vec<Problem>,
    /// Where built-in plugins are.
    pub builtin_dir: Option<String>,
    /// Where user plugins are.
    pub user_dir: String,
    /// Problems of the scan alone, to compare the next scan with.
    pub(crate) scan_problems: Vec<Problem>,
}

/// A plugin in a snapshot.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// What was read from its directory.
    pub loaded: Arc<LoadedPlugin>,
    /// Problems of its directory (also those that dropped apps).
    pub directory_problems: Arc<Vec<Problem>>,
    /// May it run?
    pub trust: Trust,
    /// The origin of a plugin with the same id that it overrides, or would once trusted.
    pub shadows: Option<Origin>,
    /// True for the one plugin of its id that is in use.
    pub active: bool,
    /// Names per app, in the order of `loaded.apps`; `None` without server and prompt.
    pub names: Vec<Option<AppNames>>,
}

/// The allocated names of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppNames {
    /// Normalized server name.
    pub normalized: String,
    /// Prompt names.
    pub prompts: PromptNames,
}

impl Plugin {
    /// The id.
    pub fn id(&self) -> &PluginId {
        self.loaded.id()
    }

    /// True when its processes, frames and contributions may be used.
    pub fn is_trusted(&self) -> bool {
        self.trust.state == TrustState::Trusted
    }

    /// An app with its names.
    pub fn app(&self, id: &AppId) -> Option<(&LoadedApp, Option<&AppNames>)> {
        let index = self.loaded.apps.iter().position(|app| app.manifest.id == *id)?;
        Some((&self.loaded.apps[index], self.names.get(index).and_then(Option::as_ref)))
    }

    /// What an app contributes, trusted or not: for the trust page and `chatos plugin ai`.
    pub fn preview_contribution(&self, app: &AppId, revision: u64) -> Option<AppContribution> {
        let (app, names) = self.app(app)?;
        let (ai, names) = (app.ai.as_ref()?, names?);
        let dir = self.loaded.dir.to_string_lossy();
        Some(AppContribution::new(
            self.id(),
            &app.manifest.id,
            &dir,
            revision,
            ai,
            &names.normalized,
            &names.prompts,
        ))
    }

    pub(crate) fn same_as(&self, other: &Plugin) -> bool {
        (Arc::ptr_eq(&self.loaded, &other.loaded) || self.loaded == other.loaded)
            && self.trust == other.trust
            && self.shadows == other.shadows
            && self.active == other.active
            && self.names == other.names
    }
}

impl Snapshot {
    pub(crate) fn empty(roots: &Roots) -> Self {
        Self {
            revision: 0,
            plugins: Vec::new(),
            problems: Vec::new(),
            builtin_dir: roots.builtin.as_ref().map(|dir| dir.to_string_lossy().into_owned()),
            user_dir: roots.user.plugins().to_string_lossy().into_owned(),
            scan_problems: Vec::new(),
        }
    }

    /// The next snapshot: the old one when nothing a reader can see differs.
    pub(crate) fn next(
        previous: &Arc<Snapshot>,
        roots: &Roots,
        plugins: Vec<Arc<Plugin>>,
        problems: Vec<Problem>,
        scan_problems: Vec<Problem>,
    ) -> Arc<Self> {
        let same = previous.revision > 0
            && previous.problems == problems
            && previous.plugins.len() == plugins.len()
            && previous.plugins.iter().zip(&plugins).all(|(a, b)| Arc::ptr_eq(a, b) || a.same_as(b));
        let revision = if same { previous.revision } else { previous.revision + 1 };
        Arc::new(Self { revision, plugins, problems, scan_problems, ..Self::empty(roots) })
    }

    /// The plugin in use for an id.
    pub fn plugin(&self, id: &PluginId) -> Option<&Arc<Plugin>> {
        self.plugins.iter().find(|plugin| plugin.active && plugin.id() == id)
    }

    /// The plugin of an id that a person decides about: the user's own where there is one, else the
    /// one in use.
    pub fn plugin_for_person(&self, id: &PluginId) -> Option<&Arc<Plugin>> {
        let of_user = |plugin: &&Arc<Plugin>| plugin.loaded.origin == Origin::User && plugin.id() == id;
        self.plugins.iter().find(of_user).or_else(|| self.plugin(id))
    }

    /// What an app contributes; `None` when it is unknown, has no `ai`, or is not trusted
    /// (ai-contributions §7).
    pub fn contribution(&self, plugin: &PluginId, app: &AppId) -> Option<AppContribution> {
        self.plugin(plugin).filter(|plugin| plugin.is_trusted())?.preview_contribution(app, self.revision)
    }

    /// The contributions of all trusted apps, in scan order.
    pub fn contributions(&self) -> Vec<AppContribution> {
        self.plugins
            .iter()
            .filter(|plugin| plugin.active && plugin.is_trusted())
            .flat_map(|plugin| plugin.loaded.apps.iter().map(move |app| (plugin, &app.manifest.id)))
            .filter_map(|(plugin, app)| plugin.preview_contribution(app, self.revision))
            .collect()
    }

    /// Problems of one plugin.
    pub fn problems_of(&self, id: &PluginId) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(move |problem| problem.plugin_id.as_ref() == Some(id))
    }
}
