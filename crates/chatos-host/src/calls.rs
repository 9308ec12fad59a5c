//! Calls of tools inside the host: the one dispatcher, what it needs of the host, and what servers ask while calls
//! are on their way.

mod left;
mod ports;
mod questions;
mod results;
mod sampling;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use chatos_agent::{CallContext, CallEnd, Dispatcher, Ports};
use chatos_servers::{SIGN_IN, Servers};
use chatos_tool::{ErrorCode, Fault, Text};

use crate::host::Host;
pub(crate) use questions::HostQuestions;

/// Calls on their way, and what people allowed for the rest of a chat. Shared by the dispatcher's ports and by whoever
/// answers servers.
#[derive(Default)]
pub(crate) struct ActiveCalls {
    /// By their key, so that a question of an old server finds its chat.
    calls: Mutex<HashMap<String, CallContext>>,
    /// Chats in which a server may ask the model without another question: (session, identity).
    sampled: Mutex<HashSet<(String, String)>>,
}

impl ActiveCalls {
    fn begin(&self, call: CallContext) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(call.key.clone(), call);
    }

    fn end(&self, key: &str) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// The last of these calls that is still on its way: an old server does not say for which one it asks.
    fn last_of(&self, keys: &[String]) -> Option<CallContext> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().rev().find_map(|key| calls.get(key).cloned())
    }

    fn may_sample(&self, session: &str, identity: &str) -> bool {
        let pair = (session.to_owned(), identity.to_owned());
        self.sampled.lock().unwrap_or_else(PoisonError::into_inner).contains(&pair)
    }

    fn allow_sampling(&self, session: &str, identity: &str) {
        let pair = (session.to_owned(), identity.to_owned());
        self.sampled.lock().unwrap_or_else(PoisonError::into_inner).insert(pair);
    }
}

/// The one place of a host where tools are called.
pub struct Calls {
    ports: Arc<ports::HostPorts>,
    dispatcher: Arc<Dispatcher>,
}

impl Host {
    /// The servers. Nothing of them is started before somebody needs it. Must be called on the runtime.
    pub fn servers(self: &Arc<Self>) -> &Servers {
        let made = || Servers::new(Arc::clone(self.server_parts()), self.spawning());
        self.server_cell().get_or_init(made)
    }

    /// Where tools are called. Must be called on the runtime.
    pub fn calls(self: &Arc<Self>) -> &Calls {
        self.call_cell().get_or_init(|| {
            let ports = Arc::new(ports::HostPorts::new(self, self.servers().clone()));
            let dispatcher = Arc::new(Dispatcher::new(Arc::clone(&ports) as Arc<dyn Ports>));
            Calls { ports, dispatcher }
        })
    }

    /// A call of an agent ended: one that lacked a sign-in is asked about.
    pub(crate) fn look_at_end(self: &Arc<Self>, end: &CallEnd) {
        let error = end.envelope.error.as_ref();
        if error.is_some_and(|error| error["details"]["rule"] == SIGN_IN) {
            self.servers().ask_to_sign_in(&end.envelope.stamp.server);
        }
    }
}

impl Calls {
    /// The one that calls tools.
    pub fn dispatcher(&self) -> &Arc<Dispatcher> {
        &self.dispatcher
    }

    fn ports(&self) -> Arc<dyn Ports> {
        Arc::clone(&self.ports) as Arc<dyn Ports>
    }

    /// Waits until every audit record is kept.
    pub(crate) async fn close(&self) {
        let ports = Arc::clone(&self.ports);
        if let Err(error) = chatos_blocking::run(move || ports.flush()).await {
            tracing::error!(%error, "audit records may be missing");
        }
    }
}

fn failed(error: &dyn std::error::Error) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same("the work failed")).caused_by(error)
}
