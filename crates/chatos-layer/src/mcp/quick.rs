//! The short way of a call over stdio: a look at something small by a client of the older era is
//! answered where it is read, without a task of its own.
//!
//! Everything a call goes through is the same (the layer); only the protocol around it is shorter. A
//! call that is not done at once goes on in a task, and everything that is not plainly such a call takes
//! the ordinary way.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chatos_tool::{Envelope, Transport};
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Endpoint;
use super::connection::Connection;
use super::incoming::Line;
use super::wire::{Out, Sink};
use crate::context::Caller;
use crate::layer::{Batch, CallRequest, Reply, UnknownTool};

/// What a modern client says with each request.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Longer lines are not looked at twice.
const LINE_BYTES: usize = 4096;

/// Answers that wait for others to requests that are here already. More would leave the client idle.
const HELD_LINES: usize = 8;
/// The same in bytes.
const HELD_BYTES: usize = 16 * 1024;

/// The calls of one connection that may go the short way.
pub(super) struct QuickCalls {
    endpoint: Arc<Endpoint>,
    session: String,
    closed: CancellationToken,
    // The client has made the connection in the older era; a modern one says more with each request.
    open: bool,
    running: Running,
    // Answers to be written together; empty whenever the connection waits for anything. Their lines of the log
    // are written before them.
    held: Vec<u8>,
    held_lines: usize,
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
            held: Vec::new(),
            held_lines: 0,
        })
    }

    /// Takes a line that is such a call and answers it now or later; false leaves it to the others.
    pub(super) fn answers<W: Sink>(&mut self, line: &Line, out: &Arc<Out<W>>) -> bool {
        let answered = self.reads(line, out);
        let full = self.held_lines >= HELD_LINES || self.held.len() >= HELD_BYTES;
        // Before anything is waited for, and before anybody else answers.
        if !answered || !line.more || full {
            self.release(out);
        }
        answered
    }

    fn reads<W: Sink>(&mut self, line: &Line, out: &Arc<Out<W>>) -> bool {
        if line.bytes.len() > LINE_BYTES {
            return false;
        }
        let Ok(message) = serde_json::from_slice::<Message<'_>>(&line.bytes) else { return false };
        match &*message.method {
            "notifications/initialized" => self.open = true,
            "notifications/cancelled" => self.cancel(message.params),
            "tools/call" if self.open && message.jsonrpc == "2.0" => {
                if let (Some(id), Some(params)) = (message.id, message.params) {
                    return self.call(id.get(), params.get(), line, out);
                }
            }
            _ => {}
        }
        false
    }

    /// Writes the answers that were held back, after what the log says about them.
    fn release<W: Sink>(&mut self, out: &Arc<Out<W>>) {
        if self.held_lines == 0 {
            return;
        }
        self.endpoint.layer.write_log();
        match out.send_line(&mut self.held) {
            Ok(None) => {}
            Ok(Some(end)) => out.flush_later(end),
            Err(error) => tracing::debug!(%error, "answers could not be sent"),
        }
        self.held_lines = 0;
        self.held.clear();
        // Room for the next ones is kept, unless one answer was huge.
        self.held.shrink_to(2 * HELD_BYTES);
    }

    fn cancel(&self, params: Option<&RawValue>) {
        let params = params.and_then(|params| serde_json::from_str::<CancelParams<'_>>(params.get()).ok());
        let Some(params) = params else { return };
        if let Some(cancel) = self.running.lock().get(params.request_id.get()) {
            cancel.cancel();
        }
    }

    fn call<W: Sink>(&mut self, id: &str, params: &str, line: &Line, out: &Arc<Out<W>>) -> bool {
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
        // One that says which protocol it speaks is not of the older era, or of none we know.
        if !quick || meta.contains_key("progressToken") || meta.contains_key(VERSION_KEY) {
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
            approved: None,
            together: None,
            batch: Some(Batch { arrived: line.arrived }),
        };
        let own = Arc::clone(endpoint);
        let mut call = Box::pin(async move { own.layer.call(&own.server, request).await });
        if let Some(reply) = (&mut call).now_or_never() {
            if let Some(envelope) = done(reply)
                && let Err(error) = write(&mut self.held, id, &envelope)
            {
                tracing::debug!(%error, "an answer could not be written");
            }
            self.held_lines += 1;
            return true;
        }
        let (id, out, running) = (id.to_owned(), Arc::clone(out), self.running.clone());
        let own = Arc::clone(&self.endpoint);
        running.lock().insert(id.clone(), cancel.clone());
        // Ends with the call, which ends with the connection.
        tokio::spawn(async move {
            let reply = call.await;
            own.layer.write_log();
            running.lock().remove(&id);
            if cancel.is_cancelled() {
                return;
            }
            let Some(envelope) = done(reply) else { return };
            let mut line = Vec::new();
            let sent = match write(&mut line, &id, &envelope).map_err(io::Error::from) {
                Ok(()) => match out.send_line(&mut line) {
                    Ok(Some(end)) => out.flushed(end).await,
                    sent => sent.map(drop),
                },
                Err(error) => Err(error),
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "an answer could not be sent");
            }
        });
        true
    }
}

/// Such tools ask nobody, so there is no other reply.
fn done(reply: Result<Reply, UnknownTool>) -> Option<Box<Envelope>> {
    match reply {
        Ok(Reply::Done(envelope)) => Some(envelope),
        _ => None,
    }
}

/// Appends an answer as one line, or nothing.
fn write(lines: &mut Vec<u8>, id: &str, envelope: &Envelope) -> serde_json::Result<()> {
    let before = lines.len();
    lines.reserve(envelope.size + envelope.size / 8 + 1024);
    lines.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    lines.extend_from_slice(id.as_bytes());
    lines.extend_from_slice(br#","result":"#);
    envelope.write_result(&mut *lines).inspect_err(|_| lines.truncate(before))?;
    lines.extend_from_slice(b"}\n");
    Ok(())
}
