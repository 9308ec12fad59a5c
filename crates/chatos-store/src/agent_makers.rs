//! Which plugin made an agent (host-api §5). Agents of people have no row.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, params};

use crate::db::Store;
use crate::error::StoreError;

impl Store {
    /// The plugin that made an agent.
    pub fn agent_maker(&self, agent_id: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT plugin_id FROM agent_makers WHERE agent_id = ?1")?;
            Ok(statement.query_row([agent_id], |row| row.get(0)).optional()?)
        })
    }

    /// The makers of all agents that have one.
    pub fn agent_makers(&self) -> Result<HashMap<String, String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT agent_id, plugin_id FROM agent_makers")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Records who made an agent.
    pub fn set_agent_maker(&self, agent_id: &str, plugin_id: &str) -> Result<(), StoreError> {
        let (agent_id, plugin_id) = (agent_id.to_owned(), plugin_id.to_owned());
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO agent_makers (agent_id, plugin_id) VALUES (?1, ?2)
                 ON CONFLICT (agent_id) DO NOTHING",
                params![agent_id, plugin_id],
            )?;
            Ok(())
        })
    }
}
