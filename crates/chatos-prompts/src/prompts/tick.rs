//! The scheduler's step: closes what is due, cancels what lost its asker (`ui-prompts §9`).
//!
//! The host calls [`Prompts::tick`] about once a second and [`Prompts::abort`] when a run or call ends.

use std::sync::Arc;

use chatos_lines::lock;

use super::respond::RespondError;
use super::{Inner, Prompts};
use crate::entry::Origin;
use crate::ids::{HostReason, Owner, RequestId, RunId};
use crate::lifetime::{self, Closing, Open};
pub use crate::lifetime::{Askers, Policy};

/// Whose prompts.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    Request(&'a RequestId),
    Run(&'a RunId),
    Session(&'a str),
    Owner(&'a Owner),
    /// Its apps and their MCP servers.
    Plugin(&'a str),
}

/// Looks at `/proc`; knows no runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemAskers;

impl Askers for SystemAskers {
    fn is_alive(&self, origin: Origin) -> bool {
        origin.is_alive()
    }

    fn is_interrupted(&self, _: &str) -> bool {
        false
    }
}

/// How far up a process is looked for.
const MOST_ANCESTORS: usize = 64;

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

impl Origin {
    /// The process with this pid, if it runs.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything; the fields after it are fixed. A zombie (Z) has
        // ended and only waits to be collected.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let pid_start = fields.nth(18)?.parse().ok()?;
        Some(Self { pid, pid_start })
    }

    /// This process.
    pub fn here() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// It still runs.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// It, or a process that it started, started the one with this pid.
    pub(crate) fn is_above(self, pid: u32) -> bool {
        let mut below = pid;
        for _ in 0..MOST_ANCESTORS {
            match parent_of(below) {
                Some(above) if above == self.pid => return self.is_alive(),
                Some(above) if above > 1 => below = above,
                _ => return false,
            }
        }
        false
    }
}

impl Prompts {
    /// Closes everything that is due now; returns how many were closed.
    pub fn tick(&self, policy: Policy, askers: &dyn Askers) -> usize {
        if !self.inner.is_ready() {
            return 0;
        }
        let closed = self.inner.close_due(policy, askers);
        self.inner.close_twins();
        if let Err(error) = self.inner.records.sweep_private(self.inner.clock.now_ms()) {
            tracing::debug!(%error, "cannot sweep private answers");
        }
        closed
    }

    /// Closes only what has expired; for a process that waits while no host runs.
    pub fn expire(&self) {
        self.inner.expire_due();
    }

    /// The asking run or call ended: its open prompts are canceled.
    pub fn abort(&self, scope: Scope<'_>) -> usize {
        self.inner.cancel(scope, "aborted", HostReason::Abort)
    }

    /// The asker is gone for good: server ended, plugin removed or untrusted.
    pub fn orphan(&self, scope: Scope<'_>) -> usize {
        self.inner.cancel(scope, "asker_gone", HostReason::Orphan)
    }

    /// Another answer decided what these ask.
    pub fn supersede(&self, scope: Scope<'_>) -> usize {
        self.inner.cancel(scope, "superseded", HostReason::Abort)
    }

    /// How long until the next prompt expires.
    pub fn next_expiry(&self) -> Option<std::time::Duration> {
        let now = self.inner.steady_ms();
        let next = lock(&self.inner.state).deadlines.values().min().copied()?;
        Some(std::time::Duration::from_millis(next.saturating_sub(now).max(0) as u64))
    }
}

impl Inner {
    /// Only what has expired; at start, before anybody waits.
    pub(super) fn expire_due(self: &Arc<Self>) {
        struct Nobody;
        impl Askers for Nobody {
            fn is_alive(&self, _: Origin) -> bool {
                true
            }

            fn is_interrupted(&self, _: &str) -> bool {
                true
            }
        }
        self.close_due(Policy { orphan_days: 0, foreign_days: 0 }, &Nobody);
    }

    /// At start, before anybody can answer: questions of calls that were over with an earlier host.
    pub(super) fn close_left_calls(self: &Arc<Self>) {
        let left: Vec<RequestId> = {
            let state = lock(&self.state);
            let gone = |call: &String| *call != self.host_start;
            let slots = state.served.iter().filter(|(_, open)| open.call_of.as_ref().is_some_and(gone));
            slots.filter_map(|(slot, _)| RequestId::parse(state.queue.id_of(*slot)).ok()).collect()
        };
        for id in left {
            let why = HostReason::Orphan;
            self.perform(&Closing { id, status: "canceled", code: Some("asker_gone"), why });
        }
    }

    fn close_due(self: &Arc<Self>, policy: Policy, askers: &dyn Askers) -> usize {
        let now = self.steady_ms();
        let open: Vec<Open> = {
            let state = lock(&self.state);
            let queue = &state.queue;
            let expired = state.deadlines.iter().filter(|(_, at)| **at <= now).map(|(slot, _)| *slot);
            let mut slots: Vec<_> = expired.chain(state.served.keys().copied()).collect();
            if policy.foreign_days > 0 {
                // Oldest first: the walk ends at the first one that is young enough.
                let limit = now - i64::from(policy.foreign_days) * 86_400_000;
                slots.extend(queue.needs_you(None).take_while(|slot| queue.slot(*slot).ts <= limit));
                slots.extend(queue.results(None).filter(|slot| queue.slot(*slot).ts <= limit));
            }
            slots.sort_unstable();
            slots.dedup();
            slots
                .into_iter()
                .filter(|slot| queue.slot(*slot).is_pending())
                .filter_map(|slot| {
                    let served = state.served.get(&slot);
                    Some(Open {
                        id: RequestId::parse(queue.id_of(slot)).ok()?,
                        owner: served.map(|s| s.owner.clone()),
                        origin: served.and_then(|s| s.origin),
                        run: queue.run_of(slot).map(str::to_owned),
                        asked: served.map_or(queue.slot(slot).ts, |s| s.asked),
                        deadline: state.deadlines.get(&slot).copied(),
                    })
                })
                .collect()
        };
        let due = lifetime::due(now, open, policy, askers);
        due.iter().filter(|closing| self.perform(closing)).count()
    }

    fn perform(self: &Arc<Self>, closing: &Closing) -> bool {
        match self.close(&closing.id, closing.status, closing.code, closing.why) {
            Ok(_) => true,
            // Somebody answered in this very moment.
            Err(
                RespondError::AlreadyAnswered { .. } | RespondError::AskerGone(_) | RespondError::Unknown(_),
            ) => false,
            Err(error) => {
                tracing::warn!(error = %super::mirror::chain(&error), request_id = %closing.id, "cannot close a prompt that is due");
                false
            }
        }
    }

    fn cancel(self: &Arc<Self>, scope: Scope<'_>, code: &'static str, why: HostReason) -> usize {
        let ids: Vec<RequestId> = {
            let state = lock(&self.state);
            let queue = &state.queue;
            let chosen = state.served.iter().filter(|(slot, open)| match scope {
                Scope::Request(id) => queue.id_of(**slot) == id.as_str(),
                Scope::Run(run) => open.run.as_ref() == Some(run),
                Scope::Session(session) => open.session.as_deref() == Some(session),
                Scope::Owner(owner) => open.owner == *owner,
                Scope::Plugin(plugin) => open.owner.belongs_to_plugin(plugin),
            });
            chosen.filter_map(|(slot, _)| RequestId::parse(queue.id_of(*slot)).ok()).collect()
        };
        let closing = |id| Closing { id, status: "canceled", code: Some(code), why };
        ids.into_iter().filter(|id| self.perform(&closing(id.clone()))).count()
    }

    // Other readers of the file do not know the twin rule; the line tells them.
    fn close_twins(&self) {
        let twins = std::mem::take(&mut lock(&self.state).twins);
        for id in twins {
            let found = lock(&self.state).locate(id.as_str());
            let unsaid = found.is_some_and(|found| {
                found.slot.is_twin_closed() && found.slot.response_line().is_none() && !found.slot.is_served()
            });
            if !unsaid {
                continue;
            }
            let mut response = crate::json::Object::new();
            response.insert("status".into(), "ok".into());
            response.insert("auto".into(), true.into());
            let at = self.clock.now_ms();
            let entry = crate::entry::response(at, &id, None, &response, "host:auto", None, &*self.signer);
            let Some(line) = crate::entry::to_line(&entry) else { continue };
            if self.mirror(&line, None).is_err() {
                // The next step tries again.
                lock(&self.state).twins.push(id);
            }
        }
    }
}
