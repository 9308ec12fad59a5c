//! Asking a person from a tool: the queue as the built-in servers see it, on top of a desk.
//!
//! The host gives its inbox; a process beside it (`chatos mcp …`) one on the store, which takes
//! `host.lock` for the moment of asking and closing only (ui-prompts §7.3, state §9).

use std::sync::Arc;
use std::time::Duration;

use chatos_inbox::{Inbox, PromptReply, Questions};
use chatos_layer::{AskRequest, BoxFuture, PromptQueue, QueueError, Reach, Verdict, Withdraw};
use chatos_prompts::effect::Difference;
use chatos_prompts::{Approval, Effect, Object, Origin, Owner, RequestId, Ruling, Status, Surface};
use chatos_tool::{ErrorCode, Fault, Issue, IssueCode, Lang, Text, Trace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The longest single wait; in between, what has expired is closed by whoever keeps the clock.
const STEP: Duration = Duration::from_secs(25);

/// Who has a desk.
pub trait DeskOwner: Send + Sync + 'static {
    /// The desk; opening it may block.
    fn desk(&self) -> Result<&Questions, Fault>;
    /// Who would see a question there. Blocks.
    fn reach(&self) -> Reach;
    /// Who waits for the answer to a question of this run, so that it closes when nobody does. May block.
    fn asked_by(&self, run: Option<&str>) -> AskedBy;
    /// Whether a rule answers a call; nothing is counted. May block.
    fn is_ruled(&self, _effect: &Effect, _trace: &Trace) -> bool {
        false
    }
    /// What the person's rules say about a call; a process beside the host asks. May block.
    fn rule_on(&self, _effect: &Effect, _trace: &Trace) -> Ruling {
        Ruling::Ask
    }
}

/// Who waits for an answer, beyond a run (inbox §1.3).
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedBy {
    /// Another process than the host.
    pub origin: Option<Origin>,
    /// What started that process.
    pub starter: Option<Origin>,
    /// A call of the host that is over with it.
    pub call: bool,
}

impl DeskOwner for Inbox {
    fn desk(&self) -> Result<&Questions, Fault> {
        self.questions()
    }

    fn reach(&self) -> Reach {
        if self.is_serving() {
            return Reach::Host;
        }
        // A command that opened the state for a moment shows nobody a question, unless it says so.
        if self.is_attended() {
            return Reach::Terminal;
        }
        match self.questions() {
            Ok(_) => Reach::Store,
            Err(fault) => Reach::None(fault.message),
        }
    }

    fn asked_by(&self, run: Option<&str>) -> AskedBy {
        // The question of a direct call is over with the host that makes it, or with the command that was
        // killed; a run is continued, and its questions wait for that (agents §8).
        if self.is_serving() {
            return AskedBy { call: !self.knows_run(run), ..AskedBy::default() };
        }
        AskedBy { origin: if run.is_none() { Origin::here() } else { None }, ..AskedBy::default() }
    }

    fn rule_on(&self, effect: &Effect, trace: &Trace) -> Ruling {
        Inbox::rule_on(self, effect, trace)
    }

    fn is_ruled(&self, effect: &Effect, trace: &Trace) -> bool {
        Inbox::is_ruled(self, effect, trace)
    }
}

/// A queue on a desk.
pub struct DeskQueue<D>(Arc<D>);

impl<D: DeskOwner> DeskQueue<D> {
    /// The queue of this owner.
    pub fn new(owner: Arc<D>) -> Self {
        Self(owner)
    }

    async fn at_desk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Questions) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, QueueError> {
        let owner = Arc::clone(&self.0);
        let done = chatos_blocking::run(move || work(owner.desk()?)).await;
        match done {
            Ok(done) => done.map_err(|fault| queue_error(&fault)),
            Err(error) => {
                tracing::error!(%error, "work at the prompt desk failed");
                Err(QueueError::Unavailable(Text::fixed("the queue failed", "队列出错")))
            }
        }
    }

    /// Knows a question that another process asked, to wait for it here.
    pub async fn adopt(&self, id: &RequestId) -> Result<(), QueueError> {
        let id = id.clone();
        self.at_desk(move |desk| desk.adopt(&id)).await
    }

    /// Asks with an id of the caller's choice.
    pub async fn ask_as(&self, request: &AskRequest, id: &RequestId) -> Result<RequestId, QueueError> {
        let mut request = request.clone();
        request.id = Some(id.clone());
        self.put(request).await
    }

    async fn put(&self, request: AskRequest) -> Result<RequestId, QueueError> {
        let owner = Arc::clone(&self.0);
        let asked = self.at_desk(move |desk| {
            let by = owner.asked_by(request.trace.run_id.as_deref());
            desk.request(&question_payload(&request, by, request.id.as_ref()), &request.source, Lang::En)
        });
        asked_id(&asked.await?)
    }

    /// Keeps the text that the question shows only in part; before it is asked, here or over the API.
    pub async fn keep_text(&self, request: &AskRequest) -> Result<(), QueueError> {
        let Some(whole) = request.whole.clone() else { return Ok(()) };
        self.at_desk(move |desk| desk.keep(&whole)).await
    }

    async fn step(&self, id: &RequestId, limit: Duration) -> Result<Option<Verdict>, QueueError> {
        let owner = Arc::clone(&self.0);
        let opened = chatos_blocking::run(move || owner.desk().map(drop)).await;
        if let Ok(Err(fault)) = opened {
            return Err(queue_error(&fault));
        }
        let desk = self.0.desk().map_err(|fault| queue_error(&fault))?;
        let limit = desk.prompts().next_expiry().map_or(limit, |left| limit.min(left));
        let never = CancellationToken::new();
        let state = desk.wait(id.as_str(), limit, &never).await.map_err(|fault| queue_error(&fault))?;
        Ok(verdict(&state))
    }
}

