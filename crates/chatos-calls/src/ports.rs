//! The host as the dispatcher sees it: queue, log, store, built-in servers.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_agent::{
    Asker, BuiltInCall, CallContext, CallSettings, OpenAsk, PageFor, Ports, Standing, TaskRow, TaskTime,
    ToolEvent,
};
use chatos_contribution::ServerIdentity;
use chatos_inbox::{Question, Verdict};
use chatos_layer::ToolSettings;
use chatos_manifest::{AppId, PluginId};
use chatos_mcp::{Later, Pool};
use chatos_prompts::effect::Difference;
use chatos_prompts::{Approval, Effect, Owner, Prompts, Ruling};
use chatos_servers::{AppPlace, Servers};
use chatos_store::{AsyncTaskRow, Audit, OpenAskRow, Store, StoreError, now_ms};
use chatos_tool::{Envelope, ErrorCode, Fault, Redactor, Text, ToolError, Trace};
use chatos_wire::event::{HostEvent, ToolBackground, ToolFinished, ToolProgress, ToolStarted, ToolWaiting};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::active::ActiveCalls;
use super::parts::{CallParts, failed};
use super::{results, sampling};
use crate::tools::Tools;

/// Records that may wait for the audit chain; beyond, the caller waits for the disk.
const AUDIT_QUEUE: usize = 10_000;
/// Records that are kept together at most.
const AUDIT_GROUP: usize = 128;

/// The ports of one host. Clones are the same.
#[derive(Clone)]
pub(super) struct HostPorts(Arc<Inner>);

struct Inner {
    parts: Arc<CallParts>,
    servers: Servers,
    active: Arc<ActiveCalls>,
    tools: Arc<Tools>,
    settings: Mutex<Option<(u64, Arc<ToolSettings>, CallSettings)>>,
    audit: SyncSender<Audited>,
}

impl HostPorts {
    pub(super) fn new(parts: Arc<CallParts>, active: Arc<ActiveCalls>, tools: Arc<Tools>) -> Self {
        Self(Arc::new(Inner {
            servers: parts.servers.open().clone(),
            audit: audit_writer(parts.audit.clone()),
            settings: Mutex::default(),
            parts,
            active,
            tools,
        }))
    }

    /// Waits until every record is kept. Blocks.
    pub(super) fn flush(&self) {
        let (done, kept) = sync_channel(1);
        if self.0.audit.send(Audited::Flush(done)).is_ok() {
            kept.recv_timeout(Duration::from_secs(5)).ok();
        }
    }

    fn snapshot(&self) -> (Arc<ToolSettings>, CallSettings) {
        let settings = &self.0.parts.settings;
        let mut kept = self.0.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = settings.revision();
        if let Some((known, tools, calls)) = &*kept
            && *known == revision
        {
            return (Arc::clone(tools), calls.clone());
        }
        let tools = Arc::new(ToolSettings::read(settings));
        let soft = u64::try_from(settings.int("mcpSoftDeadlineMs")).unwrap_or(60_000);
        let calls = self.call_settings(&tools, Duration::from_millis(soft));
        *kept = Some((revision, Arc::clone(&tools), calls.clone()));
        (tools, calls)
    }

    fn call_settings(&self, tools: &ToolSettings, soft_deadline: Duration) -> CallSettings {
        CallSettings {
            soft_deadline,
            idle: tools.idle,
            total: tools.total,
            text: tools.text,
            log: tools.log,
            confirm_timeout: (tools.confirm_timeout_ms > 0)
                .then(|| Duration::from_millis(tools.confirm_timeout_ms)),
            state_dir: self.0.parts.dir.path().to_owned(),
            session_root: self.0.parts.session_root.clone(),
        }
    }

    fn at_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Later<Result<T, Fault>> {
        let store = self.0.parts.store.clone();
        Box::pin(async move {
            let done = chatos_blocking::run(move || work(&store)).await;
            done.map_err(|error| failed(&error))?.map_err(Fault::from)
        })
    }

