//! The servers of one host and the one pool that runs them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use chatos_child::Spawning;
use chatos_mcp::{Identity, Pool, PoolOptions, ServerKey};
use chatos_tool::{ErrorCode, Fault, Lang, Text};

use crate::catalogue::{self, Catalogue};
use crate::hooks::PoolHooks;
use crate::logs::Logs;
use crate::memory::{CachedOffer, Direct, PhaseNote, Refused};
use crate::parts::ServersParts;

/// The servers of one host. Clones are the same.
#[derive(Clone)]
pub struct Servers(Arc<Inner>);

/// What the hooks and the tending task share with every handle.
pub(crate) struct Inner {
    pub(crate) parts: Arc<ServersParts>,
    pub(crate) pool: Pool,
    /// The list, with the count of changes it was made after.
    known: RwLock<Option<(u64, Arc<Catalogue>)>>,
    /// Counts changes of servers that no revision tells.
    changes: AtomicU64,
    /// Wakes whoever tends the servers.
    pub(crate) poke: tokio::sync::Notify,
    /// Counts approvals of tools, so that toolsets notice.
    pub(crate) approvals: AtomicU64,
    pub(crate) logs: Logs,
    /// Servers that said something since pages were told; by key.
    pub(crate) said: Mutex<HashSet<ServerKey>>,
    pub(crate) phases: Mutex<HashMap<ServerKey, PhaseNote>>,
    pub(crate) sets: Mutex<HashMap<(String, Lang), CachedOffer>>,
    /// Sign-ins that failed, until the next one.
    pub(crate) refused: Mutex<Refused>,
    /// Servers to which a person does not want to sign in now; by identity.
    pub(crate) declined: Mutex<HashSet<String>>,
    /// Questions about sign-ins whose answer somebody sees to; by id.
    pub(crate) attended: Mutex<HashSet<String>>,
    /// Where browsers reach this host, when it serves.
    pub(crate) address: OnceLock<String>,
    // One at a time asks for a sign-in.
    pub(crate) asking: tokio::sync::Mutex<()>,
    pub(crate) direct: Direct,
    // One at a time makes a catalogue.
    making: tokio::sync::Mutex<()>,
    /// Held while a server is changed: what is written was read under it.
    pub(crate) editing: tokio::sync::Mutex<()>,
}

impl Servers {
    /// Nothing of them is started before somebody needs it. Must be called on the runtime.
    pub fn new(parts: Arc<ServersParts>, spawning: Spawning) -> Self {
        let inner = Arc::new_cyclic(|inner| {
            let mut options = PoolOptions::new(Arc::new(PoolHooks::new(inner.clone(), &parts)));
            options.identity = Identity {
                name: "chatos".to_owned(),
                title: "ChatOS".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            };
            let starts = parts.settings.int("mcpStartupConcurrency");
            options.starts = usize::try_from(starts).unwrap_or(4).max(1);
            options.spawning = spawning;
            let pool = Pool::new(options);
            for (identity, digest, era) in parts.store.server_eras().unwrap_or_default() {
                let era = if era == "modern" { chatos_mcp::Era::Modern } else { chatos_mcp::Era::Legacy };
                pool.remember_era(&ServerKey::new(identity), &digest, era);
            }
            Inner {
                pool,
                known: RwLock::new(None),
                changes: AtomicU64::new(0),
                poke: tokio::sync::Notify::new(),
                approvals: AtomicU64::new(0),
                logs: Logs::new(parts.dir.path().join("logs").join("servers")),
                said: Mutex::default(),
                phases: Mutex::default(),
                sets: Mutex::default(),
                refused: Mutex::default(),
                declined: Mutex::default(),
                attended: Mutex::default(),
                address: OnceLock::new(),
                asking: tokio::sync::Mutex::new(()),
                direct: Direct::default(),
                making: tokio::sync::Mutex::new(()),
                editing: tokio::sync::Mutex::new(()),
                parts,
            }
        });
        Self(inner)
    }

    /// The handle of what is shared.
    pub(crate) fn of(inner: &Arc<Inner>) -> Self {
        Self(Arc::clone(inner))
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    pub(crate) fn parts(&self) -> Arc<ServersParts> {
        self.0.parts()
    }

    /// The servers as they are now.
    pub async fn catalogue(&self) -> Result<Arc<Catalogue>, Fault> {
        self.0.catalogue().await
    }

    /// The list as it was last made.
    pub fn last_known(&self) -> Option<Arc<Catalogue>> {
        self.0.last_known()
    }

    /// Something about servers changed: rows, trust, settings. Everything is looked at again soon.
    pub fn changed(&self) {
        self.0.changes.fetch_add(1, Ordering::SeqCst);
        self.0.poke.notify_one();
    }

    /// Ends every server and waits until their processes are gone.
    pub async fn close(&self) {
        self.0.pool.close().await;
        if let Some(known) = self.0.last_known() {
            let all = known.servers.iter().filter_map(|known| known.sign_in.clone()).collect();
            crate::sign_in::settled(all).await;
        }
        self.0.logs.flush();
    }
}

impl Inner {
    pub(crate) fn parts(&self) -> Arc<ServersParts> {
        Arc::clone(&self.parts)
    }

    /// The servers as they are now. Makes the list anew when something changed, and tells the pool.
    pub(crate) async fn catalogue(self: &Arc<Self>) -> Result<Arc<Catalogue>, Fault> {
        if let Some(known) = self.current()? {
            return Ok(known);
        }
        let _one = self.making.lock().await;
        if let Some(known) = self.current()? {
            return Ok(known);
        }
        let parts = self.parts();
        let node = parts.node.find().await;
        // Read first: a change while the list is made makes it an old one.
        let changes = self.changes.load(Ordering::SeqCst);
        let made = chatos_blocking::run(move || {
            let made = catalogue::make(&parts, node.as_ref());
            // It looked at the disk, and what it noticed there is told by whoever noticed it.
            if parts.serving {
                parts.plugins.changed(&parts.plugins.plugins()?.snapshot());
            }
            made
        })
        .await;
        let made = made.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("the list of servers failed")).caused_by(&error)
        })?;
        let made = Arc::new(made?);
        self.tell_pool(&made);
        self.direct.retain(&made.servers.iter().map(|known| known.identity()).collect());
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some((changes, Arc::clone(&made)));
        Ok(made)
    }

    fn current(&self) -> Result<Option<Arc<Catalogue>>, Fault> {
        let Some((changes, known)) = self.known.read().unwrap_or_else(PoisonError::into_inner).clone() else {
            return Ok(None);
        };
        let revision = self.parts.plugins.plugins()?.snapshot().revision;
        let settings = self.parts.settings.revision();
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
                let (inner, gone) = (Arc::clone(self), self.pool.remove(&status.key));
                // It is forgotten now; waiting for its process is not this list's business.
                tokio::spawn(async move {
                    gone.await;
                    if inner.pool.status(&status.key).is_none() {
                        inner.logs.forget(status.key.as_str());
                    }
                });
            }
        }
        for spec in wanted.into_values() {
            self.pool.put(spec.clone());
        }
    }
}
