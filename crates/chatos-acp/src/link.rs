//! The line to an agent: one JSON-RPC message a line, requests of both sides, and an end that everybody hears of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_events::Lifetime;
use chatos_mcp::weigh;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::head::{head, is_reply};

/// Longest message of an agent.
const LINE_BYTES: usize = 32 << 20;
/// What a request or a reply may take once it is read, and all open requests together: a tree of many small values takes
/// a hundred times its text.
const TREE_BYTES: usize = 48 << 20;
/// What a note may take once it is read; of what is larger only its head is. Notes come without end, and are copied.
const NOTE_BYTES: usize = 8 << 20;
/// What a request may take that is not counted with the others.
const SMALL_BYTES: usize = 64 << 10;
/// Messages that wait for the turn; then the agent's pipe fills up.
const WAITING: usize = 256;
/// What they may take together in KiB, so that few large ones wait and many small; one that needs more waits alone.
const WAITING_KIB: u32 = 4 * 1024;
/// What is kept to read the next line into.
const BUFFER_BYTES: usize = 256 << 10;
const TOO_LARGE: &str = "it wrote a message that is too large";
/// Lines in a row that are no message; then it is no agent.
const GARBAGE: usize = 100;
/// Requests of an agent that nobody answered yet.
const OPEN_REQUESTS: usize = 256;

pub(crate) const UNKNOWN_METHOD: i64 = -32_601;
/// What it names is not what the protocol says.
pub(crate) const INVALID: i64 = -32_602;
/// It could not be done.
pub(crate) const FAILED: i64 = -32_603;
/// What it names is not there.
pub(crate) const NOT_FOUND: i64 = -32_002;
const BUSY: i64 = -32_603;
/// The agent wants a person to sign in.
pub(crate) const AUTH_REQUIRED: i64 = -32_000;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    /// The agent refused it, in its own words.
    Said { code: i64, message: String, data: Value },
    /// It did not answer in time.
    Silent,
    /// Its process or its line ended.
    Gone(String),
}

/// What an agent sends by itself.
#[derive(Debug, Clone)]
pub(crate) enum Incoming {
    Note { method: String, params: Value },
    Request { id: Value, method: String, params: Value },
    Gone(String),
}

struct Shared {
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, Refusal>>>>,
    sink: Mutex<Option<mpsc::Sender<Queued>>>,
    /// For messages that wait.
    room: Arc<Semaphore>,
    /// Ids of the agent's open requests, with what each takes; the same one twice is answered once.
    open: Mutex<Vec<(Value, usize)>>,
    gone: Mutex<Option<String>>,
    next: std::sync::atomic::AtomicU64,
}

/// A message with the room it takes while it waits.
type Queued = (Incoming, Option<OwnedSemaphorePermit>);

/// What an agent sends, for who listens. A message has its room until the next one is asked for.
pub(crate) struct Ear {
    queue: mpsc::Receiver<Queued>,
    room: Option<OwnedSemaphorePermit>,
}

impl Ear {
    pub(crate) async fn recv(&mut self) -> Option<Incoming> {
        self.room = None;
        let (incoming, room) = self.queue.recv().await?;
        self.room = room;
        Some(incoming)
    }

    pub(crate) fn try_recv(&mut self) -> Option<Incoming> {
        self.room = None;
        let (incoming, room) = self.queue.try_recv().ok()?;
        self.room = room;
        Some(incoming)
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            waiting: Mutex::default(),
            sink: Mutex::default(),
            room: Arc::new(Semaphore::new(WAITING_KIB as usize)),
            open: Mutex::default(),
            gone: Mutex::default(),
            next: std::sync::atomic::AtomicU64::default(),
        }
    }
}

