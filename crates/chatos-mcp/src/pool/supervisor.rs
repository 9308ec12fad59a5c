//! The task that alone opens and closes the connection of one server.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::status::{LastError, Phase, ServerStatus};
use super::{ServerSpec, Shared};
use crate::connection::{Connect, ConnectError, Connection};
use crate::failure::{Failure, Waited};
use crate::handshake::Era;
use crate::hooks::{LogLine, LogSource, Offers};
use crate::oauth::Challenge;
use crate::router::Noise;

/// A start may keep its place this long; then another server may begin, so that hanging ones do not
/// hold up the rest.
const START_PLACE: Duration = Duration::from_secs(5);
/// Lines of an error stream in a status.
const LAST_WORDS: usize = 30;

/// A server of the pool.
pub(super) struct Server {
    pub(super) spec: ServerSpec,
    shared: Arc<Shared>,
    state: watch::Sender<State>,
    wish: Mutex<Wish>,
    /// The wish changed.
    wished: Notify,
    /// Somebody asked for the connection since the last look.
    wanted: AtomicBool,
    leases: AtomicUsize,
    /// It may ask a model; the one thing about it that changes while it runs.
    sampling: AtomicBool,
    used: Mutex<Instant>,
    retired: CancellationToken,
}

/// What a person or the pool wants of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// Run when needed.
    Normal,
    /// Run anew; failures are forgotten.
    Restart,
    /// Stay stopped.
    Stop,
}

#[derive(Clone)]
struct State {
    phase: Phase,
    connection: Option<Arc<Connection>>,
    /// Attempts that came to an end, either way.
    attempts: u64,
    next: Option<Instant>,
    last: Option<LastError>,
    /// Rights that a call lacked.
    wanted: Option<Challenge>,
    /// The task has ended.
    over: bool,
}

/// Why a running connection is given up.
enum Why {
    Ended(Failure),
    Unused,
    Wished,
    Retired,
}

impl Server {
    pub(super) fn new(spec: ServerSpec, shared: Arc<Shared>) -> Arc<Self> {
        let state = State {
            phase: Phase::Idle,
            connection: None,
            attempts: 0,
            next: None,
            last: None,
            wanted: None,
            over: false,
        };
        let server = Arc::new(Self {
            sampling: AtomicBool::new(spec.offers.sampling),
            spec,
            state: watch::channel(state).0,
            wish: Mutex::new(Wish::Normal),
            wished: Notify::new(),
            wanted: AtomicBool::new(false),
            leases: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            retired: shared.closing.child_token(),
            shared,
        });
        // Ends when the server is retired or the pool closes; `gone` waits for it.
        tokio::spawn(Arc::clone(&server).run());
        server
    }

    pub(super) fn is_described_by(&self, spec: &ServerSpec) -> bool {
        let own = &self.spec;
        own.endpoint.same_as(&spec.endpoint)
            && own.name == spec.name
            && own.digest == spec.digest
            && own.offers == Offers { sampling: own.offers.sampling, ..spec.offers }
            && own.times == spec.times
            && own.idle == spec.idle
    }

    /// Takes over what may change while the server runs: whether it may ask a model. A grant given or
    /// taken back must not cost a server its state.
    pub(super) fn take_over(&self, spec: &ServerSpec) {
        let sampling = spec.offers.sampling;
        if self.sampling.swap(sampling, Ordering::SeqCst) == sampling {
            return;
        }
        let connection = self.state.borrow().connection.clone();
        let Some(connection) = connection else { return };
        connection.offer_sampling(sampling);
        if sampling && connection.peer().era == Era::Legacy {
            let text = "it may ask a model now; it is told so with its next start".to_owned();
            let line = LogLine { source: LogSource::Client, level: None, text };
            self.shared.options.hooks.log(&self.spec.key, line);
        }
    }

