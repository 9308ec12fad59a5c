//! `start_sub_agent_async`, `get_sub_agent_status`, `cancel_sub_agent_job`: for programs, not for models.

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Home;
use super::running::RunArgs;

static START: ToolSpec = ToolSpec {
    name: "start_sub_agent_async",
    title: Text::fixed("Start a subagent", "启动子智能体"),
    description: Text::fixed(
        "Starts a subagent and returns at once with a job id; get_sub_agent_status tells how it goes.",
        "启动子智能体并立即返回任务 ID；用 get_sub_agent_status 查看进展。",
    ),
    annotations: Annotations::of("D O"),
    confirm: Confirm::None,
    version: 1,
};

static STATUS: ToolSpec = ToolSpec {
    name: "get_sub_agent_status",
    title: Text::fixed("Show job status", "查看任务状态"),
    description: Text::fixed(
        "Tells the state of a job and its result once it is done. With wait_ms it returns when the state changes.",
        "返回任务状态，完成后给出结果。设置 wait_ms 时会在状态变化时返回。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

static CANCEL: ToolSpec = ToolSpec {
    name: "cancel_sub_agent_job",
    title: Text::fixed("Cancel a job", "取消任务"),
    description: Text::fixed(
        "Stops a job: its model request, its running tool and its open questions. A finished job stays as it is.",
        "停止任务：包括模型请求、正在运行的工具和未回答的问题。已完成的任务保持不变。",
    ),
    annotations: Annotations::of("D I"),
    confirm: Confirm::None,
    version: 1,
};

/// Starts.
pub(super) struct Start(pub(super) Home);

impl Tool for Start {
    type Args = RunArgs;
    type Data = Value;

    fn spec(&self) -> &'static ToolSpec {
        &START
    }

    async fn call(&self, args: RunArgs, cx: &CallCx) -> Result<Outcome<Value>, ToolError> {
        let order = self.0.order(args, cx).await?;
        let started = self.0.runner()?.start(order, cx.trace.clone(), cx.call_id.clone());
        let data = cx.unless_stopped(started).await??;
        let text = format!("started {}", data["job_id"].as_str().unwrap_or_default());
        Ok(Outcome::Ok(Body::new(data, text)))
    }
}

/// Tells.
pub(super) struct Status(pub(super) Home);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct StatusArgs {
    /// Id of the job
    #[schemars(length(min = 1, max = 64), extend("x-zh" = "任务 ID"))]
    job_id: String,
    /// Milliseconds to wait for a change
    #[serde(default)]
    #[schemars(range(min = 0, max = 60_000), extend("x-zh" = "等待变化的毫秒数"))]
    wait_ms: u64,
}

impl Tool for Status {
    type Args = StatusArgs;
    type Data = Value;

    fn spec(&self) -> &'static ToolSpec {
        &STATUS
    }

    async fn call(&self, args: StatusArgs, cx: &CallCx) -> Result<Outcome<Value>, ToolError> {
        let asked = self.0.runner()?.status(args.job_id, args.wait_ms);
        let data = cx.unless_stopped(asked).await??;
        let text = shown(&data);
        Ok(Outcome::Ok(Body::new(data, text)))
    }
}

/// The state of a job, and what came of it.
fn shown(data: &Value) -> String {
    let said = |pointer: &str| data.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut text = [said("/job_id"), said("/status")].into_iter().flatten().collect::<Vec<_>>().join(": ");
    for part in [said("/error/message"), said("/result/response")].into_iter().flatten() {
        text.push_str(&format!("\n{part}"));
    }
    text
}

/// Stops.
pub(super) struct Cancel(pub(super) Home);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CancelArgs {
    /// Id of the job
    #[schemars(length(min = 1, max = 64), extend("x-zh" = "任务 ID"))]
    job_id: String,
}

impl Tool for Cancel {
    type Args = CancelArgs;
    type Data = Value;

    fn spec(&self) -> &'static ToolSpec {
        &CANCEL
    }

    async fn call(&self, args: CancelArgs, cx: &CallCx) -> Result<Outcome<Value>, ToolError> {
        let asked = self.0.runner()?.cancel(args.job_id);
        let (data, over) = cx.unless_stopped(asked).await??;
        let text = shown(&data);
        let body = Body::new(data, text);
        Ok(if over { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}
