//! The fold: what "pending" means (`ui-prompts §4`).
//!
//! Pure and incremental: entries of the log in file order and records of the store go in, the set of
//! open questions comes out, at a constant cost per entry. It keeps positions, not texts, so a
//! million closed prompts stay small; the text of a prompt is read from the file or the store when
//! somebody looks at it. Deciding whether a response to a served prompt counts needs the store and the
//! key and is done by the caller, who says so with [`Verdict`].

mod ids;
mod slot;

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

pub(crate) use slot::{Position, Slot, SlotId};

use crate::entry::{Action, Head};
use crate::ids::twin_of;
use crate::kind::Kind;
use crate::response::Status;
pub(crate) use ids::IdHasher;
use ids::{Ids, Runs};

/// How many further lines are remembered per prompt; more are only counted.
const MAX_EXTRA: usize = 32;

/// What a response line means for a served prompt that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The store has the answer; the line is its mirror.
    Recorded { status: Status, at: i64 },
    /// Our signature, but no answer in the store (an older database was restored): closed, never confirmed.
    Unrecorded,
    /// The store could not be asked; the caller asks again.
    Later,
    /// Another program's line: stays pending.
    Forged,
}

/// A served prompt as the store defines it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordHead<'a> {
    pub(crate) id: &'a str,
    pub(crate) run: Option<&'a str>,
    pub(crate) ts: i64,
    pub(crate) kind: Option<Kind>,
    pub(crate) answered: Option<(Status, i64)>,
}

/// What an entry did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Became pending.
    Requested(SlotId),
    Closed(SlotId),
    /// A further request with a used id; ignored.
    Reused(SlotId),
    /// A further response; kept for the details.
    Ignored(SlotId),
    /// A response that another program wrote to a served prompt.
    Forged(SlotId),
    /// A line with a signature for an id without a record: if it is ours, the store has the record, or
    /// lost it. The caller finds out.
    Unknown(SlotId),
}

/// Lines that did not count.
#[derive(Debug, Default, Clone)]
pub(crate) struct Extras {
    /// Responses after the first.
    pub(crate) ignored: Vec<Position>,
    pub(crate) ignored_count: u32,
    /// Responses to a served prompt that are not ours.
    pub(crate) foreign: Vec<Position>,
    pub(crate) foreign_count: u32,
    /// Requests after the first.
    pub(crate) reused_count: u32,
}

/// Order of a list: time first, then place in the file.
type Key = (i64, u64, SlotId);

#[derive(Default)]
pub(crate) struct Queue {
    ids: Ids,
    slots: Vec<Slot>,
    runs: Runs,
    needs_you: BTreeSet<Key>,
    results: BTreeSet<Key>,
    /// In the order in which the responses stand in the file.
    history: Vec<SlotId>,
    extras: HashMap<SlotId, Extras>,
    open_needs: usize,
    open_results: usize,
    /// The slot of the last entry: an answer often follows its question.
    last: Option<SlotId>,
    /// While a whole log is folded the ordered sets are not kept; they are built at the end.
    bulk: bool,
}

impl Queue {
    /// For folding a whole log; call [`Queue::finish`] at its end.
    pub(crate) fn bulk(expected: usize) -> Self {
        let mut queue = Self { bulk: true, ..Self::default() };
        queue.ids.reserve(expected);
        queue.slots.reserve(expected);
        queue
    }

    /// Ends bulk mode.
    pub(crate) fn finish(&mut self) {
        self.bulk = false;
        let mut unlisted: Vec<(i64, SlotId)> = Vec::new();
        let (mut needs, mut results) = (Vec::new(), Vec::new());
        for (slot, id) in self.slots.iter().zip(0..) {
            if slot.is_pending() {
                let list = if slot.is_result() { &mut results } else { &mut needs };
                list.push(key_of(slot, id));
            } else if slot.is_closed() && !slot.in_history() && !slot.is_archived() {
                unlisted.push((slot.response_ts, id));
            }
        }
        self.needs_you = needs.into_iter().collect();
        self.results = results.into_iter().collect();
        // Answers whose mirror line is not in the log (yet): newest, in the order they were given.
        unlisted.sort_unstable();
        for (_, id) in unlisted {
            self.list_in_history(id);
        }
    }

