//! Work that blocks, away from the threads that wait: the database, files, questions to the system.
//!
//! The same as `tokio::task::spawn_blocking`, with one difference that only the compiler sees: the runtime's machinery
//! for a task is compiled once, and not once for each of hundreds of kinds of work (decision 0078). Work whose end
//! nobody waits for, but which has to be over before the host is, belongs to `chatos_events::Lifetime`.

use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::task::{JoinError, JoinHandle};

type Outcome = Box<dyn Any + Send>;

/// Begins `work` on a thread that may block. It runs to its end also when nobody waits for it any more.
pub fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Work<T> {
    Work { task: spawn(Box::new(move || Box::new(work()))), gives: PhantomData }
}

fn spawn(work: Box<dyn FnOnce() -> Outcome + Send>) -> JoinHandle<Outcome> {
    tokio::task::spawn_blocking(work)
}

/// Work that was begun; waiting for it gives what it made.
#[derive(Debug)]
#[must_use = "work whose end nobody looks at hides its failure"]
pub struct Work<T> {
    task: JoinHandle<Outcome>,
    gives: PhantomData<fn() -> T>,
}

/// Why work gave nothing.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct WorkError {
    reason: String,
}

impl From<JoinError> for WorkError {
    fn from(error: JoinError) -> Self {
        Self { reason: error.to_string() }
    }
}

impl<T: 'static> Future for Work<T> {
    type Output = Result<T, WorkError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(Pin::new(&mut self.task).poll(cx))?;
        // `run` boxed a `T`; anything else cannot be in there.
        let made = outcome.downcast().map(|made| *made);
        Poll::Ready(made.map_err(|_| WorkError { reason: "the work gave something else".to_owned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_the_work_made_comes_back() {
        let text = String::from("borrowed no longer");
        assert_eq!(run(move || text.len()).await.unwrap(), 18);
        assert_eq!(run(|| Err::<(), _>("its own failure")).await.unwrap(), Err("its own failure"));
    }

    #[tokio::test]
    async fn a_panic_is_an_error_with_its_words() {
        let error = run(|| -> u8 { panic!("out of paper") }).await.unwrap_err();
        assert!(error.to_string().contains("out of paper"), "{error}");
    }

    #[tokio::test]
    async fn it_can_be_waited_for_by_reference() {
        let (go, told) = std::sync::mpsc::channel::<u8>();
        let mut work = run(move || told.recv());
        assert!(futures_pending(&mut work));
        go.send(7).unwrap();
        assert_eq!((&mut work).await.unwrap(), Ok(7));
    }

    fn futures_pending<T: 'static>(work: &mut Work<T>) -> bool {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        Pin::new(work).poll(&mut cx).is_pending()
    }
}
