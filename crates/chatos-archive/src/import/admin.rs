//! Models, secrets, servers, prompts, settings and the state of subagents.

use chatos_settings::{check_value, find_setting};
use chatos_store::door::{secret_place, unsealable};
use chatos_store::is_secret_name;
use chatos_tool::Text;
use rusqlite::OptionalExtension;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::Import;
use super::merge::{Taken, Unfit, decide, flag, free_name, imported, maybe, put};
use super::record::{Record, as_text, take};
use super::report::Reason;

/// Built-in servers and their fixed ids (servers §1).
pub(super) const BUILT_IN_SERVERS: [(&str, &str); 10] = [
    ("project_files", "8fe4e8f4-b8d1-4f59-967d-374a55f61417"),
    ("code_writer", "f2d0dbcb-e86e-493a-86b1-05cff71a14cb"),
    ("code_maintainer", "b10599fb-bda3-439f-9143-565fc2a2700c"),
    ("shell_tasks", "a176d672-15f4-43c5-8c5f-6516cad8240f"),
    ("task_manager", "56b1ee50-8160-4ec8-89ed-b65c81b8a3fd"),
    ("subagent_router", "36bb1921-66e8-4901-9739-2177349f5dd4"),
    ("project_journal", "9efd2c3e-435a-4aa5-8838-e4289f2b616a"),
    ("ui_prompter", "bdc91c89-b9d8-44d2-a572-5afa9c0cccb9"),
    ("lsp_bridge", "ba246952-8140-4f8e-ab46-33757b209585"),
    ("chrome_devtools", "cb5baaba-ab78-4189-b210-716be799268c"),
];

/// Settings whose older meaning is not safe to take over (state §7).
const NOT_TAKEN: [&str; 2] = ["filesystemSymlinkPolicy", "injectSecretsToEnv"];

pub(super) fn secret(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let name = record.required("name")?;
    if !is_secret_name(&name) {
        return Err(Reason::SecretName(name).into());
    }
    let value = Zeroizing::new(record.text("value"));
    let opened = if value.starts_with("enc:v1:") {
        let opened = import.old_key.as_ref().and_then(|key| key.open(&value));
        opened.ok_or(Reason::KeyMissing)?
    } else {
        Zeroizing::new(value.as_bytes().to_vec())
    };
    if opened.is_empty() {
        return Err(Reason::Missing("value").into());
    }
    let taken = decide(import.target, "secrets", &record.id, record.updated_at, "0")?;
    let free = free_name(import.target, "secrets", &name, &record.id, |number| {
        if number == 1 { "_imported".to_owned() } else { format!("_imported_{number}") }
    })?;
    if free != name {
        import.renamed_secrets.insert(name.to_ascii_lowercase(), free.clone());
    }
    let place = secret_place(import.instance, &record.id);
    let sealed = import.secrets.seal(&place, &opened).map_err(|error| unsealable(&error))?;
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("name", Sql::from(free)),
        ("sealed", Sql::from(sealed)),
        ("description", Sql::from(record.text("description"))),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    put(import.target, "secrets", row)?;
    Ok(taken)
}

