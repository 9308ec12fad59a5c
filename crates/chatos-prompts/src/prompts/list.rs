//! Lists, search and paging over the index (`ui-prompts §12.2`).
//!
//! The index answers what it can (kind, status, run, time); texts are read for the items of one page
//! only. A search that finds little stops after a bounded number of lines and gives a cursor to go on.

use chatos_lines::lock;
use serde_json::Value;

use super::state::{Located, State};
use super::view::{Item, LineRef, Viewer, for_viewer};
use super::{Inner, NotReady, Prompts};
use crate::entry::Entry;
use crate::ids::{RequestId, RunId};
use crate::json::Object;
use crate::kind::Kind;
use crate::queue::SlotId;
use crate::response::Status;

/// Items per page.
const MAX_LIMIT: usize = 200;

/// How many prompts one call looks at before it hands back a cursor.
const SEARCH_BUDGET: usize = 50_000;

/// How many are looked up under one lock.
const STRIDE: usize = 256;

/// How many closed prompts an app may read (`ui-prompts §7.2`).
const APP_CLOSED: usize = 500;

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    #[default]
    NeedsYou,
    Results,
    History,
    /// All three, in this order.
    All,
}

impl View {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "needs_you" => Some(Self::NeedsYou),
            "results" => Some(Self::Results),
            "history" => Some(Self::History),
            "all" => Some(Self::All),
            _ => None,
        }
    }
}

/// What to list. Absent filters match everything.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub view: View,
    pub run_id: Option<String>,
    pub source: Option<String>,
    pub kind: Option<String>,
    pub status: Option<Status>,
    /// Results: delivered to a waiting call, or read by a person.
    pub auto: Option<bool>,
    /// Words looked for in title, message, source and the other texts, case-insensitively.
    pub q: Option<String>,
    /// Requests at or after, before (milliseconds).
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub cursor: Option<String>,
    /// 1..200; 0 means 50.
    pub limit: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub needs_you: usize,
    pub results: usize,
}

impl Counts {
    pub fn to_json(self) -> Value {
        serde_json::json!({"needsYou": self.needs_you, "results": self.results})
    }
}

#[derive(Debug, Clone)]
pub struct Page {
    pub items: Vec<Item>,
    pub next_cursor: Option<String>,
    pub counts: Counts,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("`{0}` is not a cursor of this list")]
    Cursor(String),
    #[error(transparent)]
    NotReady(#[from] NotReady),
}

/// Where a listing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    NeedsYou(Option<(i64, u64, SlotId)>),
    Results(Option<(i64, u64, SlotId)>),
    /// Everything from here on (exclusive) was seen; the newest is last.
    History(Option<usize>),
    Lost(usize),
    End,
}

impl At {
    fn start(view: View) -> Self {
        match view {
            View::NeedsYou | View::All => At::NeedsYou(None),
            View::Results => At::Results(None),
            View::History => At::History(None),
        }
    }

    fn next_section(self, view: View) -> Self {
        match (self, view) {
            (At::NeedsYou(_), View::All) => At::Results(None),
            (At::Results(_), View::All) => At::History(None),
            (At::History(_), _) => At::Lost(0),
            _ => At::End,
        }
    }

    fn print(self) -> Option<String> {
        let key = |k: Option<(i64, u64, SlotId)>| k.map_or(String::new(), |(a, b, c)| format!("{a}.{b}.{c}"));
        match self {
            At::NeedsYou(k) => Some(format!("n{}", key(k))),
            At::Results(k) => Some(format!("r{}", key(k))),
            At::History(n) => Some(format!("h{}", n.map_or(String::new(), |n| n.to_string()))),
            At::Lost(n) => Some(format!("l{n}")),
            At::End => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let key = |rest: &str| -> Option<Option<(i64, u64, SlotId)>> {
            if rest.is_empty() {
                return Some(None);
            }
            let mut parts = rest.split('.');
            let key = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            parts.next().is_none().then_some(Some(key))
        };
        let rest = text.get(1..)?;
        match text.as_bytes().first()? {
            b'n' => Some(At::NeedsYou(key(rest)?)),
            b'r' => Some(At::Results(key(rest)?)),
            b'h' if rest.is_empty() => Some(At::History(None)),
            b'h' => Some(At::History(Some(rest.parse().ok()?))),
            b'l' => Some(At::Lost(rest.parse().ok()?)),
            _ => None,
        }
    }
}

impl Prompts {
    /// One page of a list.
    pub fn list(&self, query: &Query) -> Result<Page, QueryError> {
        self.inner.ready_within(std::time::Duration::ZERO)?;
        let mut at = match &query.cursor {
            None => At::start(query.view),
            Some(text) => At::parse(text).ok_or_else(|| QueryError::Cursor(text.clone()))?,
        };
        let limit = if query.limit == 0 { 50 } else { query.limit.min(MAX_LIMIT) };
        let needle = query.q.as_deref().map(str::trim).filter(|q| !q.is_empty()).map(str::to_lowercase);
        let mut items = Vec::with_capacity(limit.min(64));
        let mut looked = 0;
        while at != At::End && items.len() < limit && looked < SEARCH_BUDGET {
            let (batch, after, done) = self.inner.stride(query, at);
            looked += batch.len().max(1);
            let mut full = false;
            for (candidate, here) in batch {
                at = here;
                let item = match candidate {
                    Candidate::Prompt(found) => self.inner.item_at(&found),
                    Candidate::Lost(item) => Some(*item),
                };
                let Some(item) = item.filter(|item| matches(item, query, needle.as_deref())) else {
                    continue;
                };
                items.push(item);
                if items.len() == limit {
                    full = true;
                    break;
                }
            }
            if !full {
                at = if done { after.next_section(query.view) } else { after };
            }
        }
        Ok(Page { items, next_cursor: at.print(), counts: self.inner.counts() })
    }

