//! Progress of a call: strictly rising, at most five times a second, and a sign of life at least
//! every ten seconds (tools §12).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_tool::{Trace, limits};
use serde_json::Value;
use tokio::time::Instant;

use crate::observer::{CallEvent, Observer};

/// One progress report on its way to the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressReport {
    /// Strictly rising within a call.
    pub progress: f64,
    /// The number at the end, when known.
    pub total: Option<f64>,
    /// For people, in the call's language.
    pub message: String,
    /// Structured detail; travels as `_meta.chatos` of the notification.
    pub detail: Option<Value>,
}

/// Where reports go: the connection of the caller, when it gave a token. Must return at once.
pub trait ProgressSink: Send + Sync {
    /// Sends a report, or drops it when the caller does not read.
    fn send(&self, report: ProgressReport);
}

/// The progress of one call.
pub(crate) struct Progress {
    sink: Option<Arc<dyn ProgressSink>>,
    observer: Arc<dyn Observer>,
    trace: Trace,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: f64,
    sent: Option<Instant>,
    message: String,
}

impl Progress {
    pub(crate) fn new(
        sink: Option<Arc<dyn ProgressSink>>,
        observer: Arc<dyn Observer>,
        trace: Trace,
    ) -> Self {
        Self {
            sink,
            observer,
            trace,
            state: Mutex::new(State { last: 0.0, sent: None, message: String::new() }),
        }
    }

    /// Reports; too frequent ones are swallowed. A value that does not rise is lifted a little, because
    /// the protocol wants it to.
    pub(crate) fn report(
        &self,
        value: Option<f64>,
        total: Option<f64>,
        message: &str,
        detail: Option<Value>,
    ) {
        let progress = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            message.clone_into(&mut state.message);
            let soon =
                state.sent.is_some_and(|at| at.elapsed() < Duration::from_millis(limits::PROGRESS_MIN_MS));
            if soon {
                return;
            }
            state.sent = Some(Instant::now());
            state.last = value.filter(|value| *value > state.last).unwrap_or(state.last + STEP);
            state.last
        };
        self.send(ProgressReport { progress, total, message: message.to_owned(), detail });
    }

    /// Repeats the last message when nothing was said for a while. Runs beside the call.
    pub(crate) async fn keep_alive(&self) {
        let quiet = Duration::from_millis(limits::PROGRESS_MAX_MS);
        loop {
            let since = {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.sent.map(|at| at.elapsed()).unwrap_or_default()
            };
            tokio::time::sleep(
                quiet.saturating_sub(since).max(Duration::from_millis(limits::PROGRESS_MIN_MS)),
            )
            .await;
            let silent = {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.sent.is_none_or(|at| at.elapsed() >= quiet).then(|| state.message.clone())
            };
            if let Some(message) = silent {
                self.report(None, None, &message, None);
            }
        }
    }

    fn send(&self, report: ProgressReport) {
        self.observer.event(CallEvent::Progress {
            trace: self.trace.clone(),
            progress: report.progress,
            total: report.total,
            message: report.message.clone(),
            detail: report.detail.clone(),
        });
        if let Some(sink) = &self.sink {
            sink.send(report);
        }
    }
}

/// How far a report without a number of its own moves.
const STEP: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Nobody;

    #[derive(Default)]
    struct Kept(Mutex<Vec<ProgressReport>>);

    impl ProgressSink for Kept {
        fn send(&self, report: ProgressReport) {
            self.0.lock().unwrap().push(report);
        }
    }

    fn progress() -> (Arc<Kept>, Progress) {
        let kept = Arc::new(Kept::default());
        let trace = crate::meta::CallMeta::read(&serde_json::Map::new(), "t").trace;
        (Arc::clone(&kept), Progress::new(Some(kept), Arc::new(Nobody), trace))
    }

    #[tokio::test(start_paused = true)]
    async fn it_rises_and_is_not_too_frequent() {
        let (kept, progress) = progress();
        for value in [10.0, 20.0, 5.0, 30.0] {
            progress.report(Some(value), Some(100.0), "m", None);
            progress.report(Some(value + 0.5), None, "swallowed", None);
            tokio::time::sleep(Duration::from_millis(limits::PROGRESS_MIN_MS)).await;
        }
        let values: Vec<f64> = kept.0.lock().unwrap().iter().map(|report| report.progress).collect();
        assert_eq!(values, [10.0, 20.0, 21.0, 30.0]);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_every_ten_seconds() {
        let (kept, progress) = progress();
        progress.report(None, None, "waiting", None);
        let told = tokio::time::timeout(Duration::from_millis(35_500), progress.keep_alive()).await;
        assert!(told.is_err());
        let kept = kept.0.lock().unwrap();
        assert_eq!(kept.iter().map(|report| report.progress).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        assert!(kept.iter().all(|report| report.message == "waiting"));
    }
}
