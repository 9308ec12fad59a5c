//! Watching the servers of a serving host: telling changes, remembering eras, following plugins.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chatos_mcp::{Phase, ServerKey, ServerStatus};
use chatos_store::now_ms;
use chatos_wire::event::{ChangedId, HostEvent, ServerStateChanged};

use crate::memory::PhaseNote;
use crate::servers::{Inner, Servers};

/// Floods of changes are told ten times a second.
const PACE: Duration = Duration::from_millis(100);

impl Servers {
    /// Follows the servers until the host stops.
    pub fn tend(&self) {
        self.parts().life.spawn(Box::pin(follow(Arc::clone(self.inner()))));
    }
}

async fn follow(inner: Arc<Inner>) {
    let stop = inner.parts.life.stop().clone();
    let mut changes = inner.pool.changes();
    let mut tidied = None;
    inner.poke.notify_one();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = changes.changed() => if changed.is_err() { return },
            () = inner.poke.notified() => {
                // Untrusted, removed or switched off servers stop now, not when somebody looks.
                match inner.catalogue().await {
                    Ok(known) => if !tidied.as_ref().is_some_and(|before| Arc::ptr_eq(before, &known)) {
                        crate::sign_in::tidy(&inner.parts, &known).await;
                        tidied = Some(known);
                    },
                    Err(fault) => tracing::warn!(%fault, "the servers cannot be listed"),
                }
            }
        }
        inner.tell_changes();
        inner.tell_logs();
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(PACE) => {}
        }
    }
}

impl Inner {
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

    fn tell_logs(&self) {
        let said = std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(known) = self.last_known() else { return };
        for server in said.iter().filter_map(|key| known.by_key(key)) {
            self.parts.events.publish(HostEvent::ServerLog(ChangedId { id: server.id.clone() }));
        }
    }

    fn tell_changes(&self) {
        let parts = &self.parts;
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
            parts.events.publish(HostEvent::ServerState(ServerStateChanged {
                id: server.id.clone(),
                state: self.state(server, parts.lang()),
                sign_in: self.sign_in_view(server, parts.lang()),
            }));
            if let (Phase::Ready, Some(peer), Some(spec)) = (status.phase, &status.peer, &server.spec) {
                let (identity, digest) = (status.key.as_str().to_owned(), spec.digest.clone());
                let (store, era) = (parts.store.clone(), peer.era.as_str());
                parts.life.spawn_blocking(Box::new(move || {
                    if let Err(error) = store.remember_era(&identity, &digest, era) {
                        tracing::warn!(%error, "the era of a server is not remembered");
                    }
                }));
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
