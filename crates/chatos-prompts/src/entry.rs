//! One line of the log: how it is built, what the fold reads of it, and how it is read in full (`ui-prompts §2`).

pub(crate) mod usual;

use std::borrow::Cow;

use chatos_lines::line;
use chatos_lines::scan::{self, Raw};
use serde_json::{Value, json};

use crate::clock;
use crate::ids::{self, Owner, RequestId, RunId};
use crate::json::Object;
use crate::kind::Kind;
use crate::response::Status;
use crate::sign::{self, Signer};

/// Longest lines the host writes, in bytes (`ui-prompts §3.1`).
pub(crate) const MAX_REQUEST_LINE: usize = 1 << 20;
pub(crate) const MAX_RESULT_LINE: usize = 8 << 20;
pub(crate) const MAX_RESPONSE_LINE: usize = 1 << 20;

/// The process of an asker outside the host, for the orphan rule (`ui-prompts §9`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    pub pid: u32,
    /// Start time of that process in clock ticks since boot, so a reused pid is not mistaken for it.
    pub pid_start: u64,
}

/// The moment of a question on the clock that nobody can set (`inbox §1.6`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boot {
    /// Which start of the machine.
    pub(crate) id: String,
    /// Milliseconds since it.
    pub(crate) ms: i64,
}

/// Who waits for the answer (`inbox §1.3`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A run; it goes on when the host starts again.
    Run(String),
    /// A call without a run, by hand or for another program: over with the host that makes it.
    Call { id: String, host_start: String },
    /// An app.
    App(String),
    /// Another process, and the one that started it where that is known.
    Process { origin: Origin, starter: Option<Origin> },
}

impl Asker {
    fn to_json(&self) -> Value {
        match self {
            Self::Run(id) => json!({"kind": "run", "id": id}),
            Self::Call { id, host_start } => json!({"kind": "call", "id": id, "hostStart": host_start}),
            Self::App(id) => json!({"kind": "app", "id": id}),
            Self::Process { origin, starter } => {
                let id = origin.pid.to_string();
                let mut asker =
                    json!({"kind": "process", "id": id, "pid": origin.pid, "pidStart": origin.pid_start});
                if let Some(starter) = starter {
                    asker["starter"] = json!({"pid": starter.pid, "pidStart": starter.pid_start});
                }
                asker
            }
        }
    }

    fn from_json(asker: &Value) -> Option<Self> {
        let text = |key: &str| asker.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match asker.get("kind")?.as_str()? {
            "run" => Some(Self::Run(text("id"))),
            "call" => Some(Self::Call { id: text("id"), host_start: text("hostStart") }),
            "app" => Some(Self::App(text("id"))),
            "process" => {
                let starter = asker.get("starter").and_then(origin_of);
                Some(Self::Process { origin: origin_of(asker)?, starter })
            }
            _ => None,
        }
    }
}

/// What the host stamps on a request it serves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestStamp {
    pub(crate) owner: Owner,
    pub(crate) origin: Option<Origin>,
    pub(crate) asker: Option<Asker>,
    pub(crate) session_id: Option<String>,
    /// The other program that asks.
    pub(crate) client: Option<Value>,
    /// The nine trace fields, as given.
    pub(crate) trace: Option<Value>,
    pub(crate) expires_at: Option<i64>,
    /// Where something happens when its time is over.
    pub(crate) boot: Option<Boot>,
    pub(crate) shown: String,
    /// Why the prompt decides an effect although its kind does not say so: `tool_approval`, `trust`, …
    pub(crate) effect: Option<String>,
    /// What the host knows of it (`inbox §2.1`).
    pub(crate) card: Option<Value>,
}

/// The signed entry of a served request.
pub(crate) fn request(
    ts: i64,
    id: &RequestId,
    run_id: Option<&RunId>,
    prompt: &Object,
    stamp: &RequestStamp,
    signer: &dyn Signer,
) -> Value {
    let mut chatos = json!({"v": 1, "owner": stamp.owner});
    if let Value::Object(map) = &mut chatos {
        if let Some(origin) = stamp.origin {
            map.insert("origin".into(), json!({"pid": origin.pid, "pidStart": origin.pid_start}));
        }
        if let Some(asker) = &stamp.asker {
            map.insert("asker".into(), asker.to_json());
        }
        if let Some(session) = &stamp.session_id {
            map.insert("sessionId".into(), session.as_str().into());
        }
        if let Some(client) = &stamp.client {
            map.insert("client".into(), client.clone());
        }
        if let Some(trace) = &stamp.trace {
            map.insert("trace".into(), trace.clone());
        }
        if let Some(at) = stamp.expires_at {
            map.insert("expiresAt".into(), clock::format_ms(at).into());
        }
        if let Some(boot) = &stamp.boot {
            map.insert("boot".into(), json!({"id": boot.id, "ms": boot.ms}));
        }
        map.insert("shown".into(), stamp.shown.as_str().into());
        if let Some(effect) = &stamp.effect {
            map.insert("effect".into(), effect.as_str().into());
        }
        if let Some(card) = &stamp.card {
            map.insert("card".into(), card.clone());
        }
    }
    build(ts, "request", id, run_id, "prompt", prompt.clone().into(), chatos, signer)
}

