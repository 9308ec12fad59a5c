//! land_configs (agents §2) as rows: one per flow, entry, pattern and prompt, in their order.

use std::collections::BTreeMap;

use chatos_policy::{
    AgentApps, AgentPrompts, AppEntry, Flow, Glob, LandConfig, Limits, PromptEntry, Role, ServerEntry,
    ToolFilter,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::agents::{AgentRecord, lang_from, lang_word};
use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

impl Store {
    /// All land_configs, the locked ones first.
    pub fn land_configs(&self) -> Result<Vec<LandConfig>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT id FROM land_configs ORDER BY locked DESC, name COLLATE NOCASE")?;
            let ids: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            ids.iter().filter_map(|id| get(connection, id).transpose()).collect()
        })
    }

    /// One land_config.
    pub fn land_config(&self, id: &str) -> Result<Option<LandConfig>, StoreError> {
        self.read(|connection| get(connection, id))
    }

    /// Agents that name this land_config: id and name.
    pub fn agents_using(&self, land_config: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|connection| users(connection, land_config))
    }

    /// Writes a land_config whole. A locked one is only written by the program itself.
    pub fn put_land_config(&self, config: LandConfig, by_program: bool) -> Result<(), StoreError> {
        self.write(move |connection| {
            if !by_program {
                refuse_locked(connection, &config.id)?;
            }
            put(connection, &config)
        })
    }

    /// Writes an agent together with the land_config it uses from now on.
    pub fn put_agent_with_land(&self, config: LandConfig, agent: AgentRecord) -> Result<(), StoreError> {
        self.write(move |connection| {
            refuse_locked(connection, &config.id)?;
            put(connection, &config)?;
            crate::agents::put(connection, &agent)
        })
    }

    /// Writes the built-in ones as this binary has them (state §5). Somebody else's may have a name.
    pub fn seed_land_configs(&self, configs: Vec<LandConfig>) -> Result<(), StoreError> {
        self.write(move |connection| {
            for config in &configs {
                connection.execute(
                    "UPDATE land_configs SET name = name || ' (2)' WHERE name = ?1 COLLATE NOCASE AND id <> ?2",
                    [&config.name, &config.id],
                )?;
                put(connection, config)?;
            }
            Ok(())
        })
    }

    /// Removes a land_config that nobody uses; true when there was one.
    pub fn remove_land_config(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            refuse_locked(connection, &id)?;
            // Looked at again in the transaction that deletes: an agent may have chosen it meanwhile.
            if !users(connection, &id)?.is_empty() {
                return Err(StoreError::new(StoreErrorKind::Conflict, "agents use this land_config"));
            }
            forget_tools(connection, &id)?;
            Ok(connection.execute("DELETE FROM land_configs WHERE id = ?1", [&id])? > 0)
        })
    }
}

fn users(connection: &Connection, land_config: &str) -> Result<Vec<(String, String)>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name FROM agents WHERE trim(land_config_id) = ?1 ORDER BY name COLLATE NOCASE, id",
    )?;
    let rows = statement.query_map([land_config], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn refuse_locked(connection: &Connection, id: &str) -> Result<(), StoreError> {
    let locked: Option<bool> = connection
        .query_row("SELECT locked FROM land_configs WHERE id = ?1", [id], |row| row.get(0))
        .optional()?;
    match locked {
        Some(true) => Err(StoreError::new(StoreErrorKind::Conflict, "the land_config is locked")),
        _ => Ok(()),
    }
}

fn get(connection: &Connection, id: &str) -> Result<Option<LandConfig>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT name, description, locked, max_passes, max_sub_depth, max_tokens, max_cost
         FROM land_configs WHERE id = ?1",
    )?;
    let head = statement
        .query_row([id], |row| {
            Ok(LandConfig {
                id: id.to_owned(),
                name: row.get(0)?,
                description: row.get(1)?,
                locked: row.get(2)?,
                main: Flow::default(),
                sub: Flow::default(),
                limits: Limits {
                    max_passes: row.get(3)?,
                    max_sub_depth: row.get(4)?,
                    max_tokens: row.get::<_, Option<i64>>(5)?.and_then(|n| u64::try_from(n).ok()),
                    max_cost: row.get(6)?,
                },
            })
        })
        .optional()?;
    let Some(mut config) = head else { return Ok(None) };
    config.main = flow(connection, id, Role::Main)?;
    config.sub = flow(connection, id, Role::Sub)?;
    Ok(Some(config))
}

