//! What the dispatcher needs from the host.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chatos_contribution::ServerIdentity;
use chatos_inbox::{Question, Verdict};
use chatos_mcp::{Later, Pool, Progress};
use chatos_policy::Role;
use chatos_prompts::effect::Difference;
use chatos_prompts::{Approval, Effect, Owner, Prompts, Ruling};
use chatos_tool::{Envelope, Fault, Lang, LogRules, Redactor, Text, TextLimits, ToolError, Trace};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Asker, CallObserver};
use chatos_servers::AppPlace;

/// The settings in force when a call begins.
#[derive(Debug, Clone)]
pub struct CallSettings {
    /// After this a call shows as a background card (`mcpSoftDeadlineMs`).
    pub soft_deadline: Duration,
    /// Without a sign of life (`mcpTimeoutMs`).
    pub idle: Duration,
    /// In all (`mcpMaxTimeoutMs`).
    pub total: Duration,
    /// Limits of results.
    pub text: TextLimits,
    /// What the tool log holds.
    pub log: LogRules,
    /// When an unanswered approval expires; `None` never (`confirmTimeoutMs`).
    pub confirm_timeout: Option<Duration>,
    /// `$stateDir`.
    pub state_dir: PathBuf,
    /// `$sessionRoot`.
    pub session_root: PathBuf,
}

/// A call of a built-in server.
pub struct BuiltInCall {
    /// The server's name.
    pub server: String,
    /// Its tool.
    pub tool: String,
    /// As the caller gave them.
    pub arguments: Map<String, Value>,
    /// Complete.
    pub meta: Map<String, Value>,
    /// Who calls.
    pub role: Role,
    /// A person has to agree; the tool asks itself.
    pub ask: bool,
    /// The question it was waiting for when an earlier process ended.
    pub asked: Option<String>,
    /// The question in which a person approved it before its outcome became unknown; they had it run again.
    pub approved: Option<String>,
    /// The calls of the same answer that it asks together with.
    pub together: Option<Arc<chatos_together::Member>>,
    /// The chat's workspace root.
    pub workdir: PathBuf,
    /// Names the chat for fair queueing.
    pub session: String,
    /// The language of its texts.
    pub lang: Lang,
    /// The language a person is asked in.
    pub people: Lang,
    /// Ends it.
    pub cancel: CancellationToken,
    /// Gets its signs of life.
    pub progress: mpsc::Sender<Progress>,
}

/// What a server and its tool are at this moment; part of what a person approves (security T24).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// Of the tool's definition.
    pub tool_digest: Option<String>,
    /// Of the plugin that brings the server, or of where the server is reached.
    pub server_digest: Option<String>,
}

/// A call on its way, for questions of its server.
#[derive(Clone)]
pub struct CallContext {
    /// Names it among all.
    pub key: String,
    /// Where it belongs.
    pub trace: Trace,
    /// The chat's workspace root.
    pub workdir: PathBuf,
    /// The language of the person who is asked.
    pub lang: Lang,
    /// The grant of its server allows it to ask a model.
    pub sampling: bool,
    /// Who hears of it.
    pub observer: Arc<dyn CallObserver>,
}

/// A wait that survives a restart (`async_tasks`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// The id the result comes under, or the server's id of its task.
    pub task_id: String,
    /// The run, where there is one.
    pub run_id: Option<String>,
    /// The call.
    pub call_id: String,
    /// The server.
    pub identity: String,
    /// Its tool.
    pub tool: String,
    /// Where reading the prompt log begins.
    pub cursor: u64,
    /// When the wait ends at the latest.
    pub deadline: Duration,
    /// `async` or `mcp`.
    pub kind: &'static str,
}

/// How a wait of an earlier process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskTime {
    /// All the time it was given when it began.
    pub total: Duration,
    /// What is left of it; time without a host counts.
    pub left: Duration,
}

/// Whether there is a page that mounts an app, and what whoever waits for the app is told.
#[derive(Debug, Clone)]
pub struct PageFor {
    /// Some page in a browser follows this host and can mount apps.
    pub open: bool,
    /// The sentence for whoever waits, in both languages.
    pub says: Text,
}

/// A modern server's question that outlives this process (mcp "elicitation").
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAsk {
    /// The call it belongs to, named among all.
    pub key: String,
    /// The run, where there is one.
    pub run_id: Option<String>,
    /// The server.
    pub identity: String,
    /// `tools/call`, with what goes out again.
    pub method: String,
    /// Its parameters.
    pub params: Value,
    /// As the server gave it.
    pub request_state: Option<String>,
    /// As the server gave them.
    pub input_requests: Value,
    /// The prompts that were put into the queue, by the server's keys.
    pub prompts: Map<String, Value>,
}

/// Something that happened with a call, for everybody who watches.
#[derive(Debug)]
pub enum ToolEvent<'a> {
    /// It goes out.
    Started {
        /// The server.
        server: &'a str,
        /// Where it belongs.
        trace: &'a Trace,
    },
    /// A sign of life.
    Progress {
        /// The call.
        call_id: &'a str,
        /// What it says.
        progress: &'a Progress,
    },
    /// A person is asked.
    Waiting {
        /// The question.
        request_id: &'a str,
        /// Where it belongs.
        trace: &'a Trace,
    },
    /// It runs longer than the soft deadline.
    Background {
        /// The call.
        call_id: &'a str,
        /// The server.
        server: &'a str,
        /// Its tool.
        tool: &'a str,
        /// So far.
        elapsed_ms: u64,
    },
    /// It ended.
    Finished {
        /// How.
        envelope: &'a Envelope,
    },
}