    /// For threads that parse ahead.
    pub(crate) fn id_hasher(&self) -> &IdHasher {
        self.ids.hasher()
    }

    /// Brings what the ids with these hashes need into the cache.
    pub(crate) fn touch(&self, hashes: &[u64]) {
        self.ids.touch(hashes);
    }

    pub(crate) fn find(&self, id: &str) -> Option<SlotId> {
        self.ids.find(id, &self.slots)
    }

    pub(crate) fn slot(&self, id: SlotId) -> &Slot {
        &self.slots[id as usize]
    }

    pub(crate) fn id_of(&self, id: SlotId) -> &str {
        self.ids.text(&self.slots[id as usize])
    }

    pub(crate) fn run_of(&self, id: SlotId) -> Option<&str> {
        self.runs.text(self.slots[id as usize].run)
    }

    pub(crate) fn run_index(&self, run: &str) -> Option<u32> {
        self.runs.find(run)
    }

    pub(crate) fn extras(&self, id: SlotId) -> Option<&Extras> {
        self.extras.get(&id)
    }

    pub(crate) fn needs_you_count(&self) -> usize {
        self.open_needs
    }

    pub(crate) fn results_count(&self) -> usize {
        self.open_results
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Open questions, oldest first, after `after`.
    pub(crate) fn needs_you(&self, after: Option<Key>) -> impl Iterator<Item = SlotId> + '_ {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.needs_you.range((from, Bound::Unbounded)).map(|key| key.2)
    }

