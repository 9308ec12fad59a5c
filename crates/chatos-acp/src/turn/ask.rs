//! What an agent asks in a turn: the profile first, then the rules, then a person; one answer, used once.

use std::sync::Arc;

use chatos_agent::{CallObserver, WaitKind};
use chatos_events::Lifetime;
use chatos_inbox::{Inbox, Question};
use chatos_prompts::{ItemState, Owner, RequestId, Ruling};
use chatos_tool::{DenyRule, ErrorCode, Fault, Text, ToolError, Trace, persons_note};
use chatos_wire::Severity;
use serde_json::{Value, json};
use tokio::sync::{RwLock, oneshot};

use super::acts::{Act, said_no};
use super::texts::unaskable;
use super::told::is_name;
use super::{Waiting, Work};
use crate::message::{Choice, Progress, ToolCall, choices};
use crate::permission::{
    self, Asker, First, Unaskable, allows, approved_part, differs, option_for, request_id,
};

/// What a person, or a rule, said about a permission.
pub(super) struct Decided {
    rpc_id: Value,
    tool_id: String,
    /// The question; empty where nobody was asked.
    pub(super) request_id: String,
    choices: Vec<Choice>,
    /// Of the call, as it was shown.
    shown: Value,
    yes: bool,
    selection: Option<String>,
    pub(super) status: String,
    remark: Option<String>,
    /// Why it is a no that no person said.
    refused: Option<ToolError>,
    /// The answer to a form.
    pub(super) form: Value,
    sequel: Sequel,
}

/// Writes questions down. One that is being written is written to its end, also where nobody waits for it any more: what
/// is withdrawn has to be there.
#[derive(Clone)]
pub(super) struct Pen {
    inbox: Inbox,
    life: Lifetime,
    writing: Arc<RwLock<()>>,
}

impl Pen {
    pub(super) fn new(inbox: &Inbox, life: &Lifetime) -> Self {
        Self { inbox: inbox.clone(), life: life.clone(), writing: Arc::default() }
    }

    pub(super) async fn write(&self, question: Question) -> Result<String, Fault> {
        let guard = Arc::clone(&self.writing).read_owned().await;
        let inbox = self.inbox.clone();
        let (sender, written) = oneshot::channel();
        self.life.spawn(Box::pin(async move {
            let asked = inbox.ask(question).await;
            drop(guard);
            // Whoever asked may be gone.
            sender.send(asked).ok();
        }));
        written.await.unwrap_or_else(|error| {
            let text = Text::fixed("the question could not be written down", "无法记录该问题");
            Err(Fault::new(ErrorCode::Internal, text).caused_by(&error))
        })
    }

    /// Returns when nothing is being written.
    pub(super) async fn rests(&self) {
        drop(self.writing.write().await);
    }
}

/// What follows from an answer.
#[derive(Debug, Clone)]
pub(super) enum Sequel {
    /// The agent is told, and acts itself.
    Permission,
    /// We act for it.
    Act(Act),
    /// The agent gets the values.
    Form,
}

impl Decided {
    pub(super) fn new(
        rpc_id: Value,
        tool_id: String,
        call: &ToolCall,
        choices: Vec<Choice>,
        sequel: Sequel,
    ) -> Self {
        Self {
            rpc_id,
            tool_id,
            request_id: String::new(),
            choices,
            shown: approved_part(call),
            yes: false,
            selection: None,
            status: "ok".to_owned(),
            remark: None,
            refused: None,
            form: Value::Null,
            sequel,
        }
    }
}

/// How a question with this id stands.
enum Standing {
    /// Asked and open, or answered and not used, or never asked.
    Good,
    /// Its answer was used, or the host closed it.
    Over,
}

