//! A message of the person while the agent's turn goes on: agents that say so take it into that turn
//! (`_session/steering`, other-agents §4.6), for others it is the next message of the same run.

use std::time::Duration;

use chatos_agent::Speaker;
use chatos_tool::Fault;
use serde_json::{Value, json};

use super::{Had, Work};

/// What an agent has to say whether it took a message.
const TAKING: Duration = Duration::from_secs(20);
/// How long that is waited for once its turn is over.
const LAST: Duration = Duration::from_secs(2);

impl Work<'_> {
    /// What the person wrote since the agent was last told something, and what it then has.
    pub(super) async fn corrections(&self) -> Result<(Vec<Value>, Had), Fault> {
        let corrections = self.turn.steer.seen();
        let chat = self.turn.stage.chat().await?;
        let own = |entry: &&chatos_agent::Entry| {
            entry.run_id == self.turn.run.id && entry.speaker == Speaker::User && entry.seq > self.had.seq
        };
        let new: Vec<_> = chat.entries.iter().filter(own).collect();
        let seq = new.iter().map(|entry| entry.seq).max().unwrap_or(self.had.seq);
        let blocks = new.iter().map(|entry| json!({ "type": "text", "text": entry.text })).collect();
        Ok((blocks, Had { corrections, seq }))
    }

    /// Gives what the person wrote to the agent now.
    pub(super) async fn steer(&mut self) -> Result<(), Fault> {
        let (blocks, had) = self.corrections().await?;
        let Some(seat) = self.seat.as_ref().filter(|_| !blocks.is_empty()) else {
            self.had = had;
            return Ok(());
        };
        // Where its turn is over by then it says so, and the message is ours to send.
        let order = json!({
            "sessionId": seat.session, "prompt": blocks,
            "_meta": { "steering": { "idleBehavior": "promptRequired" } },
        });
        let link = seat.link.clone();
        self.steering.spawn(async move {
            let said = link.call("_session/steering", order, TAKING).await;
            let took = said.as_ref().is_ok_and(|said| said["outcome"] != "promptRequired");
            if !took {
                tracing::debug!(?said, "an agent takes no message while it works");
            }
            took.then_some(had)
        });
        Ok(())
    }

    /// The agent has it, or it is its next message.
    pub(super) async fn steered(&mut self, had: Option<Had>) -> Result<(), Fault> {
        let Some(had) = had else {
            self.unsteered = true;
            return Ok(());
        };
        self.had = had;
        // What it says from now on stands below what the person wrote.
        self.release().await?;
        if !self.text.text.is_empty() || !self.thought.text.is_empty() {
            self.close_answer(Vec::new()).await?;
        }
        Ok(())
    }

    /// Its turn is over while a message was on its way.
    pub(super) async fn steered_last(&mut self) -> Result<(), Fault> {
        while !self.steering.is_empty() {
            match tokio::time::timeout(LAST, self.steering.join_next()).await {
                Ok(Some(steered)) => self.steered(steered.ok().flatten()).await?,
                _ => self.steering.abort_all(),
            }
        }
        Ok(())
    }
}
