//! The servers of one host: built-in ones, those of apps, and those a person added, with the one pool
//! that runs them and the one dispatcher that calls them.

mod acts;
mod auth;
mod by_hand;
mod catalogue;
mod doctor;
mod hooks;
mod import;
mod left;
mod logs;
mod pins;
mod ports;
mod rows;
mod sampling;
mod sign_in;
mod tend;
mod toolset;
mod view;
mod views;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use chatos_agent::{Dispatcher, Ports};
use chatos_mcp::{Identity, Pool, PoolOptions, ServerKey};
use chatos_tool::{ErrorCode, Fault, Text};

use crate::host::Host;
pub(crate) use auth::StoredAuth;
pub(crate) use catalogue::{Catalogue, Known, digest_of, seed};
pub(crate) use hooks::empty_trace;
pub(crate) use sign_in::SIGN_IN;
pub use sign_in::{RETURN_PATH, Returned};
pub use toolset::ToolsetOrder;
pub(crate) use toolset::unapproved;

/// How long an unused server of a person or an app stays running.
const IDLE: Duration = Duration::from_secs(600);

/// The servers of one host.
pub struct ServerDesk {
    shared: Arc<Shared>,
    ports: Arc<ports::HostPorts>,
    dispatcher: Arc<Dispatcher>,
}

/// What the hooks, the ports and the tending task share.
pub(crate) struct Shared {
    host: Weak<Host>,
    pool: Pool,
    /// The list, with the count of changes it was made after.
    known: RwLock<Option<(u64, Arc<Catalogue>)>>,
    /// Counts changes of servers that no revision tells.
    changes: AtomicU64,
    /// Wakes whoever tends the servers.
    poke: tokio::sync::Notify,
    /// Counts approvals of tools, so that toolsets notice.
    approvals: AtomicU64,
    logs: logs::Logs,
    /// Servers that said something since pages were told; by key.
    said: Mutex<HashSet<ServerKey>>,
    phases: Mutex<HashMap<ServerKey, tend::PhaseNote>>,
    /// Calls on their way, so that a question of an old server finds its chat.
    calls: Mutex<HashMap<String, ports::ActiveCall>>,
    /// Chats in which a server may ask the model without another question: (session, identity).
    sampled: Mutex<HashSet<(String, String)>>,
    sets: Mutex<HashMap<(String, chatos_tool::Lang), toolset::CachedOffer>>,
    /// Sign-ins that failed, until the next one.
    refused: Mutex<sign_in::Refused>,
    /// Servers to which a person does not want to sign in now; by identity.
    declined: Mutex<HashSet<String>>,
    /// Questions about sign-ins whose answer somebody sees to; by id.
    attended: Mutex<HashSet<String>>,
    /// Where browsers reach this host, when it serves.
    address: OnceLock<String>,
    // One at a time asks for a sign-in.
    asking: tokio::sync::Mutex<()>,
    by_hand: by_hand::ByHand,
    // One at a time makes a catalogue.
    making: tokio::sync::Mutex<()>,
    /// Held while a server is changed: what is written was read under it.
    editing: tokio::sync::Mutex<()>,
}

impl Host {
    /// The servers. Nothing of them is started before somebody needs it. Must be called on the runtime.
    pub fn servers(self: &Arc<Self>) -> &ServerDesk {
        self.server_cell().get_or_init(|| ServerDesk::new(self))
    }
}

