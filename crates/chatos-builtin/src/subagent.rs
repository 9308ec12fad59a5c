//! The server `subagent_router`: agents that an agent may start, found by what they are good at (servers §9).
//!
//! The catalogue is plain files; choosing is pure; running is the host's, behind [`SubagentRunner`].

mod asking;
mod catalogue;
mod choose;
mod jobs;
mod running;

use std::sync::Arc;

use chatos_tool::{Needed, Text, ToolError, Trace};
use chatos_wire::subagent::SubPlugin;
use serde_json::Value;

pub use catalogue::{built_in_subagents, read_subagents};
pub use choose::{Choice, Wanted, choose};

use crate::context::CallCx;
use crate::env::ServerEnv;
use crate::server::{Server, ServerInfo};
use crate::tool::BoxFuture;

/// `subagent_router`.
pub static INFO: ServerInfo = ServerInfo {
    name: "subagent_router",
    id: "36bb1921-66e8-4901-9739-2177349f5dd4",
    title: Text::fixed("Sub-agents", "子智能体"),
    instructions: Text::fixed(
        "Hands a self-contained task to another agent that works with its own context and reports back. Use \
         suggest_sub_agent to find one, run_sub_agent to run it. Give the whole task in one text: the other agent knows \
         nothing of this conversation. Sub-agents cannot start sub-agents.",
        "把一个独立的任务交给另一个智能体，它有自己的上下文，完成后汇报结果。用 suggest_sub_agent 寻找，用 run_sub_agent \
         运行。请在一段文字中写明完整任务：对方不了解当前对话。子智能体不能再启动子智能体。",
    ),
    needs_root: true,
    slots: 8,
    waits_hold_slot: false,
};

/// What to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of servers §9")]
pub struct SubOrder {
    pub task: String,
    pub plugin: String,
    pub agent_id: String,
    pub agent_name: String,
    pub command_id: Option<String>,
    pub skills: Vec<String>,
    /// In order; the first usable one is taken.
    pub models: Vec<String>,
    /// Where none of them and no setting names one.
    pub caller_model: Option<String>,
    /// Servers it is narrowed to; absent narrows nothing.
    pub mcp_allow_prefixes: Option<Vec<String>>,
    /// The same key makes one job.
    pub dedupe_key: Option<String>,
    /// Where it works: where its caller does.
    pub root: Option<std::path::PathBuf>,
}

/// How it went: the object of servers §9, and whether it failed.
#[derive(Debug, Clone, PartialEq)]
pub struct SubDone {
    /// `data` of the result.
    pub data: Value,
    /// What the agent said last.
    pub response: String,
    /// The typed failure, with what was done until then in `data`.
    pub failed: Option<(chatos_tool::ErrorCode, Text)>,
}

/// Who runs sub-agents: the host.
pub trait SubagentRunner: Send + Sync {
    /// What the agent behind a call may start.
    fn catalogue(&self, trace: &Trace) -> BoxFuture<'_, Result<Vec<SubPlugin>, ToolError>>;
    /// Runs one and waits. The same call asked again finds the run it began before.
    fn run(
        &self,
        order: SubOrder,
        trace: Trace,
        call_id: String,
        progress: tokio::sync::mpsc::UnboundedSender<Value>,
    ) -> BoxFuture<'_, Result<SubDone, ToolError>>;
    /// Which of these, by full id and description, fits a task: the id and how sure a model is. `None` when
    /// no model can be asked.
    fn prefer(
        &self,
        task: String,
        candidates: Vec<(String, String)>,
        trace: Trace,
    ) -> BoxFuture<'_, Option<(String, f64)>>;
    /// Starts one and does not wait; gives `{job_id, status, created_at}`.
    fn start(
        &self,
        order: SubOrder,
        trace: Trace,
        call_id: String,
    ) -> BoxFuture<'_, Result<Value, ToolError>>;
    /// The state of a job; waits for a change up to `wait_ms`.
    fn status(&self, job_id: String, wait_ms: u64) -> BoxFuture<'_, Result<Value, ToolError>>;
    /// Stops a job; `true` when it was over already.
    fn cancel(&self, job_id: String) -> BoxFuture<'_, Result<(Value, bool), ToolError>>;
}

/// `subagent_router` with its tools.
pub fn server(env: &ServerEnv) -> Server {
    let home = Home(env.subagents.clone());
    Server::new(&INFO)
        .with(asking::Get(home.clone()))
        .with(asking::Suggest(home.clone()))
        .with(running::Run(home.clone()))
        .with(jobs::Start(home.clone()))
        .with(jobs::Status(home.clone()))
        .with(jobs::Cancel(home))
}

/// A model's word counts above this.
const SURE: f64 = 0.6;

/// Tools that are for programs: no model is offered them (agents §10.2).
pub const FOR_PROGRAMS: [&str; 3] = ["start_sub_agent_async", "get_sub_agent_status", "cancel_sub_agent_job"];

/// Where sub-agents run, when there is such a place.
#[derive(Clone)]
struct Home(Option<Arc<dyn SubagentRunner>>);

impl Home {
    fn runner(&self) -> Result<&Arc<dyn SubagentRunner>, ToolError> {
        self.0.as_ref().ok_or_else(|| {
            ToolError::unavailable(
                Needed::Host,
                Text::fixed("sub-agents run in a host, and none is running", "子智能体需要运行中的主机"),
            )
        })
    }

    /// agents §10.3 step 4: where two are nearly equal a model is asked once, and believed when it is sure.
    async fn decide<'a>(
        &self,
        found: Choice<'a>,
        wanted: &Wanted<'_>,
        cx: &CallCx,
    ) -> Result<Choice<'a>, ToolError> {
        if found.near.is_empty() {
            return Ok(found);
        }
        let candidates = found
            .candidates()
            .map(|(plugin, agent)| {
                (format!("{}/{}", plugin.id, agent.id), format!("{}: {}", agent.name, agent.description))
            })
            .collect();
        let asked = self.runner()?.prefer(wanted.text.clone(), candidates, cx.trace.clone());
        let said = cx.unless_stopped(asked).await?;
        Ok(match said.filter(|(_, sure)| *sure > SURE) {
            Some((id, sure)) => {
                let reason = format!("a model compared the nearest ones (confidence {sure:.2})");
                found.instead(&id, reason, wanted)
            }
            None => found,
        })
    }

    async fn catalogue(&self, cx: &CallCx) -> Result<Vec<SubPlugin>, ToolError> {
        cx.unless_stopped(self.runner()?.catalogue(&cx.trace)).await?
    }
}
