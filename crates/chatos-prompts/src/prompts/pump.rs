//! The reader thread and what it does with new lines: apply, wake, tell.
//!
//! Everything that learns of an answer learns of it here, from the fold (`ui-prompts §1`, invariant 5).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use chatos_lines::{Watch, lock};

use super::fold::{Folded, open_of};
use super::state::{Lost, State};
use super::{Event, Inner, POLL_IDLE, POLL_WAITING, Phase};
use crate::entry::{Action, Entry, Head};
use crate::ids::RequestId;
use crate::kind::Kind;
use crate::queue::{Change, Position, Verdict};
use crate::reader::{Found, Reader, read_exact_at};
use crate::tail::{LineFault, Sink};

/// More changes than this in one go are announced as a resync, not item by item.
const MAX_EVENTS: usize = 200;

/// Vanished prompts whose text is still read from the old file.
const MAX_RESCUED: usize = 100;

/// The reading side; whoever holds its lock reads for everybody.
pub(crate) struct Pump {
    reader: Reader,
    loaded: bool,
}

impl Pump {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader, loaded: false }
    }
}

/// The body of the reader thread.
pub(super) fn run(inner: &Arc<Inner>, mut watch: Watch) {
    let mut last_poll = Instant::now();
    let mut flood = Flood::default();
    while !inner.stop.load(Ordering::SeqCst) {
        inner.pump();
        if inner.is_ready() {
            inner.housekeeping(last_poll.elapsed() >= POLL_WAITING);
        } else if lock(&inner.pump).loaded {
            inner.start_up();
        }
        if last_poll.elapsed() >= POLL_WAITING {
            last_poll = Instant::now();
            watch.refresh();
        }
        let soon = inner.is_waited_for() || inner.backlog.load(Ordering::SeqCst) || !inner.is_ready();
        watch.wait(if soon { POLL_WAITING } else { POLL_IDLE });
        flood.breathe();
    }
    inner.mark_mirrored();
}

/// While lines pour in, a round of reading takes many of them instead of one or two. A line that comes
/// alone is read at once.
#[derive(Default)]
struct Flood {
    last: Option<Instant>,
    in_a_row: u32,
}

impl Flood {
    const CLOSE: Duration = Duration::from_millis(1);
    const MANY: u32 = 16;
    const PAUSE: Duration = Duration::from_micros(500);

    fn breathe(&mut self) {
        let close = self.last.is_some_and(|last| last.elapsed() < Self::CLOSE);
        self.in_a_row = if close { self.in_a_row.saturating_add(1) } else { 0 };
        if self.in_a_row > Self::MANY {
            std::thread::sleep(Self::PAUSE);
        }
        self.last = Some(Instant::now());
    }
}

/// One entry taken off the file, with its bytes.
struct Fresh {
    at: Position,
    raw: Vec<u8>,
    head: Head<'static>,
}

#[derive(Default)]
struct Collect {
    fresh: Vec<Fresh>,
    faults: Vec<(u64, LineFault)>,
}

impl Sink for Collect {
    fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>) {
        let at = Position { offset: at, len: raw.len() as u32 };
        self.fresh.push(Fresh { at, raw: raw.to_vec(), head: head.to_owned() });
    }

    fn fault(&mut self, at: u64, fault: LineFault) {
        self.faults.push((at, fault));
    }
}

/// What a round of reading changed, for subscribers.
#[derive(Default)]
pub(super) struct Told {
    pub(super) requested: Vec<RequestId>,
    pub(super) closed: Vec<RequestId>,
    pub(super) forged: Vec<(RequestId, Position)>,
    pub(super) problem: bool,
    pub(super) resync: bool,
}

impl Told {
    fn is_empty(&self) -> bool {
        self.requested.is_empty()
            && self.closed.is_empty()
            && self.forged.is_empty()
            && !self.problem
            && !self.resync
    }
}

impl Inner {
    pub(super) fn is_ready(&self) -> bool {
        *self.phase.borrow() == Phase::Ready
    }

    fn is_waited_for(&self) -> bool {
        self.has_listeners() || !lock(&self.state).waiters.is_empty()
    }

    /// Reads what is new. Any thread may call it; one reads at a time.
    pub(crate) fn pump(&self) {
        let mut told = Told::default();
        let in_order = {
            let mut pump = lock(&self.pump);
            if pump.loaded {
                self.read_new(&mut pump, &mut told);
            } else {
                self.load(&mut pump, &mut told);
            }
            self.read_to.store(pump.reader.offset(), Ordering::Release);
            // Taken before the next round can begin: rounds are told in the order in which they were
            // read, and who finds nothing new returns after it was told.
            lock(&self.telling)
        };
        self.tell(told);
        drop(in_order);
    }