pub(super) fn model(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let name = record.required("name")?;
    let model = record.required("model")?;
    let taken = decide(import.target, "models", &record.id, record.updated_at, "0")?;
    let name = free_name(import.target, "models", &name, &record.id, imported)?;
    let mut key_name = record.text("apiKeyEnv");
    if key_name.is_empty() {
        key_name = record.text("apiKeyName");
    }
    if let Some(renamed) = import.renamed_secrets.get(&key_name.to_ascii_lowercase()) {
        key_name.clone_from(renamed);
    }
    let effort = record.text("reasoningEffort").to_ascii_lowercase();
    let effort =
        if matches!(effort.as_str(), "minimal" | "low" | "medium" | "high") { effort } else { String::new() };
    let followup = [record.text("toolFollowup"), record.text("toolFollowupMode")].concat();
    // There is one default; what a person chose here stays.
    let wants_default = record.switch("isDefault").unwrap_or_default();
    let taken_default: bool = import.target.query_row(
        "SELECT EXISTS (SELECT 1 FROM models WHERE is_default = 1 AND id <> ?1 AND source <> 'builtin')",
        [&record.id],
        |row| row.get(0),
    )?;
    if wants_default && !taken_default {
        // The demo model is the default only where nothing else is.
        import.target.execute("UPDATE models SET is_default = 0 WHERE source = 'builtin'", [])?;
    }
    let object = |value: Option<Value>| maybe(value.filter(Value::is_object).map(|value| value.to_string()));
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("name", Sql::from(name)),
        ("provider", Sql::from(record.text("provider"))),
        ("model", Sql::from(model)),
        ("base_url", Sql::from(record.text("baseUrl"))),
        ("api_key_name", Sql::from(key_name)),
        ("description", Sql::from(record.text("description"))),
        ("is_default", flag(wants_default && !taken_default)),
        ("enabled", flag(record.switch("enabled").unwrap_or(true))),
        ("context_tokens", maybe(record.count("contextTokens"))),
        ("max_output_tokens", maybe(record.count("maxOutputTokens"))),
        ("temperature", maybe(record.number("temperature"))),
        ("reasoning_effort", Sql::from(effort)),
        ("supports_vision", maybe(record.switch("supportsVision").map(i64::from))),
        ("supports_reasoning", maybe(record.switch("supportsReasoning").map(i64::from))),
        ("supports_tools", maybe(record.switch("supportsTools").map(i64::from))),
        ("supports_parallel_tools", maybe(record.switch("supportsParallelTools").map(i64::from))),
        ("tool_followup", Sql::from(if followup == "none" { "none" } else { "auto" }.to_owned())),
        ("extra_headers", object(record.take("extraHeaders"))),
        ("extra_body", object(record.take("extraBody"))),
        ("source", Sql::from("import".to_owned())),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    put(import.target, "models", row)?;
    Ok(taken)
}

pub(super) fn server(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let tags = record.list("tags");
    if tags.iter().any(|tag| tag.to_ascii_lowercase().starts_with("uiapp")) {
        return Err(Reason::FromPlugin.into());
    }
    if let Some((name, id)) = BUILT_IN_SERVERS.iter().find(|(_, id)| *id == record.id) {
        return built_in_server(import, record, name, id);
    }
    let name = record.required("name")?;
    let url = record.required("url")?;
    let taken = decide(import.target, "mcp_servers", &record.id, record.updated_at, "locked")?;
    let name = free_name(import.target, "mcp_servers", &name, &record.id, imported)?;
    let auth = record.take("auth").and_then(stored_auth);
    let sealed = match auth {
        Some(auth) => {
            let place = format!("{}|mcp_servers|{}|auth", import.instance, record.id);
            let bytes = Zeroizing::new(auth.to_string());
            let sealed = import.secrets.seal(&place, bytes.as_bytes()).map_err(|e| unsealable(&e))?;
            Some(sealed)
        }
        None => None,
    };
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("name", Sql::from(name)),
        ("url", Sql::from(url)),
        ("transport", Sql::from(record.text("transport"))),
        ("description", Sql::from(record.text("description"))),
        ("enabled", flag(record.switch("enabled").unwrap_or(true))),
        ("locked", flag(false)),
        ("allow_main", flag(record.switch("allowMain").unwrap_or(true))),
        ("allow_sub", flag(record.switch("allowSub").unwrap_or(true))),
        ("timeout_ms", maybe(record.count("timeoutMs"))),
        ("max_timeout_ms", maybe(record.count("maxTimeoutMs"))),
        ("call_meta", maybe(record.take("callMeta").filter(Value::is_object).map(|value| value.to_string()))),
        ("auth_sealed", maybe(sealed)),
        ("source", Sql::from("import".to_owned())),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    // Where the older program listed it; there is nothing to take from that here.
    record.take("app_id");
    put(import.target, "mcp_servers", row)?;
    import.target.execute("DELETE FROM mcp_server_tags WHERE server_id = ?1", [&record.id])?;
    for tag in tags {
        let sql = "INSERT INTO mcp_server_tags (server_id, tag) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        import.target.prepare_cached(sql)?.execute([&record.id, &tag])?;
    }
    Ok(taken)
}

