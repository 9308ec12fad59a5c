//! What grants need to know about servers: who they are and whether they are switched on.

use crate::db::Store;
use crate::error::StoreError;

/// A row of `mcp_servers` as far as grants look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns")]
pub struct ServerFact {
    pub id: String,
    pub name: String,
    pub source: String,
    pub plugin_id: String,
    pub app_id: String,
    pub enabled: bool,
    pub allow_main: bool,
    pub allow_sub: bool,
}

impl Store {
    /// Every server row, by id.
    pub fn server_facts(&self) -> Result<Vec<ServerFact>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, name, source, plugin_id, app_id, enabled, allow_main, allow_sub
                 FROM mcp_servers ORDER BY id",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(ServerFact {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    source: row.get(2)?,
                    plugin_id: row.get(3)?,
                    app_id: row.get(4)?,
                    enabled: row.get(5)?,
                    allow_main: row.get(6)?,
                    allow_sub: row.get(7)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