    /// Everything up to and with a line at `at` is part of the fold.
    pub(super) fn has_read(&self, at: u64) -> bool {
        at < self.read_to.load(Ordering::Acquire)
    }

    /// Keeps everybody else from reading; for the swap of an archive.
    pub(crate) fn hold_pump(&self) -> std::sync::MutexGuard<'_, Pump> {
        lock(&self.pump)
    }

    /// How long the log has been unreadable, and why.
    pub(crate) fn unreadable_for(&self) -> Option<(Duration, String)> {
        let state = lock(&self.state);
        state
            .unreadable_since
            .map(|since| (since.elapsed(), state.health.unreadable.clone().unwrap_or_default()))
    }

    fn load(&self, pump: &mut Pump, told: &mut Told) {
        if let Err(error) = pump.reader.restart() {
            // The records alone still make a queue; the log is tried again at every poll.
            self.unreadable(Some(&error), told);
        }
        match self.fold_all(&mut pump.reader) {
            Ok(folded) => {
                self.swap(pump, folded, told);
                pump.loaded = true;
            }
            Err(error) => {
                self.phase.send_replace(Phase::Failed(error.to_string()));
            }
        }
    }

    fn read_new(&self, pump: &mut Pump, told: &mut Told) {
        let found = match pump.reader.look() {
            Ok(found) => found,
            Err(error) => {
                self.unreadable(Some(&error), told);
                return;
            }
        };
        let result = match found {
            Found::Same => Ok(()),
            Found::Grown => self.read_live(&mut pump.reader, told),
            Found::Missing => {
                // Writers may still hold the nameless file; what they append counts.
                let result = self.read_live(&mut pump.reader, told);
                let mut state = lock(&self.state);
                if pump.reader.file().is_some() && !state.health.missing {
                    state.health.missing = true;
                    told.problem = true;
                }
                result
            }
            Found::Restart => self.read_again(pump, told),
        };
        match result {
            Ok(()) => self.unreadable(None, told),
            Err(error) => self.unreadable(Some(&error), told),
        }
    }

    fn unreadable(&self, error: Option<&std::io::Error>, told: &mut Told) {
        let mut state = lock(&self.state);
        if state.unreadable_since.is_some() == error.is_some() {
            return;
        }
        state.unreadable_since = error.map(|_| Instant::now());
        state.health.unreadable = error.map(|e| format!("{}: {e}", self.log.paths.log.display()));
        told.problem = true;
    }

    fn read_live(&self, reader: &mut Reader, told: &mut Told) -> std::io::Result<()> {
        let mut collect = Collect::default();
        reader.drain(&mut collect, |collect, _| {
            for fresh in collect.fresh.drain(..) {
                self.apply(fresh, told);
            }
            if !collect.faults.is_empty() {
                let mut state = lock(&self.state);
                for (at, fault) in collect.faults.drain(..) {
                    told.problem |= fault.is_bad();
                    state.health.fault(at, fault);
                }
            }
        })
    }

    // One entry of the growing file.
    fn apply(&self, fresh: Fresh, told: &mut Told) {
        let Fresh { at, raw, head } = fresh;
        let now = self.clock.now_ms();
        // The store is asked with the state unlocked. Nobody else applies entries meanwhile: the pump lock is ours.
        let open_served = head.action == Action::Response && {
            let state = lock(&self.state);
            let slot = state.queue.find(&head.id).map(|slot| state.queue.slot(slot));
            slot.is_some_and(|slot| slot.is_served() && slot.is_pending())
        };
        let verdict = if open_served { self.judge(&head.id, &raw, head.signed) } else { Verdict::Forged };
        let mut changes = Vec::new();
        {
            let mut state = lock(&self.state);
            if verdict == Verdict::Later
                && let Ok(id) = RequestId::parse(&head.id)
            {
                state.undecided.insert(id);
            }
            state.queue.apply(&head, at, now, || verdict, &mut changes);
            // Who waits for a result takes it off the list at once, so it has to be on it by now.
            if head.action == Action::Request && head.kind == Some(Kind::Result) {
                state.results_seen += 1;
                state.waiters.deliver_result(&head.id, at, &raw);
            }
            if let (Some(timeout), Some(Change::Requested(slot))) = (head.timeout_ms, changes.first()) {
                let deadline = self.steady_ms() + i64::from(timeout);
                state.deadlines.insert(*slot, deadline);
            }
        }
        if changes.iter().any(|c| matches!(c, Change::Unknown(_)))
            && let Some(parts) = self.adopt(&head.id, &raw)
        {
            self.apply_record(&parts, &mut changes);
        }
        self.note(&changes, at, told);
    }

    /// Makes a record of the store part of the fold.
    pub(super) fn apply_record(&self, parts: &super::state::RecordParts, changes: &mut Vec<Change>) {
        let asked = self.steady_at(parts.boot.as_ref()).unwrap_or_else(|| parts.ts.min(self.steady_ms()));
        let mut state = lock(&self.state);
        state.queue.record(&parts.head(), changes);
        let Some(slot) = state.queue.find(parts.id.as_str()) else { return };
        if state.queue.slot(slot).is_pending() {
            let open = open_of(parts, asked);
            state.served.entry(slot).or_insert(open);
            if let Some(at) = parts.expires_at
                && !state.deadlines.contains_key(&slot)
            {
                let deadline = self.deadline(at, parts.timeout_ms, parts.boot.as_ref());
                state.deadlines.insert(slot, deadline);
            }
        }
    }

    /// Follows up on changes of the fold: forget what is closed, wake who waits, remember what to tell.
    pub(super) fn note(&self, changes: &[Change], at: Position, told: &mut Told) {
        let mut wake = Vec::new();
        {
            let mut state = lock(&self.state);
            let unsynced = self.log.unsynced_from();
            for change in changes {
                let slot = match *change {
                    Change::Requested(slot) | Change::Closed(slot) | Change::Forged(slot) => slot,
                    Change::Reused(_) => {
                        state.health.fault(at.offset, LineFault::ReusedId);
                        continue;
                    }
                    Change::Ignored(_) | Change::Unknown(_) => continue,
                };
                let Ok(id) = RequestId::parse(state.queue.id_of(slot)) else { continue };
                match change {
                    Change::Requested(_) => told.requested.push(id),
                    Change::Forged(_) => told.forged.push((id, at)),
                    _ => {
                        state.served.remove(&slot);
                        state.deadlines.remove(&slot);
                        let closed = state.queue.slot(slot);
                        if closed.is_twin_closed() && closed.response_line().is_none() {
                            state.twins.push(id.clone());
                        }
                        if at.offset >= unsynced && state.waiters.waits_for(&id) {
                            // Ours and not durable yet: waiters wake after the sync.
                            state.unsynced.push((at.offset, id.clone()));
                        } else {
                            wake.push(id.clone());
                        }
                        told.closed.push(id);
                    }
                }
            }
        }
        for id in wake {
            self.wake(&id);
        }
    }

    /// Wakes who waits for answers whose lines are durable now.
    pub(crate) fn wake_synced(&self) {
        let ready: Vec<RequestId> = {
            let mut state = lock(&self.state);
            if state.unsynced.is_empty() {
                return;
            }
            let limit = self.log.unsynced_from();
            let (ready, later) =
                std::mem::take(&mut state.unsynced).into_iter().partition(|(at, _)| *at < limit);
            state.unsynced = later;
            let ready: Vec<(u64, RequestId)> = ready;
            ready.into_iter().map(|(_, id)| id).collect()
        };
        for id in ready {
            self.wake(&id);
        }
    }

    // The file behind the path is another one, or was cut or rewritten.
    fn read_again(&self, pump: &mut Pump, told: &mut Told) -> std::io::Result<()> {
        if lock(&self.state).file.is_none() {
            // There was no file so far: everything in it is new.
            if pump.reader.restart()? {
                lock(&self.state).file = pump.reader.file().cloned();
                return self.read_live(&mut pump.reader, told);
            }
            return Ok(());
        }
        let cut = pump.reader.file().is_none()
            || pump.reader.stat().is_some_and(
                |s| matches!(self.fs.stat(&self.log.paths.log), Ok(Some(now)) if now.same_file(&s)),
            );
        if !cut {
            // Replaced: read the old one to its end first.
            self.read_live(&mut pump.reader, told)?;
        }
        let had_file = pump.reader.file().is_some();
        self.read_to.store(0, Ordering::Release);
        pump.reader.restart()?;
        match self.fold_all(&mut pump.reader) {
            Ok(folded) => {
                self.swap(pump, folded, told);
                if had_file {
                    lock(&self.state).health.replaced += 1;
                    told.problem = true;
                }
                // Served prompts that vanished are appended again by the thread.
                self.backlog.store(true, Ordering::SeqCst);
                self.waker.wake();
                Ok(())
            }
            Err(error) => Err(std::io::Error::other(error.to_string())),
        }
    }

    // Puts a new fold in place of the old one.
    fn swap(&self, pump: &Pump, folded: Folded, told: &mut Told) {
        let mut wake = Vec::new();
        {
            let mut state = lock(&self.state);
            let state = &mut *state;
            let old_file = state.file.take();
            let lost = vanished(self, state, &folded, old_file.as_deref());
            told.closed.extend(lost.iter().map(|l| l.id.clone()));
            let old = std::mem::replace(&mut state.queue, folded.queue);
            let old_deadlines = std::mem::replace(&mut state.deadlines, folded.deadlines);
            for (slot, deadline) in old_deadlines {
                // What was counted down so far stays counted down.
                if let Some(new) = state.queue.find(old.id_of(slot))
                    && state.queue.slot(new).is_pending()
                {
                    state.deadlines.insert(new, deadline);
                }
            }
            state.served = folded.served;
            state.twins = folded.twins;
            state.undecided = folded.undecided;
            state.results_seen = state.results_seen.max(folded.results_seen);
            let health = &mut state.health;
            health.faults = folded.health.faults;
            health.missing = false;
            if let Some(why) = folded.health.unreadable {
                health.unreadable = Some(why);
            }
            state.file = pump.reader.file().cloned();
            state.generation += 1;
            for lost in lost {
                state.remember_lost(lost);
            }
            told.forged.extend(folded.forged);
            told.resync = true;
            for id in state.waiters.ids() {
                match state.queue.find(id.as_str()) {
                    Some(slot) if state.queue.slot(slot).is_closed() => wake.push(id),
                    _ => {}
                }
            }
            let file = state.file.clone();
            let queue = &state.queue;
            state.waiters.deliver_after_swap(|id| {
                if old.find(id).is_some() {
                    return None;
                }
                let slot = queue.slot(queue.find(id)?);
                let at = slot.request_line().filter(|_| slot.is_result())?;
                let raw = read_exact_at(&*self.fs, file.as_deref()?, at.offset, at.len as usize).ok()??;
                Some((at, raw))
            });
        }
        for id in wake {
            self.wake(&id);
        }
    }

    /// Sends the events of a round.
    pub(super) fn tell(&self, told: Told) {
        if told.is_empty() || !self.has_listeners() {
            return;
        }
        if told.problem {
            self.send(Event::LogProblem(Box::new(self.health())));
        }
        for (id, at) in told.forged.iter().take(MAX_EVENTS) {
            if let Some(item) = self.item(id) {
                let line = self.line_ref(*at);
                self.send(Event::Forged { item: Box::new(item), line });
            }
        }
        if told.resync || told.requested.len() + told.closed.len() > MAX_EVENTS {
            self.send(Event::Resync);
        } else {
            for id in &told.requested {
                if let Some(item) = self.item(id) {
                    self.send(Event::Requested(Box::new(item)));
                }
            }
            for id in &told.closed {
                let Some(item) = self.item(id) else { continue };
                let expired =
                    item.answer.as_ref().is_some_and(|a| a.status == crate::response::Status::Timeout);
                self.send(if expired {
                    Event::Expired(Box::new(item))
                } else {
                    Event::Answered(Box::new(item))
                });
            }
        }
        self.send(Event::Counts(self.counts()));
    }
}

