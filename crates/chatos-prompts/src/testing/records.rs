//! A store of prompt records for tests: in memory, or in a file that several processes share and that
//! survives a kill. The file is a journal of operations; each is durable before it is acknowledged.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use chatos_lines::lock;
use rustix::fs::FlockOperation;
use serde_json::{Value, json};

use crate::ids::{Owner, RequestId};
use crate::json::Object;
use crate::records::{
    Answered, Inserted, NewAnswer, NewRecord, OutboxRow, Private, RawRecord, Record, RecordedAnswer, Records,
    RecordsError,
};

/// See the module.
#[derive(Default)]
pub struct TestRecords {
    journal: Option<File>,
    state: Mutex<State>,
    /// Every change fails with `Full` while set.
    pub full: AtomicBool,
    /// Everything fails with `Unavailable` while set.
    pub unavailable: AtomicBool,
}

#[derive(Default)]
struct State {
    read: u64,
    records: BTreeMap<RequestId, Record>,
    outbox: BTreeMap<i64, (OutboxRow, bool)>,
    private: HashMap<RequestId, Private>,
    next: i64,
}

impl TestRecords {
    pub fn memory() -> Self {
        Self::default()
    }

    /// Shared through `path`.
    pub fn file(path: &Path) -> std::io::Result<Self> {
        let journal = File::options().read(true).append(true).create(true).open(path)?;
        Ok(Self { journal: Some(journal), ..Self::default() })
    }

    /// How many times each request was answered according to the store: 0 or 1.
    pub fn answered(&self) -> Vec<(RequestId, RecordedAnswer)> {
        let found = self.read(|state| {
            state.records.values().filter_map(|r| Some((r.request_id.clone(), r.answer.clone()?))).collect()
        });
        found.unwrap_or_default()
    }

    /// Lines not yet marked as mirrored.
    pub fn unmarked(&self) -> usize {
        self.read(|state| state.outbox.values().filter(|(_, mirrored)| !mirrored).count()).unwrap_or(0)
    }

    pub fn private_count(&self) -> usize {
        self.read(|state| state.private.len()).unwrap_or(0)
    }

    /// Forgets a record, as after the restore of an older database.
    pub fn forget(&self, id: &RequestId) {
        let mut state = lock(&self.state);
        state.records.remove(id);
        state.outbox.retain(|_, (row, _)| row.request_id != *id);
    }

    /// Forgets an answer, as after the restore of an older database.
    pub fn forget_answer(&self, id: &RequestId) {
        if let Some(record) = lock(&self.state).records.get_mut(id) {
            record.answer = None;
        }
    }

    fn read<T>(&self, look: impl FnOnce(&mut State) -> T) -> Result<T, RecordsError> {
        self.locked(|state| Ok((None, look(state))))
    }

    // Reads what others wrote, lets `change` decide, appends its operation durably.
    fn locked<T>(
        &self,
        change: impl FnOnce(&mut State) -> Result<(Option<Value>, T), RecordsError>,
    ) -> Result<T, RecordsError> {
        if self.unavailable.load(Ordering::SeqCst) {
            return Err(RecordsError::Unavailable("switched off by a test".into()));
        }
        let mut state = lock(&self.state);
        let Some(journal) = &self.journal else {
            let (op, out) = change(&mut state)?;
            if let Some(op) = &op {
                apply(&mut state, op);
            }
            return Ok(out);
        };
        let failed = |error: &dyn std::fmt::Display| RecordsError::Unavailable(error.to_string());
        rustix::fs::flock(journal.as_fd(), FlockOperation::LockExclusive).map_err(|e| failed(&e))?;
        let result = (|| {
            let torn = replay(journal, &mut state).map_err(|e| failed(&e))?;
            let (op, out) = change(&mut state)?;
            if let Some(op) = &op {
                let line = format!("{}{op}\n", if torn { "\n" } else { "" });
                let mut file = journal;
                file.write_all(line.as_bytes()).map_err(|e| failed(&e))?;
                file.sync_data().map_err(|e| failed(&e))?;
                replay(journal, &mut state).map_err(|e| failed(&e))?;
            }
            Ok(out)
        })();
        rustix::fs::flock(journal.as_fd(), FlockOperation::Unlock).map_err(|e| failed(&e))?;
        result
    }