    pub(super) fn hold(&self) {
        self.leases.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn release(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        // Nobody is woken: whoever stops unused servers looks at the time of their last use again when
        // their time is over, and every call holds a lease.
        self.leases.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn retire(&self) {
        self.retired.cancel();
    }

    pub(super) async fn gone(&self) {
        self.state.subscribe().wait_for(|state| state.over).await.ok();
    }

    pub(super) fn restart(&self) {
        self.set_wish(Wish::Restart);
    }

    pub(super) async fn stop(&self) {
        let mut state = self.state.subscribe();
        self.set_wish(Wish::Stop);
        state.wait_for(|state| state.over || state.phase == Phase::Stopped).await.ok();
    }

    fn set_wish(&self, wish: Wish) {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner) = wish;
        self.wished.notify_one();
    }

    fn wish(&self) -> Wish {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, where there is one that works.
    fn ready(&self) -> Option<Arc<Connection>> {
        let state = self.state.borrow();
        let connection = state.connection.as_ref().filter(|_| state.phase == Phase::Ready && !state.over)?;
        // One that is about to be restarted is not given out any more.
        let wanted = self.wish() != Wish::Restart && !self.retired.is_cancelled();
        let usable = wanted && connection.end().is_none();
        usable.then(|| Arc::clone(connection))
    }

    /// The connection, for a look that counts as no use.
    pub(super) fn connected(&self) -> Option<Arc<Connection>> {
        self.ready()
    }

    pub(super) async fn connect(&self, patience: Duration) -> Result<Arc<Connection>, ConnectError> {
        if let Some(connection) = self.ready() {
            *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            return Ok(connection);
        }
        let mut states = self.state.subscribe();
        let before = states.borrow().attempts;
        let deadline = Instant::now() + patience;
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let plain = |failure| ConnectError { failure, stderr: Vec::new() };
        let mut rung = false;
        loop {
            {
                let state = states.borrow_and_update();
                if state.over || self.retired.is_cancelled() {
                    return Err(plain(Failure::UnknownServer));
                }
                match (state.phase, &state.connection) {
                    // One that is about to be restarted is not given out any more.
                    (Phase::Ready, Some(connection))
                        if connection.end().is_none() && self.wish() != Wish::Restart =>
                    {
                        return Ok(Arc::clone(connection));
                    }
                    (Phase::Stopped, _) if self.wish() == Wish::Stop => return Err(plain(Failure::Stopped)),
                    (Phase::Failed, _) if self.wish() != Wish::Restart => return Err(self.gave_up(&state)),
                    (Phase::SignIn, _) if self.wish() != Wish::Restart => {
                        if let Some(last) = &state.last {
                            let stderr = last.stderr.clone();
                            return Err(ConnectError { failure: last.failure.clone(), stderr });
                        }
                    }
                    (phase, _) if phase != Phase::Ready && state.attempts > before => {
                        if let Some(last) = &state.last {
                            let stderr = last.stderr.clone();
                            return Err(ConnectError { failure: last.failure.clone(), stderr });
                        }
                    }
                    _ => {}
                }
            }
            if !std::mem::replace(&mut rung, true) {
                self.wanted.store(true, Ordering::Relaxed);
                self.wished.notify_one();
            }
            match tokio::time::timeout_at(deadline, states.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(plain(Failure::UnknownServer)),
                Err(_) => return Err(self.too_late(&states.borrow(), patience)),
            }
        }
    }

    fn gave_up(&self, state: &State) -> ConnectError {
        let failures = self.shared.options.restarts.failures;
        match &state.last {
            Some(last) => ConnectError {
                failure: Failure::GaveUp { failures, last: Box::new(last.failure.clone()) },
                stderr: last.stderr.clone(),
            },
            None => ConnectError { failure: Failure::Stopped, stderr: Vec::new() },
        }
    }

    fn too_late(&self, state: &State, patience: Duration) -> ConnectError {
        let next = state.next.map(|next| next.saturating_duration_since(Instant::now()));
        match (&state.last, next) {
            (Some(last), Some(next)) => ConnectError {
                failure: Failure::Restarting { last: Box::new(last.failure.clone()), next },
                stderr: last.stderr.clone(),
            },
            _ => ConnectError {
                failure: Failure::TimedOut { what: Waited::Start, after: patience, noise: None },
                stderr: Vec::new(),
            },
        }
    }

    /// Takes note of a request that the server refused for want of rights.
    pub(super) fn look_at(&self, failure: &Failure) {
        if let Failure::SignInNeeded { challenge, .. } = failure
            && challenge.wants_more()
        {
            self.state.send_modify(|state| state.wanted = Some(Challenge::clone(challenge)));
            self.shared.changed();
        }
    }

    pub(super) fn status(&self) -> ServerStatus {
        let state = self.state.borrow().clone();
        let connection = state.connection.as_deref();
        let stderr = match connection {
            Some(connection) => connection.stderr(LAST_WORDS),
            None => state.last.as_ref().map(|last| last.stderr.clone()).unwrap_or_default(),
        };
        ServerStatus {
            key: self.spec.key.clone(),
            name: self.spec.name.clone(),
            kind: self.spec.endpoint.kind(),
            phase: state.phase,
            peer: connection.map(|connection| connection.peer().clone()),
            pid: connection.and_then(Connection::pid),
            calls: connection.map_or(0, Connection::calls),
            leases: self.leases.load(Ordering::Relaxed),
            tools: connection.and_then(Connection::known_tools).map(|list| list.tools.len()),
            last_error: state.last.clone(),
            wanted: state.wanted.clone(),
            next_attempt: state.next.map(|next| next.saturating_duration_since(Instant::now())),
            stderr,
            noise: connection.map_or_else(Noise::default, Connection::noise),
        }
    }

    fn enter(&self, phase: Phase, change: impl FnOnce(&mut State)) {
        self.state.send_modify(|state| {
            state.phase = phase;
            state.next = None;
            change(state);
        });
        self.shared.changed();
    }

    /// The whole life of the server.
    async fn run(self: Arc<Self>) {
        let mut failures: Vec<Instant> = Vec::new();
        let mut due: Option<Instant> = None;
        let mut signed_out = false;
        while !self.retired.is_cancelled() {
            match self.wish() {
                Wish::Stop => {
                    self.enter(Phase::Stopped, |_| {});
                    self.rest(None).await;
                    continue;
                }
                Wish::Restart => {
                    // Before the wish is gone: who asks in between must not be told the old failure.
                    self.enter(Phase::Starting, |state| state.wanted = None);
                    self.set_quietly(Wish::Normal);
                    self.wanted.store(true, Ordering::Relaxed);
                    failures.clear();
                    due = None;
                    signed_out = false;
                }
                Wish::Normal => {}
            }
            if signed_out {
                // Trying again would change nothing; after the sign-in the host restarts it.
                self.enter(Phase::SignIn, |_| {});
                self.rest(None).await;
                continue;
            }
            let restarts = self.shared.options.restarts;
            failures.retain(|at| at.elapsed() < restarts.window);
            if failures.len() >= restarts.failures {
                self.enter(Phase::Failed, |_| {});
                self.rest(None).await;
                // Only a restart ends this; the failures of the window are kept for the page.
                if self.wish() == Wish::Normal {
                    failures.fill(Instant::now());
                }
                continue;
            }
            if let Some(at) = due.take_if(|at| *at > Instant::now()) {
                self.enter(Phase::Waiting, |state| state.next = Some(at));
                self.rest(Some(at)).await;
                if self.wish() == Wish::Normal && Instant::now() < at {
                    due = Some(at);
                }
                continue;
            }
            due = None;
            let needed =
                self.wanted.swap(false, Ordering::Relaxed) || self.leases.load(Ordering::Relaxed) > 0;
            if !needed {
                self.enter(Phase::Idle, |_| {});
                self.rest(None).await;
                continue;
            }
            if let Err(error) = self.live().await {
                if matches!(error.failure, Failure::SignInNeeded { .. }) {
                    signed_out = true;
                    self.tell(&error);
                    continue;
                }
                if matches!(error.failure, Failure::Untrusted { .. }) {
                    // No fault of the server's, and nothing is tried on its own: who asks next asks again.
                    self.tell(&error);
                    self.enter(Phase::Idle, |_| {});
                    self.rest(None).await;
                    continue;
                }
                failures.push(Instant::now());
                let shift = u32::try_from(failures.len() - 1).unwrap_or(u32::MAX).min(16);
                due = Some(Instant::now() + restarts.first.saturating_mul(1 << shift).min(restarts.most));
                self.tell(&error);
            }
        }
        self.enter(Phase::Stopped, |state| {
            state.connection = None;
            state.over = true;
        });
    }

    fn set_quietly(&self, wish: Wish) {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner) = wish;
    }

    /// Waits for a new wish, a time, or the end.
    async fn rest(&self, until: Option<Instant>) {
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.wished.notified() => {}
            () = time => {}
            () = self.retired.cancelled() => {}
        }
    }

