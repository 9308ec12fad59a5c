//! Work that is done whole: on its caller's own task, and on one of its own when the caller goes away.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use chatos_tool::{ErrorCode, Fault, Text};
use futures_util::FutureExt;

type Work<T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn Any + Send>>> + Send>>;

/// Does `work` where it is awaited: nothing is handed to another thread and back. Dropped before its end
/// it goes on as a task, so that what was begun ends in order. A panic in it is an error.
pub(crate) fn whole<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Whole<T> {
    Whole(Some(Box::pin(AssertUnwindSafe(work).catch_unwind())))
}

/// See [`whole`].
pub(crate) struct Whole<T: Send + 'static>(Option<Work<T>>);

impl<T: Send + 'static> Future for Whole<T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Polled after its end, it has nothing to say any more.
        let Some(work) = &mut self.0 else { return Poll::Pending };
        let ended = std::task::ready!(work.as_mut().poll(cx));
        self.0 = None;
        Poll::Ready(ended.map_err(|panic| {
            let said = panic.downcast_ref::<&str>().copied();
            let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            tracing::error!(panic = said.unwrap_or("unknown"), "a call panicked");
            Fault::new(ErrorCode::Internal, Text::fixed("the call failed", "调用失败"))
        }))
    }
}

impl<T: Send + 'static> Drop for Whole<T> {
    fn drop(&mut self) {
        let Some(work) = self.0.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(work)),
            Err(error) => tracing::warn!(%error, "a call was dropped where nothing can end it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::Notify;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn work_ends_where_it_is_awaited_and_on_its_own_when_dropped() {
        let here = std::thread::current().id();
        let there = whole(async { std::thread::current().id() }).await.unwrap();
        assert_eq!(here, there);
        let (go, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let mut work = {
            let (go, done) = (Arc::clone(&go), Arc::clone(&done));
            whole(async move {
                go.notified().await;
                done.notify_one();
            })
        };
        assert!(futures_util::poll!(&mut work).is_pending());
        drop(work);
        go.notify_one();
        tokio::time::timeout(LONG, done.notified()).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_an_error_of_the_call_alone() {
        let fault = whole::<()>(async { panic!("on purpose") }).await.unwrap_err();
        assert_eq!(fault.message.en, "the call failed");
    }
}
