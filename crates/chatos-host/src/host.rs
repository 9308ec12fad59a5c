//! Opening and closing a host: every resource in its order, each failure with its own words.

mod setting;
mod start;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use chatos_agents::{AgentParts, Agents};
use chatos_apps::{AppParts, Apps};
use chatos_archive::{Archive, ArchiveParts};
use chatos_child::{HostNode, NodeInfo};
use chatos_events::{Events, Lifetime, Notice, Notices, Operations};
use chatos_inbox::{Inbox, InboxParts};
use chatos_keys::StateKey;
use chatos_model::{ModelParts, Models};
use chatos_paths::{Environment, FileLock, Locations, StateDir, move_legacy, take_lock};
use chatos_plugins::{Lending, PluginHome};
use chatos_reach::{Reach, ReachParts};
use chatos_records::RunRecords;
use chatos_servers::{Servers, ServersParts};
use chatos_settings::{Settings, SettingsInput};
use chatos_store::{Audit, OpenOptions, Secrets, StateKeys, Store, now_iso, now_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Redactor, Text};
use chatos_wire::Severity;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::start::{open_key, project_root, was_used};
use crate::app_host::HostOfApps;
use crate::calls::{ActiveCalls, Calls, HostQuestions};
use crate::doctor::remove_leftovers;
use crate::host_log;
use crate::runs::RunDesk;
use crate::tools::ToolDesk;

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
    // Made on first use.
    tools: OnceLock<ToolDesk>,
    runs: OnceLock<RunDesk>,
    server_parts: Arc<ServersParts>,
    servers: Arc<OnceLock<Servers>>,
    agents: Agents,
    active_calls: Arc<ActiveCalls>,
    calls: OnceLock<Calls>,
    models: Models,
    apps: Apps,
    spawning: OnceLock<chatos_child::Spawning>,
    // How others reach this host, and who makes its token anew.
    announced: Mutex<Option<crate::modes::Announced>>,
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
    /// Opens the state in the order of state §1. A failure names the step; nothing later runs.
    pub fn open(config: HostConfig) -> Result<Arc<Self>, Fault> {
        let started_at = now_ms();
        let places = config.environment.locations(config.state_dir.clone())?;
        let legacy = move_legacy(&places, &now_iso())?;
        let (dir, path_notices) = StateDir::prepare(&places.state_dir, config.allow_network_fs)?;
        let network = matches!(
            chatos_paths::file_system_kind(dir.path()),
            Ok(chatos_paths::FileSystemKind::Network(_))
        );
        let lock = take_lock(&dir, Duration::from_secs(3))?;
        let store = Store::open(OpenOptions {
            path: dir.database(),
            backups: dir.backups(),
            migrate: true,
            wal: !network,
            used: was_used(&dir),
            check: config.serving || config.check,
        })?;
        let copied = if config.serving { store.before_version(crate::VERSION) } else { Ok(None) };
        let input =
            SettingsInput { flags: config.flags.clone(), env: config.environment.variables().clone() };
        let settings = store.load_settings(input)?;
        chatos_servers::seed(&store)?;
        chatos_agents::seed(&store, settings.languages().people)?;
        host_log::start(&dir.host_log(), &settings.text("logLevel"), config.log_to_stderr);
        let (key, key_notice) = open_key(&config.environment, &places, &store)?;
        let events = Events::new(started_at);
        let notices = Notices::new(events.clone());
        let audit = Audit::open(dir.audit(), key.sub_key("audit"), store.clone(), notices.clone())?;
        let project = project_root(&config)?;
        let operations = Operations::new(events.clone(), settings.languages().people);
        let life = Lifetime::new();
        let archive = Archive::new(ArchiveParts {
            dir: dir.clone(),
            places: places.clone(),
            store: store.clone(),
            settings: settings.clone(),
            key: key.clone(),
            audit: audit.clone(),
            events: events.clone(),
            notices: notices.clone(),
            operations: operations.clone(),
            life: life.clone(),
            version: env!("CARGO_PKG_VERSION"),
            old_key: config.environment.get("MODEL_CLI_SECRET_KEY").map(str::to_owned),
        });
        let secrets = Secrets::new(store.clone(), &key, audit.clone(), events.clone());
        let redactor = Arc::new(Redactor::new());
        let records = RunRecords::new(store.clone(), Arc::clone(&redactor), settings.clone());
        let models = Models::new(ModelParts {
            store: store.clone(),
            settings: settings.clone(),
            secrets: secrets.clone(),
            environment: config.environment.clone(),
            // devkit §4.5
            spare_key: (!config.dev.is_empty()).then_some("CHATOS_DEV_LLM_API_KEY"),
            redactor: Arc::clone(&redactor),
            events: events.clone(),
        });
        let inbox = Inbox::new(InboxParts {
            dir: dir.clone(),
            store: store.clone(),
            settings: settings.clone(),
            key: key.clone(),
            audit: audit.clone(),
            events: events.clone(),
            life: life.clone(),
            serving: config.serving,
        });
        let reach = Reach::new(ReachParts {
            store: store.clone(),
            settings: settings.clone(),
            secrets: secrets.clone(),
            audit: audit.clone(),
            events: events.clone(),
            redactor: Arc::clone(&redactor),
            inbox: inbox.clone(),
            life: life.clone(),
            bus: session_bus(&config.environment),
            clock: Arc::new(chatos_prompts::SystemClock),
        });
        let lang = settings.languages().people;
        let plugins = crate::plugins::home(&config, &dir, &store, &notices, lang);
        let switched = settings.clone();
        let lending = Lending::new(dir.runtime(), move || switched.text("nodeSharedModules") == "off");
        let wanted = settings.clone();
        let node =
            HostNode::new(move || wanted.text("nodePath"), config.environment.get("PATH").map(str::to_owned));
        let active_calls = Arc::<ActiveCalls>::default();
        // Some of the parts call the host itself, which stands only when all of them do.
        let itself: Arc<OnceLock<Weak<Self>>> = Arc::default();
        let tools = Arc::clone(&itself);
        let server_parts = Arc::new(ServersParts {
            dir: dir.clone(),
            places: places.clone(),
            environment: config.environment.clone(),
            project: project.clone(),
            session_root: session_root(&config.environment, &project),
            started_at,
            serving: config.serving,
            store: store.clone(),
            settings: settings.clone(),
            key: key.clone(),
            audit: audit.clone(),
            events: events.clone(),
            notices: notices.clone(),
            redactor: Arc::clone(&redactor),
            life: life.clone(),
            inbox: inbox.clone(),
            plugins: plugins.clone(),
            lending: lending.clone(),
            node: node.clone(),
            built_in: Box::new(move |name| match tools.get().and_then(Weak::upgrade) {
                Some(host) => host.tools().server(name),
                None => Err(stopping()),
            }),
            questions: Arc::new(HostQuestions {
                host: Arc::clone(&itself),
                active: Arc::clone(&active_calls),
            }),
        });
        let servers: Arc<OnceLock<Servers>> = Arc::default();
        let agents = Agents::new(AgentParts {
            dir: dir.clone(),
            project: project.clone(),
            store: store.clone(),
            settings: settings.clone(),
            events: events.clone(),
            models: models.clone(),
            plugins: plugins.clone(),
            servers: Arc::clone(&servers),
        });
        let apps = Apps::new(AppParts {
            dir: dir.clone(),
            places: places.clone(),
            environment: config.environment.clone(),
            project: project.clone(),
            session_root: session_root(&config.environment, &project),
            version: crate::VERSION,
            store: store.clone(),
            settings: settings.clone(),
            audit: audit.clone(),
            events: events.clone(),
            life: life.clone(),
            inbox: inbox.clone(),
            plugins: plugins.clone(),
            lending,
            node: node.clone(),
            agents: agents.clone(),
            models: models.clone(),
            servers: Arc::clone(&servers),
            host: Arc::new(HostOfApps(Arc::clone(&itself))),
        });
        let host = Self {
            places,
            dir,
            project,
            started_at,
            secrets,
            keys: StateKeys::new(key, store.clone(), audit.clone(), events.clone()),
            store,
            settings,
            audit,
            archive,
            records,
            operations,
            redactor,
            notices,
            events,
            inbox,
            reach,
            plugins,
            tools: OnceLock::new(),
            runs: OnceLock::new(),
            server_parts,
            servers,
            agents,
            active_calls,
            calls: OnceLock::new(),
            models,
            apps,
            spawning: OnceLock::new(),
            announced: Mutex::new(None),
            life,
            node,
            closed: AtomicBool::new(false),
            unclean: AtomicBool::new(false),
            lock: Mutex::new(Some(lock)),
            config,
        };
        host.collect_notices(legacy.moved, legacy.warning, path_notices, key_notice, network);
        if host.config.serving {
            remove_leftovers(host.dir.path(), Duration::ZERO);
            host.end_leftover_children();
            host.begin_serving();
            host.tell_copied(copied);
            host.narrow_at_start();
            host.archive.import_at_start();
        }
        let host = Arc::new(host);
        itself.get_or_init(|| Arc::downgrade(&host));
        host.wire_plugins();
        Ok(host)
    }

    fn begin_serving(&self) {
        let unclean = self.store.meta("clean_stop").is_ok_and(|value| value.as_deref() == Some("0"));
        if unclean {
            tracing::info!("the last stop was not clean");
            self.unclean.store(true, Ordering::Relaxed);
        }
        self.tell_lost_commits();
        if let Err(error) = self.store.set_meta("clean_stop", "0") {
            tracing::warn!(%error, "cannot note the start");
        }
        let mut fields = Map::new();
        fields.insert("version".to_owned(), Value::from(env!("CARGO_PKG_VERSION")));
        fields.insert("pid".to_owned(), Value::from(std::process::id()));
        self.audit("start", fields);
    }

    /// This process serves; a command that opened the state for a moment does not.
    pub(crate) fn is_serving(&self) -> bool {
        self.config.serving
    }

    /// Whether the last host on this state was killed.
    pub(crate) fn stopped_uncleanly(&self) -> bool {
        self.unclean.load(Ordering::Relaxed)
    }

    /// Work that must not delay the start: looking for Node, the daily copy, a deep check after an
    /// unclean stop, the queue. What it starts ends with the shutdown; see [`Host::settle`].
    pub fn background(self: &Arc<Self>) -> Result<(), Fault> {
        self.apps.remember_runtime();
        self.inbox.tend()?;
        self.reach.tend();
        self.tend_plugins()?;
        self.tend_tools();
        self.interrupt_waits();
        self.tend_runs();
        self.servers().tend();
        self.life.spawn(Box::pin(Arc::clone(self).pick_up_asks()));
        self.life.spawn(Box::pin(Arc::clone(self).watch_modes()));
        let host = Arc::clone(self);
        self.life.spawn(Box::pin(async move {
            let settling = Arc::clone(&host);
            if let Err(error) = chatos_blocking::run(move || settling.settle_file_changes()).await {
                tracing::error!(%error, "looking for interrupted file changes failed");
            }
            host.find_node().await;
            host.look_for_damage().await;
            let mut tick = tokio::time::interval(Duration::from_secs(3600));
            loop {
                tokio::select! {
                    () = host.shutdown().cancelled() => return,
                    _ = tick.tick() => {
                        let host = Arc::clone(&host);
                        let done = chatos_blocking::run(move || host.daily()).await;
                        if let Err(error) = done {
                            tracing::error!(%error, "the daily work failed");
                        }
                    }
                }
            }
        }));
        Ok(())
    }

    fn daily(&self) {
        self.settle_file_changes();
        self.prune_shell_caches();
        match self.store.sweep_blobs(self.settings.int("blobGraceDays")) {
            Ok(gone) if gone.blobs > 0 => {
                tracing::info!(blobs = gone.blobs, bytes = gone.bytes, "contents nobody refers to");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "contents nobody refers to stay"),
        }
        if !self.settings.bool("backupDaily") {
            return;
        }
        let keep = usize::try_from(self.settings.int("backupKeep")).unwrap_or(7);
        match self.store.daily_backup(keep) {
            Ok(Some(backup)) => {
                tracing::info!(path = %backup.path.display(), bytes = backup.bytes, "daily backup");
            }
            Ok(None) => {}
            Err(error) => self.notice(Notice {
                code: "backup_failed".to_owned(),
                severity: Severity::Warning,
                message: Text::new(
                    format!("the daily copy of the database failed: {error}"),
                    format!("数据库每日备份失败：{error}"),
                ),
                hint: Some(Text::fixed("check the free space on the disk", "请检查磁盘剩余空间")),
            }),
        }
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

    /// As [`Host::audit`], for records that are there at the same time.
    pub(crate) fn audit_all(&self, records: Vec<(&str, Map<String, Value>)>) {
        self.audit.note_all(records);
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

    /// Where the way of starting children is kept.
    pub(crate) fn spawning_cell(&self) -> &OnceLock<chatos_child::Spawning> {
        &self.spawning
    }

    /// Apps while they are used.
    pub fn apps(&self) -> &Apps {
        &self.apps
    }

    /// Where the tools are kept once made.
    pub(crate) fn tool_cell(&self) -> &OnceLock<ToolDesk> {
        &self.tools
    }

    /// Where chats and runs are kept once made.
    pub(crate) fn run_cell(&self) -> &OnceLock<RunDesk> {
        &self.runs
    }

    /// Where the servers are kept once made.
    pub(crate) fn server_cell(&self) -> &OnceLock<Servers> {
        &self.servers
    }

    /// What the servers are made of; what needs none of them running asks here.
    pub(crate) fn server_parts(&self) -> &Arc<ServersParts> {
        &self.server_parts
    }

    /// Where calls are made, once something is called.
    pub(crate) fn call_cell(&self) -> &OnceLock<Calls> {
        &self.calls
    }

    /// Calls on their way.
    pub(crate) fn active_calls(&self) -> &Arc<ActiveCalls> {
        &self.active_calls
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
    pub(crate) fn announced(&self) -> MutexGuard<'_, Option<crate::modes::Announced>> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of this host: what runs in the background is spawned here and ends with it.
    pub fn life(&self) -> &Lifetime {
        &self.life
    }

    /// Waits for the tasks of this host; to be called after the shutdown was asked for.
    pub async fn settle(&self) {
        if let Some(runs) = self.runs.get() {
            runs.close().await;
        }
        if let Ok(backends) = self.apps.backends() {
            backends.close().await;
        }
        if let Some(tools) = self.tools.get() {
            tools.close().await;
        }
        if let Some(servers) = self.servers.get() {
            servers.close().await;
        }
        if let Some(calls) = self.calls.get() {
            calls.close().await;
        }
        self.life.settle().await;
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

    /// Whether children start through this program.
    pub(crate) fn launches(&self) -> bool {
        self.config.launches
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

/// Where the session bus of the person's desktop is, if they have one.
fn session_bus(environment: &Environment) -> Option<String> {
    let named = environment.get("DBUS_SESSION_BUS_ADDRESS").filter(|address| !address.is_empty());
    let usual = || {
        let bus = Path::new(environment.get("XDG_RUNTIME_DIR")?).join("bus");
        bus.exists().then(|| format!("unix:path={}", bus.display()))
    };
    named.map(str::to_owned).or_else(usual)
}

pub(crate) fn stopping() -> Fault {
    Fault::new(ErrorCode::Unavailable, Text::fixed("the host is stopping", "主机正在停止"))
}

impl Drop for Host {
    fn drop(&mut self) {
        self.close();
    }
}
