//! What the servers of a host remember between two looks at them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use chatos_contribution::ServerIdentity;
use chatos_mcp::{Phase, ToolList};
use chatos_tool::{Lang, Text};

use crate::catalogue::ServerRecord;
use crate::toolset::{OfferedTool, Toolset};

/// When a server came into its phase, and how often it was started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhaseNote {
    pub(crate) phase: Phase,
    pub(crate) since: i64,
    pub(crate) restarts: u32,
    /// A call lacked rights.
    pub(crate) lacks: bool,
}

/// A server's tools as they were last offered, with what they depend on.
pub(crate) struct CachedOffer {
    pub(crate) list: Option<Arc<ToolList>>,
    pub(crate) approvals: u64,
    pub(crate) settings: u64,
    pub(crate) offer: Arc<Vec<OfferedTool>>,
}

impl CachedOffer {
    /// The list it was made of; built-in servers have none.
    pub(crate) fn list(&self) -> Option<Arc<ToolList>> {
        self.list.clone()
    }
}

/// Sign-ins that failed, by the identity of their server, until the next one.
pub(crate) type Refused = HashMap<String, (SignInProblem, i64)>;

/// Why the last sign-in failed.
#[derive(Debug, Clone)]
pub(crate) struct SignInProblem {
    pub(crate) code: &'static str,
    pub(crate) message: Text,
    pub(crate) hint: Option<Text>,
}

/// Sets by server and language. A set counts as long as it was made of exactly the server and the offer
/// that are in force: both are made anew, never changed, when rows, plugins, settings, approvals or the
/// server's own list change.
#[derive(Default)]
pub(crate) struct Direct(Mutex<HashMap<(ServerIdentity, Lang), Made>>);

pub(crate) struct Made {
    pub(crate) known: Arc<ServerRecord>,
    pub(crate) offered: Arc<Vec<OfferedTool>>,
    pub(crate) set: Arc<Toolset>,
}

impl Direct {
    pub(crate) fn get(
        &self,
        known: &Arc<ServerRecord>,
        offered: &Arc<Vec<OfferedTool>>,
        lang: Lang,
    ) -> Option<Arc<Toolset>> {
        let sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = sets.get(&(known.identity().clone(), lang))?;
        let same = Arc::ptr_eq(&made.known, known) && Arc::ptr_eq(&made.offered, offered);
        same.then(|| Arc::clone(&made.set))
    }

    pub(crate) fn keep(&self, lang: Lang, made: Made) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.insert((made.known.identity().clone(), lang), made);
    }

    /// Forgets servers that are no more.
    pub(crate) fn retain(&self, known: &HashSet<&ServerIdentity>) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.retain(|(identity, _), _| known.contains(identity));
    }
}