/// Only whether it is enabled is a person's decision.
fn built_in_server(import: &Import<'_>, record: &mut Record, name: &str, id: &str) -> Result<Taken, Unfit> {
    let Some(enabled) = record.switch("enabled") else { return Err(Reason::BuiltIn.into()) };
    record.drain();
    let there: Option<(bool, i64)> = import
        .target
        .query_row("SELECT enabled, updated_at FROM mcp_servers WHERE id = ?1", [id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    match there {
        Some((now, _)) if now == enabled => return Err(Reason::NotNewer.into()),
        Some((_, at)) if at >= record.updated_at => return Err(Reason::NotNewer.into()),
        Some(_) => {
            import.target.execute(
                "UPDATE mcp_servers SET enabled = ?1, updated_at = ?2 WHERE id = ?3",
                (enabled, record.updated_at, id),
            )?;
            return Ok(Taken::Newer);
        }
        None => {}
    }
    // A user's server may have taken the name; the built-in one keeps its own.
    let sql =
        "UPDATE mcp_servers SET name = name || ' (imported)' WHERE name = ?1 COLLATE NOCASE AND id <> ?2";
    import.target.execute(sql, [name, id])?;
    import.target.execute(
        "INSERT INTO mcp_servers (id, name, url, enabled, locked, source, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, 1, 'builtin', ?5, ?6)",
        (id, name, format!("builtin:{name}"), enabled, record.created_at, record.updated_at),
    )?;
    Ok(Taken::New)
}

/// Credentials in the form the host seals: token, basic, headers.
fn stored_auth(value: Value) -> Option<Value> {
    let mut auth = match value {
        Value::Object(auth) => auth,
        Value::String(token) if !token.trim().is_empty() => {
            return Some(json!({ "token": token.trim(), "username": null, "password": null, "headers": [] }));
        }
        _ => return None,
    };
    let text = |map: &mut Map<String, Value>, name: &str| {
        take(map, name).and_then(|value| as_text(&value)).filter(|text| !text.is_empty())
    };
    let token = text(&mut auth, "token");
    let mut basic = match take(&mut auth, "basic") {
        Some(Value::Object(basic)) => basic,
        _ => Map::new(),
    };
    let username = text(&mut basic, "username").or_else(|| text(&mut auth, "username"));
    let password = text(&mut basic, "password").or_else(|| text(&mut auth, "password"));
    let mut headers: Vec<(String, String)> = Vec::new();
    match take(&mut auth, "headers") {
        Some(Value::Object(map)) => {
            headers.extend(map.iter().filter_map(|(name, value)| Some((name.clone(), as_text(value)?))));
        }
        Some(Value::Array(items)) => headers.extend(items.into_iter().filter_map(|item| {
            let Value::Object(mut item) = item else { return None };
            let name = text(&mut item, "name").or_else(|| text(&mut item, "key"))?;
            Some((name, text(&mut item, "value")?))
        })),
        _ => {}
    }
    if token.is_none() && username.is_none() && headers.is_empty() {
        return None;
    }
    Some(json!({ "token": token, "username": username, "password": password, "headers": headers }))
}

pub(super) fn prompt(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let name = record.required("name")?;
    let content = record.text("content");
    let built_in = record.switch("builtin").unwrap_or_default();
    let default = record.text("defaultContent");
    if built_in && content == default {
        return Err(Reason::Unedited.into());
    }
    let (taken, id, name) = if built_in {
        // The same built-in prompt may be here under an id of its own.
        let sql = "SELECT id FROM prompts WHERE name = ?1 COLLATE NOCASE AND builtin = 1";
        let here: Option<String> = import.target.query_row(sql, [&name], |row| row.get(0)).optional()?;
        let id = here.unwrap_or_else(|| record.id.clone());
        (decide(import.target, "prompts", &id, record.updated_at, "0")?, id, name)
    } else {
        let taken = decide(import.target, "prompts", &record.id, record.updated_at, "locked")?;
        let name = free_name(import.target, "prompts", &name, &record.id, imported)?;
        (taken, record.id.clone(), name)
    };
    let kind = record.text("type");
    let row = vec![
        ("id", Sql::from(id.clone())),
        ("name", Sql::from(name)),
        ("title", Sql::from(record.text("title"))),
        ("content", Sql::from(content)),
        ("type", Sql::from(if kind.is_empty() { "system".to_owned() } else { kind })),
        ("allow_main", flag(record.switch("allowMain").unwrap_or(true))),
        ("allow_sub", flag(record.switch("allowSub").unwrap_or(true))),
        ("lang", Sql::from(record.text("lang"))),
        ("builtin", flag(built_in)),
        ("locked", flag(false)),
        ("source", Sql::from(if built_in { "builtin" } else { "import" }.to_owned())),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
    ];
    record.take("locked");
    put(import.target, "prompts", row)?;
    if built_in {
        // state §5: a value that differs from the synced one is a person's edit and stays.
        import.target.execute(
            "INSERT INTO synced_values (entity, entity_id, field, value, synced_at)
             VALUES ('prompts', ?1, 'content', ?2, ?3)
             ON CONFLICT (entity, entity_id, field) DO UPDATE SET value = excluded.value",
            (&id, &default, record.created_at),
        )?;
    }
    Ok(taken)
}

/// The row `runtime`: each known setting in its range; the rest is named.
pub(super) fn settings(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    if record.id != "runtime" {
        return Err(Reason::NotTaken.into());
    }
    let mut unknown = Vec::new();
    let (mut taken, mut mended) = (0, false);
    for (name, value) in record.drain() {
        let key = camel(&name);
        let Some(spec) = find_setting(&key) else {
            unknown.push(name);
            continue;
        };
        if NOT_TAKEN.contains(&spec.key) {
            let text = Text::new(
                format!("`{key}` was not taken over; set it yourself if you want it"),
                format!("未导入 `{key}`；如有需要请自行设置"),
            );
            import.report.note("setting_not_taken", text);
            continue;
        }
        let Ok(value) = check_value(spec, &value) else {
            mended = true;
            let text = Text::new(
                format!("the value of `{key}` is out of range; the default stays"),
                format!("`{key}` 的值超出范围；保留默认值"),
            );
            import.report.note("setting_out_of_range", text);
            continue;
        };
        if value == spec.default_value() {
            continue;
        }
        let sql = "INSERT INTO settings (key, value, updated_at, updated_by) VALUES (?1, ?2, ?3, 'import')
             ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at,
               updated_by = excluded.updated_by WHERE excluded.updated_at > settings.updated_at";
        let changed =
            import.target.prepare_cached(sql)?.execute((&key, value.to_string(), record.updated_at))?;
        if changed > 0 {
            taken += 1;
            if spec.weakens_with(&value) {
                import.report.weakened.push(key);
            }
        }
    }
    import.report.unknown("settings", unknown.into_iter());
    match (taken, mended) {
        (0, _) => Err(Reason::NotNewer.into()),
        (_, true) => Ok(Taken::Mended),
        (_, false) => Ok(Taken::New),
    }
}

/// `max_tool_passes` → `maxToolPasses`.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else {
            out.push(if upper { c.to_ascii_uppercase() } else { c });
            upper = false;
        }
    }
    out
}

pub(super) fn subagent(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let enabled = record.switch("enabled").ok_or(Reason::Missing("enabled"))?;
    record.drain();
    let sql = "UPDATE subagent_plugins SET enabled = ?1 WHERE id = ?2";
    match import.target.prepare_cached(sql)?.execute((enabled, &record.id))? {
        0 => Err(Reason::NotInstalled.into()),
        _ => Ok(Taken::Newer),
    }
}
