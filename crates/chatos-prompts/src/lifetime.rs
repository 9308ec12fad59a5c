//! When the host closes a prompt by itself (`ui-prompts §9`), as a function of the time and the queue.

use crate::entry::Origin;
use crate::ids::{HostReason, Owner, RequestId};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Settings of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// `promptOrphanDays`: prompts of apps; 0 = never.
    pub orphan_days: u32,
    /// `promptForeignDays`: prompts of other programs; 0 = never.
    pub foreign_days: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { orphan_days: 7, foreign_days: 0 }
    }
}

/// What the scheduler must know about askers; implemented by the host.
pub trait Askers {
    /// Whether the process with this pid and start time still runs.
    fn is_alive(&self, origin: Origin) -> bool;
    /// Whether the run is journaled and interrupted: its prompts wait until it is continued.
    fn is_interrupted(&self, run: &str) -> bool;
}

/// An open prompt as the scheduler sees it. Times are steady milliseconds.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    pub(crate) id: RequestId,
    /// `None` = foreign.
    pub(crate) owner: Option<Owner>,
    pub(crate) origin: Option<Origin>,
    pub(crate) run: Option<String>,
    pub(crate) asked: i64,
    pub(crate) deadline: Option<i64>,
}

/// A prompt to be closed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Closing {
    pub(crate) id: RequestId,
    pub(crate) status: &'static str,
    pub(crate) code: Option<&'static str>,
    pub(crate) why: HostReason,
}

/// What is due at `now`.
pub(crate) fn due(
    now: i64,
    open: impl IntoIterator<Item = Open>,
    policy: Policy,
    askers: &dyn Askers,
) -> Vec<Closing> {
    open.into_iter().filter_map(|open| closing(now, open, policy, askers)).collect()
}

fn closing(now: i64, open: Open, policy: Policy, askers: &dyn Askers) -> Option<Closing> {
    if open.deadline.is_some_and(|deadline| deadline <= now) {
        return Some(Closing { id: open.id, status: "timeout", code: None, why: HostReason::Timeout });
    }
    let orphan =
        |id, code| Some(Closing { id, status: "canceled", code: Some(code), why: HostReason::Orphan });
    // The host itself died in the middle of the run: wins over the rule of the process.
    let interrupted = open.run.as_deref().is_some_and(|run| askers.is_interrupted(run));
    if !interrupted && open.origin.is_some_and(|origin| !askers.is_alive(origin)) {
        return orphan(open.id, "asker_gone");
    }
    let days = match &open.owner {
        Some(owner) if owner.is_app() => policy.orphan_days,
        Some(_) => 0,
        None => policy.foreign_days,
    };
    if days > 0 && now - open.asked >= i64::from(days) * DAY {
        return orphan(open.id, "orphaned");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known {
        alive: bool,
        interrupted: bool,
    }

    impl Askers for Known {
        fn is_alive(&self, _: Origin) -> bool {
            self.alive
        }

        fn is_interrupted(&self, _: &str) -> bool {
            self.interrupted
        }
    }

    fn open(owner: Option<Owner>) -> Open {
        let id = RequestId::parse("x").unwrap();
        Open { id, owner, origin: None, run: None, asked: 0, deadline: None }
    }

    fn outcome(
        now: i64,
        open: Open,
        policy: Policy,
        askers: &Known,
    ) -> Option<(&'static str, Option<&'static str>, HostReason)> {
        due(now, [open], policy, askers).pop().map(|c| (c.status, c.code, c.why))
    }

    #[test]
    fn the_table_of_lifetimes() {
        let alive = Known { alive: true, interrupted: false };
        let gone = Known { alive: false, interrupted: false };
        let policy = Policy { orphan_days: 7, foreign_days: 3 };
        let timeout = Some(("timeout", None, HostReason::Timeout));
        let asker_gone = Some(("canceled", Some("asker_gone"), HostReason::Orphan));
        let orphaned = Some(("canceled", Some("orphaned"), HostReason::Orphan));
        let origin = Some(Origin { pid: 1, pid_start: 2 });
        let user = || open(Some(Owner::user()));
        let app = || open(Some(Owner::app("p", "a")));

        let expiring = || Open { deadline: Some(10), ..user() };
        assert_eq!(outcome(9, expiring(), policy, &alive), None);
        assert_eq!(outcome(10, expiring(), policy, &alive), timeout);

        let asked_elsewhere = || Open { origin, ..user() };
        assert_eq!(outcome(0, asked_elsewhere(), policy, &alive), None);
        assert_eq!(outcome(0, asked_elsewhere(), policy, &gone), asker_gone);
        let of_run = Open { run: Some("r".into()), ..asked_elsewhere() };
        assert_eq!(outcome(0, of_run, policy, &Known { alive: false, interrupted: true }), None);

        assert_eq!(outcome(7 * DAY - 1, app(), policy, &alive), None);
        assert_eq!(outcome(7 * DAY, app(), policy, &alive), orphaned);
        assert_eq!(outcome(700 * DAY, app(), Policy { orphan_days: 0, ..policy }, &alive), None);
        assert_eq!(outcome(700 * DAY, user(), policy, &alive), None);
        assert_eq!(outcome(3 * DAY, open(None), policy, &alive), orphaned);
        assert_eq!(outcome(300 * DAY, open(None), Policy::default(), &alive), None);
    }
}
