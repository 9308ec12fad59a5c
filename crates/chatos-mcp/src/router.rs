//! Everything that comes from one server goes through here: replies to whoever waits for them,
//! requests to the hooks, the rest counted.
//!
//! The reading task calls it directly, and nothing in it waits, so a flood costs its own connection
//! some time and nobody else anything (security T11).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::elicitation::Elicitation;
use crate::failure::Failure;
use crate::hooks::{Asked, Hooks, LogLine, LogSource, Offers, Root, ServerKey};
use crate::limits;
use crate::message::{self, Incoming, RpcError, Unread};
use chatos_child::Rate;

/// How often calls are kept alive while the host answers a question of their server.
const BEAT: Duration = Duration::from_millis(200);

/// A sign of life of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far.
    pub progress: f64,
    /// Of how much.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
    /// What else the server sent with it.
    pub meta: Option<Value>,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ended {
    pub(crate) failure: Failure,
    /// Bytes of the request may have reached the server.
    pub(crate) sent: bool,
}

pub(crate) struct Waiter {
    pub(crate) reply: oneshot::Sender<Result<Value, Ended>>,
    pub(crate) progress: Option<mpsc::Sender<Progress>>,
    pub(crate) alive: watch::Sender<Instant>,
    /// Names the call for those who see a question of the server.
    pub(crate) tag: Option<String>,
    /// Asked for a list: it is not read as a whole before its parts were looked at.
    pub(crate) listing: bool,
    /// Asked for work: its result may be as large as a message.
    pub(crate) working: bool,
}

pub(crate) struct Router {
    pub(crate) key: ServerKey,
    hooks: Arc<dyn Hooks>,
    offers: Offers,
    /// Text from the model; the only thing a server may be offered later, or no more.
    sampling: AtomicBool,
    next_id: AtomicU64,
    state: Mutex<State>,
    /// The handshake is over.
    ready: AtomicBool,
    /// Counts changes of the list of tools.
    pub(crate) tools: watch::Sender<u64>,
    /// Counts changes of the list of prompts.
    pub(crate) prompts: AtomicU64,
    /// Counts changes of the list of resources.
    pub(crate) resources: AtomicU64,
    pub(crate) closed: CancellationToken,
    outbox: mpsc::Sender<Vec<u8>>,
    answering: Arc<Semaphore>,
}

struct State {
    waiting: HashMap<u64, Waiter>,
    /// Requests of the server that are being answered, by their id as JSON text.
    answering: HashMap<String, CancellationToken>,
    ended: Option<Failure>,
    noise: Noise,
    log: Rate,
}

/// What came that was no usable message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noise {
    /// Lines that are not one JSON object.
    pub framing: u64,
    /// Messages that belong to nothing: unknown or repeated ids, odd shapes.
    pub foreign: u64,
    /// The first such line, shortened.
    pub sample: Option<String>,
}

impl Noise {
    /// As part of a time-out's text.
    pub(crate) fn explain(&self) -> Option<String> {
        let sample = self.sample.as_deref().unwrap_or_default();
        match (self.framing, self.foreign) {
            (0, 0) => None,
            (0, foreign) => Some(format!("{foreign} messages did not belong to any request ({sample})")),
            (framing, _) => {
                Some(format!("invalid framing: {framing} lines were no JSON-RPC message (first: `{sample}`)"))
            }
        }
    }
}

