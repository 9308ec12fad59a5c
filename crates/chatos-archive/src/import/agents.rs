//! land_configs and agents. An agent keeps exactly its tools, and nobody gains any.

use chatos_tool::hex;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Import;
use super::admin::BUILT_IN_SERVERS;
use super::merge::{Taken, Unfit, decide, flag, free_name, imported, maybe, put};
use super::record::{Record, as_switch, as_text, take, texts};
use super::report::Reason;

/// Fixed ids of the built-in land_configs (agents §2).
const BUILT_IN: [&str; 2] = ["lc_safe_default", "lc_developer"];
/// The sub flow of the Safe default.
const SAFE_SUB: [&str; 4] = ["project_files", "task_manager", "project_journal", "ui_prompter"];

/// One entry of a flow, server or app.
struct Entry {
    server: String,
    plugin: String,
    app: String,
    name: String,
    lang: String,
    prompt: bool,
    sampling: bool,
    tools: Option<Map<String, Value>>,
}

impl Entry {
    fn server(id: &str) -> Self {
        Self {
            server: id.to_owned(),
            plugin: String::new(),
            app: String::new(),
            name: String::new(),
            lang: "auto".to_owned(),
            prompt: true,
            sampling: false,
            tools: None,
        }
    }

    fn app(plugin: &str, app: &str) -> Self {
        Self { plugin: plugin.to_owned(), app: app.to_owned(), ..Self::server("") }
    }
}

/// What one role may use.
#[derive(Default)]
struct Flow {
    servers: Vec<Entry>,
    apps: Vec<Entry>,
    prompts: Vec<(String, String)>,
    agent_apps: String,
    agent_prompts: String,
}

pub(super) fn land_config(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    if BUILT_IN.contains(&record.id.as_str()) {
        return Err(Reason::BuiltIn.into());
    }
    let name = record.required("name")?;
    let taken = decide(import.target, "land_configs", &record.id, record.updated_at, "locked")?;
    let name = free_name(import.target, "land_configs", &name, &record.id, imported)?;
    let mut limits = match record.take("limits") {
        Some(Value::Object(limits)) => limits,
        _ => Map::new(),
    };
    let whole = |limits: &mut Map<String, Value>, name: &str| take(limits, name)?.as_i64();
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("name", Sql::from(name)),
        ("description", Sql::from(record.text("description"))),
        ("locked", flag(false)),
        ("max_passes", maybe(whole(&mut limits, "maxPasses").filter(|n| (1..=500).contains(n)))),
        ("max_sub_depth", maybe(whole(&mut limits, "maxSubDepth").filter(|n| (0..=1).contains(n)))),
        ("max_tokens", maybe(whole(&mut limits, "maxTokens").filter(|n| *n >= 0))),
        ("max_cost", maybe(take(&mut limits, "maxCost").and_then(|n| n.as_f64()).filter(|n| *n >= 0.0))),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    record.take("locked");
    put(import.target, "land_configs", row)?;
    for role in ["main", "sub"] {
        let flow = record.take(role).map(flow).unwrap_or_default();
        put_flow(import, &record.id, role, &flow)?;
    }
    Ok(taken)
}

fn flow(value: Value) -> Flow {
    let Value::Object(mut map) = value else { return Flow::default() };
    let word = |map: &mut Map<String, Value>, name: &str, legal: &[&str]| {
        let word = take(map, name).and_then(|value| as_text(&value)).unwrap_or_default();
        if legal.contains(&word.as_str()) { word } else { legal[0].to_owned() }
    };
    let mut servers: Vec<Entry> = Vec::new();
    for value in list(take(&mut map, "mcpServers")) {
        let Some(found) = entry(value, false) else { continue };
        if !servers.iter().any(|known| known.server == found.server) {
            servers.push(found);
        }
    }
    let mut apps: Vec<Entry> = Vec::new();
    for value in list(take(&mut map, "apps")) {
        let Some(found) = entry(value, true) else { continue };
        if !apps.iter().any(|known| known.plugin == found.plugin && known.app == found.app) {
            apps.push(found);
        }
    }
    let mut prompts: Vec<(String, String)> = Vec::new();
    for value in list(take(&mut map, "prompts")) {
        let (key, lang) = match value {
            Value::Object(mut item) => {
                let key = ["key", "name", "id"]
                    .iter()
                    .find_map(|name| take(&mut item, name))
                    .and_then(|key| as_text(&key));
                (key, language(take(&mut item, "lang")))
            }
            other => (as_text(&other), "auto".to_owned()),
        };
        if let Some(key) = key.filter(|key| !key.trim().is_empty() && !prompts.iter().any(|(k, _)| k == key))
        {
            prompts.push((key, lang));
        }
    }
    Flow {
        servers,
        apps,
        prompts,
        agent_apps: word(&mut map, "agentApps", &["none", "trusted"]),
        agent_prompts: word(&mut map, "agentPrompts", &["listed", "any"]),
    }
}

