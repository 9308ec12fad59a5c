//! The one function that calls tools (agents §7): whoever asks, whatever server, the same steps in the
//! same order.
//!
//! Look up and check the grant, read the arguments, ask the person where the land_config says so, build
//! `_meta`, send the call over the server's road, wait for what comes later, make the envelope, log it
//! and tell it. Nothing else in the program sends a `tools/call`.

mod answer;
mod arguments;
mod ask;
mod built_in;
mod found;
mod later;
mod meta;
mod over_pool;
mod ports;
mod questions;
mod record;
mod resources;
mod trail;
mod waits;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use chatos_contribution::ServerIdentity;
use chatos_mcp::{Block, Extra, Later, Progress};
use chatos_policy::Role;
use chatos_together::Member;
use chatos_tool::{CanceledBy, DenyRule, Envelope, Fault, Lang, Reason, Text, ToolError, Trace, Transport};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use answer::Ended;
pub(crate) use answer::text_of;
use chatos_servers::{
    CALL_TOOL, CURRENT_TIME, FIND_TOOLS, GrantedTool, LIST_RESOURCES, READ_RESOURCE, READ_RESULT, Road,
    ServerRoute, Toolset,
};
pub use ports::{
    BuiltInCall, CallContext, CallSettings, OpenAsk, PageFor, Ports, Standing, TaskRow, TaskTime, ToolEvent,
};
pub use questions::{Asker, elicit};
use record::Record;
pub use trail::Trail;
use waits::Waits;

/// Which tool is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolRef {
    /// By the name a model was given.
    Name(String),
    /// By hand: the server's identity, row id or name, and the tool's own name.
    Direct {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
    },
}

/// A call to make.
#[derive(Debug, Clone)]
pub struct CallOrder {
    /// Which tool.
    pub tool: ToolRef,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What the model wrote when that is not a JSON object; `arguments` is empty then.
    pub raw_arguments: Option<String>,
    /// Where the call belongs. `span_id` is the call's own span; `tool_name` is filled in here.
    pub trace: Trace,
    /// Names the call.
    pub call_id: String,
    /// The message of the person that led to it.
    pub user_message_id: Option<String>,
    /// Who calls.
    pub role: Role,
    /// The chat's workspace root.
    pub workdir: PathBuf,
    /// The language of what the caller gets.
    pub lang: Lang,
    /// The language a person is asked in.
    pub people: Lang,
    /// Ends the call.
    pub cancel: CancellationToken,
    /// What a person added by hand (`chatos tools call --meta`); wins over defaults and callMeta, never
    /// over what is the host's.
    pub extra_meta: Map<String, Value>,
    /// Where an interrupted call goes on.
    pub resume: Option<Resumed>,
    /// Nobody waits for it any more: its result goes into the queue.
    pub to_queue: bool,
    /// The calls of the same answer that it asks together with.
    pub together: Option<Arc<Member>>,
}

/// Where an interrupted call goes on, from the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resumed {
    /// Wait for the result of an AsyncTask; the call is not sent again.
    AsyncTask {
        /// The host's id.
        task_id: String,
        /// Where reading the prompt log begins.
        cursor: u64,
        /// The id the server named in its ACK, where it minted one of its own.
        also: Option<String>,
    },
    /// Look after a task of the server; the call is not sent again.
    McpTask {
        /// The server's id of it.
        task_id: String,
    },
    /// The question of this id is asked already; wait for its answer.
    Prompt {
        /// The id in the queue.
        request_id: String,
    },
    /// A built-in tool had asked this and done nothing yet: it is called again and its first question is
    /// this one.
    Asked {
        /// The id in the queue.
        request_id: String,
    },
    /// It went out, nobody knows what became of it, and a person had it run again: it goes out anew, without another
    /// question where it is exactly what they had approved in this one.
    Again {
        /// The id of the question in which they had approved it.
        request_id: String,
    },
}

impl CallOrder {
    /// It is the same attempt as before an earlier process ended.
    fn goes_on(&self) -> bool {
        !matches!(self.resume, None | Some(Resumed::Again { .. }))
    }

