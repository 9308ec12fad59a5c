//! What a server does for a session it started, as long as both live.

use std::path::PathBuf;

use chatos_layer::StoreHandle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::pool::Link;
use crate::wire::{Order, Report};

/// At the end of the server there is less time.
const SHUTDOWN_GRACE_MS: u64 = 1_000;

/// Keeps the connection that keeps the session: when this process is gone, so is the session, unless the
/// setting says otherwise.
pub(super) struct Holding {
    pub(super) link: Link,
    pub(super) dir: PathBuf,
    pub(super) store: StoreHandle,
}

impl Holding {
    pub(super) async fn hold(mut self, keep: watch::Receiver<bool>, shutdown: CancellationToken) {
        self.remember().await;
        follow(&mut self.link, keep, shutdown).await;
        self.remember().await;
    }

    async fn remember(&self) {
        let (store, dir) = (self.store.clone(), self.dir.clone());
        let done = chatos_blocking::run(move || super::remember(&store, &dir)).await;
        if let Err(error) = done {
            tracing::error!(%error, "remembering a session panicked");
        }
    }
}

/// Until the session is over, or this process lets it go.
async fn follow(link: &mut Link, mut keep: watch::Receiver<bool>, shutdown: CancellationToken) {
    let mut told = false;
    loop {
        tokio::select! {
            report = link.report() => match report {
                Some(Report::Idle) | None => return,
                Some(_) => {}
            },
            changed = keep.changed() => {
                let now = *keep.borrow_and_update();
                if changed.is_err() || link.send(&Order::Keep(now), &[]).await.is_err() {
                    return;
                }
            }
            () = shutdown.cancelled(), if !told => {
                told = true;
                if *keep.borrow() {
                    return;
                }
                if link.send(&Order::End { grace_ms: SHUTDOWN_GRACE_MS }, &[]).await.is_err() {
                    return;
                }
            }
        }
    }
}
