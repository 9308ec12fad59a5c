//! How many calls of one connection are under way at once (other-agents §8): a program that floods has its own calls wait
//! and be refused, and nobody else's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Calls of a connection that are made at once.
const AT_WORK: usize = 64;
/// Calls of a connection that wait for one of these to end.
const WAITING: usize = 1_000;

/// The places of all connections.
#[derive(Default)]
pub(crate) struct Places(Mutex<HashMap<String, Weak<Connection>>>);

struct Connection {
    /// At work or waiting for it.
    here: Arc<Semaphore>,
    at_work: Arc<Semaphore>,
}

/// A place among those that wait.
pub(crate) struct Waiting {
    here: OwnedSemaphorePermit,
    connection: Arc<Connection>,
}

/// A place at work; given back when dropped, or as soon as only a person is waited for.
pub(crate) struct Place {
    held: Mutex<Option<[OwnedSemaphorePermit; 2]>>,
    /// Found as long as somebody has a place.
    _connection: Arc<Connection>,
}

impl Places {
    /// Queues up; `None` when too many do already.
    pub(crate) fn enter(&self, connection: &str) -> Option<Waiting> {
        let connection = self.of(connection);
        let here = Arc::clone(&connection.here).try_acquire_owned().ok()?;
        Some(Waiting { here, connection })
    }

    fn of(&self, name: &str) -> Arc<Connection> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(name).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, connection| connection.strong_count() > 0);
        let connection = Arc::new(Connection {
            here: Arc::new(Semaphore::new(AT_WORK + WAITING)),
            at_work: Arc::new(Semaphore::new(AT_WORK)),
        });
        all.insert(name.to_owned(), Arc::downgrade(&connection));
        connection
    }
}

impl Waiting {
    /// Waits until a place is free; first come, first served.
    pub(crate) async fn place(self) -> Place {
        // Nobody closes it.
        let at_work = Arc::clone(&self.connection.at_work).acquire_owned().await;
        Place { held: Mutex::new(at_work.ok().map(|work| [self.here, work])), _connection: self.connection }
    }
}

impl Place {
    /// Lets the next one work.
    pub(crate) fn leave(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flood_fills_its_own_places_and_who_waits_for_a_person_holds_none() {
        let places = Places::default();
        let mut at_work = Vec::new();
        for _ in 0..AT_WORK {
            at_work.push(places.enter("loud").unwrap().place().await);
        }
        let mut waiting: Vec<_> = (0..WAITING).map(|_| places.enter("loud").unwrap()).collect();
        assert!(places.enter("loud").is_none());
        places.enter("quiet").unwrap().place().await;

        let mut next = Box::pin(waiting.pop().unwrap().place());
        assert!(futures_now(&mut next).await.is_none(), "all places are taken");
        at_work[0].leave();
        let next = futures_now(&mut next).await.unwrap();
        assert!(places.enter("loud").is_some(), "the one that left makes room for another to wait");
        drop((at_work, waiting, next));
        places.enter("other").unwrap();
        assert_eq!(places.0.lock().unwrap().len(), 1, "who is gone is forgotten");
    }

    async fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        tokio::select! {
            biased;
            done = future => Some(done),
            () = tokio::task::yield_now() => None,
        }
    }
}
