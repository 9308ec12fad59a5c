//! Asking a person: the one module that does it, for every tool and over every road (tools §15).
//!
//! A question goes into the queue (through the running host, or the store of this state directory),
//! to the connected client, or to both; the first answer wins. Only answers that the queue recorded,
//! or that came on the caller's own connection, count. Nobody reachable means no: never a guess.

mod form;
mod no_queue;
mod road;

use std::path::Path;

use chatos_prompts::effect::Difference;
use chatos_prompts::kind::{self, Prompt};
use chatos_prompts::response::{self, Status};
use chatos_prompts::{
    Answerer, Approval, Effect, Object, Owner, Problem, RequestId, Ruling, Surface, Unasked, shown,
};
use chatos_together::Place;
use chatos_tool::{
    CanceledBy, DenyRule, Issue, IssueCode, Needed, Phase, Reason, Text, ToolError, Trace, persons_note,
};
use serde_json::{Value, json};

use crate::clock::Stop;
use crate::context::CallCx;
use crate::tool::BoxFuture;

pub use form::Form;
pub use no_queue::NoQueue;
pub use road::ask;

/// The server that asks people for values; secrets entered there are taken under its name.
pub const UI_PROMPTER: &str = "ui_prompter";

/// A question that can be asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// `<server>/<tool>`.
    pub source: String,
    /// The checked prompt.
    pub prompt: Prompt,
    /// What the answer decides; nothing for a plain question.
    pub effect: Option<Effect>,
    /// The text of which the prompt shows a part.
    pub whole: Option<String>,
    /// Where it stands among the questions of the same answer.
    pub group: Option<Place>,
    /// Another question of the same call came before: what an earlier call brought is not its answer.
    pub again: bool,
    /// The call has acted already: it must not be made again for the answer, so it is asked in the queue alone, and who
    /// keeps a journal of the call is not told that it only waits.
    pub after: bool,
}

impl Question {
    /// Checks a prompt as the queue would (ui-prompts §5), before anything is written.
    pub fn check(server: &str, tool: &str, prompt: &Value) -> Result<Self, Vec<Problem>> {
        let source = format!("{server}/{tool}");
        let checked = kind::check_strict(prompt, &RequestId::mint(), &source);
        match checked.prompt {
            Some(prompt) if checked.problems.is_empty() => Ok(Self {
                source,
                prompt,
                effect: None,
                whole: None,
                group: None,
                again: false,
                after: false,
            }),
            _ => Err(checked.problems),
        }
    }

    /// The answer decides what happens, so it has to be about exactly what was shown.
    fn decides(&self) -> bool {
        self.effect.is_some() || self.prompt.kind.decides_effect()
    }

    /// The digest of what the person is shown, with everything that decides the effect.
    fn shown(&self) -> String {
        shown::digest(&self.prompt.normal, self.effect.as_ref().map(|effect| &effect.material))
    }
}

/// A problem of a prompt as a problem of a tool's argument; `place` turns the pointer around.
pub fn issue(problem: &Problem, place: impl Fn(&str) -> String) -> Issue {
    use chatos_prompts::Lang::{En, Zh};
    let code = problem.code.as_str();
    let kind = if code.ends_with("_duplicate") {
        IssueCode::Exclusive
    } else if code.ends_with("_required") {
        IssueCode::Missing
    } else if code.ends_with("_count") || code == "too_large" {
        IssueCode::Length
    } else if code.ends_with("_range") || code == "min_gt_max" {
        IssueCode::Range
    } else if code.starts_with("type_") || code.ends_with("_type") || code.ends_with("_object") {
        IssueCode::Type
    } else if code.ends_with("_unknown") {
        IssueCode::Enum
    } else {
        IssueCode::Format
    };
    Issue::new(place(&problem.path), kind, Text::new(problem.message(En), problem.message(Zh)))
        .hint(Text::new(problem.hint(En), problem.hint(Zh)))
}

/// What is put into the queue.
#[derive(Debug, Clone)]
pub struct AskRequest {
    /// `host:<server>`.
    pub owner: Owner,
    /// `<server>/<tool>`.
    pub source: String,
    /// The prompt in normal form.
    pub prompt: Object,
    /// Run, session and spans of the call.
    pub trace: Trace,
    /// The question was asked before under this id: the same question again is that one.
    pub id: Option<RequestId>,
    /// What the answer decides.
    pub effect: Option<Effect>,
    /// The text of which the prompt shows a part; kept before the question is written.
    pub whole: Option<String>,
    /// Where it stands among the questions of the same answer.
    pub group: Option<Place>,
}

