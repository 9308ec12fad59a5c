//! One run on the host's store, events, tools and queue: the journal of agents §8 made real.
//!
//! Every method that writes makes one transaction; what is told to anybody is told after it.

mod call;
mod chat;
mod compact;
mod finish;
mod instructions;
mod person;
mod state;
mod sub;

pub(crate) use state::{HostStage, Inner, Later, StageParts};

use std::sync::{Arc, PoisonError};

use chatos_agent::{
    Answering, CallEnd, CallObserver, CallOrder, CallStep, CompactKind, Compacted, ContextFacts, DeltaKind,
    Finished, Mark, Origin, Pending, PersonsWord, PlannedCall, RequestFacts, Retry, Stage, Transcript,
};
use chatos_records::message_view;
use chatos_servers::Toolset;
use chatos_store::{
    Kept, MessageRow, MessageWrite, NewMessage, RunChange, RunRow, RunWrite, StepRow, StepWrite, StoreError,
    ToolCallRow, now_ms,
};
use chatos_tool::{Fault, Text};
use chatos_wire::chat_event::{
    ChatBody, ContextBody, ContextParts, ContextTools, MessageBody, RetryBody, ToolCallBody, UsageBody,
};
use chatos_wire::event::Nothing;
use chatos_wire::run_line::{ModelCallLine, RunLine, TextLine, ThoughtLine};
use chatos_wire::{MessageRole, RunState, Severity, StepKind, StepState};
use serde_json::{Value, json};

use super::emit::PIECE_BYTES;
use super::parts::RunParts;
use state::{Live, kept};

/// The vendor's own parts of an answer, and its tokens.
fn opaque(origin: &Origin, finished: &Finished, usage: &Value) -> String {
    let calls: Vec<Value> =
        finished.calls.iter().map(|call| call.opaque.clone().unwrap_or(Value::Null)).collect();
    let blocks = finished.reasoning.iter().any(|part| part.opaque.is_some());
    let mut all = json!({
        "protocol": origin.protocol, "host": origin.host, "model": origin.model, "usage": usage,
    });
    if let Some((bytes, tokens)) = finished.measured {
        all["measured"] = json!([bytes, tokens]);
    }
    if blocks {
        all["reasoning"] = serde_json::to_value(&finished.reasoning).unwrap_or_default();
    }
    if calls.iter().any(|call| !call.is_null()) {
        all["calls"] = Value::Array(calls);
    }
    all.to_string()
}

/// How full the window is, for those who watch.
fn context_body(facts: &ContextFacts, set: &Toolset) -> ContextBody {
    ContextBody {
        used: facts.used,
        window: facts.window.tokens,
        share: (facts.used * 100 / facts.window.tokens.max(1)) as u32,
        window_source: facts.window.source.as_str().to_owned(),
        parts: ContextParts {
            system: facts.system,
            tools: facts.tools,
            summary: facts.summary,
            messages: facts.messages,
            results: facts.results,
        },
        // Without definitions in the request it knows none.
        tools: (facts.tools > 0)
            .then(|| ContextTools { loaded: set.listed().count() as u64, all: set.len() as u64 }),
    }
}

impl Stage for HostStage {
    fn prepare(&self) -> Later<Result<(), Fault>> {
        let stage = self.clone();
        Box::pin(async move { stage.prepared().await })
    }

    fn instructions(&self) -> Later<Result<String, Fault>> {
        self.work(Inner::told_instructions)
    }

    fn chat(&self) -> Later<Result<Transcript, Fault>> {
        self.work(Inner::read_chat)
    }

    fn tools(&self) -> Later<Result<Arc<Toolset>, Fault>> {
        let stage = self.clone();
        Box::pin(async move { stage.parts.tools.toolset(&stage).await })
    }

    fn fewer_tools(&self, most: u64) -> Later<Result<(), Fault>> {
        self.work(move |stage| {
            let count = u32::try_from(most).unwrap_or(u32::MAX);
            stage.ports().models.learn_most_tools(&stage.parts.model_id, count)?;
            stage.parts.tools.fewer(count);
            Ok(())
        })
    }

    fn system(&self, set: Arc<Toolset>) -> Later<Result<Vec<String>, Fault>> {
        let stage = self.clone();
        Box::pin(async move { stage.parts.tools.system(&stage, &set).await })
    }

    fn budget(&self) -> Later<Result<bool, Fault>> {
        let stage = self.clone();
        Box::pin(async move {
            stage.heed().await?;
            stage.within_budget().await
        })
    }

