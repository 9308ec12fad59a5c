//! `chatos gateway`: everything an agent may use as one MCP server, so that other programs get the tools of
//! apps and servers while their confirmations land in this machine's queue.
//!
//! The tools and calls are the host's, through its API; the protocol is that of every built-in server.

use std::collections::HashMap;
use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_host::{Beside, BesideSettings};
use chatos_layer::{
    Access, BoxFuture, Endpoint, EndpointOptions, Layer, LayerParts, Nobody, ProgressReport, ProgressSink,
    Relay, RelayedCall, Server, ServerInfo,
};
use chatos_paths::Environment;
use chatos_prompts::RequestId;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use hyper::Method;
use serde_json::{Map, Value, json};

use super::client_folder::ClientFolder;
use super::{Queue, http, ready, watch_signals};
use crate::args::{Gateway, Global, Mcp};
use crate::client::{Api, CallNews, encode};
use crate::output::{Output, usage_fault};

/// What the gateway says about itself; its tools are the host's.
static INFO: ServerInfo = ServerInfo {
    name: "chatos",
    id: "chatos",
    title: Text::fixed("Everything an agent of ChatOS may use", "ChatOS 智能体可用的全部工具"),
    instructions: Text::fixed(
        "These are the tools of a ChatOS agent. Some calls wait until the person at that machine agrees.",
        "这些是 ChatOS 智能体的工具。部分调用会等待该机器上的用户同意。",
    ),
    needs_root: false,
    slots: 64,
    waits_hold_slot: false,
};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Gateway,
) -> Result<ExitCode, Fault> {
    chatos_host::log_to_stderr(global.verbose);
    let serving = options.serving();
    let beside =
        Beside::find(environment.clone(), global.state_dir.clone(), std::collections::BTreeMap::new())?;
    if let Err(fault) = http::check(&serving, &beside) {
        return Ok(usage_fault(output, &fault));
    }
    let folder = ClientFolder::new(&environment, global, options, beside.state_dir())?;
    let api = Arc::new(Api::connect(global, environment)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot start the runtime", "无法启动运行环境"))
            .caused_by(&error)
    })?;
    let relay = ApiRelay {
        api: Arc::clone(&api),
        agent: options.agent.clone(),
        lang: output.lang,
        folder,
        names: Mutex::default(),
    };
    let served = runtime.block_on(async {
        let served = serve(output, &serving, relay, &beside).await;
        api.finish().await;
        served
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
    beside.close();
    served
}

async fn serve(
    output: &Output,
    options: &Mcp,
    relay: ApiRelay,
    beside: &Arc<Beside>,
) -> Result<ExitCode, Fault> {
    // Found out now, so that a wrong agent is an error of the command and not of the first client.
    relay.tools(output.lang).await?;
    let stop = watch_signals()?;
    let redactor = Arc::new(chatos_layer::Redactor::new());
    let layer = Layer::new(LayerParts {
        settings: Arc::new(BesideSettings::new(beside)),
        log: None,
        redactor: Arc::clone(&redactor),
        queue: Arc::new(Queue::new(Arc::clone(beside), redactor)),
        observer: Arc::new(Nobody),
    });
    let endpoint = Endpoint::new(
        Server::new(&INFO),
        Arc::new(layer),
        EndpointOptions {
            name: options.shown_name.clone(),
            version: chatos_host::VERSION.to_owned(),
            access: Access::All,
            root: None,
        },
    );
    let endpoint = Arc::new(endpoint.relaying(Arc::new(relay)));
    if let Some(address) = options.http {
        return http::serve(output, options, endpoint, address, beside, stop).await;
    }
    ready(output, &Text::fixed("the gateway is ready (stdio)", "网关已就绪（stdio）"));
    Box::pin(chatos_layer::serve_stdio(endpoint, stop)).await.map_err(|error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("cannot use standard input and output", "无法使用标准输入输出"),
        )
        .caused_by(&error)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Tools and calls of an agent, through the API.
struct ApiRelay {
    api: Arc<Api>,
    agent: String,
    /// The language of what its calls say.
    lang: Lang,
    /// Where calls work.
    folder: ClientFolder,
    /// The name a client knows, with the server and the tool it stands for.
    names: Mutex<HashMap<String, (String, String)>>,
}

impl ApiRelay {
    async fn list(&self, lang: Lang) -> Result<Vec<Value>, Fault> {
        let path = format!("/api/v1/tools?agent={}", encode(&self.agent));
        let listed = self.api.call_patiently(Method::GET, &path, None, lang).await?;
        let granted: Vec<&Value> =
            listed["tools"].as_array().into_iter().flatten().filter(|tool| tool["granted"] == true).collect();
        let text = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_owned();
        let names = granted
            .iter()
            .map(|tool| (text(tool, "name"), (text(tool, "identity"), text(tool, "tool"))))
            .collect();
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = names;
        Ok(granted
            .iter()
            .map(|tool| {
                json!({
                    "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"],
                })
            })
            .collect())
    }

    /// Sends on what a call says of itself, for as long as it is waited for.
    async fn pass_on(&self, call_id: &str, sink: Option<&dyn ProgressSink>) -> Infallible {
        let Some(sink) = sink else { return std::future::pending().await };
        let mut said = 0;
        loop {
            // Its questions are the host's to ask.
            let news = self.api.call_news(call_id, u32::MAX as usize, said, self.lang).await;
            if let CallNews::Says(message, count) = news {
                said = count;
                sink.send(ProgressReport { progress: count as f64, total: None, message, detail: None });
            }
        }
    }

    fn find(&self, name: &str) -> Option<(String, String)> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

impl Relay for ApiRelay {
    fn tools(&self, lang: Lang) -> BoxFuture<'_, Result<Vec<Value>, Fault>> {
        Box::pin(self.list(lang))
    }

    fn asks_roots(&self) -> bool {
        self.folder.asks_roots()
    }

    fn call(&self, call: RelayedCall) -> BoxFuture<'_, Result<Value, Fault>> {
        Box::pin(async move {
            if self.find(&call.tool).is_none() {
                self.list(Lang::En).await?;
            }
            let Some((server, tool)) = self.find(&call.tool) else {
                let name = &call.tool;
                return Err(Fault::new(
                    ErrorCode::NotFound,
                    Text::new(format!("unknown tool `{name}`"), format!("未知的工具 `{name}`")),
                ));
            };
            // Of what a client says about its call only where it belongs is taken over.
            let mut meta = Map::new();
            if let Some(parent) = call.meta.get("traceparent") {
                meta.insert("traceparent".to_owned(), parent.clone());
            }
            let call_id = RequestId::mint().to_string();
            let body = json!({
                "callId": call_id, "server": server, "tool": tool, "arguments": call.arguments, "agent": self.agent, "meta": meta,
                "session": format!("gateway:{}", call.session), "forClient": true,
                "root": self.folder.of(&call.roots),
            });
            let sent = self.api.call_patiently(Method::POST, "/api/v1/tools/call", Some(&body), self.lang);
            let mut result = tokio::select! {
                result = sent => result?,
                never = self.pass_on(&call_id, call.progress.as_deref()) => match never {},
                () = call.cancel.cancelled() => {
                    return Err(Fault::new(ErrorCode::Canceled, Text::fixed("canceled", "已取消")));
                }
            };
            if let Some(result) = result.as_object_mut() {
                result.remove("callId");
                result.remove("_meta");
            }
            Ok(result)
        })
    }
}
