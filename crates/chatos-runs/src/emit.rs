//! What everybody hears of a run: chat events on the stream (agents §11) and lines of events.jsonl (§13).

use chatos_agent::DeltaKind;
use chatos_events::Events;
use chatos_store::now_iso;
use chatos_tool::{Redactor, Text, Trace};
use chatos_wire::chat_event::{ChatBody, ChatEvent, DeltaBody, NoticeBody, RunStateBody};
use chatos_wire::event::{HostEvent, RunChanged};
use chatos_wire::run_line::{RunLine, RunPayload, RunRecord};
use chatos_wire::{RunEnd, RunState, Severity};
use serde_json::Value;

use chatos_records::EventLog;

/// Longest arguments in an event.
const ARGUMENT_CHARS: usize = 4_000;
/// Longest result in a line.
const RESULT_CHARS: usize = 6_000;
/// Largest piece of an answer that is told. A reader with much more waiting is dropped; what is longer is read from
/// the store once it is there.
pub(crate) const PIECE_BYTES: usize = 1024 * 1024;

/// Tells about one run.
#[derive(Clone)]
pub(crate) struct Emitter {
    pub(crate) events: Events,
    pub(crate) log: EventLog,
    pub(crate) redactor: std::sync::Arc<Redactor>,
    /// The chat a person sees it in.
    pub(crate) session_id: String,
    pub(crate) run_id: String,
    /// A subagent's own words are told as steps of its job, not as messages of the chat.
    pub(crate) quiet: bool,
    pub(crate) trace: Trace,
}

impl Emitter {
    /// An event of the chat.
    pub(crate) fn chat(&self, body: ChatBody) {
        if !self.quiet {
            self.always(body);
        }
    }

    /// An event of the chat that subagents publish as well.
    pub(crate) fn always(&self, body: ChatBody) {
        let event = ChatEvent {
            seq: 0,
            ts: now_iso(),
            session_id: self.session_id.clone(),
            run_id: self.run_id.clone(),
            body,
        };
        self.events.publish(event.into());
    }

    /// Publishes one piece of answer text. Called for every token; never touches the store.
    pub(crate) fn delta(&self, kind: DeltaKind, message_id: &str, delta: &str, offset: usize) {
        if delta.len() > PIECE_BYTES {
            return;
        }
        let body = DeltaBody { message_id: message_id.to_owned(), delta: delta.to_owned(), offset };
        self.chat(match kind {
            DeltaKind::Text => ChatBody::AssistantDelta(body),
            DeltaKind::Reasoning => ChatBody::AssistantReasoningDelta(body),
        });
    }

    /// A change of the run for lists of runs.
    pub(crate) fn run_changed(&self, state: RunState, reason: Option<RunEnd>) {
        let (id, session_id) = (self.run_id.clone(), self.session_id.clone());
        self.events.publish(HostEvent::RunChanged(RunChanged { id, state, session_id }));
        let body = RunStateBody { state, reason };
        self.chat(ChatBody::RunState(body.clone()));
        self.line(RunLine::RunState(body));
    }

    /// A line of the record.
    pub(crate) fn line(&self, line: RunLine) {
        self.traced(line, &self.trace);
    }

    /// A line of the record that belongs to a span of its own.
    pub(crate) fn traced(&self, line: RunLine, trace: &Trace) {
        self.log.append(RunRecord {
            seq: 0,
            ts: now_iso(),
            kind: line.kind(),
            run_id: self.run_id.clone(),
            payload: RunPayload { session_id: self.session_id.clone(), trace: trace.clone(), line },
        });
    }

    /// Arguments as events show them.
    pub(crate) fn arguments(&self, text: &str) -> String {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => {
                let value = self.redactor.value(&value, ARGUMENT_CHARS);
                self.redactor.trimmed(&value.to_string(), ARGUMENT_CHARS)
            }
            Err(_) => self.redactor.trimmed(text, ARGUMENT_CHARS),
        }
    }

    /// A result as lines show it.
    pub(crate) fn result(&self, text: &str) -> String {
        self.redactor.trimmed(text, RESULT_CHARS)
    }

    /// Something a person should know.
    pub(crate) fn notice(&self, level: Severity, code: &str, message: &Text, lang: chatos_tool::Lang) {
        let body = NoticeBody { level, code: code.to_owned(), message: message.get(lang).to_owned() };
        self.chat(ChatBody::Notice(body.clone()));
        self.line(RunLine::Notice(body));
    }
}
