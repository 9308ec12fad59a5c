//! The two clocks of a call, which stand still while it queues or a person is asked, and the one
//! signal that tells it to stop (tools §12).

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a call has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The caller withdrew it, or its connection is gone.
    Caller,
    /// The server stops.
    Shutdown,
    /// A clock ran out.
    Timeout {
        /// The clock's setting.
        limit_ms: u64,
    },
}

/// Tells a call to stop, once and for all.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    reason: OnceLock<Stop>,
    token: CancellationToken,
}

impl StopSignal {
    /// The first reason counts.
    pub(crate) fn stop(&self, reason: Stop) {
        if self.reason.set(reason).is_ok() {
            self.token.cancel();
        }
    }

    pub(crate) fn reason(&self) -> Option<Stop> {
        self.reason.get().copied()
    }

    pub(crate) async fn stopped(&self) -> Stop {
        self.token.cancelled().await;
        // The reason is set before the token.
        self.reason().unwrap_or(Stop::Caller)
    }
}

/// Time spent working.
#[derive(Debug)]
pub(crate) struct CallClock {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    started: Instant,
    paused: Duration,
    pause: Option<Instant>,
    // Nested waits (a confirmation inside a sub-step) pause once.
    depth: u32,
    // Working time at the last sign of life.
    beat: Duration,
}

impl CallClock {
    pub(crate) fn start() -> Self {
        let state = State {
            started: Instant::now(),
            paused: Duration::ZERO,
            pause: None,
            depth: 0,
            beat: Duration::ZERO,
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds of work, without waits.
    pub(crate) fn worked(&self) -> Duration {
        self.state().worked()
    }

    /// Time of all waits.
    pub(crate) fn waited(&self) -> Duration {
        let state = self.state();
        state.paused + state.pause.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// A sign of life: the idle clock begins again.
    pub(crate) fn beat(&self) {
        let mut state = self.state();
        state.beat = state.worked();
        drop(state);
        self.changed.notify_one();
    }

    /// Both clocks stand still until the guard is dropped.
    pub(crate) fn pause(&self) -> Pause<'_> {
        let mut state = self.state();
        state.depth += 1;
        if state.depth == 1 {
            state.pause = Some(Instant::now());
        }
        drop(state);
        self.changed.notify_one();
        Pause(self)
    }

    /// Resolves with the limit that was reached; `None` waits for ever on that clock.
    pub(crate) async fn expired(&self, idle: Option<Duration>, total: Duration) -> Duration {
        loop {
            let changed = self.changed.notified();
            let remaining = {
                let state = self.state();
                let worked = state.worked();
                let total_left = total.saturating_sub(worked);
                let idle_left = idle.map(|idle| idle.saturating_sub(worked.saturating_sub(state.beat)));
                if state.pause.is_some() {
                    None
                } else if total_left.is_zero() {
                    return total;
                } else if idle_left.is_some_and(|left| left.is_zero()) {
                    return idle.unwrap_or(total);
                } else {
                    Some(idle_left.map_or(total_left, |left| left.min(total_left)))
                }
            };
            match remaining {
                None => changed.await,
                Some(remaining) => {
                    tokio::select! {
                        () = changed => {}
                        () = tokio::time::sleep(remaining) => {}
                    }
                }
            }
        }
    }
}

impl State {
    fn worked(&self) -> Duration {
        let end = self.pause.unwrap_or_else(Instant::now);
        end.duration_since(self.started).saturating_sub(self.paused)
    }
}

/// Ends a pause when dropped.
pub(crate) struct Pause<'a>(&'a CallClock);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.depth -= 1;
        if state.depth == 0
            && let Some(since) = state.pause.take()
        {
            state.paused += since.elapsed();
            // Waiting was no silence of the tool.
            state.beat = state.worked();
        }
        drop(state);
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_total_clock_runs_out_although_there_is_progress() {
        let clock = CallClock::start();
        let began = Instant::now();
        let beats = async {
            loop {
                tokio::time::sleep(SECOND / 2).await;
                clock.beat();
            }
        };
        let limit = tokio::select! {
            limit = clock.expired(Some(SECOND), 5 * SECOND) => limit,
            () = beats => unreachable!(),
        };
        assert_eq!((limit, began.elapsed()), (5 * SECOND, 5 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_runs_out_first() {
        let clock = CallClock::start();
        assert_eq!(clock.expired(Some(SECOND), 5 * SECOND).await, SECOND);
        assert_eq!(clock.worked(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_person_does_not_count() {
        let clock = CallClock::start();
        let began = Instant::now();
        let wait = async {
            tokio::time::sleep(SECOND / 2).await;
            let outer = clock.pause();
            {
                let _inner = clock.pause();
                tokio::time::sleep(60 * SECOND).await;
            }
            tokio::time::sleep(60 * SECOND).await;
            drop(outer);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            limit = clock.expired(Some(SECOND), 3 * SECOND) => assert_eq!(limit, SECOND),
            () = wait => unreachable!(),
        }
        assert_eq!(
            began.elapsed(),
            120 * SECOND + SECOND / 2 + SECOND,
            "the idle clock began again after the wait"
        );
        assert_eq!(clock.waited(), 120 * SECOND);
        assert_eq!(clock.worked(), SECOND / 2 + SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_reason_to_stop_counts() {
        let signal = StopSignal::default();
        assert_eq!(signal.reason(), None);
        signal.stop(Stop::Caller);
        signal.stop(Stop::Shutdown);
        assert_eq!(signal.stopped().await, Stop::Caller);
    }
}
