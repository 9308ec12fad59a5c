//! Calls of servers of the pool: sent once, and again only when that is certainly safe (agents §7).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chatos_mcp::{CallError, CallOutcome, CallRequest, Failure, Progress, Resume, ServerKey};
use tokio::sync::mpsc;

use super::answer::{self, Ended};
use super::ports::ToolEvent;
use super::record::Record;
use super::{Call, CallEnd, Sending, meta};

impl Call<'_> {
    pub(super) async fn over_the_pool(self, key: &ServerKey) -> CallEnd {
        let record = Record::begin(
            self.ports,
            &self.settings,
            &self.order,
            &self.tool.server,
            &self.tool.tool,
            self.route.transport,
        );
        self.ports.event(ToolEvent::Started { server: &self.tool.server, trace: &self.order.trace });
        let ended = match self.approve().await {
            Ok(()) => self.send(key).await,
            Err(error) => Ended::failed(error),
        };
        let waited = self.waited_ms.load(Ordering::Relaxed);
        record.finish(ended, self.started.elapsed(), waited)
    }

    async fn send(&self, key: &ServerKey) -> Ended {
        let meta = meta::build(self.route, &self.order, &self.settings, None);
        match self.send_once_more(key, &meta, None, None).await {
            Ok(CallOutcome::Complete(result)) => result.into(),
            Ok(CallOutcome::InputRequired(_) | CallOutcome::Task(_)) => answer::failure(
                &CallError {
                    failure: Failure::Protocol { detail: "it answered with something else".to_owned() },
                    sent: true,
                },
                &self.tool.server,
            ),
            Err(error) => answer::failure(&error, &self.tool.server),
        }
    }

    /// Sends the call; after a break of the connection again, once, when the server certainly has not
    /// seen it or the tool may be repeated by a word that counts.
    pub(super) async fn send_once_more(
        &self,
        key: &ServerKey,
        meta: &serde_json::Map<String, serde_json::Value>,
        resume: Option<Resume>,
        task: Option<(String, u64)>,
    ) -> Result<CallOutcome, CallError> {
        let first = self.attempt(key, meta, resume.clone(), task.clone(), 1).await;
        let Err(error) = &first else { return first };
        let repeatable = self.tool.read_only || self.tool.idempotent;
        if !is_break(&error.failure) || (error.sent && !repeatable) || self.order.cancel.is_cancelled() {
            return first;
        }
        tracing::info!(server = self.tool.server, tool = self.tool.tool, %error, "the call goes out again");
        self.attempt(key, meta, resume, task, 2).await
    }

    async fn attempt(
        &self,
        key: &ServerKey,
        meta: &serde_json::Map<String, serde_json::Value>,
        resume: Option<Resume>,
        task: Option<(String, u64)>,
        attempt: u32,
    ) -> Result<CallOutcome, CallError> {
        let sending = Sending {
            call_id: self.order.call_id.clone(),
            identity: self.tool.identity.clone(),
            server: self.tool.server.clone(),
            tool: self.tool.tool.clone(),
            arguments: self.order.arguments.clone(),
            read_only: self.tool.read_only,
            idempotent: self.tool.idempotent,
            task,
            attempt,
        };
        let observer = Arc::clone(&self.observer);
        let (progress, mut reports) = mpsc::channel(16);
        let request = CallRequest {
            tool: self.tool.tool.clone(),
            arguments: self.order.arguments.clone(),
            meta: meta.clone(),
            resume,
            idle: Some(self.route.idle.unwrap_or(self.settings.idle)),
            total: Some(self.route.total.unwrap_or(self.settings.total)),
            cancel: self.order.cancel.clone(),
            progress: Some(progress),
            before_send: Some(Box::pin(async move {
                observer.sending(sending).await.map_err(|fault| fault.message.en.into_owned())
            })),
            tag: Some(self.order.call_id.clone()),
        };
        let work = self.ports.pool().call(key, request);
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                ended = &mut work => return ended,
                Some(report) = reports.recv() => self.report(&report),
            }
        }
    }

    pub(super) fn report(&self, report: &Progress) {
        self.observer.progress(report);
        self.ports.event(ToolEvent::Progress { call_id: &self.order.call_id, progress: report });
    }
}

/// The connection ended under the call, so another attempt meets a new one.
fn is_break(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Exited { .. }
            | Failure::Closed { .. }
            | Failure::Unreachable { .. }
            | Failure::NotReading { .. }
    )
}
