//! Who holds the process of a language server: waits for its end, ends it when nobody needs it, and says why it
//! ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_child::Tail;
use chatos_shell::{Ended, Program};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::wire::Wire;

/// servers §10: how long each step of a polite end may take.
const SHUTDOWN: Duration = Duration::from_secs(5);
const EXIT: Duration = Duration::from_millis(1_500);
/// servers §3.5: from TERM to KILL.
const GRACE: Duration = Duration::from_secs(2);
/// After KILL the system needs a moment to let go.
const AFTER: Duration = Duration::from_secs(3);
/// When everything ends there is less time.
const HASTY: Duration = Duration::from_millis(500);
/// Complaints that are shown.
const LINES: usize = 8;

/// Why a server ended that nobody told to.
#[derive(Debug, Clone)]
pub(crate) struct Death {
    pub(crate) why: String,
    /// What it complained last.
    pub(crate) lines: Vec<String>,
}

/// What the keeper and the users of a session share.
pub(crate) struct Kept {
    wire: Arc<Wire>,
    tail: Arc<Tail>,
    /// It should end politely.
    pub(super) end: CancellationToken,
    /// It should end at once.
    pub(super) kill: CancellationToken,
    /// It is gone, with everything it started.
    pub(super) done: CancellationToken,
    state: Mutex<State>,
}

struct State {
    used: Instant,
    idle: Option<Duration>,
    users: usize,
    greeted: bool,
    why: Option<String>,
    death: Option<Death>,
}

/// Somebody waits for an answer; the server is not idle.
pub(super) struct Using<'a>(&'a Kept);

impl Drop for Using<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.users -= 1;
        state.used = Instant::now();
    }
}

impl Kept {
    pub(super) fn new(wire: Arc<Wire>, tail: Arc<Tail>, idle: Option<Duration>) -> Self {
        let state = State { used: Instant::now(), idle, users: 0, greeted: false, why: None, death: None };
        Self {
            wire,
            tail,
            end: CancellationToken::new(),
            kill: CancellationToken::new(),
            done: CancellationToken::new(),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn greeted(&self) {
        let mut state = self.state();
        state.greeted = true;
        state.used = Instant::now();
    }

    pub(super) fn ending(&self) -> bool {
        self.end.is_cancelled() || self.kill.is_cancelled()
    }

    pub(super) fn touch(&self, idle: Option<Duration>) {
        let mut state = self.state();
        state.used = Instant::now();
        state.idle = idle;
    }

    pub(super) fn used(&self) -> Instant {
        self.state().used
    }

    pub(super) fn using(&self) -> Using<'_> {
        self.state().users += 1;
        Using(self)
    }

    pub(super) fn death(&self) -> Option<Death> {
        self.state().death.clone()
    }

    /// It said something that is no protocol.
    pub(super) fn broke(&self, why: String) {
        self.state().why.get_or_insert(why);
        self.kill.cancel();
    }

    /// It said nothing for as long as a request may take.
    pub(super) fn hangs(&self, method: &str) {
        self.state()
            .why
            .get_or_insert_with(|| format!("it did not answer `{method}` and said nothing meanwhile"));
        self.kill.cancel();
    }

    /// When it should be looked at whether anybody uses it; nothing while somebody does.
    fn idle_at(&self) -> Option<Instant> {
        let state = self.state();
        match state.idle {
            Some(idle) if state.greeted && state.users == 0 => Some(state.used + idle),
            _ => None,
        }
    }
}

/// How often idleness is looked at where it has no time yet.
const LOOK: Duration = Duration::from_secs(1);

/// Holds the process until it is gone, with everything it started.
pub(super) async fn keep(
    mut program: Program,
    kept: Arc<Kept>,
    tasks: [JoinHandle<()>; 3],
    shutdown: CancellationToken,
    on_death: Box<dyn Fn(Death) + Send + Sync>,
) {
    let ended = loop {
        let look = kept.idle_at().unwrap_or_else(|| Instant::now() + LOOK);
        tokio::select! {
            biased;
            ended = program.ended() => break Some(ended),
            () = shutdown.cancelled() => {
                kept.end.cancel();
                kept.wire.tell_now("exit", Value::Null);
                break finish(&mut program, HASTY).await.and(None);
            }
            () = kept.kill.cancelled() => break finish(&mut program, Duration::ZERO).await.and(None),
            () = kept.end.cancelled() => {
                tokio::select! {
                    () = polite(&mut program, &kept) => {}
                    () = shutdown.cancelled() => drop(finish(&mut program, HASTY).await),
                    () = kept.kill.cancelled() => drop(finish(&mut program, Duration::ZERO).await),
                }
                break None;
            }
            () = tokio::time::sleep_until(look) => {
                if kept.idle_at().is_some_and(|at| at <= Instant::now()) {
                    tracing::debug!("a language server is idle and stops");
                    kept.end.cancel();
                }
            }
        }
    };
    // Its supervisor goes with it and ends what may be left.
    drop(program);
    let said = kept.state().why.take();
    let why = said.or_else(|| ended.map(words));
    if let Some(why) = why {
        // What it complained is read to its end first.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let death = Death { why, lines: kept.tail.last(LINES) };
        tracing::debug!(why = death.why, "a language server died");
        kept.state().death = Some(death.clone());
        on_death(death);
    }
    kept.wire.close();
    for task in tasks {
        task.abort();
    }
    kept.done.cancel();
}

async fn polite(program: &mut Program, kept: &Kept) {
    let goodbye = async {
        // One that refuses is ended all the same.
        kept.wire.request("shutdown", Value::Null, SHUTDOWN).await.ok();
        kept.wire.tell("exit", json!(null)).await.ok();
    };
    tokio::select! {
        () = goodbye => {}
        _ = program.ended() => return,
    }
    if tokio::time::timeout(EXIT, program.ended()).await.is_err() {
        finish(program, GRACE).await;
    }
}

async fn finish(program: &mut Program, grace: Duration) -> Option<Ended> {
    program.end(grace);
    tokio::time::timeout(grace + AFTER, program.ended()).await.ok()
}

fn words(ended: Ended) -> String {
    match ended {
        Ended::Exited { code: Some(code), .. } => format!("exit code {code}"),
        Ended::Exited { signal: Some(signal), .. } => format!("signal {signal}"),
        Ended::Exited { .. } => "it is gone".to_owned(),
        Ended::Memory { limit } => format!("it used more than {} MiB of memory", limit >> 20),
        Ended::Processes { limit } => format!("it started more than {limit} processes"),
        Ended::Lost => "its supervisor was killed".to_owned(),
    }
}
