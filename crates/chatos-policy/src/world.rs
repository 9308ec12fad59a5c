//! What exists at this moment: servers with their state, apps with what they expose.

use std::collections::BTreeMap;

use chatos_contribution::{Exposed, ServerIdentity};

use crate::Role;

/// Whether a server can be used at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerState {
    /// Enabled, and its plugin (if it has one) trusted and loaded.
    Usable,
    /// Switched off by a person.
    Disabled,
    /// Its plugin waits for trust.
    Untrusted,
    /// Its plugin did not load.
    Unavailable,
}

/// One server the host knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// What grants are keyed by. A row that mirrors an app's server has the app's identity.
    pub identity: ServerIdentity,
    /// The id of its row, if it has one.
    pub row_id: Option<String>,
    /// Shown to people, and what exposure lists name.
    pub name: String,
    /// Whether it can be used.
    pub state: ServerState,
    /// May main agents use it?
    pub allow_main: bool,
    /// May subagents use it?
    pub allow_sub: bool,
    /// Is it the server that starts subagents? Decided by what it is, never by its name.
    pub is_router: bool,
}

impl ServerFacts {
    /// The flag of `role`.
    pub fn allows(&self, role: Role) -> bool {
        match role {
            Role::Main => self.allow_main,
            Role::Sub => self.allow_sub,
        }
    }
}

/// One app of an installed plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppFacts {
    /// Plugin and app.
    pub plugin_id: String,
    /// See above.
    pub app_id: String,
    /// Shown to people.
    pub name: String,
    /// Identity of its own server, if it has one.
    pub own_server: Option<ServerIdentity>,
    /// Servers a person may select for it.
    pub exposes: Exposed,
}

/// One snapshot; a run keeps the one it began with.
#[derive(Debug, Clone, Default)]
pub struct World {
    servers: BTreeMap<ServerIdentity, ServerFacts>,
    rows: BTreeMap<String, ServerIdentity>,
    apps: BTreeMap<(String, String), AppFacts>,
}

impl World {
    /// A snapshot of these servers and apps. Of two servers with one identity the first stays.
    pub fn new(servers: Vec<ServerFacts>, apps: Vec<AppFacts>) -> Self {
        let mut world = Self::default();
        for server in servers {
            if let Some(row) = &server.row_id {
                world.rows.entry(row.clone()).or_insert_with(|| server.identity.clone());
            }
            world.servers.entry(server.identity.clone()).or_insert(server);
        }
        for app in apps {
            world.apps.entry((app.plugin_id.clone(), app.app_id.clone())).or_insert(app);
        }
        world
    }

    /// The server written as a row id or as an identity. Names never identify.
    pub fn server(&self, written: &str) -> Option<&ServerFacts> {
        match self.rows.get(written) {
            Some(identity) => self.servers.get(identity),
            None => self.servers.values().find(|server| server.identity.as_str() == written),
        }
    }

    /// The server with this identity.
    pub fn by_identity(&self, identity: &ServerIdentity) -> Option<&ServerFacts> {
        self.servers.get(identity)
    }

    /// An app.
    pub fn app(&self, plugin_id: &str, app_id: &str) -> Option<&AppFacts> {
        self.apps.get(&(plugin_id.to_owned(), app_id.to_owned()))
    }

    /// The app whose own server this is.
    pub fn app_of(&self, identity: &ServerIdentity) -> Option<&AppFacts> {
        self.apps.values().find(|app| app.own_server.as_ref() == Some(identity))
    }

    /// All servers, in the order of their identities.
    pub fn servers(&self) -> impl Iterator<Item = &ServerFacts> {
        self.servers.values()
    }

    /// Whether `server` may be selected for `app`: its own, or one it exposes by name or identity.
    pub fn selectable(&self, app: &AppFacts, server: &ServerFacts) -> bool {
        if app.own_server.as_ref() == Some(&server.identity) {
            return true;
        }
        match &app.exposes {
            Exposed::None => false,
            Exposed::All => true,
            Exposed::List(names) => {
                names.iter().any(|name| *name == server.name || name == server.identity.as_str())
            }
        }
    }
}