/// The line to one running agent.
#[derive(Clone)]
pub(crate) struct Link {
    shared: Arc<Shared>,
    out: mpsc::Sender<Vec<u8>>,
    pub(crate) stop: CancellationToken,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Speaks over these streams until one of them ends or `stop` is canceled.
    pub(crate) fn over<R, W>(read: R, write: W, stop: CancellationToken, life: &Lifetime) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (out, lines) = mpsc::channel(64);
        let link = Self { shared: Arc::default(), out, stop };
        life.spawn(Box::pin(link.clone().read(read)));
        life.spawn(Box::pin(link.clone().write(write, lines)));
        link
    }

    async fn write<W: AsyncWrite + Unpin>(self, mut write: W, mut lines: mpsc::Receiver<Vec<u8>>) {
        loop {
            let line = tokio::select! {
                line = lines.recv() => line,
                () = self.stop.cancelled() => None,
            };
            let Some(line) = line else { return };
            if write.write_all(&line).await.is_err() || write.flush().await.is_err() {
                self.gone("it does not read what it is told");
                return;
            }
        }
    }

    async fn read<R: AsyncRead + Unpin>(self, mut read: R) {
        let mut chunk = vec![0; 64 * 1024];
        let (mut line, mut garbage) = (Vec::new(), 0);
        let why = 'read: loop {
            let got = tokio::select! {
                got = read.read(&mut chunk) => got,
                () = self.stop.cancelled() => break "it was stopped".to_owned(),
            };
            let mut rest = match got {
                Ok(0) | Err(_) => break "it ended".to_owned(),
                Ok(got) => &chunk[..got],
            };
            while let Some(end) = memchr::memchr(b'\n', rest) {
                line.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                if line.iter().all(u8::is_ascii_whitespace) {
                    line.clear();
                    continue;
                }
                let weight = weigh(&line).bytes;
                let head = if weight > NOTE_BYTES { head(&line) } else { None };
                if head.is_none() && weight > TREE_BYTES {
                    break 'read TOO_LARGE.to_owned();
                }
                // Read only when it may wait: until then there is its text and nothing else.
                let room = tokio::select! {
                    room = self.room(&line, weight) => room,
                    () = self.stop.cancelled() => break 'read "it was stopped".to_owned(),
                };
                let message = head.map_or_else(|| serde_json::from_slice::<Value>(&line), Ok);
                line.clear();
                line.shrink_to(BUFFER_BYTES);
                match message {
                    Ok(message) if message.is_object() => {
                        garbage = 0;
                        self.take(message, weight, room).await;
                    }
                    _ => garbage += 1,
                }
                if garbage >= GARBAGE {
                    break 'read "this program does not speak ACP: what it writes is no message".to_owned();
                }
            }
            line.extend_from_slice(rest);
            if line.len() > LINE_BYTES {
                break TOO_LARGE.to_owned();
            }
        };
        self.gone(&why);
    }

    async fn take(&self, mut message: Value, weight: usize, room: Option<OwnedSemaphorePermit>) {
        let id = message.get("id").filter(|id| !id.is_null()).cloned();
        let method = message["method"].as_str().map(str::to_owned);
        let params = message["params"].take();
        let incoming = match (method, id) {
            (None, Some(id)) => return self.answered(&id, &mut message),
            (Some(method), None) => Incoming::Note { method, params },
            (Some(method), Some(id)) => {
                let too_many = {
                    let mut open = lock(&self.shared.open);
                    // The same id twice: the first one is answered.
                    if open.iter().any(|(known, _)| *known == id) {
                        return;
                    }
                    open.push((id.clone(), weight));
                    let bytes: usize = open.iter().map(|(_, bytes)| bytes).sum();
                    open.len() > OPEN_REQUESTS || (weight > SMALL_BYTES && bytes > TREE_BYTES)
                };
                if too_many {
                    self.reply_error(id, BUSY, "too many requests at once").await.ok();
                    return;
                }
                Incoming::Request { id, method, params }
            }
            (None, None) => return,
        };
        let sink = lock(&self.shared.sink).clone();
        let left = match sink {
            Some(sink) => sink.send((incoming, room)).await.err().map(|failed| failed.0.0),
            None => Some(incoming),
        };
        // Between turns nobody listens: what is told is over, what is asked is a no.
        if let Some(Incoming::Request { id, method, .. }) = left {
            self.refuse(id, &method).await;
        }
    }

    /// Waits until there is room for a message of this weight; it has it until it is read. An answer needs none: who asked
    /// for it waits, and may be the one who reads the rest.
    async fn room(&self, line: &[u8], weight: usize) -> Option<OwnedSemaphorePermit> {
        let wanted = u32::try_from(weight / 1024 + 1).unwrap_or(u32::MAX).min(WAITING_KIB);
        match Arc::clone(&self.shared.room).try_acquire_many_owned(wanted) {
            Ok(room) => Some(room),
            Err(_) if is_reply(line) => None,
            Err(_) => Arc::clone(&self.shared.room).acquire_many_owned(wanted).await.ok(),
        }
    }

    fn answered(&self, id: &Value, message: &mut Value) {
        let waiting = id.as_u64().and_then(|id| lock(&self.shared.waiting).remove(&id));
        let Some(waiting) = waiting else { return };
        let said = match message.get_mut("error").filter(|error| !error.is_null()) {
            Some(error) => Err(Refusal::Said {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().chars().take(4_000).collect(),
                data: error["data"].take(),
            }),
            None => Ok(message["result"].take()),
        };
        waiting.send(said).ok();
    }

    /// The line is over; everybody who waits hears why, once.
    pub(crate) fn gone(&self, why: &str) {
        {
            let mut gone = lock(&self.shared.gone);
            if gone.is_some() {
                return;
            }
            *gone = Some(why.to_owned());
        }
        let waiting: Vec<_> = lock(&self.shared.waiting).drain().collect();
        for (_, waiting) in waiting {
            waiting.send(Err(Refusal::Gone(why.to_owned()))).ok();
        }
        if let Some(sink) = lock(&self.shared.sink).take() {
            // A full queue is read to its end, which says the same.
            sink.try_send((Incoming::Gone(why.to_owned()), None)).ok();
        }
        self.stop.cancel();
    }

    /// Why it is over, when it is.
    pub(crate) fn why_gone(&self) -> Option<String> {
        lock(&self.shared.gone).clone()
    }

    /// From now on what the agent sends comes here.
    pub(crate) fn listen(&self) -> Ear {
        let (sink, incoming) = mpsc::channel(WAITING);
        if let Some(why) = self.why_gone() {
            sink.try_send((Incoming::Gone(why), None)).ok();
        } else {
            *lock(&self.shared.sink) = Some(sink);
        }
        Ear { queue: incoming, room: None }
    }

    /// Nobody listens any more.
    pub(crate) fn deafen(&self) {
        lock(&self.shared.sink).take();
    }

    async fn send(&self, message: &Value) -> Result<(), Refusal> {
        let gone = || Refusal::Gone(self.why_gone().unwrap_or_else(|| "it ended".to_owned()));
        if self.why_gone().is_some() {
            return Err(gone());
        }
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        self.out.send(line).await.map_err(|_| gone())
    }

    /// Asks the agent; the answer comes when it comes.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Asked, Refusal> {
        let id = self.shared.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let (answer, answered) = oneshot::channel();
        lock(&self.shared.waiting).insert(id, answer);
        let sent =
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        if let Err(refusal) = sent {
            lock(&self.shared.waiting).remove(&id);
            return Err(refusal);
        }
        Ok(Asked(answered))
    }

    /// Asks and waits at most so long.
    pub(crate) async fn call(&self, method: &str, params: Value, limit: Duration) -> Result<Value, Refusal> {
        let asked = self.ask(method, params).await?;
        tokio::time::timeout(limit, asked.answer()).await.unwrap_or(Err(Refusal::Silent))
    }

    /// Tells the agent something it does not answer.
    pub(crate) async fn tell(&self, method: &str, params: Value) -> Result<(), Refusal> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await
    }

    /// Answers a request of the agent.
    pub(crate) async fn reply(&self, id: Value, result: Value) -> Result<(), Refusal> {
        lock(&self.shared.open).retain(|(open, _)| *open != id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await
    }

    /// Refuses a request of the agent.
    pub(crate) async fn reply_error(&self, id: Value, code: i64, message: &str) -> Result<(), Refusal> {
        lock(&self.shared.open).retain(|(open, _)| *open != id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })).await
    }

    /// The answer to what is not for now or not offered.
    pub(crate) async fn refuse(&self, id: Value, method: &str) {
        let said = if method == "session/request_permission" {
            self.reply(id, json!({ "outcome": { "outcome": "cancelled" } })).await
        } else {
            self.reply_error(id, UNKNOWN_METHOD, &format!("`{method}` is not offered")).await
        };
        if said.is_err() {
            tracing::debug!("an agent was gone before it was answered");
        }
    }
}

