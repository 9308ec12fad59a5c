//! The roads to a person for one question, and the race between them.

use std::sync::PoisonError;
use std::time::Duration;

use chatos_prompts::response::Status;
use chatos_prompts::{Object, Owner, RequestId, whole};
use chatos_tool::{Text, ToolError, Transport, persons_note};
use chatos_wire::card::{self, CardRisk};
use serde_json::{Value, json};

use super::form::{self, Form};
use super::{
    Agreed, AskRequest, Elicited, Era, InputRequired, PromptQueue, Question, QueueError, REMARK, Reach,
    Verdict, Withdraw, changed_meanwhile, check_answer, judge, no_person, not_allowed, refused, stopped,
};
use crate::clock::Stop;
use crate::context::{CallCx, Suspension};
use crate::settings::PromptBackend;

/// How long the queue may take to say "timeout" itself after a question's time is over. Beyond that
/// the asker says it, so that a host that is gone cannot make a call wait for ever.
const LATE: Duration = Duration::from_secs(2);

/// Asks and waits. Anything but a yes is an error of the right kind, and nothing has happened then.
pub async fn ask(cx: &CallCx, mut question: Question) -> Result<Agreed, ToolError> {
    redact_message(cx, &mut question);
    let owner = Owner::host_server(cx.server);
    let shown = question.shown();
    let roads = Roads::find(cx, &question).await?;
    let resumed = cx.resume.clone().filter(|_| !question.again);
    if let Some(resume) = &resumed
        && question.decides()
        && resume.shown.as_ref().is_some_and(|then| *then != shown)
    {
        withdraw(cx, resume.request_id.as_ref(), &owner, Withdraw::Aborted);
        return Err(changed_meanwhile());
    }
    let id = match (&resumed, roads.queue) {
        (Some(resume), _) if resume.request_id.is_some() => resume.request_id.clone(),
        (_, true) => Some(put(cx, &owner, &question, roads.form.is_none() && !question.after).await?),
        (_, false) => None,
    };
    // Without the queue the question still has a name: in the result and in the log.
    let name = id.clone().unwrap_or_else(RequestId::mint);
    // Of a client that may not decide this, an answer counts for nothing, however it came.
    let counts = roads.form.is_some() || !question.decides();
    let answer = resumed.and_then(|resume| resume.answer).filter(|_| counts);
    if let Some(answer) = answer {
        if let Some(agreed) = from_client(cx, &question, id.as_ref(), &name, &owner, answer).await? {
            return Ok(agreed);
        }
    } else if let (Some(form), Era::Modern) = (&roads.form, roads.era) {
        let required = InputRequired { form: form.clone(), request_id: id, shown };
        // The layer answers with the form.
        return Err(cx.suspend(Suspension::Person(required)));
    }
    if (roads.form.is_some() || id.is_none()) && !question.after {
        cx.waiting_for(name.as_str());
    }
    let message = Text::fixed("waiting for the person", "正在等待用户回答");
    cx.progress(None, None, &message, Some(json!({ "requestId": name.as_str() })));
    let legacy = roads.form.filter(|_| roads.era == Era::Legacy);
    cx.while_person(race(cx, &question, id.as_ref(), &name, &owner, legacy)).await
}

/// tools §9: a question must not carry secrets of other places to the log and the screen.
fn redact_message(cx: &CallCx, question: &mut Question) {
    let Some(message) = &question.prompt.message else { return };
    let clean = cx.redactor.message(message).into_owned();
    if clean != *message {
        question.prompt.normal.insert("message".to_owned(), Value::String(clean.clone()));
        question.prompt.message = Some(clean);
    }
}

/// Which roads are open.
struct Roads {
    queue: bool,
    form: Option<Form>,
    era: Era,
}