    fn writable(&self) -> Result<(), RecordsError> {
        if self.full.load(Ordering::SeqCst) { Err(RecordsError::Full) } else { Ok(()) }
    }
}

// Applies whole lines after what was read; returns whether a torn one follows.
fn replay(journal: &File, state: &mut State) -> std::io::Result<bool> {
    let size = journal.metadata()?.len();
    let mut bytes = vec![0; (size - state.read) as usize];
    journal.read_exact_at(&mut bytes, state.read)?;
    while let Some(end) = memchr::memchr(b'\n', &bytes) {
        if let Ok(op) = serde_json::from_slice::<Value>(&bytes[..end]) {
            apply(state, &op);
        }
        state.read += end as u64 + 1;
        bytes.drain(..=end);
    }
    Ok(!bytes.is_empty())
}

fn apply(state: &mut State, op: &Value) {
    let text = |key: &str| op[key].as_str().unwrap_or_default().to_owned();
    let Ok(id) = RequestId::parse(op["id"].as_str().unwrap_or_default()) else {
        for row in op["marked"].as_array().into_iter().flatten().filter_map(Value::as_i64) {
            if let Some((_, mirrored)) = state.outbox.get_mut(&row) {
                *mirrored = true;
            }
        }
        return;
    };
    if let Some(entry) = op.get("insert") {
        let record = Record {
            request_id: id.clone(),
            owner: Owner::stored(text("owner")),
            entry: entry.clone(),
            shown: text("shown"),
            expires_at: op["expires"].as_i64(),
            answer: None,
            used_at: None,
        };
        state.records.insert(id.clone(), record);
    }
    if let (Some(Value::Object(response)), Some(record)) = (op.get("answer"), state.records.get_mut(&id)) {
        record.answer = Some(RecordedAnswer {
            response: response.clone(),
            by: text("by"),
            at: op["at"].as_i64().unwrap_or(0),
        });
    }
    if let Some(Value::Object(response)) = op.get("private") {
        let owner = Owner::stored(text("owner"));
        let private = Private { owner, response: response.clone(), expires_at: op["expires"].as_i64() };
        state.private.insert(id.clone(), private);
    }
    if op.get("taken").is_some() {
        state.private.remove(&id);
    }
    if let (Some(at), Some(record)) = (op["used"].as_i64(), state.records.get_mut(&id)) {
        record.used_at = Some(at);
    }
    if let (Some(entry), Some(record)) = (op.get("reduced"), state.records.get_mut(&id)) {
        record.entry = entry.clone();
    }
    if let Some(line) = op["line"].as_str() {
        state.next += 1;
        let created_at = op["at"].as_i64().unwrap_or(0);
        let row = OutboxRow { id: state.next, request_id: id, line: line.to_owned(), created_at };
        state.outbox.insert(state.next, (row, false));
    }
}

impl Records for TestRecords {
    fn get(&self, id: &RequestId) -> Result<Option<Record>, RecordsError> {
        self.read(|state| state.records.get(id).cloned())
    }

