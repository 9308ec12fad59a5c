//! The one place of a host where tools are called.

use std::sync::{Arc, OnceLock, Weak};

use chatos_agent::{CallEnd, Dispatcher, Ports};
use chatos_servers::SIGN_IN;

use super::active::ActiveCalls;
use super::parts::CallParts;
use super::ports::HostPorts;
use crate::tools::Tools;

/// Calls of one host. Clones are the same.
#[derive(Clone)]
pub struct Calls(Arc<Inner>);

struct Inner {
    parts: Arc<CallParts>,
    active: Arc<ActiveCalls>,
    // Made on first use.
    tools: OnceLock<Arc<Tools>>,
    dispatching: OnceLock<Dispatching>,
}

struct Dispatching {
    ports: HostPorts,
    dispatcher: Arc<Dispatcher>,
}

/// A place for [`Calls`] among the parts they are made of themselves: it is filled when they stand, and never keeps
/// them alive by itself.
#[derive(Clone, Default)]
pub struct CallsSlot(Arc<OnceLock<Weak<Inner>>>);

impl CallsSlot {
    /// From now on they are there.
    pub fn fill(&self, calls: &Calls) {
        self.0.get_or_init(|| Arc::downgrade(&calls.0));
    }

    /// The calls, while they are there.
    pub fn get(&self) -> Option<Calls> {
        self.0.get()?.upgrade().map(Calls)
    }
}

impl Calls {
    /// Nothing is opened for it.
    pub fn new(parts: CallParts) -> Self {
        Self(Arc::new(Inner {
            parts: Arc::new(parts),
            active: Arc::default(),
            tools: OnceLock::new(),
            dispatching: OnceLock::new(),
        }))
    }

    pub(crate) fn parts(&self) -> &Arc<CallParts> {
        &self.0.parts
    }

    pub(crate) fn active(&self) -> &ActiveCalls {
        &self.0.active
    }

    /// The built-in servers, ready for calls. Nothing of them is opened before a call.
    pub fn tools(&self) -> &Arc<Tools> {
        self.0.tools.get_or_init(|| Arc::new(Tools::new(&self.0.parts)))
    }

    fn dispatching(&self) -> &Dispatching {
        self.0.dispatching.get_or_init(|| {
            let (parts, active) = (Arc::clone(&self.0.parts), Arc::clone(&self.0.active));
            let ports = HostPorts::new(parts, active, Arc::clone(self.tools()));
            let dispatcher = Arc::new(Dispatcher::new(Arc::new(ports.clone())));
            Dispatching { ports, dispatcher }
        })
    }

    /// The one that calls tools. Must be called on the runtime.
    pub fn dispatcher(&self) -> &Arc<Dispatcher> {
        &self.dispatching().dispatcher
    }

    pub(crate) fn ports(&self) -> Arc<dyn Ports> {
        Arc::new(self.dispatching().ports.clone())
    }

    /// A call of an agent ended: one that lacked a sign-in is asked about.
    pub fn look_at_end(&self, end: &CallEnd) {
        let error = end.envelope.error.as_ref();
        if error.is_some_and(|error| error["details"]["rule"] == SIGN_IN) {
            self.0.parts.servers.open().ask_to_sign_in(&end.envelope.stamp.server);
        }
    }

    /// Follows the tool log and changes by other processes until the host stops.
    pub fn tend(&self) {
        self.tools().tend(&self.0.parts);
    }

    /// Ends the calls of built-in servers and what they left behind.
    pub async fn close_tools(&self) {
        if let Some(tools) = self.0.tools.get() {
            tools.close().await;
        }
    }

    /// Waits until every audit record is kept.
    pub async fn close(&self) {
        let Some(dispatching) = self.0.dispatching.get() else { return };
        let ports = dispatching.ports.clone();
        if let Err(error) = chatos_blocking::run(move || ports.flush()).await {
            tracing::error!(%error, "audit records may be missing");
        }
    }
}
