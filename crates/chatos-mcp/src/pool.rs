//! All servers of the host: shared by everybody, started when needed, started again when they fail.
//!
//! Every server has a task of its own that alone opens and closes its connection; the pool only finds
//! it. What one server does can therefore hold up nobody else.

mod lease;
mod status;
mod supervisor;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::call::{CallError, CallRequest};
use crate::catalog::ToolList;
use crate::connection::{ConnectError, Connection};
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::handshake::{Era, Identity};
use crate::hooks::{Hooks, Offers, ServerKey};
use crate::limits::Times;
use crate::result::CallOutcome;
use chatos_child::Spawning;
pub use lease::Lease;
pub use status::{LastError, Phase, ServerStatus};
use supervisor::Server;

/// A server the pool knows.
#[derive(Clone)]
pub struct ServerSpec {
    /// Names it; one connection per key.
    pub key: ServerKey,
    /// For people.
    pub name: String,
    /// Where it is.
    pub endpoint: Endpoint,
    /// Digest of what runs there, where the host knows one. What was learned about a server counts as
    /// long as it stays the same.
    pub digest: String,
    /// What it may ask.
    pub offers: Offers,
    /// Its times.
    pub times: Times,
    /// Unused for this long, it is stopped until somebody needs it; `None` never.
    pub idle: Option<Duration>,
}

/// How a failing server is treated (mcp "children").
#[derive(Debug, Clone, Copy)]
pub struct Restarts {
    /// Before the first new attempt; doubled each time.
    pub first: Duration,
    /// Longest time between two attempts.
    pub most: Duration,
    /// So many failures …
    pub failures: usize,
    /// … within this time, and it waits for a person.
    pub window: Duration,
}

impl Default for Restarts {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            most: Duration::from_secs(60),
            failures: 5,
            window: Duration::from_secs(300),
        }
    }
}

/// What all servers of a pool have in common.
#[derive(Clone)]
pub struct PoolOptions {
    /// The host.
    pub hooks: Arc<dyn Hooks>,
    /// Who we are to servers.
    pub identity: Identity,
    /// How children are started.
    pub spawning: Spawning,
    /// Servers starting at a time (`mcpStartupConcurrency`).
    pub starts: usize,
    /// How failures are treated.
    pub restarts: Restarts,
}

impl PoolOptions {
    /// The specification's values.
    pub fn new(hooks: Arc<dyn Hooks>) -> Self {
        Self {
            hooks,
            identity: Identity::default(),
            spawning: Spawning::default(),
            starts: 4,
            restarts: Restarts::default(),
        }
    }
}

/// The servers. Cheap to clone.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    servers: Mutex<HashMap<ServerKey, Arc<Server>>>,
}

/// What the tasks of servers share.
struct Shared {
    options: PoolOptions,
    starts: Arc<Semaphore>,
    eras: Mutex<HashMap<(ServerKey, String), Era>>,
    changes: watch::Sender<u64>,
    closing: CancellationToken,
}

impl Shared {
    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// A connection may take this much longer than its handshake to come about: places among the
/// starting servers, and the back-off after a first failure.
const PATIENCE: Duration = Duration::from_secs(5);

impl Pool {
    /// A pool without servers.
    pub fn new(options: PoolOptions) -> Self {
        let shared = Shared {
            starts: Arc::new(Semaphore::new(options.starts.max(1))),
            options,
            eras: Mutex::default(),
            changes: watch::channel(0).0,
            closing: CancellationToken::new(),
        };
        Self { inner: Arc::new(Inner { shared: Arc::new(shared), servers: Mutex::default() }) }
    }

    fn servers(&self) -> MutexGuard<'_, HashMap<ServerKey, Arc<Server>>> {
        self.inner.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn server(&self, key: &ServerKey) -> Option<Arc<Server>> {
        self.servers().get(key).cloned()
    }

    /// Makes a server known, or gives it a new description. Nothing is started. A running connection
    /// stays when nothing about it changed but whether it may ask a model, and is closed otherwise.
    pub fn put(&self, spec: ServerSpec) {
        let shared = &self.inner.shared;
        if shared.closing.is_cancelled() {
            return;
        }
        let mut servers = self.servers();
        if let Some(known) = servers.get(&spec.key).filter(|known| known.is_described_by(&spec)) {
            known.take_over(&spec);
            return;
        }
        let server = Server::new(spec.clone(), Arc::clone(shared));
        // Dropping the old one lets its task close the connection; its leases keep nothing alive.
        if let Some(old) = servers.insert(spec.key, server) {
            old.retire();
        }
        drop(servers);
        shared.changed();
    }

    /// Forgets a server. That is done when this returns, so a server of the same key can be put at once;
    /// the future waits until the process is gone.
    pub fn remove(&self, key: &ServerKey) -> impl Future<Output = bool> + Send + use<> {
        let server = self.servers().remove(key);
        if let Some(server) = &server {
            server.retire();
        }
        let shared = Arc::clone(&self.inner.shared);
        async move {
            let Some(server) = server else { return false };
            server.gone().await;
            shared.changed();
            true
        }
    }

