//! One prompt as a surface draws it, read from the store or the file when somebody looks.

use chatos_lines::lock;
use serde_json::{Value, json};

use super::Inner;
use super::state::{Located, Lost};
use crate::clock::format_ms;
use crate::entry::Entry;
use crate::ids::{Owner, RequestId};
use crate::json::Object;
use crate::kind::{self, Kind, Prompt};
use crate::metadata::{self, LogMode};
use crate::problem::{Lang, Problem};
use crate::queue::Position;
use crate::reader::read_exact_at;
use crate::records::Record;
use crate::response::{self, MASK, Status};
use crate::shown;

/// How much of a raw line is carried around.
const MAX_RAW: usize = 64 << 10;

/// Larger prompts are reduced in lists and events.
const MAX_LISTED: usize = 32 << 10;

/// Who wrote the request decides which answers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Served,
    Foreign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemState {
    Pending,
    Closed,
    /// A foreign question that vanished with a rewrite of the file.
    Lost,
}

/// A line of the log, for details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRef {
    pub offset: u64,
    /// The beginning of the line, at most 64 KiB.
    pub line: String,
}

/// How a prompt ended.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerView {
    pub status: Status,
    pub at: i64,
    /// `None`: answered by another program.
    pub by: Option<String>,
    /// Recorded in the store, or signed by this installation.
    pub verified: bool,
    /// Secrets masked; metadata only in minimal mode.
    pub response: Object,
}

/// One prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub request_id: RequestId,
    pub run_id: Option<String>,
    pub session_id: Option<String>,
    /// The other program that asked.
    pub client: Option<Value>,
    pub ts: i64,
    /// As written, also when this host does not know it.
    pub kind: Option<String>,
    pub class: Class,
    pub owner: Option<Owner>,
    pub state: ItemState,
    /// The prompt in normal form; the metadata form where content is not kept.
    pub prompt: Object,
    pub metadata_only: bool,
    /// Why it cannot be drawn: a problem card with `raw` and a Dismiss button.
    pub problem: Option<Problem>,
    pub raw: Option<String>,
    pub warnings: Vec<Problem>,
    pub shown: Option<String>,
    /// Set when the prompt decides an effect although its kind does not say so.
    pub effect: Option<String>,
    /// What the host that served it knows of it.
    pub card: Option<Value>,
    /// The answer must carry `shown`.
    pub shown_required: bool,
    pub expires_at: Option<i64>,
    /// What was approved was begun.
    pub used: bool,
    /// Secret answers will be stored in plain text, because the asker reads them from the file.
    pub plain_secrets: bool,
    /// Asked by an MCP server: Decline is offered beside Cancel.
    pub can_decline: bool,
    pub answer: Option<AnswerView>,
    /// Responses that came after the first.
    pub ignored_responses: u32,
    /// Responses another program wrote to a served prompt.
    pub foreign_responses: u32,
    pub request_at: Option<u64>,
    pub response_at: Option<u64>,
}

impl Item {
    /// ui-prompts §4: `needsYou` = pending and not a result.
    pub fn needs_you(&self) -> bool {
        self.state == ItemState::Pending && self.kind.as_deref() != Some("result")
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.prompt.get(key).and_then(Value::as_str)
    }

    pub fn title(&self) -> Option<&str> {
        self.text("title")
    }

    pub fn source(&self) -> Option<&str> {
        self.text("source")
    }

