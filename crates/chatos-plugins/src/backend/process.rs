//! One process of a backend: from its start to the end of its family, with the calls under way.

use std::collections::HashMap;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_child::{Program, Signal, Started, start_with_channel};
use chatos_manifest::PluginId;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::channel::{Lines, write};
use super::error::BackendError;
use super::limits;
use super::log::{LINE_BYTES, PluginLogFile};
use super::port::{BackendPort, Launch};

/// Lines waiting to be written; more than there can be calls, so a cancel always finds room.
const OUT_QUEUE: usize = 256;

/// How a process came to its end.
#[derive(Debug, Clone)]
pub(super) enum Ended {
    /// It was stopped by us.
    Stopped,
    /// It ended by itself, or had to be ended.
    Crashed(BackendError),
}

type Reply = Result<Box<RawValue>, BackendError>;

/// A running backend.
pub(super) struct Process {
    pub(super) plugin: PluginId,
    pub(super) pid: u32,
    pub(super) fingerprint: String,
    pub(super) started: Instant,
    out: mpsc::Sender<Vec<u8>>,
    next: AtomicU64,
    pending: Mutex<Pending>,
    health: Mutex<Health>,
    stop: CancellationToken,
    kill: CancellationToken,
    hurry: AtomicBool,
    ended: watch::Receiver<Option<Ended>>,
    log: Arc<PluginLogFile>,
    completions: Arc<Semaphore>,
    /// Completions under way, by the child's own id.
    asked: Mutex<HashMap<String, CancellationToken>>,
}

#[derive(Default)]
struct Pending {
    calls: HashMap<u64, oneshot::Sender<Reply>>,
    /// Set when no reply can come any more.
    closed: Option<BackendError>,
}

struct Health {
    last_used: Instant,
    /// A ping that was not answered yet, with its id.
    waiting_since: Option<(u64, Instant)>,
    busy: u64,
    /// Why it is being killed.
    verdict: Option<&'static str>,
}

/// What is to be done about a process.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    Fine,
    /// Its loop is blocked.
    Silent,
    /// Nobody needs it.
    Idle,
}

impl Health {
    fn standing(&self, now: Instant, calls: usize) -> Standing {
        if self.waiting_since.is_some_and(|(_, since)| now - since >= limits::SILENCE) {
            Standing::Silent
        } else if calls == 0 && self.busy == 0 && now - self.last_used >= limits::IDLE {
            Standing::Idle
        } else {
            Standing::Fine
        }
    }
}

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct WireError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Withdraws a call whose caller is gone.
struct Withdrawal<'a> {
    process: &'a Process,
    id: u64,
    done: bool,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if !self.done {
            lock(&self.process.pending).calls.remove(&self.id);
            let line = json!({ "jsonrpc": "2.0", "method": "$/cancel", "params": { "id": self.id } });
            // A full queue means it does not read; it is about to be found out by its pings.
            self.process.out.try_send(to_line(&line)).ok();
        }
    }
}

fn to_line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

