//! What an agent tells in a turn: text, thoughts, calls, its plan, how full its window is.

use std::sync::Arc;

use chatos_agent::{DeltaKind, Finished};
use chatos_mcp::Progress as Sign;
use chatos_model::Reasoning;
use chatos_servers::Toolset;
use chatos_tool::{Fault, Text};
use chatos_wire::{RunEnd, Severity};
use serde_json::{Value, json};

use super::Work;
use super::texts::text_cut;
use crate::calls::{CALLS, model_call};
use crate::head::unread;
use crate::link::Incoming;
use crate::message::{Kind, Progress, ToolCall, block_text, plan_lines};
use crate::permission::changed;
use crate::session;

/// Longest answer of one message, and of all messages of a turn together.
const TEXT_BYTES: usize = 1 << 20;
const TURN_BYTES: usize = 8 << 20;

/// Whether an agent may name a call so; ours begin with a character that none of theirs has.
pub(super) fn is_name(id: &str) -> bool {
    !id.is_empty() && id.len() <= 1_000 && !id.starts_with('\u{0}')
}

impl Work<'_> {
    pub(super) async fn heard(&mut self, incoming: Incoming) -> Result<(), Fault> {
        match incoming {
            Incoming::Note { method, params } if method == "session/update" => {
                let ours =
                    self.seat.as_ref().is_some_and(|seat| params["sessionId"] == seat.session.as_str());
                if ours { self.update(&params["update"]).await } else { Ok(()) }
            }
            Incoming::Request { id, method, params } if method == "session/request_permission" => {
                self.permission(id, params).await
            }
            Incoming::Request { id, method, params } => self.requested(id, &method, params).await,
            Incoming::Note { .. } | Incoming::Gone(_) => Ok(()),
        }
    }

    async fn update(&mut self, update: &Value) -> Result<(), Fault> {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let of_held = kind == "tool_call_update"
            && self.held.as_ref().is_some_and(|held| update["toolCallId"] == held.id.as_str());
        if !of_held && kind != "usage_update" {
            self.release().await?;
        }
        if matches!(
            kind,
            "usage_update" | "current_mode_update" | "config_option_update" | "available_commands_update"
        ) && let Some(seat) = &mut self.seat
        {
            let before = seat.told.clone();
            session::updated(&mut seat.told, update);
            self.news |= before != seat.told;
        }
        match kind {
            "agent_message_chunk" => self.chunk(DeltaKind::Text, update).await,
            "agent_thought_chunk" => self.chunk(DeltaKind::Reasoning, update).await,
            "tool_call" | "tool_call_update" => self.tool_call(update).await,
            "plan" => self.plan(update).await,
            "usage_update" => {
                let number = |key: &str| update[key].as_u64().unwrap_or_default();
                self.context = Some((number("used"), number("size")));
                Ok(())
            }
            other => {
                tracing::debug!(kind = other, "an agent tells something there is no place for");
                Ok(())
            }
        }
    }

    async fn chunk(&mut self, kind: DeltaKind, update: &Value) -> Result<(), Fault> {
        let text = block_text(&update["content"]);
        // A thought after words belongs to the next message.
        if kind == DeltaKind::Reasoning && !self.text.text.is_empty() {
            self.close_answer(Vec::new()).await?;
        }
        let too_long = unread(update).next().is_some();
        if text.is_empty() && !too_long {
            return Ok(());
        }
        let room = TEXT_BYTES.saturating_sub(self.text.text.len() + self.thought.text.len());
        let room = room.min(TURN_BYTES.saturating_sub(self.kept));
        if (too_long || text.len() > room) && !std::mem::replace(&mut self.cut, true) {
            self.turn.stage.notice(Severity::Warning, "text_cut", &text_cut(&self.turn.agent));
        }
        let end = (0..=room.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let text = &text[..end];
        if text.is_empty() {
            return Ok(());
        }
        self.kept += text.len();
        self.begin_answer(None, &[]).await?;
        let Some(answering) = &self.answering else { return Ok(()) };
        let whole = if kind == DeltaKind::Text { &mut self.text } else { &mut self.thought };
        let offset = whole.push(text);
        self.turn.stage.delta(answering, kind, text, offset);
        Ok(())
    }

    /// Keeps what came of the answer so far.
    pub(super) async fn flush(&mut self) -> Result<(), Fault> {
        let size = self.text.text.len() + self.thought.text.len();
        let Some(answering) = self.answering.as_ref().filter(|_| size > self.flushed) else { return Ok(()) };
        self.flushed = size;
        self.turn.stage.flush(answering, self.text.text.clone(), self.thought.text.clone()).await
    }

    /// Ends the message that is being written, with the calls it leads to.
    pub(super) async fn close_answer(&mut self, calls: Vec<chatos_model::ToolCall>) -> Result<(), Fault> {
        let Some(answering) = self.answering.take() else { return Ok(()) };
        let (text, thought) = (self.text.take(), self.thought.take());
        let reasoning =
            if thought.is_empty() { Vec::new() } else { vec![Reasoning { text: thought, opaque: None }] };
        let finished = Finished {
            text,
            reasoning,
            calls,
            usage: std::mem::take(&mut self.usage),
            stop: RunEnd::End,
            set: Arc::new(Toolset::default()),
            measured: None,
            context: self.context(),
        };
        self.turn.stage.finish_answer(&answering, finished).await
    }

    /// Shows the call that was held back.
    pub(super) async fn release(&mut self) -> Result<(), Fault> {
        match self.held.take() {
            Some(call) => self.announce(call).await,
            None => Ok(()),
        }
    }

    /// Writes a call down: a message that leads to it, its step.
    pub(super) async fn announce(&mut self, mut call: ToolCall) -> Result<(), Fault> {
        self.calls.fit(&mut call);
        self.begin_answer(None, &[]).await?;
        let message =
            self.answering.as_ref().map(|answering| answering.message_id.clone()).unwrap_or_default();
        let scene = self.scene();
        self.close_answer(vec![model_call(&scene, &call)]).await?;
        let id = call.id.clone();
        self.calls.begin(&scene, message, call).await?;
        self.calls.follow(&scene, &id).await
    }

    async fn tool_call(&mut self, update: &Value) -> Result<(), Fault> {
        let id = update["toolCallId"].as_str().unwrap_or_default();
        if !is_name(id) || self.calls.ended.contains(id) {
            return Ok(());
        }
        if self.calls.open.contains_key(id) {
            return self.changed_call(id, update).await;
        }
        if self.calls.open.len() + self.calls.ended.len() >= CALLS {
            return Ok(());
        }
        let mut call = self.held.take().filter(|held| held.id == id).unwrap_or_default();
        id.clone_into(&mut call.id);
        call.told(update);
        if call.progress == Progress::Pending {
            self.held = Some(call);
            return Ok(());
        }
        self.announce(call).await
    }

    async fn changed_call(&mut self, id: &str, update: &Value) -> Result<(), Fault> {
        let scene = self.scene();
        let Some(open) = self.calls.open.get_mut(id) else { return Ok(()) };
        let changed = open.approved.as_ref().is_some_and(|approved| changed(approved, update));
        open.call.told(update);
        if changed {
            return self.alarm(id).await;
        }
        self.calls.bound(id);
        let Some(open) = self.calls.open.get(id) else { return Ok(()) };
        if open.call.progress == Progress::Done && !self.keeps_promise(id).await? {
            return self.break_off(id).await;
        }
        if self.calls.open.get(id).is_some_and(|open| open.call.progress == Progress::Failed) {
            self.doubt(id).await?;
        }
        let Some(open) = self.calls.open.get_mut(id) else { return Ok(()) };
        let over = matches!(open.call.progress, Progress::Done | Progress::Failed);
        if over && !open.call.terminals.is_empty() {
            self.fill(id);
        }
        let Some(open) = self.calls.open.get_mut(id) else { return Ok(()) };
        if open.call.progress == Progress::Running && update["content"].is_array() {
            let last = open.call.text.lines().next_back().unwrap_or_default();
            let message: String = last.chars().take(200).collect();
            if !message.trim().is_empty() {
                open.observer.progress(&Sign {
                    progress: 0.0,
                    total: None,
                    message: Some(message),
                    meta: None,
                });
            }
        }
        self.calls.follow(&scene, id).await
    }

    /// It does something else than a person saw, or may do: the turn is stopped.
    pub(super) async fn alarm(&mut self, id: &str) -> Result<(), Fault> {
        let message = if self.calls.open.get(id).is_some_and(|open| open.call.shed) {
            Text::fixed(
                "told again after it was approved, and too large to be compared; the turn was stopped",
                "批准之后又发来新的内容，过大而无法比对；本轮已停止",
            )
        } else {
            Text::fixed(
                "changed after it was approved; the turn was stopped",
                "批准之后内容发生变化；本轮已停止",
            )
        };
        self.stop_for(id, "changed_after_approval", message).await
    }

    /// Stops the turn because the agent cannot be believed.
    pub(super) async fn stop_for(
        &mut self,
        id: &str,
        code: &'static str,
        message: Text,
    ) -> Result<(), Fault> {
        let turn = self.turn;
        if let Some(open) = self.calls.open.get_mut(id) {
            open.refused =
                Some(chatos_tool::ToolError::unavailable(chatos_tool::Needed::Process, message.clone()));
        }
        let details = json!({ "agentId": turn.agent_id, "runId": turn.run.id, "call": crate::calls::call_id(&turn.run.id, id) });
        turn.audit.audit(code, details);
        turn.stage.notice(Severity::Error, code, &message);
        self.alarm = Some(code);
        let Some(seat) = &self.seat else { return Ok(()) };
        let (link, session) = (seat.link.clone(), seat.session.clone());
        if link.tell("session/cancel", json!({ "sessionId": session })).await.is_ok() {
            for waiting in self.waiting.values() {
                link.call_off(waiting.rpc_id.clone(), waiting.method).await;
            }
            tokio::time::sleep(super::PATIENCE).await;
        }
        // Whatever it says to that: it goes no further.
        link.gone("it was stopped because it did something else than it had announced");
        Ok(())
    }

    async fn plan(&mut self, update: &Value) -> Result<(), Fault> {
        if !update["entries"].is_array() {
            return Ok(());
        }
        let lines = plan_lines(update);
        let done = lines.iter().filter(|line| line.starts_with("- [x]")).count();
        self.plan = Some((done, lines.len()));
        if self.plan_id.is_empty() {
            // Each life of the agent makes its own.
            self.plan_id = format!("\u{0}plan-{}", uuid::Uuid::new_v4().simple());
        }
        if !self.calls.open.contains_key(&self.plan_id) {
            let call = ToolCall {
                id: self.plan_id.clone(),
                kind: Kind::Plan,
                progress: Progress::Running,
                text: lines.join("\n"),
                ..ToolCall::default()
            };
            self.announce(call).await?;
        }
        if let Some(open) = self.calls.open.get_mut(&self.plan_id) {
            open.call.text = lines.join("\n");
            let total = Some(lines.len() as f64);
            let message = Some(open.call.text.clone());
            open.observer.progress(&Sign { progress: done as f64, total, message, meta: None });
        }
        Ok(())
    }
}
