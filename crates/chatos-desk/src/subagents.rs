//! Subagents of a server in its own process: they run in the host, which is asked over its API (servers §9).
//! Without a host there are none.

use std::path::Path;
use std::sync::Arc;

use chatos_layer::{BoxFuture, Needed, SubDone, SubOrder, SubagentRunner, ToolError, Trace};
use chatos_prompts::RequestId;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::subagent::SubPlugin;
use hyper::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{Beside, HostApi, encode};

/// The runner of a host that may come and go.
pub struct HostSubagents(Arc<Beside>);

impl HostSubagents {
    /// The runner of whichever host serves this state.
    pub fn new(beside: Arc<Beside>) -> Self {
        Self(beside)
    }

    async fn api(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ToolError> {
        let beside = Arc::clone(&self.0);
        let host = chatos_blocking::run(move || beside.running()).await.ok().flatten();
        let Some(host) = host else {
            let text =
                Text::fixed("subagents run in a host, and none is running", "子智能体需要运行中的主机");
            return Err(ToolError::unavailable(Needed::Host, text)
                .hint(Text::fixed("start `chatos serve`", "请启动 `chatos serve`")));
        };
        HostApi::new(host).call(method, path, body, Lang::En).await.map_err(failed)
    }

    /// Calls a tool of the host's own router; gives its envelope.
    async fn call(&self, tool: &str, arguments: &Value, root: Option<&Path>) -> Result<Value, ToolError> {
        let id = RequestId::mint().to_string();
        let body = json!({
            "server": "subagent_router", "tool": tool, "arguments": arguments, "callId": id, "root": root,
        });
        let ends = Cancel { beside: Arc::clone(&self.0), call: Some(id) };
        let done = self.api(Method::POST, "/api/v1/tools/call", Some(&body)).await;
        ends.disarm();
        Ok(done?["structuredContent"].take())
    }

    /// The data of an envelope, or its error.
    async fn data(&self, tool: &str, arguments: &Value, root: Option<&Path>) -> Result<Value, ToolError> {
        let mut envelope = self.call(tool, arguments, root).await?;
        match failure(&envelope) {
            None => Ok(envelope["data"].take()),
            Some((_, message)) => Err(ToolError::unavailable(Needed::Host, message)),
        }
    }
}

fn failed(fault: Fault) -> ToolError {
    let mut error = ToolError::unavailable(Needed::Host, fault.message);
    error.hint = fault.hint;
    error
}

fn failure(envelope: &Value) -> Option<(ErrorCode, Text)> {
    let error = envelope.get("error").filter(|error| error.is_object())?;
    let code = match envelope["code"].as_str().unwrap_or_default() {
        "rate_limited" => ErrorCode::RateLimited,
        "resource_exhausted" => ErrorCode::ResourceExhausted,
        "canceled" => ErrorCode::Canceled,
        _ => ErrorCode::Unavailable,
    };
    Some((code, Text::same(error["message"].as_str().unwrap_or("the subagent failed").to_owned())))
}

fn arguments(order: &SubOrder) -> Value {
    let mut arguments =
        json!({ "task": order.task, "agent_id": format!("{}/{}", order.plugin, order.agent_id) });
    let model = order.models.first();
    for (name, value) in [
        ("command_id", order.command_id.as_ref().map(|id| json!(id))),
        ("skills", (!order.skills.is_empty()).then(|| json!(order.skills))),
        ("model", model.map(|model| json!(model))),
        ("caller_model", order.caller_model.as_ref().map(|model| json!(model))),
        ("mcp_allow_prefixes", order.mcp_allow_prefixes.as_ref().map(|list| json!(list))),
        ("dedupe_key", order.dedupe_key.as_ref().map(|key| json!(key))),
    ] {
        if let Some(value) = value {
            arguments[name] = value;
        }
    }
    arguments
}

impl SubagentRunner for HostSubagents {
    fn catalogue(&self, _: &Trace) -> BoxFuture<'_, Result<Vec<SubPlugin>, ToolError>> {
        Box::pin(async move {
            let mut list = self.api(Method::GET, "/api/v1/subagents", None).await?;
            let all: Vec<SubPlugin> = serde_json::from_value(list["plugins"].take()).map_err(|_| {
                ToolError::unavailable(
                    Needed::Host,
                    Text::fixed("the host is of another version", "主机版本不一致"),
                )
            })?;
            Ok(all.into_iter().filter(|plugin| plugin.enabled).collect())
        })
    }

    fn run(
        &self,
        order: SubOrder,
        _: Trace,
        _: String,
        _: mpsc::UnboundedSender<Value>,
    ) -> BoxFuture<'_, Result<SubDone, ToolError>> {
        Box::pin(async move {
            let mut envelope = self.call("run_sub_agent", &arguments(&order), order.root.as_deref()).await?;
            let failed = failure(&envelope);
            let data = envelope["data"].take();
            let response = data["response"].as_str().unwrap_or_default().to_owned();
            Ok(SubDone { data, response, failed })
        })
    }

    fn prefer(&self, _: String, _: Vec<(String, String)>, _: Trace) -> BoxFuture<'_, Option<(String, f64)>> {
        // The words decide here; models are the host's.
        Box::pin(async { None })
    }

    fn start(&self, order: SubOrder, _: Trace, _: String) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            self.data("start_sub_agent_async", &arguments(&order), order.root.as_deref()).await
        })
    }

    fn status(&self, job_id: String, wait_ms: u64) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let asked = json!({ "job_id": job_id, "wait_ms": wait_ms });
            self.data("get_sub_agent_status", &asked, None).await
        })
    }

    fn cancel(&self, job_id: String) -> BoxFuture<'_, Result<(Value, bool), ToolError>> {
        Box::pin(async move {
            let mut envelope = self.call("cancel_sub_agent_job", &json!({ "job_id": job_id }), None).await?;
            match failure(&envelope) {
                None => Ok((envelope["data"].take(), envelope["status"] == "noop")),
                Some((_, message)) => Err(ToolError::unavailable(Needed::Host, message)),
            }
        })
    }
}

/// Withdraws a call whose caller is gone.
struct Cancel {
    beside: Arc<Beside>,
    call: Option<String>,
}

impl Cancel {
    fn disarm(mut self) {
        self.call = None;
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else { return };
        let beside = Arc::clone(&self.beside);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let host = chatos_blocking::run(move || beside.running()).await.ok().flatten();
            if let Some(host) = host {
                let path = format!("/api/v1/tools/calls/{}/cancel", encode(&call));
                // It may have ended meanwhile.
                HostApi::new(host).call(Method::POST, &path, Some(&json!({})), Lang::En).await.ok();
            }
        });
    }
}
