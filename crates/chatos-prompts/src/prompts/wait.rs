//! Waiting for answers and for results of tasks (`ui-prompts §9`, `ai-contributions §11.2`).
//!
//! A waiter holds no lock and no copy of the file. The reader thread wakes it with the verdict: from
//! the store for served prompts, from the file for foreign ones. Dropping the future ends the wait.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chatos_lines::lock;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::view::fitting;
use super::{Inner, Prompts};
use crate::entry::{Entry, Head};
use crate::ids::RequestId;
use crate::json::Object;
use crate::kind::{self, Kind};
use crate::queue::Position;
use crate::reader::Reader;
use crate::response::Status;
use crate::tail::{LineFault, Sink};

/// A log that cannot be read for longer than this ends a wait for a result.
const UNREADABLE_LIMIT: Duration = Duration::from_secs(30);
/// The log is read for so long before a wait whose time is over ends.
const FIRST_LOOK: Duration = Duration::from_secs(10);

/// A verified answer, or what the file says for a foreign prompt. Secret values are masked; the asker
/// gets them with [`Prompts::deliver`].
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    pub request_id: RequestId,
    pub status: Status,
    pub response: Object,
    /// `None`: answered by another program.
    pub by: Option<String>,
    pub at: i64,
}

/// Why a wait ended without what was waited for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    #[error("no answer in time")]
    Timeout,
    #[error("the wait was canceled")]
    Canceled,
    #[error("no question has the id `{0}`")]
    UnknownRequest(RequestId),
    #[error("the prompt log cannot be read: {reason}")]
    LogUnreadable { path: PathBuf, reason: String },
    #[error("the queue was closed")]
    Closed,
}

/// A place in the log, taken before a request is sent; only lines at or after it count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Device and inode; unknown when it was stored as an offset.
    file: Option<(u64, u64)>,
    offset: u64,
}

impl Cursor {
    /// A cursor that was stored with a call record.
    pub fn from_offset(offset: u64) -> Self {
        Self { file: None, offset }
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }
}

/// A result line that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultEntry {
    /// As written: the task id or its twin.
    pub request_id: RequestId,
    pub prompt: Object,
    pub offset: u64,
}

#[derive(Default)]
pub(crate) struct Waiters {
    responses: HashMap<RequestId, Vec<Waiting>>,
    results: HashMap<String, Vec<Arc<ResultSlot>>>,
    next: u64,
}

/// A waiter's own number, and where its answer goes.
type Waiting = (u64, oneshot::Sender<Option<Verified>>);

/// Where a matching line is put for its waiter. The first one stays.
#[derive(Default)]
struct ResultSlot {
    found: Mutex<Option<(Position, Vec<u8>)>>,
    notify: tokio::sync::Notify,
}

impl ResultSlot {
    fn put(&self, at: Position, raw: &[u8]) {
        let mut found = lock(&self.found);
        if found.is_none() {
            *found = Some((at, raw.to_vec()));
            self.notify.notify_one();
        }
    }
}

impl Waiters {
    pub(crate) fn is_empty(&self) -> bool {
        self.responses.is_empty() && self.results.is_empty()
    }

    pub(crate) fn waits_for(&self, id: &RequestId) -> bool {
        self.responses.contains_key(id)
    }

    /// Ids whose answers are waited for.
    pub(crate) fn ids(&self) -> Vec<RequestId> {
        self.responses.keys().cloned().collect()
    }

    pub(crate) fn deliver_result(&self, id: &str, at: Position, raw: &[u8]) {
        for slot in self.results.get(id).into_iter().flatten() {
            slot.put(at, raw);
        }
    }

    /// After the file was replaced: results that were not there before.
    pub(crate) fn deliver_after_swap(&self, mut find: impl FnMut(&str) -> Option<(Position, Vec<u8>)>) {
        for (id, slots) in &self.results {
            if let Some((at, raw)) = find(id) {
                for slot in slots {
                    slot.put(at, &raw);
                }
            }
        }
    }

    fn forget_result(&mut self, slot: &Arc<ResultSlot>) {
        self.results.retain(|_, slots| {
            slots.retain(|s| !Arc::ptr_eq(s, slot));
            !slots.is_empty()
        });
    }
}

/// Takes a response waiter out when its future is dropped.
struct Registered<'a> {
    inner: &'a Inner,
    id: &'a RequestId,
    key: u64,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.inner.state);
        if let Some(list) = state.waiters.responses.get_mut(self.id) {
            list.retain(|(key, _)| *key != self.key);
            if list.is_empty() {
                state.waiters.responses.remove(self.id);
            }
        }
    }
}

