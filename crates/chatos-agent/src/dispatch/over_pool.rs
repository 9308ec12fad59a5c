//! Calls of servers of the pool: sent once, and again only when that is certainly safe (agents §7); what
//! the server asks is asked, what it does later is waited for.

use std::sync::Arc;

use chatos_mcp::{
    Block, CallError, CallOutcome, CallRequest, Failure, InputRequest, InputRequired, Progress, Resume,
    ServerKey, TaskState, ToolResult,
};
use chatos_prompts::Approval;
use chatos_tool::{Needed, Text, ToolError};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::answer::{self, Ended};
use super::ports::{OpenAsk, ToolEvent};
use super::questions::{self, Asker, Open};
use super::record::Record;
use super::{Call, CallEnd, Resumed, Sending, canceled, meta};

/// A server that asks more often than this goes round in circles.
const ROUNDS: usize = 32;

/// How a sent call went on.
pub(super) enum Sent {
    /// It is done.
    Done(ToolResult),
    /// It goes on as a task of the server.
    Task(TaskState),
}

impl Call<'_> {
    pub(super) async fn over_the_pool(mut self, key: &ServerKey) -> CallEnd {
        let record = Record::begin(
            self.ports,
            &self.settings,
            &self.order,
            &self.tool.server,
            &self.tool.tool,
            self.route.transport,
        );
        self.ports.event(ToolEvent::Started { server: &self.tool.server, trace: &self.order.trace });
        self.ports.begin(self.context());
        let mut ended = match self.approve().await {
            Ok(approval) => Box::pin(self.send(key, approval)).await,
            Err(error) => Ended::failed(error),
        };
        if let (Some(changed), Ended::Answered { blocks, extra, .. }) = (self.changed.take(), &mut ended) {
            blocks.insert(0, Block::Text(changed));
            extra.blocks.insert(0, serde_json::Map::new());
        }
        self.ports.end(&self.key());
        let waited = self.waits.over();
        record.finish(ended, self.started.elapsed(), waited)
    }

    /// Sends what may be sent; the approval is spent by it.
    async fn send(&self, key: &ServerKey, approval: Approval) -> Ended {
        drop(approval);
        match &self.order.resume {
            Some(Resumed::AsyncTask { task_id, cursor, also }) => {
                return self.wait_again(key, task_id, *cursor, also.as_deref()).await;
            }
            Some(Resumed::McpTask { task_id }) => return self.look_after(key, task_id.clone()).await,
            Some(Resumed::Prompt { .. } | Resumed::Asked { .. } | Resumed::Again { .. }) | None => {}
        }
        if let Some(config) = self.route.async_task.as_ref().filter(|config| config.covers(&self.tool.tool)) {
            return Box::pin(self.async_task(key, config)).await;
        }
        let meta = meta::build(self.route, &self.order, &self.settings, None);
        match self.through(key, &meta, None).await {
            Ok(Sent::Done(result)) => result.into(),
            Ok(Sent::Task(state)) => self.keep_task(key, state).await,
            Err(ended) => ended,
        }
    }

    /// Sends the call and goes on with it until there is a result or a task.
    pub(super) async fn through(
        &self,
        key: &ServerKey,
        meta: &Map<String, Value>,
        task: Option<(String, u64)>,
    ) -> Result<Sent, Ended> {
        let mut resume = match &self.order.resume {
            // The question was in the queue when an earlier process ended; the call is not sent before it
            // is answered.
            Some(Resumed::Prompt { .. }) => self.continue_asking().await?,
            _ => None,
        };
        for _ in 0..ROUNDS {
            let outcome = self.send_once_more(key, meta, resume.take(), task.clone()).await;
            match outcome.map_err(|error| answer::failure(&error, &self.tool.server))? {
                CallOutcome::Complete(result) => return Ok(Sent::Done(result)),
                CallOutcome::Task(state) => return Ok(Sent::Task(state)),
                CallOutcome::InputRequired(required) => resume = Some(self.answer(meta, required).await?),
            }
        }
        Err(self.protocol("it asks again and again"))
    }

    /// Asks what a modern server needs. The question outlives this process.
    async fn answer(&self, meta: &Map<String, Value>, required: InputRequired) -> Result<Resume, Ended> {
        let InputRequired { requests, request_state, raw } = required;
        let asker = self.asker();
        let open = questions::plan(requests).map_err(|reason| self.protocol(&reason))?;
        let prompts: Map<String, Value> = open
            .iter()
            .filter_map(|open| Some((open.key.clone(), Value::from(open.prompt.clone()?))))
            .collect();
        let kept = OpenAsk {
            key: self.key(),
            run_id: self.order.trace.run_id.clone(),
            identity: self.tool.identity.as_str().to_owned(),
            method: "tools/call".to_owned(),
            params: json!({ "name": self.tool.tool, "arguments": self.order.arguments, "_meta": meta }),
            request_state: request_state.clone(),
            input_requests: raw.get("inputRequests").cloned().unwrap_or_else(|| json!({})),
            prompts,
        };
        if let Err(fault) = self.ports.keep_ask(kept).await {
            tracing::warn!(%fault, "a question of a server will not survive a restart");
        }
        // Written down first: whoever sees the question can answer it after a restart.
        if let Err(reason) = questions::ask_all(self.ports, &asker, &open).await {
            self.ports.end_ask(self.key()).await;
            return Err(self.protocol(&reason));
        }
        self.gather(&asker, open, request_state).await
    }

    /// Goes on with a question that an earlier process asked.
    async fn continue_asking(&self) -> Result<Option<Resume>, Ended> {
        let Some(kept) = self.ports.open_ask(self.key()).await else { return Ok(None) };
        let requests = kept.input_requests.as_object().cloned().unwrap_or_default();
        let open: Vec<Open> = requests
            .iter()
            .map(|(key, request)| Open {
                key: key.clone(),
                request: InputRequest::from_json(request),
                prompt: kept.prompts.get(key).and_then(Value::as_str).map(str::to_owned),
            })
            .collect();
        let asker = self.asker();
        // The process may have ended between writing it down and asking.
        questions::ask_all(self.ports, &asker, &open).await.map_err(|reason| self.protocol(&reason))?;
        self.gather(&asker, open, kept.request_state).await.map(Some)
    }

    async fn gather(
        &self,
        asker: &Asker,
        open: Vec<Open>,
        request_state: Option<String>,
    ) -> Result<Resume, Ended> {
        self.waits.begin();
        let roots = &self.route.roots;
        let answers = tokio::select! {
            answers = questions::answers(self.ports, asker, &open, roots, &self.order.cancel) => answers,
            () = self.order.cancel.cancelled() => {
                self.waits.end();
                questions::withdraw(self.ports, asker, &open, "aborted").await;
                self.ports.end_ask(self.key()).await;
                return Err(Ended::failed(canceled()));
            }
        };
        self.waits.end();
        self.ports.end_ask(self.key()).await;
        let answers = answers.map_err(|reason| {
            Ended::failed(ToolError::unavailable(
                Needed::Host,
                Text::new(
                    format!("the question of `{}` has no answer: {reason}", self.tool.server),
                    format!("`{}` 的问题没有得到回答：{reason}", self.tool.server),
                ),
            ))
        })?;
        Ok(Resume { request_state, answers })
    }

    /// Sends the call; after a break of the connection again, once, when the server certainly has not
    /// seen it or the tool may be repeated by a word that counts.
    async fn send_once_more(
        &self,
        key: &ServerKey,
        meta: &Map<String, Value>,
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
        meta: &Map<String, Value>,
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
            meta: meta.clone(),
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
            tag: Some(self.key()),
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

    pub(super) fn asker(&self) -> Asker {
        Asker {
            identity: self.tool.identity.as_str().to_owned(),
            server: self.tool.server.clone(),
            trace: self.order.trace.clone(),
            lang: self.order.people,
            sampling: self.tool.sampling,
            observer: Arc::clone(&self.observer),
        }
    }

    pub(super) fn protocol(&self, detail: &str) -> Ended {
        let failure = Failure::Protocol { detail: detail.to_owned() };
        answer::failure(&CallError { failure, sent: true }, &self.tool.server)
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
