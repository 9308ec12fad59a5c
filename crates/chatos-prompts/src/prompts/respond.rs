//! Answering through the host: check, record or append, first answer wins (`ui-prompts §6–7`).

use std::sync::Arc;
use std::time::Duration;

use chatos_lines::{AppendError, lock};
use serde_json::{Value, json};

use super::ask::{run_id, summary, too_large};
use super::mirror::chain;
use super::pump::{NOWHERE, Told};
use super::state::{Located, RecordParts};
use super::view::Item;
use super::{Event, Inner, NotReady, Prompts, Role, is_full};
use crate::approval::Approval;
use crate::clock::format_ms;
use crate::effect::Effect;
use crate::entry::{self, Asker, Entry, MAX_RESPONSE_LINE, Origin};
use crate::ids::{Answerer, HostReason, RequestId};
use crate::json::Object;
use crate::kind::{self, Prompt};
use crate::metadata::{self, LogMode};
use crate::problem::{Code, Lang, Problem, quoted};
use crate::records::{Answered, NewAnswer, Private, Record, RecordedAnswer, RecordsError};
use crate::response::{self, Answer, Status};
use crate::shown;
use crate::whole;

const READY_WAIT: Duration = Duration::from_secs(30);

/// How long an app can read the private values of its prompt.
const APP_PRIVATE_MS: i64 = 10 * 60 * 1000;

/// An answer to a prompt.
#[derive(Debug, Clone)]
pub struct Respond<'a> {
    pub id: &'a RequestId,
    /// As the surface sent it.
    pub response: &'a Value,
    /// The digest of what the surface displayed.
    pub shown: Option<&'a str>,
    /// As the caller sent it; null = that of the request.
    pub run_id: &'a Value,
    pub by: Answerer,
    /// The surface was given every line of a text that the question holds only in part.
    pub seen: bool,
    /// The process that answers, where it says so.
    pub pid: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Responded {
    /// False: recorded, but its line waits in the store because the log cannot be written right now.
    pub mirrored: bool,
}

/// Why an answer was refused. Nothing was recorded, except where said.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RespondError {
    #[error("no question has the id `{0}`")]
    Unknown(RequestId),
    #[error("`{id}` was already answered: {status}, {by}, {}", format_ms(*at))]
    AlreadyAnswered { id: RequestId, status: String, at: i64, by: String },
    #[error("`{by}` may not answer `{id}`")]
    NotOwner { id: RequestId, by: String },
    #[error("nobody waits for `{0}` any more; nothing was done")]
    AskerGone(RequestId),
    #[error("`{0}` cannot be answered from inside the program that asked it")]
    OwnAsker(RequestId),
    #[error("what was shown is not what would happen now")]
    ShownMismatch { item: Box<Item> },
    #[error("not everything that `{id}` is about was shown")]
    NotShown { id: RequestId },
    #[error("the answer is not valid: {}", summary(.0))]
    Invalid(Vec<Problem>),
    #[error("cannot record the answer")]
    Records(#[source] RecordsError),
    #[error("cannot write the answer")]
    Append(#[source] AppendError),
    #[error(transparent)]
    NotReady(#[from] NotReady),
    #[error("cannot build the line of the answer")]
    Internal,
}

impl RespondError {
    /// The exact code of `ui-prompts §6`, where there is one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Unknown(_) => Some(Code::UnknownRequest),
            Self::AlreadyAnswered { .. } => Some(Code::AlreadyAnswered),
            Self::NotOwner { .. } => Some(Code::NotOwner),
            Self::AskerGone(_) => Some(Code::AskerGone),
            Self::OwnAsker(_) => Some(Code::OwnAsker),
            Self::ShownMismatch { .. } => Some(Code::ShownMismatch),
            Self::NotShown { .. } => Some(Code::NotShown),
            Self::Invalid(problems) => problems.first().map(|p| p.code),
            _ => None,
        }
    }

    /// The findings with their places and texts.
    pub fn problems(&self) -> Vec<Problem> {
        match self {
            Self::Unknown(id) => {
                vec![Problem::new(Code::UnknownRequest, "/requestId").arg(quoted(id.as_str()))]
            }
            Self::AlreadyAnswered { id, status, at, by } => {
                let how = format!("{status}, {by}, {}", format_ms(*at));
                vec![Problem::new(Code::AlreadyAnswered, "/requestId").arg(quoted(id.as_str())).arg(how)]
            }
            Self::NotOwner { by, .. } => vec![Problem::new(Code::NotOwner, "/requestId").arg(by)],
            Self::AskerGone(_) => vec![Problem::new(Code::AskerGone, "/requestId")],
            Self::OwnAsker(_) => vec![Problem::new(Code::OwnAsker, "/requestId")],
            Self::ShownMismatch { .. } => vec![Problem::new(Code::ShownMismatch, "/shown")],
            Self::NotShown { id } => {
                vec![Problem::new(Code::NotShown, "/response").arg(quoted(id.as_str()))]
            }
            Self::Invalid(problems) => problems.clone(),
            _ => Vec::new(),
        }
    }

    /// What goes into `details` of the API error.
    pub fn details(&self, lang: Lang) -> Value {
        match self {
            Self::AlreadyAnswered { status, at, by, .. } => {
                json!({"status": status, "ts": format_ms(*at), "by": by})
            }
            Self::ShownMismatch { item } => json!({"prompt": item.to_json(lang)}),
            _ => {
                let errors: Vec<Value> = self.problems().iter().map(|p| p.to_json(lang)).collect();
                json!({ "errors": errors })
            }
        }
    }

    pub fn is_full(&self) -> bool {
        match self {
            Self::Records(error) => is_full(error),
            Self::Append(error) => error.is_full(),
            _ => false,
        }
    }
}