fn entry(value: Value, app: bool) -> Option<Entry> {
    let mut map = match value {
        Value::Object(map) => map,
        other if !app => {
            return Some(Entry::server(as_text(&other)?.trim())).filter(|e| !e.server.is_empty());
        }
        _ => return None,
    };
    let text = |map: &mut Map<String, Value>, name: &str| {
        take(map, name).and_then(|value| as_text(&value)).unwrap_or_default().trim().to_owned()
    };
    let mut entry = if app {
        Entry::app(&text(&mut map, "pluginId"), &text(&mut map, "appId"))
    } else {
        Entry::server(&text(&mut map, "id"))
    };
    if if app { entry.plugin.is_empty() || entry.app.is_empty() } else { entry.server.is_empty() } {
        return None;
    }
    entry.name = text(&mut map, "name");
    entry.lang = language(take(&mut map, "promptLang"));
    entry.prompt = take(&mut map, "prompt").and_then(|value| as_switch(&value)).unwrap_or(true);
    entry.sampling = take(&mut map, "sampling").and_then(|value| as_switch(&value)).unwrap_or(false);
    entry.tools = match take(&mut map, "tools") {
        Some(Value::Object(tools)) => Some(tools),
        _ => None,
    };
    Some(entry)
}

fn put_flow(import: &Import<'_>, land: &str, role: &str, flow: &Flow) -> Result<(), Unfit> {
    let target = import.target;
    for kind in ["server", "app"] {
        let sql = format!(
            "DELETE FROM land_config_tools WHERE entry_kind = ?1 AND entry_id IN
               (SELECT id FROM land_config_{kind}s WHERE land_config_id = ?2 AND role = ?3)"
        );
        target.execute(&sql, [kind, land, role])?;
    }
    for table in ["flows", "servers", "apps", "prompts"] {
        let sql = format!("DELETE FROM land_config_{table} WHERE land_config_id = ?1 AND role = ?2");
        target.execute(&sql, [land, role])?;
    }
    target.execute(
        "INSERT INTO land_config_flows (land_config_id, role, agent_apps, agent_prompts) VALUES (?1, ?2, ?3, ?4)",
        [land, role, &flow.agent_apps, &flow.agent_prompts],
    )?;
    for (position, entry) in flow.servers.iter().enumerate() {
        let id = entry_id(land, role, &entry.server);
        target.execute(
            "INSERT INTO land_config_servers (id, land_config_id, role, position, server_id, name, prompt_lang,
               use_prompt, sampling, tools_restricted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                &id,
                land,
                role,
                position as i64,
                &entry.server,
                &entry.name,
                &entry.lang,
                entry.prompt,
                entry.sampling,
                restricts(entry),
            ),
        )?;
        put_tools(import, "server", &id, entry)?;
    }
    for (position, entry) in flow.apps.iter().enumerate() {
        let id = entry_id(land, role, &format!("{}\u{1f}{}", entry.plugin, entry.app));
        target.execute(
            "INSERT INTO land_config_apps (id, land_config_id, role, position, plugin_id, app_id, name, prompt_lang,
               use_prompt, sampling, tools_restricted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                &id,
                land,
                role,
                position as i64,
                &entry.plugin,
                &entry.app,
                &entry.name,
                &entry.lang,
                entry.prompt,
                entry.sampling,
                restricts(entry),
            ),
        )?;
        put_tools(import, "app", &id, entry)?;
    }
    for (position, (key, lang)) in flow.prompts.iter().enumerate() {
        target.execute(
            "INSERT INTO land_config_prompts (land_config_id, role, position, prompt_key, lang)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (land, role, position as i64, key, lang),
        )?;
    }
    Ok(())
}

