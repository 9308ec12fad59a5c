//! One tool call: a place among the calls of its server, a deadline that progress moves, a cancel
//! that always works.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::failure::{Failure, Waited};
use crate::hooks::Later;
use crate::limits::WAITING;
use crate::result::CallOutcome;
use crate::router::{Ended, Progress};
use crate::session::Wait;
use crate::transport::headers;

/// A call to make.
#[derive(Default)]
pub struct CallRequest {
    /// The server's own name of the tool.
    pub tool: String,
    /// The arguments, as the model gave them.
    pub arguments: Map<String, Value>,
    /// `_meta`, complete but for the progress token (ai-contributions §10).
    pub meta: Map<String, Value>,
    /// The answers to what the server asked when this call was made before.
    pub resume: Option<Resume>,
    /// Without a sign of life; the server's setting when absent.
    pub idle: Option<Duration>,
    /// In all, whatever it reports; the server's setting when absent.
    pub total: Option<Duration>,
    /// Ends the call at once.
    pub cancel: CancellationToken,
    /// Gets the signs of life; a full channel loses some.
    pub progress: Option<mpsc::Sender<Progress>>,
    /// Awaited when the call has its place and right before its bytes go out; an error stops it. The
    /// caller writes down here that the call is being sent (agents §8).
    pub before_send: Option<Later<Result<(), String>>>,
    /// Names the call to hooks that get a question of the server.
    pub tag: Option<String>,
}

/// What goes along when a call is made again.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    /// As the server gave it.
    pub request_state: Option<String>,
    /// Answers by the server's own keys, each as the protocol has it.
    pub answers: Map<String, Value>,
}

/// Why a call has no outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct CallError {
    /// Why.
    pub failure: Failure,
    /// Bytes of the call may have reached the server: what it did is unknown.
    pub sent: bool,
}

impl From<Ended> for CallError {
    fn from(ended: Ended) -> Self {
        Self { failure: ended.failure, sent: ended.sent }
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for CallError {}

impl Connection {
    /// Calls a tool.
    pub async fn call(&self, request: CallRequest) -> Result<CallOutcome, CallError> {
        let unsent = |failure| CallError { failure, sent: false };
        let times = self.session.times;
        let total = request.total.unwrap_or(times.call_total);
        let deadline = tokio::time::Instant::now() + total;
        let _place = self.place(&request.cancel, deadline, total).await.map_err(unsent)?;
        let mut params = Map::new();
        params.insert("name".to_owned(), Value::String(request.tool.clone()));
        let schema = self.known_tools();
        let schema = schema.as_ref().and_then(|list| list.get(&request.tool));
        let mut extra = Vec::new();
        if let (Some(tool), true) = (schema, self.repeats_in_headers()) {
            extra = headers::of_arguments(&tool.param_headers, &request.arguments);
        }
        params.insert("arguments".to_owned(), Value::Object(request.arguments));
        params.insert("_meta".to_owned(), Value::Object(request.meta));
        if let Some(resume) = request.resume {
            if let Some(state) = resume.request_state {
                params.insert("requestState".to_owned(), Value::String(state));
            }
            params.insert("inputResponses".to_owned(), Value::Object(resume.answers));
        }
        if let Some(before) = request.before_send {
            let before = tokio::select! {
                before = before => before,
                () = request.cancel.cancelled() => return Err(unsent(Failure::Canceled)),
            };
            before.map_err(|reason| unsent(Failure::BeforeSend { reason }))?;
        }
        let wait = Wait {
            idle: Some(request.idle.unwrap_or(times.call_idle)),
            total: Some(deadline.saturating_duration_since(tokio::time::Instant::now())),
            what: Waited::CallIdle,
        };
        let mut ask = self.ask("tools/call", params, wait);
        ask.headers.append(&mut extra);
        ask.cancel = Some(&request.cancel);
        ask.progress = request.progress;
        ask.tag = request.tag;
        let result = self.session.ask(ask).await?;
        let output = schema.and_then(|tool| tool.output_schema.as_ref());
        CallOutcome::read(result, output)
            .map_err(|detail| CallError { failure: Failure::Protocol { detail }, sent: true })
    }

    /// A place among the calls the server works on.
    async fn place(
        &self,
        cancel: &CancellationToken,
        deadline: tokio::time::Instant,
        total: Duration,
    ) -> Result<tokio::sync::SemaphorePermit<'_>, Failure> {
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(permit);
        }
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _counted = Counted(&self.waiting);
        if waiting >= WAITING {
            return Err(Failure::Busy { waiting });
        }
        let late = Failure::TimedOut { what: Waited::CallTotal, after: total, noise: None };
        tokio::select! {
            permit = self.permits.acquire() => permit.map_err(|_| Failure::Stopped),
            failure = self.ended() => Err(failure),
            () = cancel.cancelled() => Err(Failure::Canceled),
            () = tokio::time::sleep_until(deadline) => Err(late),
        }
    }
}

struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
