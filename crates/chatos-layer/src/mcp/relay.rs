//! An endpoint whose tools are somebody else's: everything an agent may use, as one server.
//!
//! The protocol, its eras, its transports and its gate are those of every endpoint; only where tools come
//! from and where calls go is another.

use std::path::PathBuf;
use std::sync::Arc;

use chatos_tool::{Fault, Lang};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Tool};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::progress::ProgressSink;
use crate::tool::BoxFuture;

/// Where tools come from and calls go.
pub trait Relay: Send + Sync + 'static {
    /// The definitions now: `{name, description, inputSchema, annotations?}` each.
    fn tools(&self, lang: Lang) -> BoxFuture<'_, Result<Vec<Value>, Fault>>;
    /// Whether calls work in a folder that the client names (`roots/list` of an older client).
    fn asks_roots(&self) -> bool {
        false
    }
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
    /// Folders the client says it works in, in its order; only where they are asked for.
    pub roots: Vec<PathBuf>,
    pub session: String,
    /// What the client calls itself, and its version.
    pub client: (String, String),
    /// The client withdrew the call, or is gone.
    pub cancel: CancellationToken,
    /// Where reports go, for a client that wants them.
    pub progress: Option<Arc<dyn ProgressSink>>,
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
    let mut result = relay.call(call).await.map_err(|fault| refused(&fault, lang))?;
    // A block that a client could not read is passed on as its text instead of hiding the others.
    for block in result["content"].as_array_mut().into_iter().flatten() {
        if serde_json::from_value::<ContentBlock>(block.clone()).is_err() {
            *block = json!({ "type": "text", "text": block.to_string() });
        }
    }
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