    /// The question in which this very call was approved, where a person had it run again.
    fn approved(&self) -> Option<&str> {
        match &self.resume {
            Some(Resumed::Again { request_id }) => Some(request_id),
            _ => None,
        }
    }
}

/// What is about to be sent. Whoever keeps a journal writes it down before the bytes go out.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// Names the call.
    pub call_id: String,
    /// The server.
    pub identity: ServerIdentity,
    /// What people call it.
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// The arguments as they go out.
    pub arguments: Map<String, Value>,
    /// `_meta` as it goes out, but for the progress token.
    pub meta: Map<String, Value>,
    /// By a word that counts.
    pub read_only: bool,
    /// By a word that counts.
    pub idempotent: bool,
    /// The AsyncTask's id, and where its result is looked for.
    pub task: Option<(String, u64)>,
    /// 1, or 2 when a broken connection made the call go out again.
    pub attempt: u32,
}

/// Work that goes on without the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskHandle {
    /// The result comes through the prompt log.
    AsyncTask {
        /// The host's id.
        task_id: String,
        /// Where reading begins.
        cursor: u64,
        /// The id the server named in its ACK, where it minted one of its own.
        also: Option<String>,
    },
    /// A task of the server.
    McpTask {
        /// The server's id of it.
        task_id: String,
    },
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    /// A person's yes to the call.
    Approval,
    /// A person's answer to the server.
    Elicitation,
    /// A person's yes to a model answer for the server.
    Sampling,
}

impl WaitKind {
    /// The word in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
        }
    }
}

/// Who hears of a call: the journal and the events of a run, or whoever called by hand.
pub trait CallObserver: Send + Sync {
    /// The call goes out now. It must be durable when this returns; an error stops the call. Awaited
    /// again, with a higher attempt, when a broken connection lets it go out twice.
    fn sending(&self, sending: Sending) -> Later<Result<(), Fault>> {
        drop(sending);
        Box::pin(async { Ok(()) })
    }

    /// The server reports progress.
    fn progress(&self, progress: &Progress) {
        let _: &Progress = progress;
    }

    /// The call waits for a person.
    fn waiting(&self, request_id: &str, kind: WaitKind) {
        let _: (&str, WaitKind) = (request_id, kind);
    }

    /// The person answered.
    fn answered(&self, request_id: &str, status: &str) {
        let _: (&str, &str) = (request_id, status);
    }

    /// The call runs longer than the soft deadline; a page may leave it in the background.
    fn background(&self, elapsed_ms: u64) {
        let _: u64 = elapsed_ms;
    }

    /// The work goes on under this handle. It must be durable when this returns.
    fn task(&self, handle: TaskHandle) -> Later<Result<(), Fault>> {
        drop(handle);
        Box::pin(async { Ok(()) })
    }
}

/// Nobody listens.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoObserver;

impl CallObserver for NoObserver {}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct CallEnd {
    /// Status, code, text, data, trace; what logs and the model see.
    pub envelope: Envelope,
    /// The blocks as the server gave them; one text block where this host made the answer.
    pub blocks: Vec<Block>,
    /// The structured part as the server gave it; of our own tools, the envelope's.
    pub structured: Option<Value>,
    /// What else the server gave, for those who pass the result on.
    pub extra: Extra,
    /// The model is told that it failed.
    pub is_error: bool,
    /// Without waiting for a person.
    pub elapsed_ms: u64,
    /// False: the call went out and what it did is unknown.
    pub certain: bool,
}

/// Calls tools. One per host; cheap to share.
pub struct Dispatcher {
    ports: Arc<dyn Ports>,
}

/// One call on its way.
struct Call<'a> {
    ports: &'a Arc<dyn Ports>,
    tool: &'a GrantedTool,
    route: &'a Arc<ServerRoute>,
    order: CallOrder,
    observer: Arc<dyn CallObserver>,
    settings: CallSettings,
    started: Instant,
    waits: Arc<Waits>,
    /// What the model is told where the person changed the arguments.
    changed: Option<String>,
}

impl Dispatcher {
    /// A dispatcher on these ports.
    pub fn new(ports: Arc<dyn Ports>) -> Self {
        Self { ports }
    }