    fn begin_answer(&self, again: Option<String>, facts: RequestFacts) -> Later<Result<Answering, Fault>> {
        self.work(move |stage| {
            let promised = stage.first_answer.lock().unwrap_or_else(PoisonError::into_inner).take();
            let message_id = again.clone().or(promised).unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
            let row = stage.row(StepKind::Model);
            let input = json!({
                "digest": facts.digest, "model": stage.parts.model_id, "messages": facts.messages,
                "tools": facts.tools, "estimate": facts.estimate, "messageId": message_id,
            });
            let message = match again {
                Some(id) => MessageWrite::Void { id },
                None => MessageWrite::Append(Box::new(NewMessage {
                    row: MessageRow {
                        id: message_id.clone(),
                        session_id: stage.parts.transcript.clone(),
                        run_id: stage.parts.run.id.clone(),
                        user_message_id: stage.parts.run.user_message_id.clone(),
                        role: MessageRole::Assistant,
                        partial: true,
                        created_at: now_ms(),
                        ..MessageRow::default()
                    },
                    ..NewMessage::default()
                })),
            };
            let answering =
                Answering { message_id: message_id.clone(), seq: row.seq, span_id: row.span_id.clone() };
            let input = kept(stage.store().keep(&input.to_string()))?;
            kept(stage.store().write_run(RunWrite {
                messages: vec![message],
                steps: vec![StepWrite::Plan { row: Box::new(row), input }],
                ..stage.moment()
            }))?;
            stage.set_live(Some(Live {
                message_id: message_id.clone(),
                seq: answering.seq,
                ..Live::default()
            }));
            *stage.last_answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(message_id.clone());
            if let Some(row) = stage.message(&message_id) {
                let message = Box::new(message_view(stage.store(), row));
                stage.parts.emitter.chat(ChatBody::AssistantStart(MessageBody { message }));
            }
            let trace = stage.span(&answering.span_id, None);
            let call = ModelCallLine { model: stage.parts.model_id.clone(), message_id };
            stage.parts.emitter.traced(RunLine::ModelCall(call), &trace);
            Ok(answering)
        })
    }

    fn delta(&self, answering: &Answering, kind: DeltaKind, delta: &str, offset: usize) {
        {
            let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(live) = live.as_mut().filter(|live| live.message_id == answering.message_id) {
                match kind {
                    DeltaKind::Text => live.text.push_str(delta),
                    DeltaKind::Reasoning => live.reasoning.push_str(delta),
                }
            }
        }
        self.parts.emitter.delta(kind, &answering.message_id, delta, offset);
    }

    fn flush(&self, answering: &Answering, text: String, reasoning: String) -> Later<Result<(), Fault>> {
        let id = answering.message_id.clone();
        self.work(move |stage| kept(stage.store().flush_message(&id, &text, &reasoning)))
    }

    fn retry(&self, answering: &Answering, retry: Retry) -> Later<Result<(), Fault>> {
        let answering = answering.clone();
        self.work(move |stage| {
            kept(stage.store().write_run(RunWrite {
                messages: vec![MessageWrite::Void { id: answering.message_id.clone() }],
                ..stage.moment()
            }))?;
            stage.set_live(Some(Live {
                message_id: answering.message_id.clone(),
                seq: answering.seq,
                ..Live::default()
            }));
            let trace = stage.span(&answering.span_id, None);
            let body = RetryBody {
                message_id: answering.message_id,
                attempt: retry.attempt,
                class: retry.class.to_owned(),
                delay_ms: retry.delay_ms,
                keep: 0,
            };
            stage.parts.emitter.chat(ChatBody::AssistantRetry(body.clone()));
            stage.parts.emitter.chat(ChatBody::MessagesRefresh(Nothing {}));
            stage.parts.emitter.traced(RunLine::ModelRetry(body), &trace);
            Ok(())
        })
    }

    fn finish_answer(&self, answering: &Answering, finished: Finished) -> Later<Result<(), Fault>> {
        let answering = answering.clone();
        self.work(move |stage| stage.whole_answer(&answering, finished))
    }

