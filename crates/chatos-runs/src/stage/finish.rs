//! The end of a run, in one transaction whatever happened before (agents §7 "Abort").

use chatos_agent::{End, Next};
use chatos_store::{Kept, MessageRow, MessageWrite, NewMessage, RunChange, RunWrite, StepWrite, now_ms};
use chatos_tool::{Fault, Lang};
#[cfg(feature = "otlp")]
use chatos_wire::RunKind;
use chatos_wire::chat_event::{AbortedBody, ChatBody, DoneBody, ErrorBody, ToolResultBody};
use chatos_wire::event::Nothing;
use chatos_wire::run_line::{FinishedLine, RunLine};
use chatos_wire::{MessageKind, MessageRole, RunEnd, RunState, StepState};

use super::state::{Inner, kept};
use chatos_records::message_view;

impl Inner {
    /// Writes the end: open calls get a result, text that came stays, the lease goes.
    pub(crate) fn finish(&self, end: &End) -> Result<(), Fault> {
        let run = &self.parts.run;
        let chat = self.read_chat()?;
        let (_, passes) = chat.counts(&run.id);
        let mut write = self.moment();
        let mut results = Vec::new();
        if let Next::Calls(pending) = chat.next(&run.id) {
            let text = match self.parts.lang {
                Lang::En => "[canceled] the run was stopped before this call had a result",
                Lang::Zh => "[canceled] 运行在此调用有结果之前已停止",
            };
            for pending in &pending {
                let (id, message) = self.host_result(pending, "canceled", "canceled", text, false);
                results.push(id);
                write.messages.push(message);
                if let Some(step) = &pending.step {
                    write.steps.push(StepWrite::Finish {
                        seq: step.seq,
                        state: if step.sent { StepState::Uncertain } else { StepState::Skipped },
                        status: "canceled".to_owned(),
                        code: "canceled".to_owned(),
                        elapsed_ms: None,
                        output: Kept::default(),
                    });
                }
            }
        }
        if let Some(live) = self.live() {
            write.messages.push(MessageWrite::Finish {
                id: live.message_id.clone(),
                content: live.text,
                reasoning: live.reasoning,
                opaque: String::new(),
                tokens: None,
                partial: true,
                calls: Vec::new(),
            });
            write.steps.push(StepWrite::Finish {
                seq: live.seq,
                state: StepState::Done,
                status: "canceled".to_owned(),
                code: String::new(),
                elapsed_ms: None,
                output: Kept::default(),
            });
        }
        let (state, reason, error) = match end {
            End::Done { reason } => (RunState::Done, *reason, None),
            End::Aborted => (RunState::Aborted, RunEnd::Aborted, None),
            End::Failed { code, message } => (RunState::Failed, RunEnd::Error, Some((*code, message))),
        };
        let told = error.map(|(code, message)| {
            let message = self.parts.emitter.redactor.message(message.get(self.parts.lang)).into_owned();
            (code, message)
        });
        if let Some((_, message)) = &told {
            write.messages.push(self.notice_message(message));
        }
        write.change = Some(RunChange {
            state: Some(state),
            stop_reason: Some(reason),
            error_code: told.as_ref().map(|(code, _)| (*code).to_owned()),
            error_message: told.as_ref().map(|(_, message)| message.clone()),
            passes: Some(passes as i64),
            model_id: None,
            finished: true,
            released: false,
        });
        kept(self.store().write_run(RunWrite { ..write }))?;
        // Before anybody hears of it: who does may send the next message at once.
        self.parts.runs.end_is_written(&run.id);
        self.set_live(None);
        for row in results.iter().filter_map(|id| self.message(id)) {
            let message = Box::new(message_view(self.store(), row));
            self.parts.emitter.chat(ChatBody::ToolResult(ToolResultBody { message, trace: None }));
        }
        self.tell_end(end, state, reason, told);
        Ok(())
    }

    /// The run failed and goes on: its failure is none any more, and what the chat was told of it goes.
    pub(crate) fn take_back_failure(&self) -> Result<(), Fault> {
        let rows = kept(self.store().messages_of_run(&self.parts.run.id))?;
        let notices = rows.into_iter().filter(|row| row.kind == MessageKind::Notice);
        kept(self.store().write_run(RunWrite {
            messages: notices.map(|row| MessageWrite::Drop { id: row.id }).collect(),
            change: Some(RunChange {
                error_code: Some(String::new()),
                error_message: Some(String::new()),
                ..RunChange::default()
            }),
            ..self.moment()
        }))?;
        self.parts.emitter.chat(ChatBody::MessagesRefresh(Nothing {}));
        Ok(())
    }

    fn notice_message(&self, text: &str) -> MessageWrite {
        let row = MessageRow {
            id: uuid::Uuid::now_v7().to_string(),
            session_id: self.parts.transcript.clone(),
            run_id: self.parts.run.id.clone(),
            role: MessageRole::System,
            kind: MessageKind::Notice,
            content: text.to_owned(),
            is_error: true,
            created_at: now_ms(),
            ..MessageRow::default()
        };
        MessageWrite::Append(Box::new(NewMessage { row, ..NewMessage::default() }))
    }

    /// Exactly one of three ends a run for those who watch (agents §11).
    fn tell_end(&self, end: &End, state: RunState, reason: RunEnd, error: Option<(&str, String)>) {
        let emitter = &self.parts.emitter;
        let last = self.last_answer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        emitter.run_changed(state, Some(reason));
        let mut line = FinishedLine { state, stop_reason: reason, code: None, message: None };
        match end {
            End::Done { .. } => {
                emitter.chat(ChatBody::AssistantDone(DoneBody { message_id: last, stop_reason: reason }));
            }
            End::Failed { .. } => {
                let (code, message) = error.unwrap_or_default();
                let code = code.to_owned();
                (line.code, line.message) = (Some(code.clone()), Some(message.clone()));
                emitter.chat(ChatBody::AssistantError(ErrorBody { message_id: last, code, message }));
            }
            End::Aborted => {
                let message = match self.parts.lang {
                    Lang::En => "stopped",
                    Lang::Zh => "已停止",
                };
                let body = AbortedBody { message_id: last, message: message.to_owned() };
                emitter.chat(ChatBody::AssistantAborted(body));
            }
        }
        emitter.line(RunLine::RunFinished(line));
        #[cfg(feature = "otlp")]
        if self.parts.run.kind != RunKind::Sub {
            super::super::push::trace(self.ports(), self.parts.run.trace_id.clone());
        }
    }

    /// The host stops: the run is left as it is, to be continued.
    pub(crate) fn interrupt(&self) -> Result<(), Fault> {
        kept(self.store().write_run(RunWrite {
            change: Some(RunChange {
                state: Some(RunState::Interrupted),
                released: true,
                ..RunChange::default()
            }),
            ..self.moment()
        }))?;
        self.parts.emitter.run_changed(RunState::Interrupted, Some(RunEnd::HostStopped));
        Ok(())
    }
}
