//! Long work with progress: started by a request, followed by events, asked about later.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chatos_tool::{ErrorCode, Fault, Lang};
use chatos_wire::OperationState;
use chatos_wire::event::HostEvent;
use chatos_wire::operation::{OperationProgress, OperationView};
use serde_json::Value;

use crate::stream::Events;

/// Finished operations that can still be asked about.
const KEPT: usize = 200;
/// Progress is told at most this often; the end is told at once.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// All operations of this start.
#[derive(Clone)]
pub struct Operations {
    events: Events,
    lang: Lang,
    known: Arc<Mutex<VecDeque<Operation>>>,
}

/// One piece of long work. Clones are the same operation.
#[derive(Clone)]
pub struct Operation {
    id: Arc<str>,
    kind: &'static str,
    events: Events,
    lang: Lang,
    cancel: Arc<AtomicBool>,
    state: Arc<Mutex<State>>,
}

struct State {
    progress: Option<Progress>,
    outcome: Option<Result<Value, Fault>>,
    told: Option<Instant>,
}

#[derive(Clone)]
struct Progress {
    done: u64,
    total: Option<u64>,
    unit: &'static str,
    message: String,
}

impl Operations {
    /// No operations yet. Errors in events come in `lang`; a caller that asks gets its own.
    pub fn new(events: Events, lang: Lang) -> Self {
        Self { events, lang, known: Arc::default() }
    }

    /// Begins one; whoever begins it must end it with [`Operation::finish`].
    pub fn begin(&self, kind: &'static str) -> Operation {
        let operation = Operation {
            id: uuid::Uuid::now_v7().to_string().into(),
            kind,
            events: self.events.clone(),
            lang: self.lang,
            cancel: Arc::default(),
            state: Arc::new(Mutex::new(State { progress: None, outcome: None, told: None })),
        };
        let mut known = lock(&self.known);
        known.push_back(operation.clone());
        while known.len() > KEPT && known.front().is_some_and(Operation::is_over) {
            known.pop_front();
        }
        drop(known);
        operation.tell();
        operation
    }

    /// One by its id.
    pub fn get(&self, id: &str) -> Option<Operation> {
        lock(&self.known).iter().find(|operation| &*operation.id == id).cloned()
    }

    /// All operations that can be asked about, newest first.
    pub fn list(&self) -> Vec<Operation> {
        lock(&self.known).iter().rev().cloned().collect()
    }
}

impl Operation {
    /// The id it is asked about and stopped by.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Somebody asked it to stop; the work looks at this between its steps.
    pub fn is_canceled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Asks it to stop. It ends as `canceled` when the work agrees, or as it would have.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Tells how far the work is.
    pub fn progress(&self, done: u64, total: Option<u64>, unit: &'static str, message: &str) {
        let mut state = lock(&self.state);
        state.progress = Some(Progress { done, total, unit, message: message.to_owned() });
        let due = state.told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        if due {
            state.told = Some(Instant::now());
        }
        drop(state);
        if due {
            self.tell();
        }
    }

    /// Ends it with its result or its failure, and publishes that at once.
    pub fn finish(&self, outcome: Result<Value, Fault>) {
        lock(&self.state).outcome = Some(outcome);
        self.tell();
    }

    fn is_over(&self) -> bool {
        lock(&self.state).outcome.is_some()
    }

    fn tell(&self) {
        self.events.publish(HostEvent::OperationChanged(self.view(self.lang)));
    }

    /// As it stands now, with its failure in this language.
    pub fn view(&self, lang: Lang) -> OperationView {
        let inner = lock(&self.state);
        let mut view = OperationView {
            id: self.id.to_string(),
            kind: self.kind.to_owned(),
            state: OperationState::Running,
            progress: inner.progress.as_ref().map(|progress| OperationProgress {
                done: progress.done,
                total: progress.total,
                unit: progress.unit.to_owned(),
                message: progress.message.clone(),
            }),
            result: None,
            error: None,
            status: None,
        };
        match &inner.outcome {
            None => {}
            Some(Ok(value)) => {
                view.state = OperationState::Done;
                view.result = Some(value.clone());
            }
            Some(Err(fault)) => {
                let canceled = fault.code == ErrorCode::Canceled.as_str();
                view.state = if canceled { OperationState::Canceled } else { OperationState::Failed };
                view.error = fault.to_json(lang).get("error").cloned();
                view.status = Some(fault.class.http_status());
            }
        }
        view
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatos_tool::Text;
    use serde_json::json;

    #[test]
    fn an_operation_reports_progress_and_its_end() {
        let all = Operations::new(Events::new(0), Lang::En);
        let one = all.begin("install");
        one.progress(1, Some(2), "files", "copying");
        let view = all.get(one.id()).unwrap().view(Lang::En);
        assert_eq!((view.state, view.progress.unwrap().done), (OperationState::Running, 1));
        one.finish(Ok(json!({ "ok": true })));
        assert_eq!(all.get(one.id()).unwrap().view(Lang::En).result, Some(json!({ "ok": true })));
        let canceled = all.begin("install");
        canceled.cancel();
        assert!(all.get(canceled.id()).unwrap().is_canceled());
        canceled.finish(Err(Fault::new(ErrorCode::Canceled, Text::fixed("stopped", "已停止"))));
        assert_eq!(canceled.view(Lang::Zh).state, OperationState::Canceled);
        assert_eq!(canceled.view(Lang::Zh).error.unwrap()["message"], "已停止");
        assert_eq!(all.list().len(), 2);
    }

    #[test]
    fn only_finished_ones_are_forgotten() {
        let all = Operations::new(Events::new(0), Lang::En);
        let first = all.begin("install");
        for _ in 0..KEPT + 5 {
            all.begin("install").finish(Ok(Value::Null));
        }
        assert!(all.get(first.id()).is_some());
    }
}