impl ServerDesk {
    fn new(host: &Arc<Host>) -> Self {
        let mut options = PoolOptions::new(Arc::new(hooks::HostHooks::new(Arc::downgrade(host))));
        options.identity = Identity {
            name: "chatos".to_owned(),
            title: "ChatOS".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        options.starts = usize::try_from(host.settings().int("mcpStartupConcurrency")).unwrap_or(4).max(1);
        options.spawning = host.spawning();
        let pool = Pool::new(options);
        for (identity, digest, era) in host.store().server_eras().unwrap_or_default() {
            let era = if era == "modern" { chatos_mcp::Era::Modern } else { chatos_mcp::Era::Legacy };
            pool.remember_era(&ServerKey::new(identity), &digest, era);
        }
        let shared = Arc::new(Shared {
            host: Arc::downgrade(host),
            pool: pool.clone(),
            known: RwLock::new(None),
            changes: AtomicU64::new(0),
            poke: tokio::sync::Notify::new(),
            approvals: AtomicU64::new(0),
            logs: logs::Logs::new(host.dir().path().join("logs").join("servers")),
            said: Mutex::default(),
            phases: Mutex::default(),
            calls: Mutex::default(),
            sampled: Mutex::default(),
            sets: Mutex::default(),
            refused: Mutex::default(),
            declined: Mutex::default(),
            attended: Mutex::default(),
            address: OnceLock::new(),
            asking: tokio::sync::Mutex::new(()),
            by_hand: by_hand::ByHand::default(),
            making: tokio::sync::Mutex::new(()),
            editing: tokio::sync::Mutex::new(()),
        });
        let ports = Arc::new(ports::HostPorts::new(host, Arc::clone(&shared)));
        let dispatcher = Arc::new(Dispatcher::new(Arc::clone(&ports) as Arc<dyn Ports>));
        Self { shared, ports, dispatcher }
    }

    /// The one that calls tools.
    pub fn dispatcher(&self) -> &Arc<Dispatcher> {
        &self.dispatcher
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn ports(&self) -> Arc<dyn Ports> {
        Arc::clone(&self.ports) as Arc<dyn Ports>
    }

    /// Something about servers changed: rows, trust, settings. Everything is looked at again soon.
    pub fn changed(&self) {
        self.shared.changes.fetch_add(1, Ordering::SeqCst);
        self.shared.poke.notify_one();
    }

    /// Ends every server and waits until their processes are gone.
    pub(crate) async fn close(&self) {
        self.shared.pool.close().await;
        if let Some(known) = self.shared.last_known() {
            sign_in::settled(&known).await;
        }
        self.shared.logs.flush();
        let ports = Arc::clone(&self.ports);
        if let Err(error) = tokio::task::spawn_blocking(move || ports.flush()).await {
            tracing::error!(%error, "audit records may be missing");
        }
    }
}

impl Shared {
    pub(crate) fn host(&self) -> Result<Arc<Host>, Fault> {
        self.host.upgrade().ok_or_else(|| {
            Fault::new(ErrorCode::Unavailable, Text::fixed("the host is stopping", "主机正在停止"))
        })
    }

    /// The servers as they are now. Makes the list anew when something changed, and tells the pool.
    pub(crate) async fn catalogue(self: &Arc<Self>) -> Result<Arc<Catalogue>, Fault> {
        let host = self.host()?;
        if let Some(known) = self.current(&host)? {
            return Ok(known);
        }
        let _one = self.making.lock().await;
        if let Some(known) = self.current(&host)? {
            return Ok(known);
        }
        let node = host.find_node().await;
        // Read first: a change while the list is made makes it an old one.
        let changes = self.changes.load(Ordering::SeqCst);
        let made = tokio::task::spawn_blocking(move || {
            let made = catalogue::make(&host, node.as_ref());
            // It looked at the disk, and what it noticed there is told by whoever noticed it.
            if host.is_serving() {
                host.plugins_changed(&host.plugins()?.snapshot());
            }
            made
        })
        .await;
        let made = made.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("the list of servers failed")).caused_by(&error)
        })?;
        let made = Arc::new(made?);
        self.tell_pool(&made);
        self.by_hand.retain(&made.servers.iter().map(|known| known.identity()).collect());
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some((changes, Arc::clone(&made)));
        Ok(made)
    }

    fn current(&self, host: &Host) -> Result<Option<Arc<Catalogue>>, Fault> {
        let Some((changes, known)) = self.known.read().unwrap_or_else(PoisonError::into_inner).clone() else {
            return Ok(None);
        };
        let revision = host.plugins()?.snapshot().revision;
        let settings = host.settings().revision();
        let same = changes == self.changes.load(Ordering::SeqCst)
            && known.revision == revision
            && known.settings == settings;
        Ok(same.then_some(known))
    }

    /// The list as it was last made.
    pub(crate) fn last_known(&self) -> Option<Arc<Catalogue>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|(_, known)| Arc::clone(known))
    }

    fn tell_pool(self: &Arc<Self>, made: &Catalogue) {
        let wanted: HashMap<&ServerKey, &chatos_mcp::ServerSpec> = made
            .servers
            .iter()
            .filter_map(|known| known.spec.as_ref())
            .map(|spec| (&spec.key, spec))
            .collect();
        for status in self.pool.statuses() {
            if !wanted.contains_key(&status.key) {
                let (shared, gone) = (Arc::clone(self), self.pool.remove(&status.key));
                // It is forgotten now; waiting for its process is not this list's business.
                tokio::spawn(async move {
                    gone.await;
                    if shared.pool.status(&status.key).is_none() {
                        shared.logs.forget(status.key.as_str());
                    }
                });
            }
        }
        for spec in wanted.into_values() {
            self.pool.put(spec.clone());
        }
    }
}

/// What to say about a server nobody knows.
pub(crate) fn no_server(text: &str, nearest: Option<&str>) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no server `{text}`"), format!("没有服务器 `{text}`")),
    )
    .hint(match nearest {
        Some(near) => Text::new(format!("did you mean `{near}`?"), format!("是否指 `{near}`？")),
        None => Text::fixed("`chatos mcp servers` shows all of them", "`chatos mcp servers` 会列出全部"),
    })
}
