//! The built-in servers inside the host: one layer on the host's store, settings and queue, called by
//! people through the API and by agents (tools §16.1).

mod client_root;
mod hand;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_agent::{BuiltInCall, CallState, Registered, Running};
use chatos_asking::DeskQueue;
use chatos_builtin::{find_server, nearest_server, server_names};
use chatos_events::Notice;
use chatos_layer::{
    Access, CallRequest, Caller, Layer, LayerParts, ProgressReport, ProgressSink, Reply, Root, Server,
    ServerEnv, SettingsSource, StoreHandle, ToolLog, ToolSettings,
};
use chatos_mcp::Progress;
use chatos_policy::Role;
use chatos_prompts::RequestId;
use chatos_records::{ToolLogFilter, ToolLogPage};
use chatos_settings::Settings;
use chatos_tool::{Envelope, ErrorCode, Fault, Lang, Text, Transport};
use chatos_wire::Severity;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::CallParts;
use crate::whole::whole;

/// How long calls may take to end when the host stops (tools §16.2).
const PATIENCE: Duration = Duration::from_secs(3);

/// The built-in servers of one host, and the calls of all servers that are on their way.
pub struct Tools {
    layer: Arc<Layer>,
    env: ServerEnv,
    servers: Mutex<BTreeMap<&'static str, Arc<Server>>>,
    running: Running,
    log: PathBuf,
}

/// One call by hand or by an agent.
#[derive(Debug, Clone, Default)]
pub struct ToolCall {
    /// Name or identity of the server that has the tool.
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// Arguments of the tool; none counts as an empty object.
    pub arguments: Option<Value>,
    /// `_meta` of the call.
    pub meta: Map<String, Value>,
    /// Names the chat for fair queueing.
    pub session: String,
    /// The directory it works in; empty = the host's project, or none for another program.
    pub root: PathBuf,
    /// It is made for another program: never in the host's project by accident (other-agents §3.2).
    pub for_client: bool,
    /// Names the call in the log and for cancelling; made up when absent.
    pub call_id: Option<String>,
    /// Call as this agent would; a person may use everything otherwise.
    pub agent: Option<String>,
    /// The question this call asked before the host stopped.
    pub resume: Option<String>,
    /// The language of texts.
    pub lang: Lang,
    /// Tell in the answer what was sent, and when.
    pub trail: bool,
}

impl Tools {
    pub(crate) fn new(parts: &Arc<CallParts>) -> Self {
        let state = parts.dir.path();
        let log = log_of(parts);
        let notices = parts.notices.clone();
        let warn = move |path: &Path, error: &std::io::Error| {
            tracing::warn!(%error, path = %path.display(), "the tool log cannot be written");
            notices.add(Notice {
                code: "tool_log_failed".to_owned(),
                severity: Severity::Warning,
                message: Text::new(
                    format!("the tool log cannot be written ({error}): {}", path.display()),
                    format!("无法写入工具日志（{error}）：{}", path.display()),
                ),
                hint: Some(Text::fixed(
                    "tools go on working; free some space or correct the permissions",
                    "工具仍可使用；请释放空间或修正权限",
                )),
            });
        };
        let running = Running::default();
        let layer = Layer::new(LayerParts {
            settings: Arc::new(HostSettings { settings: parts.settings.clone(), last: Mutex::default() }),
            log: Some(ToolLog::new(log.clone(), Box::new(warn))),
            redactor: Arc::clone(&parts.redactor),
            queue: Arc::new(DeskQueue::new(Arc::new(parts.inbox.clone()))),
            observer: Arc::new(watch::Told {
                events: parts.events.clone(),
                running: running.clone(),
                runs: Arc::clone(&parts.runs),
            }),
        });
        let env = ServerEnv {
            extracts: parts.own_program.clone(),
            state_dir: Some(state.to_owned()),
            // Plugins, built-in ones included, lie inside the state directory.
            protected: [
                Some(state.to_owned()),
                Some(parts.places.key_dir.clone()),
                parts.places.legacy_dir.clone(),
            ]
            .into_iter()
            .flatten()
            .collect(),
            store: StoreHandle::open(parts.store.clone()),
            write: true,
            variables: Arc::new(parts.environment.variables().clone()),
            host_app: parts.places.host_app.clone(),
            subagents: parts.runs.subagents(),
            ..ServerEnv::default()
        };
        Self { layer: Arc::new(layer), env, servers: Mutex::default(), running, log }
    }

