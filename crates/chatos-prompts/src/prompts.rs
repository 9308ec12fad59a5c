//! The queue as the rest of ChatOS sees it: one owner per process of the log, its fold and its waiters.
//!
//! [`Prompts`] is a cheap handle. Opening it starts one reader thread, which is joined when the last
//! handle is dropped. Calls that write are synchronous and return when the line is durable; waiting is
//! async. Lock order inside: writer turn → pump → telling → state; the store and the signer are called with the
//! state unlocked.

mod ask;
mod fold;
mod list;
mod mirror;
mod pump;
mod respond;
mod state;
mod tick;
mod upkeep;
mod view;
mod wait;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use chatos_lines::{Fs, Log, Paths, Waker, Watch, lock};
use tokio::sync::{broadcast, watch};

pub use ask::{Ask, AskError, AskReceipt, Asked};
pub use list::{Counts, Page, Query, QueryError, View};
pub use respond::{Respond, RespondError, Responded, UseError};
pub use tick::{Askers, Policy, Scope, SystemAskers};
pub use view::{AnswerView, Class, Item, ItemState, LineRef, Viewer};
pub use wait::{Cursor, ResultEntry, ResultWait, Verified, WaitError};

use crate::clock::Clock;
use crate::entry::Boot;
use crate::health::Health;
use crate::ids::RequestId;
use crate::metadata::LogMode;
use crate::reader::Reader;
use crate::records::{Records, RecordsError};
use crate::sign::Signer;
use state::State;

/// How many events a slow subscriber may fall behind before it has to read the lists again.
const EVENT_BUFFER: usize = 1024;

/// Safety polls (`ui-prompts §3.3`): while somebody waits, and otherwise.
const POLL_WAITING: Duration = Duration::from_secs(1);
const POLL_IDLE: Duration = Duration::from_secs(10);

/// What this process is to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Folds everything, replays the outbox, repairs, follows the old inode after an archive.
    Host,
    /// Folds everything and writes only its own lines: the terminal without a host.
    Visitor,
    /// Reads from the end only and relies on the store for what it asked: `chatos mcp …` without a
    /// host, which must start at once however long the log is.
    Asker,
}

/// Everything the queue needs from outside.
pub struct Config {
    pub paths: Paths,
    pub records: Arc<dyn Records>,
    pub signer: Arc<dyn Signer>,
    pub clock: Arc<dyn Clock>,
    pub fs: Arc<dyn Fs>,
    pub role: Role,
    pub mode: LogMode,
}

/// How far the first fold is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    Loading {
        done: u64,
        total: u64,
    },
    Ready,
    /// The store could not be read; tried again every second.
    Failed(String),
}

/// What subscribers are told. Each carries its item, never the log.
#[derive(Debug, Clone)]
pub enum Event {
    Requested(Box<Item>),
    Answered(Box<Item>),
    Expired(Box<Item>),
    Superseded(Box<Item>),
    /// Another program wrote a response to a served prompt: for the hub and the audit log.
    Forged {
        item: Box<Item>,
        line: LineRef,
    },
    LogProblem(Box<Health>),
    Counts(Counts),
    /// Too much changed at once, or the file was replaced: read the lists again.
    Resync,
}

/// A handle to the queue.
#[derive(Clone)]
pub struct Prompts {
    inner: Arc<Inner>,
    // Joined when the last handle goes; declared after `inner` so that it is dropped last.
    owner: Arc<ThreadOwner>,
}

pub(crate) struct Inner {
    pub(crate) log: Log,
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) records: Arc<dyn Records>,
    pub(crate) signer: Arc<dyn Signer>,
    pub(crate) role: Role,
    mode: AtomicU8,
    /// Wall time minus monotonic time when the queue was opened, in milliseconds.
    steady_base: i64,
    /// Which start of the machine this is.
    boot_id: String,
    /// Names this opening: calls of an earlier one wait for nothing any more (`inbox §1.3`).
    host_start: String,
    pump: Mutex<pump::Pump>,
    /// Held while the outcome of a round of reading is told.
    telling: Mutex<()>,
    pub(crate) state: Mutex<State>,
    events: broadcast::Sender<Event>,
    phase: watch::Sender<Phase>,
    waker: Waker,
    stop: AtomicBool,
    /// Outbox rows that are durable in the log and not marked yet.
    to_mark: Mutex<Vec<i64>>,
    /// Lines wait in the store for the log to be writable again.
    backlog: AtomicBool,
    /// How far the log is read: a hint that saves a look at the file.
    read_to: AtomicU64,
}

struct ThreadOwner {
    inner: Arc<Inner>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl ThreadOwner {
    fn stop(&self) {
        self.inner.stop.store(true, Ordering::SeqCst);
        self.inner.waker.wake();
        if let Some(thread) = lock(&self.thread).take()
            && thread.join().is_err()
        {
            tracing::error!("the prompt log reader panicked");
        }
    }
}

impl Drop for ThreadOwner {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Why the queue could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot start the prompt log reader")]
    Thread(#[source] std::io::Error),
}

/// The queue is still being folded, or its store cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    #[error("the prompt log is being read ({done} of {total} bytes)")]
    Loading { done: u64, total: u64 },
    #[error("the prompt records cannot be read: {0}")]
    Failed(String),
}

impl Prompts {
    /// Opens the queue. Returns at once; the fold runs in the reader thread, see [`Prompts::ready`].
    pub fn open(config: Config) -> Result<Self, OpenError> {
        Self::open_with_events(config).map(|(prompts, _)| prompts)
    }