    /// One attempt and, when it succeeds, the whole time of the connection. An error is a failure that
    /// counts.
    async fn live(&self) -> Result<(), ConnectError> {
        self.enter(Phase::Starting, |_| {});
        let stop = CancellationToken::new();
        let mut opening = Box::pin(self.open(&stop));
        let opened = tokio::select! {
            opened = &mut opening => opened,
            () = self.unwished() => {
                // Given up half way: what was started has to be gone before anybody is told so.
                stop.cancel();
                if let Ok(connection) = opening.await {
                    connection.close().await;
                }
                return Ok(());
            }
        };
        let connection = match opened {
            Ok(connection) => Arc::new(connection),
            Err(error) => {
                self.note(&error);
                return Err(error);
            }
        };
        self.remember(connection.peer().era);
        self.wanted.store(false, Ordering::Relaxed);
        self.enter(Phase::Ready, |state| {
            state.attempts += 1;
            state.connection = Some(Arc::clone(&connection));
        });
        // It may have changed between the handshake and now; from here on `take_over` finds the connection.
        connection.offer_sampling(self.sampling.load(Ordering::SeqCst));
        let why = tokio::select! {
            failure = connection.ended() => Why::Ended(failure),
            why = self.given_up(&connection) => why,
        };
        let failed = match why {
            Why::Ended(failure) => {
                let error = ConnectError { failure, stderr: connection.stderr(LAST_WORDS) };
                // Told before its process is ended; nobody is given this connection any more.
                let signed_out = matches!(error.failure, Failure::SignInNeeded { .. });
                self.enter(if signed_out { Phase::SignIn } else { Phase::Waiting }, |state| {
                    state.connection = None;
                    state.last = Some(last_error(&error));
                });
                Err(error)
            }
            Why::Unused | Why::Wished | Why::Retired => Ok(()),
        };
        connection.close().await;
        self.state.send_modify(|state| state.connection = None);
        failed
    }

