//! The short way of a call over stdio: a look at something small by a client of the older era is
//! answered where it is read, without a task of its own.
//!
//! Everything a call goes through is the same (the layer); only the protocol around it is shorter. A
//! call that is not done at once goes on in a task, and everything that is not plainly such a call takes
//! the ordinary way.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chatos_tool::{Envelope, Transport};
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Endpoint;
use super::connection::Connection;
use super::wire::{Out, Sink};
use crate::context::Caller;
use crate::layer::{CallRequest, Reply, UnknownTool};

/// Longer lines are not looked at twice.
const LINE_BYTES: usize = 4096;

/// The calls of one connection that may go the short way.
pub(super) struct QuickCalls {
    endpoint: Arc<Endpoint>,
    session: String,
    closed: CancellationToken,
    // The client has made the connection in the older era; a modern one says more with each request.
    open: bool,
    running: Running,
}

/// Calls that were not done at once, by their id as it was written.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<HashMap<String, CancellationToken>>>);

impl Running {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    arguments: Option<Map<String, Value>>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelParams<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}

impl QuickCalls {
    pub(super) fn new(endpoint: &Arc<Endpoint>, connection: &Connection) -> Option<Self> {
        let own = endpoint.relay.is_none();
        own.then(|| Self {
            endpoint: Arc::clone(endpoint),
            session: connection.id.clone(),
            closed: connection.closed.clone(),
            open: false,
            running: Running::default(),
        })
    }

    /// Takes a line that is such a call and answers it now or later; false leaves it to the others. With `more`
    /// the next line is here already.
    pub(super) fn answers<W: Sink>(&mut self, line: &[u8], out: &Arc<Out<W>>, more: bool) -> bool {
        if line.len() > LINE_BYTES {
            return false;
        }
        let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else { return false };
        match &*message.method {
            "notifications/initialized" => self.open = true,
            "notifications/cancelled" => self.cancel(message.params),
            "tools/call" if self.open && message.jsonrpc == "2.0" => {
                if let (Some(id), Some(params)) = (message.id, message.params) {
                    return self.call(id.get(), params.get(), out, more);
                }
            }
            _ => {}
        }
        false
    }

    fn cancel(&self, params: Option<&RawValue>) {
        let params = params.and_then(|params| serde_json::from_str::<CancelParams<'_>>(params.get()).ok());
        let Some(params) = params else { return };
        if let Some(cancel) = self.running.lock().get(params.request_id.get()) {
            cancel.cancel();
        }
    }

    fn call<W: Sink>(&self, id: &str, params: &str, out: &Arc<Out<W>>, more: bool) -> bool {
        // An id is a number or a text; a client that does not read its answers waits in the usual queue.
        let plain = id.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
        if !plain || out.is_behind() {
            return false;
        }
        let Ok(params) = serde_json::from_str::<CallParams<'_>>(params) else { return false };
        let endpoint = &self.endpoint;
        let quick = endpoint.server.tool(&params.name).is_some_and(|tool| {
            tool.is_quick() && endpoint.access.allows(&params.name) && !endpoint.access.asks(&params.name)
        });
        let meta = params.meta.unwrap_or_default();
        if !quick || meta.contains_key("progressToken") {
            return false;
        }
        let cancel = CancellationToken::new();
        let request = CallRequest {
            tool: params.name.into_owned(),
            arguments: params.arguments.map(Value::Object),
            meta,
            transport: Transport::Stdio,
            session: self.session.clone(),
            access: Arc::clone(&endpoint.access),
            caller: Caller::Main,
            root: endpoint.root.clone(),
            cancel: cancel.clone(),
            closed: self.closed.clone(),
            progress: None,
            elicitor: None,
            resume: None,
            client: None,
            asked: None,
        };
        let own = Arc::clone(endpoint);
        let mut call = Box::pin(async move { own.layer.call(&own.server, request).await });
        if let Some(reply) = (&mut call).now_or_never() {
            if let Some(end) = send(id, reply, |line| out.send_with_others(line, more)) {
                out.flush_later(end);
            }
            return true;
        }
        let (id, out, running) = (id.to_owned(), Arc::clone(out), self.running.clone());
        running.lock().insert(id.clone(), cancel.clone());
        // Ends with the call, which ends with the connection.
        tokio::spawn(async move {
            let reply = call.await;
            running.lock().remove(&id);
            if cancel.is_cancelled() {
                return;
            }
            if let Some(end) = send(&id, reply, |line| out.send_line(line))
                && let Err(error) = out.flushed(end).await
            {
                tracing::debug!(%error, "an answer could not be sent");
            }
        });
        true
    }
}

/// Writes the answer; gives its end when some of it has to wait.
fn send(
    id: &str,
    reply: Result<Reply, UnknownTool>,
    write: impl FnOnce(&[u8]) -> std::io::Result<Option<u64>>,
) -> Option<u64> {
    // Such tools ask nobody, so there is no other reply.
    let Ok(Reply::Done(envelope)) = reply else { return None };
    let sent = line(id, &envelope).map_err(std::io::Error::from).and_then(|line| write(&line));
    sent.unwrap_or_else(|error| {
        tracing::debug!(%error, "an answer could not be sent");
        None
    })
}

fn line(id: &str, envelope: &Envelope) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(envelope.size + envelope.size / 8 + 1024);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    line.extend_from_slice(id.as_bytes());
    line.extend_from_slice(br#","result":"#);
    envelope.write_result(&mut line)?;
    line.extend_from_slice(b"}\n");
    Ok(line)
}