    /// What a command of a project could touch and why, without running it. Blocks.
    pub fn explain_command(
        &self,
        root: &std::path::Path,
        command: &str,
        lang: Lang,
    ) -> Result<chatos_shell::Explained, Fault> {
        let settings = self.layer.settings();
        chatos_shell::explain(&chatos_shell::ShellHome::of(&self.env), &settings, root, command, lang)
    }

    /// The server of this name.
    pub fn server(&self, name: &str) -> Result<Arc<Server>, Fault> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = servers.get(name) {
            return Ok(Arc::clone(server));
        }
        let Some(server) = find_server(name, &self.env) else {
            let fault = Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("there is no server `{name}`"), format!("没有服务 `{name}`")),
            );
            return Err(fault.hint(match nearest_server(name) {
                Some(near) => Text::new(format!("did you mean `{near}`?"), format!("是否指 `{near}`？")),
                None => {
                    Text::fixed("`chatos tools list` shows all of them", "`chatos tools list` 会列出全部")
                }
            }));
        };
        let server = Arc::new(server);
        servers.insert(server.info().name, Arc::clone(&server));
        Ok(server)
    }

    /// Every server with its tools; with schemas when `whole`.
    pub fn list(&self, lang: Lang, whole: bool) -> Result<Vec<Value>, Fault> {
        server_names().map(|name| Ok(describe(&*self.server(name)?, lang, whole))).collect()
    }

    /// One server with the whole definitions of its tools.
    pub fn describe(&self, name: &str, lang: Lang) -> Result<Value, Fault> {
        Ok(describe(&*self.server(name)?, lang, true))
    }

    /// A call of a built-in server, through its layer.
    pub(crate) async fn run(&self, call: BuiltInCall) -> Result<Envelope, Fault> {
        let server = self.server(&call.server)?;
        let mut meta = call.meta;
        // tools §4: in process the root is the chat's workspace root.
        meta.remove("workdir");
        meta.insert("chatos.lang".to_owned(), Value::from(call.lang.as_str()));
        meta.insert("chatos.peopleLang".to_owned(), Value::from(call.people.as_str()));
        let root = root_of(&server, &call.workdir)?;
        let closed = CancellationToken::new();
        let gone = closed.clone().drop_guard();
        let access = if call.ask {
            let tool = [call.tool.clone()].into_iter().collect();
            Access::Listed { allow: std::collections::BTreeSet::new(), ask: tool }
        } else {
            Access::All
        };
        let request = CallRequest {
            tool: call.tool,
            arguments: Some(Value::Object(call.arguments)),
            meta,
            transport: Transport::InProcess,
            session: if call.session.is_empty() { "api".to_owned() } else { call.session },
            access: Arc::new(access),
            caller: match call.role {
                Role::Main => Caller::Main,
                Role::Sub => Caller::Subagent,
            },
            root,
            cancel: call.cancel,
            closed,
            progress: Some(Arc::new(Told(call.progress))),
            elicitor: None,
            resume: None,
            asked: call.asked.as_deref().and_then(|id| RequestId::parse(id).ok()),
            approved: call.approved.as_deref().and_then(|id| RequestId::parse(id).ok()),
            together: call.together,
            client: None,
            batch: None,
        };
        let layer = Arc::clone(&self.layer);
        // Whole, so that a caller who goes away leaves a call that ends in order and is logged.
        let ended = whole(async move {
            let called = layer.call(&server, request).await;
            called.map_err(|unknown| unknown_tool(&server, &unknown.name, unknown.nearest))
        });
        let ended = ended.await;
        drop(gone.disarm());
        match ended?? {
            Reply::Done(envelope) => Ok(*envelope),
            Reply::InputRequired(_) | Reply::AskClient(_) | Reply::MissingCapability(_) => {
                Err(Fault::new(ErrorCode::Internal, Text::same("a call without a client asked its client")))
            }
        }
    }

    /// Folders no tool works in: the state, the keys and the plugins.
    pub(crate) fn protected(&self) -> &[PathBuf] {
        &self.env.protected
    }

    /// What every call of a built-in server goes through, and the one writer of the tool log.
    pub(crate) fn layer(&self) -> &Arc<Layer> {
        &self.layer
    }

    pub(crate) fn register(&self, call_id: &str, cancel: &CancellationToken) -> Result<Registered, Fault> {
        self.running.register(call_id, cancel)
    }

    /// Asks a running call to stop; `false` when there is none of this id.
    pub fn cancel(&self, call_id: &str) -> bool {
        self.running.cancel(call_id)
    }

    /// How a call by hand stands, as soon as it asked more than `after` questions or ended, or after `limit`.
    pub async fn call_state(
        &self,
        call_id: &str,
        after: usize,
        said: Option<usize>,
        limit: Duration,
    ) -> CallState {
        self.running.state(call_id, after, said, limit).await
    }

    /// A call says how far it is, or what it waits for.
    pub(crate) fn call_says(&self, call_id: &str, progress: &Progress) {
        let count = (progress.progress, progress.total);
        self.running.says(call_id, progress.message.as_deref(), Some(count));
    }

    /// A call waits for the answer to this question.
    pub(crate) fn call_waits(&self, call_id: &str, request_id: &str) {
        self.running.waits(call_id, request_id);
    }

    /// Follows the tool log and changes by other processes until the host stops.
    pub(crate) fn tend(&self, parts: &CallParts) {
        let stop = parts.life.stop();
        let task = chatos_records::follow_tool_log(self.log.clone(), parts.events.clone(), stop.clone());
        parts.life.spawn(Box::pin(task));
        let task =
            watch::others(parts.store.clone(), parts.settings.clone(), parts.events.clone(), stop.clone());
        parts.life.spawn(Box::pin(task));
    }

    /// A page of the tool log, newest first.
    pub fn log(&self, filter: &ToolLogFilter) -> Result<ToolLogPage, Fault> {
        chatos_records::read_tool_log(&self.log, filter)
    }

    /// Ends all calls and what they left behind.
    pub(crate) async fn close(&self) {
        self.layer.close(PATIENCE).await;
    }
}