    /// Delivered to a waiting call without a person.
    pub fn is_auto(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.response.get("auto") == Some(&Value::Bool(true)))
    }

    /// The item in lists and events: a large prompt is reduced to its metadata and marked `partial`, so
    /// that a page of diffs does not weigh hundreds of megabytes.
    pub fn to_list_json(&self, lang: Lang) -> Value {
        let large = size_of_values(&self.prompt) > MAX_LISTED
            || self.answer.as_ref().is_some_and(|a| size_of_values(&a.response) > MAX_LISTED)
            || self.raw.as_ref().is_some_and(|raw| raw.len() > MAX_LISTED);
        if !large {
            return self.to_json(lang);
        }
        let mut small = self.clone();
        small.prompt = metadata::of_prompt(&self.prompt);
        small.raw = None;
        if let Some(answer) = &mut small.answer {
            answer.response = metadata::of_response(&answer.response);
        }
        let mut json = small.to_json(lang);
        json["partial"] = true.into();
        json
    }

    /// The item of the API (`ui-prompts §12.2`), whole.
    pub fn to_json(&self, lang: Lang) -> Value {
        let time = |ms: Option<i64>| ms.map(format_ms);
        json!({
            "requestId": self.request_id,
            "runId": self.run_id,
            "sessionId": self.session_id,
            "client": self.client,
            "ts": format_ms(self.ts),
            "kind": self.kind,
            "class": match self.class { Class::Served => "served", Class::Foreign => "foreign" },
            "owner": self.owner,
            "source": self.source(),
            "title": self.title(),
            "state": match self.state {
                ItemState::Pending => "pending",
                ItemState::Closed => "closed",
                ItemState::Lost => "lost",
            },
            "needsYou": self.needs_you(),
            "prompt": self.prompt,
            "partial": false,
            "metadataOnly": self.metadata_only,
            "problem": self.problem.as_ref().map(|p| p.to_json(lang)),
            "raw": self.raw,
            "warnings": self.warnings.iter().map(|p| p.to_json(lang)).collect::<Vec<_>>(),
            "shown": self.shown,
            "shownRequired": self.shown_required,
            "effect": self.effect,
            "card": self.card,
            "expiresAt": time(self.expires_at),
            "used": self.used,
            "plainSecrets": self.plain_secrets,
            "canDecline": self.can_decline,
            "answer": self.answer.as_ref().map(|a| json!({
                "status": a.status.as_str(),
                "ts": format_ms(a.at),
                "by": a.by,
                "verified": a.verified,
                "auto": self.is_auto(),
                "response": a.response,
            })),
            "ignoredResponses": self.ignored_responses,
            "foreignResponses": self.foreign_responses,
            "positions": {"request": self.request_at, "response": self.response_at},
        })
    }
}

/// Who reads the entries (`ui-prompts §7.2`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Viewer {
    /// A person: everything, secrets masked.
    Person,
    App {
        owner: Owner,
        read_all: bool,
    },
}

impl Inner {
    /// The item with this id, or `None` when no request of it is known.
    pub(crate) fn item(&self, id: &RequestId) -> Option<Item> {
        for _ in 0..2 {
            let found = lock(&self.state).locate(id.as_str())?;
            if let Some(item) = self.item_at(&found) {
                return Some(item);
            }
            // The file was rewritten under the positions: read it again, then look once more.
            self.pump();
        }
        None
    }

