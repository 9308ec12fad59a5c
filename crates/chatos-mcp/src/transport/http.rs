//! Streamable HTTP: every message a POST, its answer one message or a stream of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Outgoing;
use super::event_stream::EventStream;
use super::http_client::{Answer, Client, Message, header_map, media_type};
use crate::endpoint::Remote;
use crate::failure::Failure;
use crate::limits::REFUSAL_BYTES;
use crate::message::{self, Incoming};
use crate::router::{Ended, Router};

/// How often an interrupted stream is taken up again before its request fails.
const RESUMES: usize = 5;
/// Between two attempts, when the server does not say.
const RETRY: Duration = Duration::from_secs(1);
/// Longest time between two attempts, whatever the server says.
const RETRY_MAX: Duration = Duration::from_secs(30);
/// The beginning of the stream of notifications.
const OPENING: Duration = Duration::from_secs(1);
/// Saying good-bye.
const FAREWELL: Duration = Duration::from_secs(2);

/// The name of the session header.
const SESSION: &str = "mcp-session-id";
/// The name of the version header.
pub(crate) const VERSION: &str = "mcp-protocol-version";

/// A road of requests. Dropping it ends them.
pub(crate) struct Http {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    router: Arc<Router>,
    state: Mutex<State>,
    modern: AtomicBool,
    stop: CancellationToken,
}

#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    requests: HashMap<u64, CancellationToken>,
}