/// Where calls of tools are logged.
fn log_of(parts: &CallParts) -> PathBuf {
    match parts.environment.get("MODEL_CLI_MCP_TOOL_LOG") {
        Some(path) => parts.environment.current_dir().join(path),
        None => parts.dir.path().join("tool-log.jsonl"),
    }
}

fn root_of(server: &Server, chosen: &Path) -> Result<Option<Arc<Root>>, Fault> {
    if !server.info().needs_root {
        return Ok(None);
    }
    let root = Root::open(chosen).map_err(|error| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("the root directory cannot be opened: {}", chosen.display()),
                format!("无法打开根目录：{}", chosen.display()),
            ),
        )
        .caused_by(&error)
        .hint(Text::fixed("name an existing directory", "请指定已存在的目录"))
    })?;
    Ok(Some(Arc::new(root)))
}

fn unknown_tool(server: &Server, name: &str, nearest: Option<&str>) -> Fault {
    let own = server.info().name;
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("`{own}` has no tool `{name}`"), format!("`{own}` 没有工具 `{name}`")),
    )
    .hint(match nearest {
        Some(near) => Text::new(format!("did you mean `{near}`?"), format!("是否指 `{near}`？")),
        None => Text::new(
            format!("`chatos tools show {own}` lists its tools"),
            format!("`chatos tools show {own}` 会列出其工具"),
        ),
    })
}

fn describe(server: &Server, lang: Lang, whole: bool) -> Value {
    let info = server.info();
    let tools: Vec<Value> = server
        .definitions(&Access::All, lang)
        .into_iter()
        .map(|mut tool| {
            if let Some(map) = tool.as_object_mut() {
                let chatos = map.remove("_meta").map(|mut meta| meta["chatos"].take()).unwrap_or_default();
                map.insert("confirm".to_owned(), chatos["confirm"].clone());
                map.insert("version".to_owned(), chatos["version"].clone());
                if !whole {
                    map.remove("inputSchema");
                    map.remove("outputSchema");
                }
            }
            tool
        })
        .collect();
    json!({
        "name": info.name,
        "id": info.id,
        "title": info.title.get(lang),
        "instructions": info.instructions.get(lang),
        "needsRoot": info.needs_root,
        "tools": tools,
    })
}

/// The host's settings, read again only when they changed.
struct HostSettings {
    settings: Settings,
    last: Mutex<Option<(u64, Arc<ToolSettings>)>>,
}

impl SettingsSource for HostSettings {
    fn current(&self) -> Arc<ToolSettings> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = self.settings.revision();
        if let Some((known, settings)) = &*last
            && *known == revision
        {
            return Arc::clone(settings);
        }
        let settings = Arc::new(ToolSettings::read(&self.settings));
        *last = Some((revision, Arc::clone(&settings)));
        settings
    }
}

/// Progress of one call on its way to the dispatcher.
struct Told(mpsc::Sender<Progress>);

impl ProgressSink for Told {
    fn send(&self, report: ProgressReport) {
        let progress = Progress {
            progress: report.progress,
            total: report.total,
            message: Some(report.message).filter(|message| !message.is_empty()),
            meta: report.detail,
        };
        // A caller that does not read loses reports, never time.
        if self.0.try_send(progress).is_err() {
            tracing::trace!("a progress report was dropped");
        }
    }
}
