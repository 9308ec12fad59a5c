//! An editor drives an agent of ours over the Agent Client Protocol: one JSON message a line on standard input and
//! output. What the messages say is in [`chatos_foreign::acp`].
//!
//! Chats, runs and questions are the host's: an editor that goes away leaves a run that goes on, and a question is
//! answered in the inbox, never by the program that asked.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_foreign::acp;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::{self, Clients};
use crate::line::{PATIENCE, away, is_lost};
use crate::{Line, encode};

/// Largest message of an editor.
const MAX_LINE: u64 = 32 << 20;
/// How long one look for events stays open.
const WAIT_MS: u32 = 20_000;
/// How long a host that restarts is waited for.
const BRIEFLY: Duration = Duration::from_secs(3);
/// Chats of one page of a list.
const PAGE: usize = 50;

/// An error of JSON-RPC.
struct Refusal(i64, String);

impl Refusal {
    fn wrong(text: &str) -> Self {
        Self(acp::INVALID_PARAMS, text.to_owned())
    }
}

/// One editor and the chats it has open.
pub struct Editor {
    line: Line,
    agent: Option<String>,
    /// How long a request waits for a host.
    patience: Duration,
    lang: Lang,
    /// Chats this editor has open, with their folders.
    roots: Mutex<HashMap<String, PathBuf>>,
    /// What was chosen for the thinking of a chat's model; it goes with each message.
    efforts: Mutex<HashMap<String, String>>,
    /// What the editor calls itself, and its version.
    name: Mutex<(String, String)>,
    /// Names this connection.
    id: String,
    clients: Clients,
    out: mpsc::Sender<Value>,
}

/// Threads of their own: the streams of a process block.
fn streams(mut written: mpsc::Receiver<Value>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, lines) = mpsc::channel(64);
    let read = move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let got = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line);
            if !matches!(got, Ok(1..)) || sender.blocking_send(line).is_err() {
                return;
            }
        }
    };
    let write = move || {
        let mut out = std::io::stdout();
        while let Some(message) = written.blocking_recv() {
            if writeln!(out, "{message}").and_then(|()| out.flush()).is_err() {
                // The editor is gone.
                return;
            }
        }
    };
    for (name, work) in
        [("editor in", Box::new(read) as Box<dyn FnOnce() + Send>), ("editor out", Box::new(write))]
    {
        if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(work) {
            tracing::error!(%error, name, "no thread for the editor");
        }
    }
    lines
}

async fn serve(editor: Arc<Editor>, mut lines: mpsc::Receiver<Vec<u8>>) {
    // What an editor began goes on in the host when it is gone.
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            Some(_) = tasks.join_next() => continue,
        };
        let Some(line) = line else { return };
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
                let refusal = Refusal(acp::NOT_JSON, "not JSON".to_owned());
                editor.reply(&Value::Null, Err(refusal)).await;
            }
            continue;
        };
        let editor = Arc::clone(&editor);
        tasks.spawn(async move { editor.take(&message).await });
    }
}

impl Editor {
    /// An editor on standard input and output, until it closes them. `agent`: whom it chats with. `serves`: a host is
    /// started where none is, so that it is worth waiting for.
    pub async fn serve(line: Line, agent: Option<String>, serves: bool, lang: Lang) {
        let (out, written) = mpsc::channel(256);
        let patience = if serves { PATIENCE } else { BRIEFLY };
        let editor = Self {
            line,
            agent,
            patience,
            lang,
            roots: Mutex::default(),
            efforts: Mutex::default(),
            name: Mutex::default(),
            id: format!("cl_{}", uuid::Uuid::now_v7()),
            clients: Clients::default(),
            out,
        };
        serve(Arc::new(editor), streams(written)).await;
    }