/// Why an approval may not be acted on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UseError {
    #[error("no served question has the id `{0}`")]
    Unknown(RequestId),
    #[error("the question was not confirmed")]
    NotConfirmed(Option<Status>),
    #[error("what was approved is not what would happen now")]
    Changed,
    #[error("the approval was used already")]
    AlreadyUsed,
    #[error("cannot use the approval")]
    Records(#[source] RecordsError),
}

impl Prompts {
    /// Gives an answer. Returns when it is durable; the first one wins.
    pub fn respond(&self, answer: &Respond<'_>) -> Result<Responded, RespondError> {
        self.inner.ready_within(READY_WAIT)?;
        self.inner.respond(answer)
    }

    /// The answer with its private values, which are erased by this: for the asker, once
    /// (`ui-prompts §7.4`). `None`: not answered yet.
    pub fn deliver(&self, id: &RequestId) -> Result<Option<Object>, RecordsError> {
        let Some(answer) = self.inner.records.get(id)?.and_then(|record| record.answer) else {
            return Ok(None);
        };
        let private = self.inner.records.take_private(id)?;
        Ok(Some(private.map_or(answer.response, |private| private.response)))
    }

    /// The answer with its private values except those of secret fields, which stay masked and sealed:
    /// for a caller that only refers to them. Without secret fields it is [`Prompts::deliver`].
    pub fn deliver_without_secrets(&self, id: &RequestId) -> Result<Option<Object>, RecordsError> {
        let Some(record) = self.inner.records.get(id)?.filter(|record| record.answer.is_some()) else {
            return Ok(None);
        };
        let prompt = Inner::prompt_of(&record);
        let secrets = prompt.as_ref().map(Prompt::secret_keys).unwrap_or_default();
        let Some(private) = self.inner.records.peek_private(id)?.filter(|_| !secrets.is_empty()) else {
            return self.deliver(id);
        };
        let masked = Answer { status: Status::Ok, full: private.response }.masked(&secrets);
        Ok(Some(masked))
    }