fn flow(connection: &Connection, id: &str, role: Role) -> Result<Flow, StoreError> {
    let place = params![id, role.as_str()];
    let words: Option<(String, String)> = connection
        .prepare_cached(
            "SELECT agent_apps, agent_prompts FROM land_config_flows WHERE land_config_id = ?1 AND role = ?2",
        )?
        .query_row(place, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (agent_apps, agent_prompts) = words.unwrap_or_default();
    let mut servers = Vec::new();
    let mut statement = connection.prepare_cached(
        "SELECT id, server_id, name, prompt_lang, use_prompt, sampling, tools_restricted, instructions
         FROM land_config_servers
         WHERE land_config_id = ?1 AND role = ?2 ORDER BY position, id",
    )?;
    let rows = statement.query_map(place, |row| {
        let entry = ServerEntry {
            id: row.get(1)?,
            name: row.get(2)?,
            prompt_lang: lang_from(&row.get::<_, String>(3)?),
            prompt: row.get(4)?,
            sampling: row.get(5)?,
            instructions: row.get(7)?,
            tools: ToolFilter::default(),
        };
        Ok((row.get::<_, String>(0)?, row.get::<_, bool>(6)?, entry))
    })?;
    for row in rows {
        let (row_id, restricted, mut entry) = row?;
        entry.tools = tools(connection, "server", &row_id, restricted)?;
        servers.push(entry);
    }
    let mut apps = Vec::new();
    let mut statement = connection.prepare_cached(
        "SELECT id, plugin_id, app_id, name, prompt_lang, use_prompt, sampling, tools_restricted, instructions
         FROM land_config_apps WHERE land_config_id = ?1 AND role = ?2 ORDER BY position, id",
    )?;
    let rows = statement.query_map(place, |row| {
        let entry = AppEntry {
            plugin_id: row.get(1)?,
            app_id: row.get(2)?,
            name: row.get(3)?,
            prompt_lang: lang_from(&row.get::<_, String>(4)?),
            prompt: row.get(5)?,
            sampling: row.get(6)?,
            instructions: row.get(8)?,
            tools: ToolFilter::default(),
        };
        Ok((row.get::<_, String>(0)?, row.get::<_, bool>(7)?, entry))
    })?;
    for row in rows {
        let (row_id, restricted, mut entry) = row?;
        entry.tools = tools(connection, "app", &row_id, restricted)?;
        apps.push(entry);
    }
    let mut statement = connection.prepare_cached(
        "SELECT prompt_key, lang FROM land_config_prompts WHERE land_config_id = ?1 AND role = ?2
         ORDER BY position, prompt_key",
    )?;
    let prompts = statement.query_map(place, |row: &Row<'_>| {
        Ok(PromptEntry { key: row.get(0)?, lang: lang_from(&row.get::<_, String>(1)?) })
    })?;
    Ok(Flow {
        mcp_servers: servers,
        apps,
        // A word nobody knows grants nothing.
        agent_apps: if agent_apps == "trusted" { AgentApps::Trusted } else { AgentApps::None },
        agent_prompts: if agent_prompts == "any" { AgentPrompts::Any } else { AgentPrompts::Listed },
        prompts: prompts.collect::<Result<_, _>>()?,
    })
}

fn tools(
    connection: &Connection,
    kind: &str,
    entry: &str,
    restricted: bool,
) -> Result<ToolFilter, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT list, glob FROM land_config_tools WHERE entry_kind = ?1 AND entry_id = ?2 ORDER BY list, position",
    )?;
    let mut lists: BTreeMap<String, Vec<Glob>> = BTreeMap::new();
    let rows =
        statement.query_map([kind, entry], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    for row in rows {
        let (list, glob) = row?;
        lists.entry(list).or_default().push(Glob::new(glob));
    }
    let mut take = |list: &str| lists.remove(list);
    let allow = take("allow");
    Ok(ToolFilter {
        // Restricted to an empty list is something else than not restricted.
        allow: if restricted { Some(allow.unwrap_or_default()) } else { allow },
        deny: take("deny").unwrap_or_default(),
        ask: take("ask").unwrap_or_default(),
    })
}

