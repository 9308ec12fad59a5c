//! What a run asks the person itself: what became of a call, and whether to go on beyond the budget.

use chatos_agent::{CallStep, Pending, PersonsWord};
use chatos_prompts::{Effect, Object, RequestId};
use chatos_store::{
    Kept, MessageRow, MessageWrite, NewMessage, RunWrite, StepRow, StepWrite, UsageBy, now_ms,
};
use chatos_tool::{Fault, Lang, in_both};
use chatos_wire::chat_event::{ChatBody, ToolResultBody};
use chatos_wire::{MessageRole, StepKind, StepState};
use serde_json::{Value, json};

use super::super::ask;
use super::super::budget::Spent;
use super::state::{HostStage, Inner, kept};
use chatos_records::message_view;

/// Arguments up to this many bytes are shown whole in a question about the outcome of their call.
const SEEN_WHOLE: usize = 3_000;

impl HostStage {
    /// agents §8, last row: nobody but a person knows. No default, no timeout.
    pub(super) async fn ask_uncertain(&self, pending: Pending) -> Result<PersonsWord, Fault> {
        let about = pending.clone();
        let said = self.work(move |stage| stage.said_about(&about)).await?;
        if let Some(word) = said {
            return Ok(word);
        }
        let call = pending.call.id.clone();
        let asked = self.work(move |stage| stage.asked_about(&call)).await?;
        let (step, request_id) = match asked {
            Some(open) => self.go_on_asking(open).await?,
            None => {
                let prompt = in_both(self.parts.lang, |lang| self.uncertain_prompt(&pending, lang));
                let source = self.parts.agent.name.clone();
                self.ask(prompt, source, subject(&pending)).await?
            }
        };
        let selection = self.verdict(&step, &pending.call.id, &request_id).await?;
        let (word, status) = match selection.as_deref() {
            Some("worked") => (PersonsWord::Worked, "worked"),
            Some("again") => (PersonsWord::Again(question_of(&subject(&pending))), "again"),
            _ => (PersonsWord::Failed, "failed"),
        };
        self.work(move |stage| stage.prompt_ended(&step, status)).await?;
        Ok(word)
    }

    fn uncertain_prompt(&self, pending: &Pending, lang: Lang) -> Value {
        let tool = &pending.call.name;
        let arguments = self.parts.emitter.arguments(&pending.call.arguments);
        // One a line, where all of them are there.
        let read = serde_json::from_str::<Value>(&arguments).ok();
        let arguments = read.and_then(|read| serde_json::to_string_pretty(&read).ok()).unwrap_or(arguments);
        let (title, message, worked, failed, again) = match lang {
            Lang::En => (
                format!("Did {tool} finish?"),
                format!(
                    "ChatOS stopped while `{tool}` was running, and cannot know whether it had its effect:\n\n\
                     ```json\n{arguments}\n```"
                ),
                "It worked",
                "It failed, tell the model",
                "Run it again",
            ),
            Lang::Zh => (
                format!("{tool} 完成了吗？"),
                format!("ChatOS 在执行 `{tool}` 时停止，无法得知其是否已生效：\n\n```json\n{arguments}\n```"),
                "已成功",
                "已失败，告诉模型",
                "再执行一次",
            ),
        };
        let again = match (self.parts.agent.acp.is_some(), lang) {
            (true, Lang::En) => "Let the agent look first",
            (true, Lang::Zh) => "让智能体先检查",
            (false, _) => again,
        };
        json!({
            "kind": "choice", "title": title, "message": message, "allowCancel": false,
            "options": [
                { "value": "worked", "label": worked },
                { "value": "failed", "label": failed },
                { "value": "again", "label": again },
            ],
        })
    }

    /// Puts a question of the run itself into the queue; the journal knows its id before.
    pub(super) async fn ask(
        &self,
        prompt: Value,
        source: String,
        detail: Value,
    ) -> Result<(CallStep, String), Fault> {
        self.work(move |stage| {
            let request_id = RequestId::mint().to_string();
            let row = StepRow {
                detail: detail.to_string(),
                request_id: request_id.clone(),
                ..stage.row(StepKind::Prompt)
            };
            let step = CallStep {
                seq: row.seq,
                call_id: detail["for"].as_str().unwrap_or_default().to_owned(),
                span_id: row.span_id.clone(),
            };
            let input = kept(stage.store().keep(&prompt.to_string()))?;
            let write =
                RunWrite { steps: vec![StepWrite::Plan { row: Box::new(row), input }], ..stage.moment() };
            kept(stage.store().write_run(write))?;
            let trace = stage.span(&step.span_id, None);
            let effect = stage.effect(&detail);
            ask::put(stage.ports(), &request_id, &prompt, effect, &source, &trace)?;
            stage.waits(step.seq, &step.call_id, &request_id, "run");
            Ok((step, request_id))
        })
        .await
    }

