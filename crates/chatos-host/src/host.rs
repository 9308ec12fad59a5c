//! A host: everything of one state directory, open. How it is opened is in `host/open.rs`, what it does while it serves
//! in `host/serve.rs`.

mod open;
mod serve;
mod setting;
mod start;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chatos_agents::Agents;
use chatos_apps::Apps;
use chatos_archive::Archive;
use chatos_child::{HostNode, NodeInfo};
use chatos_events::{Events, Lifetime, Notice, Notices, Operations};
use chatos_inbox::Inbox;
use chatos_keys::StateKey;
use chatos_model::Models;
use chatos_paths::{Environment, FileLock, Locations, StateDir};
use chatos_plugins::PluginHome;
use chatos_reach::Reach;
use chatos_records::RunRecords;
use chatos_servers::{ServerHome, Servers};
use chatos_settings::Settings;
use chatos_store::{Audit, Secrets, StateKeys, Store};
use chatos_tool::{Lang, Redactor};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::announced::Announced;
use crate::children::Children;
use chatos_calls::Calls;
use chatos_calls::Tools;
use chatos_runs::Runs;

/// What a caller decides about a host.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// The environment, read once.
    pub environment: Environment,
    /// `--state-dir`.
    pub state_dir: Option<PathBuf>,
    /// `--project`; the current directory otherwise.
    pub project: Option<PathBuf>,
    /// `--allow-network-fs`.
    pub allow_network_fs: bool,
    /// Settings given as flags.
    pub flags: std::collections::BTreeMap<String, Value>,
    /// A host that serves; a command that opens the state for a moment writes no start records.
    pub serving: bool,
    /// Look for damage before the database is opened for good; a host that serves always does.
    pub check: bool,
    /// Also log to stderr.
    pub log_to_stderr: bool,
    /// The built-in plugins, as path below their root and content; empty for a host without any.
    pub plugins: EmbeddedFiles,
    /// Plugin directories under development, trusted while this host runs (`chatos dev`).
    pub dev: Vec<PathBuf>,
    /// Files of plugins are taken as soon as they change.
    pub watch: bool,
    /// This program answers to `LAUNCH_COMMAND` and `WARDEN_COMMAND`, so children start through it.
    pub launches: bool,
}

/// Files that are part of the program: path with `/`, and content.
pub type EmbeddedFiles = &'static [(&'static str, &'static [u8])];

impl HostConfig {
    /// The plain configuration of this process.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            state_dir: None,
            project: None,
            allow_network_fs: false,
            flags: std::collections::BTreeMap::new(),
            serving: false,
            check: false,
            log_to_stderr: false,
            plugins: &[],
            dev: Vec::new(),
            watch: true,
            launches: false,
        }
    }
}

/// Everything of one state directory, open.
pub struct Host {
    config: HostConfig,
    places: Locations,
    dir: StateDir,
    project: PathBuf,
    started_at: i64,
    store: Store,
    settings: Settings,
    keys: StateKeys,
    secrets: Secrets,
    archive: Archive,
    records: RunRecords,
    audit: Audit,
    events: Events,
    redactor: Arc<Redactor>,
    operations: Operations,
    notices: Notices,
    inbox: Inbox,
    reach: Reach,
    plugins: PluginHome,
    servers: ServerHome,
    agents: Agents,
    models: Models,
    apps: Apps,
    calls: Calls,
    runs: Runs,
    children: Children,
    // How others reach this host, and who makes its token anew.
    announced: Mutex<Option<Announced>>,
    // The signal to stop, and the work that ends with it; joined by `settle`.
    life: Lifetime,
    node: HostNode,
    closed: AtomicBool,
    // The last host on this state was killed.
    unclean: AtomicBool,
    // Released last: while it is held nobody else opens this state.
    lock: Mutex<Option<FileLock>>,
}

impl Host {
    /// This process serves; a command that opened the state for a moment does not.
    pub(crate) fn is_serving(&self) -> bool {
        self.config.serving
    }

    /// Whether the last host on this state was killed.
    pub(crate) fn stopped_uncleanly(&self) -> bool {
        self.unclean.load(Ordering::Relaxed)
    }

    /// Asks for Node once and remembers the answer.
    pub async fn find_node(&self) -> Option<NodeInfo> {
        self.node.find().await
    }

    /// Node as far as it is known without waiting.
    pub fn known_node(&self) -> Option<NodeInfo> {
        self.node.known()
    }