impl Process {
    /// Starts a process and waits until its factory is done.
    pub(super) async fn start(
        plugin: &PluginId,
        launch: Launch,
        log: Arc<PluginLogFile>,
        port: Arc<dyn BackendPort>,
    ) -> Result<Arc<Self>, BackendError> {
        let refused = |error: &dyn std::fmt::Display| {
            BackendError::failed_to_start(plugin.as_str(), &error.to_string())
        };
        let (own, theirs) = UnixStream::pair().map_err(|error| refused(&error))?;
        let theirs = theirs.into_std().and_then(|theirs| {
            theirs.set_nonblocking(false)?;
            Ok(theirs)
        });
        let program = Program {
            program: launch.node.clone().into_os_string(),
            arguments: vec![launch.runner.clone().into_os_string()],
            directory: Some(launch.directory.clone()),
            environment: launch.environment.clone(),
        };
        let theirs = theirs.map_err(|error| refused(&error))?;
        let (started, streams) = start_with_channel(&program, &launch.spawning, theirs.into())
            .await
            .map_err(|error| refused(&error))?;
        let (out, waiting) = mpsc::channel(OUT_QUEUE);
        let (told, ended) = watch::channel(None);
        let now = Instant::now();
        let process = Arc::new(Self {
            plugin: plugin.clone(),
            pid: started.pid(),
            fingerprint: launch.fingerprint.clone(),
            started: now,
            out,
            next: AtomicU64::new(1),
            pending: Mutex::default(),
            health: Mutex::new(Health { last_used: now, waiting_since: None, busy: 0, verdict: None }),
            stop: CancellationToken::new(),
            kill: CancellationToken::new(),
            hurry: AtomicBool::new(false),
            ended,
            log: Arc::clone(&log),
            completions: Arc::new(Semaphore::new(limits::COMPLETIONS)),
            asked: Mutex::default(),
        });
        let (reading, writing) = own.into_split();
        // All of these end with the process, which the keeper waits for; it aborts what a grandchild
        // keeps open.
        let writer = tokio::spawn(write(writing, waiting));
        let reader = tokio::spawn(Arc::clone(&process).read(Lines::new(reading), port));
        let outputs = [
            tokio::spawn(drain(streams.stdout, "out", Arc::clone(&log))),
            tokio::spawn(drain(streams.stderr, "err", log)),
        ];
        let keeper = Keeper { process: Arc::clone(&process), started, reader, writer, outputs };
        // Owned by itself: it must outlive whoever gave up on the process.
        tokio::spawn(async move {
            let end = keeper.run().await;
            told.send_replace(Some(end));
        });
        process.init(&launch).await?;
        tokio::spawn(Arc::clone(&process).watch_health());
        Ok(process)
    }

