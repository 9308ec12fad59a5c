//! Corrections while a run goes on (agents §10.5), and its clock.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Lets a person into a running loop: a correction is written first and announced then, and a run that
/// ends takes no more of them.
#[derive(Default)]
pub struct Steer {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    // Corrections being written.
    writing: usize,
    // Corrections written.
    written: u64,
    closed: bool,
    calls: Option<CancellationToken>,
    // A person wants a summary before the next pass, and what to keep in it.
    compact: Option<String>,
}

impl Steer {
    /// A correction is about to be written; `false` when the run takes none any more.
    pub fn begin(&self) -> bool {
        let mut state = self.lock();
        if !state.closed {
            state.writing += 1;
        }
        !state.closed
    }

    /// It was written, or could not be. `abort_call` also ends the calls that run.
    pub fn end(&self, written: bool, abort_call: bool) {
        let mut state = self.lock();
        state.writing = state.writing.saturating_sub(1);
        state.written += u64::from(written);
        if written
            && abort_call
            && let Some(calls) = state.calls.take()
        {
            calls.cancel();
        }
        drop(state);
        self.wake.notify_waiters();
    }

    /// A summary is wanted before the next pass; `false` when the run takes nothing any more.
    pub fn ask_compact(&self, instructions: String) -> bool {
        let mut state = self.lock();
        if !state.closed {
            state.compact = Some(instructions);
        }
        !state.closed
    }

    /// Whether one is wanted; asked once.
    pub(crate) fn take_compact(&self) -> Option<String> {
        self.lock().compact.take()
    }

    /// How many there have been.
    pub fn seen(&self) -> u64 {
        self.lock().written
    }

    /// Resolves when there are more than `seen`.
    pub async fn changed(&self, seen: u64) {
        loop {
            let woken = self.wake.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            if self.lock().written > seen {
                return;
            }
            woken.await;
        }
    }

    /// Takes no more corrections; `false` when one came since `seen`.
    pub async fn close(&self, seen: u64) -> bool {
        loop {
            let woken = self.wake.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            {
                let mut state = self.lock();
                if state.written > seen {
                    return false;
                }
                if state.writing == 0 {
                    state.closed = true;
                    return true;
                }
            }
            woken.await;
        }
    }

    /// Takes no more, whatever was there.
    pub fn shut(&self) {
        self.lock().closed = true;
    }

    /// The token of the calls that run now.
    pub(crate) fn calls(&self, parent: &CancellationToken) -> CancellationToken {
        let token = parent.child_token();
        self.lock().calls = Some(token.clone());
        token
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a run has worked; waiting for a person does not count.
pub struct RunClock {
    began: Instant,
    state: Mutex<(usize, Option<Instant>, Duration)>,
}

impl Default for RunClock {
    fn default() -> Self {
        Self { began: Instant::now(), state: Mutex::default() }
    }
}

impl RunClock {
    /// Somebody of this run waits for a person now.
    pub fn pause(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        state.1.get_or_insert_with(Instant::now);
    }

    /// That is over.
    pub fn go_on(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = state.0.saturating_sub(1);
        if state.0 == 0
            && let Some(since) = state.1.take()
        {
            state.2 += since.elapsed();
        }
    }

    /// Time worked so far.
    pub fn worked(&self) -> Duration {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = state.1.map(|since| since.elapsed()).unwrap_or_default();
        self.began.elapsed().saturating_sub(state.2 + waiting)
    }

    /// Resolves when the run has worked for `limit`.
    pub async fn over(&self, limit: Duration) {
        loop {
            let left = limit.saturating_sub(self.worked());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.max(Duration::from_millis(100))).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn a_run_ends_only_when_no_correction_is_on_its_way() {
        let steer = Arc::new(Steer::default());
        assert!(steer.begin());
        let closing = tokio::spawn({
            let steer = Arc::clone(&steer);
            async move { steer.close(0).await }
        });
        tokio::task::yield_now().await;
        steer.end(true, false);
        assert!(!closing.await.unwrap());
        assert!(steer.close(1).await);
        assert!(!steer.begin());
    }

    #[tokio::test]
    async fn a_correction_wakes_the_loop_and_ends_calls_on_demand() {
        let steer = Steer::default();
        let calls = steer.calls(&CancellationToken::new());
        steer.begin();
        steer.end(true, true);
        steer.changed(0).await;
        assert!(calls.is_cancelled());
        steer.begin();
        steer.end(false, true);
        assert_eq!(steer.seen(), 1);
    }

    #[test]
    fn waiting_for_a_person_is_not_work() {
        let clock = RunClock::default();
        clock.pause();
        std::thread::sleep(Duration::from_millis(30));
        assert!(clock.worked() < Duration::from_millis(25));
        clock.go_on();
        assert!(clock.worked() < Duration::from_millis(25));
    }
}
