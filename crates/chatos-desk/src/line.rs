//! The host as a program beside it reaches it: another one after each restart, or none for a while.

use std::sync::Arc;
use std::time::Duration;

use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::Value;

use crate::{Beside, HostApi};

/// How long a request waits for a host before it is told that there is none.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks for a host, at first and at most.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The way to whichever host serves this state.
pub struct Line {
    beside: Arc<Beside>,
}

impl Line {
    /// The way from this process.
    pub fn new(beside: Arc<Beside>) -> Self {
        Self { beside }
    }

    /// What this process knows of the state itself.
    pub(crate) fn beside(&self) -> &Arc<Beside> {
        &self.beside
    }

    /// The host that runs now, waited for as long as `limit`; `None`: without end.
    pub async fn host(&self, limit: Option<Duration>) -> Option<HostApi> {
        let began = tokio::time::Instant::now();
        let mut pause = PAUSE;
        loop {
            let beside = Arc::clone(&self.beside);
            let found = chatos_blocking::run(move || beside.running()).await.ok().flatten();
            if let Some(host) = found {
                return Some(HostApi::new(host));
            }
            if limit.is_some_and(|limit| began.elapsed() >= limit) {
                return None;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Where a person answers questions; empty while no host runs.
    pub(crate) fn page(&self) -> String {
        self.beside.running().map(|host| format!("{}#/queue", host.url)).unwrap_or_default()
    }

    /// Reads something; tried again while hosts come and go.
    pub async fn get(&self, path: &str, lang: Lang, limit: Duration) -> Result<Value, Fault> {
        let began = tokio::time::Instant::now();
        loop {
            let left = limit.saturating_sub(began.elapsed());
            let Some(api) = self.host(Some(left)).await else { return Err(away()) };
            match api.call_patiently(Method::GET, path, None, lang).await {
                Err(fault) if is_lost(&fault) && began.elapsed() < limit => tokio::time::sleep(PAUSE).await,
                done => return done,
            }
        }
    }
}

/// The host died, or is about to stop, or its token is that of an earlier start.
pub(crate) fn is_lost(fault: &Fault) -> bool {
    fault.code == "host_unreachable"
        || (fault.class == ErrorCode::Unavailable && fault.code == "unavailable")
        || (fault.class == ErrorCode::PermissionDenied && fault.code == "unauthorized")
}

/// No host is there.
pub(crate) fn away() -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::fixed("ChatOS is not running; start `chatos serve`", "ChatOS 没有运行；请启动 `chatos serve`"),
    )
    .code("host_away")
}