    /// A question from before the host stopped: the same one is waited for, and asked where it never was.
    pub(super) async fn go_on_asking(&self, open: (CallStep, String)) -> Result<(CallStep, String), Fault> {
        let source = self.parts.agent.name.clone();
        self.work(move |stage| {
            let (step, request_id) = open;
            let rows = kept(stage.store().steps(&stage.parts.run.id))?;
            let row = rows.iter().find(|row| row.seq == step.seq);
            let detail: Value =
                row.and_then(|row| serde_json::from_str(&row.detail).ok()).unwrap_or_default();
            let input = row.map(|row| row.input_blob.clone());
            let prompt = input.and_then(|blob| stage.store().kept(&blob)).unwrap_or_default();
            if let Ok(prompt) = serde_json::from_str::<Value>(&prompt) {
                let trace = stage.span(&step.span_id, None);
                let effect = stage.effect(&detail);
                ask::put(stage.ports(), &request_id, &prompt, effect, &source, &trace)?;
            }
            stage.waits(step.seq, &step.call_id, &request_id, "run");
            Ok((step, request_id))
        })
        .await
    }

    pub(super) async fn verdict(
        &self,
        step: &CallStep,
        call: &str,
        request_id: &str,
    ) -> Result<Option<String>, Fault> {
        let answer = ask::wait(self.ports(), request_id).await?;
        let (call, request, status) = (call.to_owned(), request_id.to_owned(), answer.status.clone());
        let _: &CallStep = step;
        self.work(move |stage| {
            stage.goes_on(&call, &request, "run", &status);
            Ok(())
        })
        .await?;
        Ok(answer.selection)
    }

    /// Whether another model call may be made (agents §7 "Budgets").
    pub(super) async fn within_budget(&self) -> Result<bool, Fault> {
        let budget = self.parts.budget.clone();
        if budget.tokens.is_none() && budget.cost.is_none() {
            return Ok(true);
        }
        let state = self.work(move |stage| stage.spent()).await?;
        // A question that was open when the host stopped is waited for, not asked again.
        let (step, request_id) = match (state.open.clone(), budget.reached(&state, state.grants)) {
            (Some(open), _) => self.go_on_asking(open).await?,
            (None, None) => return Ok(true),
            (None, Some(reached)) => {
                let prompt = in_both(self.parts.lang, |lang| reached.prompt(lang));
                self.ask(prompt, self.parts.agent.name.clone(), json!({ "budget": true })).await?
            }
        };
        let selection = self.verdict(&step, "", &request_id).await?;
        let go_on = selection.as_deref() == Some("continue");
        let status = if go_on { "continue" } else { "stop" };
        self.work(move |stage| stage.prompt_ended(&step, status)).await?;
        Ok(go_on)
    }
}

impl Inner {
    /// What an answer to a question of the run itself decides. The journal, whose step takes the answer once, is
    /// what uses it.
    fn effect(&self, detail: &Value) -> Effect {
        let kind = match detail {
            detail if detail["for"].is_string() => "uncertain",
            detail if detail["instructions"] == true => "instructions",
            _ => "budget",
        };
        let effect = Effect::new(kind, Object::new())
            .with("runId", json!(self.parts.run.id))
            .with("about", detail.clone());
        match detail["root"].as_str() {
            // The card names the project.
            Some(root) => effect.with("root", json!({ "path": root })),
            None => effect,
        }
    }

    /// What a person said about a call before the host stopped once more.
    fn said_about(&self, pending: &Pending) -> Result<Option<PersonsWord>, Fault> {
        let steps = kept(self.store().steps(&self.parts.run.id))?;
        let since = pending.step.as_ref().map_or(0, |step| step.seq);
        let said = steps.iter().rev().filter(|row| row.kind == StepKind::Prompt && row.seq > since).find_map(
            |row| {
                let detail: Value = serde_json::from_str(&row.detail).ok()?;
                let word = match row.status.as_str() {
                    "worked" => PersonsWord::Worked,
                    "failed" => PersonsWord::Failed,
                    _ => return None,
                };
                (row.state == StepState::Done && detail["for"] == pending.call.id.as_str()).then_some(word)
            },
        );
        Ok(said)
    }

    /// The open question about a call, where there is one.
    fn asked_about(&self, call: &str) -> Result<Option<(CallStep, String)>, Fault> {
        let steps = kept(self.store().steps(&self.parts.run.id))?;
        Ok(steps.iter().rev().find_map(|row| open_prompt(row, |detail| detail["for"] == call)))
    }

    fn spent(&self) -> Result<Spent, Fault> {
        let root = &self.parts.run.root_run_id;
        let sums = kept(self.store().usage(UsageBy::RootRun, 0, Some(root)))?;
        let steps = kept(self.store().steps(&self.parts.run.id))?;
        let of_budget = |row: &&StepRow| row.kind == StepKind::Prompt && row.detail.contains("\"budget\"");
        Ok(Spent {
            tokens: sums
                .iter()
                .map(|sum| (sum.input + sum.output + sum.cache_read + sum.cache_write) as u64)
                .sum(),
            cost: sums.iter().filter_map(|sum| sum.cost).sum(),
            grants: steps.iter().filter(of_budget).filter(|row| row.status == "continue").count() as u32,
            open: steps.iter().rev().find_map(|row| open_prompt(row, |detail| detail["budget"] == true)),
        })
    }