/// Who would see a question in the queue right now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A host runs: its hub, its page, its notifications.
    Host,
    /// No host, but the command that calls shows the question in its own terminal.
    Terminal,
    /// Nobody looks, but the store is there: `chatos prompts answer` can answer.
    Store,
    /// The store cannot be used either.
    None(Text),
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// As every reader understands it.
    pub status: Status,
    /// The answer, secrets masked.
    pub response: Object,
    /// Who gave it.
    pub by: Option<String>,
    /// Values wait in the private store.
    pub private: bool,
}

/// Why the queue did not do something.
#[derive(Debug, Clone, thiserror::Error)]
pub enum QueueError {
    /// The question is refused.
    #[error("the question is refused")]
    Invalid(Vec<Issue>),
    /// Somebody was first.
    #[error("the question is answered already")]
    AlreadyAnswered,
    /// The question is another than the one that was shown.
    #[error("what was shown is not what is asked")]
    ShownMismatch,
    /// The approval allowed one thing once, and that was done.
    #[error("the approval was used already")]
    AlreadyUsed,
    /// No such question.
    #[error("the question is not known")]
    Unknown,
    /// The disk or another limit.
    #[error("{}", .0.en)]
    Full(Text),
    /// The host or the store is not there.
    #[error("{}", .0.en)]
    Unavailable(Text),
}

/// Why a question is withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdraw {
    /// The call is over.
    Aborted,
    /// The asker is: its client went away, or its process ends.
    Gone,
    /// Its time is.
    Expired,
}

/// The queue as askers use it. Implemented by the host on its own queue, and by the command line on
/// the running host's API or on the store.
pub trait PromptQueue: Send + Sync {
    /// Who would see a question.
    fn reach(&self) -> BoxFuture<'_, Reach>;
    /// Asks; returns when the question is durable.
    fn ask(&self, request: AskRequest) -> BoxFuture<'_, Result<RequestId, QueueError>>;
    /// Waits until the question has its verdict. Dropping the future ends the wait, nothing else.
    fn wait<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Verdict, QueueError>>;
    /// The verdict if there is one already.
    fn verdict<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Option<Verdict>, QueueError>>;
    /// The private part of the answer, once. Without `secrets` the values of secret fields stay sealed
    /// and come masked.
    fn take<'a>(
        &'a self,
        id: &'a RequestId,
        owner: &'a Owner,
        secrets: bool,
    ) -> BoxFuture<'a, Result<Option<Object>, QueueError>>;
    /// Withdraws the question. Not an error when it has its answer already.
    fn withdraw<'a>(
        &'a self,
        id: &'a RequestId,
        owner: &'a Owner,
        why: Withdraw,
    ) -> BoxFuture<'a, Result<(), QueueError>>;
    /// Records an answer that a person gave in the connected client; `shown` is the digest of what the
    /// person saw there.
    fn answer<'a>(
        &'a self,
        id: &'a RequestId,
        response: &'a Value,
        shown: &'a str,
    ) -> BoxFuture<'a, Result<(), QueueError>>;
    /// Uses the approval: once, for exactly this effect. `ShownMismatch`: it is another one by now.
    fn use_approval<'a>(
        &'a self,
        id: &'a RequestId,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<Approval, QueueError>>;
    /// The right to do once more what was approved in this question, where it is exactly that and the person said
    /// that it be run again.
    fn once_more<'a>(&'a self, _id: &'a RequestId, _effect: &'a Effect) -> BoxFuture<'a, Option<Approval>> {
        Box::pin(std::future::ready(None))
    }
    /// What would happen now otherwise than when this question was asked, by a host that is gone meanwhile. Nothing where it
    /// is the same, or nobody knows.
    fn changed_since<'a>(
        &'a self,
        _id: &'a RequestId,
        _now: &'a Effect,
    ) -> BoxFuture<'a, Option<Difference>> {
        Box::pin(std::future::ready(None))
    }
    /// What the person's rules say about this effect. Where there are none, the person is asked.
    fn rule_on<'a>(&'a self, _effect: &'a Effect, _trace: &'a Trace) -> BoxFuture<'a, Ruling> {
        Box::pin(std::future::ready(Ruling::Ask))
    }
    /// Whether a rule of the person answers this effect, so that nobody would be asked. Counts as no use of it.
    fn is_ruled<'a>(&'a self, _effect: &'a Effect, _trace: &'a Trace) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }
    /// Whether a person said that the connected client, by the name it gives itself, may decide about its
    /// own calls under this root (inbox §1.5). Nobody said so where nothing is known of clients.
    fn may_decide<'a>(&'a self, _client: &'a str, _root: Option<&'a Path>) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }
}

