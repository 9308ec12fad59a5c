//! One process of a backend: from its start to the end of its family, with the calls under way.

mod health;
mod inbox;
mod keeper;

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_child::{Program, drain_lines, start_with_channel};
use chatos_manifest::PluginId;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::health::Health;
use self::keeper::Keeper;
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

fn to_log(source: &'static str, log: &Arc<PluginLogFile>) -> impl FnMut(String) + use<> {
    let log = Arc::clone(log);
    move |text| log.line(source, &text)
}

fn to_line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// `node [--import MODULE] RUNNER`.
fn arguments(launch: &Launch) -> Vec<OsString> {
    let lent = launch.import.iter().flat_map(|import| ["--import".into(), import.into()]);
    lent.chain([launch.runner.clone().into_os_string()]).collect()
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
            arguments: arguments(&launch),
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
            health: Mutex::new(Health::new(now)),
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
            tokio::spawn(drain_lines(streams.stdout, LINE_BYTES, to_log("out", &log))),
            tokio::spawn(drain_lines(streams.stderr, LINE_BYTES, to_log("err", &log))),
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
                let mut failed = BackendError::failed_to_start(plugin, &error.message.en);
                failed.data.extend(error.data);
                BackendError { code: error.code, hint: failed.hint.or(error.hint), ..failed }
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
}