    async fn reply(&self, id: &Value, result: Result<Value, Refusal>) {
        let message = match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Refusal(code, text)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } })
            }
        };
        // An editor that is gone wants no answer.
        self.out.send(message).await.ok();
    }

    async fn tell(&self, session: &str, update: Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.out.send(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await.ok();
    }

    async fn take(&self, message: &Value) {
        let (id, params) = (message.get("id"), &message["params"]);
        let Some(method) = message["method"].as_str() else {
            // A reply to nothing we asked, or no message at all.
            return;
        };
        if method == "session/cancel" {
            let session = params["sessionId"].as_str().unwrap_or_default();
            let path = format!("/api/v1/sessions/{}/abort", encode(session));
            if let Err(Refusal(_, error)) = self.ask(Method::POST, &path, Some(&json!({}))).await {
                tracing::debug!(error, "there was nothing to stop");
            }
            return;
        }
        let Some(id) = id else { return };
        let result = match method {
            "initialize" => {
                let text = |key: &str| params["clientInfo"][key].as_str().unwrap_or_default().to_owned();
                *self.name.lock().unwrap_or_else(PoisonError::into_inner) = (text("name"), text("version"));
                Ok(acp::hello(chatos_host::VERSION))
            }
            "session/set_config_option" => self.set(params).await,
            "authenticate" | "session/set_mode" => Ok(json!({})),
            "session/new" => self.begin(params).await,
            "session/load" => self.load(params, true).await,
            "session/resume" => self.load(params, false).await,
            "session/list" => self.list(params).await,
            "session/close" => {
                let session = params["sessionId"].as_str().unwrap_or_default();
                self.roots.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
                Ok(json!({}))
            }
            "session/prompt" => self.prompt(params).await,
            other => Err(Refusal(acp::UNKNOWN_METHOD, format!("unknown method `{other}`"))),
        };
        self.reply(id, result).await;
    }

    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Refusal> {
        let refused = |fault: &Fault| {
            let code = if fault.class == ErrorCode::NotFound { acp::NOT_FOUND } else { acp::FAILED };
            Refusal(code, fault.message.get(self.lang).to_owned())
        };
        let Some(api) = self.line.host(Some(self.patience)).await else { return Err(refused(&away())) };
        api.call_patiently(method, path, body, self.lang).await.map_err(|fault| refused(&fault))
    }

    fn cwd(params: &Value) -> Result<&Path, Refusal> {
        let cwd = Path::new(params["cwd"].as_str().unwrap_or_default());
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(Refusal::wrong("cwd: an absolute path of a folder that exists is needed"));
        }
        Ok(cwd)
    }

    fn open(&self, session: &str, root: &Path) {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        roots.insert(session.to_owned(), root.to_owned());
    }

    /// Writes the editor down, with the folder it opened last.
    async fn note(&self, root: &Path) {
        let (name, version) = self.name.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut row = client::row(self.line.beside(), self.id.clone(), "acp_editor", (&name, &version));
        row.root = root.to_string_lossy().into_owned();
        "acp".clone_into(&mut row.root_from);
        row.agent = self.agent.clone().unwrap_or_else(|| "default".to_owned());
        self.clients.note(self.line.beside(), row).await;
    }

    /// What may be chosen for a chat now.
    async fn options(&self, session: &str) -> Result<Value, Refusal> {
        let path = format!("/api/v1/sessions/{}", encode(session));
        let chat = self.ask(Method::GET, &path, None).await?;
        let agents = self.ask(Method::GET, "/api/v1/agents", None).await?;
        let models = self.ask(Method::GET, "/api/v1/models", None).await?;
        let rows = |list: &Value| list["items"].as_array().cloned().unwrap_or_default();
        let words = match self.lang {
            Lang::En => acp::OptionWords {
                agent: "Agent",
                model: "Model",
                as_agent: "As the agent says",
                effort: "Thinking",
                as_model: "As the model says",
            },
            Lang::Zh => acp::OptionWords {
                agent: "智能体",
                model: "模型",
                as_agent: "由智能体决定",
                effort: "思考强度",
                as_model: "按模型设置",
            },
        };
        let effort = self.effort(session);
        Ok(json!(acp::config_options(&rows(&agents), &rows(&models), &chat, effort.as_deref(), words)))
    }

    /// How much the model of a chat is to think, where a person chose that here.
    fn effort(&self, session: &str) -> Option<String> {
        self.efforts.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }

    fn think(&self, session: &str, effort: &str) {
        let mut efforts = self.efforts.lock().unwrap_or_else(PoisonError::into_inner);
        if effort == acp::MODELS_EFFORT {
            efforts.remove(session);
        } else {
            efforts.insert(session.to_owned(), effort.to_owned());
        }
    }

    /// A person chose something for a chat.
    async fn set(&self, params: &Value) -> Result<Value, Refusal> {
        let text = |key: &str| params[key].as_str().unwrap_or_default();
        let (session, value) = (text("sessionId"), text("value"));
        let change = match text("configId") {
            "agent" => json!({ "agentId": value }),
            "model" if value == acp::AGENTS_MODEL => json!({ "modelId": "" }),
            "model" => json!({ "modelId": value }),
            "effort" => {
                let options = self.options(session).await?;
                let mut all = options.as_array().into_iter().flatten();
                let offered = all.find(|option| option["id"] == "effort").is_some_and(|option| {
                    option["options"].as_array().into_iter().flatten().any(|one| one["value"] == value)
                });
                if !offered {
                    return Err(Refusal::wrong("value: the model of this chat does not know it"));
                }
                self.think(session, value);
                return Ok(json!({ "configOptions": self.options(session).await? }));
            }
            other => return Err(Refusal::wrong(&format!("configId: there is no option `{other}`"))),
        };
        let path = format!("/api/v1/sessions/{}", encode(session));
        self.ask(Method::PATCH, &path, Some(&change)).await?;
        Ok(json!({ "configOptions": self.options(session).await? }))
    }

    /// Shows the tasks of a chat as its plan.
    async fn tell_plan(&self, session: &str) {
        let path = format!("/api/v1/tasks?sessionId={}&limit=50", encode(session));
        match self.ask(Method::GET, &path, None).await {
            Ok(list) => {
                let tasks = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
                self.tell(session, acp::plan(tasks)).await;
            }
            Err(Refusal(_, error)) => tracing::debug!(error, "the plan could not be read"),
        }
    }

    fn root(&self, session: &str) -> Option<PathBuf> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }

    async fn begin(&self, params: &Value) -> Result<Value, Refusal> {
        let cwd = Self::cwd(params)?;
        let mut order = json!({ "workspaceRoot": cwd });
        if let Some(agent) = &self.agent {
            order["agentId"] = json!(agent);
        }
        let made = self.ask(Method::POST, "/api/v1/sessions", Some(&order)).await?;
        let session = made["id"].as_str().unwrap_or_default().to_owned();
        self.open(&session, cwd);
        if params["mcpServers"].as_array().is_some_and(|servers| !servers.is_empty()) {
            let note = Text::fixed(
                "The MCP servers of the editor are not used; add them in ChatOS.",
                "未使用编辑器的 MCP 服务器；请在 ChatOS 中添加。",
            );
            let update = json!({
                "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": note.get(self.lang) },
            });
            self.tell(&session, update).await;
        }
        self.note(cwd).await;
        Ok(json!({ "sessionId": session, "configOptions": self.options(&session).await? }))
    }

    async fn load(&self, params: &Value, replays: bool) -> Result<Value, Refusal> {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let cwd = Self::cwd(params)?;
        let path = format!("/api/v1/sessions/{}", encode(session));
        self.ask(Method::GET, &path, None).await?;
        self.open(session, cwd);
        self.note(cwd).await;
        if replays {
            let page = self.ask(Method::GET, &format!("{path}/messages?limit=500"), None).await?;
            for message in page["messages"].as_array().into_iter().flatten() {
                for update in acp::replay(message, cwd) {
                    self.tell(session, update).await;
                }
            }
        }
        Ok(json!({ "configOptions": self.options(session).await? }))
    }

    async fn list(&self, params: &Value) -> Result<Value, Refusal> {
        let cursor = params["cursor"].as_str().map(|cursor| format!("&cursor={}", encode(cursor)));
        let path = format!("/api/v1/sessions?limit={PAGE}{}", cursor.unwrap_or_default());
        let page = self.ask(Method::GET, &path, None).await?;
        let wanted = params["cwd"].as_str();
        let rows = page["items"].as_array().into_iter().flatten();
        let rows = rows.filter(|row| wanted.is_none_or(|cwd| row["workspaceRoot"] == cwd)).map(|row| {
            json!({
                "sessionId": row["id"], "cwd": row["workspaceRoot"], "title": row["title"], "updatedAt": row["updatedAt"],
            })
        });
        let mut answer = json!({ "sessions": rows.collect::<Vec<_>>() });
        if let Some(next) = page["nextCursor"].as_str() {
            answer["nextCursor"] = json!(next);
        }
        Ok(answer)
    }

    /// One message and everything until its run is over.
    async fn prompt(&self, params: &Value) -> Result<Value, Refusal> {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let Some(root) = self.root(session) else {
            return Err(Refusal(acp::NOT_FOUND, format!("no session `{session}` is open here")));
        };
        let blocks = params["prompt"].as_array().map(Vec::as_slice).unwrap_or_default();
        let message = acp::message(blocks);
        if message.text.trim().is_empty() && message.attachments.is_empty() {
            return Err(Refusal::wrong("prompt: it is empty"));
        }
        let base = format!("/api/v1/sessions/{}", encode(session));
        let mut since =
            self.ask(Method::GET, &format!("{base}/events?since=0&waitMs=0"), None).await?["next"].clone();
        let effort = self.effort(session);
        let body = json!({ "text": message.text, "attachments": message.attachments, "effort": effort });
        let sent = self.ask(Method::POST, &format!("{base}/send"), Some(&body)).await?;
        let run = sent["runId"].as_str().unwrap_or_default().to_owned();
        let waiting = Text::fixed("Waiting for your answer in ChatOS:", "等待你在 ChatOS 中回答：");
        let mut planning = HashSet::new();
        loop {
            let path = format!("{base}/events?since={since}&waitMs={WAIT_MS}");
            let Some(api) = self.line.host(None).await else {
                return Err(Refusal(acp::FAILED, String::new()));
            };
            let page = match api.call_patiently(Method::GET, &path, None, self.lang).await {
                Ok(page) => page,
                Err(fault) if is_lost(&fault) => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    continue;
                }
                Err(fault) => return Err(Refusal(acp::FAILED, fault.message.get(self.lang).to_owned())),
            };
            since = page["next"].clone();
            let at = self.line.page();
            for event in page["events"].as_array().into_iter().flatten() {
                if let Some(update) = acp::update(event, &root, &at, waiting.get(self.lang)) {
                    self.tell(session, update).await;
                }
                if event["server"] == "task_manager" {
                    planning.insert(event["callId"].clone());
                }
                if event["type"] == "tool_result" && planning.remove(&event["message"]["toolCallId"]) {
                    self.tell_plan(session).await;
                }
                if event["runId"] != run.as_str() {
                    continue;
                }
                match acp::stop(event) {
                    Some(Ok(reason)) => return Ok(json!({ "stopReason": reason })),
                    Some(Err(text)) => return Err(Refusal(acp::FAILED, text)),
                    None => {}
                }
            }
            if page["resync"] == true
                && let Some(ended) = self.ended(&run).await?
            {
                return ended;
            }
        }
    }

    /// How a run stands after events were missed; `None` while it goes on.
    async fn ended(&self, run: &str) -> Result<Option<Result<Value, Refusal>>, Refusal> {
        let view = self.ask(Method::GET, &format!("/api/v1/runs/{}", encode(run)), None).await?;
        Ok(match view["state"].as_str().unwrap_or_default() {
            "done" => Some(Ok(json!({ "stopReason": "end_turn" }))),
            "aborted" => Some(Ok(json!({ "stopReason": "cancelled" }))),
            "failed" => Some(Err(Refusal(acp::FAILED, "the run failed".to_owned()))),
            "interrupted" => {
                let text = Text::fixed(
                    "ChatOS was restarted; continue the run in ChatOS",
                    "ChatOS 已重启；请在 ChatOS 中继续该运行",
                );
                Some(Err(Refusal(acp::FAILED, text.get(self.lang).to_owned())))
            }
            _ => None,
        })
    }
}