impl Roads {
    async fn find(cx: &CallCx, question: &Question) -> Result<Self, ToolError> {
        let backend = cx.settings.backend;
        let elicitor = cx
            .elicitor
            .as_ref()
            .filter(|_| matches!(backend, PromptBackend::Auto | PromptBackend::Elicitation))
            // A form shows what the question holds; what is cut or cannot be shown is not approved there.
            .filter(|_| !whole::is_partial(&question.prompt.normal) && !question.after);
        let form = elicitor
            .and_then(|elicitor| form::of(&question.prompt, cx.people).filter(|form| elicitor.can_ask(form)));
        let era = elicitor.map_or(Era::Legacy, |elicitor| elicitor.era());
        let withheld = match (&form, elicitor) {
            (Some(_), Some(client)) => !may_decide(cx, question, client.name()).await?,
            _ => false,
        };
        let form = form.filter(|_| !withheld);
        let reach = match backend {
            PromptBackend::Auto | PromptBackend::File | PromptBackend::Tty => {
                cx.unless_stopped(cx.queue.reach()).await?
            }
            PromptBackend::Elicitation => Reach::Store,
        };
        let queue = match (&reach, backend) {
            _ if answered_elsewhere(&reach, backend) => true,
            // An answer of the client is recorded like any other where that is possible.
            (Reach::Store, PromptBackend::Auto) => form.is_some(),
            _ => false,
        };
        if let (false, true, Some(client)) = (queue, withheld, elicitor) {
            return Err(not_allowed(client.name()));
        }
        if !queue && form.is_none() {
            let reason = match &reach {
                Reach::None(reason) => Some(reason),
                _ => None,
            };
            return Err(no_person(reason));
        }
        Ok(Self { queue, form, era })
    }
}

/// inbox §1.5: plain questions may be answered in the client; what decides an effect of its own call only
/// where a person said so, never what is of high risk, and never over a network.
async fn may_decide(cx: &CallCx, question: &Question, client: &str) -> Result<bool, ToolError> {
    if !question.decides() {
        return Ok(true);
    }
    let risky = question
        .effect
        .as_ref()
        .is_some_and(|effect| card::risk(&effect.name, &effect.material).0 == CardRisk::High);
    if risky || cx.transport != Transport::Stdio {
        return Ok(false);
    }
    let root = cx.root.as_ref().map(|root| root.path());
    cx.unless_stopped(cx.queue.may_decide(client, root)).await
}

/// Whether somebody other than the connected client can still answer a question in the queue.
fn answered_elsewhere(reach: &Reach, backend: PromptBackend) -> bool {
    matches!(
        (reach, backend),
        (Reach::Host, PromptBackend::Auto | PromptBackend::File)
            | (Reach::Terminal, PromptBackend::Auto | PromptBackend::File | PromptBackend::Tty)
            | (Reach::Store, PromptBackend::File)
    )
}

/// Puts it into the queue. Where nobody but the queue can answer, whoever keeps a journal of the call hears of
/// the question before it is there (agents §8).
async fn put(cx: &CallCx, owner: &Owner, question: &Question, tell: bool) -> Result<RequestId, ToolError> {
    let before = cx.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
    let again = before.is_some();
    let id = before.unwrap_or_else(RequestId::mint);
    if tell {
        cx.waiting_for(id.as_str());
    }
    let request = AskRequest {
        owner: owner.clone(),
        source: question.source.clone(),
        prompt: question.prompt.normal.clone(),
        trace: cx.trace.clone(),
        id: Some(id.clone()),
        effect: question.effect.clone(),
        whole: question.whole.clone(),
        group: question.group.clone(),
    };
    // Not dropped on cancel: a question that is on its way arrives, and is then withdrawn.
    let (queue, own) = (cx.queue.clone(), owner.clone());
    let (closed, shutdown) = (cx.closed.clone(), cx.shutdown.clone());
    let (told, asked) = tokio::sync::oneshot::channel();
    cx.tracker.spawn(async move {
        let asked = ask_once(&*queue, request, &own, again).await;
        if let Err(Ok(id)) = told.send(asked) {
            // As below: a withdrawn call is aborted, an asker that is no more is gone.
            let gone = closed.is_cancelled() || shutdown.is_cancelled();
            let why = if gone { Withdraw::Gone } else { Withdraw::Aborted };
            withdraw_now(&*queue, &id, &own, why).await;
        }
    });
    let asked = tokio::select! {
        asked = asked => asked,
        why = cx.stopped() => return Err(stopped(cx, why, None)),
    };
    match asked {
        Ok(asked) => {
            let asked = asked.map_err(refused)?;
            if let Some(member) = &cx.together {
                member.asked();
            }
            if tell && asked != id {
                cx.waiting_for(asked.as_str());
            }
            Ok(asked)
        }
        // The task ended without a word: it panicked.
        Err(_) => Err(ToolError::internal(&cx.call_id)),
    }
}