impl<D: DeskOwner> PromptQueue for DeskQueue<D> {
    fn rule_on<'a>(&'a self, effect: &'a Effect, trace: &'a Trace) -> BoxFuture<'a, Ruling> {
        let (owner, effect, trace) = (Arc::clone(&self.0), effect.clone(), trace.clone());
        Box::pin(async move {
            let ruled = chatos_blocking::run(move || owner.rule_on(&effect, &trace)).await;
            ruled.unwrap_or_else(|error| {
                tracing::error!(%error, "the rules could not be asked; the person is");
                Ruling::Ask
            })
        })
    }

    fn is_ruled<'a>(&'a self, effect: &'a Effect, trace: &'a Trace) -> BoxFuture<'a, bool> {
        let (owner, effect, trace) = (Arc::clone(&self.0), effect.clone(), trace.clone());
        Box::pin(async move {
            chatos_blocking::run(move || owner.is_ruled(&effect, &trace)).await.unwrap_or(false)
        })
    }

    fn reach(&self) -> BoxFuture<'_, Reach> {
        let owner = Arc::clone(&self.0);
        Box::pin(async move {
            let reach = chatos_blocking::run(move || owner.reach()).await;
            reach.unwrap_or_else(|_| Reach::None(Text::fixed("the queue failed", "队列出错")))
        })
    }

    fn ask(&self, request: AskRequest) -> BoxFuture<'_, Result<RequestId, QueueError>> {
        Box::pin(async move {
            self.keep_text(&request).await?;
            self.put(request).await
        })
    }

    fn wait<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Verdict, QueueError>> {
        Box::pin(async move {
            loop {
                if let Some(verdict) = self.step(id, STEP).await? {
                    return Ok(verdict);
                }
                // Without a host this process keeps the clock of what it asked; with one, that does.
                if let Err(error) = self.at_desk(Questions::expire).await {
                    tracing::debug!(%error, "the host closes what has expired");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        })
    }

    fn verdict<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Option<Verdict>, QueueError>> {
        Box::pin(self.step(id, Duration::ZERO))
    }

    fn take<'a>(
        &'a self,
        id: &'a RequestId,
        owner: &'a Owner,
        secrets: bool,
    ) -> BoxFuture<'a, Result<Option<Object>, QueueError>> {
        Box::pin(async move {
            let (id, owner) = (id.clone(), json!(owner.as_str()));
            let taken = self.at_desk(move |desk| match desk.take(id.as_str(), &owner, secrets) {
                Err(fault) if fault.code == "nothing_private" => Ok(Value::Null),
                done => done,
            });
            Ok(taken_part(taken.await?))
        })
    }

    fn withdraw<'a>(
        &'a self,
        id: &'a RequestId,
        owner: &'a Owner,
        why: Withdraw,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async move {
            let (id, owner) = (id.clone(), json!(owner.as_str()));
            self.at_desk(move |desk| match withdraw_code(why) {
                Some(code) => desk.withdraw(id.as_str(), &owner, code).map(drop),
                None => desk.expire(),
            })
            .await
        })
    }

    fn answer<'a>(
        &'a self,
        id: &'a RequestId,
        response: &'a Value,
        shown: &'a str,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async move {
            let id = id.clone();
            let reply = PromptReply {
                response: response.clone(),
                shown: Some(shown.to_owned()),
                ..PromptReply::default()
            };
            let answered =
                self.at_desk(move |desk| desk.respond(id.as_str(), &reply, Surface::Client, Lang::En));
            answered.await.map(drop)
        })
    }

    fn use_approval<'a>(
        &'a self,
        id: &'a RequestId,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<Approval, QueueError>> {
        let (id, effect) = (id.clone(), effect.clone());
        Box::pin(self.at_desk(move |desk| desk.use_approval(id.as_str(), &effect)))
    }

    fn changed_since<'a>(&'a self, id: &'a RequestId, now: &'a Effect) -> BoxFuture<'a, Option<Difference>> {
        let (id, now) = (id.clone(), now.clone());
        Box::pin(async move {
            let known = self.at_desk(move |desk| Ok(desk.changed_since(id.as_str(), &now))).await;
            known.unwrap_or_default()
        })
    }

    fn once_more<'a>(&'a self, id: &'a RequestId, effect: &'a Effect) -> BoxFuture<'a, Option<Approval>> {
        let (id, effect) = (id.clone(), effect.clone());
        Box::pin(async move {
            let done = self.at_desk(move |desk| desk.once_more(id.as_str(), &effect)).await;
            // Where nobody can say, the person is asked.
            done.unwrap_or_default()
        })
    }
}

