//! The question before a call that the land_config wants asked: once, for this run, or no (agents §2).

use chatos_prompts::{Owner, RequestId};
use chatos_tool::{DenyRule, ErrorCode, Fault, Lang, Needed, Phase, Text, ToolError, persons_note};
use serde_json::{Value, json};

use super::answer::millis;
use super::ports::{Question, ToolEvent, Verdict};
use super::{Call, Resumed, WaitKind, canceled};

/// Most characters of the arguments in a question; the whole call is in the tool log.
const ARGUMENT_CHARS: usize = 8_000;

impl Call<'_> {
    /// Asks when the land_config says so and the tool does not ask itself.
    pub(super) async fn approve(&self) -> Result<(), ToolError> {
        if !self.tool.ask || self.tool.asks_itself {
            return Ok(());
        }
        let run = self.order.trace.run_id.as_deref();
        if let Some(run) = run {
            let known =
                self.ports.approved(run.to_owned(), self.tool.identity.clone(), self.tool.tool.clone());
            if known.await {
                return Ok(());
            }
        }
        let resumed = matches!(self.order.resume, Some(Resumed::Prompt { .. }));
        if resumed && self.ports.open_ask(self.key()).await.is_some() {
            // It was allowed and sent; what is open is its server's own question.
            return Ok(());
        }
        // It was past this question when it stopped.
        if matches!(self.order.resume, Some(Resumed::Asked { .. })) {
            return Ok(());
        }
        let verdict = self.ask(self.question(), WaitKind::Approval).await?;
        let chosen = verdict.response.get("selection").and_then(Value::as_str).unwrap_or_default();
        let allowed = verdict.status == "ok" && matches!(chosen, "once" | "run");
        let details = json!({
            "identity": self.tool.identity, "tool": self.tool.tool, "callId": self.order.call_id,
            "runId": run, "decision": if allowed { chosen } else { "no" },
        });
        self.ports.audit("tool_approval", details);
        match (verdict.status.as_str(), allowed) {
            ("ok", true) => {
                if let (Some(run), "run") = (run, chosen) {
                    let (identity, tool) = (self.tool.identity.clone(), self.tool.tool.clone());
                    if let Err(fault) = self.ports.keep_approval(run.to_owned(), identity, tool).await {
                        tracing::warn!(%fault, "an approval is not remembered; it is asked again");
                    }
                }
                Ok(())
            }
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

    fn question(&self) -> Question {
        let lang = self.order.lang;
        let (tool, server) = (&self.tool.tool, &self.tool.server);
        let arguments = Value::Object(self.order.arguments.clone());
        let redacted = self.ports.redactor().value(&arguments, ARGUMENT_CHARS);
        let shown = serde_json::to_string_pretty(&redacted).unwrap_or_default();
        let (title, message, once, whole_run, no) = match lang {
            Lang::En => (
                format!("Allow {tool} of {server}?"),
                format!("The agent wants to call `{tool}` of `{server}` with:\n\n```json\n{shown}\n```"),
                "Once",
                "For this run",
                "No",
            ),
            Lang::Zh => (
                format!("允许 {server} 的 {tool}？"),
                format!("智能体要调用 `{server}` 的 `{tool}`，参数：\n\n```json\n{shown}\n```"),
                "仅此一次",
                "本次运行",
                "不允许",
            ),
        };
        let mut options = vec![json!({ "value": "once", "label": once })];
        // Without a run there is nothing to remember it for.
        if self.order.trace.run_id.is_some() {
            options.push(json!({ "value": "run", "label": whole_run }));
        }
        options.push(json!({ "value": "no", "label": no }));
        let mut prompt = json!({
            "kind": "choice", "title": title, "message": message, "options": options,
        });
        if let Some(limit) = self.settings.confirm_timeout {
            prompt["timeoutMs"] = json!(millis(limit));
        }
        let id = match &self.order.resume {
            Some(Resumed::Prompt { request_id }) => request_id.clone(),
            _ => RequestId::mint().to_string(),
        };
        Question {
            id: Some(id),
            prompt,
            owner: Owner::host_run(),
            source: format!("{server}/{tool}"),
            trace: self.order.trace.clone(),
            effect: Some((
                "tool_approval",
                json!({ "identity": self.tool.identity, "tool": tool, "arguments": self.order.arguments }),
            )),
        }
    }

    /// Asks and waits; the clocks of the call stand still meanwhile. Whoever keeps a journal knows the
    /// question before it is asked (agents §8).
    async fn ask(&self, question: Question, kind: WaitKind) -> Result<Verdict, ToolError> {
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
            Err(_) if self.order.resume.is_some() && !self.order.cancel.is_cancelled() => id,
            Err(error) => {
                self.observer.answered(&id, "error");
                return Err(error);
            }
        };
        let verdict = self.wait_for(request_id.clone(), owner.clone()).await;
        if verdict.is_err() && self.order.cancel.is_cancelled() {
            self.ports.withdraw(request_id, owner, "aborted").await;
        }
        verdict
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

fn queue_failed(fault: &Fault) -> ToolError {
    let mut error = match fault.class {
        // tools §15: nobody can be reached, which is a no.
        ErrorCode::PermissionDenied => ToolError::denied(DenyRule::NoPerson, fault.message.clone()),
        _ => ToolError::unavailable(Needed::Host, fault.message.clone()),
    };
    error.hint = fault.hint.clone();
    error
}