impl Router {
    /// A router, and what it wants sent.
    pub(crate) fn new(
        key: ServerKey,
        hooks: Arc<dyn Hooks>,
        offers: Offers,
    ) -> (Arc<Self>, mpsc::Receiver<Vec<u8>>) {
        let (outbox, outgoing) = mpsc::channel(limits::OUT_QUEUE);
        let state = State {
            waiting: HashMap::new(),
            answering: HashMap::new(),
            ended: None,
            noise: Noise::default(),
            log: Rate::per_second(limits::LOG_LINES_PER_SECOND),
        };
        let router = Self {
            key,
            hooks,
            sampling: AtomicBool::new(offers.sampling),
            offers,
            next_id: AtomicU64::new(1),
            state: Mutex::new(state),
            ready: AtomicBool::new(false),
            tools: watch::channel(0).0,
            prompts: AtomicU64::new(0),
            resources: AtomicU64::new(0),
            closed: CancellationToken::new(),
            outbox,
            answering: Arc::new(Semaphore::new(limits::SERVER_REQUESTS)),
        };
        (Arc::new(router), outgoing)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    pub(crate) fn set_sampling(&self, offered: bool) {
        self.sampling.store(offered, Ordering::Relaxed);
    }

    pub(crate) fn noise(&self) -> Noise {
        self.state().noise.clone()
    }

    /// Why the connection ended, once it has.
    pub(crate) fn ended(&self) -> Option<Failure> {
        self.state().ended.clone()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.state().waiting.len()
    }

    /// A new id that this waiter gets the reply of.
    pub(crate) fn expect(&self, waiter: Waiter) -> Result<u64, Failure> {
        let mut state = self.state();
        if let Some(failure) = &state.ended {
            return Err(failure.clone());
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        state.waiting.insert(id, waiter);
        Ok(id)
    }

    /// Nobody waits for this id any more; a late reply is dropped.
    pub(crate) fn forget(&self, id: u64) {
        self.state().waiting.remove(&id);
    }

    /// Whether a line is the list somebody asked for.
    fn is_listing(&self, line: &[u8]) -> bool {
        if !self.state().waiting.values().any(|waiter| waiter.listing) {
            return false;
        }
        let id = message::reply_id(line);
        id.is_some_and(|id| self.state().waiting.get(&id).is_some_and(|waiter| waiter.listing))
    }

    /// Whether reading a line would cost more memory than any message but a result is worth.
    fn is_too_heavy(&self, line: &[u8]) -> bool {
        if line.len() <= limits::LIGHT_BYTES || message::weigh(line).bytes <= limits::TREE_BYTES {
            return false;
        }
        let id = message::reply_id(line);
        !id.is_some_and(|id| self.state().waiting.get(&id).is_some_and(|waiter| waiter.working))
    }

    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        self.state().waiting.contains_key(&id)
    }

    /// Ends one request.
    pub(crate) fn fail(&self, id: u64, failure: Failure, sent: bool) {
        let waiter = self.state().waiting.remove(&id);
        if let Some(waiter) = waiter {
            waiter.reply.send(Err(Ended { failure, sent })).ok();
        }
    }

    /// Ends everything. The first reason stays.
    pub(crate) fn close(&self, failure: Failure) {
        let (waiting, answering) = {
            let mut state = self.state();
            if state.ended.is_some() {
                return;
            }
            state.ended = Some(failure.clone());
            (std::mem::take(&mut state.waiting), std::mem::take(&mut state.answering))
        };
        self.closed.cancel();
        for waiter in waiting.into_values() {
            waiter.reply.send(Err(Ended { failure: failure.clone(), sent: true })).ok();
        }
        for question in answering.into_values() {
            question.cancel();
        }
    }

    /// A line as it came.
    pub(crate) fn line(self: &Arc<Self>, line: &[u8]) {
        let read = if self.is_listing(line) {
            message::read_listing(line)
        } else if self.is_too_heavy(line) {
            match message::reply_id(line) {
                Some(id) => Err(Unread::Reply { id, reason: "it is too large".to_owned() }),
                None => Err(Unread::Foreign("a message that is too large")),
            }
        } else {
            message::read(line)
        };
        match read {
            Ok(incoming) => self.deliver(incoming),
            Err(Unread::Blank) => {}
            Err(Unread::Reply { id, reason }) => {
                let detail = format!("its reply cannot be read: {reason}");
                self.fail(id, Failure::Protocol { detail }, true);
            }
            Err(Unread::Framing) => self.count(|noise| noise.framing += 1, || sample(line)),
            Err(Unread::Foreign(what)) => self.count(|noise| noise.foreign += 1, || what.to_owned()),
        }
    }

    fn count(&self, add: impl FnOnce(&mut Noise), sample: impl FnOnce() -> String) {
        let mut state = self.state();
        add(&mut state.noise);
        if state.noise.sample.is_none() {
            state.noise.sample = Some(sample());
        }
    }

    /// A message.
    pub(crate) fn deliver(self: &Arc<Self>, incoming: Incoming) {
        match incoming {
            Incoming::Reply { id, result } => {
                let waiter = self.state().waiting.remove(&id);
                match waiter {
                    Some(waiter) => {
                        let result =
                            result.map_err(|error| Ended { failure: Failure::Rpc(error), sent: true });
                        waiter.reply.send(result).ok();
                    }
                    None => self.count(|noise| noise.foreign += 1, || format!("a reply to {id}")),
                }
            }
            Incoming::Notification { method, params } => self.notification(&method, params),
            Incoming::Request { id, method, params } => self.request(id, method, params),
        }
    }

    fn notification(&self, method: &str, params: Value) {
        match method {
            "notifications/progress" => {
                let Some(id) = params.get("progressToken").and_then(Value::as_u64) else { return };
                let state = self.state();
                let Some(waiter) = state.waiting.get(&id) else { return };
                waiter.alive.send_replace(Instant::now());
                if let Some(progress) = &waiter.progress {
                    // Only the newest says something: when nobody reads, it is dropped.
                    progress.try_send(read_progress(&params)).ok();
                }
            }
            "notifications/tools/list_changed" => {
                self.tools.send_modify(|revision| *revision += 1);
                // A flood is told at the pace of the log.
                if self.state().log.take() {
                    self.hooks.tools_changed(&self.key);
                }
            }
            "notifications/prompts/list_changed" => {
                self.prompts.fetch_add(1, Ordering::SeqCst);
            }
            "notifications/resources/list_changed" => {
                self.resources.fetch_add(1, Ordering::SeqCst);
            }
            "notifications/message" => {
                if !self.state().log.take() {
                    return;
                }
                let text = match params.get("data") {
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                    None => return,
                };
                let level = params.get("level").and_then(Value::as_str).map(str::to_owned);
                self.log(LogLine { source: LogSource::Message, level, text });
            }
            "notifications/tasks" if self.state().log.take() => self.hooks.task_changed(&self.key, params),
            "notifications/cancelled" => {
                let Some(id) = params.get("requestId") else { return };
                if let Some(question) = self.state().answering.remove(&id.to_string()) {
                    question.cancel();
                }
            }
            // Whatever else a server tells is its own business (mcp, era).
            _ => {}
        }
    }

    pub(crate) fn log(&self, mut line: LogLine) {
        line.text.truncate(cut(&line.text, limits::STDERR_LINE_BYTES).len());
        self.hooks.log(&self.key, line);
    }

    /// Tags of the calls the server works on.
    fn calls(&self) -> Vec<String> {
        let state = self.state();
        let mut calls: Vec<(u64, String)> =
            state.waiting.iter().filter_map(|(id, waiter)| Some((*id, waiter.tag.clone()?))).collect();
        calls.sort_unstable();
        calls.into_iter().map(|(_, tag)| tag).collect()
    }

    /// A sign of life for every call.
    fn touch(&self) {
        let now = Instant::now();
        for waiter in self.state().waiting.values() {
            waiter.alive.send_replace(now);
        }
    }

    fn request(self: &Arc<Self>, id: Value, method: String, params: Value) {
        let known = match method.as_str() {
            "ping" => return self.answer(&id, Ok(json!({}))),
            "elicitation/create" => self.offers.elicitation,
            "sampling/createMessage" => self.sampling.load(Ordering::Relaxed),
            "roots/list" => self.offers.roots,
            _ => false,
        };
        if !known {
            let message = format!("`{method}` is not supported");
            return self.answer(&id, Err(RpcError { code: -32601, message, data: None }));
        }
        let Ok(permit) = Arc::clone(&self.answering).try_acquire_owned() else {
            let message = "too many requests at once".to_owned();
            return self.answer(&id, Err(RpcError { code: -32000, message, data: None }));
        };
        let canceled = CancellationToken::new();
        let name = id.to_string();
        {
            let mut state = self.state();
            if state.ended.is_some() {
                return;
            }
            // The same id twice: the first question stands.
            if state.answering.contains_key(&name) {
                return;
            }
            state.answering.insert(name.clone(), canceled.clone());
        }
        let asked = Asked { server: self.key.clone(), calls: self.calls(), canceled: canceled.clone() };
        let router = Arc::clone(self);
        // Ends with the answer, or with the connection, which cancels the token.
        tokio::spawn(async move {
            let _permit = permit;
            let mut answer = std::pin::pin!(router.ask(asked, &method, params));
            // A person thinks longer than a server may be silent: its calls live while it waits for us.
            let mut beat = tokio::time::interval(BEAT);
            let answer = loop {
                tokio::select! {
                    answer = &mut answer => break Some(answer),
                    () = canceled.cancelled() => break None,
                    _ = beat.tick() => router.touch(),
                }
            };
            router.touch();
            router.state().answering.remove(&name);
            if let Some(answer) = answer {
                router.answer(&id, answer);
            }
        });
    }

    async fn ask(&self, asked: Asked, method: &str, params: Value) -> Result<Value, RpcError> {
        match method {
            "elicitation/create" => {
                let wrong = |message| RpcError { code: -32602, message, data: None };
                let ask = Elicitation::from_params(&params).map_err(wrong)?;
                self.hooks.elicit(asked, ask).await.map(|answer| answer.to_json()).map_err(wrong)
            }
            "sampling/createMessage" => {
                let result = self.hooks.sample(asked, params).await;
                result.map_err(|message| RpcError { code: -1, message, data: None })
            }
            _ => {
                let roots = self.hooks.roots(asked).await;
                Ok(json!({ "roots": roots.iter().map(root_json).collect::<Vec<_>>() }))
            }
        }
    }

    /// Hands an answer to the sender. A server that floods and does not read loses answers, not us.
    fn answer(&self, id: &Value, answer: Result<Value, RpcError>) {
        if self.outbox.try_send(message::reply(id, answer)).is_err() {
            self.count(|noise| noise.foreign += 1, || "requests that could not be answered".to_owned());
        }
    }
}

pub(crate) fn root_json(root: &Root) -> Value {
    match &root.name {
        Some(name) => json!({ "uri": root.uri, "name": name }),
        None => json!({ "uri": root.uri }),
    }
}

fn read_progress(params: &Value) -> Progress {
    Progress {
        progress: params.get("progress").and_then(Value::as_f64).unwrap_or_default(),
        total: params.get("total").and_then(Value::as_f64),
        message: params
            .get("message")
            .and_then(Value::as_str)
            .map(|text| cut(text, limits::PROGRESS_BYTES).to_owned()),
        meta: params.get("_meta").filter(|meta| !meta.is_null()).cloned(),
    }
}

/// The beginning of a text, at most so many bytes.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The beginning of a line, printable.
fn sample(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(200)]);
    text.trim().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(80).collect()
}