    fn stop_answer(
        &self,
        answering: &Answering,
        text: String,
        reasoning: String,
        why: &'static str,
    ) -> Later<Result<(), Fault>> {
        let answering = answering.clone();
        self.work(move |stage| {
            stage.set_live(None);
            kept(stage.store().write_run(RunWrite {
                messages: vec![MessageWrite::Finish {
                    id: answering.message_id.clone(),
                    content: text,
                    reasoning,
                    opaque: String::new(),
                    tokens: None,
                    partial: true,
                    calls: Vec::new(),
                }],
                steps: vec![StepWrite::Finish {
                    seq: answering.seq,
                    state: StepState::Done,
                    status: why.to_owned(),
                    code: String::new(),
                    elapsed_ms: None,
                    output: Kept::default(),
                }],
                ..stage.moment()
            }))?;
            stage.parts.emitter.chat(ChatBody::MessagesRefresh(Nothing {}));
            Ok(())
        })
    }

    fn begin_call(&self, planned: PlannedCall) -> Later<Result<CallStep, Fault>> {
        let stage = self.clone();
        Box::pin(async move {
            // One that was cut off takes its answer first.
            if planned.goes_on.is_none() {
                stage.heed().await?;
            }
            stage.work(move |stage| stage.plan_call(planned)).await
        })
    }

    fn observer(&self, step: &CallStep) -> Arc<dyn CallObserver> {
        Arc::new(call::Watch::new(self.clone(), step.clone()))
    }

    fn call(&self, set: Arc<Toolset>, order: CallOrder, observer: Arc<dyn CallObserver>) -> Later<CallEnd> {
        let stage = self.clone();
        Box::pin(async move { stage.parts.tools.call(&stage, set, order, observer).await })
    }

    fn finish_call(&self, step: CallStep, pending: Pending, end: CallEnd) -> Later<Result<(), Fault>> {
        self.work(move |stage| stage.call_ended(&step, &pending, end))
    }

    fn uncertain(&self, pending: Pending) -> Later<Result<PersonsWord, Fault>> {
        let stage = self.clone();
        Box::pin(async move {
            stage.heed().await?;
            stage.ask_uncertain(pending).await
        })
    }

    fn settle_call(&self, pending: Pending, worked: bool) -> Later<Result<(), Fault>> {
        self.work(move |stage| stage.settled(&pending, worked))
    }

    fn begin_compact(&self, kind: CompactKind, from_seq: i64, to_seq: i64) -> Later<Result<CallStep, Fault>> {
        self.work(move |stage| stage.plan_compact(kind, from_seq, to_seq))
    }

    fn finish_compact(&self, step: CallStep, done: Compacted) -> Later<Result<(), Fault>> {
        self.work(move |stage| stage.compacted(&step, done))
    }

    fn mark(&self, mark: Mark) -> Later<Result<(), Fault>> {
        self.work(move |stage| stage.marked(mark))
    }

    fn standing(&self) -> Later<Result<String, Fault>> {
        self.work(Inner::how_things_stand)
    }

    fn notice(&self, level: Severity, code: &str, message: &Text) {
        self.parts.emitter.notice(level, code, message, self.parts.lang);
    }
}

