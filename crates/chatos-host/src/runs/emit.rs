//! What everybody hears of a run: chat events on the stream (agents §11) and lines of events.jsonl (§13).

use chatos_store::now_iso;
use chatos_tool::{Redactor, Text, Trace};
use chatos_wire::{RunEnd, RunState};
use serde_json::{Map, Value, json};

use super::record::EventLog;
use crate::events::EventHub;

/// Longest arguments in an event.
const ARGUMENT_CHARS: usize = 4_000;
/// Longest result in a line.
const RESULT_CHARS: usize = 6_000;

/// Tells about one run.
#[derive(Clone)]
pub(crate) struct Emitter {
    pub(crate) events: EventHub,
    pub(crate) log: EventLog,
    pub(crate) redactor: std::sync::Arc<Redactor>,
    /// The chat a person sees it in.
    pub(crate) session_id: String,
    pub(crate) run_id: String,
    /// A sub agent's own words are told as steps of its job, not as messages of the chat.
    pub(crate) quiet: bool,
    pub(crate) trace: Trace,
}

impl Emitter {
    /// An event of the chat.
    pub(crate) fn chat(&self, kind: &str, payload: Value) {
        if !self.quiet {
            self.always(kind, payload);
        }
    }

    /// An event of the chat that sub agents tell as well.
    pub(crate) fn always(&self, kind: &str, payload: Value) {
        let mut data = Map::new();
        data.insert("ts".to_owned(), Value::from(now_iso()));
        data.insert("type".to_owned(), Value::from(kind));
        data.insert("sessionId".to_owned(), Value::from(self.session_id.clone()));
        data.insert("runId".to_owned(), Value::from(self.run_id.clone()));
        if let Value::Object(payload) = payload {
            data.extend(payload);
        }
        self.events.publish_numbered(&format!("chat:{}", self.session_id), kind, data);
    }

    /// A delta: the hot path, so without a detour over maps of maps.
    pub(crate) fn delta(&self, kind: &str, message_id: &str, delta: &str, offset: usize) {
        self.chat(kind, json!({ "messageId": message_id, "delta": delta, "offset": offset }));
    }

    /// A change of the run for lists of runs.
    pub(crate) fn run_changed(&self, state: RunState, reason: Option<RunEnd>) {
        let data = json!({ "id": self.run_id, "state": state, "sessionId": self.session_id });
        self.events.publish("runs", "run_changed", &data);
        let mut payload = json!({ "state": state });
        if let Some(reason) = reason {
            payload["reason"] = Value::from(reason.as_str());
        }
        self.chat("run_state", payload.clone());
        self.line("run_state", payload);
    }

    /// A line of the record.
    pub(crate) fn line(&self, kind: &str, payload: Value) {
        self.traced(kind, payload, &self.trace);
    }

    /// A line of the record that belongs to a span of its own.
    pub(crate) fn traced(&self, kind: &str, payload: Value, trace: &Trace) {
        let mut all = Map::new();
        all.insert("sessionId".to_owned(), Value::from(self.session_id.clone()));
        all.insert("trace".to_owned(), serde_json::to_value(trace).unwrap_or_default());
        if let Value::Object(payload) = payload {
            all.extend(payload);
        }
        let line = json!({
            "seq": 0, "ts": now_iso(), "type": kind, "runId": self.run_id, "payload": Value::Object(all),
        });
        self.log.append(line);
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
    pub(crate) fn notice(&self, level: &str, code: &str, message: &Text, lang: chatos_tool::Lang) {
        let payload = json!({ "level": level, "code": code, "message": message.get(lang) });
        self.chat("notice", payload.clone());
        self.line("notice", payload);
    }
}