    /// Ends a call that may not be made as one that was: with its record, its events and its envelope.
    pub fn refuse(&self, order: &CallOrder, server: &str, tool: &str, error: ToolError) -> CallEnd {
        let settings = self.ports.settings();
        let record = Record::begin(&self.ports, &settings, order, server, tool, Transport::InProcess);
        record.finish(Ended::failed(error), std::time::Duration::ZERO, 0)
    }

    /// Makes a call from its beginning to its end. Whatever happens is an envelope.
    pub async fn call(
        &self,
        set: &Toolset,
        mut order: CallOrder,
        observer: Arc<dyn CallObserver>,
    ) -> CallEnd {
        let started = Instant::now();
        let settings = self.ports.settings();
        let tool = match look_up(set, &order.tool) {
            Ok(tool) => tool,
            Err(refusal) => {
                let record = Record::refused(&self.ports, &settings, &mut order, &refusal);
                return record.finish(Ended::failed(refusal.error), started.elapsed(), 0);
            }
        };
        order.trace.tool_name = Some(tool.tool.clone());
        if let Some(raw) = order.raw_arguments.take() {
            match arguments::read(&raw, &tool.input_schema, tool.read_only) {
                Ok(arguments) => order.arguments = arguments,
                Err(error) => {
                    let (server, tool) = (&tool.server, &tool.tool);
                    let record =
                        Record::begin(&self.ports, &settings, &order, server, tool, Transport::InProcess);
                    return record.finish(Ended::failed(error), started.elapsed(), 0);
                }
            }
        }
        if tool.name == CURRENT_TIME {
            let record =
                Record::begin(&self.ports, &settings, &order, "chatos", CURRENT_TIME, Transport::InProcess);
            return record.finish(answer::current_time(order.lang), started.elapsed(), 0);
        }
        if tool.name == READ_RESULT {
            let record =
                Record::begin(&self.ports, &settings, &order, "chatos", READ_RESULT, Transport::InProcess);
            let read = self.ports.read_result(order.trace.clone(), order.arguments.clone()).await;
            let ended = match read {
                Ok((text, data)) => Ended::text(text, Some(data)),
                Err(error) => Ended::failed(error),
            };
            return record.finish(ended, started.elapsed(), 0);
        }
        if let FIND_TOOLS | CALL_TOOL = tool.name.as_str() {
            let record =
                Record::begin(&self.ports, &settings, &order, "chatos", &tool.name, Transport::InProcess);
            let ended = match tool.name.as_str() {
                FIND_TOOLS => found::find_tools(set, &order.arguments),
                _ => found::call_tool(),
            };
            return record.finish(ended, started.elapsed(), 0);
        }
        if let LIST_RESOURCES | READ_RESOURCE = tool.name.as_str() {
            let record =
                Record::begin(&self.ports, &settings, &order, "chatos", &tool.name, Transport::InProcess);
            let done = async {
                match tool.name.as_str() {
                    LIST_RESOURCES => resources::list(self.ports.pool(), set, &order.arguments).await,
                    _ => resources::read(self.ports.pool(), set, &order.arguments).await,
                }
            };
            let ended = tokio::select! {
                ended = done => ended,
                () = order.cancel.cancelled() => Ended::failed(canceled()),
            };
            return record.finish(ended, started.elapsed(), 0);
        }
        let Some(route) = set.route(&tool.identity) else {
            let record =
                Record::begin(&self.ports, &settings, &order, &tool.server, &tool.tool, Transport::InProcess);
            return record.finish(Ended::failed(unknown(set, &tool.name)), started.elapsed(), 0);
        };
        let call = Call {
            ports: &self.ports,
            tool,
            route,
            order,
            observer,
            settings,
            started,
            waits: Arc::default(),
            changed: None,
        };
        let (readable, server) = (resources::are_readable(set, route), route.name.clone());
        // A call holds what every road needs; on the heap it costs its caller a pointer.
        let mut end = Box::pin(call.run()).await;
        if readable {
            resources::name_links(&mut end, &server);
        }
        end
    }
}

/// A call that ends before it begins.
struct Refused {
    server: String,
    tool: String,
    error: ToolError,
}

