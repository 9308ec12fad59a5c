//! The state as a process beside the host uses it: looked up at start, opened when
//! something needs it, made when something has to be kept.
//!
//! `host.lock` is never held here except for the moment of a record; many such processes and one host
//! use the same state directory at once (state §9).

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use chatos_asking::{AskedBy, DeskOwner};
use chatos_host::{Host, HostConfig};
use chatos_inbox::{Questions, Starter, covers, descends_from};
use chatos_layer::{
    BoxFuture, Reach, ServerEnv, SettingsSource, StoreHandle, StoreSettings, TaskScope, ToolLog, ToolSettings,
};
use chatos_paths::{Announcement, Environment, Locations, StateDir, running_host};
use chatos_prompts::Origin;
use chatos_settings::SettingsInput;
use chatos_store::{OpenOptions, Store, StoreError};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::Value;

/// In the environment of other agents that the host runs.
const AGENT_MARK: &str = "CHATOS_ACP_AGENT";

/// The state of one process beside the host.
pub struct Beside {
    environment: Environment,
    state_dir: Option<PathBuf>,
    flags: BTreeMap<String, Value>,
    places: Locations,
    store: Mutex<Option<Store>>,
    desk: OnceLock<Questions>,
    // One opener at a time; the others find what it made.
    opening: Mutex<()>,
    prepared: tokio::sync::OnceCell<()>,
    starter: OnceLock<Option<Starter>>,
}

impl Beside {
    /// Finds the places; opens nothing.
    pub fn find(
        environment: Environment,
        state_dir: Option<PathBuf>,
        flags: BTreeMap<String, Value>,
    ) -> Result<Arc<Self>, Fault> {
        let places = environment.locations(state_dir.clone())?;
        Ok(Arc::new(Self {
            environment,
            state_dir,
            flags,
            places,
            store: Mutex::new(None),
            desk: OnceLock::new(),
            opening: Mutex::new(()),
            prepared: tokio::sync::OnceCell::new(),
            starter: OnceLock::new(),
        }))
    }

    /// Where the state is or would be.
    pub fn state_dir(&self) -> &Path {
        &self.places.state_dir
    }

    /// The tool log of this state, or the one the environment names (tools §8).
    pub fn tool_log(&self) -> ToolLog {
        let path = match self.environment.get("MODEL_CLI_MCP_TOOL_LOG") {
            Some(named) => self.environment.current_dir().join(named),
            None => self.places.state_dir.join("tool-log.jsonl"),
        };
        let warn = |path: &Path, error: &std::io::Error| {
            tracing::warn!(path = %path.display(), %error, "the tool log cannot be written");
        };
        ToolLog::new(path, Box::new(warn))
    }

    /// `CHATOS_MCP_TOKEN`.
    pub fn mcp_token(&self) -> Option<&str> {
        self.environment.get("CHATOS_MCP_TOKEN")
    }

    /// What started this process.
    fn starter(&self) -> Option<&Starter> {
        self.starter.get_or_init(Starter::find).as_ref()
    }

    /// The process that started this one, where that is a program.
    pub fn started_by(&self) -> Option<Origin> {
        self.starter().map(|starter| starter.origin)
    }

    /// The program that started this one: its executable, or what an interpreter runs.
    pub(crate) fn program(&self) -> Option<String> {
        self.starter().and_then(Starter::program)
    }

    /// Whether the host with this pid runs the program that started this process, as another agent.
    pub fn is_run_by(&self, host: u32) -> bool {
        self.environment.get(AGENT_MARK).is_some() && descends_from(host)
    }

    /// Whether a person lets the program that started this process, by the name it gives itself, decide about
    /// its own calls under `root`. Notes that it wanted to, so that a person can allow it. Blocks.
    pub fn may_decide(&self, name: &str, root: Option<&Path>) -> bool {
        self.is_allowed(name, root).unwrap_or_else(|fault| {
            tracing::warn!(%fault, "it is not known what this client may do; it may not");
            false
        })
    }

    fn is_allowed(&self, name: &str, root: Option<&Path>) -> Result<bool, Fault> {
        let Some(key) = self.starter().and_then(|starter| starter.key(name)) else { return Ok(false) };
        let store = self.store()?;
        let allowed = store.client_allowed(&key)?;
        if allowed.iter().any(|project| covers(project, root)) {
            return Ok(true);
        }
        let id = uuid::Uuid::now_v7().to_string();
        store.see_client(&id, key, chatos_store::now_ms())?;
        Ok(false)
    }

