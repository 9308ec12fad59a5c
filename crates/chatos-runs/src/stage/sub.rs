//! What a subagent says and does, as steps of its job for those who watch it (agents §10.4).

use std::sync::atomic::Ordering;

use chatos_store::ToolCallRow;
use chatos_wire::chat_event::{ChatBody, SubagentStepBody};
use chatos_wire::run_line::RunLine;
use serde_json::{Value, json};

use super::state::Inner;
use chatos_records::sub_steps;

impl Inner {
    /// Tells a step of a subagent, keyed by its number (agents §10.4).
    pub(super) fn sub_step(&self, kind: &str, payload: Value) {
        let Some(job) = &self.parts.run.job_id else { return };
        let index = self.told.fetch_add(1, Ordering::Relaxed);
        let mut step = json!({ "index": index, "ts": chatos_store::now_iso(), "type": kind });
        if let (Some(step), Value::Object(payload)) = (step.as_object_mut(), payload) {
            step.extend(payload);
        }
        let call_id = self.parts.run.parent_call_id.clone();
        let body = SubagentStepBody { job_id: job.clone(), call_id, step };
        self.parts.emitter.always(ChatBody::SubagentStep(body.clone()));
        self.parts.emitter.line(RunLine::SubagentStep(body.clone()));
        self.parts.runs.sub_progress(job, &body.step);
    }

    /// A subagent's answer as steps of its job.
    pub(super) fn tell_answer(&self, text: &str, thought: &str, calls: &[ToolCallRow]) {
        if self.parts.run.job_id.is_none() {
            return;
        }
        self.sub_step("assistant", sub_steps::assistant(text, thought));
        for call in calls {
            self.sub_step("tool_call", sub_steps::call(call));
        }
    }
}
