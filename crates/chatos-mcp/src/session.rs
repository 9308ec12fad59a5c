//! Requests over a road: one id, one waiter, one deadline each.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, Waited};
use crate::limits::{MESSAGE_BYTES, Times};
use crate::message;
use crate::router::{Ended, Progress, Router, Waiter};
use crate::transport::{Link, Outgoing};

/// How long the server may take to be told that nobody waits any more (mcp, progress and cancel).
const WITHDRAW: Duration = Duration::from_secs(2);

/// A road with its router.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) router: Arc<Router>,
    pub(crate) link: Arc<Link>,
    pub(crate) times: Times,
}

/// A request.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Map<String, Value>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) wait: Wait,
    pub(crate) cancel: Option<&'a CancellationToken>,
    pub(crate) progress: Option<mpsc::Sender<Progress>>,
    pub(crate) tag: Option<String>,
}

/// How long to wait, and for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// Without a sign of life; `None` for ever.
    pub(crate) idle: Option<Duration>,
    /// In all; `None` for ever.
    pub(crate) total: Option<Duration>,
    pub(crate) what: Waited,
}

impl Wait {
    pub(crate) fn total(what: Waited, total: Duration) -> Self {
        Self { idle: None, total: Some(total), what }
    }
}

impl<'a> Ask<'a> {
    pub(crate) fn new(method: &'a str, params: Map<String, Value>, wait: Wait) -> Self {
        Self { method, params, headers: Vec::new(), wait, cancel: None, progress: None, tag: None }
    }
}

impl Session {
    /// Sends a request and waits for its result. Dropping the future withdraws the request.
    pub(crate) async fn ask(&self, ask: Ask<'_>) -> Result<Value, Ended> {
        let unsent = |failure| Ended { failure, sent: false };
        let (reply, mut replied) = oneshot::channel();
        let (alive, seen) = watch::channel(Instant::now());
        let progressing = ask.progress.is_some() || ask.wait.idle.is_some();
        let listing = ask.method == "tools/list";
        let working = matches!(ask.method, "tools/call" | "tasks/get" | "resources/read" | "prompts/get");
        let waiter = Waiter { reply, progress: ask.progress, alive, tag: ask.tag, listing, working };
        let id = self.router.expect(waiter).map_err(unsent)?;
        let mut guard = Withdrawal { session: self, id, armed: true, can_cancel: ask.method != "initialize" };
        let mut params = ask.params;
        if progressing {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert("progressToken".to_owned(), json!(id));
            }
        }
        let bytes = message::request(id, ask.method, params);
        if bytes.len() > MESSAGE_BYTES {
            guard.armed = false;
            self.router.forget(id);
            let detail = "the request has more than 8 MiB".to_owned();
            return Err(unsent(Failure::Protocol { detail }));
        }
        let outgoing = Outgoing { bytes, id: Some(id), headers: ask.headers };
        let forever = CancellationToken::new();
        let cancel = ask.cancel.unwrap_or(&forever);
        let sent = tokio::select! {
            sent = self.link.send(outgoing, self.times.send) => sent,
            () = cancel.cancelled() => Err(Failure::Canceled),
        };
        if let Err(failure) = sent {
            // Nothing of it went out, so there is nothing to withdraw.
            guard.armed = false;
            self.router.forget(id);
            return Err(unsent(failure));
        }
        let started = Instant::now();
        let hard = ask.wait.total.map(|total| started + total);
        loop {
            let idle = ask.wait.idle.map(|idle| *seen.borrow() + idle);
            let until = match (idle, hard) {
                (Some(idle), Some(hard)) => Some(idle.min(hard)),
                (one, other) => one.or(other),
            };
            tokio::select! {
                biased;
                result = &mut replied => {
                    guard.armed = false;
                    let gone = || self.router.ended().unwrap_or(Failure::Stopped);
                    return result.unwrap_or_else(|_| Err(Ended { failure: gone(), sent: true }));
                }
                () = cancel.cancelled() => return Err(Ended { failure: Failure::Canceled, sent: true }),
                () = wait_until(until) => {
                    let now = Instant::now();
                    let noise = self.router.noise().explain();
                    if let (Some(total), Some(hard)) = (ask.wait.total, hard) && now >= hard {
                        let what = if ask.wait.idle.is_some() { Waited::CallTotal } else { ask.wait.what };
                        let failure = Failure::TimedOut { what, after: total, noise };
                        return Err(Ended { failure, sent: true });
                    }
                    if let Some(idle) = ask.wait.idle && now >= *seen.borrow() + idle {
                        let failure = Failure::TimedOut { what: ask.wait.what, after: idle, noise };
                        return Err(Ended { failure, sent: true });
                    }
                }
            }
        }
    }

    /// Sends something that has no answer.
    pub(crate) async fn tell(
        &self,
        method: &str,
        params: Option<Map<String, Value>>,
        headers: Vec<(String, String)>,
    ) -> Result<(), Failure> {
        let message = Outgoing { bytes: message::notification(method, params), id: None, headers };
        self.link.send(message, self.times.send).await
    }
}

async fn wait_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Takes a request back when its caller is gone, timed out or cancelled it.
struct Withdrawal<'a> {
    session: &'a Session,
    id: u64,
    armed: bool,
    can_cancel: bool,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let Session { router, link, .. } = self.session;
        router.forget(self.id);
        if link.abandon(self.id) || !self.can_cancel || router.ended().is_some() {
            return;
        }
        let params = json!({ "requestId": self.id, "reason": "nobody waits for the result any more" });
        let bytes = message::notification("notifications/cancelled", params.as_object().cloned());
        // At once where that is possible, so that it comes before what the caller sends next.
        let Err(bytes) = link.send_now(bytes) else { return };
        let link = Arc::clone(link);
        // Bounded by its own patience; the caller does not wait for it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(failure) = link.send(Outgoing::plain(bytes), WITHDRAW).await {
                    tracing::debug!(%failure, "a cancellation was not delivered");
                }
            });
        }
    }
}
