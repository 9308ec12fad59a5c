//! Folds a whole log: archived ids, then the records of the store, then the file from its start.
//!
//! Runs at opening and whenever the file was replaced. The new fold is built aside and swapped in, so
//! nobody sees a half of it.

use std::collections::{HashMap, HashSet};

use chatos_lines::scan;

use super::state::{OpenServed, RecordParts};
use super::{Inner, Phase, Role};
use crate::archive;
use crate::entry::{Action, Boot, Entry, Head};
use crate::health::Health;
use crate::ids::{Owner, RequestId};
use crate::kind::Kind;
use crate::queue::{Change, Position, Queue, RecordHead, SlotId, Verdict};
use crate::reader::Reader;
use crate::records::{NewAnswer, NewRecord, RawRecord, RecordsError};
use crate::response::Status;
use crate::tail::{LineFault, Sink};

/// A fold with what belongs to it.
pub(super) struct Folded {
    pub(super) queue: Queue,
    pub(super) served: HashMap<SlotId, OpenServed>,
    pub(super) deadlines: HashMap<SlotId, i64>,
    pub(super) twins: Vec<RequestId>,
    pub(super) undecided: HashSet<RequestId>,
    pub(super) health: Health,
    pub(super) results_seen: u64,
    /// Forged lines found, for the audit log.
    pub(super) forged: Vec<(RequestId, Position)>,
}

impl Inner {
    /// Folds everything `reader` has to give. The reader must stand at the start of its file.
    pub(super) fn fold_all(&self, reader: &mut Reader) -> Result<Folded, RecordsError> {
        let total = reader.stat().map_or(0, |stat| stat.size);
        let tail_only = self.role == Role::Asker;
        // About two lines of some 200 bytes per prompt; a wrong guess costs a rehash, not memory.
        let expected = if tail_only { 0 } else { (total / 400) as usize };
        let mut bulk = Bulk {
            inner: self,
            now: self.clock.now_ms(),
            folded: Folded {
                queue: Queue::bulk(expected),
                served: HashMap::new(),
                deadlines: HashMap::new(),
                twins: Vec::new(),
                undecided: HashSet::new(),
                health: Health::default(),
                results_seen: 0,
                forged: Vec::new(),
            },
            timeouts: Vec::new(),
            changes: Vec::new(),
        };
        if tail_only {
            if let Err(error) = reader.skip_to_end() {
                bulk.folded.health.unreadable = Some(error.to_string());
            }
        } else {
            for id in archive::archived_ids(&*self.fs, &self.log.paths) {
                bulk.folded.queue.archived(&id);
            }
            self.records.scan(&mut |record| bulk.scanned(record))?;
            let progress = |_: &mut Bulk<'_>, done| {
                self.phase.send_if_modified(|phase| {
                    let loading = matches!(phase, Phase::Loading { .. });
                    if loading {
                        *phase = Phase::Loading { done, total: total.max(done) };
                    }
                    loading
                });
            };
            let hasher = bulk.folded.queue.id_hasher().clone();
            if let Err(error) = reader.drain_long(&hasher, &mut bulk, progress) {
                bulk.folded.health.unreadable = Some(error.to_string());
            }
        }
        Ok(bulk.finish())
    }

    /// What a response line means for a served prompt that is open (`ui-prompts §4`).
    pub(super) fn judge(&self, id: &str, raw: &[u8], signed: bool) -> Verdict {
        let Ok(id) = RequestId::parse(id) else { return Verdict::Forged };
        let record = match self.records.get(&id) {
            Ok(record) => record,
            Err(error) => {
                tracing::warn!(%error, request_id = %id, "cannot look up the answer of a prompt yet");
                return Verdict::Later;
            }
        };
        if let Some(answer) = record.and_then(|record| record.answer) {
            let status = answer.response.get("status").and_then(|s| s.as_str()).unwrap_or("error");
            return Verdict::Recorded { status: Status::read(status), at: answer.at };
        }
        if !signed || !Entry::parse(raw).is_some_and(|entry| entry.is_ours(Some(&*self.signer))) {
            return Verdict::Forged;
        }
        // Our own mirror line without its record: an older database was restored. Closed, never
        // confirmed, and recorded so, since no other answer may follow.
        let mut response = crate::json::Object::new();
        response.insert("status".into(), "error".into());
        response.insert("code".into(), "unrecorded".into());
        let answer = NewAnswer {
            response,
            by: "host:orphan".into(),
            at: self.clock.now_ms(),
            line: None,
            private: None,
        };
        match self.records.answer(&id, &answer) {
            Ok(_) => Verdict::Unrecorded,
            Err(error) => {
                tracing::warn!(%error, request_id = %id, "cannot record an unrecorded answer yet");
                Verdict::Later
            }
        }
    }

    /// The record behind a signed line whose id has none in memory: another process wrote it, or an
    /// older database was restored and the line gives the record back.
    pub(super) fn adopt(&self, id: &str, raw: &[u8]) -> Option<RecordParts> {
        let id = RequestId::parse(id).ok()?;
        match self.records.get(&id) {
            Ok(Some(record)) => return Some(RecordParts::of(&record)),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, request_id = %id, "cannot look up the record of a prompt");
                return None;
            }
        }
        let entry = Entry::parse(raw).filter(|entry| entry.is_ours(Some(&*self.signer)))?;
        entry.prompt()?;
        let stamp = |key: &str| entry.stamp(key).and_then(|v| v.as_str());
        let new = NewRecord {
            request_id: id.clone(),
            owner: Owner::stored(stamp("owner")?),
            shown: stamp("shown").unwrap_or_default().to_owned(),
            expires_at: stamp("expiresAt").and_then(crate::clock::parse_iso),
            line: String::new(),
            created_at: self.clock.now_ms(),
            entry: entry.object.clone().into(),
        };
        if let Err(error) = self.records.restore(&new) {
            tracing::warn!(%error, request_id = %id, "cannot put back the record of a prompt");
            return None;
        }
        let record = self.records.get(&id).ok().flatten()?;
        Some(RecordParts::of(&record))
    }

    /// The steady time at which an open prompt expires (`security §4.G` row 13: a wall clock that jumps
    /// neither expires a question nor keeps it).
    pub(super) fn deadline(&self, expires_at: i64, timeout_ms: Option<u64>, boot: Option<&Boot>) -> i64 {
        let Some(timeout) = timeout_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)) else {
            return expires_at;
        };
        match self.steady_at(boot) {
            Some(asked) => asked.saturating_add(timeout),
            // The machine was started since: only the wall clock knows how long ago.
            None => expires_at.min(self.steady_ms().saturating_add(timeout)),
        }
    }
}

