//! How long a call waited for a person, and whether its result is in the queue already.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatos_tool::Status;

use super::CallEnd;
use super::answer::millis;

/// The waits of one call.
#[derive(Debug)]
pub(super) struct Waits {
    began: Instant,
    over_ms: AtomicU64,
    // A wait that goes on.
    since: Mutex<Option<Instant>>,
    in_log: AtomicBool,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            over_ms: AtomicU64::new(0),
            since: Mutex::new(None),
            in_log: AtomicBool::new(false),
        }
    }
}

impl Waits {
    fn since(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A person is asked.
    pub(super) fn begin(&self) {
        *self.since() = Some(Instant::now());
    }

    /// The person answered, or nobody wants to know any more.
    pub(super) fn end(&self) {
        if let Some(since) = self.since().take() {
            self.over_ms.fetch_add(millis(since.elapsed()), Ordering::Relaxed);
        }
    }

    /// Milliseconds of waits that are over.
    pub(super) fn over(&self) -> u64 {
        self.over_ms.load(Ordering::Relaxed)
    }

    /// How long the call may still work until the soft deadline; zero when it is over.
    pub(super) fn left(&self, soft: Duration) -> Duration {
        if self.since().is_some() {
            // Nothing is worked on at the moment: look again in a while.
            return soft.min(Duration::from_secs(1)).max(Duration::from_millis(1));
        }
        let worked = self.began.elapsed().saturating_sub(Duration::from_millis(self.over()));
        soft.saturating_sub(worked)
    }

    /// The result came through the prompt log, where the person finds it.
    pub(super) fn came_through_log(&self) {
        self.in_log.store(true, Ordering::Relaxed);
    }

    /// Whether the person who left the card has to be told: nobody else waits, or it worked longer than
    /// the soft deadline; it was not taken back, and its result is not in the queue already.
    pub(super) fn is_for_the_queue(&self, end: &CallEnd, alone: bool, soft: Duration) -> bool {
        (alone || end.elapsed_ms >= millis(soft))
            && end.envelope.status != Status::Canceled
            && !self.in_log.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_with_a_person_is_not_work() {
        let waits = Waits::default();
        let soft = Duration::from_secs(60);
        assert!(waits.left(soft) > Duration::from_secs(50));
        waits.begin();
        assert_eq!(waits.left(soft), Duration::from_secs(1), "looked at again while it waits");
        assert_eq!(waits.left(Duration::ZERO), Duration::from_millis(1));
        waits.end();
        waits.end();
        assert!(waits.left(soft) > Duration::from_secs(50));
        assert_eq!(waits.left(Duration::ZERO), Duration::ZERO);
    }
}