    fn forget<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Later<()> {
        let done = self.at_store(work);
        Box::pin(async move {
            if let Err(fault) = done.await {
                tracing::warn!(%fault, "the end of a wait is not written down");
            }
        })
    }
}

impl Ports for HostPorts {
    fn read_result(
        &self,
        trace: Trace,
        arguments: Map<String, Value>,
    ) -> Later<Result<(String, Value), ToolError>> {
        let store = self.0.parts.store.clone();
        Box::pin(async move {
            let done = chatos_blocking::run(move || results::read(&store, &trace, &arguments)).await;
            done.unwrap_or_else(|error| Err(ToolError::internal(error.to_string())))
        })
    }

    fn pool(&self) -> &Pool {
        self.0.servers.pool()
    }

    fn settings(&self) -> CallSettings {
        self.snapshot().1
    }

    fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.parts.redactor)
    }

    fn built_in(&self, call: BuiltInCall, approval: Approval) -> Later<Result<Envelope, Fault>> {
        let tools = Arc::clone(&self.0.tools);
        Box::pin(async move {
            drop(approval);
            tools.run(call).await
        })
    }

    fn prompts(&self) -> Later<Result<Prompts, Fault>> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move { inbox.opened().await.map(|questions| questions.prompts().clone()) })
    }

    fn ask(&self, question: Question) -> Later<Result<String, Fault>> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move { inbox.ask(question).await })
    }

    fn verdict(&self, request_id: String, owner: Owner) -> Later<Result<Verdict, Fault>> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move { inbox.verdict(&request_id, &owner).await })
    }

    fn use_approval(&self, request_id: String, effect: Effect) -> Later<Result<Approval, Fault>> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move { inbox.use_approval(request_id, effect).await })
    }

    fn once_more(&self, request_id: String, effect: Effect) -> Later<Option<Approval>> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move { inbox.once_more(request_id, effect).await })
    }

    fn changed_since(&self, request_id: String, now: Effect) -> Later<Option<Difference>> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move { inbox.changed_since(request_id, now).await })
    }

    fn standing(&self, identity: ServerIdentity, tool: String) -> Later<Result<Standing, Fault>> {
        let (servers, tools) = (self.0.servers.clone(), Arc::clone(&self.0.tools));
        Box::pin(async move {
            let catalogue = servers.catalogue().await?;
            let known = catalogue.by_identity(&identity).ok_or_else(|| gone(&identity))?;
            let Some(key) = known.key() else {
                let server = tools.server(known.name())?;
                let tool_digest = server.tool_digest(&tool).map(str::to_owned);
                return Ok(Standing { tool_digest, server_digest: None });
            };
            if let Some(problem) = &known.problem {
                return Err(problem.clone());
            }
            servers.is_as_trusted(known).await?;
            let list =
                servers.pool().tools(key).await.map_err(|error| {
                    Fault::new(ErrorCode::Unavailable, Text::same(error.failure.to_string()))
                })?;
            let found = list.tools.iter().find(|known| known.name == tool);
            Ok(Standing {
                tool_digest: found.map(|tool| tool.digest.to_string()),
                server_digest: known.spec.as_ref().map(|spec| spec.digest.clone()),
            })
        })
    }

    fn withdraw(&self, request_id: String, owner: Owner, code: &'static str) -> Later<()> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move { inbox.withdraw(request_id, owner, code).await })
    }

    fn log(&self, line: String) {
        self.0.tools.layer().append_log(&line);
    }

    fn event(&self, event: ToolEvent<'_>) {
        self.0.parts.events.publish(match event {
            ToolEvent::Started { server, trace } => {
                HostEvent::ToolStarted(ToolStarted { server: server.to_owned(), trace: trace.clone() })
            }
            ToolEvent::Progress { call_id, progress } => HostEvent::ToolProgress(ToolProgress {
                call_id: call_id.to_owned(),
                progress: progress.progress,
                total: progress.total,
                message: progress.message.clone(),
                detail: progress.meta.clone(),
            }),
            ToolEvent::Waiting { request_id, trace } => HostEvent::ToolWaiting(ToolWaiting {
                call_id: None,
                request_id: request_id.to_owned(),
                trace: trace.clone(),
            }),
            ToolEvent::Background { call_id, server, tool, elapsed_ms } => {
                HostEvent::ToolBackground(ToolBackground {
                    call_id: call_id.to_owned(),
                    server: server.to_owned(),
                    tool: tool.to_owned(),
                    elapsed_ms,
                })
            }
            ToolEvent::Finished { envelope } => HostEvent::ToolFinished(ToolFinished {
                server: envelope.stamp.server.clone(),
                status: envelope.status.as_str().to_owned(),
                code: envelope.code.to_owned(),
                elapsed_ms: envelope.stamp.elapsed_ms,
                size: envelope.size,
                trace: envelope.stamp.trace.clone(),
            }),
        });
    }

    fn keep_task(&self, row: TaskRow) -> Later<Result<(), Fault>> {
        let now = now_ms();
        self.at_store(move |store| {
            store.keep_async_task(AsyncTaskRow {
                task_id: row.task_id,
                run_id: row.run_id.unwrap_or_default(),
                call_id: row.call_id,
                identity: row.identity,
                tool: row.tool,
                cursor: row.cursor,
                deadline_at: Some(now + i64::try_from(row.deadline.as_millis()).unwrap_or(i64::MAX / 2)),
                state: "waiting".to_owned(),
                kind: row.kind.to_owned(),
                created_at: now,
            })
        })
    }

    fn task_time(&self, task_id: String) -> Later<Option<TaskTime>> {
        let row = self.at_store(move |store| store.async_task(&task_id));
        Box::pin(async move {
            let row = row.await.unwrap_or_else(|fault| {
                tracing::warn!(%fault, "the time of a wait cannot be read; it begins anew");
                None
            })?;
            let millis = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or_default());
            let deadline = row.deadline_at?;
            let total = millis(deadline - row.created_at);
            // A clock that was put back gives no more than the whole.
            Some(TaskTime { total, left: millis(deadline - now_ms()).min(total) })
        })
    }

    fn end_task(&self, task_id: String, state: &'static str) -> Later<()> {
        self.forget(move |store| store.end_async_task(&task_id, state))
    }

    fn keep_ask(&self, ask: OpenAsk) -> Later<Result<(), Fault>> {
        self.at_store(move |store| {
            store.keep_open_ask(OpenAskRow {
                call_id: ask.key,
                run_id: ask.run_id.unwrap_or_default(),
                identity: ask.identity,
                method: ask.method,
                params: ask.params.to_string(),
                request_state: ask.request_state,
                input_requests: ask.input_requests.to_string(),
                prompts: Value::Object(ask.prompts).to_string(),
            })
        })
    }

    fn end_ask(&self, key: String) -> Later<()> {
        self.forget(move |store| store.end_open_ask(&key))
    }

    fn open_ask(&self, key: String) -> Later<Option<OpenAsk>> {
        let rows = self.at_store(|store| store.open_asks());
        Box::pin(async move {
            let row = rows.await.ok()?.into_iter().find(|row| row.call_id == key)?;
            Some(open_ask(row))
        })
    }

    fn sample(
        &self,
        asker: Asker,
        params: Value,
        canceled: CancellationToken,
    ) -> Later<Result<Value, String>> {
        let (parts, active) = (Arc::clone(&self.0.parts), Arc::clone(&self.0.active));
        let ports: Arc<dyn Ports> = Arc::new(self.clone());
        Box::pin(async move { sampling::sample(&parts, &active, &ports, asker, params, canceled).await })
    }

    fn rule_on(&self, effect: Effect, trace: Trace) -> Later<Ruling> {
        let inbox = self.0.parts.inbox.clone();
        Box::pin(async move {
            let ruled = chatos_blocking::run(move || inbox.rule_on(&effect, &trace)).await;
            ruled.unwrap_or(Ruling::Ask)
        })
    }

    fn approved(&self, run_id: String, identity: ServerIdentity, tool: String) -> Later<bool> {
        let known = self.at_store(move |store| store.approval(&run_id, identity.as_str(), &tool));
        Box::pin(async move {
            match known.await {
                Ok(decision) => decision.as_deref() == Some("allow"),
                Err(fault) => {
                    tracing::warn!(%fault, "approvals cannot be read; the person is asked again");
                    false
                }
            }
        })
    }

    fn keep_approval(
        &self,
        run_id: String,
        identity: ServerIdentity,
        tool: String,
    ) -> Later<Result<(), Fault>> {
        self.at_store(move |store| store.put_approval(&run_id, identity.as_str(), &tool, "allow"))
    }

    fn hold_app(&self, app: &AppPlace, call_id: &str) -> Option<Box<dyn std::any::Any + Send + Sync>> {
        let plugin = PluginId::parse(&app.plugin_id).ok()?;
        let app = AppId::parse(&app.app_id).ok()?;
        Some(Box::new(self.0.parts.apps.need_app(&plugin, &app, "async_task", call_id)))
    }

    fn page_for(&self, app: &AppPlace) -> Option<PageFor> {
        let (open, says) = self.0.parts.apps.page_for(&app.plugin_id, &app.app_id);
        Some(PageFor { open, says })
    }

    fn pages_changed(&self) -> Later<()> {
        let mut pages = self.0.parts.apps.pages();
        Box::pin(async move {
            if pages.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn begin(&self, call: CallContext) {
        self.0.active.begin(call);
    }

    fn end(&self, key: &str) {
        self.0.active.end(key);
    }

    fn audit(&self, kind: &'static str, details: Value) {
        let Value::Object(fields) = details else { return };
        if self.0.audit.send(Audited::Record(kind, fields)).is_err() {
            tracing::error!(kind, "an audit record was lost");
        }
    }
}

fn gone(identity: &ServerIdentity) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("there is no server `{identity}` any more"),
            format!("服务器 `{identity}` 已不存在"),
        ),
    )
}

