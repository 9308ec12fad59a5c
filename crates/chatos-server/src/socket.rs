//! The event WebSocket: frames in one order, resumable, bounded, one way but for pings.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use chatos_events::{Resume, Subscription};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::SessionId;

/// A client that takes longer than this for one frame is gone.
const SEND_TIME: Duration = Duration::from_secs(10);
/// Keeps middle boxes and sleeping laptops honest; a dead peer is noticed by the failed send.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Clients have nothing to say but pings; more per second than this is an attack or a bug.
const INCOMING_PER_SECOND: u32 = 50;

/// Serves one client until it leaves, is too slow, or the host stops.
pub(crate) async fn run(app: App, socket: WebSocket, session: SessionId, since: Option<u64>) {
    let mut subscription = app.host().events().subscribe(since);
    let (mut sink, mut stream) = socket.split();
    let shutdown = app.host().shutdown().clone();
    let over = app.auth().over(session);
    if send(&mut sink, hello(&app, &subscription)).await.is_err() {
        return;
    }
    let mut ping = tokio::time::interval(PING_EVERY);
    ping.reset();
    let mut budget = Budget::new();
    let goodbye = loop {
        tokio::select! {
            () = shutdown.cancelled() => break Some((1001, "the host is stopping")),
            () = over.cancelled() => break Some((1008, "signed out")),
            frame = subscription.next() => match frame {
                Some(frame) => {
                    if send(&mut sink, Message::text(frame.text.to_string())).await.is_err() {
                        break None;
                    }
                }
                None => break Some((1013, "too slow")),
            },
            incoming = stream.next() => match incoming {
                None | Some(Ok(Message::Close(_))) => break None,
                Some(Err(error)) => break refusal(&error),
                Some(Ok(_)) if !budget.spend() => break Some((1008, "too many messages")),
                Some(Ok(Message::Text(text))) => {
                    if is_ping(&text) && send(&mut sink, pong(&subscription)).await.is_err() {
                        break None;
                    }
                }
                Some(Ok(Message::Binary(_))) => break Some((1003, "text only")),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            },
            _ = ping.tick() => {
                if send(&mut sink, Message::Ping(Vec::new().into())).await.is_err() {
                    break None;
                }
            }
        }
    };
    if let Some((code, reason)) = goodbye {
        let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
        // The peer may be gone already; there is nobody left to tell.
        send(&mut sink, close).await.ok();
    }
    // Answers a close of the client's side, too; a client that does not take it has its time.
    tokio::time::timeout(SEND_TIME, sink.close()).await.ok();
}

/// The close code for what a client sent against the protocol; none when it is simply gone. The
/// library tells its reasons only as text.
fn refusal(error: &axum::Error) -> Option<(u16, &'static str)> {
    let text = error.to_string();
    if text.starts_with("Space limit") {
        Some((1009, "too large"))
    } else if text.starts_with("UTF-8") {
        Some((1007, "not text"))
    } else if text.starts_with("WebSocket protocol error") && !text.contains("without closing handshake") {
        Some((1002, "protocol error"))
    } else {
        None
    }
}

type Sink = futures_util::stream::SplitSink<WebSocket, Message>;

async fn send(sink: &mut Sink, message: Message) -> Result<(), ()> {
    match tokio::time::timeout(SEND_TIME, sink.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(()),
    }
}

fn hello(app: &App, subscription: &Subscription) -> Message {
    let resumed = subscription.resume == Resume::Continues;
    let kind = if resumed { "hello" } else { "resync" };
    frame(
        subscription.seq,
        kind,
        &json!({ "version": chatos_host::VERSION, "bootId": app.boot_id(), "resumed": resumed }),
    )
}

fn pong(subscription: &Subscription) -> Message {
    frame(subscription.seq, "pong", &Value::Null)
}

fn frame(seq: u64, kind: &str, data: &Value) -> Message {
    Message::text(json!({ "seq": seq, "topic": "host", "type": kind, "data": data }).to_string())
}

fn is_ping(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value["type"] == "ping")
}

struct Budget {
    since: tokio::time::Instant,
    spent: u32,
}

impl Budget {
    fn new() -> Self {
        Self { since: tokio::time::Instant::now(), spent: 0 }
    }

    fn spend(&mut self) -> bool {
        if self.since.elapsed() >= Duration::from_secs(1) {
            *self = Self::new();
        }
        self.spent += 1;
        self.spent <= INCOMING_PER_SECOND
    }
}
