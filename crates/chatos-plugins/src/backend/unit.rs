//! The backend of one plugin across its processes: one start at a time, back-off after crashes, a
//! failed state, reload (host-api §9.5).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_manifest::PluginId;
use chatos_wire::app::{BackendFailure, BackendPhase, BackendStatus};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::error::BackendError;
use super::limits;
use super::log::PluginLogFile;
use super::port::BackendPort;
use super::process::{Ended, Process};

/// One plugin's backend.
pub(super) struct Unit {
    id: PluginId,
    port: Arc<dyn BackendPort>,
    log: Arc<PluginLogFile>,
    places: Semaphore,
    queued: AtomicUsize,
    state: Mutex<State>,
}

type Outcome = Option<Result<Arc<Process>, BackendError>>;

#[derive(Default)]
struct State {
    current: Option<Arc<Process>>,
    starting: Option<watch::Receiver<Outcome>>,
    /// Grows with every reload and stop; a start that began before is not for this one.
    generation: u64,
    crashes: VecDeque<Instant>,
    streak: u32,
    not_before: Option<Instant>,
    failed: bool,
    last_error: Option<(BackendError, String)>,
    closed: bool,
}

enum Step {
    Use(Arc<Process>),
    Await(watch::Receiver<Outcome>),
    Pause(Instant),
}