/// The host, as the dispatcher sees it.
pub trait Ports: Send + Sync + 'static {
    /// The servers.
    fn pool(&self) -> &Pool;
    /// The settings now.
    fn settings(&self) -> CallSettings;
    /// The secrets no log may show.
    fn redactor(&self) -> Arc<Redactor>;
    /// Calls a built-in server through its layer, which logs it and tells its events.
    /// The approval is spent by it.
    fn built_in(&self, call: BuiltInCall, approval: Approval) -> Later<Result<Envelope, Fault>>;
    /// The queue, where results of AsyncTasks come in.
    fn prompts(&self) -> Later<Result<Prompts, Fault>>;
    /// Puts a question into the queue; gives its id.
    fn ask(&self, question: Question) -> Later<Result<String, Fault>>;
    /// Waits for a verified answer; private values are put in, for its owner, once.
    fn verdict(&self, request_id: String, owner: Owner) -> Later<Result<Verdict, Fault>>;
    /// What the person's rules say about a call that would be asked about (inbox §4).
    fn rule_on(&self, effect: Effect, trace: Trace) -> Later<Ruling>;
    /// Uses the approval of a question: once, for exactly this effect. The codes of its refusals are
    /// `shown_mismatch` (it is another effect by now) and `already_used`.
    fn use_approval(&self, request_id: String, effect: Effect) -> Later<Result<Approval, Fault>>;
    /// The right to do once more what was approved in this question; nothing where it is another effect by now.
    fn once_more(&self, request_id: String, effect: Effect) -> Later<Option<Approval>>;
    /// What would happen otherwise than when this question was asked; nothing where that is not known.
    fn changed_since(&self, request_id: String, now: Effect) -> Later<Option<Difference>>;
    /// A server and its tool as they are now; an error where the server may not run.
    fn standing(&self, identity: ServerIdentity, tool: String) -> Later<Result<Standing, Fault>>;
    /// The asker is not interested any more (`aborted` or `asker_gone`).
    fn withdraw(&self, request_id: String, owner: Owner, code: &'static str) -> Later<()>;
    /// Appends a line to the tool log.
    fn log(&self, line: String);
    /// Tells everybody who watches.
    fn event(&self, event: ToolEvent<'_>);
    /// Keeps a wait over a restart. Durable when it returns.
    fn keep_task(&self, row: TaskRow) -> Later<Result<(), Fault>>;
    /// The time of a wait that was kept. `None` where nothing is known of it.
    fn task_time(&self, task_id: String) -> Later<Option<TaskTime>>;
    /// The wait is over.
    fn end_task(&self, task_id: String, state: &'static str) -> Later<()>;
    /// Keeps a modern server's question over a restart. Durable when it returns.
    fn keep_ask(&self, ask: OpenAsk) -> Later<Result<(), Fault>>;
    /// The question is answered or withdrawn.
    fn end_ask(&self, key: String) -> Later<()>;
    /// A model's answer for a server, when the person agrees; the parameters are those of
    /// `sampling/createMessage`, the error is what the server is told.
    fn sample(
        &self,
        asker: Asker,
        params: Value,
        canceled: CancellationToken,
    ) -> Later<Result<Value, String>>;
    /// Whether a person allowed this tool for the rest of the run.
    fn approved(&self, run_id: String, identity: ServerIdentity, tool: String) -> Later<bool>;
    /// Remembers that. Durable when it returns.
    fn keep_approval(
        &self,
        run_id: String,
        identity: ServerIdentity,
        tool: String,
    ) -> Later<Result<(), Fault>>;
    /// Keeps an app mounted until the value is dropped.
    fn hold_app(&self, app: &AppPlace, call_id: &str) -> Option<Box<dyn std::any::Any + Send + Sync>>;

    /// Whether a page can mount an app whose task is waited for; `None` where nobody knows.
    fn page_for(&self, app: &AppPlace) -> Option<PageFor> {
        let _: &AppPlace = app;
        None
    }
    /// Ends as soon as a page of a browser has come or gone, so that it can be looked again.
    fn pages_changed(&self) -> Later<()> {
        Box::pin(std::future::pending())
    }
    /// The question of a call that an earlier process asked.
    fn open_ask(&self, key: String) -> Later<Option<OpenAsk>>;
    /// A call of the pool begins; its server may ask something.
    fn begin(&self, call: CallContext);
    /// It is over.
    fn end(&self, key: &str);
    /// Lines of an earlier result of the chat a call belongs to, with what they are as data.
    fn read_result(
        &self,
        trace: Trace,
        arguments: Map<String, Value>,
    ) -> Later<Result<(String, Value), ToolError>>;
    /// One record for the audit chain. Must not wait.
    fn audit(&self, kind: &'static str, details: Value);
}
