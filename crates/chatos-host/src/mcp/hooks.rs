//! What servers ask of the host and tell it: questions become prompts, log lines go to the server's log,
//! new tools are compared with what was approved.

use std::path::Path;
use std::sync::{Arc, PoisonError, Weak};

use chatos_agent::{Asker, CallContext, elicit, file_uri};
use chatos_mcp::{Asked, ElicitAnswer, Elicitation, Failure, Hooks, Later, LogLine, Root, ServerKey};
use chatos_store::now_iso;
use chatos_tool::Trace;
use serde_json::Value;

use super::{Shared, pins};
use crate::host::Host;

/// The hooks of one host.
pub(super) struct HostHooks {
    host: Weak<Host>,
}

impl HostHooks {
    pub(super) fn new(host: Weak<Host>) -> Self {
        Self { host }
    }

    /// An old server does not say for which call it asks: the last one it works on is meant.
    fn context(shared: &Shared, asked: &Asked) -> Option<CallContext> {
        let calls = shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
        asked.calls.iter().rev().find_map(|call| calls.get(call).cloned())
    }
}

fn name_of(shared: &Shared, key: &ServerKey) -> String {
    let known = shared.last_known();
    let found = known.as_ref().and_then(|known| known.by_key(key)).map(|known| known.name().to_owned());
    found.unwrap_or_else(|| key.as_str().to_owned())
}

impl Hooks for HostHooks {
    fn admit(&self, server: &ServerKey) -> Later<Result<(), Failure>> {
        let Some(host) = self.host.upgrade() else { return Box::pin(async { Err(Failure::Stopped) }) };
        // Everything the pool knows comes from the list.
        let listed = host.server_cell().get().and_then(|desk| desk.shared().last_known());
        let Some(known) = listed.and_then(|listed| listed.by_key(server).cloned()) else {
            return Box::pin(async { Err(Failure::UnknownServer) });
        };
        if known.plugin_id.is_none() {
            return Box::pin(async { Ok(()) });
        }
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || host.admit_server(&known)).await;
            looked.unwrap_or(Err(Failure::Stopped))
        })
    }

    fn elicit(&self, asked: Asked, ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        let Some(host) = self.host.upgrade() else { return Box::pin(async { Ok(ElicitAnswer::Cancel) }) };
        let desk = host.servers();
        let (shared, ports) = (Arc::clone(desk.shared()), desk.ports());
        let identity = asked.server.as_str().to_owned();
        let server = name_of(&shared, &asked.server);
        let asker = match Self::context(&shared, &asked) {
            Some(call) => asker(identity, server, call),
            None => Asker::alone(identity, server, empty_trace(), host.lang()),
        };
        let canceled = asked.canceled.clone();
        // On its own, so that a question whose server is gone is closed in order.
        let work = tokio::spawn(async move { elicit(&ports, &asker, &ask, canceled.cancelled()).await });
        Box::pin(async move { work.await.unwrap_or(Ok(ElicitAnswer::Cancel)) })
    }

    fn sample(&self, asked: Asked, params: Value) -> Later<Result<Value, String>> {
        let Some(host) = self.host.upgrade() else { return Box::pin(async { Err("stopping".to_owned()) }) };
        let desk = host.servers();
        let (shared, ports) = (Arc::clone(desk.shared()), desk.ports());
        let identity = asked.server.as_str().to_owned();
        let server = name_of(&shared, &asked.server);
        let asker = match Self::context(&shared, &asked) {
            Some(call) => asker(identity, server, call),
            // Outside any call nobody granted it anything.
            None => Asker::alone(identity, server, empty_trace(), host.lang()),
        };
        ports.sample(asker, params, asked.canceled)
    }

    fn roots(&self, asked: Asked) -> Later<Vec<Root>> {
        let Some(host) = self.host.upgrade() else { return Box::pin(async { Vec::new() }) };
        // Only what a person set for this server: with any other folder it would leave the one it was given.
        let known = host.servers().shared().last_known();
        let known = known.as_ref().and_then(|known| known.by_key(&asked.server));
        let root = |path: &String| Root {
            uri: file_uri(path),
            name: Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()),
        };
        let roots: Vec<Root> =
            known.map(|known| known.route.roots.iter().map(root).collect()).unwrap_or_default();
        Box::pin(async move { roots })
    }

    fn log(&self, server: &ServerKey, line: LogLine) {
        let Some(host) = self.host.upgrade() else { return };
        let Some(desk) = host.server_cell().get() else { return };
        let text = host.redactor().text(&line.text).into_owned();
        desk.shared().logs.add(server.as_str(), &now_iso(), &line, &text);
        desk.shared().has_said(server);
    }

    fn tools_changed(&self, server: &ServerKey) {
        let Some(host) = self.host.upgrade() else { return };
        let Some(desk) = host.server_cell().get() else { return };
        let (shared, key) = (Arc::clone(desk.shared()), server.clone());
        tokio::spawn(async move {
            let list = match shared.pool.tools(&key).await {
                Ok(list) => list,
                Err(error) => return tracing::debug!(failure = %error.failure, "a new list cannot be read"),
            };
            let (name, identity) = (name_of(&shared, &key), key.as_str().to_owned());
            let checked =
                tokio::task::spawn_blocking(move || pins::check(&host, &identity, &name, &list)).await;
            if let Ok(Err(fault)) = checked {
                tracing::error!(%fault, "approved tools cannot be compared");
            }
        });
    }
}

/// The server of a call, as who asks.
fn asker(identity: String, server: String, call: CallContext) -> Asker {
    let CallContext { trace, lang, sampling, observer, .. } = call;
    Asker { identity, server, trace, lang, sampling, observer }
}

/// A question that belongs to no call.
pub(crate) fn empty_trace() -> Trace {
    Trace {
        trace_id: None,
        span_id: None,
        parent_span_id: None,
        root_agent_id: None,
        agent_id: None,
        sub_agent_id: None,
        run_id: None,
        session_id: None,
        tool_name: None,
    }
}
