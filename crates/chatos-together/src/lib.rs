//! Calls of one model answer that ask a person together (inbox §3.1).
//!
//! Each call stays a call of its own: it plans, asks its own question, uses its own approval once and acts alone. What
//! they share is the order: all have planned before the first asks, questions are put in the order of the calls, and a
//! call acts only when those before it are over. A call that is gone, for whatever reason, holds up nobody.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What has to be done before a call acts, such as writing that down; an error stops the call.
pub type Before = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send>;

/// How far a call is. Only ever further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// It has not said whether it asks.
    Planning,
    /// It has said so; its question is not there yet.
    Planned,
    /// Its question is there, or it has none.
    Asked,
    /// It is over, done or not.
    Over,
}

#[derive(Debug, Clone)]
struct Call {
    phase: Phase,
    asks: bool,
    /// What it would change.
    touches: Vec<String>,
}

#[derive(Debug)]
struct Shared {
    name: String,
    calls: Mutex<Vec<Call>>,
    changed: Notify,
}

impl Shared {
    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(&self, at: usize, phase: Phase) {
        if let Some(call) = self.calls().get_mut(at) {
            call.phase = call.phase.max(phase);
        }
        self.changed.notify_waiters();
    }

    async fn until(&self, mut is: impl FnMut(&[Call]) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Listening begins before looking, or a change in between is lost.
            changed.as_mut().enable();
            if is(&self.calls()) {
                return;
            }
            changed.await;
        }
    }
}

/// Which calls are asked about together: those that ask, except what changes the same thing as one before it, because
/// nobody can know yet what it would find there.
fn asking(calls: &[Call]) -> Vec<bool> {
    let free = |at: usize, call: &Call| {
        !calls[..at].iter().any(|before| before.touches.iter().any(|thing| call.touches.contains(thing)))
    };
    calls.iter().enumerate().map(|(at, call)| call.asks && free(at, call)).collect()
}

/// One call among others of the same answer. Dropping it ends its part.
pub struct Member {
    shared: Arc<Shared>,
    at: usize,
    before: Mutex<Option<Before>>,
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member")
            .field("name", &self.shared.name)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// Where a question stands among those that are asked together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Names the questions that belong together.
    pub name: String,
    /// From 0, in the order of the calls.
    pub at: usize,
    pub of: usize,
}

/// As many calls as are made together, in order. `name` is theirs alone.
pub fn members(name: &str, count: usize) -> Vec<Member> {
    let new = Call { phase: Phase::Planning, asks: false, touches: Vec::new() };
    let calls = Mutex::new(vec![new; count]);
    let shared = Arc::new(Shared { name: name.to_owned(), calls, changed: Notify::new() });
    (0..count).map(|at| Member { shared: Arc::clone(&shared), at, before: Mutex::new(None) }).collect()
}

impl Member {
    /// What is done when its turn has come, before it acts; once.
    pub fn before_acting(&self, before: Before) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    }

    /// Says whether this call asks and what it would change, and waits until all have said so and those before it have
    /// asked. Nothing where it is not asked about now, or nobody is beside it.
    pub async fn gather(&self, asks: bool, touches: Vec<String>) -> Option<Place> {
        if let Some(call) = self.shared.calls().get_mut(self.at) {
            call.asks = asks;
            call.touches = touches;
        }
        self.shared.reach(self.at, Phase::Planned);
        self.shared.until(|calls| calls.iter().all(|call| call.phase > Phase::Planning)).await;
        let now = asking(&self.shared.calls());
        let of = now.iter().filter(|asks| **asks).count();
        if of < 2 || !now[self.at] {
            return None;
        }
        let earlier = |calls: &[Call]| {
            calls.iter().zip(&now).take(self.at).all(|(call, asks)| !asks || call.phase > Phase::Planned)
        };
        self.shared.until(earlier).await;
        let at = now[..self.at].iter().filter(|asks| **asks).count();
        Some(Place { name: self.shared.name.clone(), at, of })
    }

    /// Its question is in the queue.
    pub fn asked(&self) {
        self.shared.reach(self.at, Phase::Asked);
    }

    /// Waits until every call before it is over: what it does now, it does to the world they left.
    pub async fn turn(&self) -> Result<(), String> {
        self.shared.reach(self.at, Phase::Asked);
        self.shared.until(|calls| calls[..self.at].iter().all(|call| call.phase == Phase::Over)).await;
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        match before {
            Some(before) => before().await,
            None => Ok(()),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.shared.reach(self.at, Phase::Over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn all_plan_before_the_first_asks_and_act_one_after_the_other() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let note = |text: String| log.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        let note = &note;
        let work = members("g", 4).into_iter().map(|member| async move {
            let at = member.at;
            note(format!("plan {at}"));
            // The third one has nothing to ask.
            let place = member.gather(at != 2, vec![format!("{}", at % 4)]).await;
            if let Some(place) = place {
                note(format!("ask {at}: {} of {}", place.at, place.of));
                member.asked();
            }
            assert_eq!(member.turn().await, Ok(()));
            note(format!("act {at}"));
        });
        let mut work: Vec<_> = work.map(Box::pin).collect();
        // The last begins first.
        work.reverse();
        for one in futures(work) {
            one.await;
        }
        let log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        assert_eq!(log[..4].iter().filter(|line| line.starts_with("plan")).count(), 4, "{log:?}");
        let asked: Vec<&String> = log.iter().filter(|line| line.starts_with("ask")).collect();
        assert_eq!(asked, ["ask 0: 0 of 3", "ask 1: 1 of 3", "ask 3: 2 of 3"]);
        let acted: Vec<&String> = log.iter().filter(|line| line.starts_with("act")).collect();
        assert_eq!(acted, ["act 0", "act 1", "act 2", "act 3"]);
    }

    /// All of them at once, as one future.
    fn futures<F: Future<Output = ()>>(all: Vec<std::pin::Pin<Box<F>>>) -> Vec<impl Future<Output = ()>> {
        let mut all: Vec<Option<std::pin::Pin<Box<F>>>> = all.into_iter().map(Some).collect();
        vec![std::future::poll_fn(move |cx| {
            for one in &mut all {
                if let Some(future) = one
                    && future.as_mut().poll(cx).is_ready()
                {
                    *one = None;
                }
            }
            if all.iter().all(Option::is_none) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })]
    }

    #[test]
    fn what_changes_the_same_thing_twice_is_asked_about_later() {
        let call =
            |asks: bool, thing: &str| Call { phase: Phase::Planned, asks, touches: vec![thing.to_owned()] };
        let calls = [call(true, "a"), call(true, "b"), call(true, "a"), call(false, "c"), call(true, "c")];
        assert_eq!(asking(&calls), [true, true, false, false, false]);
    }

    #[tokio::test]
    async fn a_call_that_is_gone_holds_up_nobody() {
        let mut all = members("g", 3);
        let last = all.pop();
        drop(all);
        let last = last.expect("three were made");
        assert_eq!(last.gather(true, Vec::new()).await, None);
        last.before_acting(Box::new(|| Box::pin(async { Err("full".to_owned()) })));
        assert_eq!(last.turn().await, Err("full".to_owned()));
        assert_eq!(last.turn().await, Ok(()));
    }
}