    /// The connection to a server, started when it is not there. Waits for the attempt that is going
    /// on or comes next, at most its own start time and a little.
    pub async fn connect(&self, key: &ServerKey) -> Result<Arc<Connection>, ConnectError> {
        self.connect_for(key, None).await
    }

    async fn connect_for(
        &self,
        key: &ServerKey,
        patience: Option<Duration>,
    ) -> Result<Arc<Connection>, ConnectError> {
        let mut last: Option<Arc<Server>> = None;
        // A server that is described anew while somebody waits for it is waited for again, once.
        for _ in 0..2 {
            let Some(server) = self.server(key) else { break };
            if last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &server)) {
                break;
            }
            let patience = patience.unwrap_or(server.spec.times.init + PATIENCE);
            match server.connect(patience).await {
                Err(error) if error.failure == Failure::UnknownServer => last = Some(server),
                done => return done,
            }
        }
        let refused = self.inner.shared.options.hooks.admit(key).await;
        let failure = refused.err().unwrap_or(Failure::UnknownServer);
        Err(ConnectError { failure, stderr: Vec::new() })
    }

    /// Like [`Pool::connect`], with another patience.
    pub async fn connect_within(
        &self,
        key: &ServerKey,
        patience: Duration,
    ) -> Result<Arc<Connection>, ConnectError> {
        self.connect_for(key, Some(patience)).await
    }

    /// The tools of a server.
    pub async fn tools(&self, key: &ServerKey) -> Result<Arc<ToolList>, ConnectError> {
        let _lease = self.lease(key);
        let connection = self.connect(key).await?;
        connection.tools().await.map_err(|failure| ConnectError { failure, stderr: connection.stderr(30) })
    }

    /// Calls a tool. Connects first when that is needed; the caller's cancel ends that wait too.
    pub async fn call(&self, key: &ServerKey, request: CallRequest) -> Result<CallOutcome, CallError> {
        let _lease = self.lease(key);
        let cancel = request.cancel.clone();
        let connected = tokio::select! {
            connected = self.connect(key) => connected.map_err(|error| error.failure),
            () = cancel.cancelled() => Err(Failure::Canceled),
        };
        let connection = connected.map_err(|failure| CallError { failure, sent: false })?;
        let outcome = connection.call(request).await;
        if let Err(error) = &outcome
            && let Some(server) = self.server(key)
        {
            server.look_at(&error.failure);
        }
        outcome
    }

    /// Keeps a server from being stopped as unused, and has it started again after a failure, until
    /// the lease is dropped. `None` for an unknown server.
    pub fn lease(&self, key: &ServerKey) -> Option<Lease> {
        Some(Lease::new(self.server(key)?))
    }

    /// Starts a server again, also one that was stopped or given up. Failures are forgotten.
    pub fn restart(&self, key: &ServerKey) -> bool {
        self.server(key).map(|server| server.restart()).is_some()
    }

    /// Stops a server and keeps it stopped until [`Pool::restart`]. Waits until its process is gone.
    pub async fn stop(&self, key: &ServerKey) -> bool {
        let Some(server) = self.server(key) else { return false };
        server.stop().await;
        true
    }

    /// What is known about a server.
    pub fn status(&self, key: &ServerKey) -> Option<ServerStatus> {
        self.server(key).map(|server| server.status())
    }

    /// The tools a connected server last listed; `None` when it is not connected. Asks nobody.
    pub fn offered(&self, key: &ServerKey) -> Option<Arc<ToolList>> {
        self.server(key)?.connected()?.known_tools()
    }

    /// The connection to a server, where there is one now. Starts nothing.
    pub fn connected(&self, key: &ServerKey) -> Option<Arc<Connection>> {
        self.server(key)?.connected()
    }

    /// All servers, sorted by key.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        let servers: Vec<Arc<Server>> = self.servers().values().cloned().collect();
        let mut all: Vec<ServerStatus> = servers.iter().map(|server| server.status()).collect();
        all.sort_by(|a, b| a.key.cmp(&b.key));
        all
    }

    /// Counts changes of any server's state; wait for the next value, then read the statuses.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.shared.changes.subscribe()
    }

    /// What was learned about a server before, by an earlier process.
    pub fn remember_era(&self, key: &ServerKey, digest: &str, era: Era) {
        let mut eras = self.inner.shared.eras.lock().unwrap_or_else(PoisonError::into_inner);
        eras.insert((key.clone(), digest.to_owned()), era);
    }

    /// Stops everything at once and waits until all processes are gone: about five seconds at most.
    pub async fn close(&self) {
        self.inner.shared.closing.cancel();
        let servers: Vec<Arc<Server>> = self.servers().drain().map(|(_, server)| server).collect();
        for server in &servers {
            server.retire();
        }
        for server in servers {
            server.gone().await;
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The tasks see it and close their connections on their own.
        self.shared.closing.cancel();
    }
}
