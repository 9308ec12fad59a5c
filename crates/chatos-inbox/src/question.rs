//! Asking from inside the host: a question into the queue, its verdict out of it.

use std::time::Duration;

use chatos_prompts::effect::Difference;
use chatos_prompts::{Approval, Ask, Effect, Origin, Owner};
use chatos_tool::{ErrorCode, Fault, Text, Trace};
use serde_json::{Map, Value, json};

use crate::inbox::Inbox;

/// The longest single wait; in between, a stopping host is noticed.
const STEP: Duration = Duration::from_secs(25);

/// A question for the queue.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its id, where somebody wrote it down before; the same question again is that one.
    pub id: Option<String>,
    /// Somebody wrote down that it is asked and takes its answer after a restart.
    pub kept: bool,
    /// As ui-prompts §5 has it.
    pub prompt: Value,
    pub owner: Owner,
    /// What a card shows as the place the question comes from.
    pub source: String,
    pub trace: Trace,
    /// What the answer decides, and everything beside the prompt that decides it; such an answer has to
    /// name what was shown (ui-prompts §6).
    pub effect: Option<Effect>,
    /// The text of which the prompt shows a part; kept before the question is written.
    pub whole: Option<String>,
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// `ok`, `canceled`, `timeout` or `error`.
    pub status: String,
    /// The whole response, with values that the log does not show.
    pub response: Map<String, Value>,
}

impl Inbox {
    /// Puts a question into the queue; gives its id.
    pub async fn ask(&self, question: Question) -> Result<String, Fault> {
        // tools §15: a question that nobody would see is not asked.
        let seen = self.is_serving() || self.is_attended() || self.in_file();
        if !seen {
            return Err(nobody());
        }
        // A run is continued and its questions wait for that; the question of a direct call is over
        // with the command that asked.
        let own = !self.is_serving() && question.trace.run_id.is_none();
        let inbox = self.clone();
        self.blocking(move |questions| {
            let kept = inbox.is_kept(&question);
            let mut ask = Ask::new(question.owner, question.source, question.prompt);
            ask.request_id = json!(question.id);
            ask.run_id = json!(question.trace.run_id);
            ask.session_id.clone_from(&question.trace.session_id);
            ask.trace = Some(json!(question.trace));
            ask.origin = if own { Origin::here() } else { None };
            ask.call = (!kept).then(|| question.trace.span_id.clone().unwrap_or_default());
            ask.effect = question.effect;
            if let Some(whole) = &question.whole {
                questions.keep(whole)?;
            }
            questions.ask(&ask)
        })
        .await
    }

    /// Whether somebody takes the answer after a restart: a run that is continued, whoever wrote the question down,
    /// whoever reads a result. Others are over with this host (inbox §1.3).
    fn is_kept(&self, question: &Question) -> bool {
        !self.is_serving()
            || question.prompt["kind"] == "result"
            || question.kept
            || (!question.owner.as_str().starts_with("mcp:")
                && self.knows_run(question.trace.run_id.as_deref()))
    }

    /// Questions wait in the file for whoever reads it (`uiPromptBackend`).
    fn in_file(&self) -> bool {
        self.parts().settings.text("uiPromptBackend") == "file"
    }

    /// Waits for a verified answer; private values are put in, for its owner, once.
    pub async fn verdict(&self, request_id: &str, owner: &Owner) -> Result<Verdict, Fault> {
        let questions = self.opened().await?;
        let stop = self.parts().life.stop();
        loop {
            let limit = questions.prompts().next_expiry().map_or(STEP, |left| STEP.min(left));
            let state = questions.wait(request_id, limit, stop).await?;
            if state["state"] != "closed" {
                // A command without a serving host keeps the clock itself.
                self.blocking(|questions| questions.expire()).await?;
                continue;
            }
            let mut response = state["response"].as_object().cloned().unwrap_or_default();
            let status = response.get("status").and_then(Value::as_str).unwrap_or("error").to_owned();
            if state["private"] == true {
                let (id, owner) = (request_id.to_owned(), json!(owner.as_str()));
                let taken = self.blocking(move |questions| questions.take(&id, &owner, true)).await;
                if let Ok(taken) = taken
                    && let Some(whole) = taken["response"].as_object()
                {
                    response = whole.clone();
                }
            }
            return Ok(Verdict { status, response });
        }
    }

    /// Uses the approval of a question: once, for exactly this effect. The codes of its refusals are
    /// `shown_mismatch` (it is another effect by now) and `already_used`.
    pub async fn use_approval(&self, request_id: String, effect: Effect) -> Result<Approval, Fault> {
        self.blocking(move |questions| questions.use_approval(&request_id, &effect)).await
    }

    /// The right to do once more what a person approved in this question; nothing where it is another thing by now.
    pub async fn once_more(&self, request_id: String, effect: Effect) -> Option<Approval> {
        let done = self.blocking(move |questions| questions.once_more(&request_id, &effect)).await;
        done.unwrap_or_else(|fault| {
            tracing::warn!(%fault, "an earlier approval cannot be read; the person is asked");
            None
        })
    }

    /// What would happen now otherwise than when this question was asked; nothing where that is not known.
    pub async fn changed_since(&self, request_id: String, now: Effect) -> Option<Difference> {
        self.blocking(move |questions| Ok(questions.changed_since(&request_id, &now))).await.ok().flatten()
    }

    /// Withdraws a question because its asker was canceled or has ended (`aborted` or `asker_gone`). Later answers
    /// to it are refused.
    pub async fn withdraw(&self, request_id: String, owner: Owner, code: &'static str) {
        let done = self.blocking(move |questions| questions.withdraw_as(&request_id, &owner, code)).await;
        if let Err(fault) = done {
            tracing::warn!(%fault, "a question could not be withdrawn");
        }
    }
}

fn nobody() -> Fault {
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::fixed(
            "a person has to be asked and none can be reached: no ChatOS host runs and there is no terminal",
            "需要询问用户，但无法联系到任何人：没有运行中的 ChatOS 主机，也没有终端",
        ),
    )
    .code("no_person")
    .hint(Text::fixed(
        "start `chatos serve`, or call it in a terminal, or set uiPromptBackend to `file`",
        "请启动 `chatos serve`，或在终端中调用，或将 uiPromptBackend 设为 `file`",
    ))
}