/// agents §4 step 8: exactly this pair, or a refusal that says which.
fn look_up<'a>(set: &'a Toolset, wanted: &ToolRef) -> Result<&'a GrantedTool, Refused> {
    let (name, server, tool) = match wanted {
        ToolRef::Name(name) => (Some(name.as_str()), None, name.clone()),
        ToolRef::Direct { server, tool } => (set.name_of(server, tool), Some(server.clone()), tool.clone()),
    };
    if let Some(name) = name {
        if let Some(granted) = set.get(name) {
            return Ok(granted);
        }
        if let Some(refused) = set.refused(name) {
            let rule = match refused.code {
                "tool_changed" | "tool_new" => DenyRule::ToolNotApproved,
                "untrusted" => DenyRule::Untrusted,
                _ => DenyRule::LandConfig,
            };
            let error = ToolError::denied(rule, refused.why.clone())
                .data(serde_json::json!({ "code": refused.code }));
            return Err(Refused { server: refused.server.clone(), tool: refused.tool.clone(), error });
        }
    }
    let error = unknown(set, name.unwrap_or(&tool));
    Err(Refused { server: server.unwrap_or_default(), tool, error })
}

fn unknown(set: &Toolset, name: &str) -> ToolError {
    let nearest = set.nearest(name);
    let error = ToolError::new(
        Reason::NotFound {
            what: "tool".to_owned(),
            id: Some(name.to_owned()),
            path: None,
            nearest: nearest.clone(),
        },
        Text::new(format!("there is no tool `{name}`"), format!("没有工具 `{name}`")),
    );
    match nearest.first() {
        None => error,
        Some(_) => {
            let list = nearest.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            error.hint(Text::new(format!("did you mean {list}?"), format!("是否指 {list}？")))
        }
    }
}

impl Call<'_> {
    async fn run(self) -> CallEnd {
        // The card of a long call can be left; its result comes into the queue then (mcp "tasks").
        let soft = self.settings.soft_deadline;
        let (observer, waits) = (Arc::clone(&self.observer), Arc::clone(&self.waits));
        let (ports, asker) = (Arc::clone(self.ports), self.asker());
        let (tool, call_id) = (self.tool.tool.clone(), self.order.call_id.clone());
        let alone = self.order.to_queue;
        let work = self.work();
        tokio::pin!(work);
        // A person who thinks is not work: that time does not count.
        let mut left = soft;
        let early = loop {
            tokio::select! {
                biased;
                end = &mut work => break Some(end),
                () = tokio::time::sleep(left) => left = waits.left(soft),
            }
            if left.is_zero() {
                break None;
            }
        };
        let end = match early {
            Some(end) => end,
            None => {
                let elapsed_ms = answer::millis(soft);
                observer.background(elapsed_ms);
                let server = &asker.server;
                ports.event(ToolEvent::Background { call_id: &call_id, server, tool: &tool, elapsed_ms });
                work.await
            }
        };
        if waits.is_for_the_queue(&end, alone, soft) {
            questions::deliver(&ports, &asker, &tool, &end).await;
        }
        end
    }

    async fn work(self) -> CallEnd {
        match &self.route.road {
            Road::Own | Road::BuiltIn => self.built_in().await,
            Road::Pool(key) => {
                let key = key.clone();
                Box::pin(self.over_the_pool(&key)).await
            }
        }
    }
}

impl Call<'_> {
    /// Names the call among all: ids of models are their own only within a run.
    fn key(&self) -> String {
        call_key(self.order.trace.run_id.as_deref(), &self.order.call_id)
    }

    /// What hooks need to know of a call on its way.
    fn context(&self) -> CallContext {
        CallContext {
            key: self.key(),
            trace: self.order.trace.clone(),
            workdir: self.order.workdir.clone(),
            lang: self.order.people,
            sampling: self.tool.sampling,
            observer: Arc::clone(&self.observer),
        }
    }
}

/// Names a call among all those of this host.
pub fn call_key(run_id: Option<&str>, call_id: &str) -> String {
    match run_id {
        Some(run) => format!("{run}/{call_id}"),
        None => call_id.to_owned(),
    }
}

fn canceled() -> ToolError {
    ToolError::canceled(CanceledBy::Caller)
}

#[cfg(test)]
mod tests;
