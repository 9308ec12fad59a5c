//! The tools of servers as far as they are known without asking any: what a connected one offers now, else
//! what was last seen of it.

use std::collections::{BTreeMap, HashMap};

use chatos_mcp::ServerKey;
use chatos_policy::World;
use chatos_store::PinState;
use chatos_tool::Fault;

use crate::agents::Agents;

/// The tools of one server.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownTools {
    pub(crate) names: Vec<String>,
    /// This is what it offers now, not what was last seen.
    pub(crate) now: bool,
    /// Tools that are off until a person approves them.
    pub(crate) off: HashMap<String, PinState>,
}

impl KnownTools {
    /// The word on the wire.
    pub(crate) fn source(&self) -> &'static str {
        if self.now { "now" } else { "lastSeen" }
    }
}

impl Agents {
    /// By the identity of the server. Built-in servers are part of this program; others are connected or not.
    pub(crate) fn known_tools(&self, world: &World) -> Result<BTreeMap<String, KnownTools>, Fault> {
        let pins = self.0.store.tool_pins(None)?;
        let mut known: BTreeMap<String, KnownTools> = BTreeMap::new();
        // A row without a name only says that the server was seen.
        for pin in pins {
            let server = known.entry(pin.identity).or_default();
            if pin.tool.is_empty() || pin.tool == chatos_mcp::INSTRUCTIONS {
                continue;
            }
            if pin.state != PinState::Approved {
                server.off.insert(pin.tool.clone(), pin.state);
            }
            server.names.push(pin.tool);
        }
        let env = chatos_layer::ServerEnv {
            state_dir: Some(self.0.dir.path().to_owned()),
            write: true,
            ..chatos_layer::ServerEnv::default()
        };
        let pool = self.0.servers.get().map(|desk| desk.pool());
        for server in world.servers() {
            let identity = server.identity.as_str();
            let built_in = chatos_builtin::server_info(&server.name)
                .is_some_and(|info| server.row_id.as_deref() == Some(info.id));
            if built_in && let Some(found) = chatos_builtin::find_server(&server.name, &env) {
                let names = found.tool_names().map(str::to_owned).collect();
                known.insert(identity.to_owned(), KnownTools { names, now: true, off: HashMap::new() });
            } else if let Some(list) = pool.and_then(|pool| pool.offered(&ServerKey::new(identity))) {
                let server = known.entry(identity.to_owned()).or_default();
                server.now = true;
                server.names = list.tools.iter().map(|tool| tool.name.clone()).collect();
                server.names.sort_unstable();
            }
        }
        Ok(known)
    }
}
