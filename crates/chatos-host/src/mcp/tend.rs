//! Watching the servers of a serving host: telling changes, remembering eras, following plugins.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use chatos_mcp::{Phase, ServerKey, ServerStatus};
use chatos_store::now_ms;
use chatos_wire::event::{ChangedId, HostEvent, ServerStateChanged};
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::host::Host;

/// When a server came into its phase, and how often it was started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhaseNote {
    pub(crate) phase: Phase,
    pub(crate) since: i64,
    pub(crate) restarts: u32,
    /// A call lacked rights.
    pub(crate) lacks: bool,
}

/// Floods of changes are told ten times a second.
const PACE: Duration = Duration::from_millis(100);

impl Host {
    /// Follows the servers until the host stops.
    pub(crate) fn tend_servers(self: &Arc<Self>) {
        let shared = Arc::clone(self.servers().shared());
        let task = follow(Arc::downgrade(self), shared, self.shutdown().clone());
        self.life().spawn(Box::pin(task));
    }
}

async fn follow(host: Weak<Host>, shared: Arc<Shared>, stop: CancellationToken) {
    let mut changes = shared.pool.changes();
    let mut tidied = None;
    shared.poke.notify_one();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = changes.changed() => if changed.is_err() { return },
            () = shared.poke.notified() => {
                // Untrusted, removed or switched off servers stop now, not when somebody looks.
                match (shared.catalogue().await, host.upgrade()) {
                    (Ok(known), Some(host)) => {
                        if !tidied.as_ref().is_some_and(|before| Arc::ptr_eq(before, &known)) {
                            super::sign_in::tidy(&host, &known).await;
                            tidied = Some(known);
                        }
                    }
                    (Err(fault), _) => tracing::warn!(%fault, "the servers cannot be listed"),
                    (_, None) => return,
                }
            }
        }
        let Some(host) = host.upgrade() else { return };
        shared.tell_changes(&host);
        shared.tell_logs(&host);
        drop(host);
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(PACE) => {}
        }
    }
}

impl Shared {
    pub(crate) fn phase_note(&self, key: &ServerKey) -> Option<PhaseNote> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// A server has a new line; pages are told soon, however many there are.
    pub(crate) fn has_said(&self, server: &ServerKey) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.insert(server.clone()) {
            self.poke.notify_one();
        }
    }

    fn tell_logs(&self, host: &Arc<Host>) {
        let said = std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(known) = self.last_known() else { return };
        for server in said.iter().filter_map(|key| known.by_key(key)) {
            host.events().publish(HostEvent::ServerLog(ChangedId { id: server.id.clone() }));
        }
    }

    fn tell_changes(&self, host: &Arc<Host>) {
        let statuses = self.pool.statuses();
        let Some(known) = self.last_known() else { return };
        let changed: Vec<ServerStatus> = {
            let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
            let alive: HashSet<&ServerKey> = statuses.iter().map(|status| &status.key).collect();
            phases.retain(|key, _| alive.contains(key));
            // One that is not on the list yet is noted, and told, when it is.
            let listed = statuses.into_iter().filter(|status| known.by_key(&status.key).is_some());
            listed.filter(|status| note(&mut phases, status)).collect()
        };
        for status in changed {
            let Some(server) = known.by_key(&status.key) else { continue };
            if matches!(status.phase, Phase::Idle | Phase::Stopped | Phase::Failed) {
                self.logs.close(status.key.as_str());
            }
            host.events().publish(HostEvent::ServerState(ServerStateChanged {
                id: server.id.clone(),
                state: self.state(host, server, host.lang()),
                sign_in: self.sign_in_view(host, server, host.lang()),
            }));
            if let (Phase::Ready, Some(peer), Some(spec)) = (status.phase, &status.peer, &server.spec) {
                let (identity, digest) = (status.key.as_str().to_owned(), spec.digest.clone());
                let (store, era) = (host.store().clone(), peer.era.as_str());
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = store.remember_era(&identity, &digest, era) {
                        tracing::warn!(%error, "the era of a server is not remembered");
                    }
                });
            }
        }
    }
}

/// Takes note of a status; says whether anything a page shows is new.
fn note(phases: &mut HashMap<ServerKey, PhaseNote>, status: &ServerStatus) -> bool {
    let lacks = status.wanted.is_some();
    let fresh = PhaseNote { phase: status.phase, since: now_ms(), restarts: 0, lacks };
    match phases.get_mut(&status.key) {
        None => {
            phases.insert(status.key.clone(), fresh);
            status.phase != Phase::Idle
        }
        Some(known) if known.phase == status.phase => std::mem::replace(&mut known.lacks, lacks) != lacks,
        Some(known) => {
            let again = known.phase == Phase::Waiting && status.phase == Phase::Starting;
            *known = PhaseNote { restarts: known.restarts + u32::from(again), ..fresh };
            true
        }
    }
}
