//! What runs are made of.

use std::ffi::OsString;
use std::sync::Arc;

use chatos_acp::Seats;
use chatos_agents::Agents;
use chatos_apps::Apps;
use chatos_child::Spawning;
use chatos_events::{Events, Lifetime, Notices};
use chatos_inbox::Inbox;
use chatos_model::Models;
use chatos_paths::{Environment, StateDir};
use chatos_servers::ServerHome;
use chatos_settings::Settings;
use chatos_store::{Audit, Store};
use chatos_tool::{Lang, Redactor};

use chatos_calls::Calls;

/// The ground they stand on; given by the host.
pub struct RunParts {
    pub dir: StateDir,
    pub environment: Environment,
    /// This very program, where it may be started again to read a document.
    pub own_program: Option<OsString>,
    /// How children are started; the first question may start a warden.
    pub spawning: Box<dyn Fn() -> Spawning + Send + Sync>,
    pub store: Store,
    pub settings: Settings,
    pub audit: Audit,
    pub events: Events,
    pub notices: Notices,
    pub redactor: Arc<Redactor>,
    pub life: Lifetime,
    pub inbox: Inbox,
    pub models: Models,
    pub agents: Agents,
    pub apps: Apps,
    pub servers: ServerHome,
    pub calls: Calls,
    /// Agents of other makers that run at this moment.
    pub seats: Seats,
}

impl RunParts {
    /// The language of messages when a caller names none.
    pub(crate) fn lang(&self) -> Lang {
        self.settings.languages().people
    }
}
