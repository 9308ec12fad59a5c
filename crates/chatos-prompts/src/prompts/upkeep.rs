//! What the reader thread does besides reading: the work a last process left undone, lines that vanished
//! or could not be written, answers that are in the store only.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chatos_lines::lock;

use super::pump::{NOWHERE, Told};
use super::state::{RecordParts, State};
use super::{Event, Inner, Phase, Role};
use crate::ids::RequestId;

/// How many rows of the outbox a repair looks at.
const MAX_WAITING: usize = 100_000;

/// How many of the last answers are looked at for a missing line.
const RECENT: usize = 200;

impl Inner {
    // After the first fold and before anybody waits or answers: what the last process left undone.
    // ui-prompts §14.12: a prompt that expired meanwhile is closed before any waiter resumes.
    pub(super) fn start_up(self: &Arc<Self>) {
        if self.role == Role::Host {
            self.replay_outbox(true);
            self.repair();
            self.close_left_calls();
            self.expire_due();
            self.follow_previous();
        }
        self.send(Event::Resync);
        self.send(Event::Counts(self.counts()));
        self.phase.send_replace(Phase::Ready);
        // The first round of reading after this one is not left to the poll.
        self.waker.wake();
    }

    /// Between two reads. `poll`: the safety poll is due.
    pub(super) fn housekeeping(&self, poll: bool) {
        self.mark_mirrored();
        if poll || self.backlog.load(Ordering::SeqCst) {
            let done = self.repair() && self.replay_outbox(false);
            self.backlog.store(!done, Ordering::SeqCst);
        }
        self.mark_mirrored();
        self.wake_synced();
        if poll {
            self.check_store();
        }
        if self.role == Role::Host && (poll || lock(&self.state).health.previous.is_some()) {
            self.follow_previous();
        }
    }

    // An answer may be in the store although its line cannot reach the log.
    fn check_store(&self) {
        let ids: Vec<RequestId> = {
            let state = lock(&self.state);
            let mut ids = state.waiters.ids();
            ids.retain(|id| {
                let slot = state.queue.find(id.as_str()).map(|slot| state.queue.slot(slot));
                slot.is_some_and(|slot| slot.is_served() && slot.is_pending())
            });
            ids.extend(state.undecided.iter().cloned());
            ids
        };
        let mut told = Told::default();
        for id in ids {
            match self.records.get(&id) {
                Ok(record) => {
                    lock(&self.state).undecided.remove(&id);
                    if let Some(record) = record.filter(|record| record.answer.is_some()) {
                        let mut changes = Vec::new();
                        self.apply_record(&RecordParts::of(&record), &mut changes);
                        self.note(&changes, NOWHERE, &mut told);
                    }
                }
                Err(error) => tracing::debug!(%error, "cannot look for answers in the store"),
            }
        }
        self.tell(told);
    }

    /// Appends again what vanished from the log with a rewrite by another program (`ui-prompts §3.4`).
    /// False when something is still missing: the log refused, or the other program overwrote it again.
    fn repair(&self) -> bool {
        let missing = self.missing_lines();
        if missing.is_empty() {
            return true;
        }
        // Lines that wait in the outbox are brought by whoever put them there, or by the replay.
        let waiting: HashSet<RequestId> = match self.records.outbox(MAX_WAITING) {
            Ok(rows) => rows.into_iter().map(|row| row.request_id).collect(),
            Err(_) => return false,
        };
        let mut any = false;
        for (id, response) in missing.into_iter().filter(|(id, _)| !waiting.contains(id)) {
            let record = match self.records.get(&id) {
                Ok(Some(record)) => record,
                Ok(None) => continue,
                Err(_) => return false,
            };
            let entry = if response { self.response_entry(&record) } else { Some(record.entry.clone()) };
            let Some(line) = entry.as_ref().and_then(crate::entry::to_line) else { continue };
            if self.mirror(&line, None).is_err() {
                return false;
            }
            any = true;
        }
        if any {
            self.pump();
            return self.missing_lines().iter().all(|(id, _)| waiting.contains(id));
        }
        true
    }

    // Lines of served prompts that are not in the file: (id, whether it is the response).
    fn missing_lines(&self) -> Vec<(RequestId, bool)> {
        let state = lock(&self.state);
        let State { queue, served, own, in_flight, .. } = &*state;
        let ours =
            |id: &RequestId| (self.role == Role::Host || own.contains(id)) && !in_flight.contains_key(id);
        let open = served
            .keys()
            .filter(|slot| queue.slot(**slot).is_pending() && queue.slot(**slot).request_line().is_none())
            .map(|slot| (*slot, false));
        // Answered, its request is still in the file, its response is not: other readers would take it for open.
        let answered = queue.history().iter().rev().take(RECENT).filter(|slot| {
            let slot = queue.slot(**slot);
            slot.is_served() && slot.request_line().is_some() && slot.response_line().is_none()
        });
        open.chain(answered.map(|slot| (*slot, true)))
            .filter_map(|(slot, response)| Some((RequestId::parse(queue.id_of(slot)).ok()?, response)))
            .filter(|(id, _)| ours(id))
            .collect()
    }
}