    /// One prompt, or `None` when no request of this id is known.
    pub fn get(&self, id: &RequestId) -> Option<Item> {
        self.inner.pump();
        self.inner.item(id)
    }

    /// Lines of a prompt that did not count: (ignored responses, foreign responses).
    pub fn further_lines(&self, id: &RequestId) -> (Vec<LineRef>, Vec<LineRef>) {
        self.inner.further_lines(id)
    }

    /// Ids that begin with `prefix` and are open or in the history; at most `limit`.
    pub fn find_prefix(&self, prefix: &str, limit: usize) -> Vec<RequestId> {
        let state = lock(&self.inner.state);
        let queue = &state.queue;
        let all =
            queue.needs_you(None).chain(queue.results(None)).chain(queue.history().iter().rev().copied());
        all.map(|slot| queue.id_of(slot))
            .filter(|id| id.starts_with(prefix))
            .filter_map(|id| RequestId::parse(id).ok())
            .take(limit)
            .collect()
    }

    pub fn counts(&self) -> Counts {
        self.inner.counts()
    }

    /// The prompt to show first (`ui-prompts §4`): the open one if still pending, else the oldest
    /// pending of the preferred run, else the oldest pending.
    pub fn active(&self, open: Option<&RequestId>, run: Option<&RunId>) -> Option<RequestId> {
        let state = lock(&self.inner.state);
        let queue = &state.queue;
        let still = open.and_then(|id| queue.find(id.as_str())).filter(|slot| queue.slot(*slot).is_pending());
        let wanted = run.and_then(|run| queue.run_index(run.as_str()));
        let of_run =
            || wanted.and_then(|run| queue.needs_you(None).find(|slot| queue.slot(*slot).run == run));
        let slot = still.or_else(of_run).or_else(|| queue.needs_you(None).next())?;
        RequestId::parse(queue.id_of(slot)).ok()
    }

    /// Entries as seed 004 §2 gives them to apps: pending plus the last 500 closed, in order of time.
    pub fn read_entries(&self, viewer: &Viewer) -> Vec<Value> {
        self.inner.pump();
        let found: Vec<Located> = {
            let state = lock(&self.inner.state);
            let queue = &state.queue;
            let closed = queue.history().iter().rev().take(APP_CLOSED).copied();
            let mut slots: Vec<SlotId> =
                queue.needs_you(None).chain(queue.results(None)).chain(closed).collect();
            slots.sort_by_key(|slot| queue.key(*slot));
            slots.into_iter().filter_map(|slot| state.located(slot)).collect()
        };
        let mut entries = Vec::with_capacity(found.len() * 2);
        for found in found {
            self.inner.entries_of(&found, viewer, &mut entries);
        }
        entries
    }
}

enum Candidate {
    Prompt(Box<Located>),
    Lost(Box<Item>),
}

impl Inner {
    pub(crate) fn counts(&self) -> Counts {
        let state = lock(&self.state);
        Counts { needs_you: state.queue.needs_you_count(), results: state.queue.results_count() }
    }

