//! What the servers of a host are made of.

use std::path::PathBuf;
use std::sync::Arc;

use chatos_child::HostNode;
use chatos_events::{Events, Lifetime, Notices};
use chatos_inbox::Inbox;
use chatos_keys::StateKey;
use chatos_layer::Server;
use chatos_paths::{Environment, Locations, StateDir};
use chatos_plugins::{Lending, PluginHome};
use chatos_settings::Settings;
use chatos_store::{Audit, Store};
use chatos_tool::{Fault, Lang, Redactor};

use crate::questions::ServerQuestions;

/// A built-in server by its name.
pub type BuiltIn = Box<dyn Fn(&str) -> Result<Arc<Server>, Fault> + Send + Sync>;

/// The ground they stand on; given by the host.
pub struct ServersParts {
    pub dir: StateDir,
    pub places: Locations,
    pub environment: Environment,
    /// The folder the host was started in: where programs of a person run that name none.
    pub project: PathBuf,
    /// `$sessionRoot` (plugins §1.1).
    pub session_root: PathBuf,
    pub started_at: i64,
    /// This process serves; a command that opened the state for a moment does not.
    pub serving: bool,
    pub store: Store,
    pub settings: Settings,
    pub key: StateKey,
    pub audit: Audit,
    pub events: Events,
    pub notices: Notices,
    pub redactor: Arc<Redactor>,
    pub life: Lifetime,
    pub inbox: Inbox,
    pub plugins: PluginHome,
    pub lending: Lending,
    pub node: HostNode,
    pub built_in: BuiltIn,
    /// Who answers what servers ask.
    pub questions: Arc<dyn ServerQuestions>,
}

impl ServersParts {
    /// The language of messages when a caller names none.
    pub(crate) fn lang(&self) -> Lang {
        self.settings.languages().people
    }
}
