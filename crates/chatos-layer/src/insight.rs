//! What a change of files means for the code in them, as language servers that run already know it.
//!
//! The file tools ask through a slot that whoever has language servers fills when the first one runs: nobody
//! starts one for this, and without one nothing is asked.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::context::CallCx;
use crate::tool::BoxFuture;

/// Somebody who knows code.
pub trait Insight: Send + Sync {
    /// Hears of files that were written, relative to the call's root, and says which problems they have now:
    /// nothing where nobody knows. Bounded in time and length.
    fn after_change<'a>(&'a self, cx: &'a CallCx, paths: &'a [String]) -> BoxFuture<'a, Option<String>>;
}

/// Where file tools find it. Clones share the slot.
#[derive(Clone, Default)]
pub struct InsightSlot(Arc<Mutex<Option<Weak<dyn Insight>>>>);

impl InsightSlot {
    /// From now on this one is asked, for as long as it lives.
    pub fn fill(&self, insight: &Arc<dyn Insight>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::downgrade(insight));
    }

    /// Asks, if there is somebody.
    pub async fn after_change(&self, cx: &CallCx, paths: &[String]) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Weak::upgrade);
        if paths.is_empty() {
            return None;
        }
        known?.after_change(cx, paths).await
    }
}
