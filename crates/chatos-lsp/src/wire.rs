//! Requests and answers with one language server: numbers, waiting, withdrawing.
//!
//! Whoever stops waiting, for whatever reason, sends the protocol's cancel and is forgotten at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::frame::framed;

/// Messages on their way out. A server that does not read makes its own callers wait, nobody else.
const OUTGOING: usize = 256;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The server is gone.
    Gone,
    /// It did not answer in time; `heard` says whether it said anything meanwhile.
    Timeout {
        heard: bool,
    },
    Server {
        code: i64,
        message: String,
    },
}

/// Codes of the protocol after which the same request makes sense again.
pub(crate) const CONTENT_MODIFIED: i64 = -32801;
pub(crate) const SERVER_CANCELLED: i64 = -32802;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

type Answer = Result<Value, Refusal>;

#[derive(Debug)]
pub(crate) struct Wire {
    out: mpsc::Sender<Vec<u8>>,
    pending: Mutex<HashMap<i64, oneshot::Sender<Answer>>>,
    next: AtomicI64,
    heard: AtomicU64,
    gone: CancellationToken,
}

/// Forgets a request when nobody waits any more, and tells the server.
struct Waiting<'a> {
    wire: &'a Wire,
    id: i64,
    tell: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.wire.pending().remove(&self.id);
        if self.tell {
            self.wire.tell_now("$/cancelRequest", json!({ "id": self.id }));
        }
    }
}

impl Wire {
    /// A connection, and what is to be written to the server.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Vec<u8>>) {
        let (out, outgoing) = mpsc::channel(OUTGOING);
        let (pending, gone) = (Mutex::default(), CancellationToken::new());
        (Self { out, pending, next: AtomicI64::new(1), heard: AtomicU64::new(0), gone }, outgoing)
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, HashMap<i64, oneshot::Sender<Answer>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancelled when the server is gone.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// Requests nobody answered yet.
    pub(crate) fn waiting(&self) -> usize {
        self.pending().len()
    }

    /// Something came from the server.
    pub(crate) fn hear(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// The server is gone: everybody who waits hears it.
    pub(crate) fn close(&self) {
        self.gone.cancel();
        self.pending().clear();
    }

    /// Gives an answer to whoever waits for it; one nobody waits for is dropped.
    pub(crate) fn answer(&self, id: i64, answer: Answer) {
        if let Some(waiting) = self.pending().remove(&id) {
            // Gone in this very moment; the answer is not needed.
            waiting.send(answer).ok();
        }
    }

    /// Asks and waits. Dropping it withdraws the request.
    pub(crate) async fn request(&self, method: &str, params: Value, time: Duration) -> Answer {
        if self.gone.is_cancelled() {
            return Err(Refusal::Gone);
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (give, take) = oneshot::channel();
        self.pending().insert(id, give);
        let mut waiting = Waiting { wire: self, id, tell: false };
        let heard = self.heard.load(Ordering::Relaxed);
        let body = message(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let work = async {
            self.out.send(body).await.map_err(|_| Refusal::Gone)?;
            waiting.tell = true;
            take.await.map_err(|_| Refusal::Gone)?
        };
        let answer = tokio::select! {
            biased;
            answer = tokio::time::timeout(time, work) => answer,
            () = self.gone.cancelled() => Ok(Err(Refusal::Gone)),
        };
        match answer {
            Ok(answer) => {
                waiting.tell = false;
                answer
            }
            Err(_) => Err(Refusal::Timeout { heard: self.heard.load(Ordering::Relaxed) != heard }),
        }
    }

    /// Says something, in order with everything else.
    pub(crate) async fn tell(&self, method: &str, params: Value) -> Result<(), Refusal> {
        let body = message(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        tokio::select! {
            biased;
            () = self.gone.cancelled() => Err(Refusal::Gone),
            sent = self.out.send(body) => sent.map_err(|_| Refusal::Gone),
        }
    }

    /// Says something if there is room; for places that cannot wait.
    pub(crate) fn tell_now(&self, method: &str, params: Value) {
        self.send_now(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Answers a request of the server.
    pub(crate) fn reply(&self, id: &Value, answer: Result<Value, (i64, &str)>) {
        self.send_now(&match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, message)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
            }
        });
    }

    fn send_now(&self, value: &Value) {
        if self.out.try_send(message(value)).is_err() {
            tracing::debug!("a language server does not read; a message to it is dropped");
        }
    }
}

fn message(value: &Value) -> Vec<u8> {
    framed(value.to_string().as_bytes())
}
