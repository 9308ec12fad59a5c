//! What exists at this moment, as grants see it: built-in servers, rows of a person, apps.

use std::collections::BTreeMap;

use chatos_contribution::{Exposed, ServerIdentity};
use chatos_manifest::{Dropped, Problem};
use chatos_plugins::Snapshot;
use chatos_policy::{AppFacts, ROUTER_SERVER, ServerFacts, ServerState, World};
use chatos_store::ServerFact;
use chatos_tool::Fault;

use crate::agents::AgentParts;

/// One snapshot of servers and apps.
pub(crate) fn world(parts: &AgentParts) -> Result<World, Fault> {
    let rows = parts.store.server_facts()?;
    let by_id: BTreeMap<&str, &ServerFact> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut servers = Vec::new();
    for name in chatos_builtin::server_names() {
        let Some(info) = chatos_builtin::server_info(name) else { continue };
        servers.push(built_in(info.id, name, by_id.get(info.id).copied()));
    }
    let is_built_in = |row: &ServerFact| {
        row.source == "builtin" || servers.iter().any(|s| s.row_id.as_deref() == Some(&row.id))
    };
    let own: Vec<ServerFacts> =
        rows.iter().filter(|row| row.source != "app" && !is_built_in(row)).map(of_person).collect();
    servers.extend(own);
    let snapshot = parts.plugins.plugins()?.snapshot();
    let mut apps = Vec::new();
    for plugin in snapshot.plugins.iter().filter(|plugin| plugin.active) {
        for app in &plugin.loaded.apps {
            let id = &app.manifest.id;
            // Asked for untrusted plugins too: they are refused as such, not as missing.
            let offered = plugin.preview_contribution(id, snapshot.revision);
            let (plugin_id, app_id) = (plugin.id().to_string(), id.to_string());
            let row = rows
                .iter()
                .find(|row| row.source == "app" && row.plugin_id == plugin_id && row.app_id == app_id);
            let own_server = offered.as_ref().and_then(|offered| offered.mcp.as_ref()).map(|server| {
                servers.push(ServerFacts {
                    identity: server.identity.clone(),
                    row_id: row.map(|row| row.id.clone()),
                    name: server.name.clone(),
                    state: match (plugin.is_trusted(), row.map_or(server.enabled, |row| row.enabled)) {
                        (false, _) => ServerState::Untrusted,
                        (true, false) => ServerState::Disabled,
                        (true, true) => ServerState::Usable,
                    },
                    allow_main: row.map_or(server.allow_main, |row| row.allow_main),
                    allow_sub: row.map_or(server.allow_sub, |row| row.allow_sub),
                    is_router: false,
                });
                server.identity.clone()
            });
            apps.push(AppFacts {
                name: format!("{plugin_id}.{app_id}"),
                plugin_id,
                app_id,
                own_server,
                exposes: offered.map(|offered| offered.mcp_servers.exposed).unwrap_or_default(),
            });
        }
    }
    dropped(&snapshot, &mut servers, &mut apps);
    Ok(World::new(servers, apps))
}

/// What was left out for an error is installed but did not load; that is told apart from missing.
fn dropped(snapshot: &Snapshot, servers: &mut Vec<ServerFacts>, apps: &mut Vec<AppFacts>) {
    let of_app =
        |problem: &&Problem| matches!(problem.dropped, Dropped::App | Dropped::Ai) && problem.is_error();
    for problem in snapshot.problems.iter().filter(of_app) {
        let app = problem.app.as_ref().and_then(|app| app.id.as_ref());
        let (Some(plugin), Some(app)) = (&problem.plugin_id, app) else { continue };
        let identity = ServerIdentity::app(plugin, app);
        let (plugin_id, app_id) = (plugin.to_string(), app.to_string());
        let name = format!("{plugin_id}.{app_id}");
        match apps.iter_mut().find(|known| known.plugin_id == plugin_id && known.app_id == app_id) {
            Some(known) if known.own_server.is_some() => continue,
            Some(known) => known.own_server = Some(identity.clone()),
            None => apps.push(AppFacts {
                plugin_id,
                app_id,
                name: name.clone(),
                own_server: Some(identity.clone()),
                exposes: Exposed::None,
            }),
        }
        servers.push(ServerFacts {
            identity,
            row_id: None,
            name,
            state: ServerState::Unavailable,
            allow_main: true,
            allow_sub: true,
            is_router: false,
        });
    }
}

fn state(enabled: bool) -> ServerState {
    if enabled { ServerState::Usable } else { ServerState::Disabled }
}

/// Of a built-in server only whether it is enabled is a person's decision (state §5).
fn built_in(id: &str, name: &str, row: Option<&ServerFact>) -> ServerFacts {
    let is_router = id == ROUTER_SERVER;
    ServerFacts {
        identity: ServerIdentity::admin(id),
        row_id: Some(id.to_owned()),
        name: name.to_owned(),
        state: state(row.is_none_or(|row| row.enabled)),
        allow_main: true,
        allow_sub: !is_router,
        is_router,
    }
}

fn of_person(row: &ServerFact) -> ServerFacts {
    ServerFacts {
        identity: ServerIdentity::admin(&row.id),
        row_id: Some(row.id.clone()),
        name: row.name.clone(),
        state: state(row.enabled),
        allow_main: row.allow_main,
        allow_sub: row.allow_sub,
        is_router: row.id == ROUTER_SERVER,
    }
}
