//! How many calls run at once: per server and in all, with a bounded queue that is fair between
//! sessions (tools §11).

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The limits in force when a call asks for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotLimits {
    /// In all.
    pub(crate) all: usize,
    /// Of this server.
    pub(crate) server: usize,
    /// Waiting for this server.
    pub(crate) queue: usize,
}

/// Everybody waits already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) retry_after_ms: u64,
}

/// Whether a call comes for the first time or after a wait for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coming {
    New,
    Back,
}

/// All places of a process.
#[derive(Debug, Default, Clone)]
pub(crate) struct Slots(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: usize,
    all: usize,
    servers: BTreeMap<&'static str, Queue>,
    // The server served last; the next one gets the next place.
    last: Option<&'static str>,
    // Given a place and not yet woken.
    granted: HashSet<u64>,
    next: u64,
}

#[derive(Debug, Default)]
struct Queue {
    running: usize,
    limit: usize,
    waiting: usize,
    // First come, first served inside a session; sessions take turns.
    sessions: VecDeque<(String, VecDeque<Waiter>)>,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    wake: oneshot::Sender<()>,
}

/// A place. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Slots,
    server: &'static str,
    session: String,
    // A call that waits for a person holds nothing, or only its server's place.
    holds_all: bool,
    holds_server: bool,
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place. Dropping the future gives up the wait.
    pub(crate) async fn take(
        &self,
        server: &'static str,
        session: &str,
        limits: SlotLimits,
    ) -> Result<Slot, Full> {
        let slot = Slot {
            slots: self.clone(),
            server,
            session: session.to_owned(),
            holds_all: false,
            holds_server: false,
        };
        self.acquire(slot, limits, Coming::New).await
    }

    async fn acquire(&self, mut slot: Slot, limits: SlotLimits, coming: Coming) -> Result<Slot, Full> {
        let (id, woken) = {
            let mut state = self.lock();
            let state = &mut *state;
            state.all = limits.all;
            let queue = state.servers.entry(slot.server).or_default();
            queue.limit = limits.server;
            // A server whose limit is about waiting calls kept its place. It goes on at once: what is left
            // to do after the answer is little, and queueing behind calls that wait for people could take
            // as long as those people.
            if slot.holds_server {
                state.running += 1;
                slot.holds_all = true;
                return Ok(slot);
            }
            if state.running < limits.all && queue.running < limits.server && queue.waiting == 0 {
                state.running += 1;
                queue.running += 1;
                slot.holds_all = true;
                slot.holds_server = true;
                return Ok(slot);
            }
            if coming == Coming::New && queue.waiting >= limits.queue {
                return Err(Full { retry_after_ms: RETRY_AFTER_MS });
            }
            let id = state.next;
            state.next += 1;
            let (wake, woken) = oneshot::channel();
            queue.push(&slot.session, Waiter { id, wake });
            state.dispatch();
            (id, woken)
        };
        let mut queued = Queued { slots: self, id, server: slot.server, taken: false };
        // The sender lives in the queue until it is used.
        if woken.await.is_ok() {
            queued.taken = true;
            self.lock().granted.remove(&id);
            slot.holds_all = true;
            slot.holds_server = true;
        }
        Ok(slot)
    }

    #[cfg(test)]
    fn counts(&self, server: &'static str) -> (usize, usize, usize) {
        let state = self.lock();
        let queue = state.servers.get(server);
        (state.running, queue.map_or(0, |q| q.running), queue.map_or(0, |q| q.waiting))
    }
}

/// When to come again. The queue is long enough that it moves within a second.
const RETRY_AFTER_MS: u64 = 1_000;

impl Slot {
    /// Gives the place back while a person is asked. `keep_server` keeps the server's own place, for
    /// servers whose limit is about waiting calls.
    pub(crate) fn pause(&mut self, keep_server: bool) {
        let mut state = self.slots.lock();
        if std::mem::take(&mut self.holds_all) {
            state.running -= 1;
        }
        if !keep_server
            && std::mem::take(&mut self.holds_server)
            && let Some(queue) = state.servers.get_mut(self.server)
        {
            queue.running -= 1;
        }
        state.dispatch();
    }

    /// Takes a place again; never refused, only queued.
    pub(crate) async fn resume(self, limits: SlotLimits) -> Option<Self> {
        let slots = self.slots.clone();
        slots.acquire(self, limits, Coming::Back).await.ok()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pause(false);
    }
}

/// A waiter that goes away must leave no place behind.
struct Queued<'a> {
    slots: &'a Slots,
    id: u64,
    server: &'static str,
    taken: bool,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let mut state = self.slots.lock();
        let state = &mut *state;
        let Some(queue) = state.servers.get_mut(self.server) else { return };
        if state.granted.remove(&self.id) {
            state.running -= 1;
            queue.running -= 1;
            state.dispatch();
        } else {
            queue.remove(self.id);
        }
    }
}

impl State {
    /// Gives free places to waiters: servers in turn, sessions in turn, first come first.
    fn dispatch(&mut self) {
        while self.running < self.all {
            let able = |queue: &Queue| queue.waiting > 0 && queue.running < queue.limit;
            let after = self
                .servers
                .iter()
                .find(|(name, queue)| self.last.is_none_or(|last| **name > last) && able(queue));
            let next = after.or_else(|| self.servers.iter().find(|(_, queue)| able(queue)));
            let Some(name) = next.map(|(name, _)| *name) else { return };
            self.last = Some(name);
            let Some(queue) = self.servers.get_mut(name) else { return };
            let Some(waiter) = queue.pop() else { return };
            self.running += 1;
            queue.running += 1;
            self.granted.insert(waiter.id);
            // A waiter that has just gone away finds its id in `granted` and gives the place back.
            waiter.wake.send(()).ok();
        }
    }
}

impl Queue {
    fn push(&mut self, session: &str, waiter: Waiter) {
        self.waiting += 1;
        match self.sessions.iter_mut().find(|(name, _)| name == session) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => self.sessions.push_back((session.to_owned(), VecDeque::from([waiter]))),
        }
    }

    fn pop(&mut self) -> Option<Waiter> {
        let (name, mut waiters) = self.sessions.pop_front()?;
        let waiter = waiters.pop_front();
        if !waiters.is_empty() {
            self.sessions.push_back((name, waiters));
        }
        self.waiting -= usize::from(waiter.is_some());
        waiter
    }

    fn remove(&mut self, id: u64) {
        for (_, waiters) in &mut self.sessions {
            let before = waiters.len();
            waiters.retain(|waiter| waiter.id != id);
            self.waiting -= before - waiters.len();
        }
        self.sessions.retain(|(_, waiters)| !waiters.is_empty());
    }
}

#[cfg(test)]
mod tests;
