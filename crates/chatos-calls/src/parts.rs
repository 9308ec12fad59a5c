//! What calls are made of.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use chatos_acp::Seats;
use chatos_agents::Agents;
use chatos_apps::Apps;
use chatos_events::{Events, Lifetime, Notices};
use chatos_inbox::Inbox;
use chatos_layer::SubagentRunner;
use chatos_model::Models;
use chatos_paths::{Environment, Locations, StateDir};
use chatos_servers::ServerHome;
use chatos_settings::Settings;
use chatos_store::{Audit, Store};
use chatos_tool::{ErrorCode, Fault, Lang, Redactor, Text, Trace};

/// What calls need of the runs, which are made of them.
pub trait RunsOfCalls: Send + Sync {
    /// Who starts subagents for the router server.
    fn subagents(&self) -> Option<Arc<dyn SubagentRunner>>;

    /// A call of a built-in server waits for a person; its run writes that down.
    fn waits(&self, trace: &Trace, request_id: &str);
}

/// The ground they stand on; given by the host.
pub struct CallParts {
    pub dir: StateDir,
    pub places: Locations,
    pub environment: Environment,
    /// The folder the host was started in: where calls by hand work that name none.
    pub project: PathBuf,
    /// What `$sessionRoot` stands for in manifests (plugins §1.1).
    pub session_root: PathBuf,
    pub started_at: i64,
    /// This very program, where it may be started again to read a document.
    pub own_program: Option<OsString>,
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
    /// Agents of other makers, whose gateways call.
    pub seats: Seats,
    pub runs: Arc<dyn RunsOfCalls>,
}

impl CallParts {
    /// The language of messages when a caller names none.
    pub(crate) fn lang(&self) -> Lang {
        self.settings.languages().people
    }
}

/// The fault of work that panicked before it had an answer.
pub(crate) fn failed(error: &dyn std::error::Error) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same("the work failed")).caused_by(error)
}
