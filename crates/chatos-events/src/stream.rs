//! The event stream: one order for everybody, a bounded past to resume from, slow readers dropped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use chatos_wire::event::HostEvent;
use serde::Serialize;
use tokio::sync::Notify;

/// Frames kept for resuming clients. Fewer would resync a laptop that slept for a minute; more would
/// only hold memory, because a resync is cheap.
const KEEP_FRAMES: usize = 10_000;
const KEEP_BYTES: usize = 8 * 1024 * 1024;
/// security T2: a client that does not read is dropped, never the host slowed.
const CLIENT_BYTES: usize = 4 * 1024 * 1024;

/// One event as it goes over the wire.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Position in the stream of this start; never repeats, also not across starts.
    pub seq: u64,
    /// `{seq, topic, type, data}` as text, made once for all readers.
    pub text: Arc<str>,
}

/// A frame as it is written.
#[derive(Serialize)]
struct FrameText<'a> {
    seq: u64,
    topic: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    data: &'a HostEvent,
}

/// Where a new subscription stands relative to what the client saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Everything since was replayed, or nothing was asked for.
    Continues,
    /// The past is gone or belongs to another start: the client must read everything again.
    Resync,
}

/// Publishes frames to every subscription.
#[derive(Clone)]
pub struct Events {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    next: u64,
    past: VecDeque<Frame>,
    past_bytes: usize,
    readers: Vec<Weak<Queue>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    wake: Notify,
}

#[derive(Default)]
struct QueueState {
    frames: VecDeque<Frame>,
    bytes: usize,
    overflowed: bool,
}

/// One client's place in the stream.
pub struct Subscription {
    queue: Arc<Queue>,
    /// How it continues what the client saw before.
    pub resume: Resume,
    /// The newest position at the time of subscribing.
    pub seq: u64,
}

impl Events {
    /// A new stream. Positions begin at the wall clock, so that those of an earlier start always lie
    /// before the kept past and lead to a resync; they stay exact in JavaScript numbers.
    pub fn new(now_ms: i64) -> Self {
        let first = u64::try_from(now_ms).unwrap_or_default().saturating_mul(1000);
        let shared = Shared { next: first + 1, past: VecDeque::new(), past_bytes: 0, readers: Vec::new() };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    /// Sends an event to everybody and returns its position.
    pub fn publish(&self, mut event: HostEvent) -> u64 {
        let (topic, kind) = (event.topic(), event.kind());
        let mut shared = lock(&self.shared);
        let seq = shared.next;
        shared.next += 1;
        event.set_seq(seq);
        let text = match serde_json::to_string(&FrameText { seq, topic: &topic, kind, data: &event }) {
            Ok(text) => text,
            Err(error) => {
                tracing::error!(%error, kind, "an event cannot be written as JSON");
                return seq;
            }
        };
        let frame = Frame { seq, text: text.into() };
        shared.past_bytes += frame.text.len();
        shared.past.push_back(frame.clone());
        while shared.past.len() > KEEP_FRAMES || (shared.past_bytes > KEEP_BYTES && shared.past.len() > 1) {
            if let Some(old) = shared.past.pop_front() {
                shared.past_bytes -= old.text.len();
            }
        }
        shared.readers.retain(|reader| {
            let Some(queue) = reader.upgrade() else { return false };
            queue.push(frame.clone());
            true
        });
        seq
    }

    /// Begins reading, after `since` where that is still known.
    pub fn subscribe(&self, since: Option<u64>) -> Subscription {
        let mut shared = lock(&self.shared);
        let queue = Arc::new(Queue::default());
        let newest = shared.next - 1;
        let resume = match since {
            None => Resume::Continues,
            Some(since) => {
                let oldest = shared.past.front().map_or(shared.next, |frame| frame.seq);
                let missed = || shared.past.iter().filter(|frame| frame.seq > since);
                // More than a reader may have waiting would drop it again, and again after every return.
                let much = || missed().map(|frame| frame.text.len()).sum::<usize>() > CLIENT_BYTES;
                if since > newest || since + 1 < oldest || much() {
                    Resume::Resync
                } else {
                    for frame in missed() {
                        queue.push(frame.clone());
                    }
                    Resume::Continues
                }
            }
        };
        shared.readers.push(Arc::downgrade(&queue));
        Subscription { queue, resume, seq: newest }
    }
}

impl Queue {
    fn push(&self, frame: Frame) {
        let mut state = lock(&self.state);
        if state.overflowed {
            return;
        }
        state.bytes += frame.text.len();
        if state.bytes > CLIENT_BYTES {
            state.overflowed = true;
            state.frames.clear();
        } else {
            state.frames.push_back(frame);
        }
        drop(state);
        self.wake.notify_one();
    }
}

impl Subscription {
    /// The next frame; `None` when this reader was too slow and must be dropped.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            {
                let mut state = lock(&self.queue.state);
                if state.overflowed {
                    return None;
                }
                if let Some(frame) = state.frames.pop_front() {
                    state.bytes -= frame.text.len();
                    return Some(frame);
                }
            }
            self.queue.wake.notified().await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use chatos_wire::chat_event::{ChatBody, ChatEvent, DeltaBody};
    use chatos_wire::event::{ChangedPlugins, ToolLogLine};
    use serde_json::{Value, json};