    // The next prompts of a section that the index does not rule out, each with the position after
    // it; the position reached; whether the section ended.
    fn stride(&self, query: &Query, at: At) -> (Vec<(Candidate, At)>, At, bool) {
        let state = lock(&self.state);
        let queue = &state.queue;
        let mut batch = Vec::new();
        let mut after = at;
        let mut seen = 0;
        let take = |slot: SlotId, here: At, batch: &mut Vec<(Candidate, At)>| {
            if index_matches(&state, slot, query)
                && let Some(found) = state.located(slot)
            {
                batch.push((Candidate::Prompt(Box::new(found)), here));
            }
        };
        // The index rules out cheaply, so a stride may skip many; it ends when enough are found.
        const MAX_SKIP: usize = 100_000;
        match at {
            At::NeedsYou(key) => {
                for slot in queue.needs_you(key) {
                    after = At::NeedsYou(Some(queue.key(slot)));
                    take(slot, after, &mut batch);
                    seen += 1;
                    if batch.len() == STRIDE || seen == MAX_SKIP {
                        return (batch, after, false);
                    }
                }
                (batch, after, true)
            }
            At::Results(key) => {
                for slot in queue.results(key) {
                    after = At::Results(Some(queue.key(slot)));
                    take(slot, after, &mut batch);
                    seen += 1;
                    if batch.len() == STRIDE || seen == MAX_SKIP {
                        return (batch, after, false);
                    }
                }
                (batch, after, true)
            }
            At::History(from) => {
                let all = queue.history();
                let mut index = from.unwrap_or(all.len()).min(all.len());
                while index > 0 {
                    index -= 1;
                    after = At::History(Some(index));
                    take(all[index], after, &mut batch);
                    seen += 1;
                    if batch.len() == STRIDE || seen == MAX_SKIP {
                        return (batch, after, false);
                    }
                }
                (batch, after, true)
            }
            At::Lost(from) => {
                let lost: Vec<_> = state.lost.iter().rev().skip(from).take(STRIDE).cloned().collect();
                drop(state);
                let count = lost.len();
                let batch = lost
                    .iter()
                    .enumerate()
                    .map(|(i, lost)| {
                        (Candidate::Lost(Box::new(self.lost_item(lost))), At::Lost(from + i + 1))
                    })
                    .collect();
                (batch, At::Lost(from + count), count < STRIDE)
            }
            At::End => (batch, At::End, true),
        }
    }

    fn entries_of(&self, found: &Located, viewer: &Viewer, out: &mut Vec<Value>) {
        let (request, response, owner) = if found.slot.is_served() {
            let Ok(Some(record)) = self.records.get(&found.id) else { return };
            let response = self.response_entry(&record).and_then(|entry| entry.as_object().cloned());
            (record.entry.as_object().cloned(), response, Some(record.owner))
        } else {
            let read = |at| self.entry_at(found, at).map(|entry| entry.object);
            let response = found.slot.response_line().and_then(read);
            (found.slot.request_line().and_then(read), response, None)
        };
        let Some(request) = request else { return };
        let entry = Entry { object: request };
        let empty = Object::new();
        let prompt = entry.prompt().unwrap_or(&empty).clone();
        out.push(for_viewer(viewer, owner.as_ref(), &prompt, entry.object));
        if let Some(response) = response {
            out.push(for_viewer(viewer, owner.as_ref(), &prompt, response));
        }
    }
}

fn index_matches(state: &State, slot: SlotId, query: &Query) -> bool {
    let at = state.queue.slot(slot);
    if at.is_archived() && at.request_line().is_none() && !at.is_served() {
        return false;
    }
    if let Some(kind) = &query.kind {
        // A kind this host does not know is compared by its text later.
        let known = Kind::parse(kind);
        if known.is_some() != at.kind().is_some() || (known.is_some() && known != at.kind()) {
            return false;
        }
    }
    if query.status.is_some_and(|status| !at.is_closed() || at.status() != status) {
        return false;
    }
    if query.since.is_some_and(|since| at.ts < since) || query.until.is_some_and(|until| at.ts >= until) {
        return false;
    }
    match &query.run_id {
        None => true,
        Some(run) => state.queue.run_of(slot) == Some(run.as_str()),
    }
}

fn matches(item: &Item, query: &Query, needle: Option<&str>) -> bool {
    if query.source.as_deref().is_some_and(|source| item.source() != Some(source)) {
        return false;
    }
    if query.kind.as_deref().is_some_and(|kind| item.kind.as_deref() != Some(kind)) {
        return false;
    }
    if query.run_id.as_deref().is_some_and(|run| item.run_id.as_deref() != Some(run)) {
        return false;
    }
    if query.status.is_some() && item.answer.is_none() {
        return false;
    }
    if query.auto.is_some_and(|auto| item.is_auto() != auto) {
        return false;
    }
    let Some(needle) = needle else { return true };
    if item.request_id.as_str().to_lowercase().contains(needle) {
        return true;
    }
    let mut todo: Vec<&Value> = item.prompt.values().collect();
    // Who asks and where, by the names people know.
    let names = ["/agent", "/subAgent", "/tool", "/client", "/app", "/project/name", "/session/title"];
    todo.extend(item.card.iter().flat_map(|card| names.iter().filter_map(|at| card.pointer(at))));
    if let Some(answer) = &item.answer {
        todo.extend(answer.response.values());
    }
    while let Some(value) = todo.pop() {
        match value {
            Value::String(text) if text.to_lowercase().contains(needle) => return true,
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => todo.extend(map.values()),
            _ => {}
        }
    }
    false
}