    pub(super) fn prompt_ended(&self, step: &CallStep, status: &str) -> Result<(), Fault> {
        kept(self.store().write_run(RunWrite {
            steps: vec![StepWrite::Finish {
                seq: step.seq,
                state: StepState::Done,
                status: status.to_owned(),
                code: String::new(),
                elapsed_ms: None,
                output: Kept::default(),
            }],
            ..self.moment()
        }))
    }

    /// A person's word is the result of a call.
    pub(super) fn settled(&self, pending: &Pending, worked: bool) -> Result<(), Fault> {
        let (status, code, text) = match (worked, self.parts.lang) {
            (true, Lang::En) => {
                ("ok", "", "[ok] a person confirmed that this call worked; its output is not available")
            }
            (true, Lang::Zh) => ("ok", "", "[ok] 用户确认此调用已成功；其输出不可用"),
            (false, Lang::En) => {
                ("error", "unavailable", "[error: unavailable] a person said that this call failed")
            }
            (false, Lang::Zh) => ("error", "unavailable", "[error: unavailable] 用户表示此调用已失败"),
        };
        self.close_call(pending, status, code, text, !worked)
    }

    /// Gives a call a result that nobody but the host made.
    pub(super) fn close_call(
        &self,
        pending: &Pending,
        status: &str,
        code: &str,
        text: &str,
        is_error: bool,
    ) -> Result<(), Fault> {
        let (id, message) = self.host_result(pending, status, code, text, is_error);
        let mut write = RunWrite { messages: vec![message], ..self.moment() };
        if let Some(step) = &pending.step {
            write.steps.push(StepWrite::Finish {
                seq: step.seq,
                state: StepState::Done,
                status: status.to_owned(),
                code: code.to_owned(),
                elapsed_ms: None,
                output: Kept::default(),
            });
        }
        kept(self.store().write_run(write))?;
        if let Some(row) = self.message(&id) {
            let message = Box::new(message_view(self.store(), row));
            self.parts.emitter.chat(ChatBody::ToolResult(ToolResultBody { message, trace: None }));
        }
        Ok(())
    }

    pub(super) fn host_result(
        &self,
        pending: &Pending,
        status: &str,
        code: &str,
        text: &str,
        is_error: bool,
    ) -> (String, MessageWrite) {
        let id = uuid::Uuid::now_v7().to_string();
        let asked = self.message(&pending.message_id);
        let call = asked.as_ref().and_then(|message| {
            message.tool_calls.iter().find(|call| call.call_id == pending.call.id).cloned()
        });
        let call = call.unwrap_or_default();
        let row = MessageRow {
            id: id.clone(),
            session_id: self.parts.transcript.clone(),
            run_id: self.parts.run.id.clone(),
            user_message_id: self.parts.run.user_message_id.clone(),
            role: MessageRole::Tool,
            content: text.to_owned(),
            tool_call_id: pending.call.id.clone(),
            tool_name: pending.call.name.clone(),
            server: call.server,
            tool: call.tool,
            tool_status: status.to_owned(),
            tool_code: code.to_owned(),
            is_error,
            created_at: now_ms(),
            ..MessageRow::default()
        };
        (id, MessageWrite::Append(Box::new(NewMessage { row, ..NewMessage::default() })))
    }
}

/// What a question about the outcome of a call names: the call, and the question in which it was approved. Without that
/// one where not all of the arguments can be seen, so that who has it run again is asked for that run of it.
fn subject(pending: &Pending) -> Value {
    let mut about = json!({ "for": pending.call.id });
    let approved = pending.step.as_ref().and_then(|step| step.request_id.clone());
    if pending.call.arguments.len() <= SEEN_WHOLE
        && let Some(id) = approved
    {
        about["approvedIn"] = json!(id);
    }
    about
}

/// The question in which a call was approved, from what a question about its outcome names.
pub(super) fn question_of(about: &Value) -> Option<String> {
    about["approvedIn"].as_str().map(str::to_owned)
}

pub(super) fn open_prompt(row: &StepRow, about: impl Fn(&Value) -> bool) -> Option<(CallStep, String)> {
    let detail: Value = serde_json::from_str(&row.detail).ok()?;
    let settled = matches!(row.state, StepState::Done | StepState::Skipped);
    let open = row.kind == StepKind::Prompt && !settled && !row.request_id.is_empty();
    (open && about(&detail)).then(|| {
        let call_id = detail["for"].as_str().unwrap_or_default().to_owned();
        (CallStep { seq: row.seq, call_id, span_id: row.span_id.clone() }, row.request_id.clone())
    })
}