    /// Unread results, newest first, before `before`.
    pub(crate) fn results(&self, before: Option<Key>) -> impl Iterator<Item = SlotId> + '_ {
        let to = before.map_or(Bound::Unbounded, Bound::Excluded);
        self.results.range((Bound::Unbounded, to)).rev().map(|key| key.2)
    }

    /// Closed prompts in the order of their responses; the newest is last.
    pub(crate) fn history(&self) -> &[SlotId] {
        &self.history
    }

    /// The position of an open prompt in its list.
    pub(crate) fn key(&self, id: SlotId) -> (i64, u64, SlotId) {
        key_of(self.slot(id), id)
    }

    /// Applies one entry of the log. `now` stands in for a missing `ts`; `verdict` is asked only about
    /// a response to a served prompt that is open.
    pub(crate) fn apply(
        &mut self,
        head: &Head<'_>,
        at: Position,
        now: i64,
        verdict: impl FnOnce() -> Verdict,
        out: &mut Vec<Change>,
    ) {
        match head.action {
            Action::Request => self.request(head, at, now, out),
            Action::Response => self.response(head, at, now, verdict, out),
        }
    }

    fn request(&mut self, head: &Head<'_>, at: Position, now: i64, out: &mut Vec<Change>) {
        let Some(id) = self.slot_of(head) else { return };
        let slot = &mut self.slots[id as usize];
        if slot.has_request_line() || slot.is_archived() {
            if !slot.has_request_line() {
                // A run of the archive that did not end left the line here: it can be moved again.
                slot.set_request_line(at);
            }
            // The mirror of a served request may be there twice after a crash; that is harmless.
            if !(slot.is_served() && head.signed) {
                self.extras.entry(id).or_default().reused_count += 1;
                out.push(Change::Reused(id));
            }
            return;
        }
        let was_pending = slot.is_pending();
        if was_pending {
            self.unlist(id);
        }
        let slot = &mut self.slots[id as usize];
        slot.set_request_line(at);
        if slot.is_served() {
            // Defined by its record, whatever the line says.
            if was_pending {
                self.list(id);
            }
            return;
        }
        if head.signed {
            out.push(Change::Unknown(id));
        }
        slot.ts = head.ts.unwrap_or(now);
        slot.set_kind(head.kind);
        slot.run = head.run.as_deref().map_or(slot::NO_RUN, |run| self.runs.intern(run));
        self.slots[id as usize].define();
        if self.slots[id as usize].has_response() {
            self.close(id, out);
        } else {
            self.list(id);
            out.push(Change::Requested(id));
            self.close_if_twin_is(id, out);
        }
    }

    fn response(
        &mut self,
        head: &Head<'_>,
        at: Position,
        now: i64,
        verdict: impl FnOnce() -> Verdict,
        out: &mut Vec<Change>,
    ) {
        let Some(id) = self.slot_of(head) else { return };
        let slot = &mut self.slots[id as usize];
        let ts = head.ts.unwrap_or(now);
        if slot.is_archived() && slot.has_request_line() && !slot.has_response_line() {
            slot.set_response(head.status, ts);
            slot.set_response_line(at);
            self.list_in_history(id);
            return;
        }
        if !slot.is_served() {
            if slot.is_twin_closed() && !slot.has_response_line() {
                // The line that says for every reader what the twin rule said already.
                slot.set_response(head.status, ts);
                slot.set_response_line(at);
            } else if slot.has_response() || slot.is_archived() {
                self.ignore(id, at, out);
            } else {
                slot.set_response(head.status, ts);
                slot.set_response_line(at);
                if head.signed && !slot.is_defined() {
                    out.push(Change::Unknown(id));
                }
                let slot = &self.slots[id as usize];
                if slot.is_defined() {
                    self.unlist(id);
                    self.close(id, out);
                }
            }
            return;
        }
        if slot.is_closed() {
            if head.signed && !slot.has_response_line() {
                slot.set_response_line(at);
                self.list_in_history(id);
            } else if head.signed {
                self.ignore(id, at, out);
            } else {
                self.foreign(id, at);
                out.push(Change::Ignored(id));
            }
            return;
        }
        match verdict() {
            Verdict::Later => {}
            Verdict::Recorded { status, at: answered } => {
                if head.signed {
                    slot.set_response_line(at);
                }
                slot.set_response(status, answered);
                self.unlist(id);
                self.close(id, out);
            }
            Verdict::Unrecorded => {
                slot.set_response_line(at);
                slot.set_response(Status::Error, ts);
                self.unlist(id);
                self.close(id, out);
            }
            Verdict::Forged => {
                self.foreign(id, at);
                out.push(Change::Forged(id));
            }
        }
    }

    /// Applies a record of the store: it defines the prompt, and its answer alone closes it.
    pub(crate) fn record(&mut self, record: &RecordHead<'_>, out: &mut Vec<Change>) {
        let Some(id) = self.slot_for(record.id) else { return };
        let slot = &mut self.slots[id as usize];
        if slot.is_archived() {
            slot.serve();
            return;
        }
        if !slot.is_served() {
            let was_pending = slot.is_pending();
            if was_pending {
                self.unlist(id);
            }
            self.forget_response(id, out);
            let run = record.run.map_or(slot::NO_RUN, |run| self.runs.intern(run));
            let slot = &mut self.slots[id as usize];
            slot.serve();
            slot.define();
            slot.ts = record.ts;
            slot.set_kind(record.kind);
            slot.run = run;
            self.list(id);
            if !was_pending && record.answered.is_none() {
                out.push(Change::Requested(id));
            }
        }
        if let Some((status, at)) = record.answered
            && self.slots[id as usize].is_pending()
        {
            self.unlist(id);
            self.slots[id as usize].set_response(status, at);
            if self.bulk {
                // Its place in the history is that of its line, which comes later.
                self.slots[id as usize].close();
            } else {
                self.close(id, out);
            }
        }
    }

    // Lines that came before the record do not count for a served prompt.
    fn forget_response(&mut self, id: SlotId, out: &mut Vec<Change>) {
        let slot = &mut self.slots[id as usize];
        if !slot.has_response() {
            return;
        }
        let line = slot.response_line();
        let listed = slot.in_history();
        slot.reopen();
        if listed {
            self.history.retain(|h| *h != id);
        }
        if let Some(at) = line {
            self.foreign(id, at);
            out.push(Change::Forged(id));
        }
    }

    /// An id that was moved to the archive: closed for ever.
    pub(crate) fn archived(&mut self, id: &str) {
        if let Some(id) = self.slot_for(id) {
            let slot = &mut self.slots[id as usize];
            slot.define();
            slot.close();
            slot.set_archived();
        }
    }

    fn slot_of(&mut self, head: &Head<'_>) -> Option<SlotId> {
        if !head.repeats || self.last.is_none() {
            let Self { ids, slots, .. } = self;
            self.last = ids.find_or_insert(&head.id, head.hash, slots);
        }
        debug_assert_eq!(self.last.map(|last| self.id_of(last)), Some(&*head.id));
        self.last
    }

    fn slot_for(&mut self, id: &str) -> Option<SlotId> {
        let Self { ids, slots, .. } = self;
        ids.find_or_insert(id, None, slots)
    }

    fn ignore(&mut self, id: SlotId, at: Position, out: &mut Vec<Change>) {
        let extras = self.extras.entry(id).or_default();
        extras.ignored_count += 1;
        if extras.ignored.len() < MAX_EXTRA {
            extras.ignored.push(at);
        }
        out.push(Change::Ignored(id));
    }

    fn foreign(&mut self, id: SlotId, at: Position) {
        let extras = self.extras.entry(id).or_default();
        extras.foreign_count += 1;
        if extras.foreign.len() < MAX_EXTRA {
            extras.foreign.push(at);
        }
    }

    // The response is set; the prompt leaves the queue.
    fn close(&mut self, id: SlotId, out: &mut Vec<Change>) {
        self.slots[id as usize].close();
        self.list_in_history(id);
        out.push(Change::Closed(id));
        if self.slots[id as usize].is_result()
            && let Some(twin) = self.twin(id)
        {
            let slot = &self.slots[twin as usize];
            // A served result closes by its record only, so that no other program can hide it.
            if slot.is_pending() && slot.is_result() && !slot.is_served() {
                self.unlist(twin);
                self.close_as_twin(twin, id, out);
            }
        }
    }

    fn close_if_twin_is(&mut self, id: SlotId, out: &mut Vec<Change>) {
        if !self.slots[id as usize].is_result() {
            return;
        }
        if let Some(twin) = self.twin(id)
            && self.slots[twin as usize].is_result()
            && self.slots[twin as usize].is_closed()
        {
            self.unlist(id);
            self.close_as_twin(id, twin, out);
        }
    }

    fn close_as_twin(&mut self, id: SlotId, of: SlotId, out: &mut Vec<Change>) {
        let at = self.slots[of as usize].response_ts;
        let slot = &mut self.slots[id as usize];
        slot.set_response(Status::Ok, at);
        slot.set_twin_closed();
        slot.close();
        self.list_in_history(id);
        out.push(Change::Closed(id));
    }

    pub(crate) fn twin(&self, id: SlotId) -> Option<SlotId> {
        self.find(&twin_of(self.id_of(id))?)
    }

    fn list(&mut self, id: SlotId) {
        let slot = &self.slots[id as usize];
        let key = key_of(slot, id);
        if slot.is_result() {
            self.open_results += 1;
            if !self.bulk {
                self.results.insert(key);
            }
        } else {
            self.open_needs += 1;
            if !self.bulk {
                self.needs_you.insert(key);
            }
        }
    }

    fn unlist(&mut self, id: SlotId) {
        let slot = &self.slots[id as usize];
        let key = key_of(slot, id);
        if slot.is_result() {
            self.open_results -= 1;
            self.results.remove(&key);
        } else {
            self.open_needs -= 1;
            self.needs_you.remove(&key);
        }
    }

    fn list_in_history(&mut self, id: SlotId) {
        let slot = &mut self.slots[id as usize];
        if !slot.in_history() {
            slot.set_in_history();
            self.history.push(id);
        }
    }
}

fn key_of(slot: &Slot, id: SlotId) -> Key {
    (slot.ts, slot.request_line().map_or(u64::MAX, |at| at.offset), id)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod reference;