impl Prompts {
    /// Waits for the answer of a prompt. An answer that is there already is returned at once, so the
    /// order of asking and waiting does not matter.
    pub async fn wait_for_response(
        &self,
        id: &RequestId,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Result<Verified, WaitError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(WaitError::Canceled),
            () = self.ready() => {}
            () = until(deadline) => return Err(WaitError::Timeout),
        }
        let (sender, receiver) = oneshot::channel();
        let key = {
            let mut state = lock(&self.inner.state);
            let slot = state.queue.find(id.as_str()).map(|slot| state.queue.slot(slot));
            let open = match slot {
                Some(slot) if slot.is_closed() => false,
                Some(slot) if slot.is_defined() => true,
                _ => return Err(WaitError::UnknownRequest(id.clone())),
            };
            if open {
                state.waiters.next += 1;
                let key = state.waiters.next;
                state.waiters.responses.entry(id.clone()).or_default().push((key, sender));
                Some(key)
            } else {
                None
            }
        };
        let Some(key) = key else {
            // The store and the file are read off the async threads.
            let (inner, id) = (self.inner.clone(), id.clone());
            let read = chatos_blocking::run(move || inner.verified(&id)).await;
            return read.ok().flatten().ok_or(WaitError::Closed);
        };
        let _registered = Registered { inner: &self.inner, id, key };
        // The thread sleeps longer while nobody waits.
        self.inner.waker.wake();
        tokio::select! {
            biased;
            answer = receiver => answer.ok().flatten().ok_or(WaitError::Closed),
            () = cancel.cancelled() => Err(WaitError::Canceled),
            () = until(deadline) => Err(WaitError::Timeout),
        }
    }

    /// The end of the log now. Take it before sending what will cause the result.
    pub fn cursor(&self) -> std::io::Result<Cursor> {
        let stat = self.inner.fs.stat(&self.inner.log.paths.log)?;
        Ok(stat.map_or(Cursor { file: None, offset: 0 }, |stat| Cursor {
            file: Some((stat.dev, stat.ino)),
            offset: stat.size,
        }))
    }

    /// Begins to watch for a result with one of `ids`, from `cursor` on.
    pub fn expect_result(&self, ids: &[RequestId], cursor: Cursor) -> ResultWait {
        let slot = Arc::new(ResultSlot::default());
        let seen = lock(&self.inner.state).results_seen;
        let wait = ResultWait { prompts: self.clone(), slot, cursor, seen };
        for id in ids {
            wait.also(id);
        }
        wait
    }

    /// Waits for a result with one of `ids` at or after `cursor`; `poll` is the safety net.
    pub async fn wait_for_result(
        &self,
        ids: &[RequestId],
        cursor: Cursor,
        poll: Duration,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Result<ResultEntry, WaitError> {
        self.expect_result(ids, cursor).wait(poll, deadline, cancel).await
    }
}

/// A wait for a result that has begun. Dropping it ends it.
pub struct ResultWait {
    prompts: Prompts,
    slot: Arc<ResultSlot>,
    cursor: Cursor,
    seen: u64,
}

impl ResultWait {
    /// Also accepts this id (a server that mints its own says so in its ACK).
    pub fn also(&self, id: &RequestId) {
        {
            let mut state = lock(&self.prompts.inner.state);
            let list = state.waiters.results.entry(id.as_str().to_owned()).or_default();
            if !list.iter().any(|slot| Arc::ptr_eq(slot, &self.slot)) {
                list.push(self.slot.clone());
            }
        }
        self.look(id);
        self.prompts.inner.waker.wake();
    }

    /// How many result entries were read since this wait began, whatever their ids.
    pub fn results_seen(&self) -> u64 {
        lock(&self.prompts.inner.state).results_seen.saturating_sub(self.seen)
    }

    pub async fn wait(
        &mut self,
        poll: Duration,
        deadline: Option<Instant>,
        cancel: &CancellationToken,
    ) -> Result<ResultEntry, WaitError> {
        // Before the first fold the index cannot say what was there already. A wait that is continued may be
        // over by now; what came meanwhile counts, so the log is looked at all the same.
        let first = deadline.map(|deadline| deadline.max(Instant::now() + FIRST_LOOK));
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(WaitError::Canceled),
            () = self.prompts.ready() => {}
            () = until(first) => return Err(WaitError::Timeout),
        }
        let ids: Vec<RequestId> = {
            let state = lock(&self.prompts.inner.state);
            let mine = |slots: &Vec<Arc<ResultSlot>>| slots.iter().any(|slot| Arc::ptr_eq(slot, &self.slot));
            let ids = state.waiters.results.iter().filter(|(_, slots)| mine(slots)).map(|(id, _)| id);
            ids.filter_map(|id| RequestId::parse(id).ok()).collect()
        };
        for id in ids {
            self.look(&id);
        }
        let poll = poll.clamp(Duration::from_millis(200), Duration::from_secs(5));
        loop {
            if let Some(found) = self.take() {
                return Ok(found);
            }
            tokio::select! {
                biased;
                () = self.slot.notify.notified() => {}
                () = cancel.cancelled() => return Err(WaitError::Canceled),
                () = until(deadline) => return Err(WaitError::Timeout),
                () = tokio::time::sleep(poll) => {
                    self.prompts.inner.waker.wake();
                    if let Some((since, reason)) = self.prompts.inner.unreadable_for()
                        && since > UNREADABLE_LIMIT
                    {
                        let path = self.prompts.inner.log.paths.log.clone();
                        return Err(WaitError::LogUnreadable { path, reason });
                    }
                }
            }
        }
    }

    fn take(&self) -> Option<ResultEntry> {
        let (at, raw) = lock(&self.slot.found).take()?;
        let entry = Entry::parse(&raw)?;
        Some(ResultEntry { request_id: entry.id()?, prompt: entry.prompt()?.clone(), offset: at.offset })
    }

    // What the log held before this wait was registered.
    fn look(&self, id: &RequestId) {
        if let Some((at, raw)) = self.prompts.inner.find_result(id, self.cursor) {
            self.slot.put(at, &raw);
        }
    }
}

