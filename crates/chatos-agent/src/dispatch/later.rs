//! Results that come later: through the prompt log (AsyncTask, ai-contributions §11), or as a task that
//! the server keeps (mcp "tasks"). Both are written down before the waiting begins, so that a restart
//! finds them.

use std::time::Duration;

use chatos_contribution::AsyncTask as Config;
use chatos_mcp::{Block, CallRequest, Failure, Progress, ServerKey, TaskState, TaskStatus};
use chatos_prompts::async_task::{self, Ack, AsyncTask, CallError as Waited, TaskError, TaskResult};
use chatos_prompts::{Cursor, TaskId};
use chatos_tool::{CanceledBy, Fault, Needed, Phase, Reason, Text, ToolError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::answer::{self, Ended, millis};
use super::over_pool::Sent;
use super::ports::{TaskRow, TaskTime};
use super::questions;
use super::{Call, TaskHandle, canceled, meta};

/// A cancel in the background has this long (agents §7).
const CANCEL_TIME: Duration = Duration::from_secs(2);
/// A task that is done without its app's page is done by then, as far as anybody notices.
const PAGE_TIME: Duration = Duration::from_secs(2);
/// A server that kept a task beyond its time has this long to say that it is done.
const LAST_LOOK: Duration = Duration::from_secs(10);
/// What is used where the declaration is gone, for a call that is continued.
const POLL: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(7_200);

/// How the ACK of an AsyncTask ended otherwise.
enum NoAck {
    /// With an error; the call is over.
    Ended(Ended),
    /// With a task of the server's own, which goes first (mcp "tasks").
    Task(TaskState),
}

impl Call<'_> {
    /// Sends the call, takes its answer as an acknowledgement, and waits for the result in the log.
    pub(super) async fn async_task(&self, key: &ServerKey, config: &Config) -> Ended {
        let prompts = match self.ports.prompts().await {
            Ok(prompts) => prompts,
            Err(fault) => return no_queue(&fault),
        };
        let id = match self.order.extra_meta.get(&config.task_id_key).and_then(Value::as_str) {
            // Only what the person's own call brought along is kept (§11.2 step 1).
            Some(given) => match TaskId::given(given) {
                Ok(id) => id,
                Err(error) => {
                    return Ended::failed(ToolError::new(
                        Reason::InvalidArgument { issues: Vec::new() },
                        Text::new(
                            format!("`{}` cannot be a task id: {error}", config.task_id_key),
                            format!("`{}` 不能作为任务 ID：{error}", config.task_id_key),
                        ),
                    ));
                }
            },
            None => TaskId::mint(),
        };
        let mut task = match AsyncTask::begin(&prompts, id) {
            Ok(task) => task,
            Err(error) => {
                let file = prompts.paths().log.clone();
                return ended_task(&TaskError::Unavailable { file, reason: error.to_string() });
            }
        };
        let (task_id, cursor) = (task.id().as_str().to_owned(), task.cursor().offset());
        let timeout = Duration::from_millis(config.timeout_ms);
        if let Err(fault) = self.keep_row(&task_id, cursor, timeout, "async").await {
            return no_queue(&fault);
        }
        let meta = meta::build(self.route, &self.order, &self.settings, Some((config, &task_id)));
        let _app = self.hold_app();
        let ack = async {
            match self.through(key, &meta, Some((task_id.clone(), cursor))).await {
                Ok(Sent::Done(result)) if result.is_error => Err(NoAck::Ended(result.into())),
                Ok(Sent::Done(result)) => {
                    let texts = result.content.iter().filter_map(|block| match block {
                        Block::Text(text) => Some(text.clone()),
                        _ => None,
                    });
                    let ack = Ack { texts: texts.collect(), structured: result.structured.clone() };
                    let also = ack.own_id(&task_id, &config.task_id_key);
                    let handle = TaskHandle::AsyncTask { task_id: task_id.clone(), cursor, also };
                    if let Err(fault) = self.observer.task(handle).await {
                        tracing::warn!(%fault, "a wait will not survive a restart");
                    }
                    Ok(ack)
                }
                Ok(Sent::Task(state)) => Err(NoAck::Task(state)),
                Err(ended) => Err(NoAck::Ended(ended)),
            }
        };
        let poll = Duration::from_millis(config.poll_interval_ms);
        let mut waiting =
            Box::pin(task.finish_with_ack(ack, &config.task_id_key, poll, timeout, &self.order.cancel));
        let waited = tokio::select! {
            waited = &mut waiting => waited,
            () = self.tell_of_page() => (&mut waiting).await,
        };
        drop(waiting);
        let (ended, state) = match waited {
            Ok(result) => (self.result(&result), if result.is_error { "failed" } else { "done" }),
            Err(Waited::Ack(NoAck::Ended(ended))) => (ended, "failed"),
            Err(Waited::Ack(NoAck::Task(state))) => {
                self.ports.end_task(task_id, "replaced").await;
                return self.keep_task(key, state).await;
            }
            Err(Waited::Task(error)) => {
                self.cancel_tool(key, task.id().clone(), &config.task_id_key);
                (self.ended_task(&error), state_of(&error))
            }
        };
        self.task_over(task_id, state);
        ended
    }

    /// The row is brought up to date beside the answer, which does not wait for the disk.
    fn task_over(&self, task_id: String, state: &'static str) {
        tokio::spawn(self.ports.end_task(task_id, state));
    }

    /// Goes on waiting for a task of an earlier process, from where reading began then.
    pub(super) async fn wait_again(
        &self,
        key: &ServerKey,
        task_id: &str,
        cursor: u64,
        also: Option<&str>,
    ) -> Ended {
        let prompts = match self.ports.prompts().await {
            Ok(prompts) => prompts,
            Err(fault) => return no_queue(&fault),
        };
        let Ok(id) = TaskId::given(task_id) else { return self.protocol("its task has no id") };
        let config = self.route.async_task.as_ref();
        let declared = config.map_or(TIMEOUT, |config| Duration::from_millis(config.timeout_ms));
        // The time it was given when it began, not the whole anew.
        let time = self.ports.task_time(task_id.to_owned()).await;
        let TaskTime { total, left } = time.unwrap_or(TaskTime { total: declared, left: declared });
        let poll = config.map_or(POLL, |config| Duration::from_millis(config.poll_interval_ms));
        if let Err(fault) = self.keep_row(task_id, cursor, left, "async").await {
            return no_queue(&fault);
        }
        let task = AsyncTask::resume(&prompts, id.clone(), Cursor::from_offset(cursor));
        let mut task = task.after(total.saturating_sub(left));
        if let Some(also) = also {
            task.also(also);
        }
        let _app = self.hold_app();
        let mut waiting = Box::pin(task.finish(poll, total, &self.order.cancel));
        let waited = tokio::select! {
            waited = &mut waiting => waited,
            () = self.tell_of_page() => (&mut waiting).await,
        };
        drop(waiting);
        let (ended, state) = match waited {
            Ok(result) => (self.result(&result), if result.is_error { "failed" } else { "done" }),
            Err(error) => {
                let named = config.map_or("taskId", |config| config.task_id_key.as_str());
                self.cancel_tool(key, id, named);
                (self.ended_task(&error), state_of(&error))
            }
        };
        self.task_over(task_id.to_owned(), state);
        ended
    }

    /// How a wait ended, and what a cancel means for work that goes on elsewhere (ai-contributions §11.3).
    fn ended_task(&self, error: &TaskError) -> Ended {
        match error {
            TaskError::Canceled { .. } => {
                let told = self.route.cancel_tool().is_some();
                Ended::failed(ToolError::new(
                    Reason::Canceled { by: CanceledBy::Caller },
                    canceled_words(error, told),
                ))
            }
            other => ended_task(other),
        }
    }

    /// The work of some tasks is begun by the app's page. Where there is none, whoever waits is told, on every
    /// surface that shows progress, and told again when there is one.
    async fn tell_of_page(&self) {
        let Some(app) = self.route.app.as_ref() else { return };
        let mut told = true;
        tokio::time::sleep(PAGE_TIME).await;
        loop {
            // Asked for before looking, so that no change is missed.
            let changed = self.ports.pages_changed();
            let Some(page) = self.ports.page_for(app) else { return };
            if page.open != told {
                told = page.open;
                let message = Some(page.says.get(self.order.lang).to_owned());
                self.report(&Progress { progress: 0.0, total: None, message, meta: None });
            }
            changed.await;
        }
    }

    /// host-api §3: the app stays mounted while somebody waits for its task.
    fn hold_app(&self) -> Option<Box<dyn std::any::Any + Send + Sync>> {
        let app = self.route.app.as_ref()?;
        self.ports.hold_app(app, &self.order.call_id)
    }

    fn result(&self, result: &TaskResult) -> Ended {
        self.waits.came_through_log();
        let mut warnings = Vec::new();
        if result.is_empty() {
            warnings.push(format!("the task of call {} finished without a text", self.order.call_id));
        }
        let mut structured = None;
        if result.id_from_ack {
            warnings
                .push(format!("the result of call {} came under an id of the server", self.order.call_id));
            structured = Some(serde_json::json!({ "idFromAck": true, "requestId": result.request_id }));
        }
        Ended::Answered {
            blocks: vec![Block::Text(result.text())],
            structured,
            extra: chatos_mcp::Extra::default(),
            is_error: result.is_error,
            problems: Vec::new(),
            warnings,
        }
    }

    /// §11.3: the declared cancel tool, once, in the background, with what its schema allows.
    fn cancel_tool(&self, key: &ServerKey, task: TaskId, task_id_key: &str) {
        let Some(name) = self.route.cancel_tool().map(str::to_owned) else { return };
        let (pool, key, task_id_key) = (self.ports.pool().clone(), key.clone(), task_id_key.to_owned());
        let session = self.order.trace.session_id.clone();
        let call_id = self.order.call_id.clone();
        let meta = meta::build(self.route, &self.order, &self.settings, None);
        tokio::spawn(async move {
            let work = async {
                let tools = pool.tools(&key).await.map_err(|error| error.failure)?;
                let Some(tool) = tools.get(&name) else { return Ok(()) };
                let arguments = async_task::cancel_arguments(
                    &task,
                    &task_id_key,
                    session.as_deref(),
                    Some(&call_id),
                    &tool.input_schema,
                );
                let request = CallRequest {
                    tool: name.clone(),
                    arguments,
                    meta,
                    total: Some(CANCEL_TIME),
                    cancel: CancellationToken::new(),
                    ..CallRequest::default()
                };
                pool.call(&key, request).await.map(drop).map_err(|error| error.failure)
            };
            match tokio::time::timeout(CANCEL_TIME, work).await {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => tracing::info!(%failure, tool = name, "the cancel tool failed"),
                Err(_) => tracing::info!(tool = name, "the cancel tool did not answer in time"),
            }
        });
    }

    /// Writes a task of the server down and looks after it.
    pub(super) async fn keep_task(&self, key: &ServerKey, state: TaskState) -> Ended {
        let total = self.route.total.unwrap_or(self.settings.total);
        if let Err(fault) = self.keep_row(&state.id, 0, total, "mcp").await {
            tracing::warn!(%fault, "a task of a server will not survive a restart");
        }
        if let Err(fault) = self.observer.task(TaskHandle::McpTask { task_id: state.id.clone() }).await {
            tracing::warn!(%fault, "a task of a server will not survive a restart");
        }
        self.follow(key, state.id.clone(), Some(state), TaskTime { total, left: total }).await
    }

    /// Looks after a task of an earlier process, for the time it had left.
    pub(super) async fn look_after(&self, key: &ServerKey, task_id: String) -> Ended {
        let total = self.route.total.unwrap_or(self.settings.total);
        let time = self.ports.task_time(task_id.clone()).await.unwrap_or(TaskTime { total, left: total });
        let mut first = None;
        if time.left.is_zero() {
            // What ended while nobody looked counts; what still goes on is too late.
            let looked = tokio::time::timeout(LAST_LOOK, self.task_state(key, &task_id)).await;
            first = looked.ok().and_then(Result::ok).filter(|state| state.status.is_over());
        }
        self.follow(key, task_id, first, time).await
    }

    async fn follow(
        &self,
        key: &ServerKey,
        task_id: String,
        first: Option<TaskState>,
        time: TaskTime,
    ) -> Ended {
        let TaskTime { total, left } = time;
        let watched = tokio::time::timeout(left, self.watch(key, &task_id, first));
        let (ended, state) = tokio::select! {
            watched = watched => match watched {
                Ok(Ok(ended)) => (ended, "done"),
                Ok(Err(failure)) => {
                    let error = answer::of_failure(&failure, &self.tool.server);
                    (Ended::Failed { error, certain: false }, "failed")
                }
                Err(_) => {
                    self.cancel_mcp_task(key, task_id.clone());
                    (Ended::failed(ToolError::timeout(millis(total), Phase::Run)), "timeout")
                }
            },
            () = self.order.cancel.cancelled() => {
                self.cancel_mcp_task(key, task_id.clone());
                (Ended::failed(canceled()), "canceled")
            }
        };
        self.task_over(task_id, state);
        ended
    }

    /// Asks for the task at its own interval until it is over. A connection that breaks is made again.
    async fn watch(&self, key: &ServerKey, id: &str, first: Option<TaskState>) -> Result<Ended, Failure> {
        let mut state = match first {
            Some(state) => state,
            None => self.task_state(key, id).await?,
        };
        loop {
            match state.status {
                TaskStatus::Completed(result) => return Ok(result.into()),
                TaskStatus::Failed(error) => return Err(Failure::Rpc(error)),
                TaskStatus::Cancelled => return Ok(Ended::failed(ToolError::canceled(CanceledBy::Caller))),
                TaskStatus::InputRequired(requests) => {
                    let asker = self.asker();
                    let wrong = |detail| Failure::Protocol { detail };
                    let open = questions::plan(requests).map_err(wrong)?;
                    questions::ask_all(self.ports, &asker, &open).await.map_err(wrong)?;
                    let roots = &self.route.roots;
                    let answers = tokio::select! {
                        answers = questions::answers(self.ports, &asker, &open, roots, &self.order.cancel) => answers,
                        () = self.order.cancel.cancelled() => {
                            questions::withdraw(self.ports, &asker, &open, "aborted").await;
                            return Err(Failure::Canceled);
                        }
                    };
                    let answers = answers.map_err(|detail| Failure::Protocol { detail })?;
                    let connection = self.ports.pool().connect(key).await.map_err(|error| error.failure)?;
                    connection.answer_task(id, answers).await?;
                }
                TaskStatus::Working => {}
            }
            tokio::time::sleep(state.poll).await;
            state = self.task_state(key, id).await?;
        }
    }

    async fn task_state(&self, key: &ServerKey, id: &str) -> Result<TaskState, Failure> {
        let mut patience = 5;
        loop {
            let asked = async {
                let connection = self.ports.pool().connect(key).await.map_err(|error| error.failure)?;
                connection.task(id).await
            };
            match asked.await {
                Ok(state) => return Ok(state),
                Err(failure @ (Failure::Rpc(_) | Failure::Protocol { .. } | Failure::UnknownServer)) => {
                    return Err(failure);
                }
                Err(failure) if patience == 0 => return Err(failure),
                Err(failure) => {
                    tracing::debug!(%failure, server = self.tool.server, "a task is looked for again");
                    patience -= 1;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    fn cancel_mcp_task(&self, key: &ServerKey, id: String) {
        let (pool, key) = (self.ports.pool().clone(), key.clone());
        tokio::spawn(async move {
            let work = async {
                let connection = pool.connect(&key).await.map_err(|error| error.failure)?;
                connection.cancel_task(&id).await
            };
            if let Ok(Err(failure)) = tokio::time::timeout(CANCEL_TIME, work).await {
                tracing::info!(%failure, "a task of a server could not be cancelled");
            }
        });
    }

    async fn keep_row(
        &self,
        id: &str,
        cursor: u64,
        deadline: Duration,
        kind: &'static str,
    ) -> Result<(), Fault> {
        let row = TaskRow {
            task_id: id.to_owned(),
            run_id: self.order.trace.run_id.clone(),
            call_id: self.order.call_id.clone(),
            identity: self.tool.identity.as_str().to_owned(),
            tool: self.tool.tool.clone(),
            cursor,
            deadline,
            kind,
        };
        self.ports.keep_task(row).await
    }
}

fn no_queue(fault: &Fault) -> Ended {
    let mut error = ToolError::unavailable(Needed::Host, fault.message.clone());
    error.hint = fault.hint.clone();
    Ended::failed(error)
}

/// Without a cancel tool nobody told the plugin, and what it was asked to do may still happen.
fn canceled_words(error: &TaskError, told: bool) -> Text {
    if told {
        Text::new(format!("{error} The plugin was asked to stop."), "已取消。已请求插件停止。")
    } else {
        Text::new(
            format!("{error} The plugin was not told and may still do it."),
            "已取消。插件没有收到通知，可能仍会继续执行。",
        )
    }
}

/// §11.3.
fn ended_task(error: &TaskError) -> Ended {
    let text = Text::same(error.to_string());
    Ended::failed(match error {
        TaskError::Timeout { after, .. } => {
            ToolError::new(Reason::Timeout { limit_ms: millis(*after), phase: Phase::Run }, text)
        }
        TaskError::Canceled { .. } => ToolError::new(Reason::Canceled { by: CanceledBy::Caller }, text),
        TaskError::Unavailable { .. } => {
            ToolError::new(Reason::Unavailable { what: Needed::Host, install: None }, text)
        }
    })
}

fn state_of(error: &TaskError) -> &'static str {
    match error {
        TaskError::Timeout { .. } => "timeout",
        TaskError::Canceled { .. } => "canceled",
        TaskError::Unavailable { .. } => "failed",
    }
}