impl Work<'_> {
    pub(super) async fn permission(&mut self, rpc_id: Value, params: Value) -> Result<(), Fault> {
        let Some(seat) = &self.seat else { return Ok(()) };
        let (link, session, program) = (seat.link.clone(), seat.session.clone(), seat.program.clone());
        let told = &params["toolCall"];
        let id = told["toolCallId"].as_str().unwrap_or_default().to_owned();
        let choices = choices(&params);
        let known = is_name(&id) && !self.calls.ended.contains(&id);
        if params["sessionId"] != session.as_str() || !known || self.alarm.is_some() {
            link.refuse(rpc_id, "session/request_permission").await;
            return Ok(());
        }
        // The card of the call is there before its question is.
        if self.held.as_ref().is_some_and(|held| held.id != id) {
            self.release().await?;
        }
        if let Some(open) = self.calls.open.get_mut(&id) {
            if open.approved.as_ref().is_some_and(|approved| permission::changed(approved, told)) {
                link.refuse(rpc_id, "session/request_permission").await;
                return self.alarm(&id).await;
            }
            open.call.asked(told);
        } else {
            let mut call = self.held.take().unwrap_or_default();
            id.clone_into(&mut call.id);
            call.asked(told);
            self.announce(call).await?;
        }
        self.calls.bound(&id);
        let turn = self.turn;
        let root = turn.run.workdir.as_path();
        let Some(open) = self.calls.open.get_mut(&id) else {
            link.refuse(rpc_id, "session/request_permission").await;
            return Ok(());
        };
        if open.call.shed {
            return self.unaskable(rpc_id, &id, Unaskable::TooLarge).await;
        }
        let call = open.call.clone();
        let mut decided = Decided::new(rpc_id.clone(), id.clone(), &call, choices, Sequel::Permission);
        match turn.allowed.first(&call, root) {
            First::Refuse => {
                decided.refused = Some(ToolError::denied(
                    DenyRule::LandConfig,
                    Text::new(
                        format!("the permissions profile of {} does not allow this", turn.agent),
                        format!("{} 的授权配置不允许此操作", turn.agent),
                    ),
                ));
                return self.decided(decided).await;
            }
            First::Pass if decided.choices.iter().any(|choice| choice.kind == "allow_once") => {
                decided.yes = true;
                return self.decided(decided).await;
            }
            First::Ours if decided.choices.iter().any(|choice| choice.kind == "allow_once") => {
                if let Some(promise) = self.promised(&call).await? {
                    if let Some(open) = self.calls.open.get_mut(&id) {
                        open.promise = Some(promise);
                    }
                    decided.yes = true;
                    return self.decided(decided).await;
                }
            }
            First::Pass | First::Ours | First::Ask => {}
        }
        let Some(open) = self.calls.open.get(&id) else { return Ok(()) };
        let asker = Asker {
            agent_id: &turn.agent_id,
            agent: &turn.agent,
            program: &program,
            session: self.asked_as.as_deref().unwrap_or(&session),
            root,
            through_us: false,
            variables: "",
        };
        let question = match permission::question(&call, &decided.choices, asker, turn.run.people) {
            Ok(question) => question,
            Err(why) => return self.unaskable(rpc_id, &id, why).await,
        };
        let trace = Trace { span_id: Some(open.step.span_id.clone()), ..turn.run.trace.clone() };
        let observer = open.observer.clone();
        self.put(decided, question, program, trace, observer).await
    }

    /// Nobody can be asked about this: it is a no.
    async fn unaskable(&mut self, rpc_id: Value, id: &str, why: Unaskable) -> Result<(), Fault> {
        let said = unaskable(&self.turn.agent, why);
        self.turn.stage.notice(Severity::Warning, "permission_unreadable", &said);
        if let Some(open) = self.calls.open.get_mut(id) {
            open.refused = Some(ToolError::denied(DenyRule::NoPerson, said));
        }
        if let Some(seat) = &self.seat {
            seat.link.refuse(rpc_id, "session/request_permission").await;
        }
        Ok(())
    }

    /// Asks a person about a call.
    pub(super) async fn put(
        &mut self,
        mut decided: Decided,
        question: permission::Question,
        program: String,
        trace: Trace,
        observer: Arc<dyn CallObserver>,
    ) -> Result<(), Fault> {
        let request = self.free_id(&question.digest).await?;
        self.left.remove(&request);
        observer.waiting(&request, WaitKind::Approval);
        let method = match &decided.sequel {
            Sequel::Permission => "session/request_permission",
            Sequel::Act(Act::Write { .. }) => "fs/write_text_file",
            Sequel::Act(Act::Run { .. }) => "terminal/create",
            Sequel::Form => "elicitation/create",
        };
        self.waits(&request, decided.rpc_id.clone(), method, observer);
        decided.request_id = request;
        let pen = self.pen.clone();
        self.asking.spawn(ask(pen, decided, question, program, trace));
        Ok(())
    }

    /// The agent waits for the answer to this question.
    pub(super) fn waits(
        &mut self,
        request: &str,
        rpc_id: Value,
        method: &'static str,
        observer: Arc<dyn CallObserver>,
    ) {
        self.waiting.insert(request.to_owned(), Waiting { rpc_id, method, observer });
    }

    /// The id of the question about this call: the one that is open or answered and not used, else a new one.
    pub(super) async fn free_id(&self, digest: &str) -> Result<String, Fault> {
        let mut number = 0;
        loop {
            let id = request_id(&self.turn.run.id, digest, number);
            let busy = self.waiting.contains_key(&id) || self.delivered.contains(&id);
            if !busy && matches!(standing(&self.turn.inbox, &id).await?, Standing::Good) {
                return Ok(id);
            }
            number += 1;
        }
    }

    /// Brings an answer to the agent. What lets it go on is written down before.
    pub(super) async fn decided(&mut self, decided: Decided) -> Result<(), Fault> {
        let turn = self.turn;
        if !decided.request_id.is_empty() {
            let Some(waiting) = self.waiting.remove(&decided.request_id) else { return Ok(()) };
            waiting.observer.answered(&decided.request_id, &decided.status);
            self.delivered.insert(decided.request_id.clone());
        }
        let Some(link) = self.seat.as_ref().map(|seat| seat.link.clone()) else { return Ok(()) };
        if let Sequel::Form = decided.sequel {
            if let Some(open) = self.calls.open.get_mut(&decided.tool_id) {
                open.call.progress = Progress::Done;
                open.call.text = decided.form["action"].as_str().unwrap_or_default().to_owned();
            }
            self.calls.follow(&self.scene(), &decided.tool_id).await?;
            link.reply(decided.rpc_id, decided.form).await.ok();
            return Ok(());
        }
        let option = option_for(&decided.choices, decided.yes, decided.selection.as_deref());
        let allowed = decided.yes && option.as_deref().is_some_and(|option| allows(&decided.choices, option));
        let details = json!({
            "identity": format!("acp:{}", turn.agent_id), "runId": turn.run.id,
            "call": crate::calls::call_id(&turn.run.id, &decided.tool_id),
            "decision": if allowed { "once" } else { "no" }, "asked": !decided.request_id.is_empty(),
        });
        turn.audit.audit("tool_approval", details);
        self.declined |= !allowed && !decided.request_id.is_empty() && decided.refused.is_none();
        let scene = self.scene();
        if let Sequel::Act(act) = decided.sequel {
            let note = decided.remark.as_deref().and_then(persons_note);
            if let Some(open) = self.calls.open.get_mut(&decided.tool_id).filter(|_| allowed) {
                open.approved = Some(decided.shown);
                open.mark_sent(&scene).await?;
                self.remarks.extend(note);
                self.begin(decided.rpc_id, act, Some(decided.tool_id), None).await;
                return Ok(());
            }
            let error = decided.refused.unwrap_or_else(|| said_no(note.as_deref()));
            self.remarks.extend(note);
            return self.refuse_act(decided.rpc_id, &decided.tool_id, &act, error).await;
        }
        let mut covers = None;
        let changed = match self.calls.open.get_mut(&decided.tool_id) {
            Some(open) if allowed => {
                // It was told differently while the person was looking.
                let changed = open.call.shed || differs(&decided.shown, &open.call);
                if !changed {
                    open.approved = Some(decided.shown);
                    open.mark_sent(&scene).await?;
                    covers = Some(open.call.clone());
                }
                changed
            }
            Some(open) => {
                let note = decided.remark.as_deref().and_then(persons_note);
                open.refused = decided.refused.or_else(|| Some(ToolError::declined(note.as_deref())));
                false
            }
            None => false,
        };
        if let Some(note) = decided.remark.as_deref().and_then(persons_note) {
            self.remarks.push(note);
        }
        if let Some(call) = covers {
            self.covers(&call);
        }
        let tool = decided.tool_id;
        if changed {
            link.refuse(decided.rpc_id, "session/request_permission").await;
            return self.alarm(&tool).await;
        }
        let outcome = match option {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        if link.reply(decided.rpc_id, json!({ "outcome": outcome })).await.is_err() {
            tracing::debug!("an agent was gone before it had its answer");
        }
        Ok(())
    }
}