    async fn open(&self, stop: &CancellationToken) -> Result<Connection, ConnectError> {
        let stopped = || ConnectError { failure: Failure::Stopped, stderr: Vec::new() };
        let place = tokio::select! {
            place = Arc::clone(&self.shared.starts).acquire_owned() => place.map_err(|_| stopped())?,
            () = stop.cancelled() => return Err(stopped()),
        };
        let era = {
            let eras = self.shared.eras.lock().unwrap_or_else(PoisonError::into_inner);
            eras.get(&(self.spec.key.clone(), self.spec.digest.clone())).copied()
        };
        let options = &self.shared.options;
        let connect = Connect {
            key: self.spec.key.clone(),
            endpoint: self.spec.endpoint.clone(),
            era,
            offers: Offers { sampling: self.sampling.load(Ordering::SeqCst), ..self.spec.offers },
            times: self.spec.times,
            identity: options.identity.clone(),
            spawning: options.spawning.clone(),
        };
        let mut opening = Box::pin(Connection::open_until(&connect, &options.hooks, stop));
        match tokio::time::timeout(START_PLACE, &mut opening).await {
            Ok(opened) => opened,
            Err(_) => {
                drop(place);
                opening.await
            }
        }
    }

    fn remember(&self, era: Era) {
        let mut eras = self.shared.eras.lock().unwrap_or_else(PoisonError::into_inner);
        eras.insert((self.spec.key.clone(), self.spec.digest.clone()), era);
    }

    /// A failed attempt.
    fn note(&self, error: &ConnectError) {
        self.state.send_modify(|state| {
            state.attempts += 1;
            state.last = Some(last_error(error));
        });
    }

    fn tell(&self, error: &ConnectError) {
        let text = error.failure.to_string();
        tracing::warn!(server = %self.spec.key, failure = %text, "an MCP server failed");
        self.shared
            .options
            .hooks
            .log(&self.spec.key, LogLine { source: LogSource::Client, level: None, text });
    }

    /// Resolves when the server shall not run (any more) the way it does.
    async fn unwished(&self) {
        loop {
            tokio::select! {
                () = self.retired.cancelled() => return,
                () = self.wished.notified() => {
                    if self.wish() != Wish::Normal {
                        return;
                    }
                }
            }
        }
    }

    async fn given_up(&self, connection: &Connection) -> Why {
        loop {
            let unused = async {
                match self.spec.idle {
                    Some(idle) => {
                        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
                        tokio::time::sleep_until((used + idle).max(Instant::now() + idle / 8)).await;
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.retired.cancelled() => return Why::Retired,
                () = self.wished.notified() => {
                    if self.wish() != Wish::Normal {
                        return Why::Wished;
                    }
                }
                () = unused => {
                    let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
                    let free = self.leases.load(Ordering::Relaxed) == 0 && connection.calls() == 0;
                    if free && self.spec.idle.is_some_and(|idle| used.elapsed() >= idle) {
                        return Why::Unused;
                    }
                }
            }
        }
    }
}

fn last_error(error: &ConnectError) -> LastError {
    LastError { failure: error.failure.clone(), stderr: error.stderr.clone(), at: SystemTime::now() }
}
