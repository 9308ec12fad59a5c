//! Running subagents, as a trait: the server `subagent_router` asks for it, the host implements it (servers §9).

use chatos_tool::{Text, ToolError, Trace};
use chatos_wire::subagent::SubPlugin;
use serde_json::Value;

use crate::tool::BoxFuture;

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

/// Who runs subagents: the host.
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