    /// The same with a subscription that misses nothing, also not what the first fold finds.
    pub fn open_with_events(config: Config) -> Result<(Self, broadcast::Receiver<Event>), OpenError> {
        let previous = config.paths.archive.join(".prev");
        let watch = Watch::new(&config.paths.log, vec![previous]).map_err(OpenError::Thread)?;
        let steady_base = config.clock.now_ms() - millis(config.clock.monotonic());
        let boot_id = config.clock.boot_id();
        let inner = Arc::new(Inner {
            log: Log::new(config.fs.clone(), config.paths.clone()),
            pump: Mutex::new(pump::Pump::new(Reader::new(config.fs.clone(), &config.paths.log))),
            telling: Mutex::new(()),
            state: Mutex::new(State::default()),
            fs: config.fs,
            clock: config.clock,
            records: config.records,
            signer: config.signer,
            role: config.role,
            mode: AtomicU8::new(mode_bits(config.mode)),
            steady_base,
            boot_id,
            host_start: RequestId::mint().to_string(),
            events: broadcast::channel(EVENT_BUFFER).0,
            phase: watch::channel(Phase::Loading { done: 0, total: 0 }).0,
            waker: watch.waker(),
            stop: AtomicBool::new(false),
            to_mark: Mutex::default(),
            backlog: AtomicBool::new(false),
            read_to: AtomicU64::new(0),
        });
        let events = inner.events.subscribe();
        let for_thread = inner.clone();
        let thread = std::thread::Builder::new()
            .name("prompts-reader".into())
            .spawn(move || pump::run(&for_thread, watch))
            .map_err(OpenError::Thread)?;
        let owner = Arc::new(ThreadOwner { inner: inner.clone(), thread: Mutex::new(Some(thread)) });
        Ok((Self { inner, owner }, events))
    }

    /// Stops the reader and joins it; other handles can still read what was folded.
    pub fn close(&self) {
        self.owner.stop();
    }

    pub fn phase(&self) -> Phase {
        self.inner.phase.borrow().clone()
    }

    /// Follows the progress of the first fold.
    pub fn phases(&self) -> watch::Receiver<Phase> {
        self.inner.phase.subscribe()
    }

    /// Waits until the first fold is done, expired prompts are closed and the outbox is replayed.
    pub async fn ready(&self) {
        let mut phases = self.inner.phase.subscribe();
        // The sender lives in `inner`, which we hold: the channel cannot close.
        while phases.wait_for(|phase| *phase == Phase::Ready).await.is_err() {}
    }

    /// The same for a thread; gives up after `limit`.
    pub fn ready_within(&self, limit: Duration) -> Result<(), NotReady> {
        self.inner.ready_within(limit)
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    pub fn mode(&self) -> LogMode {
        self.inner.mode()
    }

    /// Follows the setting `uiPromptLogMode`.
    pub fn set_mode(&self, mode: LogMode) {
        self.inner.mode.store(mode_bits(mode), Ordering::Relaxed);
    }

    pub fn paths(&self) -> &Paths {
        &self.inner.log.paths
    }

    /// What is wrong with the log, for the hub's footer and `chatos prompts check`.
    pub fn health(&self) -> Health {
        self.inner.health()
    }

    /// Reads what is new in the log now, in this thread.
    pub fn catch_up(&self) {
        self.inner.pump();
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }
}

impl Inner {
    pub(crate) fn mode(&self) -> LogMode {
        if self.mode.load(Ordering::Relaxed) == 0 { LogMode::Full } else { LogMode::Minimal }
    }

    /// Wall time that does not jump: the clock at opening plus the time that really passed.
    pub(crate) fn steady_ms(&self) -> i64 {
        self.steady_base + millis(self.clock.monotonic())
    }

    /// Now on the clock of the machine.
    pub(crate) fn boot_now(&self) -> Boot {
        Boot { id: self.boot_id.clone(), ms: millis(self.clock.monotonic()) }
    }

    /// The steady time of a question that this start of the machine has seen.
    pub(crate) fn steady_at(&self, boot: Option<&Boot>) -> Option<i64> {
        let boot = boot.filter(|boot| !boot.id.is_empty() && boot.id == self.boot_id)?;
        Some(self.steady_base.saturating_add(boot.ms).min(self.steady_ms()))
    }

    pub(crate) fn health(&self) -> Health {
        let mut health = lock(&self.state).health.clone();
        health.lock_missed = self.log.lock_missed();
        health.narrowed = self.log.narrowed();
        health
    }

    pub(crate) fn ready_within(&self, limit: Duration) -> Result<(), NotReady> {
        let deadline = std::time::Instant::now() + limit;
        loop {
            let not_ready = match &*self.phase.borrow() {
                Phase::Ready => return Ok(()),
                Phase::Loading { done, total } => NotReady::Loading { done: *done, total: *total },
                Phase::Failed(reason) => NotReady::Failed(reason.clone()),
            };
            if std::time::Instant::now() >= deadline || self.stop.load(Ordering::SeqCst) {
                return Err(not_ready);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn send(&self, event: Event) {
        // Nobody listening is fine.
        drop(self.events.send(event));
    }

    pub(crate) fn has_listeners(&self) -> bool {
        self.events.receiver_count() > 0
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn mode_bits(mode: LogMode) -> u8 {
    u8::from(mode == LogMode::Minimal)
}

/// Shared by asking and answering: the store's refusal as the caller sees it.
pub(crate) fn is_full(error: &RecordsError) -> bool {
    matches!(error, RecordsError::Full)
}
