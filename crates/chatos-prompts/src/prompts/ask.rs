//! Asking through the host: validate, record, mirror (`ui-prompts §5`, §3.1).

use std::time::Duration;

use chatos_lines::scan::MAX_DEPTH;
use chatos_lines::{Ticket, lock};
use serde_json::Value;

use super::mirror::{InFlight, chain};
use super::pump::{NOWHERE, Told};
use super::state::RecordParts;
use super::{Inner, NotReady, Prompts, is_full};
use crate::effect::Effect;
use crate::entry::{self, Asker, MAX_REQUEST_LINE, MAX_RESULT_LINE, Origin, RequestStamp};
use crate::ids::{Owner, RequestId, RunId};
use crate::json;
use crate::kind::{self, Kind};
use crate::problem::{Code, Problem, quoted};
use crate::records::{Inserted, NewRecord, Record, RecordsError};
use crate::shown;

/// A caller that comes before the first fold is done waits for it this long.
const READY_WAIT: Duration = Duration::from_secs(30);

/// A question to be served.
#[derive(Debug, Clone)]
pub struct Ask {
    pub owner: Owner,
    /// Fills an empty `prompt.source`.
    pub source: String,
    /// As the caller sent it.
    pub prompt: Value,
    /// As the caller sent it; null or empty = the host makes one.
    pub request_id: Value,
    pub run_id: Value,
    /// The asking process when it is not the host.
    pub origin: Option<Origin>,
    /// What started that process, where it is known: neither may answer it.
    pub starter: Option<Origin>,
    /// A call of this process without a run waits for the answer: nobody does when the process is over.
    pub call: Option<String>,
    pub session_id: Option<String>,
    /// The other program that asks, as the host knows it: `{id, kind, name, version, label, root, project}`.
    pub client: Option<Value>,
    pub trace: Option<Value>,
    pub effect: Option<Effect>,
    /// What the host knows of it; signed with the line, not part of what is shown by the asker.
    pub card: Option<Value>,
}

impl Ask {
    pub fn new(owner: Owner, source: impl Into<String>, prompt: Value) -> Self {
        Self {
            owner,
            source: source.into(),
            prompt,
            request_id: Value::Null,
            run_id: Value::Null,
            origin: None,
            starter: None,
            call: None,
            session_id: None,
            client: None,
            trace: None,
            effect: None,
            card: None,
        }
    }

    /// From the payload `{prompt, requestId?, runId?}` of the Host API, the HTTP API or a file.
    pub fn from_payload(owner: Owner, source: impl Into<String>, payload: &Value) -> Self {
        let part = |key: &str| payload.get(key).cloned().unwrap_or(Value::Null);
        let mut ask = Self::new(owner, source, part("prompt"));
        ask.request_id = part("requestId");
        ask.run_id = part("runId");
        ask
    }
}

/// A question that is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub request_id: RequestId,
    pub warnings: Vec<Problem>,
    /// False: the line waits in the store because the log cannot be written right now.
    pub mirrored: bool,
    /// The same question was asked before; nothing was written.
    pub repeated: bool,
    pub shown: String,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum AskError {
    #[error("the question is not valid: {}", summary(.0))]
    Invalid(Vec<Problem>),
    #[error("the request id is already in use")]
    Conflict(Problem),
    #[error("cannot record the question")]
    Records(#[source] RecordsError),
    #[error(transparent)]
    NotReady(#[from] NotReady),
    #[error("a question that decides an effect names none")]
    NoEffect,
    #[error("cannot build the line of the question")]
    Internal,
}

impl AskError {
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid(problems) => problems,
            Self::Conflict(problem) => std::slice::from_ref(problem),
            _ => &[],
        }
    }

    pub fn is_full(&self) -> bool {
        matches!(self, Self::Records(error) if is_full(error))
    }
}

pub(super) fn summary(problems: &[Problem]) -> String {
    let texts: Vec<String> = problems.iter().take(5).map(|p| format!("{} ({})", p.code, p.path)).collect();
    texts.join(", ")
}

/// A question whose record is committed and whose line is written; [`AskReceipt::finish`] waits until
/// the line is durable. Several receipts of one caller share a sync.
#[must_use = "the line may not be durable before finish"]
pub struct AskReceipt {
    asked: Asked,
    pending: Option<Pending>,
}

struct Pending {
    line: Vec<u8>,
    outbox: i64,
    // Until the line is durable or known to be missing.
    _in_flight: InFlight,
    written: Result<(u64, Ticket), chatos_lines::AppendError>,
}

impl AskReceipt {
    pub fn request_id(&self) -> &RequestId {
        &self.asked.request_id
    }