/// Asks. What would be shown now may be another thing than what was asked under this id before; then the old
/// question goes.
async fn ask_once(
    queue: &dyn PromptQueue,
    request: AskRequest,
    owner: &Owner,
    again: bool,
) -> Result<RequestId, QueueError> {
    let (Some(before), true) = (request.id.clone(), again) else { return queue.ask(request).await };
    let fresh = AskRequest { id: None, ..request.clone() };
    match queue.ask(request).await {
        Ok(id) => Ok(id),
        Err(error) => {
            tracing::info!(%error, id = %before, "the question of before is not asked again");
            withdraw_now(queue, &before, owner, Withdraw::Aborted).await;
            queue.ask(fresh).await
        }
    }
}

/// Waits on every road. The question is withdrawn when the call ends before its answer.
async fn race(
    cx: &CallCx,
    question: &Question,
    id: Option<&RequestId>,
    name: &RequestId,
    owner: &Owner,
    form: Option<Form>,
) -> Result<Agreed, ToolError> {
    let timeout_ms = question.prompt.timeout_ms.unwrap_or_default();
    let queue = async {
        match id {
            Some(id) => cx.queue.wait(id).await,
            None => std::future::pending().await,
        }
    };
    let client = async {
        match (form, &cx.elicitor) {
            (Some(form), Some(elicitor)) => elicitor.elicit(form).await,
            _ => std::future::pending().await,
        }
    };
    let expiry = async {
        match timeout_ms {
            0 => std::future::pending().await,
            ms => {
                let late = if id.is_some() { LATE } else { Duration::ZERO };
                tokio::time::sleep(Duration::from_millis(ms) + late).await;
            }
        }
    };
    tokio::pin!(queue, client, expiry);
    let mut client_open = true;
    loop {
        tokio::select! {
            biased;
            why = cx.stopped() => {
                // ui-prompts §9: a withdrawn call is aborted, an asker that is no more is gone.
                let gone = why == Stop::Shutdown || cx.closed.is_cancelled();
                withdraw(cx, id, owner, if gone { Withdraw::Gone } else { Withdraw::Aborted });
                return Err(stopped(cx, why, Some(name)));
            }
            verdict = &mut queue => {
                let verdict = verdict.map_err(refused)?;
                return settle(cx, question, name, owner, verdict, timeout_ms).await;
            }
            answer = &mut client, if client_open => {
                client_open = false;
                if let Some(agreed) = from_client(cx, question, id, name, owner, answer).await? {
                    return Ok(agreed);
                }
            }
            () = &mut expiry => {
                withdraw(cx, id, owner, Withdraw::Expired);
                let verdict = Verdict { status: Status::Timeout, response: Object::new(), by: None, private: false };
                return settle(cx, question, name, owner, verdict, timeout_ms).await;
            }
        }
    }
}

/// An answer of the connected client. `None`: it gave none, and somebody else can still give one in the
/// queue. Where nobody can, a form that was closed is a question that was canceled.
async fn from_client(
    cx: &CallCx,
    question: &Question,
    id: Option<&RequestId>,
    name: &RequestId,
    owner: &Owner,
    answer: Elicited,
) -> Result<Option<Agreed>, ToolError> {
    let timeout_ms = question.prompt.timeout_ms.unwrap_or_default();
    let response = match answer {
        Elicited::Accept(content) => form::answer(&question.prompt, &content),
        Elicited::Decline => json!({ "status": "canceled", "declined": true }),
        // Closing a form is no answer while the question can be answered elsewhere.
        Elicited::Dismissed if id.is_some() && open_elsewhere(cx).await? => return Ok(None),
        Elicited::Dismissed => json!({ "status": "canceled" }),
    };
    let Some(id) = id else {
        let response = check_answer(&question.prompt, &response).map_err(|problems| {
            ToolError::invalid(problems.iter().map(|problem| super::issue(problem, str::to_owned)).collect())
        })?;
        let status = Status::read(response.get("status").and_then(Value::as_str).unwrap_or_default());
        let verdict = Verdict { status, response, by: Some("person:client".to_owned()), private: false };
        let agreed = settle(cx, question, name, owner, verdict, timeout_ms).await?;
        return Ok(Some(Agreed { recorded: false, ..agreed }));
    };
    let shown = question.shown();
    match cx.unless_stopped(cx.queue.answer(id, &response, &shown)).await? {
        // Whoever was first: the record says what was answered.
        Ok(()) | Err(QueueError::AlreadyAnswered) => {
            let verdict = cx.unless_stopped(cx.queue.wait(id)).await?.map_err(refused)?;
            settle(cx, question, name, owner, verdict, timeout_ms).await.map(Some)
        }
        Err(QueueError::Invalid(issues)) => {
            // The client's form did not keep its own schema; the question stays open elsewhere.
            tracing::warn!(problems = issues.len(), "the client's answer does not fit the question");
            if open_elsewhere(cx).await? {
                return Ok(None);
            }
            withdraw(cx, Some(id), owner, Withdraw::Aborted);
            Err(ToolError::invalid(issues))
        }
        Err(error) => Err(refused(error)),
    }
}