/// The signed entry of a response given through the host.
pub(crate) fn response(
    ts: i64,
    id: &RequestId,
    run_id: Option<&RunId>,
    response: &Object,
    by: &str,
    shown: Option<&str>,
    signer: &dyn Signer,
) -> Value {
    let mut chatos = json!({"v": 1});
    if let Value::Object(map) = &mut chatos {
        if let Some(shown) = shown {
            map.insert("shown".into(), shown.into());
        }
        map.insert("by".into(), by.into());
    }
    build(ts, "response", id, run_id, "response", response.clone().into(), chatos, signer)
}

#[expect(clippy::too_many_arguments, reason = "one private constructor behind two typed ones")]
fn build(
    ts: i64,
    action: &str,
    id: &RequestId,
    run_id: Option<&RunId>,
    body_key: &str,
    body: Value,
    chatos: Value,
    signer: &dyn Signer,
) -> Value {
    let mut entry = Object::new();
    entry.insert("ts".into(), clock::format_ms(ts).into());
    entry.insert("type".into(), "ui_prompt".into());
    entry.insert("action".into(), action.into());
    entry.insert("requestId".into(), id.as_str().into());
    if let Some(run) = run_id {
        entry.insert("runId".into(), run.as_str().into());
    }
    entry.insert(body_key.into(), body);
    entry.insert("chatos".into(), chatos);
    let mut entry = Value::Object(entry);
    sign::sign_entry(signer, &mut entry);
    entry
}

/// The line of an entry with its final newline. `None` if it were to hold a raw newline inside, which
/// the serialiser never produces; the assertion is `security T16`.
pub(crate) fn to_line(entry: &Value) -> Option<Vec<u8>> {
    let mut bytes = line::to_string(entry).into_bytes();
    if bytes.is_empty() || memchr::memchr(b'\n', &bytes).is_some() {
        return None;
    }
    bytes.push(b'\n');
    Some(bytes)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Request,
    Response,
}

/// What the fold reads of an entry, borrowed from the line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head<'a> {
    pub(crate) action: Action,
    pub(crate) id: Cow<'a, str>,
    pub(crate) run: Option<Cow<'a, str>>,
    /// `None`: missing or unreadable; the time of reading is used.
    pub(crate) ts: Option<i64>,
    /// Of a request; `None` = a kind this host does not know.
    pub(crate) kind: Option<Kind>,
    /// Of a request; only a value the host would accept.
    pub(crate) timeout_ms: Option<u32>,
    /// Of a response.
    pub(crate) status: Status,
    /// Carries something in `chatos.sig`; whether it is ours is checked where it matters.
    pub(crate) signed: bool,
    /// The hash of the id, where a thread that parsed ahead has worked it out.
    pub(crate) hash: Option<u64>,
    /// The id is that of the entry before, as the same thread has seen.
    pub(crate) repeats: bool,
}

impl Head<'_> {
    /// A copy that borrows nothing.
    pub(crate) fn to_owned(&self) -> Head<'static> {
        Head {
            id: self.id.to_string().into(),
            run: self.run.as_deref().map(|run| run.to_owned().into()),
            action: self.action,
            ts: self.ts,
            kind: self.kind,
            timeout_ms: self.timeout_ms,
            status: self.status,
            signed: self.signed,
            hash: self.hash,
            repeats: self.repeats,
        }
    }
}

/// A scanned object as the log understands it.
pub(crate) enum Read<'a> {
    Entry(Head<'a>),
    /// Of another type: ignored, not bad.
    Other,
    /// `bad_entry`
    Bad,
}

/// Reads the head of the object `scanned` out of `b`. `b` must be valid UTF-8 over the object.
pub(crate) fn read_head<'a>(b: &'a [u8], scanned: &scan::Object) -> Read<'a> {
    if text(b, scanned.kind_of_line).as_deref() != Some("ui_prompt") {
        return Read::Other;
    }
    let action = match text(b, scanned.action).as_deref() {
        Some("request") => Action::Request,
        Some("response") => Action::Response,
        _ => return Read::Bad,
    };
    let Some(id) = text(b, scanned.request_id).and_then(checked) else { return Read::Bad };
    let mut head = Head {
        action,
        id,
        run: text(b, scanned.run_id).and_then(checked),
        ts: ts(b, scanned.ts),
        kind: None,
        timeout_ms: None,
        status: Status::Error,
        signed: matches!(scanned.sig, Raw::Str { .. }),
        hash: None,
        repeats: false,
    };
    match (action, scanned.prompt, scanned.response) {
        (Action::Request, Raw::Object { .. }, _) => {
            head.kind = text(b, scanned.kind).and_then(|k| Kind::parse(&k));
            head.timeout_ms = timeout(b, scanned.timeout);
        }
        (Action::Response, _, Raw::Object { .. }) => match text(b, scanned.status) {
            Some(status) if !status.trim().is_empty() => head.status = Status::read(&status),
            _ => return Read::Bad,
        },
        _ => return Read::Bad,
    }
    Read::Entry(head)
}