impl Drop for ResultWait {
    fn drop(&mut self) {
        let slot = self.slot.clone();
        lock(&self.prompts.inner.state).waiters.forget_result(&slot);
    }
}

impl Inner {
    /// Wakes who waits for the answer of `id`.
    pub(crate) fn wake(&self, id: &RequestId) {
        let Some(senders) = lock(&self.state).waiters.responses.remove(id) else { return };
        let answer = self.verified(id);
        for (_, sender) in senders {
            // A waiter that went away in this moment is fine.
            drop(sender.send(answer.clone()));
        }
    }

    /// The verdict of a closed prompt.
    pub(crate) fn verified(&self, id: &RequestId) -> Option<Verified> {
        let found = lock(&self.state).locate(id.as_str())?;
        if found.slot.is_served() {
            let record = match self.records.get(id) {
                Ok(record) => record?,
                Err(error) => {
                    tracing::warn!(%error, request_id = %id, "cannot read the answer of a prompt");
                    return None;
                }
            };
            let answer = record.answer?;
            let status = answer.response.get("status").and_then(|s| s.as_str()).unwrap_or("error");
            return Some(Verified {
                request_id: id.clone(),
                status: Status::read(status),
                response: answer.response,
                by: Some(answer.by),
                at: answer.at,
            });
        }
        let (slot_status, at) = (found.slot.status(), found.slot.response_ts);
        let response = found.slot.response_line().and_then(|at| self.entry_at(&found, at));
        let prompt = found.slot.request_line().and_then(|at| self.entry_at(&found, at));
        let typed = prompt.as_ref().and_then(Entry::prompt).and_then(|p| kind::read_lenient(p, id).prompt);
        let by = response.as_ref().filter(|entry| entry.is_ours(Some(&*self.signer)));
        let by = by.and_then(|entry| entry.stamp("by")?.as_str().map(str::to_owned));
        let body = response.as_ref().and_then(Entry::response).cloned().unwrap_or_else(|| {
            let mut body = Object::new();
            body.insert("status".into(), slot_status.as_str().into());
            body
        });
        let (status, response) = fitting(typed.as_ref(), &body, slot_status);
        Some(Verified { request_id: id.clone(), status, response, by, at })
    }

    // A result request with this id at or after the cursor.
    fn find_result(&self, id: &RequestId, cursor: Cursor) -> Option<(Position, Vec<u8>)> {
        let (at, reused, file, from) = {
            let state = lock(&self.state);
            let slot = state.queue.find(id.as_str())?;
            let found = state.queue.slot(slot);
            let at = found.request_line().filter(|_| found.is_result());
            let reused = state.queue.extras(slot).is_some_and(|extras| extras.reused_count > 0);
            (at, reused, state.file.clone()?, cursor.offset)
        };
        let stat = self.fs.fstat(&file).ok()?;
        // Another file since the cursor was taken: everything in it is new.
        let other = cursor.file.is_some_and(|known| known != (stat.dev, stat.ino)) || stat.size < from;
        let from = if other { 0 } else { from };
        if let Some(at) = at.filter(|at| at.offset >= from) {
            let raw = crate::reader::read_exact_at(&*self.fs, &file, at.offset, at.len as usize).ok()??;
            return Some((at, raw));
        }
        // The id was used before the cursor too; only the lines after it say whether again.
        if reused { self.scan_for_result(id, from) } else { None }
    }

    fn scan_for_result(&self, id: &RequestId, from: u64) -> Option<(Position, Vec<u8>)> {
        struct Find<'a> {
            id: &'a str,
            from: u64,
            found: Option<(Position, Vec<u8>)>,
        }
        impl Sink for Find<'_> {
            fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>) {
                let matches = at >= self.from && head.kind == Some(Kind::Result) && head.id == self.id;
                if matches && self.found.is_none() {
                    self.found = Some((Position { offset: at, len: raw.len() as u32 }, raw.to_vec()));
                }
            }

            fn fault(&mut self, _: u64, _: LineFault) {}
        }
        let mut reader = Reader::new(self.fs.clone(), &self.log.paths.log);
        let mut find = Find { id: id.as_str(), from, found: None };
        if !reader.restart_at(from).ok()? {
            return None;
        }
        reader.drain(&mut find, |_, _| ()).ok()?;
        find.found
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
