//! Group commit: lines written while a sync runs share the next one (`ui-prompts §3.1` step 6).
//!
//! The first waiter of a group performs the sync, the others wait for its outcome. A line alone is
//! synced at once, so a single question costs one sync and no delay.

use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, OnceLock};

use crate::fs::Fs;
use crate::sync::lock;

type Outcome = Result<(), Arc<io::Error>>;

pub(super) struct GroupSync {
    fs: Arc<dyn Fs>,
    state: Mutex<State>,
    done: Condvar,
}

struct State {
    /// Lines written since the last sync began.
    open: Group,
    /// Start of the lines being synced right now; `u64::MAX` when no sync runs.
    syncing_from: u64,
    busy: bool,
}

struct Group {
    outcome: Arc<OnceLock<Outcome>>,
    /// Lowest offset any of its lines can have.
    from: u64,
    members: usize,
    files: Vec<Arc<File>>,
}

impl Group {
    fn new() -> Self {
        Self { outcome: Arc::default(), from: u64::MAX, members: 0, files: Vec::new() }
    }
}

impl GroupSync {
    pub(super) fn new(fs: Arc<dyn Fs>) -> Self {
        let state = State { open: Group::new(), syncing_from: u64::MAX, busy: false };
        Self { fs, state: Mutex::new(state), done: Condvar::new() }
    }

    /// Joins the open group before a write at or after `from`.
    pub(super) fn begin(self: &Arc<Self>, from: u64, file: &Arc<File>) -> Ticket {
        let mut state = lock(&self.state);
        let group = &mut state.open;
        group.from = group.from.min(from);
        group.members += 1;
        if !group.files.iter().any(|f| Arc::ptr_eq(f, file)) {
            group.files.push(file.clone());
        }
        Ticket { sync: self.clone(), outcome: group.outcome.clone(), waited: false }
    }

    pub(super) fn unsynced_from(&self) -> u64 {
        let state = lock(&self.state);
        state.open.from.min(state.syncing_from)
    }
}

/// One line's share in a sync. Dropped without waiting, it leaves the group.
pub struct Ticket {
    sync: Arc<GroupSync>,
    outcome: Arc<OnceLock<Outcome>>,
    waited: bool,
}

impl Ticket {
    /// Returns when the line is durable, or with the error of the sync that covered it. That sync is
    /// never repeated on the same descriptor.
    pub fn wait(mut self) -> Outcome {
        self.waited = true;
        let sync = self.sync.clone();
        let mut state = lock(&sync.state);
        loop {
            if let Some(outcome) = self.outcome.get() {
                return outcome.clone();
            }
            if !state.busy && Arc::ptr_eq(&state.open.outcome, &self.outcome) {
                let group = std::mem::replace(&mut state.open, Group::new());
                state.busy = true;
                state.syncing_from = group.from;
                drop(state);
                let outcome: Outcome =
                    group.files.iter().try_for_each(|file| sync.fs.sync_data(file)).map_err(Arc::new);
                state = lock(&sync.state);
                state.busy = false;
                state.syncing_from = u64::MAX;
                // Set once: this thread is the only leader of this group.
                group.outcome.get_or_init(|| outcome);
                sync.done.notify_all();
                continue;
            }
            state = sync.done.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.waited {
            return;
        }
        let mut state = lock(&self.sync.state);
        if Arc::ptr_eq(&state.open.outcome, &self.outcome) {
            state.open.members -= 1;
            if state.open.members == 0 {
                state.open = Group::new();
            }
        }
    }
}
