//! Agent records (agents §3). What an agent refers to may be gone: references stay as written, so
//! that they show as problems and never as something else.

use chatos_policy::{AgentConfig, Mode, PromptLang, UiApp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::acp::{self, AcpLaunch};
use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct AgentRecord {
    pub id: String,
    pub name: String,
    pub description: String,
    pub mode: Mode,
    /// Empty: Safe default for custom agents.
    pub land_config_id: String,
    /// `null`: the default model.
    pub model_id: Option<String>,
    pub prompt: String,
    pub workspace_root: String,
    pub prompt_lang: PromptLang,
    pub prompt_ids: Vec<String>,
    /// `null`: everything the land_config lists.
    pub mcp_server_ids: Option<Vec<String>>,
    /// `null`: every subagent.
    pub subagent_ids: Option<Vec<String>>,
    pub skills: Vec<String>,
    pub ui_apps: Vec<UiApp>,
    /// The program of another maker that this agent is; only a person sets it, by a way of its own.
    #[serde(skip)]
    pub acp: Option<AcpLaunch>,
    #[serde(skip)]
    pub created_at: i64,
    #[serde(skip)]
    pub updated_at: i64,
}

impl AgentRecord {
    /// A new agent: custom, nothing chosen (agents §3).
    pub fn new(name: &str, land_config_id: &str) -> Self {
        Self {
            id: uuid::Uuid::now_v7().to_string(),
            name: name.to_owned(),
            description: String::new(),
            mode: Mode::Custom,
            land_config_id: land_config_id.to_owned(),
            model_id: None,
            prompt: String::new(),
            workspace_root: String::new(),
            prompt_lang: PromptLang::Auto,
            prompt_ids: Vec::new(),
            mcp_server_ids: None,
            subagent_ids: None,
            skills: Vec::new(),
            ui_apps: Vec::new(),
            acp: None,
            created_at: 0,
            updated_at: 0,
        }
    }

    /// What grants are decided from. A flow agent has no choices, whatever is stored.
    pub fn config(&self) -> AgentConfig {
        let flow = self.mode == Mode::Flow;
        AgentConfig {
            mode: self.mode,
            land_config_id: Some(self.land_config_id.clone()),
            mcp_server_ids: if flow { None } else { self.mcp_server_ids.clone() },
            ui_apps: if flow { Vec::new() } else { self.ui_apps.clone() },
        }
    }

    /// Drops what a flow agent may not have (seed 002 §2).
    pub fn clear_choices(&mut self) {
        self.prompt.clear();
        self.prompt_ids.clear();
        self.mcp_server_ids = None;
        self.subagent_ids = None;
        self.skills.clear();
        self.ui_apps.clear();
    }
}

pub(crate) fn lang_word(lang: PromptLang) -> &'static str {
    match lang {
        PromptLang::Auto => "auto",
        PromptLang::Zh => "zh",
        PromptLang::En => "en",
    }
}

pub(crate) fn lang_from(word: &str) -> PromptLang {
    match word {
        "zh" => PromptLang::Zh,
        "en" => PromptLang::En,
        _ => PromptLang::Auto,
    }
}

const COLUMNS: &str =
    "id, name, description, mode, land_config_id, model_id, prompt, workspace_root, prompt_lang,
  servers_mode, subagents_mode, created_at, updated_at";

impl Store {
    /// All agents in a person's order.
    pub fn agents(&self) -> Result<Vec<AgentRecord>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM agents WHERE archived_at IS NULL ORDER BY position, name COLLATE NOCASE, id"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let heads: Vec<Head> = statement.query_map([], head)?.collect::<Result<_, _>>()?;
            heads.into_iter().map(|head| whole(connection, head)).collect()
        })
    }

    /// One agent.
    pub fn agent(&self, id: &str) -> Result<Option<AgentRecord>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM agents WHERE id = ?1");
            let found = connection.prepare_cached(&sql)?.query_row([id], head).optional()?;
            found.map(|head| whole(connection, head)).transpose()
        })
    }

    /// Writes an agent whole. `new`: its id must be free; else it must exist.
    pub fn put_agent(&self, agent: AgentRecord, new: bool) -> Result<(), StoreError> {
        self.write(move |connection| {
            let there: bool = connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM agents WHERE id = ?1)",
                [&agent.id],
                |row| row.get(0),
            )?;
            match (new, there) {
                (true, true) => Err(StoreError::new(StoreErrorKind::Conflict, "an agent has this id")),
                (false, false) => Err(StoreError::new(StoreErrorKind::NotFound, "there is no such agent")),
                _ => put(connection, &agent),
            }
        })
    }

    /// Removes an agent; true when there was one. Chats keep the id they were made with.
    pub fn remove_agent(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| Ok(connection.execute("DELETE FROM agents WHERE id = ?1", [id])? > 0))
    }
}

struct Head {
    agent: AgentRecord,
    lists_servers: bool,
    lists_subagents: bool,
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let mode: String = row.get(3)?;
    let model: String = row.get(5)?;
    Ok(Head {
        agent: AgentRecord {
            id: row.get(0)?,
            name: row.get(1)?,
            description: row.get(2)?,
            mode: if mode == "flow" { Mode::Flow } else { Mode::Custom },
            land_config_id: row.get(4)?,
            model_id: Some(model).filter(|id| !id.is_empty()),
            prompt: row.get(6)?,
            workspace_root: row.get(7)?,
            prompt_lang: lang_from(&row.get::<_, String>(8)?),
            prompt_ids: Vec::new(),
            mcp_server_ids: None,
            subagent_ids: None,
            skills: Vec::new(),
            ui_apps: Vec::new(),
            acp: None,
            created_at: row.get(11)?,
            updated_at: row.get(12)?,
        },
        lists_servers: row.get::<_, String>(9)? == "list",
        lists_subagents: row.get::<_, String>(10)? == "list",
    })
}

