//! What apps ask of the host around them: its servers, how it starts programs, the one path of calls.

use std::sync::{Arc, OnceLock, Weak};

use chatos_apps::{AppCall, AppHost};
use chatos_child::Spawning;
use chatos_servers::{Servers, Toolset};
use chatos_tool::Fault;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::host::{Host, stopping};
use crate::tools::ToolCall;

/// The host, once it stands.
pub(crate) struct HostOfApps(pub(crate) Arc<OnceLock<Weak<Host>>>);

impl HostOfApps {
    fn host(&self) -> Result<Arc<Host>, Fault> {
        self.0.get().and_then(Weak::upgrade).ok_or_else(stopping)
    }
}

impl AppHost for HostOfApps {
    fn servers(&self) -> Result<Servers, Fault> {
        Ok(self.host()?.servers().clone())
    }

    fn spawning(&self) -> Result<Spawning, Fault> {
        Ok(self.host()?.spawning())
    }

    fn call(&self, set: Arc<Toolset>, call: AppCall) -> BoxFuture<'static, Result<Value, Fault>> {
        let host = self.host();
        Box::pin(async move {
            let host = host?;
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
            host.tools().call_with(set, call).await
        })
    }
}
