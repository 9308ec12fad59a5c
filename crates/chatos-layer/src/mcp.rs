//! A built-in server over MCP, both eras of the protocol on one endpoint (mcp, server side).
//!
//! `rmcp` types stay inside this folder. The endpoint is the server with its layer; a connection is
//! one client of it, over stdio or HTTP.

mod changes;
mod connection;
mod door;
mod elicit;
mod http;
mod incoming;
mod offer;
mod opening;
mod quick;
mod relay;
mod request_state;
mod roots;
mod stdio;
mod tasks;
mod wire;

use std::sync::Arc;

use tokio::sync::{broadcast, watch};

use crate::access::Access;
use crate::feature::{Change, Features};
use crate::layer::Layer;
use crate::root::Root;
use crate::server::Server;
use request_state::StateSeal;

pub use http::{Gate, HttpListener, serve_http};
pub use relay::{Relay, RelayedCall, RelayedClient, RelayedList};
pub use stdio::{Ended, serve_stdio};

/// A server as clients see it.
pub struct Endpoint {
    server: Server,
    layer: Arc<Layer>,
    name: String,
    version: String,
    access: Arc<Access>,
    root: Option<Arc<Root>>,
    seal: StateSeal,
    features: Features,
    relay: Option<Arc<dyn Relay>>,
    tasks: tasks::Tasks,
    // Counts changes of the list of tools: definitions are built once per revision.
    list: watch::Sender<u64>,
    // Connections tell their clients.
    changes: broadcast::Sender<Change>,
}

/// Changes that a slow connection may be behind. One that misses some tells its client that all lists
/// have changed, which is never wrong.
const CHANGES: usize = 64;

/// What a caller decides about an endpoint.
pub struct EndpointOptions {
    /// The name clients see; the server's own when absent.
    pub name: Option<String>,
    /// The version clients see.
    pub version: String,
    /// Which tools are offered.
    pub access: Access,
    /// The directory the tools work in.
    pub root: Option<Root>,
}

impl Endpoint {
    /// An endpoint ready for connections.
    pub fn new(server: Server, layer: Arc<Layer>, options: EndpointOptions) -> Self {
        let name = options.name.unwrap_or_else(|| server.info().name.to_owned());
        Self {
            server,
            layer,
            name,
            version: options.version,
            access: Arc::new(options.access),
            root: options.root.map(Arc::new),
            seal: StateSeal::new(),
            features: Features::default(),
            relay: None,
            tasks: tasks::Tasks::default(),
            list: watch::channel(0).0,
            changes: broadcast::channel(CHANGES).0,
        }
    }

    /// What it offers besides tools.
    #[must_use]
    pub fn offering(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    /// Its tools are those of `relay` instead of its own.
    #[must_use]
    pub fn relaying(mut self, relay: Arc<dyn Relay>) -> Self {
        self.relay = Some(relay);
        self
    }

    /// The name clients see.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The layer behind it.
    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    /// What it offers beside tools, itself or passed on.
    fn offers(&self) -> offer::Offers {
        let passed_on = self.relay.as_ref().is_some_and(|relay| relay.passes_on());
        offer::Offers {
            resources: passed_on || self.features.resources.is_some(),
            watched: self.features.resources.is_some(),
            prompts: passed_on || self.features.prompts.is_some(),
            completions: passed_on || self.features.completions.is_some(),
            logging: self.features.logging,
            tasks: self.relay.as_ref().is_some_and(|relay| relay.keeps_tasks()),
        }
    }

    /// The relay, where it passes on more than tools.
    fn passing_on(&self) -> Option<&Arc<dyn Relay>> {
        self.relay.as_ref().filter(|relay| relay.passes_on())
    }

    /// Tells all clients that the list of tools is another one.
    pub fn tools_changed(&self) {
        self.changed(Change::Tools);
    }

    /// Tells all clients that something is another than they know.
    pub fn changed(&self, change: Change) {
        if change == Change::Tools {
            self.list.send_modify(|revision| *revision += 1);
        }
        // Without clients nobody has to know.
        self.changes.send(change).ok();
    }
}
