//! What a person gave to apps or took from them beyond the defaults (host-api §5).

use rusqlite::params;

use crate::db::Store;
use crate::error::StoreError;

/// One decision about one capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityGrantRow {
    /// The plugin.
    pub plugin_id: String,
    /// One app of it; empty for all.
    pub app_id: String,
    /// The capability.
    pub capability: String,
    /// A host for `network`, else empty.
    pub value: String,
    /// True: given; false: taken back.
    pub granted: bool,
    /// Milliseconds since 1970.
    pub decided_at: i64,
    /// Where the decision was made.
    pub decided_by: String,
}

impl Store {
    /// All decisions, or those about one plugin.
    pub fn capability_grants(&self, plugin_id: Option<&str>) -> Result<Vec<CapabilityGrantRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT plugin_id, app_id, capability, value, state, decided_at, decided_by FROM capability_grants
                 WHERE ?1 IS NULL OR plugin_id = ?1 ORDER BY plugin_id, app_id, capability, value",
            )?;
            let rows = statement.query_map(params![plugin_id], |row| {
                Ok(CapabilityGrantRow {
                    plugin_id: row.get(0)?,
                    app_id: row.get(1)?,
                    capability: row.get(2)?,
                    value: row.get(3)?,
                    granted: row.get::<_, String>(4)? == "granted",
                    decided_at: row.get(5)?,
                    decided_by: row.get(6)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Records a decision in place of the one before.
    pub fn put_capability_grant(&self, row: CapabilityGrantRow) -> Result<(), StoreError> {
        self.write(move |connection| {
            let state = if row.granted { "granted" } else { "withdrawn" };
            connection.execute(
                "INSERT INTO capability_grants
                   (plugin_id, app_id, capability, value, state, decided_at, decided_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (plugin_id, app_id, capability, value)
                 DO UPDATE SET state = excluded.state, decided_at = excluded.decided_at,
                   decided_by = excluded.decided_by",
                params![
                    row.plugin_id,
                    row.app_id,
                    row.capability,
                    row.value,
                    state,
                    row.decided_at,
                    row.decided_by
                ],
            )?;
            Ok(())
        })
    }

    /// Goes back to the default; true when there was a decision.
    pub fn remove_capability_grant(
        &self,
        plugin_id: &str,
        app_id: &str,
        capability: &str,
        value: &str,
    ) -> Result<bool, StoreError> {
        let key = [plugin_id, app_id, capability, value].map(str::to_owned);
        self.write(move |connection| {
            let gone = connection.execute(
                "DELETE FROM capability_grants
                 WHERE plugin_id = ?1 AND app_id = ?2 AND capability = ?3 AND value = ?4",
                key,
            )?;
            Ok(gone > 0)
        })
    }
}
