//! What all subagents of a host share: places, and who hears of their steps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};

/// Subagents of one run at once.
const PER_RUN: usize = 2;

/// What the desk keeps for subagents.
pub(crate) struct SubShare {
    /// Places for jobs of the whole host.
    pub(super) slots: Arc<Semaphore>,
    /// Places for jobs of one run.
    per_run: Mutex<HashMap<String, Weak<Semaphore>>>,
    /// Who hears of a job's steps.
    pub(super) listeners: Mutex<HashMap<String, mpsc::UnboundedSender<Value>>>,
    pub(super) steps: Mutex<HashMap<String, Vec<Value>>>,
}

impl SubShare {
    pub(crate) fn new(places: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(places.max(1))),
            per_run: Mutex::default(),
            listeners: Mutex::default(),
            steps: Mutex::default(),
        }
    }

    pub(super) fn of_run(&self, run: &str) -> Arc<Semaphore> {
        let mut all = self.per_run.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, places| places.strong_count() > 0);
        if let Some(places) = all.get(run).and_then(Weak::upgrade) {
            return places;
        }
        let places = Arc::new(Semaphore::new(PER_RUN));
        all.insert(run.to_owned(), Arc::downgrade(&places));
        places
    }
}