pub(super) fn open_ask(row: OpenAskRow) -> OpenAsk {
    let read = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
    OpenAsk {
        key: row.call_id,
        run_id: Some(row.run_id).filter(|run| !run.is_empty()),
        identity: row.identity,
        method: row.method,
        params: read(&row.params),
        request_state: row.request_state,
        input_requests: read(&row.input_requests),
        prompts: read(&row.prompts).as_object().cloned().unwrap_or_default(),
    }
}

/// What the writer of audit records gets.
enum Audited {
    Record(&'static str, Map<String, Value>),
    /// Everything before this is kept.
    Flush(SyncSender<()>),
}

/// A thread that keeps audit records in their order, so that no call waits for the disk. What came while
/// it waited for the disk itself is kept together.
fn audit_writer(audit: Audit) -> SyncSender<Audited> {
    let (sender, records) = sync_channel(AUDIT_QUEUE);
    std::thread::spawn(move || {
        while let Ok(first) = records.recv() {
            let (mut group, mut told) = (Vec::new(), None);
            let mut next = Some(first);
            while let Some(record) = next {
                match record {
                    Audited::Record(kind, fields) => group.push((kind, fields)),
                    Audited::Flush(done) => told = Some(done),
                }
                let more = told.is_none() && group.len() < AUDIT_GROUP;
                next = if more { records.try_recv().ok() } else { None };
            }
            if !group.is_empty() {
                audit.note_all(group);
            }
            if let Some(done) = told {
                // Whoever waited may have given up.
                done.send(()).ok();
            }
        }
    });
    sender
}