    async fn init(self: &Arc<Self>, launch: &Launch) -> Result<(), BackendError> {
        let params = json!({ "entry": launch.entry.to_string_lossy(), "ctx": launch.ctx });
        let asked = timeout(limits::START_TIME, self.request("init", &params)).await;
        let plugin = self.plugin.as_str();
        let error = match asked {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) if error.data.contains_key("log") => {
                // It died before it was ready: its last words say why.
                BackendError {
                    message: BackendError::failed_to_start(plugin, &error.message.en).message,
                    ..error
                }
            }
            Ok(Err(error)) => BackendError::failed_to_start(plugin, &error.message.en)
                .with("log", self.log.last(limits::TOLD_LINES)),
            Err(_) => BackendError::start_timeout(plugin).with("log", self.log.last(limits::TOLD_LINES)),
        };
        self.kill_for("failed to start");
        Err(error)
    }

    /// Whether calls can still be made.
    pub(super) fn is_alive(&self) -> bool {
        lock(&self.pending).closed.is_none() && !self.stop.is_cancelled() && !self.kill.is_cancelled()
    }

    pub(super) fn calls(&self) -> usize {
        lock(&self.pending).calls.len()
    }

    fn register(&self) -> Result<(u64, oneshot::Receiver<Reply>), BackendError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, reply) = oneshot::channel();
        let mut pending = lock(&self.pending);
        match &pending.closed {
            Some(error) => Err(error.clone()),
            None => {
                pending.calls.insert(id, answer);
                Ok((id, reply))
            }
        }
    }

    fn close(&self, error: &BackendError) {
        let mut pending = lock(&self.pending);
        pending.closed.get_or_insert_with(|| error.clone());
        for (_, answer) in pending.calls.drain() {
            // A caller that is gone hears nothing.
            answer.send(Err(error.clone())).ok();
        }
        drop(pending);
        for (_, cancel) in lock(&self.asked).drain() {
            cancel.cancel();
        }
    }

    async fn request(&self, method: &str, params: &Value) -> Reply {
        let (id, reply) = self.register()?;
        let mut withdrawal = Withdrawal { process: self, id, done: false };
        let line = to_line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.out.send(line).await.map_err(|_| self.gone())?;
        let answer = reply.await.unwrap_or_else(|_| Err(self.gone()));
        withdrawal.done = true;
        answer
    }

    fn gone(&self) -> BackendError {
        let closed = lock(&self.pending).closed.clone();
        closed.unwrap_or_else(|| BackendError::stopped(self.plugin.as_str()))
    }

    /// Calls a method. The caller is answered at its deadline or when it cancels, whatever the plugin
    /// does; a late result is dropped.
    pub(super) async fn invoke(
        &self,
        method: &str,
        params: Option<&RawValue>,
        ctx: &Value,
        deadline: Instant,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Reply {
        let (id, reply) = self.register()?;
        lock(&self.health).last_used = Instant::now();
        let mut withdrawal = Withdrawal { process: self, id, done: false };
        let left = deadline.saturating_duration_since(Instant::now()).as_millis();
        let quoted = Value::from(method);
        let params = params.map_or("null", RawValue::get);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"invoke\",\"params\":{{\"method\":{quoted},\"params\":{params},\"ctx\":{ctx},\"deadlineMs\":{left}}}}}\n"
        );
        let work = async {
            self.out.send(line.into_bytes()).await.map_err(|_| self.gone())?;
            reply.await.unwrap_or_else(|_| Err(self.gone()))
        };
        tokio::select! {
            answer = work => {
                withdrawal.done = true;
                lock(&self.health).last_used = Instant::now();
                answer
            }
            () = cancel.cancelled() => Err(BackendError::canceled(method)),
            () = tokio::time::sleep_until(deadline) => Err(BackendError::timeout(method, limit)),
        }
    }

    /// Ends it without asking; calls are told that it crashed.
    fn kill_for(&self, why: &'static str) {
        lock(&self.health).verdict.get_or_insert(why);
        self.kill.cancel();
    }

    /// Asks it to go: `dispose`, then TERM, then KILL. `hurry`: KILL right after `dispose`.
    pub(super) async fn stop(&self, hurry: bool) {
        self.hurry.fetch_or(hurry, Ordering::Relaxed);
        self.stop.cancel();
        self.wait_for_end().await;
    }

    pub(super) async fn wait_for_end(&self) -> Ended {
        let mut ended = self.ended.clone();
        // An error means the keeper itself is gone, and with it the process.
        let end = ended.wait_for(Option::is_some).await.map(|end| end.clone());
        end.ok().flatten().unwrap_or(Ended::Stopped)
    }

    /// Lets it finish its calls, then stops it.
    pub(super) async fn retire(self: Arc<Self>) {
        let end = Instant::now() + limits::FINISH;
        while self.calls() > 0 && self.is_alive() && Instant::now() < end {
            sleep(Duration::from_millis(20)).await;
        }
        self.stop(false).await;
    }

    async fn read<R: AsyncRead + Unpin>(
        self: Arc<Self>,
        mut lines: Lines<R>,
        port: Arc<dyn BackendPort>,
    ) -> String {
        loop {
            match lines.next().await {
                Ok(Some(line)) => self.take(&line, &port),
                Ok(None) => return "it closed its channel".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    }

    /// One message. What cannot be read is counted as noise in the log and ignored.
    fn take(self: &Arc<Self>, line: &[u8], port: &Arc<dyn BackendPort>) {
        let incoming: Incoming<'_> = match serde_json::from_slice(line) {
            Ok(incoming) => incoming,
            Err(_) if line.is_empty() => return,
            Err(error) => {
                self.log.line("host", &format!("a message of the backend cannot be read: {error}"));
                return;
            }
        };
        match (&incoming.method, incoming.id) {
            (None, Some(id)) => {
                let Some(answer) = id.as_u64().and_then(|id| lock(&self.pending).calls.remove(&id)) else {
                    return;
                };
                let reply = match incoming.error {
                    Some(error) => {
                        let code =
                            error.data.as_ref().and_then(|data| data["code"].as_str()).unwrap_or_default();
                        Err(BackendError::thrown(code, &error.message))
                    }
                    None => Ok(incoming.result.unwrap_or(RawValue::NULL).to_owned()),
                };
                // A caller that is gone hears nothing.
                answer.send(reply).ok();
            }
            (Some(method), id) => self.asked(method, id, incoming.params, port),
            (None, None) => {}
        }
    }

    fn asked(
        self: &Arc<Self>,
        method: &str,
        id: Option<Value>,
        params: Option<&RawValue>,
        port: &Arc<dyn BackendPort>,
    ) {
        let params: Value =
            params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or(Value::Null);
        match (method, id) {
            ("llm.complete", Some(id)) => self.complete(id, params["payload"].clone(), port),
            ("$/cancel", _) => {
                if let Some(cancel) = lock(&self.asked).remove(&params["id"].to_string()) {
                    cancel.cancel();
                }
            }
            ("$/log", _) => {
                let level = params["level"].as_str().unwrap_or("info");
                self.log.line(level, params["text"].as_str().unwrap_or_default());
            }
            (_, Some(id)) => {
                let error = BackendError::new(
                    "not_supported",
                    format!("Unknown method: {method}"),
                    format!("未知方法：{method}"),
                );
                self.answer(&id, Err(error));
            }
            (_, None) => {}
        }
    }

    fn complete(self: &Arc<Self>, id: Value, payload: Value, port: &Arc<dyn BackendPort>) {
        let cancel = CancellationToken::new();
        let key = id.to_string();
        lock(&self.asked).insert(key.clone(), cancel.clone());
        let (process, port) = (Arc::clone(self), Arc::clone(port));
        tokio::spawn(async move {
            let work = async {
                let place = Arc::clone(&process.completions).acquire_owned().await;
                let done = port.complete(&process.plugin, payload, cancel.clone()).await;
                drop(place);
                done
            };
            let done = tokio::select! {
                done = work => done,
                () = cancel.cancelled() => return,
            };
            lock(&process.asked).remove(&key);
            process.answer(&id, done);
        });
    }

    fn answer(&self, id: &Value, done: Result<Value, BackendError>) {
        let message = match done {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.to_wire() }),
        };
        if self.out.try_send(to_line(&message)).is_err() {
            self.log.line("host", "an answer could not be given: the backend does not read");
        }
    }

    /// Pings until the end: a blocked loop is killed, an idle process stopped.
    async fn watch_health(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = sleep(limits::PING_EVERY) => {}
                _ = self.wait_for_end() => return,
            }
            let calls = self.calls();
            let standing = lock(&self.health).standing(Instant::now(), calls);
            match standing {
                Standing::Silent => {
                    self.kill_for("no answer for 30 s");
                    return;
                }
                Standing::Idle => {
                    self.log.line("host", "not used for 15 minutes; the next call starts it again");
                    self.stop(false).await;
                    return;
                }
                Standing::Fine => {}
            }
            if lock(&self.health).waiting_since.is_none() {
                let process = Arc::clone(&self);
                tokio::spawn(process.ping());
            }
        }
    }

    async fn ping(self: Arc<Self>) {
        let id = self.next.load(Ordering::Relaxed);
        lock(&self.health).waiting_since = Some((id, Instant::now()));
        let answer = self.request("ping", &json!({})).await;
        let mut health = lock(&self.health);
        health.waiting_since = None;
        if let Ok(answer) = answer {
            let seen: Value = serde_json::from_str(answer.get()).unwrap_or(Value::Null);
            health.busy = seen["busy"].as_u64().unwrap_or(0);
        }
    }
}