fn whole(connection: &Connection, head: Head) -> Result<AgentRecord, StoreError> {
    let Head { mut agent, lists_servers, lists_subagents } = head;
    let of = |table: &str| refs(connection, table, "agent_id", &agent.id);
    let servers = of("agent_servers")?;
    let subagents = of("agent_subagents")?;
    (agent.prompt_ids, agent.skills) = (of("agent_prompts")?, of("agent_skills")?);
    agent.mcp_server_ids = lists_servers.then_some(servers);
    agent.subagent_ids = lists_subagents.then_some(subagents);
    let mut statement = connection.prepare_cached(
        "SELECT id, plugin_id, app_id, use_mcp, use_prompt, prompt_lang, extra FROM agent_apps
         WHERE agent_id = ?1 ORDER BY position, id",
    )?;
    let rows = statement.query_map([&agent.id], |row| {
        let app = UiApp {
            plugin_id: row.get(1)?,
            app_id: row.get(2)?,
            mcp: row.get(3)?,
            prompt: row.get(4)?,
            prompt_lang: lang_from(&row.get::<_, String>(5)?),
            mcp_server_ids: Vec::new(),
            prompt_ids: Vec::new(),
            extra: row
                .get::<_, Option<String>>(6)?
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
        };
        Ok((row.get::<_, String>(0)?, app))
    })?;
    for row in rows {
        let (id, mut app) = row?;
        app.mcp_server_ids = refs(connection, "agent_app_servers", "agent_app_id", &id)?;
        app.prompt_ids = refs(connection, "agent_app_prompts", "agent_app_id", &id)?;
        agent.ui_apps.push(app);
    }
    agent.acp = acp::launch_of(connection, &agent.id)?;
    Ok(agent)
}

fn refs(connection: &Connection, table: &str, column: &str, id: &str) -> Result<Vec<String>, StoreError> {
    let sql = format!("SELECT ref_id FROM {table} WHERE {column} = ?1 ORDER BY position, ref_id");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn put_refs(
    connection: &Connection,
    table: &str,
    column: &str,
    id: &str,
    refs: &[String],
) -> Result<(), StoreError> {
    connection.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), [id])?;
    let sql = format!(
        "INSERT INTO {table} ({column}, ref_id, position) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    for (position, target) in refs.iter().enumerate() {
        statement.execute(params![id, target, position as i64])?;
    }
    Ok(())
}

pub(crate) fn put(connection: &Connection, agent: &AgentRecord) -> Result<(), StoreError> {
    let mode = if agent.mode == Mode::Flow { "flow" } else { "custom" };
    let listed = |list: &Option<Vec<String>>| if list.is_some() { "list" } else { "land" };
    connection.execute(
        "INSERT INTO agents (id, name, description, mode, land_config_id, model_id, prompt, workspace_root,
           prompt_lang, servers_mode, subagents_mode, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
           mode = excluded.mode, land_config_id = excluded.land_config_id, model_id = excluded.model_id,
           prompt = excluded.prompt, workspace_root = excluded.workspace_root, prompt_lang = excluded.prompt_lang,
           servers_mode = excluded.servers_mode, subagents_mode = excluded.subagents_mode,
           updated_at = excluded.updated_at",
        params![
            agent.id,
            agent.name,
            agent.description,
            mode,
            agent.land_config_id.trim(),
            agent.model_id.as_deref().unwrap_or_default(),
            agent.prompt,
            agent.workspace_root,
            lang_word(agent.prompt_lang),
            listed(&agent.mcp_server_ids),
            listed(&agent.subagent_ids),
            now_ms()
        ],
    )?;
    let lists: [(&str, &[String]); 4] = [
        ("agent_servers", agent.mcp_server_ids.as_deref().unwrap_or_default()),
        ("agent_subagents", agent.subagent_ids.as_deref().unwrap_or_default()),
        ("agent_prompts", &agent.prompt_ids),
        ("agent_skills", &agent.skills),
    ];
    for (table, list) in lists {
        put_refs(connection, table, "agent_id", &agent.id, list)?;
    }
    connection.execute("DELETE FROM agent_apps WHERE agent_id = ?1", [&agent.id])?;
    for (position, app) in agent.ui_apps.iter().enumerate() {
        let id = uuid::Uuid::now_v7().to_string();
        connection.execute(
            "INSERT INTO agent_apps (id, agent_id, plugin_id, app_id, use_mcp, use_prompt, prompt_lang, position, extra)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                id,
                agent.id,
                app.plugin_id,
                app.app_id,
                app.mcp,
                app.prompt,
                lang_word(app.prompt_lang),
                position as i64,
                (!app.extra.is_empty()).then(|| Value::Object(app.extra.clone()).to_string())
            ],
        )?;
        put_refs(connection, "agent_app_servers", "agent_app_id", &id, &app.mcp_server_ids)?;
        put_refs(connection, "agent_app_prompts", "agent_app_id", &id, &app.prompt_ids)?;
    }
    acp::put_launch(connection, &agent.id, agent.acp.as_ref())
}

#[cfg(test)]
mod tests;
