//! Opening a host: every resource in its order, each failure with its own words, and every part made of those before it.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use chatos_acp::Seats;
use chatos_agents::{AgentParts, Agents};
use chatos_apps::{AppParts, Apps};
use chatos_archive::{Archive, ArchiveParts};
use chatos_child::HostNode;
use chatos_events::{Events, Lifetime, Notices, Operations};
use chatos_inbox::{Inbox, InboxParts};
use chatos_model::{ModelParts, Models};
use chatos_paths::{Environment, StateDir, move_legacy, take_lock};
use chatos_plugins::Lending;
use chatos_reach::{Reach, ReachParts};
use chatos_records::RunRecords;
use chatos_servers::{ServerHome, Servers, ServersParts};
use chatos_settings::SettingsInput;
use chatos_store::{Audit, OpenOptions, Secrets, StateKeys, Store, now_iso, now_ms};
use chatos_tool::{Fault, Redactor};

use super::start::{open_key, project_root, was_used};
use super::{Host, HostConfig, session_root};
use crate::app_host::{HostOfApps, RunsSlot, stopping};
use crate::children::Children;
use crate::doctor::remove_leftovers;
use crate::host_log;
use chatos_calls::{CallParts, Calls, CallsSlot};
use chatos_runs::{RunParts, Runs};

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
        let children = Children::new(config.launches, &dir);
        // Some parts ask those that are made of them.
        let (calls_slot, runs_slot) = (CallsSlot::default(), RunsSlot::default());
        let built_in = calls_slot.clone();
        let seats = Seats::default();
        let made: Arc<OnceLock<Servers>> = Arc::default();
        let server_parts = ServersParts {
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
            built_in: Box::new(move |name| built_in.get().ok_or_else(stopping)?.tools().server(name)),
            questions: Arc::new(calls_slot.clone()),
        };
        let spawning = children.clone();
        let servers = ServerHome::new(server_parts, move || spawning.spawning(), Arc::clone(&made));
        let agents = Agents::new(AgentParts {
            dir: dir.clone(),
            project: project.clone(),
            store: store.clone(),
            settings: settings.clone(),
            events: events.clone(),
            models: models.clone(),
            plugins: plugins.clone(),
            servers: Arc::clone(&made),
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
            servers: made,
            host: Arc::new(HostOfApps {
                servers: servers.clone(),
                children: children.clone(),
                calls: calls_slot.clone(),
            }),
        });
        let calls = Calls::new(CallParts {
            dir: dir.clone(),
            places: places.clone(),
            environment: config.environment.clone(),
            project: project.clone(),
            session_root: session_root(&config.environment, &project),
            started_at,
            own_program: children.own_program(),
            store: store.clone(),
            settings: settings.clone(),
            audit: audit.clone(),
            events: events.clone(),
            notices: notices.clone(),
            redactor: Arc::clone(&redactor),
            life: life.clone(),
            inbox: inbox.clone(),
            models: models.clone(),
            agents: agents.clone(),
            apps: apps.clone(),
            servers: servers.clone(),
            seats: seats.clone(),
            runs: Arc::new(runs_slot.clone()),
        });
        let spawning = children.clone();
        let runs = Runs::new(RunParts {
            dir: dir.clone(),
            environment: config.environment.clone(),
            own_program: children.own_program(),
            spawning: Box::new(move || spawning.spawning()),
            store: store.clone(),
            settings: settings.clone(),
            audit: audit.clone(),
            events: events.clone(),
            notices: notices.clone(),
            redactor: Arc::clone(&redactor),
            life: life.clone(),
            inbox: inbox.clone(),
            models: models.clone(),
            agents: agents.clone(),
            apps: apps.clone(),
            servers: servers.clone(),
            calls: calls.clone(),
            seats,
        });
        calls_slot.fill(&calls);
        runs_slot.0.get_or_init(|| runs.downgrade());
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
            servers,
            agents,
            models,
            apps,
            calls,
            runs,
            children,
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
            host.children.end_leftovers();
            host.begin_serving();
            host.tell_copied(copied);
            host.narrow_at_start();
            host.archive.import_at_start();
        }
        let host = Arc::new(host);
        host.wire_plugins();
        Ok(host)
    }
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