fn text(b: &[u8], raw: Raw) -> Option<Cow<'_, str>> {
    let Raw::Str { start, end, escaped } = raw else { return None };
    let (start, end) = (start as usize, end as usize);
    if escaped {
        return scan::decode(b, start, end).map(Cow::Owned);
    }
    std::str::from_utf8(&b[start..end]).ok().map(Cow::Borrowed)
}

fn checked(id: Cow<'_, str>) -> Option<Cow<'_, str>> {
    match id {
        Cow::Borrowed(id) => ids::checked(id).ok().map(Cow::Borrowed),
        Cow::Owned(id) => ids::checked(&id).ok().map(|id| Cow::Owned(id.to_owned())),
    }
}

fn ts(b: &[u8], raw: Raw) -> Option<i64> {
    match raw {
        Raw::Str { start, end, escaped: false } => {
            let bytes = &b[start as usize..end as usize];
            clock::parse_fixed(bytes).or_else(|| clock::parse_iso(std::str::from_utf8(bytes).ok()?))
        }
        Raw::Num { start, end } => {
            let number: f64 = std::str::from_utf8(&b[start as usize..end as usize]).ok()?.parse().ok()?;
            clock::from_number(number)
        }
        _ => None,
    }
}

fn timeout(b: &[u8], raw: Raw) -> Option<u32> {
    let Raw::Num { start, end } = raw else { return None };
    timeout_of(std::str::from_utf8(&b[start as usize..end as usize]).ok()?)
}

fn timeout_of(text: &str) -> Option<u32> {
    let number: f64 = text.parse().ok()?;
    let whole = number.fract() == 0.0 && (1_000.0..=2_147_483_647.0).contains(&number);
    whole.then_some(number as u32)
}

/// The time of an entry.
pub(crate) fn ts_of(ts: Option<&Value>) -> Option<i64> {
    match ts? {
        Value::String(text) => clock::parse_iso(text),
        value => clock::from_number(value.as_f64()?),
    }
}

/// The asking process of a stamp.
pub(crate) fn origin_of(origin: &Value) -> Option<Origin> {
    Some(Origin {
        pid: u32::try_from(origin.get("pid")?.as_u64()?).ok()?,
        pid_start: origin.get("pidStart")?.as_u64()?,
    })
}

/// Who waits, by the stamp.
pub(crate) fn asker_of(chatos: Option<&Value>) -> Option<Asker> {
    Asker::from_json(chatos?.get("asker")?)
}

/// When it was asked on the clock of the machine, by the stamp.
pub(crate) fn boot_of(chatos: Option<&Value>) -> Option<Boot> {
    let boot = chatos?.get("boot")?;
    Some(Boot { id: boot.get("id")?.as_str()?.to_owned(), ms: boot.get("ms")?.as_i64()? })
}

/// An entry read in full.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) object: Object,
}

impl Entry {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        chatos_lines::line::parse_object(bytes).ok().map(|object| Self { object })
    }

    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        self.object.get(key).and_then(Value::as_str)
    }

    pub(crate) fn id(&self) -> Option<RequestId> {
        self.str("requestId").and_then(|id| RequestId::parse(id).ok())
    }

    pub(crate) fn run_id(&self) -> Option<RunId> {
        self.str("runId").and_then(|id| RunId::parse(id).ok())
    }

    pub(crate) fn ts(&self) -> Option<i64> {
        ts_of(self.object.get("ts"))
    }

    pub(crate) fn prompt(&self) -> Option<&Object> {
        self.object.get("prompt").and_then(Value::as_object)
    }

    pub(crate) fn response(&self) -> Option<&Object> {
        self.object.get("response").and_then(Value::as_object)
    }

    pub(crate) fn stamp(&self, key: &str) -> Option<&Value> {
        self.object.get("chatos").and_then(|c| c.get(key))
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        origin_of(self.stamp("origin")?)
    }

    pub(crate) fn is_ours(&self, signer: Option<&dyn Signer>) -> bool {
        signer.is_some_and(|signer| sign::is_ours(signer, &self.object))
    }
}
