//! What the tests of this crate share: a queue in a temporary directory, and foreign lines.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chatos_prompts::testing::{FaultFs, ManualClock, TestRecords, config};
use chatos_prompts::{
    Answerer, Ask, Asked, Config, Owner, Prompts, Query, RequestId, Respond, RespondError, Responded, Role,
    Surface, View,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) records: Arc<TestRecords>,
    pub(crate) prompts: Prompts,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let records = Arc::new(TestRecords::memory());
        let prompts = open(dir.path(), &records, change);
        Self { dir, records, prompts }
    }

    /// A new process on the same files: the old reader is gone.
    pub(crate) fn reopen(&mut self, change: impl FnOnce(&mut Config)) {
        self.prompts.close();
        self.prompts = open(self.dir.path(), &self.records, change);
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.dir.path().join("ui-prompts.jsonl")
    }

    pub(crate) fn append(&self, text: &str) {
        append(&self.log(), text.as_bytes());
    }

    pub(crate) fn ask(&self, prompt: Value) -> Asked {
        self.prompts.request(&Ask::new(Owner::user(), "cli", prompt)).unwrap()
    }

    pub(crate) fn ask_as(&self, owner: Owner, id: &str, prompt: Value) -> Asked {
        let mut ask = Ask::new(owner, "test", prompt);
        ask.request_id = json!(id);
        self.prompts.request(&ask).unwrap()
    }

    pub(crate) fn answer(&self, id: &str, response: Value) -> Result<Responded, RespondError> {
        self.answer_by(Answerer::Person(Surface::Ui), id, response)
    }

    pub(crate) fn answer_by(
        &self,
        by: Answerer,
        id: &str,
        response: Value,
    ) -> Result<Responded, RespondError> {
        let id = RequestId::parse(id).unwrap();
        let shown = self.prompts.get(&id).and_then(|item| item.shown);
        let run_id = Value::Null;
        self.prompts.respond(&Respond {
            id: &id,
            response: &response,
            shown: shown.as_deref(),
            run_id: &run_id,
            by,
            seen: false,
            pid: None,
        })
    }

    pub(crate) fn ids(&self, view: View) -> Vec<String> {
        self.prompts.catch_up();
        ids(&self.prompts, view)
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        lines(&self.log())
    }

    /// Looks again until `check` holds; fails after a minute.
    pub(crate) fn eventually(&self, what: &str, check: impl Fn(&World) -> bool) {
        eventually(what, || check(self));
    }
}

pub(crate) fn open(dir: &Path, records: &Arc<TestRecords>, change: impl FnOnce(&mut Config)) -> Prompts {
    let mut config = config(dir, records.clone(), Role::Host);
    change(&mut config);
    let prompts = Prompts::open(config).unwrap();
    prompts.ready_within(Duration::from_secs(60)).unwrap();
    prompts
}

pub(crate) fn ids(prompts: &Prompts, view: View) -> Vec<String> {
    let mut all = Vec::new();
    let mut query = Query { view, limit: 200, ..Query::default() };
    loop {
        let page = prompts.list(&query).unwrap();
        all.extend(page.items.iter().map(|item| item.request_id.to_string()));
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return all,
        }
    }
}

pub(crate) fn eventually(what: &str, check: impl Fn() -> bool) {
    within(Duration::from_secs(60), what, check);
}

pub(crate) fn within(limit: Duration, what: &str, check: impl Fn() -> bool) {
    let end = std::time::Instant::now() + limit;
    while !check() {
        assert!(std::time::Instant::now() < end, "not in {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn append(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Every line that is JSON.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read(path).unwrap_or_default();
    text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

pub(crate) fn kv() -> Value {
    json!({"kind":"kv","title":"T","fields":[{"key":"a"}]})
}

pub(crate) fn choice() -> Value {
    json!({"kind":"choice","options":[{"value":"x"},{"value":"y"}]})
}

pub(crate) fn change() -> Value {
    json!({"kind":"file_change_confirm","path":"a.txt","diff":"-1\n+2\n"})
}

pub(crate) fn foreign_request(id: &str, prompt: Value) -> String {
    let entry = json!({"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":id,"prompt":prompt});
    format!("{entry}\n")
}

pub(crate) fn foreign_response(id: &str, response: Value) -> String {
    let entry = json!({"ts":"2026-01-11T00:00:10.000Z","type":"ui_prompt","action":"response","requestId":id,"response":response});
    format!("{entry}\n")
}

pub(crate) fn id(text: &str) -> RequestId {
    RequestId::parse(text).unwrap()
}

pub(crate) fn never() -> CancellationToken {
    CancellationToken::new()
}

pub(crate) fn soon() -> Option<tokio::time::Instant> {
    Some(tokio::time::Instant::now() + Duration::from_secs(60))
}

pub(crate) fn manual(at: i64) -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at))
}

pub(crate) fn faulty() -> Arc<FaultFs> {
    Arc::new(FaultFs::default())
}
