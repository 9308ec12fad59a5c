//! The tools and the system prompt of one run.

#![expect(clippy::unused_async, reason = "the servers of the host come next")]

use std::sync::Arc;

use chatos_agent::{CallEnd, CallObserver, CallOrder, Toolset};
use chatos_tool::{Answer, Envelope, Fault, Needed, Stamp, Text, TextLimits, ToolError};

use chatos_policy::Outcome;
use serde_json::Value;

use super::stage::HostStage;

/// What a run may use.
pub(crate) struct RunTools {}

impl RunTools {
    pub(crate) fn new(_outcome: Outcome, _options: &Value) -> Self {
        Self {}
    }

    pub(crate) async fn toolset(&self, _stage: &HostStage) -> Result<Arc<Toolset>, Fault> {
        Ok(Arc::new(Toolset::build(Vec::new(), Vec::new())))
    }

    pub(crate) async fn system(&self, stage: &HostStage, _set: &Toolset) -> Result<Vec<String>, Fault> {
        let prompt = stage.parts.agent.prompt.clone();
        Ok(if prompt.trim().is_empty() { Vec::new() } else { vec![prompt] })
    }

    pub(crate) async fn call(
        &self,
        stage: &HostStage,
        _set: Arc<Toolset>,
        order: CallOrder,
        _observer: Arc<dyn CallObserver>,
    ) -> CallEnd {
        let error = ToolError::unavailable(Needed::Host, Text::fixed("no tools yet", "尚无工具"));
        let stamp = Stamp {
            server: String::new(),
            tool: String::new(),
            trace: order.trace,
            elapsed_ms: 0,
            ts: chatos_store::now_iso(),
        };
        let envelope = Envelope::seal(Answer::failed(error), stamp, TextLimits::default(), stage.parts.lang);
        CallEnd {
            blocks: Vec::new(),
            structured: None,
            is_error: true,
            envelope,
            elapsed_ms: 0,
            certain: true,
        }
    }
}