    use super::*;

    fn number(revision: u64) -> HostEvent {
        HostEvent::PluginsChanged(ChangedPlugins { revision })
    }

    async fn texts(subscription: &mut Subscription, count: usize) -> Vec<String> {
        let mut all = Vec::new();
        for _ in 0..count {
            let frame = subscription.next().await.unwrap();
            let value: Value = serde_json::from_str(&frame.text).unwrap();
            all.push(value["data"]["revision"].to_string());
        }
        all
    }

    #[tokio::test]
    async fn a_client_resumes_exactly_where_it_was() {
        let hub = Events::new(1_000);
        let first = hub.publish(number(1));
        hub.publish(number(2));
        let mut again = hub.subscribe(Some(first));
        assert_eq!(again.resume, Resume::Continues);
        hub.publish(number(3));
        assert_eq!(texts(&mut again, 2).await, ["2", "3"]);
    }

    #[tokio::test]
    async fn another_start_and_a_lost_past_mean_resync() {
        let old = Events::new(1_000);
        let seen = old.publish(number(1));
        let new = Events::new(2_000);
        assert_eq!(new.subscribe(Some(seen)).resume, Resume::Resync);
        assert_eq!(new.subscribe(Some(u64::MAX)).resume, Resume::Resync);
        let first = new.publish(number(0));
        for revision in 0..=KEEP_FRAMES {
            new.publish(number(revision as u64));
        }
        assert_eq!(new.subscribe(Some(first - 1)).resume, Resume::Resync);
        assert_eq!(new.subscribe(None).resume, Resume::Continues);
    }

    #[tokio::test]
    async fn a_reader_that_never_reads_is_dropped_and_others_go_on() {
        let hub = Events::new(0);
        let mut slow = hub.subscribe(None);
        let big = || HostEvent::ToolLog(ToolLogLine(json!("x".repeat(1024 * 1024))));
        let mut quick = hub.subscribe(None);
        for _ in 0..6 {
            hub.publish(big());
            assert!(quick.next().await.is_some());
        }
        assert!(slow.next().await.is_none());
    }

    #[tokio::test]
    async fn who_missed_more_than_may_wait_reads_everything_again_and_is_not_dropped_once_more() {
        let hub = Events::new(0);
        let seen = hub.publish(number(1));
        hub.publish(HostEvent::ToolLog(ToolLogLine(json!("x".repeat(5 * 1024 * 1024)))));
        let mut again = hub.subscribe(Some(seen));
        assert_eq!(again.resume, Resume::Resync);
        hub.publish(number(2));
        assert_eq!(texts(&mut again, 1).await, ["2"]);
    }

    #[tokio::test]
    async fn a_frame_has_its_names_from_the_event_and_a_chat_knows_its_position() {
        let hub = Events::new(0);
        let mut reader = hub.subscribe(None);
        hub.publish(number(7));
        let body = DeltaBody { message_id: "m".to_owned(), delta: "hi".to_owned(), offset: 3 };
        let event = ChatEvent {
            seq: 0,
            ts: "t".to_owned(),
            session_id: "s".to_owned(),
            run_id: "r".to_owned(),
            body: ChatBody::AssistantDelta(body),
        };
        hub.publish(event.into());
        let mut next =
            async || -> Value { serde_json::from_str(&reader.next().await.unwrap().text).unwrap() };
        let plain =
            json!({ "seq": 1, "topic": "plugins", "type": "plugins_changed", "data": { "revision": 7 } });
        assert_eq!(next().await, plain);
        let chat = json!({
            "seq": 2, "topic": "chat:s", "type": "assistant_delta",
            "data": { "seq": 2, "ts": "t", "type": "assistant_delta", "sessionId": "s", "runId": "r",
                      "messageId": "m", "delta": "hi", "offset": 3 },
        });
        assert_eq!(next().await, chat);
    }
}