/// agents §2: `allow` present, even empty, restricts; absent allows every tool.
fn restricts(entry: &Entry) -> bool {
    entry.tools.as_ref().is_some_and(|tools| tools.get("allow").is_some_and(Value::is_array))
}

fn put_tools(import: &Import<'_>, kind: &str, id: &str, entry: &Entry) -> Result<(), Unfit> {
    let Some(tools) = &entry.tools else { return Ok(()) };
    for name in ["allow", "deny", "ask"] {
        for (position, glob) in texts(tools.get(name)).into_iter().enumerate() {
            import.target.execute(
                "INSERT INTO land_config_tools (entry_kind, entry_id, list, glob, position)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                (kind, id, name, glob, position as i64),
            )?;
        }
    }
    Ok(())
}

/// Entries need ids of their own; the same content gives the same one.
fn entry_id(land: &str, role: &str, what: &str) -> String {
    let digest = Sha256::digest(format!("{land}\u{1f}{role}\u{1f}{what}").as_bytes());
    format!("imp_{}", hex(&digest[..12]))
}

pub(super) fn agent(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let name = record.required("name")?;
    let mode = match record.text("mode").as_str() {
        "" | "custom" => "custom",
        "flow" => "flow",
        other => return Err(Reason::Unknown("mode", other.to_owned()).into()),
    };
    let taken = decide(import.target, "agents", &record.id, record.updated_at, "0")?;
    let servers = record.take_nullable("mcpServerIds").filter(Value::is_array);
    let subagents = record.take_nullable("subagentIds").filter(Value::is_array);
    let apps = list(record.take("uiApps"));
    let mut land = record.text("landConfigId");
    let server_ids = texts(servers.as_ref());
    let apps: Vec<AgentApp> = apps.into_iter().filter_map(AgentApp::read).collect();
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("name", Sql::from(name.clone())),
        ("description", Sql::from(record.text("description"))),
        ("mode", Sql::from(mode.to_owned())),
        ("model_id", Sql::from(record.text("modelId"))),
        ("prompt", Sql::from(record.text("prompt"))),
        ("workspace_root", Sql::from(record.text("workspaceRoot"))),
        ("prompt_lang", Sql::from(language(record.take("promptLang")))),
        ("servers_mode", Sql::from(if servers.is_some() { "list" } else { "land" }.to_owned())),
        ("subagents_mode", Sql::from(if subagents.is_some() { "list" } else { "land" }.to_owned())),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    put(import.target, "agents", row)?;
    if mode == "custom" && land.trim().is_empty() {
        land = own_land_config(import, record, &name, &server_ids, &apps)?;
    }
    import
        .target
        .execute("UPDATE agents SET land_config_id = ?1 WHERE id = ?2", [land.trim(), &record.id])?;
    let lists = [
        ("agent_servers", server_ids),
        ("agent_prompts", record.list("promptIds")),
        ("agent_subagents", texts(subagents.as_ref())),
        ("agent_skills", record.list("skills")),
    ];
    for (table, ids) in lists {
        put_refs(import, table, "agent_id", &record.id, &ids)?;
    }
    import.target.execute("DELETE FROM agent_apps WHERE agent_id = ?1", [&record.id])?;
    for (position, app) in apps.iter().enumerate() {
        let id = entry_id(&record.id, "agent", &format!("{}\u{1f}{}", app.plugin, app.app));
        import.target.execute(
            "INSERT INTO agent_apps (id, agent_id, plugin_id, app_id, use_mcp, use_prompt, prompt_lang, position)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            (&id, &record.id, &app.plugin, &app.app, app.mcp, app.prompt, &app.lang, position as i64),
        )?;
        put_refs(import, "agent_app_servers", "agent_app_id", &id, &app.servers)?;
        put_refs(import, "agent_app_prompts", "agent_app_id", &id, &app.prompts)?;
    }
    Ok(taken)
}

