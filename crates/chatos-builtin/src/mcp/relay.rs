//! An endpoint whose tools are somebody else's: everything an agent may use, as one server.
//!
//! The protocol, its eras, its transports and its gate are those of every endpoint; only where tools come
//! from and where calls go is another.

use std::sync::Arc;

use chatos_tool::{Fault, Lang};
use rmcp::model::{CallToolResult, ErrorData, Tool};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::tool::BoxFuture;

/// Where tools come from and calls go.
pub trait Relay: Send + Sync + 'static {
    /// The definitions now: `{name, description, inputSchema, annotations?}` each.
    fn tools(&self, lang: Lang) -> BoxFuture<'_, Result<Vec<Value>, Fault>>;
    /// Makes a call; gives `{content, structuredContent?, isError}`.
    fn call(&self, call: RelayedCall) -> BoxFuture<'_, Result<Value, Fault>>;
}

/// A call on its way through.
pub struct RelayedCall {
    /// As listed.
    pub tool: String,
    /// As the client sent them.
    pub arguments: Map<String, Value>,
    /// As the client sent it.
    pub meta: Map<String, Value>,
    /// Names the client.
    pub session: String,
    /// The client withdrew the call, or is gone.
    pub cancel: CancellationToken,
}

pub(super) async fn tools(relay: &Arc<dyn Relay>, lang: Lang) -> Result<Vec<Tool>, ErrorData> {
    let listed = relay.tools(lang).await.map_err(|fault| refused(&fault, lang))?;
    // One definition that a client could not read must not hide the others.
    let readable = listed.into_iter().filter_map(|tool| match serde_json::from_value(tool) {
        Ok(tool) => Some(tool),
        Err(error) => {
            tracing::warn!(%error, "a tool cannot be passed on");
            None
        }
    });
    Ok(readable.collect())
}

pub(super) async fn call(
    relay: &Arc<dyn Relay>,
    call: RelayedCall,
    lang: Lang,
) -> Result<CallToolResult, ErrorData> {
    let result = relay.call(call).await.map_err(|fault| refused(&fault, lang))?;
    serde_json::from_value(result).map_err(|error| super::connection::bug(&error))
}

fn refused(fault: &Fault, lang: Lang) -> ErrorData {
    let message = fault.message.get(lang).to_owned();
    match fault.class {
        chatos_tool::ErrorCode::NotFound | chatos_tool::ErrorCode::InvalidArgument => {
            ErrorData::invalid_params(message, None)
        }
        _ => ErrorData::internal_error(message, None),
    }
}
