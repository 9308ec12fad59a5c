//! Facts about this database: who it is, which key it uses, whether it was closed cleanly.

use rusqlite::{Connection, OptionalExtension};

use crate::db::Store;
use crate::error::StoreError;

impl Store {
    /// A value of the `meta` table.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
            Ok(statement.query_row([key], |row| row.get(0)).optional()?)
        })
    }

    /// Sets a value of the `meta` table.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.set_metas(&[(key, value)])
    }

    /// Sets values that belong together: all of them or none.
    pub fn set_metas(&self, values: &[(&str, &str)]) -> Result<(), StoreError> {
        let values: Vec<_> =
            values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        self.write(move |connection| put_metas(connection, values))
    }

    /// The identity of this state, made with the database.
    pub fn instance_id(&self) -> Result<String, StoreError> {
        Ok(self.meta("instance_id")?.unwrap_or_default())
    }
}

/// Sets values within a transaction.
pub(crate) fn put_metas(connection: &Connection, values: Vec<(String, String)>) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO meta (key, value) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )?;
    for row in values {
        statement.execute(row)?;
    }
    Ok(())
}
