//! A call of a run: planned, on its way, ended, each written down before the next (agents §8).

use chatos_agent::{CallEnd, CallObserver, CallStep, Pending, PlannedCall, Sending, TaskHandle, WaitKind};
use chatos_mcp::Progress;
use chatos_store::{AttachmentRow, Kept, MessageRow, MessageWrite, NewMessage, RunChange, RunWrite};
use chatos_store::{StepRow, StepWrite, now_ms};
use chatos_tool::Fault;
use chatos_wire::chat_event::{
    CallInBackground, CallProgress, CallProgressBody, ChatBody, PromptAnsweredBody, PromptWaitingBody,
    ToolResultBody,
};
use chatos_wire::run_line::{CallLine, ResultLine, RunLine};
use chatos_wire::{MessageRole, RunState, StepKind, StepState};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

use super::state::{HostStage, Inner, Later, kept};
use chatos_records::message_view;

impl Inner {
    pub(super) fn plan_call(&self, planned: PlannedCall) -> Result<CallStep, Fault> {
        if let Some(step) = planned.goes_on {
            let rows = kept(self.store().steps(&self.parts.run.id))?;
            let span = rows.into_iter().find(|row| row.seq == step.seq).map(|row| row.span_id);
            let span_id = span.unwrap_or_else(chatos_records::trace_ids::new_span);
            let mut spans = self.spans.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            spans.insert(span_id.clone(), (step.seq, step.call_id.clone()));
            return Ok(CallStep { span_id, ..step });
        }
        let call = &planned.pending.call;
        let row = StepRow {
            call_id: Some(call.id.clone()),
            server_identity: planned.server_identity,
            tool: planned.tool.clone(),
            read_only: planned.read_only,
            idempotent: planned.idempotent,
            attempt: planned.pending.step.as_ref().map_or(1, |step| step.attempt + 1),
            ..self.row(StepKind::Tool)
        };
        let step = CallStep { seq: row.seq, call_id: call.id.clone(), span_id: row.span_id.clone() };
        let mut write = self.moment();
        if let Some(before) = &planned.pending.step {
            write.steps.push(StepWrite::Finish {
                seq: before.seq,
                state: StepState::Skipped,
                status: String::new(),
                code: String::new(),
                elapsed_ms: None,
                output: Kept::default(),
            });
        }
        let input = kept(self.store().keep(&call.arguments))?;
        write.steps.push(StepWrite::Plan { row: Box::new(row), input });
        kept(self.store().write_run(write))?;
        let mut spans = self.spans.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        spans.insert(step.span_id.clone(), (step.seq, call.id.clone()));
        drop(spans);
        let trace = self.span(&step.span_id, Some(&planned.tool));
        let started = CallLine {
            call_id: call.id.clone(),
            server: planned.server,
            args: self.parts.emitter.arguments(&call.arguments),
            tool: planned.tool,
        };
        self.parts.emitter.traced(RunLine::ToolStarted(started), &trace);
        Ok(step)
    }

