//! What a host does while it serves, and how it comes to rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chatos_events::Notice;
use chatos_tool::{Fault, Text};
use chatos_wire::Severity;
use serde_json::{Map, Value};

use super::Host;

impl Host {
    pub(super) fn begin_serving(&self) {
        let unclean = self.store.meta("clean_stop").is_ok_and(|value| value.as_deref() == Some("0"));
        if unclean {
            tracing::info!("the last stop was not clean");
            self.unclean.store(true, Ordering::Relaxed);
        }
        self.tell_lost_commits();
        if let Err(error) = self.store.set_meta("clean_stop", "0") {
            tracing::warn!(%error, "cannot note the start");
        }
        let mut fields = Map::new();
        fields.insert("version".to_owned(), Value::from(env!("CARGO_PKG_VERSION")));
        fields.insert("pid".to_owned(), Value::from(std::process::id()));
        self.audit("start", fields);
    }

    /// Work that must not delay the start: looking for Node, the daily copy, a deep check after an
    /// unclean stop, the queue. What it starts ends with the shutdown; see [`Host::settle`].
    pub fn background(self: &Arc<Self>) -> Result<(), Fault> {
        self.apps.remember_runtime();
        self.inbox.tend()?;
        self.reach.tend();
        self.tend_plugins()?;
        self.calls.tend();
        self.calls.interrupt_waits();
        self.runs.tend();
        self.servers().tend();
        self.life.spawn(Box::pin(self.calls.clone().pick_up_asks()));
        self.life.spawn(Box::pin(Arc::clone(self).watch_modes()));
        let host = Arc::clone(self);
        self.life.spawn(Box::pin(async move {
            let settling = Arc::clone(&host);
            if let Err(error) = chatos_blocking::run(move || settling.settle_file_changes()).await {
                tracing::error!(%error, "looking for interrupted file changes failed");
            }
            host.find_node().await;
            host.look_for_damage().await;
            let mut tick = tokio::time::interval(Duration::from_secs(3600));
            loop {
                tokio::select! {
                    () = host.shutdown().cancelled() => return,
                    _ = tick.tick() => {
                        let host = Arc::clone(&host);
                        let done = chatos_blocking::run(move || host.daily()).await;
                        if let Err(error) = done {
                            tracing::error!(%error, "the daily work failed");
                        }
                    }
                }
            }
        }));
        Ok(())
    }

    fn daily(&self) {
        self.settle_file_changes();
        self.prune_shell_caches();
        match self.store.sweep_blobs(self.settings.int("blobGraceDays")) {
            Ok(gone) if gone.blobs > 0 => {
                tracing::info!(blobs = gone.blobs, bytes = gone.bytes, "contents nobody refers to");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "contents nobody refers to stay"),
        }
        if !self.settings.bool("backupDaily") {
            return;
        }
        let keep = usize::try_from(self.settings.int("backupKeep")).unwrap_or(7);
        match self.store.daily_backup(keep) {
            Ok(Some(backup)) => {
                tracing::info!(path = %backup.path.display(), bytes = backup.bytes, "daily backup");
            }
            Ok(None) => {}
            Err(error) => self.notice(Notice {
                code: "backup_failed".to_owned(),
                severity: Severity::Warning,
                message: Text::new(
                    format!("the daily copy of the database failed: {error}"),
                    format!("数据库每日备份失败：{error}"),
                ),
                hint: Some(Text::fixed("check the free space on the disk", "请检查磁盘剩余空间")),
            }),
        }
    }

    /// Waits for the tasks of this host; to be called after the shutdown was asked for.
    pub async fn settle(&self) {
        self.runs.close().await;
        if let Ok(backends) = self.apps.backends() {
            backends.close().await;
        }
        self.calls.close_tools().await;
        if let Some(servers) = self.servers.opened() {
            servers.close().await;
        }
        self.calls.close().await;
        self.life.settle().await;
    }
}
