//! The life of the host: one signal to stop, and every background task joined after it.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Shared by everything that runs in the background. Clones are the same life.
#[derive(Debug, Clone, Default)]
pub struct Lifetime {
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Lifetime {
    /// A life that has just begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancelled when the host is to stop; a task that waits for anything waits for this as well.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// The host is stopping.
    pub fn is_over(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Runs work that ends when the host stops; [`Lifetime::settle`] waits for it. Boxed, so that the runtime's
    /// machinery for a task is compiled once and not once per kind of work.
    pub fn spawn(&self, work: BoxFuture<'static, ()>) {
        self.tasks.spawn(async move {
            if AssertUnwindSafe(work).catch_unwind().await.is_err() {
                tracing::error!("a task of the host failed");
            }
        });
    }

    /// As [`Lifetime::spawn`] for work that blocks.
    pub fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send>) {
        self.tasks.spawn_blocking(move || {
            if std::panic::catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!("a task of the host failed");
            }
        });
    }

    /// Waits for everything that was spawned; to be called after the stop was asked for. What a task spawns
    /// while it ends is waited for, too.
    pub async fn settle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn settling_waits_for_what_tasks_spawn_while_they_end() {
        let life = Lifetime::new();
        let ended = Arc::new(AtomicU32::new(0));
        let (inner, count) = (life.clone(), Arc::clone(&ended));
        life.spawn(Box::pin(async move {
            inner.stop().cancelled().await;
            let last = Arc::clone(&count);
            inner.spawn(Box::pin(async move {
                tokio::task::yield_now().await;
                last.fetch_add(1, Ordering::Relaxed);
            }));
            count.fetch_add(1, Ordering::Relaxed);
        }));
        assert!(!life.is_over());
        life.stop().cancel();
        life.settle().await;
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    }
}
