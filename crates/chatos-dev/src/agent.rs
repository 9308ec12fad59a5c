//! The agent of a sandbox: it may use the plugin under development and nothing else (devkit §4.2).

use chatos_agents::FIRST_AGENT;
use chatos_host::Host;
use chatos_plugins::Plugin;
use chatos_tool::{ErrorCode, Fault, Lang};
use serde_json::{Map, Value, json};

const LAND: &str = "lc_dev";

/// Makes the land_config and the agent of the sandbox, or brings them up to date with the plugin's apps.
/// Gives the agent's id. Blocks.
pub(crate) fn keep(host: &Host, plugin: Option<&Plugin>) -> Result<String, Fault> {
    let desk = host.agents();
    let known = match desk.land_config(LAND) {
        Ok(land) => Some(land),
        Err(fault) if fault.class == ErrorCode::NotFound => None,
        Err(fault) => return Err(fault),
    };
    let apps: Vec<Value> = plugin
        .into_iter()
        .flat_map(|plugin| plugin.loaded.apps.iter().map(move |app| (plugin.id(), app)))
        .filter(|(_, app)| app.ai.is_some())
        .map(|(id, app)| {
            json!({ "pluginId": id, "appId": app.manifest.id, "name": app.manifest.name, "sampling": true })
        })
        .collect();
    let wanted = land(host, &apps);
    match known {
        None => drop(desk.create_land(wanted)?),
        Some(known) => {
            let same = known.main.apps.len() == apps.len()
                && known.main.apps.iter().zip(&apps).all(|(old, new)| {
                    new["pluginId"] == old.plugin_id.as_str()
                        && new["appId"] == old.app_id.as_str()
                        && new["name"] == old.name.as_str()
                });
            if !same {
                desk.update_land(LAND, wanted)?;
            }
        }
    }
    the_agent(host)
}

/// The agent every state begins with is the sandbox's, so that whoever names none gets this one.
fn the_agent(host: &Host) -> Result<String, Fault> {
    let desk = host.agents();
    if desk.agent(FIRST_AGENT)?.land_config_id != LAND {
        let (name, about) = match host.lang() {
            Lang::En => ("Dev", "May use the plugin under development and nothing else"),
            Lang::Zh => ("开发", "只能使用正在开发的插件"),
        };
        let patch = json!({ "name": name, "description": about, "mode": "flow", "landConfigId": LAND });
        desk.update(FIRST_AGENT, object(patch))?;
    }
    Ok(FIRST_AGENT.to_owned())
}

fn land(host: &Host, apps: &[Value]) -> Map<String, Value> {
    let (name, about) = match host.lang() {
        Lang::En => ("Dev", "Only the plugin under development"),
        Lang::Zh => ("开发", "仅限正在开发的插件"),
    };
    let flow = |own: &str| json!({ "apps": apps, "prompts": [{ "key": "default" }, { "key": own }] });
    object(json!({
        "id": LAND, "name": name, "description": about,
        "main": flow("internal_main"), "sub": flow("internal_subagent"),
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