/// Counts a call that waits for a place.
struct Queued<'a>(&'a AtomicUsize);

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Unit {
    pub(super) fn new(id: PluginId, port: Arc<dyn BackendPort>, log: Arc<PluginLogFile>) -> Arc<Self> {
        let places = Semaphore::new(limits::IN_FLIGHT);
        Arc::new(Self { id, port, log, places, queued: AtomicUsize::new(0), state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn log(&self) -> &Arc<PluginLogFile> {
        &self.log
    }

    /// The bytes the running process was started from.
    pub(super) fn fingerprint(&self) -> Option<String> {
        self.state().current.as_ref().map(|process| process.fingerprint.clone())
    }

    pub(super) fn is_used(&self) -> bool {
        let state = self.state();
        state.current.is_some() || state.starting.is_some() || state.failed || state.not_before.is_some()
    }

    pub(super) fn status(&self) -> BackendStatus {
        let state = self.state();
        let now = Instant::now();
        let pause = state.not_before.filter(|at| *at > now).map(|at| at - now);
        let running = state.current.as_ref().filter(|process| process.is_alive());
        let phase = if state.failed {
            BackendPhase::Failed
        } else if running.is_some() {
            BackendPhase::Running
        } else if state.starting.is_some() {
            BackendPhase::Starting
        } else if pause.is_some() {
            BackendPhase::Backoff
        } else {
            BackendPhase::Stopped
        };
        BackendStatus {
            state: phase,
            pid: running.map(|process| process.pid),
            in_flight: limits::IN_FLIGHT - self.places.available_permits(),
            queued: self.queued.load(Ordering::Relaxed),
            crashes: state.crashes.len(),
            retry_after_ms: pause.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)),
            last_error: state.last_error.as_ref().map(|(error, at)| BackendFailure {
                code: error.code.to_owned(),
                message: error.message.en.clone(),
                at: at.clone(),
            }),
        }
    }

    /// The module it lacks, unless it runs.
    pub(super) fn missing_module(&self) -> Option<String> {
        let state = self.state();
        let (error, _) = state.last_error.as_ref().filter(|_| state.current.is_none())?;
        error.data.get("module")?.as_str().map(str::to_owned)
    }

    fn tell(&self) {
        self.port.changed(&self.id, &self.status());
    }

    /// Makes a call, starting the process if need be.
    pub(super) async fn invoke(
        self: &Arc<Self>,
        method: &str,
        params: Option<&RawValue>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Box<RawValue>, BackendError> {
        let deadline = Instant::now() + limit;
        let prepared = async {
            let place = match self.places.try_acquire() {
                Ok(place) => place,
                Err(_) => {
                    let waiting = self.queued.fetch_add(1, Ordering::Relaxed);
                    let counted = Queued(&self.queued);
                    if waiting >= limits::QUEUED {
                        return Err(BackendError::too_many(self.id.as_str()));
                    }
                    let place = self.places.acquire().await;
                    drop(counted);
                    place.map_err(|_| BackendError::stopped(self.id.as_str()))?
                }
            };
            Ok((place, self.ready().await?))
        };
        let (place, process) = tokio::select! {
            ready = prepared => ready?,
            () = cancel.cancelled() => return Err(BackendError::canceled(method)),
            () = sleep_until(deadline) => return Err(BackendError::timeout(method, limit)),
        };
        let ctx = self.port.context(&self.id).values;
        let answer = process.invoke(method, params, &ctx, deadline, limit, cancel).await;
        drop(place);
        answer
    }

    /// The process to call, started when there is none.
    async fn ready(self: &Arc<Self>) -> Result<Arc<Process>, BackendError> {
        let patience = Instant::now() + limits::BACKOFF_WAIT;
        loop {
            match self.step()? {
                Step::Use(process) => return Ok(process),
                Step::Pause(until) => {
                    sleep_until(until.min(patience)).await;
                    let left = until.saturating_duration_since(Instant::now());
                    let still = self.state().not_before == Some(until);
                    if !left.is_zero() && still {
                        return Err(BackendError::backing_off(self.id.as_str(), left));
                    }
                }
                Step::Await(mut outcome) => {
                    let seen = outcome.wait_for(Option::is_some).await.map(|seen| seen.clone());
                    match seen.ok().flatten() {
                        Some(Ok(process)) if process.is_alive() => return Ok(process),
                        Some(Err(error)) => return Err(error),
                        // It was stopped or changed meanwhile: look again.
                        Some(Ok(_)) | None => sleep(Duration::from_millis(1)).await,
                    }
                }
            }
        }
    }

    fn step(self: &Arc<Self>) -> Result<Step, BackendError> {
        let mut state = self.state();
        if state.closed {
            return Err(BackendError::stopped(self.id.as_str()));
        }
        if let Some(process) = state.current.as_ref().filter(|process| process.is_alive()) {
            return Ok(Step::Use(Arc::clone(process)));
        }
        if state.failed {
            return Err(BackendError::failed(
                self.id.as_str(),
                state.last_error.as_ref().map(|(error, _)| error),
            ));
        }
        if let Some(outcome) = &state.starting {
            return Ok(Step::Await(outcome.clone()));
        }
        if let Some(until) = state.not_before.filter(|until| *until > Instant::now()) {
            return Ok(Step::Pause(until));
        }
        let (told, outcome) = watch::channel(None);
        state.starting = Some(outcome.clone());
        let generation = state.generation;
        drop(state);
        let unit = Arc::clone(self);
        // Not part of the call that asked first: others wait for the same start.
        tokio::spawn(async move {
            unit.tell();
            let outcome = unit.start(generation).await;
            unit.tell();
            told.send_replace(outcome);
        });
        Ok(Step::Await(outcome))
    }

    /// `None` when the start is not wanted any more.
    async fn start(self: &Arc<Self>, generation: u64) -> Outcome {
        let prepared = self.port.prepare(&self.id).await;
        let (result, counts) = match prepared {
            // Not the backend's own fault: nothing to wait for.
            Err(error) => (Err(error), false),
            Ok(launch) => {
                self.log.line("host", "the backend is started");
                let started =
                    Process::start(&self.id, launch, Arc::clone(&self.log), Arc::clone(&self.port)).await;
                (started, true)
            }
        };
        if self.adopt(generation, &result, counts) {
            return Some(result);
        }
        if let Ok(process) = result {
            process.stop(false).await;
        }
        None
    }

    /// Takes the outcome of a start; false when it is not wanted any more.
    fn adopt(
        self: &Arc<Self>,
        generation: u64,
        result: &Result<Arc<Process>, BackendError>,
        counts: bool,
    ) -> bool {
        let mut state = self.state();
        if state.generation != generation || state.closed {
            return false;
        }
        state.starting = None;
        match result {
            Ok(process) => {
                state.current = Some(Arc::clone(process));
                let (unit, process) = (Arc::clone(self), Arc::clone(process));
                tokio::spawn(async move {
                    let end = process.wait_for_end().await;
                    unit.ended(&process, end);
                });
            }
            Err(error) => {
                state.last_error = Some((error.clone(), now()));
                if counts {
                    note_crash(&mut state);
                }
            }
        }
        true
    }

    fn ended(&self, process: &Arc<Process>, end: Ended) {
        let mut state = self.state();
        let was_current = state.current.as_ref().is_some_and(|current| Arc::ptr_eq(current, process));
        if was_current {
            state.current = None;
            if let Ended::Crashed(error) = end {
                if process.started.elapsed() >= limits::HEALTHY {
                    state.streak = 0;
                }
                state.last_error = Some((error, now()));
                note_crash(&mut state);
            }
        }
        drop(state);
        if was_current {
            self.tell();
        }
    }

    /// Forgets crashes and takes the process out of use.
    fn renew(&self) -> Option<Arc<Process>> {
        let mut state = self.state();
        state.generation += 1;
        state.starting = None;
        state.failed = false;
        state.crashes.clear();
        state.streak = 0;
        state.not_before = None;
        state.last_error = None;
        state.current.take()
    }

    /// Its files changed: new calls get a new process, the old one finishes its own.
    pub(super) fn reload(&self) {
        let old = self.renew();
        self.log.line("host", "files changed; the next call starts the new code");
        self.tell();
        if let Some(old) = old {
            tokio::spawn(old.retire());
        }
    }

    /// It may not run any more, or is not needed.
    pub(super) async fn stop(&self, hurry: bool) {
        let old = self.renew();
        if let Some(old) = old {
            old.stop(hurry).await;
        }
        self.tell();
    }

    /// Stops it for good.
    pub(super) async fn close(&self) {
        self.state().closed = true;
        self.stop(true).await;
    }

    /// Starts it where it does not run; whoever calls it next waits for this start instead of making one.
    pub(super) fn begin(self: &Arc<Self>) {
        if let Err(error) = self.step() {
            tracing::debug!(%error, "a backend is not started beforehand");
        }
    }

    /// A person wants it started again.
    pub(super) async fn restart(self: &Arc<Self>) -> Result<(), BackendError> {
        self.stop(false).await;
        self.ready().await.map(|_| ())
    }
}

fn note_crash(state: &mut State) {
    let now = Instant::now();
    state.crashes.push_back(now);
    while state.crashes.front().is_some_and(|first| now - *first > limits::CRASH_WINDOW) {
        state.crashes.pop_front();
    }
    let pause = limits::BACKOFF_FIRST.saturating_mul(1 << state.streak.min(10)).min(limits::BACKOFF_MOST);
    state.streak += 1;
    state.not_before = Some(now + pause);
    state.failed = state.crashes.len() >= limits::CRASHES;
}

fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
