//! What parts ask of others that are made after them: apps of the one path of calls, calls of the runs they belong to.

use std::sync::{Arc, OnceLock};

use chatos_apps::{AppCall, AppHost};
use chatos_child::Spawning;
use chatos_layer::SubagentRunner;
use chatos_servers::{ServerHome, Servers, Toolset};
use chatos_tool::{ErrorCode, Fault, Text, Trace};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::children::Children;
use chatos_calls::ToolCall;
use chatos_calls::{CallsSlot, RunsOfCalls};
use chatos_runs::WeakRuns;

/// What apps need around them.
pub(crate) struct HostOfApps {
    pub(crate) servers: ServerHome,
    pub(crate) children: Children,
    pub(crate) calls: CallsSlot,
}

impl AppHost for HostOfApps {
    fn servers(&self) -> Result<Servers, Fault> {
        Ok(self.servers.open().clone())
    }

    fn spawning(&self) -> Result<Spawning, Fault> {
        Ok(self.children.spawning())
    }

    fn call(&self, set: Arc<Toolset>, call: AppCall) -> BoxFuture<'static, Result<Value, Fault>> {
        let calls = self.calls.get();
        Box::pin(async move {
            let calls = calls.ok_or_else(stopping)?;
            let call = ToolCall {
                server: call.server,
                tool: call.tool,
                arguments: call.arguments,
                meta: call.meta,
                session: call.session,
                agent: call.agent,
                lang: call.lang,
                ..ToolCall::default()
            };
            calls.call_with(set, call).await
        })
    }
}

/// The runs, for calls; filled when they stand.
#[derive(Clone, Default)]
pub(crate) struct RunsSlot(pub(crate) Arc<OnceLock<WeakRuns>>);

impl RunsOfCalls for RunsSlot {
    fn subagents(&self) -> Option<Arc<dyn SubagentRunner>> {
        self.0.get().map(WeakRuns::subagents)
    }

    fn waits(&self, trace: &Trace, request_id: &str) {
        if let Some(runs) = self.0.get().and_then(WeakRuns::get) {
            runs.tool_waits(trace, request_id);
        }
    }
}

pub(crate) fn stopping() -> Fault {
    Fault::new(ErrorCode::Unavailable, Text::fixed("the host is stopping", "主机正在停止"))
}