    /// The token that servers on HTTP share when nobody gave one: made once, readable by this user only.
    /// Gives it with its place. Blocks.
    pub fn shared_mcp_token(&self) -> Result<(String, PathBuf), Fault> {
        self.store()?;
        let path = self.places.state_dir.join("mcp-token");
        // A file that others can read, or that holds something else, is replaced.
        let private =
            std::fs::metadata(&path).is_ok_and(|meta| meta.permissions().mode().trailing_zeros() >= 6);
        let known = if private { std::fs::read_to_string(&path).ok() } else { None };
        let known = known.map(|text| text.trim().to_owned());
        if let Some(token) =
            known.filter(|token| token.len() >= 32 && token.bytes().all(|b| b.is_ascii_graphic()))
        {
            return Ok((token, path));
        }
        let mut bytes = [0; 32];
        let failed = |error: &dyn std::error::Error| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("cannot keep a token: {}", path.display()),
                    format!("无法保存令牌：{}", path.display()),
                ),
            )
            .caused_by(error)
        };
        getrandom::fill(&mut bytes).map_err(|error| failed(&std::io::Error::other(error.to_string())))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        chatos_paths::replace_file(&path, token.as_bytes(), 0o600).map_err(|error| failed(&error))?;
        Ok((token, path))
    }

    /// The host that runs on this state now.
    pub fn running(&self) -> Option<Announcement> {
        running_host(&StateDir::existing(&self.places.state_dir).ok()?)
    }

    /// What servers are built from.
    pub fn server_env(self: &Arc<Self>, write: bool, scope: Option<TaskScope>) -> ServerEnv {
        let state_dir = self.places.state_dir.clone();
        // servers §2.1: nobody reads the state or the keys through a tool.
        let mut protected = vec![state_dir.clone(), self.places.key_dir.clone()];
        protected.extend(self.places.legacy_dir.clone());
        let named = |name: &str| self.environment.get(name).map(str::to_owned);
        ServerEnv {
            extracts: Some("/proc/self/exe".into()),
            state_dir: Some(state_dir),
            protected,
            store: self.handle(),
            write,
            task_scope: scope,
            variables: Arc::new(self.environment.variables().clone()),
            host_app: self.places.host_app.clone(),
            run_id: named("MODEL_CLI_RUN_ID"),
            session_id: named("MODEL_CLI_SESSION_ID"),
            // Subagents run in a host.
            subagents: None,
            ..ServerEnv::default()
        }
    }

    /// `MODEL_CLI_TASK_SCOPE`.
    pub fn task_scope(&self) -> Option<&str> {
        self.environment.get("MODEL_CLI_TASK_SCOPE")
    }

    /// The database for whoever needs it later; absent while there is no state.
    fn handle(self: &Arc<Self>) -> StoreHandle {
        let beside = Arc::downgrade(self);
        StoreHandle::later(move || beside.upgrade().map_or(Ok(None), |beside| beside.existing()))
    }

    /// The database, made when it is missing. Blocks.
    pub fn store(&self) -> Result<Store, Fault> {
        if let Ok(Some(store)) = self.existing() {
            return Ok(store);
        }
        if self.running().is_none() {
            // Missing, or of an older version: a moment as the host makes or migrates it.
            let config =
                HostConfig { state_dir: self.state_dir.clone(), ..HostConfig::new(self.environment.clone()) };
            Host::open(config)?.close();
        }
        let store = self.existing()?;
        store.ok_or_else(|| {
            Fault::from(StoreError::new(
                chatos_store::StoreErrorKind::Unavailable,
                format!("there is no database in {}", self.places.state_dir.display()),
            ))
        })
    }

    fn existing(&self) -> Result<Option<Store>, StoreError> {
        let mut kept = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_some() {
            return Ok(kept.clone());
        }
        let Ok(dir) = StateDir::existing(&self.places.state_dir) else { return Ok(None) };
        // An opener that makes an empty database would take the place of the host.
        if !dir.database().exists() {
            return Ok(None);
        }
        let store = Store::open(OpenOptions::beside(&dir))?;
        *kept = Some(store.clone());
        Ok(Some(store))
    }

    /// The queue of questions, read from its end. Blocks.
    fn desk(&self) -> Result<&Questions, Fault> {
        if let Some(desk) = self.desk.get() {
            return Ok(desk);
        }
        let store = self.store()?;
        let _turn = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = self.desk.get() {
            return Ok(desk);
        }
        let opened = chatos_inbox::beside(&self.environment, &self.places, store, self.input())?;
        Ok(self.desk.get_or_init(|| opened))
    }

    fn input(&self) -> SettingsInput {
        SettingsInput { flags: self.flags.clone(), env: self.environment.variables().clone() }
    }

    /// Stops reading and closes the database.
    pub fn close(&self) {
        if let Some(desk) = self.desk.get() {
            desk.close();
        }
        if let Some(store) = self.store.lock().unwrap_or_else(PoisonError::into_inner).take() {
            store.close();
        }
    }
}

impl DeskOwner for Beside {
    fn desk(&self) -> Result<&Questions, Fault> {
        Self::desk(self)
    }

    fn reach(&self) -> Reach {
        if self.running().is_some() {
            return Reach::Host;
        }
        match Self::desk(self) {
            Ok(_) => Reach::Store,
            Err(fault) => Reach::None(fault.message),
        }
    }

    fn asked_by(&self, _run: Option<&str>) -> AskedBy {
        AskedBy { origin: Origin::here(), starter: self.starter().map(|starter| starter.origin), call: false }
    }
}

/// The settings of a process beside the host: the stored ones as of now, flags and environment above.
pub struct BesideSettings {
    beside: Arc<Beside>,
    stored: StoreSettings,
}

impl BesideSettings {
    /// The settings of this state.
    pub fn new(beside: &Arc<Beside>) -> Self {
        Self { beside: Arc::clone(beside), stored: StoreSettings::new(beside.handle(), beside.input()) }
    }
}

impl SettingsSource for BesideSettings {
    fn current(&self) -> Arc<ToolSettings> {
        self.stored.current()
    }

    fn current_for(&self, arrived: Instant) -> Arc<ToolSettings> {
        self.stored.current_for(arrived)
    }

    fn prepare(&self) -> BoxFuture<'_, ()> {
        if self.beside.prepared.initialized() {
            return Box::pin(std::future::ready(()));
        }
        Box::pin(async {
            self.beside.prepared.get_or_init(|| prepare(Arc::clone(&self.beside))).await;
        })
    }
}

/// The first call makes the state, because its log is kept there. Without one the call still runs.
async fn prepare(beside: Arc<Beside>) {
    let made = chatos_blocking::run(move || beside.store().map(drop)).await;
    match made {
        Ok(Ok(())) => {}
        Ok(Err(fault)) => tracing::warn!(%fault, "the state cannot be made; calls run without a log"),
        Err(error) => tracing::error!(%error, "making the state failed"),
    }
}
