//! What is behind the state lock: the fold, the open served prompts, the waiters.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::sync::Arc;

use serde_json::Value;

use super::wait::Waiters;
use crate::entry::{self, Asker, Boot, Entry, Origin};
use crate::health::Health;
use crate::ids::{Owner, RequestId, RunId};
use crate::kind::Kind;
use crate::queue::{Extras, Queue, RecordHead, Slot, SlotId};
use crate::records::{NewRecord, Record};
use crate::response::Status;

/// How many vanished foreign prompts are remembered.
const MAX_LOST: usize = 500;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) queue: Queue,
    /// The file the positions of the fold belong to.
    pub(crate) file: Option<Arc<File>>,
    /// Grows when the positions changed altogether.
    pub(crate) generation: u64,
    /// Open served prompts: what the scheduler needs to know.
    pub(crate) served: HashMap<SlotId, OpenServed>,
    /// When open prompts expire, in steady milliseconds.
    pub(crate) deadlines: HashMap<SlotId, i64>,
    /// Results closed by their twin that have no response line of their own yet.
    pub(crate) twins: Vec<RequestId>,
    /// Ids of prompts this process asked: it repairs them whatever its role is.
    pub(crate) own: HashSet<RequestId>,
    /// Lines being brought into the log by a caller right now; nobody else appends them meanwhile.
    pub(crate) in_flight: HashMap<RequestId, u32>,
    /// Responses to served prompts that the store could not be asked about.
    pub(crate) undecided: HashSet<RequestId>,
    pub(crate) lost: VecDeque<Lost>,
    /// Result requests seen, for the text of a timeout.
    pub(crate) results_seen: u64,
    pub(crate) waiters: Waiters,
    /// Prompts whose closing line may not be durable yet: (offset, id).
    pub(crate) unsynced: Vec<(u64, RequestId)>,
    pub(crate) health: Health,
    /// Since when the log cannot be read.
    pub(crate) unreadable_since: Option<std::time::Instant>,
}

/// An open served prompt.
#[derive(Debug, Clone)]
pub(crate) struct OpenServed {
    pub(crate) owner: Owner,
    pub(crate) origin: Option<Origin>,
    /// The host start of the call that waits.
    pub(crate) call_of: Option<String>,
    pub(crate) run: Option<RunId>,
    pub(crate) session: Option<String>,
    /// Steady time of the request.
    pub(crate) asked: i64,
}

/// A foreign prompt that vanished with a rewrite of the file (`ui-prompts §3.4`).
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    pub(crate) id: RequestId,
    pub(crate) run: Option<String>,
    pub(crate) ts: i64,
    pub(crate) kind: Option<Kind>,
    /// Still readable when the file was replaced and not cut.
    pub(crate) entry: Option<Entry>,
}

/// A prompt and where its text lies, copied out of the lock.
#[derive(Clone)]
pub(crate) struct Located {
    pub(crate) id: RequestId,
    pub(crate) run: Option<String>,
    pub(crate) slot: Slot,
    pub(crate) extras: Option<Extras>,
    pub(crate) deadline: Option<i64>,
    pub(crate) file: Option<Arc<File>>,
}

impl State {
    pub(crate) fn locate(&self, id: &str) -> Option<Located> {
        self.queue.find(id).and_then(|slot| self.located(slot))
    }

    pub(crate) fn located(&self, slot: SlotId) -> Option<Located> {
        Some(Located {
            id: RequestId::parse(self.queue.id_of(slot)).ok()?,
            run: self.queue.run_of(slot).map(str::to_owned),
            slot: self.queue.slot(slot).clone(),
            extras: self.queue.extras(slot).cloned(),
            deadline: self.deadlines.get(&slot).copied(),
            file: self.file.clone(),
        })
    }

    pub(crate) fn remember_lost(&mut self, lost: Lost) {
        self.health.lost += 1;
        if self.lost.len() == MAX_LOST {
            self.lost.pop_front();
        }
        self.lost.push_back(lost);
    }
}

/// The host start of a call that waits, by the stamp of its question.
pub(crate) fn call_of(chatos: Option<&Value>) -> Option<String> {
    match entry::asker_of(chatos)? {
        Asker::Call { host_start, .. } => Some(host_start),
        _ => None,
    }
}

/// The parts of a record that define a prompt, read from its entry.
pub(crate) struct RecordParts {
    pub(crate) id: RequestId,
    pub(crate) run: Option<RunId>,
    pub(crate) ts: i64,
    pub(crate) kind: Option<Kind>,
    pub(crate) answered: Option<(Status, i64)>,
    pub(crate) owner: Owner,
    pub(crate) origin: Option<Origin>,
    pub(crate) call_of: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) expires_at: Option<i64>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) boot: Option<Boot>,
}

impl RecordParts {
    pub(crate) fn of(record: &Record) -> Self {
        let answered = record.answer.as_ref().map(|answer| {
            let status = answer.response.get("status").and_then(|s| s.as_str()).unwrap_or("error");
            (Status::read(status), answer.at)
        });
        Self::read(&record.request_id, &record.owner, &record.entry, record.expires_at, answered)
    }

    /// Of a record that was just made.
    pub(crate) fn of_new(new: &NewRecord) -> Self {
        Self::read(&new.request_id, &new.owner, &new.entry, new.expires_at, None)
    }

    fn read(
        id: &RequestId,
        owner: &Owner,
        entry: &Value,
        expires_at: Option<i64>,
        answered: Option<(Status, i64)>,
    ) -> Self {
        let prompt = entry.get("prompt");
        Self {
            id: id.clone(),
            run: entry.get("runId").and_then(|r| r.as_str()).and_then(|run| RunId::parse(run).ok()),
            ts: entry::ts_of(entry.get("ts")).unwrap_or(0),
            kind: prompt.and_then(|p| p.get("kind")?.as_str()).and_then(Kind::parse),
            answered,
            owner: owner.clone(),
            origin: entry.get("chatos").and_then(|stamp| entry::origin_of(stamp.get("origin")?)),
            call_of: call_of(entry.get("chatos")),
            session: entry.get("chatos").and_then(|s| s.get("sessionId")?.as_str().map(str::to_owned)),
            expires_at,
            boot: entry::boot_of(entry.get("chatos")),
            timeout_ms: prompt.and_then(|p| p.get("timeoutMs")?.as_u64()).filter(|ms| *ms > 0),
        }
    }

    pub(crate) fn head(&self) -> RecordHead<'_> {
        RecordHead {
            id: self.id.as_str(),
            run: self.run.as_ref().map(RunId::as_str),
            ts: self.ts,
            kind: self.kind,
            answered: self.answered,
        }
    }
}