impl Inner {
    fn whole_answer(&self, answering: &Answering, finished: Finished) -> Result<(), Fault> {
        let thought: String = finished.reasoning.iter().map(|part| part.text.as_str()).collect();
        let usage_row = self.usage_row(&finished.usage, &answering.message_id, answering.seq);
        let used = UsageBody {
            input: usage_row.input,
            output: usage_row.output,
            cache_read: usage_row.cache_read,
            cache_write: usage_row.cache_write,
            estimated: usage_row.estimated,
            cost: usage_row.cost,
            currency: (!usage_row.currency.is_empty()).then(|| usage_row.currency.clone()),
            context: (finished.context.window.tokens > 0)
                .then(|| context_body(&finished.context, &finished.set)),
        };
        let usage = json!(used);
        // Programs of other makers seldom say what they used.
        let told_usage = self.parts.agent.acp.is_none() || used.input + used.output > 0;
        let mut calls = Vec::with_capacity(finished.calls.len());
        for call in &finished.calls {
            let tool = finished.set.get(&call.name);
            let row = ToolCallRow {
                call_id: call.id.clone(),
                name: call.name.clone(),
                server: tool.map_or_else(|| self.other_name(), |tool| tool.server.clone()),
                tool: tool.map(|tool| tool.tool.clone()).unwrap_or_else(|| call.name.clone()),
                args_preview: self.parts.emitter.arguments(&call.arguments),
                ..ToolCallRow::default()
            };
            calls.push((row, kept(self.store().keep(&call.arguments))?));
        }
        let output = json!({
            "text": finished.text, "reasoning": thought, "stop": finished.stop, "usage": usage,
            "calls": finished.calls.iter().map(|call| json!({
                "id": call.id, "name": call.name, "arguments": call.arguments,
            })).collect::<Vec<_>>(),
        });
        let told: Vec<ToolCallRow> = calls.iter().map(|(row, _)| row.clone()).collect();
        self.set_live(None);
        kept(self.store().write_run(RunWrite {
            messages: vec![MessageWrite::Finish {
                id: answering.message_id.clone(),
                content: finished.text.clone(),
                reasoning: thought.clone(),
                opaque: opaque(&self.parts.origin, &finished, &usage),
                tokens: Some(usage_row.output),
                partial: false,
                calls,
            }],
            steps: vec![StepWrite::Finish {
                seq: answering.seq,
                state: StepState::Done,
                status: "ok".to_owned(),
                code: finished.stop.to_string(),
                elapsed_ms: None,
                output: kept(self.store().keep(&output.to_string()))?,
            }],
            usage: if told_usage { vec![usage_row] } else { Vec::new() },
            ..self.moment()
        }))?;
        let emitter = &self.parts.emitter;
        let trace = self.span(&answering.span_id, None);
        if !thought.is_empty() {
            let text = emitter.redactor.text(&thought).into_owned();
            emitter.traced(RunLine::AssistantThinking(ThoughtLine { text }), &trace);
        }
        if !finished.text.is_empty() {
            let text = emitter.redactor.text(&finished.text).into_owned();
            let said = TextLine { message_id: answering.message_id.clone(), text };
            emitter.traced(RunLine::Assistant(said), &trace);
        }
        for call in &told {
            emitter.chat(ChatBody::ToolCall(ToolCallBody {
                message_id: answering.message_id.clone(),
                call_id: call.call_id.clone(),
                tool: call.tool.clone(),
                name: call.name.clone(),
                server: call.server.clone(),
                args: call.args_preview.clone(),
            }));
        }
        if told_usage || used.context.is_some() {
            emitter.always(ChatBody::Usage(used.clone()));
            emitter.traced(RunLine::Usage(used), &trace);
        }
        if finished.text.len().max(thought.len()) > PIECE_BYTES {
            emitter.chat(ChatBody::MessagesRefresh(Nothing {}));
        }
        self.tell_answer(&finished.text, &thought, &told);
        Ok(())
    }

    /// Whose calls are in no toolset: those of an agent that is a program of its own.
    fn other_name(&self) -> String {
        self.parts.agent.acp.as_ref().map(|_| self.parts.agent.name.clone()).unwrap_or_default()
    }

    /// Moves the run to another state while it goes on.
    pub(crate) fn set_state(&self, state: RunState) -> Result<(), Fault> {
        kept(self.store().write_run(RunWrite {
            change: Some(RunChange { state: Some(state), ..RunChange::default() }),
            ..self.moment()
        }))?;
        self.parts.emitter.run_changed(state, None);
        Ok(())
    }
}

/// Whether a run has a call whose outcome nobody knows. Blocks.
pub(crate) fn has_uncertain(parts: &Arc<RunParts>, run: &RunRow) -> Result<bool, StoreError> {
    let store = &parts.store;
    let steps = store.steps(&run.id)?;
    let answered: std::collections::HashSet<String> =
        store.messages_of_run(&run.id)?.into_iter().map(|message| message.tool_call_id).collect();
    let open = chat::asked(parts, steps).into_iter().filter(|step| !answered.contains(&step.call_id));
    Ok(open.into_iter().any(|step| chatos_agent::decide(Some(&step)) == chatos_agent::Decision::Uncertain))
}

impl Inner {
    /// A continued run keeps its ids; a span of its own links to the last one (agents §8).
    pub(crate) fn note_resume(&self) -> Result<(), Fault> {
        let steps = kept(self.store().steps(&self.parts.run.id))?;
        let last = steps.iter().rfind(|step| !super::correction::is_correction(step.seq));
        let row = StepRow { state: StepState::Done, status: "ok".to_owned(), ..self.row(StepKind::Resume) };
        let input = json!({ "after": last.map(|step| &step.span_id) }).to_string();
        let input = kept(self.store().keep(&input))?;
        kept(self.store().write_run(RunWrite {
            steps: vec![StepWrite::Plan { row: Box::new(row), input }],
            ..self.moment()
        }))
    }
}