    pub fn finish(self, prompts: &Prompts) -> Asked {
        let Self { mut asked, pending } = self;
        let Some(Pending { line, outbox, _in_flight, written }) = pending else { return asked };
        let inner = &prompts.inner;
        let result = written.and_then(|(at, ticket)| inner.settle(&line, at, ticket));
        let result_at = result.as_ref().ok().copied();
        asked.mirrored = match inner.mirrored(Some(outbox), result) {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(error = %chain(&error), request_id = %asked.request_id, "a question is recorded but not in the log yet");
                false
            }
        };
        // Of many that share a sync, the first one reads for all.
        if !matches!(result_at, Some(at) if inner.has_read(at)) {
            inner.pump();
        }
        inner.wake_synced();
        asked
    }
}

impl Prompts {
    /// Asks. Returns when the question is durable; never waits for the answer.
    pub fn request(&self, ask: &Ask) -> Result<Asked, AskError> {
        Ok(self.request_begin(ask)?.finish(self))
    }

    /// Makes a question that another process recorded known here, so that it can be waited for and closed:
    /// for an asker whose host is gone. `false`: no record has this id.
    pub fn adopt(&self, id: &RequestId) -> Result<bool, RecordsError> {
        let Some(record) = self.inner.records.get(id)? else { return Ok(false) };
        let mut told = Told::default();
        {
            // Nobody applies its lines meanwhile.
            let _pump = self.inner.hold_pump();
            let mut changes = Vec::new();
            self.inner.apply_record(&RecordParts::of(&record), &mut changes);
            self.inner.note(&changes, NOWHERE, &mut told);
        }
        self.inner.tell(told);
        Ok(true)
    }

    /// Asks without waiting for the sync, for callers that ask many things at once.
    pub fn request_begin(&self, ask: &Ask) -> Result<AskReceipt, AskError> {
        let inner = &self.inner;
        inner.ready_within(READY_WAIT)?;
        let (id, run_id, given) = ids(ask)?;
        let checked = kind::check_strict(&ask.prompt, &id, &ask.source);
        let mut problems = checked.problems;
        if 1 + json::depth(&ask.prompt) > MAX_DEPTH as usize {
            let text = format!("nesting > {MAX_DEPTH}");
            problems.push(Problem::new(Code::TooLarge, "").arg(text).arg("depth ≤ 64"));
        }
        let mut prompt = match checked.prompt {
            Some(prompt) if problems.is_empty() => prompt,
            _ => return Err(AskError::Invalid(problems)),
        };
        if ask.effect.is_none() {
            // What this host does is approved only with everything that decides it; a person's script and an
            // app ask about what they do themselves.
            if prompt.kind.decides_effect() && ask.owner.is_served() {
                return Err(AskError::NoEffect);
            }
            // Texts of this host are nobody else's to refer to.
            prompt.normal.shift_remove("diffRef");
        }
        if given && let Some(repeat) = inner.repeat(ask, &id, &prompt.normal)? {
            return Ok(AskReceipt { asked: Asked { warnings: checked.warnings, ..repeat }, pending: None });
        }
        let ts = inner.clock.now_ms();
        let shown = shown::digest(&prompt.normal, ask.effect.as_ref().map(|effect| &effect.material));
        let expires_at = prompt.timeout_ms.map(|ms| ts.saturating_add(ms as i64));
        let stamp = RequestStamp {
            owner: ask.owner.clone(),
            origin: ask.origin,
            asker: inner.asker_of(ask, run_id.as_ref()),
            session_id: ask.session_id.clone(),
            client: ask.client.clone(),
            trace: ask.trace.clone(),
            expires_at,
            boot: (expires_at.is_some() || ask.owner.is_app()).then(|| inner.boot_now()),
            shown: shown.clone(),
            effect: ask.effect.as_ref().map(|effect| effect.name.clone()).filter(|name| !name.is_empty()),
            card: ask.card.clone(),
        };
        let entry = entry::request(ts, &id, run_id.as_ref(), &prompt.normal, &stamp, &*inner.signer);
        let line = entry::to_line(&entry).ok_or(AskError::Internal)?;
        let limit = if prompt.kind == Kind::Result { MAX_RESULT_LINE } else { MAX_REQUEST_LINE };
        if line.len() > limit {
            return Err(AskError::Invalid(vec![too_large(line.len(), limit)]));
        }
        let new = NewRecord {
            request_id: id.clone(),
            owner: ask.owner.clone(),
            entry,
            shown: shown.clone(),
            expires_at,
            line: String::from_utf8(line.clone()).map_err(|_| AskError::Internal)?,
            created_at: ts,
        };
        let in_flight = inner.in_flight(&id);
        let outbox = match inner.records.insert(&new).map_err(AskError::Records)? {
            Inserted::New { outbox } => outbox,
            Inserted::Exists(record) => {
                let repeat = same_question(ask, &id, &prompt.normal, &record)?;
                return Ok(AskReceipt {
                    asked: Asked { warnings: checked.warnings, ..repeat },
                    pending: None,
                });
            }
        };
        inner.asked(&new);
        let written = inner.append(&line);
        let asked =
            Asked { request_id: id, warnings: checked.warnings, mirrored: false, repeated: false, shown };
        Ok(AskReceipt { asked, pending: Some(Pending { line, outbox, _in_flight: in_flight, written }) })
    }
}

