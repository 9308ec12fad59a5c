//! What became of one call by hand, for a person who wants to see it: the `_meta` that went out, and when it
//! went out and was acknowledged.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chatos_wire::tool::CallTrail;
use serde_json::Value;

use super::{Sending, TaskHandle};

/// The trail of a call that is under way.
pub struct Trail {
    began: Instant,
    seen: Mutex<CallTrail>,
}

impl Trail {
    /// A trail that begins now.
    pub fn begin() -> Self {
        Self { began: Instant::now(), seen: Mutex::default() }
    }

    /// It goes out; where a broken connection made it go out twice, the last time counts.
    pub fn sent(&self, sending: Sending) {
        let now = self.elapsed_ms();
        let mut seen = self.seen();
        seen.meta = sending.meta;
        seen.sent_ms = Some(now);
        seen.task_id = sending.task.map(|(id, _)| id);
    }

    /// The server took it and will give its result later.
    pub fn acknowledged(&self, handle: &TaskHandle) {
        let now = self.elapsed_ms();
        let mut seen = self.seen();
        seen.ack_ms = Some(now);
        if let TaskHandle::AsyncTask { also, .. } = handle {
            seen.ack_task_id.clone_from(also);
        }
    }

    /// As it is told in the answer.
    pub fn told(&self) -> Value {
        let now = self.elapsed_ms();
        let mut seen = self.seen();
        seen.ended_ms = now;
        serde_json::to_value(&*seen).unwrap_or_default()
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn seen(&self) -> MutexGuard<'_, CallTrail> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