impl Link {
    /// The answer to what was offered and asked, and is called off.
    pub(crate) async fn call_off(&self, id: Value, method: &str) {
        let said = match method {
            "session/request_permission" => return self.refuse(id, method).await,
            "elicitation/create" => self.reply(id, json!({ "action": "cancel" })).await,
            _ => self.reply_error(id, FAILED, "the turn was stopped").await,
        };
        if said.is_err() {
            tracing::debug!("an agent was gone before it was answered");
        }
    }
}

/// A request whose answer has not come yet.
pub(crate) struct Asked(oneshot::Receiver<Result<Value, Refusal>>);

impl Asked {
    pub(crate) async fn answer(self) -> Result<Value, Refusal> {
        self.0.await.unwrap_or_else(|_| Err(Refusal::Gone("it ended".to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::UNREAD;

    fn pair() -> (Link, tokio::io::DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(ours);
        (Link::over(read, write, CancellationToken::new(), &Lifetime::new()), theirs)
    }

    #[tokio::test]
    async fn replies_to_nothing_repeated_ids_and_noise_end_no_line() {
        let (link, mut agent) = pair();
        let mut incoming = link.listen();
        let ask = link.ask("initialize", json!({})).await.unwrap();
        agent
            .write_all(b"Welcome to the agent!\n\n{\"id\":99,\"result\":1}\n{\"jsonrpc\":\"2.0\"}\n")
            .await
            .unwrap();
        let twice = b"{\"id\":\"a\",\"method\":\"x\",\"params\":{}}\n";
        agent.write_all(twice).await.unwrap();
        agent.write_all(twice).await.unwrap();
        agent.write_all(b"{\"id\":1,\"result\":{\"protocolVersion\":1}}\n").await.unwrap();
        assert_eq!(ask.answer().await.unwrap()["protocolVersion"], 1);
        assert!(matches!(incoming.recv().await, Some(Incoming::Request { .. })));
        assert!(incoming.try_recv().is_none());
        drop(agent);
        assert!(matches!(incoming.recv().await, Some(Incoming::Gone(_))));
        assert!(matches!(link.call("x", json!({}), Duration::from_secs(5)).await, Err(Refusal::Gone(_))));
    }

    #[tokio::test]
    async fn a_program_that_writes_no_messages_is_no_agent() {
        let (link, mut agent) = pair();
        let mut incoming = link.listen();
        for _ in 0..GARBAGE {
            agent.write_all(b"[info] hello\n").await.unwrap();
        }
        let Some(Incoming::Gone(why)) = incoming.recv().await else { panic!("it goes on") };
        assert!(why.contains("does not speak ACP"), "{why}");
    }

    #[tokio::test]
    async fn large_messages_that_nobody_reads_are_left_in_the_pipe() {
        let (link, mut agent) = pair();
        let mut incoming = link.listen();
        let message = format!("{{\"method\":\"x\",\"params\":{{\"text\":\"{}\"}}}}\n", "y".repeat(1 << 20));
        let written = Arc::new(std::sync::atomic::AtomicUsize::default());
        let count = Arc::clone(&written);
        let writing = tokio::spawn(async move {
            for _ in 0..100 {
                agent.write_all(message.as_bytes()).await.unwrap();
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            agent
        });
        tokio::time::sleep(Duration::from_millis(500)).await;
        let before = written.load(std::sync::atomic::Ordering::Relaxed);
        assert!(before < 10, "{before} MiB were taken");
        for _ in 0..100 {
            assert!(matches!(incoming.recv().await, Some(Incoming::Note { .. })));
        }
        drop(writing.await.unwrap());
        assert!(matches!(incoming.recv().await, Some(Incoming::Gone(_))));
    }

    /// Writes lines while the other side reads them.
    fn writing(
        mut agent: tokio::io::DuplexStream,
        lines: Vec<String>,
    ) -> tokio::task::JoinHandle<tokio::io::DuplexStream> {
        tokio::spawn(async move {
            for line in lines {
                agent.write_all(line.as_bytes()).await.unwrap();
                agent.write_all(b"\n").await.unwrap();
            }
            agent
        })
    }

    fn update(start: &str, update: &str) -> String {
        format!(
            "{{{start}\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{{{update}}}}}}}"
        )
    }

    #[tokio::test]
    async fn of_an_endless_note_its_short_parts_are_read_and_of_a_request_all() {
        let (link, agent) = pair();
        let mut incoming = link.listen();
        let long =
            format!("\"rawInput\":\"{}\",\"title\":\"t\",\"content\":[]", "z\\n".repeat(NOTE_BYTES / 2));
        let agent = writing(agent, vec![update("", &long), update("\"id\":3,", &long)]);
        let Some(Incoming::Note { params, .. }) = incoming.recv().await else { panic!("no update") };
        let told = json!({ "title": "t", "content": [], UNREAD: ["rawInput"] });
        assert_eq!(params, json!({ "sessionId": "s", "update": told }));
        let Some(Incoming::Request { params, .. }) = incoming.recv().await else { panic!("no request") };
        assert_eq!(params["update"]["rawInput"].as_str().map(str::len), Some(NOTE_BYTES));
        drop(agent.await.unwrap());
    }

    #[tokio::test]
    async fn a_note_of_a_million_tiny_values_is_no_tree_and_a_request_of_them_is_the_end() {
        let (link, agent) = pair();
        let mut incoming = link.listen();
        let dense = |many: usize| format!("\"toolCallId\":\"c\",\"rawInput\":[{}0]", "0,".repeat(many));
        let name = "n".repeat(NOTE_BYTES);
        let lines = vec![
            update("", &dense(10_000)),
            update("", &dense(1_000_000)),
            // Nothing of it is short, and nothing of it is kept.
            format!(
                "{{\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{name}\",\"update\":{{\"{name}\":1}}}}}}"
            ),
            update("\"id\":3,", &dense(1_000_000)),
        ];
        writing(agent, lines);
        let mut next = async || match incoming.recv().await {
            Some(Incoming::Note { params, .. }) => Ok(params),
            Some(Incoming::Gone(why)) => Err(why),
            other => panic!("{other:?}"),
        };
        assert_eq!(next().await.unwrap()["update"]["rawInput"].as_array().map(Vec::len), Some(10_001));
        assert_eq!(next().await.unwrap()["update"], json!({ "toolCallId": "c", UNREAD: ["rawInput"] }));
        assert_eq!(next().await.unwrap(), json!({ "sessionId": null, "update": { UNREAD: [] } }));
        assert_eq!(next().await, Err(TOO_LARGE.to_owned()));
    }

    #[tokio::test]
    async fn an_answer_comes_past_notes_that_nobody_reads() {
        let (link, agent) = pair();
        let mut incoming = link.listen();
        let asked = link.ask("session/set_mode", json!({})).await.unwrap();
        let large = format!("\"title\":\"{}\"", "z".repeat(WAITING_KIB as usize * 1024));
        let agent = writing(agent, vec![update("", &large), "{\"id\":1,\"result\":7}".to_owned()]);
        assert_eq!(asked.answer().await.unwrap(), 7);
        assert!(matches!(incoming.recv().await, Some(Incoming::Note { .. })));
        drop(agent.await.unwrap());
    }

    #[tokio::test]
    async fn open_requests_have_room_together_and_small_ones_always_do() {
        let (link, agent) = pair();
        let mut incoming = link.listen();
        let text = "z".repeat(TREE_BYTES / 3);
        let request =
            |id: usize, text: &str| format!("{{\"id\":{id},\"method\":\"x\",\"params\":\"{text}\"}}");
        let lines = vec![request(1, &text), request(2, &text), request(3, &text), request(4, "small")];
        let agent = writing(agent, lines);
        let mut came = Vec::new();
        while came.len() < 3 {
            let Some(Incoming::Request { id, .. }) = incoming.recv().await else { panic!("no request") };
            came.push(id);
        }
        assert_eq!(came, [1, 2, 4], "the third would be too much");
        let mut answer = vec![0; 400];
        let got = agent.await.unwrap().read(&mut answer).await.unwrap();
        let said: Value = serde_json::from_slice(&answer[..got]).unwrap();
        assert_eq!((&said["id"], &said["error"]["code"]), (&json!(3), &json!(BUSY)));
    }

    #[tokio::test]
    async fn what_is_asked_between_turns_is_a_no() {
        let (link, mut agent) = pair();
        agent
            .write_all(b"{\"id\":7,\"method\":\"session/request_permission\",\"params\":{}}\n")
            .await
            .unwrap();
        let mut answer = vec![0; 200];
        let got = agent.read(&mut answer).await.unwrap();
        let said: Value = serde_json::from_slice(&answer[..got]).unwrap();
        assert_eq!(said["result"]["outcome"]["outcome"], "cancelled");
        drop(link);
    }
}