    pub(super) fn call_ended(&self, step: &CallStep, pending: &Pending, end: CallEnd) -> Result<(), Fault> {
        let envelope = &end.envelope;
        let status = envelope.status.as_str();
        let code = if envelope.code == "ok" { "" } else { envelope.code };
        let (text, pictures) = chatos_agent::with_pictures(chatos_agent::plain_result(&envelope.text), &end);
        let structured = end.structured.clone().or_else(|| envelope.structured()).unwrap_or_default();
        let long = text.chars().count() > self.parts.result_chars;
        let whole = if long { Some(kept(self.store().keep_blob(text.as_bytes()))?) } else { None };
        let blob = whole.as_ref().and_then(|whole| whole.blob_id());
        let content = chatos_agent::cut_result(&text, self.parts.result_chars, Some(&pending.call.id));
        let output = json!({ "text": text, "structured": structured, "isError": end.is_error });
        let output = kept(self.store().keep(&output.to_string()))?;
        let id = uuid::Uuid::now_v7().to_string();
        let files = self.pictures(pictures)?;
        let message = NewMessage {
            row: MessageRow {
                id: id.clone(),
                session_id: self.parts.transcript.clone(),
                run_id: self.parts.run.id.clone(),
                user_message_id: self.parts.run.user_message_id.clone(),
                role: MessageRole::Tool,
                content,
                tool_call_id: pending.call.id.clone(),
                tool_name: pending.call.name.clone(),
                server: envelope.stamp.server.clone(),
                tool: envelope.stamp.tool.clone(),
                tool_status: status.to_owned(),
                tool_code: code.to_owned(),
                is_error: end.is_error,
                elapsed_ms: Some(end.elapsed_ms as i64),
                created_at: now_ms(),
                ..MessageRow::default()
            },
            structured: kept(self.store().keep(&structured.to_string()))?,
            files,
            ..NewMessage::default()
        };
        let asked = self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&step.seq);
        if let Some(request_id) = asked {
            self.goes_on(&step.call_id, &request_id, "prompt", "answered");
        }
        let back = self.waiting.load(Ordering::Relaxed) > 0 || self.leaves_waiting(step);
        kept(self.store().write_run(RunWrite {
            messages: vec![MessageWrite::Append(Box::new(message))],
            steps: vec![StepWrite::Finish {
                seq: step.seq,
                state: if end.certain { StepState::Done } else { StepState::Uncertain },
                status: status.to_owned(),
                code: code.to_owned(),
                elapsed_ms: Some(end.elapsed_ms as i64),
                output,
            }],
            change: back.then(|| RunChange { state: Some(RunState::Running), ..RunChange::default() }),
            ..self.moment()
        }))?;
        if back {
            self.parts.emitter.run_changed(RunState::Running, None);
        }
        let Some(row) = self.message(&id) else { return Ok(()) };
        let (server, tool) = (row.server.clone(), row.tool.clone());
        let view = message_view(self.store(), row);
        let trace = self.span(&step.span_id, Some(&tool));
        let body = ToolResultBody { message: Box::new(view.clone()), trace: Some(trace.clone()) };
        self.parts.emitter.chat(ChatBody::ToolResult(body));
        let line = ResultLine {
            call_id: pending.call.id.clone(),
            server,
            tool,
            status: status.to_owned(),
            code: code.to_owned(),
            elapsed_ms: end.elapsed_ms,
            result: self.parts.emitter.result(&text),
            blob: blob.map(str::to_owned),
        };
        self.parts.emitter.traced(RunLine::ToolFinished(line), &trace);
        if self.parts.run.job_id.is_some() {
            self.sub_step("tool_result", chatos_records::sub_steps::result(&pending.call.id, &view));
        }
        Ok(())
    }

    /// Keeps the pictures of a result; a person is told once per run that this model sees none of them.
    fn pictures(
        &self,
        pictures: Vec<chatos_pictures::Picture>,
    ) -> Result<Vec<(AttachmentRow, Kept, Kept)>, Fault> {
        let mut files = Vec::with_capacity(pictures.len());
        for (number, picture) in (1..).zip(pictures) {
            let row = AttachmentRow {
                id: uuid::Uuid::now_v7().to_string(),
                kind: "image".to_owned(),
                name: format!("{number}.{}", picture.mime.trim_start_matches("image/")),
                mime: picture.mime.to_owned(),
                size: picture.bytes.len() as i64,
                ..AttachmentRow::default()
            };
            files.push((row, kept(self.store().keep_blob(&picture.bytes))?, Kept::default()));
        }
        if !files.is_empty() && !self.parts.vision {
            let before = kept(self.store().messages_of_run(&self.parts.run.id))?;
            if !before.iter().any(|row| row.role == MessageRole::Tool && !row.attachments.is_empty()) {
                let (level, lang) = (chatos_wire::Severity::Info, self.parts.lang);
                self.parts.emitter.notice(level, "no_vision", &chatos_agent::cannot_see(), lang);
            }
        }
        Ok(files)
    }

    /// A task was waited for: the run is not waiting any more.
    fn leaves_waiting(&self, step: &CallStep) -> bool {
        let mut tasks = self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        tasks.remove(&step.seq)
    }

    /// The call with this id waits for a person; told by the layer of the built-in servers, too.
    pub(crate) fn waits(&self, seq: i64, call_id: &str, request_id: &str, kind: &str) {
        self.parts.clock.pause();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let written = self.store().write_run(RunWrite {
            steps: vec![StepWrite::Waits { seq, request_id: request_id.to_owned() }],
            change: Some(RunChange { state: Some(RunState::WaitingPrompt), ..RunChange::default() }),
            ..self.moment()
        });
        if let Err(error) = written {
            tracing::warn!(%error, "a question of a run is not in its journal");
        }
        self.parts.emitter.run_changed(RunState::WaitingPrompt, None);
        let body = PromptWaitingBody {
            call_id: call_id.to_owned(),
            request_id: request_id.to_owned(),
            kind: kind.to_owned(),
        };
        self.parts.emitter.always(ChatBody::PromptWaiting(body.clone()));
        self.parts.emitter.line(RunLine::PromptRequested(body));
    }

    /// A built-in server asks the person in the middle of a call.
    pub(crate) fn built_in_waits(&self, span: &str, request_id: &str) {
        let spans = self.spans.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some((seq, call_id)) = spans.get(span).cloned() else { return };
        drop(spans);
        let mut asked = self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = asked.insert(seq, request_id.to_owned());
        drop(asked);
        blocking(|| {
            if let Some(before) = before {
                self.goes_on(&call_id, &before, "prompt", "answered");
            }
            self.waits(seq, &call_id, request_id, "prompt");
        });
    }

    /// The person answered.
    pub(crate) fn goes_on(&self, call_id: &str, request_id: &str, kind: &str, status: &str) {
        self.parts.clock.go_on();
        let left = self.waiting.fetch_sub(1, Ordering::Relaxed).saturating_sub(1);
        if left == 0
            && let Err(fault) = self.set_state(RunState::Running)
        {
            tracing::debug!(%fault, "the run ended meanwhile");
        }
        let body = PromptAnsweredBody {
            call_id: call_id.to_owned(),
            request_id: request_id.to_owned(),
            kind: kind.to_owned(),
            status: status.to_owned(),
        };
        self.parts.emitter.always(ChatBody::PromptAnswered(body.clone()));
        self.parts.emitter.line(RunLine::PromptAnswered(body));
    }
}