    /// The same without erasing, for the app that asked, until it consumes it or ten minutes passed.
    pub fn peek(&self, id: &RequestId, owner: &crate::ids::Owner) -> Result<Option<Object>, RecordsError> {
        let Some(record) = self.inner.records.get(id)?.filter(|record| record.owner == *owner) else {
            return Ok(None);
        };
        let Some(answer) = record.answer else { return Ok(None) };
        let private = self.inner.records.peek_private(id)?;
        let now = self.inner.clock.now_ms();
        let private = private.filter(|private| private.expires_at.is_none_or(|at| at > now));
        Ok(Some(private.map_or(answer.response, |private| private.response)))
    }

    /// Erases the private values of a prompt now.
    pub fn consume_private(&self, id: &RequestId) -> Result<(), RecordsError> {
        self.inner.records.take_private(id).map(drop)
    }

    /// Uses an approval: once, and only for what was shown (`security T24`). `effect` is what would happen
    /// now, computed anew by the caller. The only way from an answer to an [`Approval`].
    pub fn use_approval(&self, id: &RequestId, effect: &Effect) -> Result<Approval, UseError> {
        let record = self.inner.records.get(id).map_err(UseError::Records)?;
        let record = record.ok_or_else(|| UseError::Unknown(id.clone()))?;
        let answer = record.answer.ok_or(UseError::NotConfirmed(None))?;
        let status = Status::read(answer.response.get("status").and_then(Value::as_str).unwrap_or("error"));
        if status != Status::Ok {
            return Err(UseError::NotConfirmed(Some(status)));
        }
        let prompt = record.entry.get("prompt").and_then(Value::as_object).ok_or(UseError::Changed)?;
        if shown::digest(prompt, Some(&effect.material)) != record.shown {
            if let Some(item) = self.inner.item(id) {
                self.inner.send(Event::Superseded(Box::new(item)));
            }
            return Err(UseError::Changed);
        }
        let now = self.inner.clock.now_ms();
        if !self.inner.records.mark_used(id, now).map_err(UseError::Records)? {
            tracing::error!(request_id = %id, "an approval was to be used a second time");
            return Err(UseError::AlreadyUsed);
        }
        Ok(Approval::used(id.clone(), answer.response))
    }

    /// Whether the approval of this question was used: from then on what it allowed may have happened.
    pub fn is_used(&self, id: &RequestId) -> Result<bool, RecordsError> {
        Ok(self.inner.records.get(id)?.is_some_and(|record| record.used_at.is_some()))
    }

