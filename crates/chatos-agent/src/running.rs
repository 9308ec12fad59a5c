//! Calls by hand that run now: canceled by their id, and asked which questions they wait for and what they say of
//! themselves meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chatos_tool::{ErrorCode, Fault, Text};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How a call stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallState {
    /// It has not ended.
    pub running: bool,
    /// Questions it asked a person, in the order of asking.
    pub questions: Vec<String>,
    /// How often it said something about its progress.
    pub said: usize,
    /// What it said last.
    pub says: Option<String>,
    /// How far it is, by its own count, and of how much.
    pub progress: Option<(f64, Option<f64>)>,
}

/// The calls of one desk.
#[derive(Clone, Default)]
pub struct Running(Arc<Mutex<HashMap<String, Entry>>>);

struct Entry {
    cancel: CancellationToken,
    news: watch::Sender<CallState>,
}

impl Running {
    fn entries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a call until the guard is dropped.
    pub fn register(&self, call_id: &str, cancel: &CancellationToken) -> Result<Registered, Fault> {
        let mut entries = self.entries();
        if entries.contains_key(call_id) {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(format!("a call `{call_id}` runs already"), format!("调用 `{call_id}` 正在进行")),
            )
            .hint(Text::fixed("choose another call id", "请换一个调用编号")));
        }
        let entry = Entry {
            cancel: cancel.clone(),
            news: watch::Sender::new(CallState { running: true, ..CallState::default() }),
        };
        entries.insert(call_id.to_owned(), entry);
        Ok(Registered { running: self.clone(), call_id: call_id.to_owned() })
    }

    /// Asks a call to stop; `false` when there is none of this id.
    pub fn cancel(&self, call_id: &str) -> bool {
        self.entries().get(call_id).map(|entry| entry.cancel.cancel()).is_some()
    }

    /// Notes that a call waits for the answer to a question. Calls of agents are not listed here.
    pub fn waits(&self, call_id: &str, request_id: &str) {
        let entries = self.entries();
        let Some(entry) = entries.get(call_id) else { return };
        entry.news.send_if_modified(|news| {
            let new = news.questions.iter().all(|known| known != request_id);
            if new {
                news.questions.push(request_id.to_owned());
            }
            new
        });
    }

    /// Notes what a call says of its progress, in words or by its own count. The same twice is said once.
    pub fn says(&self, call_id: &str, message: Option<&str>, progress: Option<(f64, Option<f64>)>) {
        let entries = self.entries();
        let Some(entry) = entries.get(call_id) else { return };
        entry.news.send_if_modified(|news| {
            let new = news.says.as_deref() != message || news.progress != progress;
            if new {
                news.says = message.map(str::to_owned);
                news.progress = progress;
                news.said += 1;
            }
            new
        });
    }

    /// How the call stands as soon as it asked more than `after` questions, spoke more than `said` times where that is
    /// listened to, or ended; or after `limit`.
    pub async fn state(
        &self,
        call_id: &str,
        after: usize,
        said: Option<usize>,
        limit: Duration,
    ) -> CallState {
        let subscribed = self.entries().get(call_id).map(|entry| entry.news.subscribe());
        let Some(mut news) = subscribed else { return CallState::default() };
        let is_news =
            |news: &CallState| news.questions.len() > after || said.is_some_and(|said| news.said > said);
        // All three ends are told by the state below: news, the end of the call, the time.
        tokio::time::timeout(limit, news.wait_for(is_news)).await.ok();
        let running = news.has_changed().is_ok();
        CallState { running, ..news.borrow().clone() }
    }
}

/// A call in the list.
#[must_use = "a call is listed until this is dropped"]
pub struct Registered {
    running: Running,
    call_id: String,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.running.entries().remove(&self.call_id);
    }
}

#[cfg(test)]
mod tests;
