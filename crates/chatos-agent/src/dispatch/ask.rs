//! The question before a call that the land_config wants asked: once, for this run, or no (agents §2).

use chatos_inbox::{Question, Verdict};
use chatos_prompts::whole::{self, Whole};
use chatos_prompts::{Approval, Effect, Object, Owner, RequestId, Ruling, Unasked, effect};
use chatos_tool::{
    ConflictKind, DenyRule, ErrorCode, Fault, Lang, Needed, Phase, Reason, Resource, Text, ToolError,
    in_both, persons_note,
};
use serde_json::{Value, json};

use super::answer::millis;
use super::ports::ToolEvent;
use super::{Call, Resumed, WaitKind, canceled};

/// Most characters of the arguments in a question; the rest is loaded before it can be allowed.
const ARGUMENT_CHARS: usize = 8_000;

/// How often one call asks because what would happen changed under the answer.
const ATTEMPTS: usize = 3;

impl Call<'_> {
    /// Asks when the land_config says so and the tool does not ask itself. Gives the right to send the call once; where
    /// the person changed the arguments, the call has those from then on.
    pub(super) async fn approve(&mut self) -> Result<Approval, ToolError> {
        if !self.tool.ask {
            return Ok(Approval::unasked(Unasked::NotWanted));
        }
        if self.tool.asks_itself {
            return Ok(Approval::unasked(Unasked::AsksItself));
        }
        let run = self.order.trace.run_id.clone();
        if let Some(run) = &run {
            let known = self.ports.approved(run.clone(), self.tool.identity.clone(), self.tool.tool.clone());
            if known.await {
                return Ok(Approval::unasked(Unasked::AllowedBefore));
            }
        }
        let resumed = matches!(self.order.resume, Some(Resumed::Prompt { .. }));
        if resumed && let Some(open) = self.ports.open_ask(self.key()).await {
            // It was allowed and sent, with what a person may have made of it; what is open is its server's own question.
            if let Some(Value::Object(arguments)) = open.params.get("arguments") {
                self.order.arguments.clone_from(arguments);
            }
            return Ok(Approval::unasked(Unasked::SentBefore));
        }
        // It was past this question when it stopped.
        if matches!(self.order.resume, Some(Resumed::Asked { .. })) {
            return Ok(Approval::unasked(Unasked::SentBefore));
        }
        let mut changed = None;
        for attempt in 0..ATTEMPTS {
            let effect = self.effect().await?;
            match self.ports.rule_on(effect.clone(), self.order.trace.clone()).await {
                Ruling::Ask => {}
                Ruling::Allow { .. } => return Ok(Approval::unasked(Unasked::ByRule)),
                Ruling::Deny { name, .. } => return Err(denied_by(&name)),
            }
            // The person saw what became of it and had it run again: the same thing is not asked about twice.
            if attempt == 0
                && let Some(before) = self.order.approved().map(str::to_owned)
                && let Some(approval) = self.ports.once_more(before, effect.clone()).await
            {
                self.audit_approval("again");
                return Ok(approval);
            }
            let question = self.question(&effect, changed.take(), attempt == 0)?;
            let (request_id, verdict) = self.ask(question, WaitKind::Approval, attempt == 0).await?;
            let chosen = self.decided(&verdict)?;
            // Server, tool and plugin as they are now decide, not as they were when the question was put.
            let now = self.effect().await?;
            let asked = request_id.clone();
            match self.ports.use_approval(request_id, now.clone()).await {
                Ok(approval) => {
                    if let (Some(run), "run") = (&run, chosen.as_str()) {
                        let (identity, tool) = (self.tool.identity.clone(), self.tool.tool.clone());
                        if let Err(fault) = self.ports.keep_approval(run.clone(), identity, tool).await {
                            tracing::warn!(%fault, "an approval is not remembered; it is asked again");
                        }
                    }
                    self.take_edited(&verdict);
                    return Ok(approval);
                }
                Err(fault) if fault.code == "shown_mismatch" => {
                    let mut found = effect.difference(&now);
                    // A call that goes on after a restart: only the question knows what it was about.
                    if resumed && attempt == 0 && found == effect::Difference::default() {
                        found = self.ports.changed_since(asked, now).await.unwrap_or_default();
                    }
                    changed = Some(found);
                }
                // The journal says that this call has not gone out: the one use was its own.
                Err(fault) if fault.code == "already_used" && resumed && attempt == 0 => {
                    self.take_edited(&verdict);
                    return Ok(Approval::unasked(Unasked::UsedBefore));
                }
                Err(fault) if fault.code == "already_used" => {
                    let details =
                        json!({ "identity": self.tool.identity, "tool": self.tool.tool, "runId": run });
                    self.ports.audit("approval_reused", details);
                    return Err(conflict(ConflictKind::AlreadyUsed, fault.message));
                }
                Err(fault) => return Err(queue_failed(&fault)),
            }
        }
        Err(conflict(
            ConflictKind::ShownMismatch,
            Text::fixed(
                "what would happen changed each time the person had approved it; nothing was done",
                "每次用户同意后，将要执行的内容都又发生了变化；未执行任何操作",
            ),
        ))
    }

    /// The arguments that the person wrote instead; what was shown of a secret as stars stays what it was.
    fn take_edited(&mut self, verdict: &Verdict) {
        let Some(Value::Object(edited)) =
            verdict.response.get("edited").and_then(|edited| edited.get("arguments"))
        else {
            return;
        };
        let before = Value::Object(self.order.arguments.clone());
        let shown = self.ports.redactor().value(&before, whole::MAX_BYTES);
        let Value::Object(after) = put_back(&Value::Object(edited.clone()), &shown, &before) else { return };
        if after != self.order.arguments {
            let text = serde_json::to_string(edited).unwrap_or_default();
            self.changed = Some(match self.order.lang {
                Lang::En => format!("The person changed the call to: {text}"),
                Lang::Zh => format!("用户将该调用改为：{text}"),
            });
            self.order.arguments = after;
        }
    }

    fn audit_approval(&self, decision: &str) {
        let details = json!({
            "identity": self.tool.identity, "tool": self.tool.tool, "callId": self.order.call_id,
            "runId": self.order.trace.run_id, "decision": decision,
        });
        self.ports.audit("tool_approval", details);
    }

    /// What was chosen when the call is allowed; what the model is told otherwise.
    fn decided(&self, verdict: &Verdict) -> Result<String, ToolError> {
        let chosen = verdict.response.get("selection").and_then(Value::as_str).unwrap_or_default();
        let allowed = verdict.status == "ok" && matches!(chosen, "once" | "run");
        self.audit_approval(if allowed { chosen } else { "no" });
        match (verdict.status.as_str(), allowed) {
            ("ok", true) => Ok(chosen.to_owned()),
            // The host closes a question itself when nobody waits for it any more; that is no person's no.
            ("canceled", _) if verdict.response.contains_key("code") => Err(canceled()),
            ("ok" | "canceled", _) => {
                let note = verdict.response.get("remark").and_then(Value::as_str).and_then(persons_note);
                let mut data = json!({ "confirmed": false });
                if let Some(note) = &note {
                    data["remark"] = json!(note);
                }
                Err(ToolError::declined(note.as_deref()).data(data))
            }
            ("timeout", _) => {
                let limit = self.settings.confirm_timeout.unwrap_or_default();
                Err(ToolError::timeout(millis(limit), Phase::Prompt))
            }
            _ => Err(ToolError::unavailable(
                Needed::Host,
                Text::fixed("the question was closed without an answer", "问题未获回答即被关闭"),
            )),
        }
    }

    /// Everything that decides what this call does, as it is now.
    async fn effect(&self) -> Result<Effect, ToolError> {
        let (identity, tool) = (self.tool.identity.clone(), self.tool.tool.clone());
        let standing = self.ports.standing(identity, tool).await.map_err(|fault| {
            let mut error = ToolError::unavailable(Needed::Process, fault.message.clone());
            error.hint = fault.hint.clone();
            error
        })?;
        Ok(Effect::new("tool_approval", Object::new())
            .with("identity", json!(self.tool.identity))
            .with("tool", json!(self.tool.tool))
            .with("toolDigest", json!(standing.tool_digest))
            .with("pluginDigest", json!(standing.server_digest))
            .with("arguments", effect::arguments(&Value::Object(self.order.arguments.clone())))
            .with("root", effect::directory(&self.order.workdir)))
    }

    fn question(
        &self,
        effect: &Effect,
        changed: Option<effect::Difference>,
        first: bool,
    ) -> Result<Question, ToolError> {
        let (tool, server) = (&self.tool.tool, &self.tool.server);
        let arguments = Value::Object(self.order.arguments.clone());
        let redacted = self.ports.redactor().value(&arguments, whole::MAX_BYTES);
        let text = serde_json::to_string_pretty(&redacted).unwrap_or_default();
        if text.len() > whole::MAX_BYTES {
            let (limit, actual) = (Some(whole::MAX_BYTES as u64), Some(text.len() as u64));
            return Err(ToolError::new(
                Reason::ResourceExhausted { resource: Resource::Output, limit, actual },
                Text::fixed(
                    "too_large: the arguments are too large to be shown to a person; nothing was asked and nothing was done",
                    "too_large：参数过大，无法展示给用户；未询问，也未执行任何操作",
                ),
            ));
        }
        let whole = Whole::of(&text, ARGUMENT_CHARS);
        let shown = whole.shown;
        let said = |lang: Lang| {
            let (title, mut message, once, whole_run, no) = match lang {
                Lang::En => (
                    format!("Let the agent use {tool} of {server}?"),
                    format!("The agent wants to call `{tool}` of `{server}` with:\n\n```json\n{shown}\n```"),
                    "Once",
                    "For this run",
                    "No",
                ),
                Lang::Zh => (
                    format!("允许智能体使用 {server} 的 {tool}？"),
                    format!("智能体要调用 `{server}` 的 `{tool}`，参数：\n\n```json\n{shown}\n```"),
                    "仅此一次",
                    "本次运行",
                    "不允许",
                ),
            };
            if let Some(changed) = &changed {
                let lang = if lang == Lang::Zh { chatos_prompts::Lang::Zh } else { chatos_prompts::Lang::En };
                message = format!("{}\n\n{message}", changed.line(lang));
            }
            let mut options = vec![json!({ "value": "once", "label": once })];
            // Without a run there is nothing to remember it for.
            if self.order.trace.run_id.is_some() {
                options.push(json!({ "value": "run", "label": whole_run }));
            }
            options.push(json!({ "value": "no", "label": no }));
            json!({ "kind": "choice", "title": title, "message": message, "options": options })
        };
        let mut prompt = in_both(self.order.people, said);
        if whole.is_cut {
            prompt["diffRef"] = whole.reference();
        } else {
            prompt["arguments"] = redacted;
        }
        if let Some(limit) = self.settings.confirm_timeout {
            prompt["timeoutMs"] = json!(millis(limit));
        }
        let id = match &self.order.resume {
            Some(Resumed::Prompt { request_id }) if first => request_id.clone(),
            _ => RequestId::mint().to_string(),
        };
        let whole = whole.is_cut.then_some(text);
        Ok(Question {
            id: Some(id),
            kept: false,
            prompt,
            owner: Owner::host_run(),
            source: format!("{server}/{tool}"),
            trace: self.order.trace.clone(),
            effect: Some(effect.clone()),
            whole,
        })
    }

    /// Asks and waits; the clocks of the call stand still meanwhile. Whoever keeps a journal knows the
    /// question before it is asked (agents §8).
    async fn ask(
        &self,
        question: Question,
        kind: WaitKind,
        first: bool,
    ) -> Result<(String, Verdict), ToolError> {
        let (owner, id) = (question.owner.clone(), question.id.clone().unwrap_or_default());
        self.observer.waiting(&id, kind);
        let asking = self.ports.ask(question);
        let asked = tokio::select! {
            asked = asking => asked.map_err(|fault| queue_failed(&fault)),
            () = self.order.cancel.cancelled() => Err(canceled()),
        };
        let request_id = match asked {
            Ok(request_id) => request_id,
            // It is in the queue as it was asked then, perhaps in another language.
            Err(_) if first && self.order.goes_on() && !self.order.cancel.is_cancelled() => id,
            Err(error) => {
                self.observer.answered(&id, "error");
                return Err(error);
            }
        };
        let verdict = self.wait_for(request_id.clone(), owner.clone()).await;
        if verdict.is_err() && self.order.cancel.is_cancelled() {
            self.ports.withdraw(request_id.clone(), owner, "aborted").await;
        }
        Ok((request_id, verdict?))
    }

    /// Waits for the answer to a question that is in the queue.
    async fn wait_for(&self, request_id: String, owner: Owner) -> Result<Verdict, ToolError> {
        self.waits.begin();
        self.ports.event(ToolEvent::Waiting { request_id: &request_id, trace: &self.order.trace });
        let verdict = tokio::select! {
            verdict = self.ports.verdict(request_id.clone(), owner) => verdict.map_err(|fault| queue_failed(&fault)),
            () = self.order.cancel.cancelled() => Err(canceled()),
        };
        self.waits.end();
        let status = verdict.as_ref().map_or("canceled", |verdict| verdict.status.as_str());
        self.observer.answered(&request_id, status);
        verdict
    }
}