/// How the connected client asks a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// The server sends a request of its own and waits.
    Legacy,
    /// The call ends with `input_required` and comes again with the answer.
    Modern,
}

/// The connected client, when it can ask a person.
pub trait Elicitor: Send + Sync {
    /// What it calls itself.
    fn name(&self) -> &str;
    /// How.
    fn era(&self) -> Era;
    /// Whether it can draw this form.
    fn can_ask(&self, form: &Form) -> bool;
    /// Asks and waits; legacy only.
    fn elicit(&self, form: Form) -> BoxFuture<'_, Elicited>;
}

/// What came of asking the client.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited {
    /// The person filled in the form.
    Accept(Object),
    /// The person said no.
    Decline,
    /// The person closed the form without an answer, or the client did.
    Dismissed,
}

/// A modern call that has to come again with an answer.
#[derive(Debug, Clone)]
pub struct InputRequired {
    /// What the client shows.
    pub form: Form,
    /// The question in the queue, if it is there too.
    pub request_id: Option<RequestId>,
    /// The digest of what the form shows. The call computes it anew when it comes again.
    pub shown: String,
}

/// What a modern call brings when it comes again.
#[derive(Debug, Clone)]
pub struct Resume {
    /// The question in the queue.
    pub request_id: Option<RequestId>,
    /// The client's answer; `None` when it came without one.
    pub answer: Option<Elicited>,
    /// The digest of what the form showed.
    pub shown: Option<String>,
}

/// A person's yes.
#[derive(Debug, Clone)]
pub struct Agreed {
    /// The question.
    pub request_id: RequestId,
    /// The answer; values of secret fields are masked unless the settings give them to the model.
    pub response: Object,
    /// Values of secret fields that were given to this process.
    pub secrets: Object,
    /// The queue knows the question and its answer.
    pub recorded: bool,
}

impl Agreed {
    /// The command that the person wrote instead of the one that was asked about.
    pub fn edited(&self) -> Option<&str> {
        self.response.get("edited")?.get("command")?.as_str()
    }
}

/// Uses a person's yes for what would happen `now`, when that is what was `asked`. `None`: it is another thing
/// by now, and the approval stays unused.
pub async fn use_approval(
    cx: &CallCx,
    agreed: &Agreed,
    asked: &Effect,
    now: &Effect,
) -> Result<Option<Approval>, ToolError> {
    if !agreed.recorded {
        // Asked and answered on the call's own connection: nobody else can use it.
        return Ok((asked == now).then(|| Approval::unasked(Unasked::OwnConnection)));
    }
    // Not dropped half-way: an approval that is marked as used is acted on or lost, never used again.
    match cx.queue.use_approval(&agreed.request_id, now).await {
        Ok(approval) => Ok(Some(approval)),
        Err(QueueError::ShownMismatch) => Ok(None),
        Err(error) => Err(refused(error)),
    }
}

/// What a person wrote beside the answer.
const REMARK: &str = "remark";

/// The key of the one form a call asks for.
pub(crate) const FORM_KEY: &str = "answer";

/// `denied`/no_person: the connected client could ask, and may not decide about its own calls.
fn not_allowed(client: &str) -> ToolError {
    let message = Text::fixed(
        "a person has to be asked and none can be reached: no ChatOS host runs, and this client may not approve its own calls",
        "需要询问用户，但无法联系到任何人：没有运行中的 ChatOS 主机，且该客户端不得自行同意自己的调用",
    );
    ToolError::denied(DenyRule::NoPerson, message).hint(Text::new(
        format!(
            "start `chatos serve` and answer there, or let this client approve its own actions with `chatos clients allow {client}`"
        ),
        format!("请启动 `chatos serve` 并在其中回答，或用 `chatos clients allow {client}` 允许该客户端自行同意自己的操作"),
    ))
}