/// An app an agent chose.
struct AgentApp {
    plugin: String,
    app: String,
    mcp: bool,
    prompt: bool,
    lang: String,
    servers: Vec<String>,
    prompts: Vec<String>,
}

impl AgentApp {
    fn read(value: Value) -> Option<Self> {
        let Value::Object(mut map) = value else { return None };
        let mut text =
            |name: &str| take(&mut map, name).and_then(|value| as_text(&value)).unwrap_or_default();
        let (plugin, app) = (text("pluginId"), text("appId"));
        if plugin.is_empty() || app.is_empty() {
            return None;
        }
        let switch = |map: &mut Map<String, Value>, name: &str| {
            take(map, name).and_then(|value| as_switch(&value)).unwrap_or(true)
        };
        Some(Self {
            plugin,
            app,
            mcp: switch(&mut map, "mcp"),
            prompt: switch(&mut map, "prompt"),
            lang: language(take(&mut map, "promptLang")),
            servers: texts(take(&mut map, "mcpServerIds").as_ref()),
            prompts: texts(take(&mut map, "promptIds").as_ref()),
        })
    }
}

/// An agent without limits of its own gets a land_config that lists exactly what it used; its sub
/// flow is the Safe default's.
fn own_land_config(
    import: &Import<'_>,
    record: &Record,
    agent: &str,
    servers: &[String],
    apps: &[AgentApp],
) -> Result<String, Unfit> {
    let id = format!("lc_imported_{}", hex(&Sha256::digest(record.id.as_bytes())[..8]));
    let name = free_name(import.target, "land_configs", &format!("Imported: {agent}"), &id, imported)?;
    let row = vec![
        ("id", Sql::from(id.clone())),
        ("name", Sql::from(name)),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    put(import.target, "land_configs", row)?;
    let mut all: Vec<&String> = servers.iter().collect();
    for server in apps.iter().flat_map(|app| &app.servers) {
        if !all.contains(&server) {
            all.push(server);
        }
    }
    let mut listed: Vec<Entry> = Vec::new();
    for app in apps {
        if !listed.iter().any(|known| known.plugin == app.plugin && known.app == app.app) {
            listed.push(Entry::app(&app.plugin, &app.app));
        }
    }
    let main = Flow {
        servers: all.into_iter().map(|id| Entry::server(id)).collect(),
        apps: listed,
        prompts: Vec::new(),
        agent_apps: "none".to_owned(),
        // Grants only prompts the agent chose itself.
        agent_prompts: "any".to_owned(),
    };
    put_flow(import, &id, "main", &main)?;
    let safe = BUILT_IN_SERVERS.iter().filter(|(name, _)| SAFE_SUB.contains(name));
    let sub = Flow {
        servers: safe.map(|(_, id)| Entry::server(id)).collect(),
        apps: Vec::new(),
        prompts: ["default", "internal_subagent"].map(|key| (key.to_owned(), "auto".to_owned())).to_vec(),
        agent_apps: "trusted".to_owned(),
        agent_prompts: "any".to_owned(),
    };
    put_flow(import, &id, "sub", &sub)?;
    Ok(id)
}

fn put_refs(import: &Import<'_>, table: &str, column: &str, id: &str, refs: &[String]) -> Result<(), Unfit> {
    import.target.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), [id])?;
    let sql = format!("INSERT INTO {table} ({column}, ref_id, position) VALUES (?1, ?2, ?3)");
    for (position, target) in refs.iter().enumerate() {
        import.target.prepare_cached(&sql)?.execute((id, target, position as i64))?;
    }
    Ok(())
}

fn language(value: Option<Value>) -> String {
    match value.and_then(|value| as_text(&value)).as_deref() {
        Some("zh") => "zh",
        Some("en") => "en",
        _ => "auto",
    }
    .to_owned()
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}
