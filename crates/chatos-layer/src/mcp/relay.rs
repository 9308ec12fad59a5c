//! An endpoint whose tools are somebody else's: everything an agent may use, as one server.
//!
//! The protocol, its eras, its transports and its gate are those of every endpoint; only where tools come
//! from and where calls go is another.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chatos_tool::{Fault, Lang};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::progress::ProgressSink;
use crate::tool::BoxFuture;

/// Where tools come from and calls go.
pub trait Relay: Send + Sync + 'static {
    /// The definitions now, for this client: `{name, description, inputSchema, annotations?}` each.
    fn tools(&self, lang: Lang, client: RelayedClient) -> BoxFuture<'_, Result<Vec<Value>, Fault>>;
    /// Whether calls work in a folder that the client names (`roots/list` of an older client).
    fn asks_roots(&self) -> bool {
        false
    }
    /// Whether a call that waits for a person is a task for clients that know tasks.
    fn keeps_tasks(&self) -> bool {
        false
    }
    /// How long a client without tasks waits for a person before its model is told to wait by itself; `None`: as long
    /// as it takes.
    fn holds(&self) -> Option<Duration> {
        None
    }
    /// Makes a call; gives `{content, structuredContent?, isError}`.
    fn call(&self, call: RelayedCall) -> BoxFuture<'_, Result<Value, Fault>>;
    /// Whether prompts, resources and completions are passed on, too.
    fn passes_on(&self) -> bool {
        false
    }
    /// What is said about all of it, where that is more than the server's own words. Must not wait.
    fn instructions(&self) -> Option<String> {
        None
    }
    /// A list as it is now.
    fn list(&self, list: RelayedList) -> BoxFuture<'_, Result<Vec<Value>, Fault>> {
        let _: RelayedList = list;
        Box::pin(async { Ok(Vec::new()) })
    }
    /// Asks `prompts/get`, `resources/read` or `completion/complete`; gives the result as the server gave it.
    fn ask(&self, method: &'static str, params: Map<String, Value>) -> BoxFuture<'_, Result<Value, Fault>> {
        drop(params);
        let fault = Fault::new(
            chatos_tool::ErrorCode::NotSupported,
            chatos_tool::Text::new(format!("no `{method}` here"), format!("此处没有 `{method}`")),
        );
        Box::pin(async { Err(fault) })
    }
}

/// A list beside that of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayedList {
    /// Prompts for a person to choose.
    Prompts,
    /// Resources with an address of their own.
    Resources,
    /// Addresses of resources with places in them.
    Templates,
}

/// Who is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayedClient {
    /// Names the connection.
    pub session: String,
    /// What it calls itself; empty when it does not say.
    pub name: String,
    pub version: String,
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
    pub client: RelayedClient,
    /// The client withdrew the call, or is gone.
    pub cancel: CancellationToken,
    /// Where reports go, for a client that wants them.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// Told when the call waits for a person.
    pub asked: Option<watch::Sender<bool>>,
}

pub(super) async fn tools(
    relay: &Arc<dyn Relay>,
    lang: Lang,
    client: RelayedClient,
) -> Result<Vec<Tool>, ErrorData> {
    let listed = relay.tools(lang, client).await.map_err(|fault| refused(&fault, lang))?;
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

/// A list that is passed on; an entry that a client could not read does not hide the others.
pub(super) async fn list<T: DeserializeOwned>(
    relay: &Arc<dyn Relay>,
    list: RelayedList,
    lang: Lang,
) -> Result<Vec<T>, ErrorData> {
    let listed = relay.list(list).await.map_err(|fault| refused(&fault, lang))?;
    let readable = listed.into_iter().filter_map(|entry| match serde_json::from_value(entry) {
        Ok(entry) => Some(entry),
        Err(error) => {
            tracing::warn!(%error, "an entry cannot be passed on");
            None
        }
    });
    Ok(readable.collect())
}

/// What a server answered, as the protocol has it. `part`: the member of the result that counts.
pub(super) async fn ask<T: DeserializeOwned>(
    relay: &Arc<dyn Relay>,
    method: &'static str,
    params: &impl Serialize,
    part: &str,
    lang: Lang,
) -> Result<(T, Value), ErrorData> {
    let params = serde_json::to_value(params).map_err(|error| super::connection::bug(&error))?;
    let params = params.as_object().cloned().unwrap_or_default();
    let mut result = relay.ask(method, params).await.map_err(|fault| refused(&fault, lang))?;
    let read = serde_json::from_value(result[part].take());
    let read = read.map_err(|error| {
        let message = format!("the server's answer to `{method}` cannot be read: {error}");
        ErrorData::internal_error(message, None)
    });
    Ok((read?, result))
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