/// `denied`/no_person (tools §15): nobody can be reached, so nothing happens.
fn no_person(reason: Option<&Text>) -> ToolError {
    let mut message = Text::fixed(
        "a person has to be asked and none can be reached: no ChatOS host runs, and there is no terminal and no client that can ask",
        "需要询问用户，但无法联系到任何人：没有运行中的 ChatOS 主机，也没有可以询问的终端或客户端",
    );
    if let Some(reason) = reason {
        message =
            Text::new(format!("{} ({})", message.en, reason.en), format!("{}（{}）", message.zh, reason.zh));
    }
    ToolError::denied(DenyRule::NoPerson, message).hint(Text::fixed(
        "start `chatos serve`, or call it in a terminal with `chatos tools call`, or set uiPromptBackend to `file` to wait in the queue, where `chatos prompts answer` can answer",
        "请启动 `chatos serve`，或在终端中使用 `chatos tools call`，或将 uiPromptBackend 设为 `file`，在队列中等待 `chatos prompts answer` 的回答",
    ))
}

/// What a person agreed to is not what would happen now (tools §15): nothing happens.
pub fn changed_meanwhile() -> ToolError {
    let kind = chatos_tool::ConflictKind::ChangedOnDisk;
    ToolError::new(
        Reason::Conflict { kind, expected: None, found: None, path: None },
        Text::fixed(
            "what the person was shown is not what would happen now; nothing was changed",
            "用户所看到的内容与当前将要执行的不一致；未做任何更改",
        ),
    )
    .hint(Text::fixed("call again to show the new state", "请重新调用以展示最新状态"))
}

fn refused(error: QueueError) -> ToolError {
    match error {
        QueueError::ShownMismatch => changed_meanwhile(),
        QueueError::Invalid(issues) => ToolError::invalid(issues),
        QueueError::Full(message) => ToolError::new(
            Reason::ResourceExhausted { resource: chatos_tool::Resource::Disk, limit: None, actual: None },
            message,
        ),
        QueueError::Unavailable(message) => ToolError::unavailable(Needed::Host, message),
        QueueError::Unknown => ToolError::unavailable(
            Needed::Host,
            Text::fixed("the question is no longer in the queue", "该提问已不在队列中"),
        ),
        QueueError::AlreadyUsed => ToolError::new(
            Reason::Conflict {
                kind: chatos_tool::ConflictKind::AlreadyUsed,
                expected: None,
                found: None,
                path: None,
            },
            Text::fixed(
                "the approval was used already; nothing was done a second time",
                "这次同意已被使用；未再次执行任何操作",
            ),
        ),
        QueueError::AlreadyAnswered => ToolError::new(
            Reason::Conflict {
                kind: chatos_tool::ConflictKind::AlreadyAnswered,
                expected: None,
                found: None,
                path: None,
            },
            Text::fixed("the question was answered already", "该提问已有回答"),
        ),
    }
}

/// Checks an answer that came from the client against the question, by the queue's own rules.
fn check_answer(prompt: &Prompt, response: &Value) -> Result<Object, Vec<Problem>> {
    response::check(Some(prompt), response, &Answerer::Person(Surface::Client), None)
        .map(|answer| answer.full)
}

/// What a verdict means for the call (tools §15): only `ok` goes on.
fn judge(verdict: &Verdict, id: &RequestId, timeout_ms: u64) -> Result<(), ToolError> {
    let mut data = json!({ "confirmed": false, "request_id": id.as_str() });
    let remark = verdict.response.get(REMARK).and_then(Value::as_str).and_then(persons_note);
    if let Some(remark) = &remark {
        data[REMARK] = json!(remark);
    }
    match verdict.status {
        Status::Ok => Ok(()),
        Status::Canceled => {
            // The host closes a question itself when its run or asker ended; no person said no then.
            let by_host = verdict.by.as_deref().is_some_and(|by| by.starts_with("host:"));
            let error = if by_host {
                ToolError::canceled(CanceledBy::Caller)
            } else {
                ToolError::declined(remark.as_deref())
            };
            Err(error.data(data))
        }
        Status::Timeout => Err(ToolError::timeout(timeout_ms, Phase::Prompt).data(data)),
        Status::Error => Err(ToolError::unavailable(
            Needed::Host,
            Text::fixed("the question ended without a usable answer", "提问结束，但没有可用的回答"),
        )
        .data(data)),
    }
}

fn stopped(cx: &CallCx, why: Stop, id: Option<&RequestId>) -> ToolError {
    let error = match why {
        Stop::Timeout { limit_ms } => ToolError::timeout(limit_ms, Phase::Prompt),
        Stop::Caller | Stop::Shutdown => cx.stop_error(),
    };
    match id {
        Some(id) => error.data(json!({ "confirmed": false, "request_id": id.as_str() })),
        None => error,
    }
}