/// `edited` with each value that is still as it was `shown` replaced by what that stood for.
fn put_back(edited: &Value, shown: &Value, before: &Value) -> Value {
    if edited == shown {
        return before.clone();
    }
    let at = |key: &str, whole: &Value| whole.get(key).cloned().unwrap_or(Value::Null);
    match edited {
        Value::Object(map) => {
            let one = |(key, value): (&String, &Value)| {
                let known = shown.get(key).is_some();
                let value =
                    if known { put_back(value, &at(key, shown), &at(key, before)) } else { value.clone() };
                (key.clone(), value)
            };
            Value::Object(map.iter().map(one).collect())
        }
        Value::Array(list) => {
            let one = |(i, value): (usize, &Value)| match (shown.get(i), before.get(i)) {
                (Some(shown), Some(before)) => put_back(value, shown, before),
                _ => value.clone(),
            };
            Value::Array(list.iter().enumerate().map(one).collect())
        }
        other => other.clone(),
    }
}

fn denied_by(rule: &str) -> ToolError {
    ToolError::denied(
        DenyRule::ApprovalRule,
        Text::new(
            format!("the person's rule \u{201c}{rule}\u{201d} refuses this; nothing was done"),
            format!("用户的规则“{rule}”拒绝此操作，未执行任何操作"),
        ),
    )
}

fn conflict(kind: ConflictKind, message: Text) -> ToolError {
    ToolError::new(Reason::Conflict { kind, expected: None, found: None, path: None }, message)
}

fn queue_failed(fault: &Fault) -> ToolError {
    let mut error = match fault.class {
        // tools §15: nobody can be reached, which is a no.
        ErrorCode::PermissionDenied => ToolError::denied(DenyRule::NoPerson, fault.message.clone()),
        _ => ToolError::unavailable(Needed::Host, fault.message.clone()),
    };
    error.hint = fault.hint.clone();
    error
}