struct Bulk<'a> {
    inner: &'a Inner,
    now: i64,
    folded: Folded,
    /// (slot, expires at, timeout) of foreign requests that set one.
    timeouts: Vec<(SlotId, i64, u32)>,
    changes: Vec<Change>,
}

impl Bulk<'_> {
    fn scanned(&mut self, record: RawRecord<'_>) {
        let Ok(found) = scan::object(record.entry.as_bytes(), 0) else {
            tracing::error!(request_id = record.request_id, "the record of a prompt is not readable");
            return;
        };
        let crate::entry::Read::Entry(head) = crate::entry::read_head(record.entry.as_bytes(), &found) else {
            tracing::error!(request_id = record.request_id, "the record of a prompt is not an entry");
            return;
        };
        let answered = record.answer.map(|answer| {
            let status = scan_status(answer);
            (status, record.answered_at.unwrap_or(0))
        });
        let at = RecordHead {
            id: record.request_id,
            run: head.run.as_deref(),
            ts: head.ts.unwrap_or(0),
            kind: head.kind,
            answered,
        };
        self.folded.queue.record(&at, &mut self.changes);
        self.changes.clear();
        if answered.is_none()
            && let Some(slot) = self.folded.queue.find(record.request_id)
            && let Some(entry) = Entry::parse(record.entry.as_bytes())
        {
            self.open(slot, &entry, head.timeout_ms.map(u64::from));
        }
    }

    fn open(&mut self, slot: SlotId, entry: &Entry, timeout_ms: Option<u64>) {
        let owner = entry.stamp("owner").and_then(|o| o.as_str()).unwrap_or_default();
        let expires = entry.stamp("expiresAt").and_then(|e| e.as_str()).and_then(crate::clock::parse_iso);
        let chatos = entry.object.get("chatos");
        let boot = crate::entry::boot_of(chatos);
        let now = self.inner.steady_ms();
        let open = OpenServed {
            owner: Owner::stored(owner),
            origin: entry.origin(),
            call_of: super::state::call_of(chatos),
            run: entry.run_id(),
            session: entry.stamp("sessionId").and_then(|s| s.as_str()).map(str::to_owned),
            asked: self
                .inner
                .steady_at(boot.as_ref())
                .unwrap_or_else(|| entry.ts().unwrap_or(self.now).min(now)),
        };
        self.folded.served.insert(slot, open);
        if let Some(at) = expires {
            self.folded.deadlines.insert(slot, self.inner.deadline(at, timeout_ms, boot.as_ref()));
        }
    }

    fn finish(mut self) -> Folded {
        self.folded.queue.finish();
        let queue = &self.folded.queue;
        for (slot, at, timeout) in std::mem::take(&mut self.timeouts) {
            if queue.slot(slot).is_pending() && !queue.slot(slot).is_served() {
                let deadline = self.inner.deadline(at, Some(u64::from(timeout)), None);
                self.folded.deadlines.insert(slot, deadline);
            }
        }
        self.folded.served.retain(|slot, _| queue.slot(*slot).is_pending());
        self.folded.deadlines.retain(|slot, _| queue.slot(*slot).is_pending());
        for slot in 0..queue.len() as SlotId {
            let twin = queue.slot(slot);
            if twin.is_twin_closed()
                && twin.response_line().is_none()
                && let Ok(id) = RequestId::parse(queue.id_of(slot))
            {
                self.folded.twins.push(id);
            }
        }
        self.folded
    }
}

