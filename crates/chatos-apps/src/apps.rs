//! The apps of one host: what they are made of, and what they keep between calls.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use chatos_agents::Agents;
use chatos_child::{HostNode, Spawning};
use chatos_events::{Events, Lifetime};
use chatos_inbox::Inbox;
use chatos_manifest::{AppId, PluginId};
use chatos_model::Models;
use chatos_paths::{Environment, Locations, StateDir};
use chatos_plugins::backend::Backends;
use chatos_plugins::{Lending, PluginHome, Plugins};
use chatos_servers::{Servers, Toolset};
use chatos_settings::Settings;
use chatos_store::{Audit, Store};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::confinement::Browsers;
use crate::frames::Revisions;
use crate::views::Views;

/// What apps ask of the host around them, which stands only when they do.
pub trait AppHost: Send + Sync {
    /// The tool servers, made on first use. Called on the runtime.
    fn servers(&self) -> Result<Servers, Fault>;

    /// How programs of plugins are started.
    fn spawning(&self) -> Result<Spawning, Fault>;

    /// Calls a tool of `set`, on the one path that every call takes.
    fn call(&self, set: Arc<Toolset>, call: AppCall) -> BoxFuture<'static, Result<Value, Fault>>;
}

/// A call of a tool by a view or by a model that a backend asks.
#[derive(Debug, Clone, Default)]
pub struct AppCall {
    /// Identity of the server the tool belongs to.
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// Arguments of the tool, checked against its schema by the call.
    pub arguments: Option<Value>,
    /// `_meta` of the call.
    pub meta: Map<String, Value>,
    /// The chat it belongs to; empty without one.
    pub session: String,
    /// Call as this agent would; a person may use everything otherwise.
    pub agent: Option<String>,
    /// The language of texts.
    pub lang: Lang,
}

/// What the apps of a host are made of.
pub struct AppParts {
    /// Directory with the data folders of plugins, their logs and the record of events.
    pub dir: StateDir,
    /// Directories of ChatOS that no app gets.
    pub places: Locations,
    /// The environment of this process.
    pub environment: Environment,
    /// The project the host was started in.
    pub project: PathBuf,
    /// What `$sessionRoot` stands for in the environment of plugins (plugins §1.1).
    pub session_root: PathBuf,
    /// The version that frames are told.
    pub version: &'static str,
    /// Grants, folders and agents of apps.
    pub store: Store,
    /// `nodePath`, `pluginEnv.*`, the language.
    pub settings: Settings,
    /// Decisions of a person are kept here.
    pub audit: Audit,
    /// Pages and frames are told of changes.
    pub events: Events,
    /// Questions about folders wait as long as the host runs.
    pub life: Lifetime,
    /// A folder is asked about there.
    pub inbox: Inbox,
    /// The plugins the apps belong to.
    pub plugins: PluginHome,
    /// Node modules this program lends to backends.
    pub lending: Lending,
    /// The Node that runs backends.
    pub node: HostNode,
    /// Agents that apps make.
    pub agents: Agents,
    /// Models that backends ask through `ctx.llm.complete`.
    pub models: Models,
    /// The servers as far as anybody needed them.
    pub servers: Arc<OnceLock<Servers>>,
    /// The host around the apps, for what only it can do.
    pub host: Arc<dyn AppHost>,
}

/// The apps of one host. Clones are the same.
#[derive(Clone)]
pub struct Apps(pub(crate) Arc<Inner>);

/// What all handles share.
pub(crate) struct Inner {
    pub(crate) parts: AppParts,
    revisions: Mutex<Revisions>,
    views: Mutex<Views>,
    pub(crate) browsers: Browsers,
    pub(crate) backends: OnceLock<Backends>,
    /// For work that files and plugins cause on threads without one.
    pub(crate) runtime: OnceLock<tokio::runtime::Handle>,
    /// Pages in browsers that follow this host.
    pub(crate) pages: watch::Sender<usize>,
    /// Apps that have to be mounted, each with the calls that wait for it.
    needed: Mutex<HashMap<(PluginId, AppId), Vec<String>>>,
    /// What apps tried and may not, told already.
    wished: Mutex<HashSet<(String, &'static str)>>,
    /// One wish for a folder at a time.
    pub(crate) wishing: tokio::sync::Mutex<()>,
}

impl Apps {
    /// The apps of a host. Nothing is started before somebody opens one.
    pub fn new(parts: AppParts) -> Self {
        let apps = Self(Arc::new(Inner {
            parts,
            revisions: Mutex::default(),
            views: Mutex::default(),
            browsers: Browsers::default(),
            backends: OnceLock::new(),
            runtime: OnceLock::new(),
            pages: watch::Sender::default(),
            needed: Mutex::default(),
            wished: Mutex::default(),
            wishing: tokio::sync::Mutex::default(),
        }));
        apps.wire_backends();
        apps
    }

    /// The plugins, scanned on first use.
    pub(crate) fn plugins(&self) -> Result<&Plugins, Fault> {
        self.0.parts.plugins.plugins()
    }

    /// The plugins, for those who open them on first use.
    pub(crate) fn plugin_home(&self) -> &PluginHome {
        &self.0.parts.plugins
    }

    /// The tool servers, made by the host on first use.
    pub(crate) fn servers(&self) -> Result<Servers, Fault> {
        self.0.parts.host.servers()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.parts.store
    }

    pub(crate) fn events(&self) -> &Events {
        &self.0.parts.events
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.0.parts.agents
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.0.parts.inbox
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    pub(crate) fn dir(&self) -> &StateDir {
        &self.0.parts.dir
    }

    pub(crate) fn project(&self) -> &Path {
        &self.0.parts.project
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.0.parts.environment
    }

    /// The language of people.
    pub(crate) fn lang(&self) -> Lang {
        self.settings().languages().people
    }

    pub(crate) fn audit(&self, kind: &str, fields: Map<String, Value>) {
        self.0.parts.audit.note(kind, fields);
    }

    pub(crate) fn revisions(&self) -> MutexGuard<'_, Revisions> {
        self.0.revisions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn views(&self) -> MutexGuard<'_, Views> {
        self.0.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn needed(&self) -> MutexGuard<'_, HashMap<(PluginId, AppId), Vec<String>>> {
        self.0.needed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wished(&self) -> MutexGuard<'_, HashSet<(String, &'static str)>> {
        self.0.wished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fault of work on another thread that panicked.
pub(crate) fn broken(error: &chatos_blocking::WorkError) -> Fault {
    Fault::new(ErrorCode::Internal, Text::fixed("work for an app failed", "应用的操作失败")).caused_by(error)
}
