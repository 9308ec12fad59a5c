//! Events of one chat as a long poll, for terminals and scripts; browsers have the socket.

use std::time::Duration;

use serde_json::Value;

use super::desk::Runs;
use chatos_events::Resume;
use chatos_tool::Fault;
use chatos_wire::session::EventBatch;

impl Runs {
    /// The events of a chat after `since`, waiting for the first one up to `wait`. With `since` 0 only
    /// the present position is told.
    pub async fn follow(&self, session: &str, since: u64, wait: Duration) -> Result<EventBatch, Fault> {
        let parts = self.open()?;
        let topic = format!("chat:{session}");
        let mut subscription = parts.events.subscribe((since > 0).then_some(since));
        let resync = subscription.resume == Resume::Resync;
        let mut batch = EventBatch { events: Vec::new(), next: subscription.seq, resync };
        if since == 0 || resync {
            return Ok(batch);
        }
        batch.next = since;
        let deadline = tokio::time::Instant::now() + wait.min(Duration::from_secs(55));
        loop {
            // What is there is taken at once; only the first one is waited for.
            let until = if batch.events.is_empty() { deadline } else { tokio::time::Instant::now() };
            let frame = tokio::select! {
                biased;
                frame = subscription.next() => frame,
                () = tokio::time::sleep_until(until) => return Ok(batch),
                () = parts.life.stop().cancelled() => return Ok(batch),
            };
            let Some(frame) = frame else {
                batch.resync = true;
                return Ok(batch);
            };
            batch.next = batch.next.max(frame.seq);
            if frame.text.contains(&topic)
                && let Ok(mut whole) = serde_json::from_str::<Value>(&frame.text)
                && whole["topic"] == topic.as_str()
            {
                batch.events.push(whole["data"].take());
                if batch.events.len() >= 1000 {
                    return Ok(batch);
                }
            }
        }
    }
}
