//! Calls on their way, and what people allowed for the rest of a chat.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use chatos_agent::CallContext;

/// Shared by the dispatcher's ports and by whoever answers servers.
#[derive(Default)]
pub(crate) struct ActiveCalls {
    /// By their key, so that a question of an old server finds its chat.
    calls: Mutex<HashMap<String, CallContext>>,
    /// Chats in which a server may ask the model without another question: (session, identity).
    sampled: Mutex<HashSet<(String, String)>>,
}

impl ActiveCalls {
    pub(super) fn begin(&self, call: CallContext) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(call.key.clone(), call);
    }

    pub(super) fn end(&self, key: &str) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// The last of these calls that is still on its way: an old server does not say for which one it asks.
    pub(super) fn last_of(&self, keys: &[String]) -> Option<CallContext> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().rev().find_map(|key| calls.get(key).cloned())
    }

    pub(super) fn may_sample(&self, session: &str, identity: &str) -> bool {
        let pair = (session.to_owned(), identity.to_owned());
        self.sampled.lock().unwrap_or_else(PoisonError::into_inner).contains(&pair)
    }

    pub(super) fn allow_sampling(&self, session: &str, identity: &str) {
        let pair = (session.to_owned(), identity.to_owned());
        self.sampled.lock().unwrap_or_else(PoisonError::into_inner).insert(pair);
    }
}