/// How a question stands in the queue.
async fn standing(inbox: &Inbox, id: &str) -> Result<Standing, Fault> {
    let Ok(request) = RequestId::parse(id) else { return Ok(Standing::Over) };
    let prompts = inbox.opened().await?.prompts().clone();
    prompts.ready().await;
    let looked = chatos_blocking::run(move || {
        let Some(item) = prompts.get(&request) else { return Standing::Good };
        if item.state == ItemState::Pending {
            return Standing::Good;
        }
        let by_host = item
            .answer
            .as_ref()
            .is_none_or(|answer| answer.by.as_deref().is_some_and(|by| by.starts_with("host:")));
        // Where nobody can say, it was used.
        if by_host || prompts.is_used(&request).unwrap_or(true) { Standing::Over } else { Standing::Good }
    });
    Ok(looked.await.unwrap_or(Standing::Over))
}

/// Whether the agent may have heard a yes to this question. What is open, was refused, or was approved and never used has
/// not reached it; where nobody can say, it may have.
pub(super) async fn was_allowed(inbox: &Inbox, id: &str) -> Result<bool, Fault> {
    let Ok(request) = RequestId::parse(id) else { return Ok(true) };
    let prompts = inbox.opened().await?.prompts().clone();
    prompts.ready().await;
    let looked = chatos_blocking::run(move || match prompts.get(&request) {
        Some(item) if item.state == ItemState::Pending => false,
        Some(_) => prompts.is_used(&request).unwrap_or(true),
        // A rule may have allowed it without a question.
        None => true,
    });
    Ok(looked.await.unwrap_or(true))
}