fn forget_tools(connection: &Connection, id: &str) -> Result<(), StoreError> {
    for kind in ["server", "app"] {
        let sql = format!(
            "DELETE FROM land_config_tools WHERE entry_kind = ?1
             AND entry_id IN (SELECT id FROM land_config_{kind}s WHERE land_config_id = ?2)"
        );
        connection.execute(&sql, [kind, id])?;
    }
    Ok(())
}

fn put(connection: &Connection, config: &LandConfig) -> Result<(), StoreError> {
    let limits = &config.limits;
    let max_tokens = limits.max_tokens.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    connection.execute(
        "INSERT INTO land_configs (id, name, description, locked, max_passes, max_sub_depth, max_tokens, max_cost,
           created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
           locked = excluded.locked, max_passes = excluded.max_passes, max_sub_depth = excluded.max_sub_depth,
           max_tokens = excluded.max_tokens, max_cost = excluded.max_cost, updated_at = excluded.updated_at",
        params![
            config.id,
            config.name,
            config.description,
            config.locked,
            limits.max_passes,
            limits.max_sub_depth,
            max_tokens,
            limits.max_cost,
            now_ms()
        ],
    )?;
    forget_tools(connection, &config.id)?;
    for table in ["flows", "servers", "apps", "prompts"] {
        let sql = format!("DELETE FROM land_config_{table} WHERE land_config_id = ?1");
        connection.execute(&sql, [&config.id])?;
    }
    for role in [Role::Main, Role::Sub] {
        put_flow(connection, &config.id, role, config.flow(role))?;
    }
    Ok(())
}

fn put_flow(connection: &Connection, id: &str, role: Role, flow: &Flow) -> Result<(), StoreError> {
    let word = role.as_str();
    let apps = if flow.agent_apps == AgentApps::Trusted { "trusted" } else { "none" };
    let prompts = if flow.agent_prompts == AgentPrompts::Any { "any" } else { "listed" };
    connection.execute(
        "INSERT INTO land_config_flows (land_config_id, role, agent_apps, agent_prompts) VALUES (?1, ?2, ?3, ?4)",
        [id, word, apps, prompts],
    )?;
    for (position, entry) in flow.mcp_servers.iter().enumerate() {
        let row = uuid::Uuid::now_v7().to_string();
        connection.execute(
            "INSERT INTO land_config_servers (id, land_config_id, role, position, server_id, name, prompt_lang,
               use_prompt, sampling, tools_restricted, instructions) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                row,
                id,
                word,
                position as i64,
                entry.id,
                entry.name,
                lang_word(entry.prompt_lang),
                entry.prompt,
                entry.sampling,
                entry.tools.allow.is_some(),
                entry.instructions
            ],
        )?;
        put_tools(connection, "server", &row, &entry.tools)?;
    }
    for (position, entry) in flow.apps.iter().enumerate() {
        let row = uuid::Uuid::now_v7().to_string();
        connection.execute(
            "INSERT INTO land_config_apps (id, land_config_id, role, position, plugin_id, app_id, name, prompt_lang,
               use_prompt, sampling, tools_restricted, instructions)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                row,
                id,
                word,
                position as i64,
                entry.plugin_id,
                entry.app_id,
                entry.name,
                lang_word(entry.prompt_lang),
                entry.prompt,
                entry.sampling,
                entry.tools.allow.is_some(),
                entry.instructions
            ],
        )?;
        put_tools(connection, "app", &row, &entry.tools)?;
    }
    for (position, entry) in flow.prompts.iter().enumerate() {
        connection.execute(
            "INSERT INTO land_config_prompts (land_config_id, role, position, prompt_key, lang)
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            params![id, word, position as i64, entry.key, lang_word(entry.lang)],
        )?;
    }
    Ok(())
}

fn put_tools(connection: &Connection, kind: &str, row: &str, filter: &ToolFilter) -> Result<(), StoreError> {
    let allow = filter.allow.as_deref().unwrap_or_default();
    for (list, globs) in [("allow", allow), ("deny", &filter.deny), ("ask", &filter.ask)] {
        for (position, glob) in globs.iter().enumerate() {
            connection.execute(
                "INSERT INTO land_config_tools (entry_kind, entry_id, list, glob, position)
                 VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
                params![kind, row, list, glob.as_str(), position as i64],
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
