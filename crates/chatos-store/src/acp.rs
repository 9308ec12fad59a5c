//! Agents that are programs of other makers: how each is started, and the session it has for a chat (decision 0055).

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// How an agent of another maker is started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcpLaunch {
    /// A path, or a name on `PATH`.
    pub program: String,
    pub args: Vec<String>,
    /// Variables of the host's environment it gets.
    pub pass_env: Vec<String>,
    /// Which known agent it is.
    pub known_id: Option<String>,
    /// It is offered our servers, through the gateway.
    pub gateway: bool,
}

/// The session an agent has for a chat.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct AcpSessionRow {
    pub session_id: String,
    pub agent_id: String,
    pub acp_session_id: String,
    pub cwd: String,
    /// Its own name and version.
    pub program: String,
    /// What it told about the session, as JSON.
    pub told: String,
    /// What a person chose, as JSON: option to value.
    pub wanted: String,
    /// When the agent began or last loaded this session, in milliseconds; 0 where nobody knows.
    pub begun_at: i64,
}

const SESSION: &str =
    "SELECT session_id, agent_id, acp_session_id, cwd, program, told, wanted, begun_at FROM acp_sessions";

impl Store {
    /// The session this agent has for a chat.
    pub fn acp_session(&self, session: &str, agent: &str) -> Result<Option<AcpSessionRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("{SESSION} WHERE session_id = ?1 AND agent_id = ?2");
            Ok(connection.prepare_cached(&sql)?.query_row([session, agent], session_row).optional()?)
        })
    }

    /// The newest session of this agent that told something, in whatever chat.
    pub fn newest_acp_session(&self, agent: &str) -> Result<Option<AcpSessionRow>, StoreError> {
        self.read(|connection| {
            let sql =
                format!("{SESSION} WHERE agent_id = ?1 AND told <> '{{}}' ORDER BY updated_at DESC LIMIT 1");
            Ok(connection.prepare_cached(&sql)?.query_row([agent], session_row).optional()?)
        })
    }

    /// Keeps what an agent told about the session of a chat, and what a person chose of it.
    pub fn keep_acp_told(
        &self,
        session: &str,
        agent: &str,
        told: Option<&str>,
        wanted: Option<&str>,
    ) -> Result<(), StoreError> {
        let own = |text: &str| text.to_owned();
        let (session, agent, told, wanted) = (own(session), own(agent), told.map(own), wanted.map(own));
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO acp_sessions (session_id, agent_id, acp_session_id, told, wanted, updated_at)
                 VALUES (?1, ?2, '', coalesce(?3, '{}'), coalesce(?4, '{}'), ?5)
                 ON CONFLICT (session_id, agent_id) DO UPDATE SET told = coalesce(?3, told),
                   wanted = coalesce(?4, wanted), updated_at = excluded.updated_at",
                params![session, agent, told, wanted, now_ms()],
            )?;
            Ok(())
        })
    }

    /// Keeps the session an agent has for a chat; it was begun or loaded now.
    pub fn keep_acp_session(&self, row: AcpSessionRow) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO acp_sessions (session_id, agent_id, acp_session_id, cwd, program, updated_at, begun_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (session_id, agent_id) DO UPDATE SET
                   begun_at = ?6, acp_session_id = ?3, cwd = ?4,
                   program = ?5, updated_at = ?6",
                params![row.session_id, row.agent_id, row.acp_session_id, row.cwd, row.program, now_ms()],
            )?;
            Ok(())
        })
    }
}

fn session_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<AcpSessionRow> {
    Ok(AcpSessionRow {
        session_id: row.get(0)?,
        agent_id: row.get(1)?,
        acp_session_id: row.get(2)?,
        cwd: row.get(3)?,
        program: row.get(4)?,
        told: row.get(5)?,
        wanted: row.get(6)?,
        begun_at: row.get(7)?,
    })
}

/// How an agent is started; `None` for one that a model answers for.
pub(crate) fn launch_of(connection: &Connection, agent: &str) -> Result<Option<AcpLaunch>, StoreError> {
    let list = |text: String| serde_json::from_str::<Vec<String>>(&text).unwrap_or_default();
    let found = connection
        .prepare_cached(
            "SELECT program, args, pass_env, known_id, gateway FROM agent_acp WHERE agent_id = ?1",
        )?
        .query_row([agent], |row| {
            Ok(AcpLaunch {
                program: row.get(0)?,
                args: list(row.get(1)?),
                pass_env: list(row.get(2)?),
                known_id: Some(row.get::<_, String>(3)?).filter(|id| !id.is_empty()),
                gateway: row.get(4)?,
            })
        })
        .optional()?;
    Ok(found)
}

/// Inside a transaction of the caller.
pub(crate) fn put_launch(
    connection: &Connection,
    agent: &str,
    launch: Option<&AcpLaunch>,
) -> Result<(), StoreError> {
    let Some(launch) = launch else {
        connection.execute("DELETE FROM agent_acp WHERE agent_id = ?1", [agent])?;
        return Ok(());
    };
    let text = |list: &[String]| serde_json::to_string(list).unwrap_or_else(|_| "[]".to_owned());
    connection.execute(
        "INSERT INTO agent_acp (agent_id, program, args, pass_env, known_id, gateway) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (agent_id) DO UPDATE SET program = excluded.program, args = excluded.args,
           pass_env = excluded.pass_env, known_id = excluded.known_id, gateway = excluded.gateway",
        params![
            agent,
            launch.program,
            text(&launch.args),
            text(&launch.pass_env),
            launch.known_id.as_deref().unwrap_or_default(),
            launch.gateway
        ],
    )?;
    Ok(())
}