struct Keeper {
    process: Arc<Process>,
    started: Started,
    reader: JoinHandle<String>,
    writer: JoinHandle<()>,
    outputs: [JoinHandle<()>; 2],
}

impl Keeper {
    async fn run(mut self) -> Ended {
        enum Event {
            Exit(std::io::Result<ExitStatus>),
            Lost(String),
            Kill,
            Stop,
        }
        let event = tokio::select! {
            status = self.started.wait() => Event::Exit(status),
            reason = &mut self.reader => Event::Lost(reason.unwrap_or_default()),
            () = self.process.kill.cancelled() => Event::Kill,
            () = self.process.stop.cancelled() => Event::Stop,
        };
        // One time for all of it: whoever waits for an answer hears of the end at once.
        let last_words = Instant::now() + limits::LAST_WORDS;
        let end = match event {
            Event::Exit(status) => {
                // What it said before it died still counts, unless a grandchild holds the line.
                if !self.reader.is_finished() {
                    timeout_at(last_words, &mut self.reader).await.ok();
                }
                self.crashed(&how(status), last_words).await
            }
            Event::Lost(reason) => match timeout_at(last_words, self.started.wait()).await {
                Ok(status) => self.crashed(&how(status), last_words).await,
                Err(_) => {
                    let end = self.crashed(&reason, last_words).await;
                    self.kill().await;
                    end
                }
            },
            Event::Kill => {
                let why = lock(&self.process.health).verdict.unwrap_or("killed");
                self.started.signal(Signal::KILL);
                let end = self.crashed(why, last_words).await;
                self.kill().await;
                end
            }
            Event::Stop => {
                self.dispose().await;
                Ended::Stopped
            }
        };
        self.started.end_rest().await;
        self.reader.abort();
        self.writer.abort();
        for output in &self.outputs {
            output.abort();
        }
        end
    }