    /// The version of the bundled SQLite.
    pub fn sqlite_version(&self) -> &'static str {
        chatos_store::sqlite_version()
    }

    /// Keeps an audit record; a failure is logged and shown, the caller goes on.
    pub fn audit(&self, kind: &str, fields: Map<String, Value>) {
        self.audit.note(kind, fields);
    }

    /// Adds a notice for the start page and the doctor.
    pub fn notice(&self, notice: Notice) {
        self.notices.add(notice);
    }

    /// As [`Host::notice`] for what may happen again and again: the newest of its kind stands for all.
    pub(crate) fn notice_once(&self, notice: Notice) {
        self.notices.replace(notice);
    }

    /// Stops everything and releases the state. Calling it twice is harmless.
    pub fn close(&self) {
        if self.closed.swap(true, Ordering::SeqCst) {
            return;
        }
        self.life.stop().cancel();
        self.announced().take();
        if self.config.serving {
            self.audit("stop", Map::new());
            if let Err(error) = self.store.set_meta("clean_stop", "1") {
                tracing::warn!(%error, "cannot note the clean stop");
            }
            // The lock decides who runs; a leftover file would only confuse people who read it.
            std::fs::remove_file(self.dir.host_json()).ok();
        }
        self.inbox.close();
        self.plugins.close();
        self.store.close();
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The questions to the person.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Who is told of questions, and where.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Apps while they are used.
    pub fn apps(&self) -> &Apps {
        &self.apps
    }

    /// The servers. Nothing of them is started before somebody needs it. Must be called on the runtime.
    pub fn servers(&self) -> &Servers {
        self.servers.open()
    }

    /// The servers, for those who need none of them running.
    pub(crate) fn server_home(&self) -> &ServerHome {
        &self.servers
    }

    /// The one place where tools are called.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The built-in servers, and calls that are on their way.
    pub fn tools(&self) -> &Arc<Tools> {
        self.calls.tools()
    }

    /// Chats and runs of this state.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Agents, land_configs and texts for models.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The models of this state, with everything a person does to them.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The plugins, for those who open them on first use.
    pub(crate) fn plugin_home(&self) -> &PluginHome {
        &self.plugins
    }

    /// How others reach this host.
    pub(crate) fn announced(&self) -> MutexGuard<'_, Option<Announced>> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of this host: what runs in the background is spawned here and ends with it.
    pub fn life(&self) -> &Lifetime {
        &self.life
    }

    /// Notices of this start, oldest first.
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.list()
    }

    /// The state directory.
    pub fn dir(&self) -> &StateDir {
        &self.dir
    }

    /// All locations.
    pub fn places(&self) -> &Locations {
        &self.places
    }

    /// The project the host was started in.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Milliseconds since 1970 of the start.
    pub fn started_at(&self) -> i64 {
        self.started_at
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The state key.
    pub fn key(&self) -> &StateKey {
        self.keys.key()
    }

    /// The state key as a person changes it.
    pub fn keys(&self) -> &StateKeys {
        &self.keys
    }

    /// Copies of the state, older states, retention.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// What is kept of runs, for reading.
    pub fn records(&self) -> &RunRecords {
        &self.records
    }

    /// Secrets that models and headers refer to by name.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The audit log.
    pub fn audit_log(&self) -> &Audit {
        &self.audit
    }

    /// Long work with progress.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// Secrets of this process that no log may show.
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    /// Plugin directories under development.
    pub fn dev_dirs(&self) -> &[PathBuf] {
        &self.config.dev
    }

    pub(crate) fn watches_plugins(&self) -> bool {
        self.config.watch
    }

    /// `$sessionRoot` (plugins §1.1).
    pub fn session_root(&self) -> PathBuf {
        session_root(&self.config.environment, &self.project)
    }

    /// The event stream.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Cancelled when the host closes or somebody asked it to stop.
    pub fn shutdown(&self) -> &CancellationToken {
        self.life.stop()
    }

    /// The environment of this process.
    pub fn environment(&self) -> &Environment {
        &self.config.environment
    }

    /// The language of messages when a caller names none.
    pub fn lang(&self) -> Lang {
        self.languages().people
    }

    /// Which language people and models are spoken to.
    pub fn languages(&self) -> chatos_settings::Languages {
        self.settings.languages()
    }
}

/// `$sessionRoot` (plugins §1.1): named by the environment, or the person's home.
fn session_root(environment: &Environment, project: &Path) -> PathBuf {
    let named = environment.get("MODEL_CLI_SESSION_ROOT").map(|path| environment.current_dir().join(path));
    let home = || environment.get("HOME").map(PathBuf::from);
    named.or_else(home).unwrap_or_else(|| project.to_owned())
}

impl Drop for Host {
    fn drop(&mut self) {
        self.close();
    }
}
