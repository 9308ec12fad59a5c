//! The one path of every call: authorise, validate, log, take a place, run under the clocks, build the
//! envelope, cut, log, answer (tools §1.2).

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatos_prompts::RequestId;
use chatos_together::Member;
use chatos_tool::{
    Answer, CallRecord, CanceledBy, Confirm, DenyRule, Envelope, Finish, Lang, LogLevel, Reason, Redactor,
    Stamp, Text, ToolError, Transport, limits,
};
use futures_util::FutureExt;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::client::{Capability, ClientLink, ClientRound};
use crate::clock::{CallClock, Stop, StopSignal};
use crate::context::{CallCx, Caller, Suspension};
use crate::log::ToolLog;
use crate::meta::CallMeta;
use crate::observer::{CallEvent, Observer};
use crate::person::{Elicitor, InputRequired, PromptQueue, Resume};
use crate::progress::{Progress, ProgressSink};
use crate::root::Root;
use crate::server::Server;
use crate::settings::{SettingsSource, ToolSettings};
use crate::slots::{SlotLimits, Slots};
use crate::tool::{AnyTool, Prepared};

/// What the layer is made of.
pub struct LayerParts {
    /// The settings in force.
    pub settings: Arc<dyn SettingsSource>,
    /// The tool log; `None` where there is no state directory.
    pub log: Option<ToolLog>,
    /// The secrets of this process.
    pub redactor: Arc<Redactor>,
    /// The queue of questions.
    pub queue: Arc<dyn PromptQueue>,
    /// Who hears about calls.
    pub observer: Arc<dyn Observer>,
}

/// The layer of one process; every call of every built-in server goes through it.
pub struct Layer {
    parts: LayerParts,
    slots: Slots,
    // Withdrawals and other work that outlives a call; joined in `close`.
    tracker: TaskTracker,
    shutdown: CancellationToken,
}

/// One `tools/call`.
pub struct CallRequest {
    /// The tool's own name.
    pub tool: String,
    /// As the caller sent them.
    pub arguments: Option<Value>,
    /// As the caller sent it.
    pub meta: Map<String, Value>,
    /// Over which road.
    pub transport: Transport,
    /// Names the connection or chat, for fair queueing.
    pub session: String,
    /// What the caller may use.
    pub access: Arc<Access>,
    /// Who calls.
    pub caller: Caller,
    /// The directory the server works in.
    pub root: Option<Arc<Root>>,
    /// The caller withdrew the call.
    pub cancel: CancellationToken,
    /// The caller's connection is gone.
    pub closed: CancellationToken,
    /// Where progress goes.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// The connected client, when it can ask a person.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// What a modern call brings when it comes again.
    pub resume: Option<Resume>,
    /// The question the same call was waiting for when an earlier process ended (agents §8).
    pub asked: Option<RequestId>,
    /// The question in which a person approved this very call; nobody knows what became of it, and they had it run
    /// once more after that.
    pub approved: Option<RequestId>,
    /// The calls of the same answer that it asks together with.
    pub together: Option<Arc<Member>>,
    /// The connected client, for tools that ask it something themselves.
    pub client: Option<ClientLink>,
    /// The call was read together with others.
    pub batch: Option<Batch>,
}

/// Calls that came together share what would be the same for each of them. Whoever makes such calls calls
/// [`Layer::write_log`] before it gives their answers away.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// When the call was here; settings that were looked at later are those in force for it.
    pub arrived: Instant,
}

/// How a call ended for its caller.
#[derive(Debug)]
pub enum Reply {
    /// With an envelope.
    Done(Box<Envelope>),
    /// With a form for the client; the call comes again.
    InputRequired(InputRequired),
    /// With requests of the tool to the client; the call comes again.
    AskClient(ClientRound),
    /// The client did not offer what the tool needs.
    MissingCapability(Capability),
}

/// The tool does not exist: an error of the protocol, not a result.
#[derive(Debug, thiserror::Error)]
#[error("unknown tool `{name}`")]
pub struct UnknownTool {
    /// As the caller wrote it.
    pub name: String,
    /// The name it probably means.
    pub nearest: Option<&'static str>,
}