    async fn crashed(&mut self, how: &str, last_words: Instant) -> Ended {
        for output in &mut self.outputs {
            if !output.is_finished() {
                timeout_at(last_words, output).await.ok();
            }
        }
        let plugin = self.process.plugin.as_str();
        let error = BackendError::exited(plugin, how, self.process.log.last(limits::TOLD_LINES));
        self.process.log.line("host", &format!("the backend exited ({how})"));
        self.process.close(&error);
        Ended::Crashed(error)
    }

    async fn kill(&mut self) {
        self.started.signal(Signal::KILL);
        self.started.wait().await.ok();
    }

    /// `dispose()` in its time, TERM, KILL: 5 s in all (security T12).
    async fn dispose(&mut self) {
        let end = Instant::now() + limits::DISPOSE;
        let stopped = BackendError::stopped(self.process.plugin.as_str());
        // Calls under way are over now; the reply to `dispose` is the exit itself.
        let id = self.process.next.fetch_add(1, Ordering::Relaxed);
        let line = to_line(&json!({ "jsonrpc": "2.0", "id": id, "method": "dispose" }));
        self.process.out.try_send(line).ok();
        self.process.close(&stopped);
        if timeout_at(end, self.started.wait()).await.is_ok() {
            return;
        }
        self.process.log.line("host", "dispose() took longer than 3 s");
        if !self.process.hurry.load(Ordering::Relaxed) {
            self.started.signal(Signal::TERM);
            if timeout(limits::TERM_TIME, self.started.wait()).await.is_ok() {
                return;
            }
        }
        self.kill().await;
    }
}

/// `code 1`, `signal 9`.
fn how(status: std::io::Result<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown status".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

/// Drains a stream into the log, line by line, however long and fast.
async fn drain<R: AsyncRead + Unpin>(mut stream: R, source: &'static str, log: Arc<PluginLogFile>) {
    let mut chunk = vec![0; 16 * 1024];
    let mut line: Vec<u8> = Vec::new();
    let mut cut = false;
    let finish = |line: &mut Vec<u8>, cut: &mut bool| {
        let mut text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        if std::mem::take(cut) {
            text.push('…');
        }
        line.clear();
        log.line(source, &text);
    };
    let keep = |line: &mut Vec<u8>, cut: &mut bool, bytes: &[u8]| {
        let room = LINE_BYTES - line.len();
        line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        *cut |= bytes.len() > room;
    };
    loop {
        let read = match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        let mut rest = &chunk[..read];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            keep(&mut line, &mut cut, &rest[..end]);
            finish(&mut line, &mut cut);
            rest = &rest[end + 1..];
        }
        keep(&mut line, &mut cut, rest);
    }
    if !line.is_empty() {
        finish(&mut line, &mut cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_loop_is_silent_and_an_unused_one_idle() {
        let start = Instant::now();
        let health = |waiting: bool, busy| Health {
            last_used: start,
            waiting_since: waiting.then_some((1, start)),
            busy,
            verdict: None,
        };
        let later = |seconds| start + Duration::from_secs(seconds);
        let minutes = 60;
        for (health, seconds, calls, expected) in [
            (health(true, 0), 29, 1, Standing::Fine),
            (health(true, 0), 30, 1, Standing::Silent),
            (health(true, 0), 30, 0, Standing::Silent),
            (health(false, 0), 14 * minutes, 0, Standing::Fine),
            (health(false, 0), 15 * minutes, 0, Standing::Idle),
            // A call under way, a timer or a socket is use.
            (health(false, 0), 20 * minutes, 1, Standing::Fine),
            (health(false, 2), 20 * minutes, 0, Standing::Fine),
        ] {
            assert_eq!(health.standing(later(seconds), calls), expected, "{seconds} s, {calls} calls");
        }
    }
}
