//! Calls by hand that run now: canceled by their id, and asked which questions they wait for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_tool::{ErrorCode, Fault, Text};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How a call stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallState {
    /// It has not ended.
    pub running: bool,
    /// Questions it asked a person, in the order of asking.
    pub questions: Vec<String>,
}

/// The calls of one desk.
#[derive(Clone, Default)]
pub(super) struct Running(Arc<Mutex<HashMap<String, Entry>>>);

struct Entry {
    cancel: CancellationToken,
    questions: watch::Sender<Vec<String>>,
}

impl Running {
    fn entries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a call until the guard is dropped.
    pub(super) fn register(&self, call_id: &str, cancel: &CancellationToken) -> Result<Registered, Fault> {
        let mut entries = self.entries();
        if entries.contains_key(call_id) {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(format!("a call `{call_id}` runs already"), format!("调用 `{call_id}` 正在进行")),
            )
            .hint(Text::fixed("choose another call id", "请换一个调用编号")));
        }
        let entry = Entry { cancel: cancel.clone(), questions: watch::Sender::new(Vec::new()) };
        entries.insert(call_id.to_owned(), entry);
        Ok(Registered { running: self.clone(), call_id: call_id.to_owned() })
    }

    /// Asks a call to stop; `false` when there is none of this id.
    pub(super) fn cancel(&self, call_id: &str) -> bool {
        self.entries().get(call_id).map(|entry| entry.cancel.cancel()).is_some()
    }

    /// Notes that a call waits for the answer to a question. Calls of agents are not listed here.
    pub(super) fn waits(&self, call_id: &str, request_id: &str) {
        let entries = self.entries();
        let Some(entry) = entries.get(call_id) else { return };
        entry.questions.send_if_modified(|questions| {
            let new = questions.iter().all(|known| known != request_id);
            if new {
                questions.push(request_id.to_owned());
            }
            new
        });
    }

    /// How the call stands as soon as it asked more than `after` questions or ended, or after `limit`.
    pub(super) async fn state(&self, call_id: &str, after: usize, limit: Duration) -> CallState {
        let subscribed = self.entries().get(call_id).map(|entry| entry.questions.subscribe());
        let Some(mut questions) = subscribed else {
            return CallState { running: false, questions: Vec::new() };
        };
        // All three ends are told by the state below: a question, the end of the call, the time.
        tokio::time::timeout(limit, questions.wait_for(|questions| questions.len() > after)).await.ok();
        let running = questions.has_changed().is_ok();
        CallState { running, questions: questions.borrow().clone() }
    }
}

/// A call in the list.
pub(super) struct Registered {
    running: Running,
    call_id: String,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.running.entries().remove(&self.call_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn questions_of_a_call_are_told_until_it_ends() {
        let running = Running::default();
        let none = running.state("c1", 0, LONG).await;
        assert_eq!(none, CallState { running: false, questions: Vec::new() });
        let cancel = CancellationToken::new();
        let listed = running.register("c1", &cancel).unwrap();
        assert!(running.register("c1", &cancel).is_err(), "an id names one call");
        assert!(running.state("c1", 0, Duration::ZERO).await.running);
        running.waits("c1", "q1");
        running.waits("c1", "q1");
        running.waits("c2", "q9");
        let first = running.state("c1", 0, LONG).await;
        assert_eq!(first, CallState { running: true, questions: vec!["q1".to_owned()] });
        let (second, ()) = tokio::join!(running.state("c1", 1, LONG), async { running.waits("c1", "q2") });
        assert_eq!(second.questions, ["q1", "q2"]);
        assert!(running.cancel("c1") && cancel.is_cancelled() && !running.cancel("c2"));
        let (ended, ()) = tokio::join!(running.state("c1", 2, LONG), async { drop(listed) });
        assert!(!ended.running);
    }
}