impl Layer {
    /// A layer ready for calls.
    pub fn new(parts: LayerParts) -> Self {
        Self {
            parts,
            slots: Slots::default(),
            tracker: TaskTracker::new(),
            shutdown: CancellationToken::new(),
        }
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<ToolSettings> {
        self.parts.settings.current()
    }

    /// Appends lines to the tool log, given without their last newline: a process has one that writes it.
    pub fn append_log(&self, lines: &str) {
        if let Some(log) = &self.parts.log {
            log.append(lines, self.settings().rotation);
        }
    }

    /// Writes what the log says about calls of a batch.
    pub fn write_log(&self) {
        if let Some(log) = &self.parts.log {
            log.write_held();
        }
    }

    /// Ends all calls and waits, at most `patience`, for what they leave behind.
    pub async fn close(&self, patience: Duration) {
        self.shutdown.cancel();
        self.tracker.close();
        if tokio::time::timeout(patience, self.tracker.wait()).await.is_err() {
            tracing::warn!(left = self.tracker.len(), "some work did not end in time");
        }
    }

    /// Runs a call from its beginning to its end.
    pub async fn call(&self, server: &Server, request: CallRequest) -> Result<Reply, UnknownTool> {
        let Some(tool) = server.tool(&request.tool) else {
            let nearest = server.nearest_tool(&request.tool);
            return Err(UnknownTool { name: request.tool, nearest });
        };
        // Counted, so that a shutdown waits for calls as for everything they leave behind.
        let _counted = self.tracker.token();
        self.parts.settings.prepare().await;
        let settings = match request.batch {
            Some(batch) => self.parts.settings.current_for(batch.arrived),
            None => self.settings(),
        };
        let meta = CallMeta::read(&request.meta, tool.spec().name);
        let settings_lang = settings.lang;
        let call_id = meta.tool_call_id.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let mut call = Call {
            layer: self,
            server,
            record: CallRecord {
                call_id,
                server: server.info().name.to_owned(),
                tool: tool.spec().name.to_owned(),
                transport: request.transport,
                caller: request.caller.as_str(),
                trace: meta.trace.clone(),
            },
            settings,
            lang: meta.lang.unwrap_or(settings_lang),
            held_back: None,
            in_batch: request.batch.is_some(),
            finish: Finish::default(),
            elapsed: Duration::ZERO,
        };
        let arguments = request.arguments.clone().unwrap_or(Value::Null);
        let prepared = call
            .authorise(&request.access, tool)
            .and_then(|()| tool.prepare(request.arguments.clone()).map_err(ToolError::invalid));
        call.log_call(&arguments, &tool.private(&arguments), &meta.warnings, tool.is_quick());
        let ended = match prepared {
            Ok(prepared) => call.run_logged(tool, prepared, request, meta).await,
            Err(error) => Ok(Answer::failed(error)),
        };
        Ok(match ended {
            Ok(answer) => Reply::Done(Box::new(call.finish(answer))),
            Err(suspension) => {
                call.suspended();
                match suspension {
                    Suspension::Person(required) => Reply::InputRequired(required),
                    Suspension::Client(round) => Reply::AskClient(round),
                    Suspension::Missing(capability) => Reply::MissingCapability(capability),
                }
            }
        })
    }
}

/// One call on its way.
struct Call<'a> {
    layer: &'a Layer,
    server: &'a Server,
    record: CallRecord,
    settings: Arc<ToolSettings>,
    lang: Lang,
    // Written with the end of the call: by level `error` only when it failed, by a quick tool because
    // its end is there at once.
    held_back: Option<String>,
    in_batch: bool,
    finish: Finish,
    elapsed: Duration,
}