/// The rules, then the person. Gives the answer, its approval used.
async fn ask(
    pen: Pen,
    mut decided: Decided,
    question: permission::Question,
    program: String,
    trace: Trace,
) -> Result<Decided, Fault> {
    let inbox = &pen.inbox;
    let (rules, effect, about) = (inbox.clone(), question.effect.clone(), trace.clone());
    let ruled = chatos_blocking::run(move || rules.rule_on(&effect, &about)).await.unwrap_or(Ruling::Ask);
    match ruled {
        Ruling::Ask => {}
        Ruling::Allow { .. } => {
            decided.yes = true;
            return Ok(decided);
        }
        Ruling::Deny { name, .. } => {
            decided.refused = Some(ToolError::denied(
                DenyRule::ApprovalRule,
                Text::new(
                    format!("the person's rule “{name}” refuses this"),
                    format!("用户的规则“{name}”拒绝此操作"),
                ),
            ));
            return Ok(decided);
        }
    }
    let picks = question.prompt["kind"] == "choice";
    let asked = pen
        .write(Question {
            id: Some(decided.request_id.clone()),
            kept: true,
            prompt: question.prompt,
            owner: Owner::host_run(),
            source: program,
            trace,
            effect: Some(question.effect.clone()),
            whole: question.whole,
        })
        .await;
    match asked {
        // It is in the queue as it was asked before, perhaps in another language.
        Err(fault) if fault.code == "id_conflict" => {}
        Err(fault) => {
            decided.status = "error".to_owned();
            decided.refused = Some(ToolError::denied(DenyRule::NoPerson, fault.message));
            return Ok(decided);
        }
        Ok(_) => {}
    }
    let verdict = inbox.verdict(&decided.request_id, &Owner::host_run()).await?;
    let text = |key: &str| verdict.response.get(key).and_then(Value::as_str).map(str::to_owned);
    decided.status.clone_from(&verdict.status);
    decided.remark = text("remark");
    decided.yes = verdict.status == "ok";
    if picks {
        decided.selection = text("selection");
        decided.yes =
            decided.yes && decided.selection.as_deref().is_some_and(|id| allows(&decided.choices, id));
    }
    if decided.yes
        && let Err(fault) = inbox.use_approval(decided.request_id.clone(), question.effect).await
    {
        decided.yes = false;
        decided.selection = None;
        decided.refused = Some(ToolError::denied(DenyRule::NoPerson, fault.message));
    }
    Ok(decided)
}