/// Asked anew: a host may have come or gone since the question was put.
async fn open_elsewhere(cx: &CallCx) -> Result<bool, ToolError> {
    let reach = cx.unless_stopped(cx.queue.reach()).await?;
    Ok(answered_elsewhere(&reach, cx.settings.backend))
}

/// From the verdict to what the tool gets.
async fn settle(
    cx: &CallCx,
    question: &Question,
    name: &RequestId,
    owner: &Owner,
    mut verdict: Verdict,
    timeout_ms: u64,
) -> Result<Agreed, ToolError> {
    if verdict.private && verdict.status == Status::Canceled {
        // In minimal log mode the note of a no is private, too.
        let taken = cx.unless_stopped(cx.queue.take(name, owner, false)).await?.map_err(refused)?;
        verdict.response = taken.unwrap_or(verdict.response);
    }
    judge(&verdict, name, timeout_ms)?;
    let secret_keys = question.prompt.secret_keys();
    let wants_secrets = cx.settings.secrets_to_model && !secret_keys.is_empty();
    // In minimal log mode the whole answer is private; else only secret values are, and those stay
    // sealed unless the settings give them to the model (ui-prompts §7.4, §8).
    let only_metadata =
        !verdict.response.contains_key("values") && !verdict.response.contains_key("selection");
    let mut response = verdict.response;
    if verdict.private && (wants_secrets || only_metadata) {
        let taken = cx.unless_stopped(cx.queue.take(name, owner, wants_secrets)).await?.map_err(refused)?;
        if let Some(taken) = taken {
            response = taken;
        }
    }
    let note = response.get(REMARK).and_then(Value::as_str).map(persons_note);
    match note {
        Some(Some(note)) => drop(response.insert(REMARK.to_owned(), Value::String(note))),
        Some(None) => drop(response.remove(REMARK)),
        None => {}
    }
    let mut secrets = Object::new();
    if let Some(Value::Object(values)) = response.get_mut("values") {
        for key in secret_keys {
            let Some(value) = values.get_mut(key) else { continue };
            let text = value.as_str().unwrap_or_default().to_owned();
            if text.is_empty() || text == chatos_prompts::response::MASK {
                continue;
            }
            // From here on it is a known secret, before its first use (security T15).
            cx.redactor.learn(&text);
            secrets.insert(key.to_owned(), Value::String(text));
            *value = Value::String(chatos_prompts::response::MASK.to_owned());
        }
    }
    Ok(Agreed { request_id: name.clone(), response, secrets, recorded: true })
}

/// Withdraws the question beside the call, which ends at once; the layer waits for it when it closes.
fn withdraw(cx: &CallCx, id: Option<&RequestId>, owner: &Owner, why: Withdraw) {
    let Some(id) = id.cloned() else { return };
    let (queue, owner) = (cx.queue.clone(), owner.clone());
    cx.tracker.spawn(async move { withdraw_now(&*queue, &id, &owner, why).await });
}

async fn withdraw_now(queue: &dyn PromptQueue, id: &RequestId, owner: &Owner, why: Withdraw) {
    if let Err(error) = queue.withdraw(id, owner, why).await {
        tracing::warn!(%error, %id, "a question could not be withdrawn");
    }
}