impl Drop for Http {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

impl Http {
    pub(crate) fn open(remote: &Remote, router: &Arc<Router>) -> Result<Self, Failure> {
        let shared = Shared {
            client: Client::new(remote.clone())?,
            router: Arc::clone(router),
            state: Mutex::default(),
            modern: AtomicBool::new(false),
            stop: CancellationToken::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The handshake decided: from now on every message names the version.
    pub(crate) fn agreed(&self, version: &str, modern: bool) {
        self.shared.modern.store(modern, Ordering::Relaxed);
        self.shared.state().version = HeaderValue::from_str(version).ok();
    }

    /// Opens the stream on which an old server tells what belongs to no request. Waits a moment for its
    /// beginning, so that nothing told right after the handshake is missed.
    pub(crate) async fn listen(&self) {
        let (opened, opening) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        // Ends with `stop`, or when the server has no such stream.
        tokio::spawn(async move {
            let stop = shared.stop.clone();
            tokio::select! {
                () = shared.listen(opened) => {}
                () = stop.cancelled() => {}
            }
        });
        // Some servers answer only with their first event.
        tokio::time::timeout(OPENING, opening).await.ok();
    }

    pub(crate) async fn send(&self, message: Outgoing, patience: Duration) -> Result<(), Failure> {
        let Some(id) = message.id else {
            return match tokio::time::timeout(patience, self.shared.tell(message)).await {
                Ok(sent) => sent,
                Err(_) => Err(Failure::NotReading { after: patience }),
            };
        };
        let stop = self.shared.stop.child_token();
        self.shared.state().requests.insert(id, stop.clone());
        let shared = Arc::clone(&self.shared);
        // Ends with the answer, when nobody waits any more, or with the road.
        tokio::spawn(async move {
            tokio::select! {
                () = shared.ask(id, message) => {}
                () = stop.cancelled() => {}
            }
            shared.state().requests.remove(&id);
        });
        Ok(())
    }

    /// Drops the stream of a request; a modern server takes that as the cancellation.
    pub(crate) fn abandon(&self, id: u64) -> bool {
        if let Some(stop) = self.shared.state().requests.remove(&id) {
            stop.cancel();
        }
        self.shared.modern.load(Ordering::Relaxed)
    }

    pub(crate) async fn close(&self) {
        self.shared.router.close(Failure::Stopped);
        self.shared.stop.cancel();
        let session = self.shared.state().session.is_some();
        if session {
            let message = self.shared.message(Method::DELETE, Bytes::new(), HeaderMap::new());
            match tokio::time::timeout(FAREWELL, self.shared.client.request(message)).await {
                Ok(Ok(_)) => {}
                Ok(Err(ended)) => tracing::debug!(failure = %ended.failure, "a session was not ended"),
                Err(_) => tracing::debug!("a session was not ended in time"),
            }
        }
        self.shared.client.clear();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn message(&self, method: Method, body: Bytes, mut headers: HeaderMap) -> Message {
        let state = self.state();
        if let Some(version) = &state.version {
            headers.entry(VERSION).or_insert_with(|| version.clone());
        }
        let mut private = HeaderMap::new();
        if let Some(session) = &state.session {
            private.insert(SESSION, session.clone());
        }
        Message { method, uri: self.client.uri().clone(), body, headers, private }
    }

    fn post(&self, message: Outgoing) -> Message {
        let mut headers = header_map(&message.headers);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let mut body = message.bytes;
        body.truncate(body.trim_ascii_end().len());
        self.message(Method::POST, Bytes::from(body), headers)
    }

    /// Sends what has no answer.
    async fn tell(&self, message: Outgoing) -> Result<(), Failure> {
        let mut answer = self.client.request(self.post(message)).await.map_err(|ended| ended.failure)?;
        let body = answer.body.collect(REFUSAL_BYTES).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        Err(self.refusal(&answer, &body).await)
    }

    /// Sends a request and delivers whatever comes of it.
    async fn ask(&self, id: u64, message: Outgoing) {
        let ended = match self.client.request(self.post(message)).await {
            Ok(answer) => self.answer(id, answer).await,
            Err(ended) => Err(ended),
        };
        if let Err(ended) = ended {
            let down =
                matches!(ended.failure, Failure::Unreachable { .. } | Failure::Tls { .. }) && !ended.sent;
            self.router.fail(id, ended.failure.clone(), ended.sent);
            // Nobody is there: the connection is over, and the next one is made with back-off.
            if down {
                self.router.close(ended.failure);
            }
        }
    }

    async fn answer(&self, id: u64, mut answer: Answer) -> Result<(), Ended> {
        let sent = |failure| Ended { failure, sent: true };
        if !answer.status.is_success() {
            let body = answer.body.collect(REFUSAL_BYTES).await.unwrap_or_default();
            // A refusal in the protocol's own words is its answer, whatever id it names.
            let spoken = message::parse(&body).ok().and_then(|value| value.get("error").cloned());
            let lost = self.session_is_lost(answer.status, &body);
            let auth = matches!(answer.status.as_u16(), 401 | 403);
            if let (Some(error), false, false) = (spoken.filter(Value::is_object), lost, auth) {
                let result = Err(message::rpc_error(error));
                self.router.deliver(Incoming::Reply { id, result });
                return Ok(());
            }
            return Err(sent(self.refusal(&answer, &body).await));
        }
        if let Some(session) = answer.headers.get(SESSION)
            && !self.modern.load(Ordering::Relaxed)
        {
            let mut session = session.clone();
            session.set_sensitive(true);
            self.state().session.get_or_insert(session);
        }
        match media_type(&answer.headers).as_str() {
            "text/event-stream" => self.follow(id, answer).await,
            _ => {
                let body = answer.body.message().await.map_err(sent)?;
                if body.trim_ascii().is_empty() {
                    let detail =
                        format!("it answered a request with nothing (HTTP {})", answer.status.as_u16());
                    return Err(sent(Failure::Protocol { detail }));
                }
                self.deliver(&body);
                if self.router.is_waiting(id) {
                    let detail = "its answer belongs to another request".to_owned();
                    return Err(sent(Failure::Protocol { detail }));
                }
                Ok(())
            }
        }
    }

    /// One message, or several in an array as an older revision allowed it here.
    fn deliver(&self, body: &[u8]) {
        if body.trim_ascii_start().first() != Some(&b'[') {
            return self.router.line(body);
        }
        message::batch(body, |message| self.router.line(message));
    }

    /// Follows the stream of a request until its reply came, also over interruptions.
    async fn follow(&self, id: u64, answer: Answer) -> Result<(), Ended> {
        let mut events = EventStream::default();
        let mut next = Some(answer);
        for _ in 0..=RESUMES {
            if let Some(answer) = next.take() {
                let ended = self.read(&mut events, answer).await;
                if !self.router.is_waiting(id) {
                    return Ok(());
                }
                if let Err(failure @ Failure::TooLong) = ended {
                    return Err(Ended { failure, sent: true });
                }
            }
            let resumable = events.last_id.is_some() && !self.modern.load(Ordering::Relaxed);
            if !resumable {
                break;
            }
            tokio::time::sleep(pause(&events)).await;
            next = self.client.request(self.stream_request(&events)).await.ok().filter(is_stream);
        }
        let reason = "its answer ended before the result".to_owned();
        Err(Ended { failure: Failure::Closed { reason }, sent: true })
    }

    async fn read(&self, events: &mut EventStream, mut answer: Answer) -> Result<(), Failure> {
        while let Some(piece) = answer.body.piece().await? {
            let fed = events.feed(&piece, |event| self.router.line(&event.data));
            fed.map_err(|_| Failure::TooLong)?;
        }
        Ok(())
    }

    fn stream_request(&self, events: &EventStream) -> Message {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = events.last_id.as_deref().and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert("last-event-id", id);
        }
        self.message(Method::GET, Bytes::new(), headers)
    }

    /// The stream of what belongs to no request, while an old server offers it.
    async fn listen(&self, opened: oneshot::Sender<()>) {
        let mut events = EventStream::default();
        let mut failures = 0;
        let mut opened = Some(opened);
        while failures < RESUMES {
            let answer = self.client.request(self.stream_request(&events)).await;
            if let Some(opened) = opened.take() {
                opened.send(()).ok();
            }
            match answer {
                Ok(answer) if is_stream(&answer) => {
                    let before = events.last_id.clone();
                    if let Err(failure) = self.read(&mut events, answer).await {
                        tracing::debug!(%failure, "the stream of notifications broke off");
                    }
                    failures = if events.last_id == before { failures + 1 } else { 0 };
                }
                Ok(answer) if answer.status.is_client_error() => return,
                Ok(_) | Err(_) => failures += 1,
            }
            tokio::time::sleep(pause(&events)).await;
        }
    }

    /// The protocol says 404. Some servers say 400 and name the session in words; without this they
    /// would refuse every later call too.
    fn session_is_lost(&self, status: StatusCode, body: &[u8]) -> bool {
        let named = || String::from_utf8_lossy(body).to_ascii_lowercase().contains("session");
        let refused = status == StatusCode::NOT_FOUND || (status == StatusCode::BAD_REQUEST && named());
        refused && self.state().session.is_some()
    }

    async fn refusal(&self, answer: &Answer, body: &[u8]) -> Failure {
        let status = answer.status;
        match status.as_u16() {
            401 | 403 => {
                let failure = self.client.refused(answer).await;
                // Without a sign-in nothing works any more. With too small a one the rest does.
                if status == StatusCode::UNAUTHORIZED && matches!(failure, Failure::SignInNeeded { .. }) {
                    self.router.close(failure.clone());
                }
                failure
            }
            _ if self.session_is_lost(status, body) => {
                // The session is gone; only a new connection helps.
                let failure = Failure::Closed { reason: "its session ended".to_owned() };
                self.router.close(failure.clone());
                failure
            }
            status => {
                let text = String::from_utf8_lossy(&body[..body.len().min(400)]);
                let body = text.chars().filter(|c| !c.is_control()).take(200).collect();
                Failure::Http { status, body }
            }
        }
    }
}

fn is_stream(answer: &Answer) -> bool {
    answer.status.is_success() && media_type(&answer.headers) == "text/event-stream"
}

fn pause(events: &EventStream) -> Duration {
    events.retry.map_or(RETRY, Duration::from_millis).min(RETRY_MAX)
}