    pub(crate) fn item_at(&self, found: &Located) -> Option<Item> {
        if !found.slot.is_defined() {
            return None;
        }
        if found.slot.is_served() {
            match self.records.get(&found.id) {
                Ok(Some(record)) => return Some(self.served_item(found, &record)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, request_id = %found.id, "cannot read the record of a prompt");
                    return None;
                }
            }
        }
        if found.slot.is_archived() && found.slot.request_line().is_none() {
            return None;
        }
        let entry = self.entry_at(found, found.slot.request_line()?)?;
        Some(self.foreign_item(found, &entry))
    }

    fn served_item(&self, found: &Located, record: &Record) -> Item {
        let entry = Entry { object: record.entry.as_object().cloned().unwrap_or_default() };
        let mut item = self.base(found, &entry);
        item.class = Class::Served;
        item.owner = Some(record.owner.clone());
        item.shown = Some(record.shown.clone());
        item.effect = entry.stamp("effect").and_then(Value::as_str).map(str::to_owned);
        item.card = entry.stamp("card").cloned();
        item.shown_required = shown_required(&item);
        item.session_id = entry.stamp("sessionId").and_then(Value::as_str).map(str::to_owned);
        item.client = entry.stamp("client").cloned();
        item.expires_at = record.expires_at;
        item.used = record.used_at.is_some();
        item.can_decline = item.prompt.contains_key("requestedSchema");
        if let Some(answer) = &record.answer {
            item.state = ItemState::Closed;
            let status = answer.response.get("status").and_then(Value::as_str).unwrap_or("error");
            item.answer = Some(AnswerView {
                status: Status::read(status),
                at: answer.at,
                by: Some(answer.by.clone()),
                verified: true,
                response: answer.response.clone(),
            });
        }
        self.reduce_closed(&mut item);
        item
    }

    fn foreign_item(&self, found: &Located, entry: &Entry) -> Item {
        let mut item = self.base(found, entry);
        item.shown = entry.prompt().map(|prompt| shown::digest(prompt, None));
        item.shown_required = shown_required(&item);
        item.expires_at = found.deadline;
        item.plain_secrets =
            item.prompt.get("fields").and_then(Value::as_array).is_some_and(|fields| {
                fields.iter().any(|field| field.get("secret") == Some(&Value::Bool(true)))
            });
        if found.slot.is_closed() {
            item.answer = Some(self.foreign_answer(found));
        }
        self.reduce_closed(&mut item);
        item
    }

    // How a foreign prompt ended; secrets that the file holds in plain text are masked here too.
    fn foreign_answer(&self, found: &Located) -> AnswerView {
        let mut view = AnswerView {
            status: found.slot.status(),
            at: found.slot.response_ts,
            by: None,
            verified: false,
            response: Object::new(),
        };
        if let Some(entry) = found.slot.response_line().and_then(|at| self.entry_at(found, at)) {
            view.verified = entry.is_ours(Some(&*self.signer));
            if view.verified {
                view.by = entry.stamp("by").and_then(Value::as_str).map(str::to_owned);
            }
            view.response = entry.response().cloned().unwrap_or_default();
        } else if found.slot.is_twin_closed() {
            view.response.insert("status".into(), "ok".into());
            view.response.insert("auto".into(), true.into());
        }
        if let Some(prompt) = found.slot.request_line().and_then(|at| self.entry_at(found, at))
            && let Some(prompt) = prompt.prompt()
        {
            mask(prompt, &mut view.response);
        }
        view
    }

    fn base(&self, found: &Located, entry: &Entry) -> Item {
        let empty = Object::new();
        let prompt = entry.prompt().unwrap_or(&empty);
        let checked = kind::read_lenient(prompt, &found.id);
        let drawn = checked.prompt.map(|p| p.normal);
        let problem = checked.problems.into_iter().next();
        let raw =
            problem.is_some().then(|| cut(&chatos_lines::line::to_string(&entry.object.clone().into())));
        Item {
            request_id: found.id.clone(),
            run_id: found.run.clone(),
            session_id: None,
            client: None,
            ts: found.slot.ts,
            kind: prompt.get("kind").and_then(Value::as_str).map(str::to_owned),
            class: Class::Foreign,
            owner: None,
            state: if found.slot.is_closed() { ItemState::Closed } else { ItemState::Pending },
            prompt: drawn.unwrap_or_else(|| metadata::of_prompt(prompt)),
            metadata_only: false,
            problem,
            raw,
            warnings: checked.warnings,
            shown: None,
            effect: None,
            card: None,
            shown_required: false,
            expires_at: None,
            used: false,
            plain_secrets: false,
            can_decline: false,
            answer: None,
            ignored_responses: found.extras.as_ref().map_or(0, |e| e.ignored_count),
            foreign_responses: found.extras.as_ref().map_or(0, |e| e.foreign_count),
            request_at: found.slot.request_line().map(|at| at.offset),
            response_at: found.slot.response_line().map(|at| at.offset),
        }
    }

    // ui-prompts §8: in minimal mode the history holds metadata only.
    fn reduce_closed(&self, item: &mut Item) {
        if item.state == ItemState::Pending || self.mode() == LogMode::Full {
            return;
        }
        item.metadata_only = true;
        item.prompt = metadata::of_prompt(&item.prompt);
        item.raw = None;
        item.warnings.clear();
        if let Some(answer) = &mut item.answer {
            answer.response = metadata::of_response(&answer.response);
        }
    }

    pub(super) fn lost_item(&self, lost: &Lost) -> Item {
        let entry = lost.entry.clone().unwrap_or(Entry { object: Object::new() });
        let empty = Object::new();
        let prompt = entry.prompt().unwrap_or(&empty);
        // What can be drawn is in its normal form, as everywhere.
        let drawn = kind::read_lenient(prompt, &lost.id).prompt.map(|p| p.normal);
        let mut item = Item {
            request_id: lost.id.clone(),
            run_id: lost.run.clone(),
            session_id: None,
            client: None,
            ts: lost.ts,
            kind: lost.kind.map(|k| k.as_str().to_owned()),
            class: Class::Foreign,
            owner: None,
            state: ItemState::Lost,
            prompt: drawn.unwrap_or_else(|| prompt.clone()),
            metadata_only: lost.entry.is_none(),
            problem: None,
            raw: None,
            warnings: Vec::new(),
            shown: None,
            effect: None,
            card: None,
            shown_required: false,
            expires_at: None,
            used: false,
            plain_secrets: false,
            can_decline: false,
            answer: None,
            ignored_responses: 0,
            foreign_responses: 0,
            request_at: None,
            response_at: None,
        };
        self.reduce_closed(&mut item);
        item
    }

    /// The entry at a position, if the file still says so.
    pub(crate) fn entry_at(&self, found: &Located, at: Position) -> Option<Entry> {
        let raw = self.raw_at(found.file.as_deref()?, at)?;
        Entry::parse(&raw).filter(|entry| entry.id().as_ref() == Some(&found.id))
    }

    fn raw_at(&self, file: &std::fs::File, at: Position) -> Option<Vec<u8>> {
        match read_exact_at(&*self.fs, file, at.offset, at.len as usize) {
            Ok(raw) => raw,
            Err(error) => {
                tracing::warn!(%error, offset = at.offset, "cannot read a line of the prompt log");
                None
            }
        }
    }

    pub(crate) fn line_ref(&self, at: Position) -> LineRef {
        let file = lock(&self.state).file.clone();
        let raw = file.and_then(|file| self.raw_at(&file, at)).unwrap_or_default();
        LineRef { offset: at.offset, line: cut(&String::from_utf8_lossy(&raw)) }
    }

    /// Further lines of a prompt: (ignored responses, foreign responses).
    pub(super) fn further_lines(&self, id: &RequestId) -> (Vec<LineRef>, Vec<LineRef>) {
        let extras = lock(&self.state).locate(id.as_str()).and_then(|found| found.extras).unwrap_or_default();
        let lines = |at: &[Position]| at.iter().map(|at| self.line_ref(*at)).collect();
        (lines(&extras.ignored), lines(&extras.foreign))
    }

    /// The signed response entry of a recorded answer, for its mirror line.
    pub(super) fn response_entry(&self, record: &Record) -> Option<Value> {
        let answer = record.answer.as_ref()?;
        let entry = Entry { object: record.entry.as_object().cloned().unwrap_or_default() };
        let run = entry.run_id();
        let shown = Some(record.shown.as_str()).filter(|s| !s.is_empty());
        let (by, at) = (&answer.by, answer.at);
        Some(crate::entry::response(
            at,
            &record.request_id,
            run.as_ref(),
            &answer.response,
            by,
            shown,
            &*self.signer,
        ))
    }

    /// The typed prompt of a record.
    pub(super) fn prompt_of(record: &Record) -> Option<Prompt> {
        let prompt = record.entry.get("prompt")?.as_object()?;
        kind::read_lenient(prompt, &record.request_id).prompt
    }
}

