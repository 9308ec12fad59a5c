//! Settings in the database: what a person stored, with who did it and when.

use std::collections::BTreeMap;
use std::path::Path;

use chatos_settings::{SettingIssue, Settings, SettingsInput, find_setting};
use serde_json::Value;

use crate::db::{Store, glance};
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

/// Why a setting was not stored.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The value cannot be meant; every reason.
    #[error("the value is refused")]
    Refused(Vec<SettingIssue>),
    /// The database could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One stored value of a database that nobody here opens for good; what cannot be read is not stored.
pub fn stored_setting(database: &Path, key: &str) -> Option<Value> {
    // Beside an empty database SQLite takes the log for a leftover and removes it, also when it only reads.
    if !std::fs::metadata(database).is_ok_and(|file| file.is_file() && file.len() > 0) {
        return None;
    }
    let connection = glance(database).ok()?;
    let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let text = connection.query_row("SELECT value FROM settings WHERE key = ?1", [key], read).ok()?;
    serde_json::from_str(&text).ok()
}

impl Store {
    /// The settings in force with these flags and this environment.
    pub fn load_settings(&self, input: SettingsInput) -> Result<Settings, StoreError> {
        let settings = Settings::unstored(input);
        self.reload_settings(&settings)?;
        Ok(settings)
    }

    /// Reads the stored values again; another process may have changed them. `true` when it did.
    pub fn reload_settings(&self, settings: &Settings) -> Result<bool, StoreError> {
        let _order = settings.writing();
        let stored = self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT key, value, updated_at FROM settings")?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })?;
            let mut map = BTreeMap::new();
            for row in rows {
                let (key, text, at) = row?;
                // The CHECK of the table guarantees JSON; anything else is damage: null fits no setting, so
                // it counts as unset and is told.
                map.insert(key, (serde_json::from_str(&text).unwrap_or(Value::Null), at));
            }
            Ok(map)
        })?;
        Ok(settings.replace_stored(stored))
    }

    /// Stores a value; on an error nothing was changed.
    pub fn set_setting(
        &self,
        settings: &Settings,
        key: &str,
        value: &Value,
        by: &str,
    ) -> Result<(), SettingError> {
        let spec = find_setting(key)
            .ok_or_else(|| StoreError::new(StoreErrorKind::NotFound, format!("no setting `{key}`")))?;
        let _order = settings.writing();
        let value = settings.check(spec, key, value).map_err(SettingError::Refused)?;
        if value == spec.default_value() {
            return Ok(self.forget_setting(settings, key)?);
        }
        let at = now_ms();
        let row = (key.to_owned(), value.to_string(), at, by.to_owned());
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO settings (key, value, updated_at, updated_by) VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT (key) DO UPDATE SET value = excluded.value,
                           updated_at = excluded.updated_at, updated_by = excluded.updated_by",
                )?
                .execute(row)?;
            Ok(())
        })?;
        settings.note_stored(key, Some((value, at)));
        Ok(())
    }

    /// Goes back to the default.
    pub fn reset_setting(&self, settings: &Settings, key: &str) -> Result<(), StoreError> {
        let _order = settings.writing();
        self.forget_setting(settings, key)
    }

    fn forget_setting(&self, settings: &Settings, key: &str) -> Result<(), StoreError> {
        let name = key.to_owned();
        self.write(move |connection| {
            connection.prepare_cached("DELETE FROM settings WHERE key = ?1")?.execute([name])?;
            Ok(())
        })?;
        settings.note_stored(key, None);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