fn scan_status(answer: &str) -> Status {
    let status = serde_json::from_str::<serde_json::Value>(answer)
        .ok()
        .and_then(|answer| answer.get("status").and_then(|s| s.as_str()).map(Status::read));
    status.unwrap_or(Status::Error)
}

impl Sink for Bulk<'_> {
    fn ahead(&mut self, hashes: &[u64]) {
        self.folded.queue.touch(hashes);
    }

    fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>) {
        let at = Position { offset: at, len: raw.len() as u32 };
        let inner = self.inner;
        let undecided = &mut self.folded.undecided;
        let verdict = || {
            let verdict = inner.judge(&head.id, raw, head.signed);
            if verdict == Verdict::Later
                && let Ok(id) = RequestId::parse(&head.id)
            {
                undecided.insert(id);
            }
            verdict
        };
        self.folded.queue.apply(head, at, self.now, verdict, &mut self.changes);
        if head.action == Action::Request && head.kind == Some(Kind::Result) {
            self.folded.results_seen += 1;
        }
        if self.changes.is_empty() {
            return;
        }
        let mut unknown = false;
        for change in self.changes.drain(..) {
            match change {
                Change::Requested(slot) => {
                    if let Some(timeout) = head.timeout_ms {
                        let ts = self.folded.queue.slot(slot).ts;
                        self.timeouts.push((slot, ts + i64::from(timeout), timeout));
                    }
                }
                Change::Reused(_) => self.folded.health.fault(at.offset, LineFault::ReusedId),
                Change::Forged(_) => {
                    if let Ok(id) = RequestId::parse(&head.id) {
                        self.folded.forged.push((id, at));
                    }
                }
                Change::Unknown(_) => unknown = true,
                Change::Closed(_) | Change::Ignored(_) => {}
            }
        }
        if unknown && let Some(parts) = self.inner.adopt(&head.id, raw) {
            self.folded.queue.record(&parts.head(), &mut self.changes);
            self.changes.clear();
            if parts.answered.is_none()
                && let Some(slot) = self.folded.queue.find(&head.id)
                && let Some(entry) = Entry::parse(raw)
            {
                self.open(slot, &entry, parts.timeout_ms);
            }
        }
    }

    fn fault(&mut self, at: u64, fault: LineFault) {
        self.folded.health.fault(at, fault);
    }
}

/// What a served prompt needs in memory while it is open.
pub(super) fn open_of(parts: &RecordParts, asked: i64) -> OpenServed {
    OpenServed {
        owner: parts.owner.clone(),
        origin: parts.origin,
        call_of: parts.call_of.clone(),
        run: parts.run.clone(),
        session: parts.session.clone(),
        asked,
    }
}