/// A short write in a callback that cannot wait.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let many = Handle::try_current().is_ok_and(|at| at.runtime_flavor() == RuntimeFlavor::MultiThread);
    if many { tokio::task::block_in_place(work) } else { work() }
}

/// Hears of one call on its way.
pub(super) struct Watch {
    stage: HostStage,
    step: CallStep,
    kind: std::sync::Mutex<&'static str>,
}

impl Watch {
    pub(super) fn new(stage: HostStage, step: CallStep) -> Self {
        Self { stage, step, kind: std::sync::Mutex::new("approval") }
    }
}

impl CallObserver for Watch {
    fn sending(&self, sending: Sending) -> Later<Result<(), Fault>> {
        let seq = self.step.seq;
        self.stage.work(move |stage| {
            let (task_id, detail) = match &sending.task {
                Some((id, cursor)) => (id.clone(), json!({ "cursor": cursor })),
                None => (String::new(), json!({})),
            };
            kept(stage.store().write_run(RunWrite {
                steps: vec![StepWrite::Sent { seq, task_id, detail: detail.to_string() }],
                ..stage.moment()
            }))
        })
    }

    fn progress(&self, progress: &Progress) {
        let body = CallProgressBody {
            call_id: self.step.call_id.clone(),
            progress: progress.progress,
            total: progress.total,
            message: progress.message.clone(),
        };
        self.stage.parts.emitter.chat(ChatBody::ToolProgress(CallProgress::Said(body.clone())));
        self.stage.parts.emitter.line(RunLine::ToolProgress(body));
    }

    fn waiting(&self, request_id: &str, kind: WaitKind) {
        *self.kind.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = kind.as_str();
        let (stage, step) = (self.stage.clone(), self.step.clone());
        let (request_id, kind) = (request_id.to_owned(), kind.as_str());
        // The question is in the queue already; the journal learns of it beside the wait.
        blocking(move || stage.waits(step.seq, &step.call_id, &request_id, kind));
    }

    fn answered(&self, request_id: &str, status: &str) {
        let kind = *self.kind.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        blocking(|| self.stage.goes_on(&self.step.call_id, request_id, kind, status));
    }

    fn background(&self, elapsed_ms: u64) {
        let call_id = self.step.call_id.clone();
        let body = CallInBackground { call_id, elapsed_ms, background: true };
        self.stage.parts.emitter.chat(ChatBody::ToolProgress(CallProgress::Background(body)));
    }

    fn task(&self, handle: TaskHandle) -> Later<Result<(), Fault>> {
        let seq = self.step.seq;
        self.stage.work(move |stage| {
            let (task_id, detail): (String, Value) = match handle {
                TaskHandle::AsyncTask { task_id, cursor, also } => {
                    (task_id, json!({ "cursor": cursor, "ackId": also }))
                }
                TaskHandle::McpTask { task_id } => (String::new(), json!({ "mcpTask": task_id })),
            };
            stage.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(seq);
            kept(stage.store().write_run(RunWrite {
                steps: vec![StepWrite::Sent { seq, task_id, detail: detail.to_string() }],
                change: Some(RunChange { state: Some(RunState::WaitingAsync), ..RunChange::default() }),
                ..stage.moment()
            }))?;
            stage.parts.emitter.run_changed(RunState::WaitingAsync, None);
            Ok(())
        })
    }
}