impl Call<'_> {
    fn authorise(&self, access: &Access, tool: &dyn AnyTool) -> Result<(), ToolError> {
        if access.allows(tool.spec().name) {
            return Ok(());
        }
        let name = tool.spec().name;
        Err(ToolError::denied(
            DenyRule::LandConfig,
            Text::new(
                format!("the tool `{name}` is not granted here"),
                format!("此处未授权使用工具 `{name}`"),
            ),
        )
        .hint(Text::fixed(
            "a person can grant it in the land_config of this agent",
            "用户可以在该智能体的 land_config 中授权",
        )))
    }

    /// Runs the tool; a quick one that is not done at once has its call logged before it goes on.
    async fn run_logged(
        &mut self,
        tool: &dyn AnyTool,
        prepared: Prepared,
        request: CallRequest,
        meta: CallMeta,
    ) -> Result<Answer, Suspension> {
        let settings = Arc::clone(&self.settings);
        if !tool.is_quick() || settings.log.level == LogLevel::Error {
            return self.run(tool, prepared, request, meta).await;
        }
        let layer = self.layer;
        let line = self.held_back.take();
        let mut run = Box::pin(self.run(tool, prepared, request, meta));
        let Some(ended) = futures_util::future::poll_immediate(&mut run).await else {
            if let (Some(log), Some(line)) = (&layer.parts.log, line) {
                log.append(&line, settings.rotation);
            }
            return run.await;
        };
        drop(run);
        self.held_back = line;
        ended
    }

    async fn run(
        &mut self,
        tool: &dyn AnyTool,
        prepared: Prepared,
        mut request: CallRequest,
        meta: CallMeta,
    ) -> Result<Answer, Suspension> {
        let info = self.server.info();
        let root = match (&request.root, &meta.workdir) {
            (Some(root), Some(workdir)) if info.needs_root => match root.within(workdir) {
                Ok(root) => Some(Arc::new(root)),
                Err(error) => return Ok(Answer::failed(error)),
            },
            (root, _) => root.clone(),
        };
        let limits = SlotLimits {
            all: self.settings.concurrent,
            server: self.settings.server_slots.get(info.name).copied().unwrap_or(info.slots).max(1),
            queue: self.settings.queue,
        };
        let queued = Instant::now();
        let slot = tokio::select! {
            biased;
            slot = self.layer.slots.take(info.name, &request.session, limits) => slot,
            () = request.cancel.cancelled() => return Ok(Answer::failed(ToolError::canceled(CanceledBy::Caller))),
            () = request.closed.cancelled() => return Ok(Answer::failed(ToolError::canceled(CanceledBy::Caller))),
            () = self.layer.shutdown.cancelled() => {
                return Ok(Answer::failed(ToolError::canceled(CanceledBy::Shutdown)));
            }
        };
        self.finish.queued_ms = millis(queued.elapsed());
        let slot = match slot {
            Ok(slot) => slot,
            Err(full) => return Ok(Answer::failed(too_many(full.retry_after_ms))),
        };
        let parts = &self.layer.parts;
        let cx = CallCx {
            server: info.name,
            tool: tool.spec().name,
            call_id: self.record.call_id.clone(),
            root,
            trace: meta.trace.clone(),
            user_message_id: meta.user_message_id,
            caller: request.caller,
            transport: request.transport,
            lang: self.lang,
            people: meta.people.unwrap_or(self.settings.people),
            settings: Arc::clone(&self.settings),
            ask: request.access.asks(tool.spec().name),
            definition: (tool.spec().confirm != Confirm::None).then(|| tool.digest().to_owned()),
            arguments: request.arguments.take().unwrap_or_default(),
            redactor: Arc::clone(&parts.redactor),
            queue: Arc::clone(&parts.queue),
            elicitor: request.elicitor,
            resume: request.resume,
            asked: Mutex::new(request.asked),
            approved: request.approved,
            together: request.together,
            client: request.client,
            suspended: Mutex::new(None),
            clock: CallClock::start(),
            stop: StopSignal::default(),
            progress: Progress::new(request.progress, Arc::clone(&parts.observer), meta.trace.clone()),
            observer: Arc::clone(&parts.observer),
            tracker: self.layer.tracker.clone(),
            closed: request.closed.clone(),
            shutdown: self.layer.shutdown.clone(),
            slot: Mutex::new(Some(slot)),
            slot_limits: limits,
            waits_hold_slot: info.waits_hold_slot,
        };
        parts.observer.event(CallEvent::Started { server: info.name, trace: meta.trace });
        let answer = self.supervise(&cx, prepared, &request.cancel, &request.closed).await;
        self.elapsed = cx.clock.worked();
        self.finish.waited_ms = millis(cx.clock.waited());
        match cx.suspended.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(suspension) => Err(suspension),
            None => Ok(answer),
        }
    }

    /// Runs the tool until it ends, a clock runs out, or somebody wants it to stop.
    async fn supervise(
        &self,
        cx: &CallCx,
        prepared: Prepared,
        cancel: &CancellationToken,
        closed: &CancellationToken,
    ) -> Answer {
        let Prepared { timeout, run } = prepared;
        // A tool's own limit, when shorter, replaces both clocks.
        let (idle, total) = match timeout {
            Some(own) if own < self.settings.idle => (None, own),
            Some(own) => (Some(self.settings.idle), own.min(self.settings.total)),
            None => (Some(self.settings.idle), self.settings.total),
        };
        let mut work = std::pin::pin!(AssertUnwindSafe(run(cx)).catch_unwind());
        let stop = async {
            tokio::select! {
                () = cancel.cancelled() => Stop::Caller,
                () = closed.cancelled() => Stop::Caller,
                () = self.layer.shutdown.cancelled() => Stop::Shutdown,
                limit = cx.clock.expired(idle, total) => Stop::Timeout { limit_ms: millis(limit) },
            }
        };
        let ended = tokio::select! {
            biased;
            ended = &mut work => Some(ended),
            reason = stop => {
                cx.stop.stop(reason);
                // It may hand over what it has; after that it is dropped.
                tokio::time::timeout(Duration::from_millis(limits::GRACE_MS), &mut work).await.ok()
            }
            () = cx.progress.keep_alive() => None,
        };
        match ended {
            Some(Ok(Ok(answer))) => answer,
            Some(Ok(Err(error))) => Answer::failed(in_time(cx, error)),
            Some(Err(panic)) => {
                tracing::error!(
                    tool = cx.tool,
                    call = cx.call_id,
                    panic = panic_text(&*panic),
                    "a tool panicked"
                );
                Answer::failed(ToolError::internal(&cx.call_id))
            }
            None => Answer::failed(cx.stop_error()),
        }
    }

    fn log_call(&mut self, arguments: &Value, private: &[String], warnings: &[String], quick: bool) {
        let Some(log) = &self.layer.parts.log else { return };
        let rules = self.settings.log;
        if rules.level == LogLevel::Off {
            return;
        }
        let line = self.record.call_line(
            &chatos_store::now_iso(),
            arguments,
            private,
            warnings,
            &self.layer.parts.redactor,
            rules,
        );
        if quick || rules.level == LogLevel::Error {
            self.held_back = Some(line);
        } else {
            log.append(&line, self.settings.rotation);
        }
    }

    fn finish(&mut self, answer: Answer) -> Envelope {
        let stamp = Stamp {
            server: self.record.server.clone(),
            tool: self.record.tool.clone(),
            trace: self.record.trace.clone(),
            elapsed_ms: millis(self.elapsed),
            ts: chatos_store::now_iso(),
        };
        let envelope = Envelope::seal(answer, stamp, self.settings.text, self.lang);
        self.log_finish(&envelope);
        self.layer.parts.observer.event(CallEvent::Finished {
            server: self.server.info().name,
            trace: self.record.trace.clone(),
            status: envelope.status,
            code: envelope.code,
            elapsed_ms: envelope.stamp.elapsed_ms,
            size: envelope.size,
        });
        envelope
    }

    /// The call ended with a form for the client. It has its line in the log like every other.
    fn suspended(&mut self) {
        let answer = Answer {
            ended: chatos_tool::Ended::NeedsInput,
            data: Value::Null,
            text: String::new(),
            opening: chatos_tool::Opening::Sign,
            product: None,
            keep: chatos_tool::Keep::Head,
            cuts: Vec::new(),
            private: Vec::new(),
            parts: Vec::new(),
        };
        self.finish(answer);
    }

    fn log_finish(&self, envelope: &Envelope) {
        let Some(log) = &self.layer.parts.log else { return };
        let rules = self.settings.log;
        let wanted = match rules.level {
            LogLevel::Off => false,
            LogLevel::Error => envelope.status.is_error(),
            LogLevel::Info | LogLevel::Debug => true,
        };
        if !wanted {
            return;
        }
        let redactor = &self.layer.parts.redactor;
        let line = self.record.finish_line(&envelope.stamp.ts, envelope, self.finish, redactor, rules);
        let lines = match &self.held_back {
            Some(call) => format!("{call}\n{line}"),
            None => line,
        };
        if self.in_batch {
            log.hold(&lines, self.settings.rotation);
        } else {
            log.append(&lines, self.settings.rotation);
        }
    }
}

/// A tool that was told to stop and says "canceled" means whoever told it.
fn in_time(cx: &CallCx, mut error: ToolError) -> ToolError {
    let by_caller = matches!(error.reason, Reason::Canceled { by: CanceledBy::Caller });
    if by_caller && cx.stop.reason().is_some() {
        let data = error.data.take();
        error = cx.stop_error();
        error.data = data;
    }
    error
}

fn too_many(retry_after_ms: u64) -> ToolError {
    ToolError::new(
        Reason::RateLimited { retry_after_ms },
        Text::fixed(
            "too many calls at once; all places and the queue are taken",
            "同时进行的调用过多；执行位置与队列已满",
        ),
    )
    .hint(Text::new(
        format!("try again in {retry_after_ms} ms, or make fewer calls at once"),
        format!("请在 {retry_after_ms} 毫秒后重试，或减少同时进行的调用"),
    ))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown")
}

#[cfg(test)]
mod tests;