/// A question as the API takes it. With an id of its own it can be sent twice and is asked once.
pub fn question_payload(request: &AskRequest, by: AskedBy, id: Option<&RequestId>) -> Value {
    let mut payload = json!({
        "prompt": request.prompt,
        "owner": request.owner.as_str(),
        "trace": request.trace,
    });
    if let Some(id) = id {
        payload["requestId"] = json!(id.as_str());
    }
    if let Some(run) = &request.trace.run_id {
        payload["runId"] = json!(run);
    }
    if let Some(session) = &request.trace.session_id {
        payload["sessionId"] = json!(session);
    }
    if let Some(effect) = &request.effect {
        payload["effect"] = effect.to_payload();
    }
    if let Some(origin) = by.origin {
        payload["origin"] = process(origin);
        if let Some(starter) = by.starter {
            payload["origin"]["starter"] = process(starter);
        }
    }
    if let Some(place) = &request.group {
        payload["group"] = json!({ "id": place.name, "at": place.at, "of": place.of });
    }
    if by.call {
        payload["call"] = json!(request.trace.span_id.as_deref().unwrap_or_default());
    }
    payload
}

fn process(origin: Origin) -> Value {
    json!({ "pid": origin.pid, "pidStart": origin.pid_start })
}

/// The id in what asking gave.
pub fn asked_id(asked: &Value) -> Result<RequestId, QueueError> {
    let id = asked["requestId"].as_str().and_then(|id| RequestId::parse(id).ok());
    id.ok_or_else(|| {
        QueueError::Unavailable(Text::fixed("the queue gave no request id", "队列没有给出请求 ID"))
    })
}

/// The verdict in what waiting gave; `None` while it is pending.
pub fn verdict(state: &Value) -> Option<Verdict> {
    if state["state"] != "closed" {
        return None;
    }
    let response = state["response"].as_object().cloned().unwrap_or_default();
    let status = Status::read(response.get("status").and_then(Value::as_str).unwrap_or("error"));
    Some(Verdict {
        status,
        response,
        by: state["by"].as_str().map(str::to_owned),
        private: state["private"] == true,
    })
}

/// The private part in what taking gave.
pub fn taken_part(taken: Value) -> Option<Object> {
    taken.get("response").and_then(Value::as_object).cloned()
}

/// How a withdrawal is named; `None` when the time is over, which the clock closes by itself.
pub fn withdraw_code(why: Withdraw) -> Option<&'static str> {
    match why {
        Withdraw::Aborted => Some("aborted"),
        Withdraw::Gone => Some("asker_gone"),
        Withdraw::Expired => None,
    }
}

/// A refusal of the desk, or of the API in front of it, as askers understand it.
pub fn queue_error(fault: &Fault) -> QueueError {
    if fault.code == "already_answered" {
        return QueueError::AlreadyAnswered;
    }
    if fault.code == "asker_gone" {
        return QueueError::Unknown;
    }
    if fault.code == "shown_mismatch" {
        return QueueError::ShownMismatch;
    }
    if fault.code == "already_used" {
        return QueueError::AlreadyUsed;
    }
    match fault.class {
        ErrorCode::InvalidArgument => QueueError::Invalid(issues(fault)),
        ErrorCode::NotFound => QueueError::Unknown,
        ErrorCode::ResourceExhausted => QueueError::Full(fault.message.clone()),
        _ => QueueError::Unavailable(fault.message.clone()),
    }
}

fn issues(fault: &Fault) -> Vec<Issue> {
    let errors = fault.details.as_ref().and_then(|details| details["errors"].as_array());
    let issues: Vec<Issue> = errors
        .into_iter()
        .flatten()
        .map(|error| {
            let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
            Issue::new(text("path"), IssueCode::Format, Text::same(text("message")))
        })
        .collect();
    if issues.is_empty() {
        return vec![Issue::new("", IssueCode::Format, fault.message.clone())];
    }
    issues
}