impl Inner {
    fn asker_of(&self, ask: &Ask, run: Option<&RunId>) -> Option<Asker> {
        if let Some(origin) = ask.origin {
            return Some(Asker::Process { origin, starter: ask.starter });
        }
        if let Some(id) = &ask.call {
            return Some(Asker::Call { id: id.clone(), host_start: self.host_start.clone() });
        }
        if ask.owner.is_app() {
            return Some(Asker::App(ask.owner.as_str().to_owned()));
        }
        run.map(|run| Asker::Run(run.as_str().to_owned()))
    }

    // The record is committed: from here on the question exists, whatever the log does.
    fn asked(&self, record: &NewRecord) {
        let parts = RecordParts::of_new(record);
        lock(&self.state).own.insert(record.request_id.clone());
        let mut changes = Vec::new();
        self.apply_record(&parts, &mut changes);
        let mut told = Told::default();
        self.note(&changes, NOWHERE, &mut told);
        self.tell(told);
    }

    // ui-prompts §5, `id_conflict`: an id that is anywhere in the log or the store.
    fn repeat(&self, ask: &Ask, id: &RequestId, normal: &json::Object) -> Result<Option<Asked>, AskError> {
        if let Some(record) = self.records.get(id).map_err(AskError::Records)? {
            return same_question(ask, id, normal, &record).map(Some);
        }
        self.pump();
        if lock(&self.state).queue.find(id.as_str()).is_some() {
            return Err(conflict(id));
        }
        Ok(None)
    }
}

fn same_question(
    ask: &Ask,
    id: &RequestId,
    normal: &json::Object,
    record: &Record,
) -> Result<Asked, AskError> {
    let effect = ask.effect.as_ref().map(|effect| &effect.material);
    let same = record.owner == ask.owner && record.shown == shown::digest(normal, effect);
    if !same {
        return Err(conflict(id));
    }
    Ok(Asked {
        request_id: id.clone(),
        warnings: Vec::new(),
        mirrored: true,
        repeated: true,
        shown: record.shown.clone(),
    })
}

fn conflict(id: &RequestId) -> AskError {
    AskError::Conflict(Problem::new(Code::IdConflict, "/requestId").arg(quoted(id.as_str())))
}

pub(super) fn too_large(actual: usize, limit: usize) -> Problem {
    Problem::new(Code::TooLarge, "")
        .arg(format!("{actual} > {limit} bytes"))
        .arg("request ≤ 1 MiB, result ≤ 8 MiB, response ≤ 1 MiB")
}

// (id, run, whether the caller named the id)
fn ids(ask: &Ask) -> Result<(RequestId, Option<RunId>, bool), AskError> {
    let mut problems = Vec::new();
    let id = match &ask.request_id {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => match RequestId::parse(text) {
            Ok(id) => Some(id),
            Err(_) => {
                problems.push(Problem::new(Code::IdInvalid, "/requestId").arg("requestId"));
                None
            }
        },
        _ => {
            problems.push(Problem::new(Code::IdInvalid, "/requestId").arg("requestId"));
            None
        }
    };
    let run = match run_id(&ask.run_id) {
        Ok(run) => run,
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    if !problems.is_empty() {
        // Everything that is wrong, at once.
        let stand_in = RequestId::mint();
        problems.extend(kind::check_strict(&ask.prompt, &stand_in, &ask.source).problems);
        return Err(AskError::Invalid(problems));
    }
    let given = id.is_some();
    Ok((id.unwrap_or_else(RequestId::mint), run, given))
}

/// A run id of a payload: absent, null and empty mean none.
pub(super) fn run_id(value: &Value) -> Result<Option<RunId>, Problem> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => {
            RunId::parse(text).map(Some).map_err(|_| Problem::new(Code::IdInvalid, "/runId").arg("runId"))
        }
        _ => Err(Problem::new(Code::TypeString, "/runId").arg("runId")),
    }
}