// Bytes of all texts inside, roughly; stops counting when it is enough.
fn size_of_values(map: &Object) -> usize {
    let mut size = 0;
    let mut todo: Vec<&Value> = map.values().collect();
    while let Some(value) = todo.pop() {
        size += 8;
        match value {
            Value::String(text) => size += text.len(),
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => todo.extend(map.values()),
            _ => {}
        }
        if size > MAX_LISTED {
            break;
        }
    }
    size
}

fn shown_required(item: &Item) -> bool {
    item.effect.is_some() || item.kind.as_deref().and_then(Kind::parse).is_some_and(Kind::decides_effect)
}

// Secret values never leave the log towards a screen.
fn mask(prompt: &Object, response: &mut Object) {
    let secret = |key: &str| {
        prompt.get("fields").and_then(Value::as_array).is_some_and(|fields| {
            fields.iter().any(|field| {
                field.get("secret") == Some(&Value::Bool(true))
                    && field.get("key").and_then(Value::as_str).is_some_and(|k| k.trim() == key)
            })
        })
    };
    if let Some(Value::Object(values)) = response.get_mut("values") {
        for (key, value) in values.iter_mut() {
            if secret(key) && value.as_str() != Some("") {
                *value = MASK.into();
            }
        }
    }
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(MAX_RAW);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// An entry as `viewer` may see it (`ui-prompts §7.2`).
pub(super) fn for_viewer(
    viewer: &Viewer,
    owner: Option<&Owner>,
    prompt: &Object,
    mut entry: Object,
) -> Value {
    if let Some(Value::Object(response)) = entry.get_mut("response") {
        mask(prompt, response);
    }
    match (viewer, owner) {
        // Foreign entries carry no owner; every app may read them.
        (Viewer::Person | Viewer::App { read_all: true, .. }, _) | (_, None) => entry.into(),
        (Viewer::App { owner: app, .. }, Some(owner)) if app == owner => entry.into(),
        (Viewer::App { .. }, Some(_)) => metadata::of_entry(&entry),
    }
}

/// What a waiter of a foreign prompt gets: a response that does not fit its request is not a
/// confirmation (`ui-prompts §6`).
pub(super) fn fitting(prompt: Option<&Prompt>, response: &Object, status: Status) -> (Status, Object) {
    if status != Status::Ok {
        return (status, response.clone());
    }
    let who = crate::ids::Answerer::Host(crate::ids::HostReason::Orphan);
    match prompt.map(|prompt| response::check(Some(prompt), &Value::Object(response.clone()), &who, None)) {
        Some(Ok(answer)) => (Status::Ok, answer.full),
        _ => {
            let mut refused = Object::new();
            refused.insert("status".into(), "error".into());
            refused.insert("code".into(), "invalid_response".into());
            (Status::Error, refused)
        }
    }
}
