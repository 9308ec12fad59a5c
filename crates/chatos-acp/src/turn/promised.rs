//! A permission for a tool of our own gateway: let through where the gateway of this chat is there and asks by itself, and
//! held against what arrives at it. Everything else is asked about as usual.

use chatos_tool::{Fault, Text};
use serde_json::json;

use super::{Work, blocking};
use crate::message::{Progress, ToolCall};
use crate::ours::{Promise, is_door, named};

/// Why a turn is stopped whose agent said that it had used our gateway, and had not.
pub(super) const BROKEN: &str = "gateway_not_used";

impl Work<'_> {
    /// What the agent promises with this call: a tool that it was offered, at a gateway that is there.
    pub(super) async fn promised(&self, call: &ToolCall) -> Result<Option<Promise>, Fault> {
        let doubted = self.seat.as_ref().is_none_or(|seat| seat.doubted);
        let Some(name) = named(&call.title).filter(|_| !doubted) else { return Ok(None) };
        let tool = if is_door(name) { None } else { self.turn.hands.offered(name.to_owned()).await };
        if tool.is_none() && !is_door(name) {
            return Ok(None);
        }
        if self.gateways(true).await?.is_empty() {
            return Ok(None);
        }
        Ok(Some(Promise { tool, since: self.turn.seats.arrivals().now() }))
    }

    /// Sessions of this agent at the gateway it was given for this chat; those whose process is there, or all.
    async fn gateways(&self, living: bool) -> Result<Vec<String>, Fault> {
        let turn = self.turn;
        let (store, chat, agent) = (turn.store.clone(), turn.session_id.clone(), turn.agent_id.clone());
        let rows = blocking(move || store.clients()).await?;
        let lives = |process: Option<(u32, u64)>| {
            process.is_some_and(|(pid, start)| chatos_inbox::clients::lives(pid, start))
        };
        let own =
            rows.into_iter().filter(|row| row.kind == "gateway" && row.label == chat && row.agent == agent);
        Ok(own.filter(|row| !living || lives(row.process)).map(|row| row.id).collect())
    }

    /// Whether what the agent says is done arrived at the gateway, where it had promised that.
    pub(super) async fn keeps_promise(&mut self, id: &str) -> Result<bool, Fault> {
        let Some(promise) = self.calls.open.get(id).and_then(|open| open.promise.clone()) else {
            return Ok(true);
        };
        let clients = self.gateways(false).await?;
        let kept = self.turn.seats.arrivals().take(&promise, &clients);
        if let Some(open) = self.calls.open.get_mut(id).filter(|_| kept) {
            open.promise = None;
        }
        Ok(kept)
    }

    /// A promised call failed, as the agent says, and never arrived: from now on this process is asked about as usual.
    pub(super) async fn doubt(&mut self, id: &str) -> Result<(), Fault> {
        if !self.keeps_promise(id).await?
            && let Some(seat) = &mut self.seat
        {
            seat.doubted = true;
            let call = crate::calls::call_id(&self.turn.run.id, id);
            let details = json!({ "agentId": self.turn.agent_id, "runId": self.turn.run.id, "call": call });
            self.turn.audit.audit(BROKEN, details);
        }
        Ok(())
    }

    /// The agent did something else than use our gateway: the turn is stopped.
    pub(super) async fn break_off(&mut self, id: &str) -> Result<(), Fault> {
        let message = Text::fixed(
            "it said that it used a tool of ChatOS, and no such call arrived; the turn was stopped",
            "它声称使用了 ChatOS 的工具，但没有收到该调用；本轮已停止",
        );
        self.stop_for(id, BROKEN, message).await
    }

    /// Looks at the end of a turn for calls that were promised, have no outcome and did not arrive.
    pub(super) async fn broken_promises(&mut self) -> Result<(), Fault> {
        let promised = self.calls.open.iter().filter(|(_, open)| open.promise.is_some());
        let open: Vec<String> = promised
            .filter(|(_, open)| open.call.progress != Progress::Failed)
            .map(|(id, _)| id.clone())
            .collect();
        for id in open {
            if !self.keeps_promise(&id).await? {
                return self.break_off(&id).await;
            }
        }
        Ok(())
    }
}