/// The position of what has no line.
pub(super) const NOWHERE: Position = Position { offset: 0, len: 0 };

// Foreign questions that were open and are not in the new fold.
fn vanished(inner: &Inner, state: &State, folded: &Folded, file: Option<&std::fs::File>) -> Vec<Lost> {
    let queue = &state.queue;
    let open = queue.needs_you(None).chain(queue.results(None));
    let mut lost = Vec::new();
    if matches!(inner.fs.stat(&inner.log.paths.archive.join(".prev")), Ok(Some(_))) {
        // An archive run, not a loss: what is only in the old inode is on its way to the new one.
        return lost;
    }
    for slot in open {
        let (id, at) = (queue.id_of(slot), queue.slot(slot));
        let known = folded.queue.find(id).is_some_and(|new| folded.queue.slot(new).is_defined());
        if known || at.is_served() {
            continue;
        }
        let Ok(id) = RequestId::parse(id) else { continue };
        let entry = match (file, at.request_line()) {
            (Some(file), Some(at)) if lost.len() < MAX_RESCUED => {
                let raw = read_exact_at(&*inner.fs, file, at.offset, at.len as usize);
                raw.ok()
                    .flatten()
                    .and_then(|raw| Entry::parse(&raw))
                    .filter(|entry| entry.id().as_ref() == Some(&id))
            }
            _ => None,
        };
        lost.push(Lost { id, run: queue.run_of(slot).map(str::to_owned), ts: at.ts, kind: at.kind(), entry });
    }
    lost
}
