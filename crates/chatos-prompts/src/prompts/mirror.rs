//! Brings committed lines into the log: append, sync, mark; and again later when the log was not
//! writable (`ui-prompts §3.1`, `security §3.2`).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chatos_lines::{AppendError, Ticket, lock};

use super::{Event, Inner, Role};
use crate::ids::RequestId;

/// Rows are replayed in pieces of this size.
const BATCH: usize = 256;

/// A running host leaves rows younger than this to the process that wrote them.
const SETTLE_MS: i64 = 5_000;

/// Says that a caller is bringing the lines of a prompt into the log.
pub(crate) struct InFlight {
    inner: Arc<Inner>,
    id: RequestId,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = lock(&self.inner.state);
        if let Some(count) = state.in_flight.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                state.in_flight.remove(&self.id);
            }
        }
    }
}

impl Inner {
    /// Taken before the commit, so that the thread never sees the row without it.
    pub(crate) fn in_flight(self: &Arc<Self>, id: &RequestId) -> InFlight {
        *lock(&self.state).in_flight.entry(id.clone()).or_default() += 1;
        InFlight { inner: self.clone(), id: id.clone() }
    }

    /// Appends a line; durability is awaited with [`Inner::settle`].
    pub(crate) fn append(&self, line: &[u8]) -> Result<(u64, Ticket), AppendError> {
        let mut turn = self.log.lock();
        let written = turn.append(line)?;
        Ok((written.at, written.ticket))
    }

    /// Waits for the sync of a line. A failed sync is not repeated on its descriptor: the file is
    /// opened again and the line written again, once.
    pub(crate) fn settle(&self, line: &[u8], at: u64, ticket: Ticket) -> Result<u64, AppendError> {
        if ticket.wait().is_ok() {
            return Ok(at);
        }
        tracing::warn!(path = %self.log.paths.log.display(), "sync of the prompt log failed; writing again");
        let written = {
            let mut turn = self.log.lock();
            turn.reopen();
            turn.append(line)?
        };
        let at = written.at;
        written
            .ticket
            .wait()
            .map(|()| at)
            .map_err(|source| AppendError::Unavailable { path: self.log.paths.log.clone(), source })
    }

    /// Appends and settles; remembers the outbox row to be marked, or the backlog.
    pub(crate) fn mirror(&self, line: &[u8], outbox: Option<i64>) -> Result<u64, AppendError> {
        let result = self.append(line).and_then(|(at, ticket)| self.settle(line, at, ticket));
        self.mirrored(outbox, result)
    }

    pub(crate) fn mirrored(
        &self,
        outbox: Option<i64>,
        result: Result<u64, AppendError>,
    ) -> Result<u64, AppendError> {
        match &result {
            Ok(_) => {
                if let Some(row) = outbox {
                    let mut rows = lock(&self.to_mark);
                    rows.push(row);
                    // The thread takes all of them at once.
                    if rows.len() == 1 {
                        self.waker.wake();
                    }
                }
                self.log_writable(None);
            }
            Err(error) => {
                if outbox.is_some() {
                    self.backlog.store(true, Ordering::SeqCst);
                    self.waker.wake();
                }
                self.log_writable(Some(chain(error)));
            }
        }
        result
    }

    // Says once when the log becomes unavailable, and once when it is back.
    fn log_writable(&self, problem: Option<String>) {
        let changed = {
            let mut state = lock(&self.state);
            let changed = state.health.unwritable.is_some() != problem.is_some();
            state.health.unwritable = problem;
            changed
        };
        if changed {
            self.send(Event::LogProblem(Box::new(self.health())));
        }
    }

    /// Marks rows whose lines are durable. Called by the reader thread, so that no caller waits for a
    /// second commit; a crash before it only repeats lines.
    pub(crate) fn mark_mirrored(&self) {
        let rows = std::mem::take(&mut *lock(&self.to_mark));
        if rows.is_empty() {
            return;
        }
        if let Err(error) = self.records.mark_mirrored(&rows, self.clock.now_ms()) {
            tracing::debug!(%error, "prompt outbox rows stay unmarked for now");
            lock(&self.to_mark).extend(rows);
        }
    }

    /// Appends what the store still holds. `all`: at start, every row; later only rows that nobody is
    /// about to append. Returns false when the log still refuses.
    pub(crate) fn replay_outbox(&self, all: bool) -> bool {
        let now = self.clock.now_ms();
        loop {
            let rows = match self.records.outbox(BATCH) {
                Ok(rows) => rows,
                Err(error) => {
                    tracing::debug!(%error, "cannot read the prompt outbox");
                    return false;
                }
            };
            let last = rows.len() < BATCH;
            let mut marked = Vec::with_capacity(rows.len());
            let mut refused = false;
            for row in rows {
                let (own, busy) = {
                    let state = lock(&self.state);
                    (state.own.contains(&row.request_id), state.in_flight.contains_key(&row.request_id))
                };
                let young = now - row.created_at < SETTLE_MS && row.created_at <= now;
                if busy || (!own && (self.role != Role::Host || (young && !all))) {
                    continue;
                }
                if !self.is_in_log(&row) && self.mirror(row.line.as_bytes(), None).is_err() {
                    refused = true;
                    break;
                }
                marked.push(row.id);
            }
            let progress = !marked.is_empty();
            lock(&self.to_mark).extend(marked);
            self.mark_mirrored();
            if refused {
                self.backlog.store(true, Ordering::SeqCst);
                return false;
            }
            if last || !progress || !lock(&self.to_mark).is_empty() {
                self.backlog.store(false, Ordering::SeqCst);
                return true;
            }
        }
    }

    // A crash between append and mark leaves the row; the very same line need not be there twice.
    fn is_in_log(&self, row: &crate::records::OutboxRow) -> bool {
        let Some(found) = lock(&self.state).locate(row.request_id.as_str()) else { return false };
        let Some(file) = &found.file else { return false };
        [found.slot.request_line(), found.slot.response_line()].into_iter().flatten().any(|at| {
            let bytes = crate::reader::read_exact_at(&*self.fs, file, at.offset, at.len as usize);
            matches!(bytes, Ok(Some(bytes)) if bytes == row.line.trim_end().as_bytes())
        })
    }
}

/// An error with its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}
