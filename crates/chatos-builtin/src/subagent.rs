//! The server `subagent_router`: agents that an agent may start, found by what they are good at (servers §9).
//!
//! The catalogue is plain files; choosing is pure; running is the host's, behind [`chatos_layer::SubagentRunner`].

mod asking;
mod catalogue;
mod choose;
mod jobs;
mod running;

use std::sync::Arc;

use chatos_layer::{CallCx, Server, ServerEnv, ServerInfo, SubagentRunner};
use chatos_tool::{Needed, Text, ToolError};
use chatos_wire::subagent::SubPlugin;

pub use catalogue::{built_in_subagents, read_subagents};
pub use choose::{Choice, Wanted, choose};

/// `subagent_router`.
pub static INFO: ServerInfo = ServerInfo {
    name: "subagent_router",
    id: "36bb1921-66e8-4901-9739-2177349f5dd4",
    title: Text::fixed("Subagents", "子智能体"),
    instructions: Text::fixed(
        "Hands a self-contained task to another agent that works with its own context and reports back. Use \
         suggest_sub_agent to find one, run_sub_agent to run it. Give the whole task in one text: the other agent knows \
         nothing of this conversation. Subagents cannot start subagents.",
        "把一个独立的任务交给另一个智能体，它有自己的上下文，完成后汇报结果。用 suggest_sub_agent 寻找，用 run_sub_agent \
         运行。请在一段文字中写明完整任务：对方不了解当前对话。子智能体不能再启动子智能体。",
    ),
    needs_root: true,
    slots: 8,
    waits_hold_slot: false,
};

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

/// Where subagents run, when there is such a place.
#[derive(Clone)]
struct Home(Option<Arc<dyn SubagentRunner>>);

impl Home {
    fn runner(&self) -> Result<&Arc<dyn SubagentRunner>, ToolError> {
        self.0.as_ref().ok_or_else(|| {
            ToolError::unavailable(
                Needed::Host,
                Text::fixed("subagents run in a host, and none is running", "子智能体需要运行中的主机"),
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