    fn scan(&self, each: &mut dyn FnMut(RawRecord<'_>)) -> Result<(), RecordsError> {
        self.read(|state| {
            for record in state.records.values() {
                let entry = record.entry.to_string();
                let answer = record.answer.as_ref().map(|a| json!(a.response).to_string());
                each(RawRecord {
                    request_id: record.request_id.as_str(),
                    entry: &entry,
                    answer: answer.as_deref(),
                    answered_at: record.answer.as_ref().map(|a| a.at),
                });
            }
        })
    }

    fn insert(&self, new: &NewRecord) -> Result<Inserted, RecordsError> {
        self.writable()?;
        self.locked(|state| {
            if let Some(record) = state.records.get(&new.request_id) {
                return Ok((None, Inserted::Exists(Box::new(record.clone()))));
            }
            let op = json!({"id": new.request_id, "insert": new.entry, "owner": new.owner, "shown": new.shown,
                "expires": new.expires_at, "line": new.line, "at": new.created_at});
            Ok((Some(op), Inserted::New { outbox: state.next + 1 }))
        })
    }

    fn restore(&self, new: &NewRecord) -> Result<(), RecordsError> {
        self.writable()?;
        self.locked(|state| {
            let op = json!({"id": new.request_id, "insert": new.entry, "owner": new.owner, "shown": new.shown,
                "expires": new.expires_at});
            Ok(((!state.records.contains_key(&new.request_id)).then_some(op), ()))
        })
    }

    fn answer(&self, id: &RequestId, new: &NewAnswer) -> Result<Answered, RecordsError> {
        self.writable()?;
        self.locked(|state| {
            let Some(record) = state.records.get(id) else { return Ok((None, Answered::Unknown)) };
            if let Some(first) = &record.answer {
                return Ok((None, Answered::Lost(first.clone())));
            }
            let mut op =
                json!({"id": id, "answer": new.response, "by": new.by, "at": new.at, "line": new.line});
            if let (Some(private), Value::Object(map)) = (&new.private, &mut op) {
                map.insert("private".into(), private.response.clone().into());
                map.insert("owner".into(), json!(private.owner));
                map.insert("expires".into(), json!(private.expires_at));
            }
            let outbox = new.line.as_ref().map(|_| state.next + 1);
            Ok((Some(op), Answered::Won { outbox }))
        })
    }

    fn mark_used(&self, id: &RequestId, at: i64) -> Result<bool, RecordsError> {
        self.writable()?;
        self.locked(|state| {
            let unused = state.records.get(id).is_some_and(|record| record.used_at.is_none());
            Ok((unused.then(|| json!({"id": id, "used": at})), unused))
        })
    }

    fn outbox(&self, limit: usize) -> Result<Vec<OutboxRow>, RecordsError> {
        self.read(|state| {
            let open = state.outbox.values().filter(|(_, mirrored)| !mirrored);
            open.take(limit).map(|(row, _)| row.clone()).collect()
        })
    }

    fn mark_mirrored(&self, ids: &[i64], _: i64) -> Result<(), RecordsError> {
        self.writable()?;
        self.locked(|_| Ok((Some(json!({"marked": ids})), ())))
    }

    fn peek_private(&self, id: &RequestId) -> Result<Option<Private>, RecordsError> {
        self.read(|state| state.private.get(id).cloned())
    }

    fn take_private(&self, id: &RequestId) -> Result<Option<Private>, RecordsError> {
        self.locked(|state| {
            let private = state.private.get(id).cloned();
            Ok((private.is_some().then(|| json!({"id": id, "taken": true})), private))
        })
    }

    fn sweep_private(&self, now: i64) -> Result<usize, RecordsError> {
        let expired: Vec<RequestId> = self.read(|state| {
            let over = |p: &Private| p.expires_at.is_some_and(|at| at <= now);
            state.private.iter().filter(|(_, p)| over(p)).map(|(id, _)| id.clone()).collect()
        })?;
        for id in &expired {
            self.take_private(id)?;
        }
        Ok(expired.len())
    }

    fn reduce(&self, id: &RequestId, entry: &Value, answer: &Object) -> Result<(), RecordsError> {
        self.writable()?;
        self.locked(|state| {
            let record = state.records.get(id).and_then(|record| record.answer.clone());
            let op = record
                .map(|old| json!({"id": id, "reduced": entry, "answer": answer, "by": old.by, "at": old.at}));
            Ok((op, ()))
        })
    }
}
