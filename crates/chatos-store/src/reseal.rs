//! Everything sealed, sealed anew with another key in one transaction (state §6).

use chatos_keys::{KeyRows, Opener, RowsError, Sealer, sealed_with};
use rusqlite::{Connection, OptionalExtension, params};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::meta::put_metas;
use crate::secrets::unsealable;

/// Every sealed column: table, row id, column, and the last word of its place.
const SEALED: [(&str, &str, &str, &str); 3] = [
    ("secrets", "id", "sealed", "sealed"),
    ("mcp_servers", "id", "auth_sealed", "auth"),
    ("prompt_secrets", "request_id", "sealed", "sealed"),
];

impl KeyRows for Store {
    fn instance(&self) -> Result<String, RowsError> {
        Ok(self.instance_id()?)
    }

    fn fact(&self, name: &str) -> Result<Option<String>, RowsError> {
        Ok(self.meta(name)?)
    }

    fn set_fact(&self, name: &str, value: &str) -> Result<(), RowsError> {
        Ok(self.set_meta(name, value)?)
    }

    fn reseal(
        &self,
        instance: String,
        open: Opener,
        seal: Sealer,
        facts: Vec<(String, String)>,
    ) -> Result<(usize, usize), RowsError> {
        let counts = self.write(move |connection| {
            let (mut done, mut left) = (0, 0);
            for (table, id, column, word) in SEALED {
                let sql = format!("SELECT {id}, {column} FROM {table} WHERE {column} IS NOT NULL");
                let mut statement = connection.prepare(&sql)?;
                let rows: Vec<(String, String)> = statement
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect::<Result<_, _>>()?;
                let mut update =
                    connection.prepare(&format!("UPDATE {table} SET {column} = ?1 WHERE {id} = ?2"))?;
                for (row, text) in rows {
                    let place = format!("{instance}|{table}|{row}|{word}");
                    let Some(value) = open(&place, &text) else {
                        left += 1;
                        continue;
                    };
                    update.execute(params![seal(&place, &value).map_err(|e| unsealable(&e))?, row])?;
                    done += 1;
                }
            }
            put_metas(connection, facts)?;
            Ok((done, left))
        })?;
        Ok(counts)
    }
}

/// Refuses a value that was sealed before the key was changed, in the transaction that would keep it:
/// nobody could open it any more. `kept` is what the row holds; that may stay, whoever sealed it.
pub(crate) fn refuse_outdated(
    connection: &Connection,
    sealed: Option<&str>,
    kept: Option<&str>,
) -> Result<(), StoreError> {
    match sealed {
        Some(sealed) if kept != Some(sealed) => refuse_other_key(connection, sealed_with(sealed)),
        _ => Ok(()),
    }
}

/// Refuses to go on with another key than the one in force.
pub fn refuse_other_key(connection: &Connection, key_id: Option<&str>) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = 'key_id'")?;
    let in_force: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
    match in_force {
        Some(id) if key_id != Some(id.as_str()) => {
            Err(StoreError::new(StoreErrorKind::Conflict, "the state key was changed meanwhile; try again"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