    /// Acknowledges a result that a waiting task took, and its twin (`ai-contributions §11.2` step 7).
    /// A result a person dismissed earlier stays as it is.
    pub fn consume_result(&self, id: &RequestId) -> Result<(), RespondError> {
        for id in [Some(id.clone()), id.twin()].into_iter().flatten() {
            let open = {
                let state = lock(&self.inner.state);
                let slot = state.queue.find(id.as_str()).map(|slot| state.queue.slot(slot));
                slot.is_some_and(|slot| slot.is_pending() && slot.is_result())
            };
            if !open {
                continue;
            }
            match self.inner.close(&id, "ok", None, HostReason::Auto) {
                Ok(_) | Err(RespondError::AlreadyAnswered { .. } | RespondError::AskerGone(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Inner {
    pub(crate) fn respond(self: &Arc<Self>, answer: &Respond<'_>) -> Result<Responded, RespondError> {
        // The record decides which class it is: a line proves nothing.
        match self.records.get(answer.id).map_err(RespondError::Records)? {
            Some(record) => self.respond_served(answer, &record),
            None => self.respond_foreign(answer),
        }
    }

    /// Closes a prompt for the host itself: timeout, abort, orphan, auto.
    pub(crate) fn close(
        self: &Arc<Self>,
        id: &RequestId,
        status: &str,
        code: Option<&str>,
        why: HostReason,
    ) -> Result<Responded, RespondError> {
        let mut response = json!({"status": status});
        if let (Some(code), Value::Object(map)) = (code, &mut response) {
            map.insert("code".into(), code.into());
        }
        self.respond(&Respond {
            id,
            response: &response,
            shown: None,
            run_id: &Value::Null,
            by: Answerer::Host(why),
            seen: false,
            pid: None,
        })
    }

    fn respond_served(
        self: &Arc<Self>,
        answer: &Respond<'_>,
        record: &Record,
    ) -> Result<Responded, RespondError> {
        if let Some(first) = &record.answer {
            return Err(already(answer.id, first));
        }
        if let Answerer::App(app) = &answer.by
            && *app != record.owner
        {
            return Err(not_owner(answer));
        }
        let entry = Entry { object: record.entry.as_object().cloned().unwrap_or_default() };
        self.check_asker(answer, &entry)?;
        let prompt = Self::prompt_of(record);
        let effect = entry.stamp("effect").is_some();
        self.check_shown(answer, prompt.as_ref(), effect, &record.shown)?;
        check_seen(answer, prompt.as_ref())?;
        let checked = self.check(answer, prompt.as_ref(), Some(record))?;
        let run = run_id(answer.run_id).map_err(|problem| RespondError::Invalid(vec![problem]))?;
        let run = run.or_else(|| entry.run_id());
        let secrets = prompt.as_ref().map(Prompt::secret_keys).unwrap_or_default();
        let masked = checked.masked(&secrets);
        let minimal = self.mode() == LogMode::Minimal;
        let public = if minimal { metadata::of_response(&masked) } else { masked.clone() };
        let at = self.clock.now_ms();
        let private = (public != checked.full).then(|| Private {
            owner: record.owner.clone(),
            response: checked.full.clone(),
            expires_at: record.owner.is_app().then_some(at + APP_PRIVATE_MS),
        });
        let by = answer.by.to_string();
        let shown = answer.shown.or(Some(record.shown.as_str())).filter(|s| !s.is_empty());
        let line = entry::response(at, answer.id, run.as_ref(), &public, &by, shown, &*self.signer);
        let line = bounded_line(&line)?;
        let new = NewAnswer {
            response: public.clone(),
            by: by.clone(),
            at,
            line: Some(String::from_utf8(line.clone()).map_err(|_| RespondError::Internal)?),
            private,
        };
        let _in_flight = self.in_flight(answer.id);
        let outbox = match self.records.answer(answer.id, &new).map_err(RespondError::Records)? {
            Answered::Won { outbox } => outbox,
            Answered::Lost(first) => return Err(already(answer.id, &first)),
            Answered::Unknown => return Err(RespondError::Unknown(answer.id.clone())),
        };
        let mirrored = match self.mirror(&line, outbox) {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(error = %chain(&error), request_id = %answer.id, "an answer is recorded but not in the log yet");
                false
            }
        };
        self.pump();
        // The record alone decides; the line only woke the reader.
        let mut closed = RecordParts::of(record);
        closed.answered = Some((checked.status, at));
        let mut changes = Vec::new();
        self.apply_record(&closed, &mut changes);
        let mut told = Told::default();
        self.note(&changes, NOWHERE, &mut told);
        self.wake_synced();
        self.tell(told);
        Ok(Responded { mirrored })
    }

    // inbox §1.3, §1.5: somebody waits for the answer, and it is not the one who gives it.
    fn check_asker(&self, answer: &Respond<'_>, entry: &Entry) -> Result<(), RespondError> {
        if !matches!(answer.by, Answerer::Person(_)) {
            return Ok(());
        }
        let asker = entry::asker_of(entry.object.get("chatos"));
        let over = match &asker {
            Some(Asker::Call { host_start, .. }) => *host_start != self.host_start,
            _ => entry.origin().is_some_and(|origin| !origin.is_alive()),
        };
        if over {
            return Err(RespondError::AskerGone(answer.id.clone()));
        }
        // What runs and calls of this host start is below it; a command of theirs is not the person.
        let mut askers = match asker {
            Some(Asker::Process { origin, starter }) => vec![Some(origin), starter],
            _ => Vec::new(),
        };
        if self.role == Role::Host {
            askers.push(Origin::here());
        }
        let own = |pid| askers.iter().flatten().any(|asker| asker.is_above(pid));
        if answer.pid.is_some_and(own) {
            return Err(RespondError::OwnAsker(answer.id.clone()));
        }
        Ok(())
    }

    fn respond_foreign(&self, answer: &Respond<'_>) -> Result<Responded, RespondError> {
        self.pump();
        let found = self.open_foreign(answer.id)?;
        if matches!(answer.by, Answerer::App(_)) {
            return Err(not_owner(answer));
        }
        let request = found.slot.request_line().and_then(|at| self.entry_at(&found, at));
        let request = request.ok_or_else(|| RespondError::Unknown(answer.id.clone()))?;
        let prompt = request.prompt().and_then(|prompt| kind::read_lenient(prompt, answer.id).prompt);
        let digest = request.prompt().map(|prompt| shown::digest(prompt, None)).unwrap_or_default();
        self.check_shown(answer, prompt.as_ref(), false, &digest)?;
        let checked = self.check(answer, prompt.as_ref(), None)?;
        let run = run_id(answer.run_id).map_err(|problem| RespondError::Invalid(vec![problem]))?;
        let run = run.or_else(|| request.run_id());
        let by = answer.by.to_string();
        // The asker reads the file: values are written as given, secrets too (§7.4).
        let shown = answer.shown.or(Some(digest.as_str()));
        let at = self.clock.now_ms();
        let line = entry::response(at, answer.id, run.as_ref(), &checked.full, &by, shown, &*self.signer);
        let line = bounded_line(&line)?;
        let written = {
            let mut turn = self.log.lock();
            // Check and append in one turn; other programs do not take turns, so the file has the last word below.
            self.pump();
            self.open_foreign(answer.id)?;
            let written = turn.append(&line).map_err(RespondError::Append)?;
            if !turn.held() {
                tracing::debug!(request_id = %answer.id, "answered without the advisory lock");
            }
            written
        };
        let at = self.settle(&line, written.at, written.ticket);
        let at = self.mirrored(None, at).map_err(RespondError::Append)?;
        self.pump();
        self.wake_synced();
        let found = lock(&self.state).locate(answer.id.as_str());
        let first = found.as_ref().and_then(|found| found.slot.response_line());
        match (found, first) {
            (Some(found), Some(first))
                if first.offset != at && !self.is_same_line(&found, first.offset, &line) =>
            {
                Err(self.already_foreign(&found))
            }
            _ => Ok(Responded { mirrored: true }),
        }
    }

    // After a failed sync the line was written twice; either copy is ours.
    fn is_same_line(&self, found: &Located, offset: u64, line: &[u8]) -> bool {
        let Some(file) = &found.file else { return false };
        let read = crate::reader::read_exact_at(&*self.fs, file, offset, line.len() - 1);
        matches!(read, Ok(Some(bytes)) if bytes == line[..line.len() - 1])
    }

    fn open_foreign(&self, id: &RequestId) -> Result<Located, RespondError> {
        let found = lock(&self.state).locate(id.as_str()).filter(|found| found.slot.is_defined());
        let found = found.ok_or_else(|| RespondError::Unknown(id.clone()))?;
        if found.slot.is_closed() { Err(self.already_foreign(&found)) } else { Ok(found) }
    }

    fn already_foreign(&self, found: &Located) -> RespondError {
        let entry = found.slot.response_line().and_then(|at| self.entry_at(found, at));
        let ours = entry.as_ref().filter(|entry| entry.is_ours(Some(&*self.signer)));
        let by = ours.and_then(|entry| entry.stamp("by")?.as_str()).unwrap_or("another program");
        RespondError::AlreadyAnswered {
            id: found.id.clone(),
            status: found.slot.status().as_str().to_owned(),
            at: found.slot.response_ts,
            by: by.to_owned(),
        }
    }

    fn check(
        &self,
        answer: &Respond<'_>,
        prompt: Option<&Prompt>,
        record: Option<&Record>,
    ) -> Result<Answer, RespondError> {
        let mut problems = Vec::new();
        if let Err(problem) = run_id(answer.run_id) {
            problems.push(problem);
        }
        match response::check(prompt, answer.response, &answer.by, record.map(|r| &r.owner)) {
            Ok(checked) if problems.is_empty() => Ok(checked),
            Ok(_) => Err(RespondError::Invalid(problems)),
            Err(more) => {
                problems.extend(more);
                Err(RespondError::Invalid(problems))
            }
        }
    }

    // ui-prompts §6, `shown_mismatch`.
    fn check_shown(
        &self,
        answer: &Respond<'_>,
        prompt: Option<&Prompt>,
        effect: bool,
        current: &str,
    ) -> Result<(), RespondError> {
        let required = match answer.by {
            // The host closes without having shown anything; an app answers its own question by the
            // seed's payload, which has no digest.
            Answerer::Host(_) | Answerer::App(_) => false,
            Answerer::Person(_) => effect || prompt.is_some_and(|p| p.kind.decides_effect()),
        };
        // Refusing is never held back by a digest: nothing happens then.
        let refuses = answer.response.get("status").and_then(Value::as_str).is_some_and(|s| s != "ok");
        let fits = match answer.shown {
            Some(shown) => shown == current,
            None => !required || refuses,
        };
        if fits {
            return Ok(());
        }
        let item = self.item(answer.id).ok_or_else(|| RespondError::Unknown(answer.id.clone()))?;
        Err(RespondError::ShownMismatch { item: Box::new(item) })
    }
}

/// Options that allow nothing.
const REFUSALS: [&str; 4] = ["no", "deny", "decline", "stop"];

// ui-prompts §6, `not_shown`: what was not shown cannot be approved. Refusing is never held back.
fn check_seen(answer: &Respond<'_>, prompt: Option<&Prompt>) -> Result<(), RespondError> {
    let (Answerer::Person(_), Some(prompt)) = (&answer.by, prompt) else { return Ok(()) };
    let text = |key: &str| answer.response.get(key).and_then(Value::as_str);
    if text("status") != Some("ok") || text("selection").is_some_and(|chosen| REFUSALS.contains(&chosen)) {
        return Ok(());
    }
    let unseen = whole::cut_reference(&prompt.normal).is_some() && !answer.seen;
    let hidden =
        whole::hides(&prompt.normal) && answer.response.get("withoutSeeing") != Some(&Value::Bool(true));
    if unseen || hidden {
        return Err(RespondError::NotShown { id: answer.id.clone() });
    }
    Ok(())
}

fn bounded_line(entry: &Value) -> Result<Vec<u8>, RespondError> {
    let line = entry::to_line(entry).ok_or(RespondError::Internal)?;
    if line.len() > MAX_RESPONSE_LINE {
        return Err(RespondError::Invalid(vec![too_large(line.len(), MAX_RESPONSE_LINE)]));
    }
    Ok(line)
}

fn already(id: &RequestId, first: &RecordedAnswer) -> RespondError {
    // Nobody answered: the host closed it because nobody was there to take an answer.
    if first.response.get("code").and_then(Value::as_str) == Some("asker_gone")
        && first.by.starts_with("host:")
    {
        return RespondError::AskerGone(id.clone());
    }
    RespondError::AlreadyAnswered {
        id: id.clone(),
        status: first.response.get("status").and_then(Value::as_str).unwrap_or("error").to_owned(),
        at: first.at,
        by: first.by.clone(),
    }
}

fn not_owner(answer: &Respond<'_>) -> RespondError {
    RespondError::NotOwner { id: answer.id.clone(), by: answer.by.to_string() }
}
