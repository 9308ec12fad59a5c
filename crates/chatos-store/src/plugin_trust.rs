//! Which plugin bytes a person trusted, with the file list that shows what changed since.

use rusqlite::{Connection, OptionalExtension, params};

use crate::db::Store;
use crate::error::StoreError;

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginTrustRow {
    pub plugin_id: String,
    pub digest: String,
    pub algorithm: String,
    pub version: String,
    pub trusted_at: i64,
    pub trusted_by: String,
}

/// A file as it was when trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginTrustFile {
    pub path: String,
    pub sha256: String,
    pub size: i64,
    /// Owner-executable; unknown in records from before this was kept.
    pub executable: Option<bool>,
    /// Its text, where it is small enough to be compared later.
    pub text: Option<Vec<u8>>,
}

const COLUMNS: &str = "plugin_id, digest, algorithm, version, trusted_at, trusted_by";

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<PluginTrustRow> {
    Ok(PluginTrustRow {
        plugin_id: row.get(0)?,
        digest: row.get(1)?,
        algorithm: row.get(2)?,
        version: row.get(3)?,
        trusted_at: row.get(4)?,
        trusted_by: row.get(5)?,
    })
}

impl Store {
    /// The decision about one plugin.
    pub fn plugin_trust(&self, plugin_id: &str) -> Result<Option<PluginTrustRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM plugin_trust WHERE plugin_id = ?1"))?;
            Ok(statement.query_row([plugin_id], row).optional()?)
        })
    }

    /// All decisions.
    pub fn plugin_trusts(&self) -> Result<Vec<PluginTrustRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM plugin_trust ORDER BY plugin_id"))?;
            Ok(statement.query_map([], row)?.collect::<Result<_, _>>()?)
        })
    }

    /// Replaces the decision about a plugin and its file list, whole.
    pub fn put_plugin_trust(
        &self,
        record: PluginTrustRow,
        files: Vec<PluginTrustFile>,
    ) -> Result<(), StoreError> {
        self.write(move |connection| {
            remove(connection, &record.plugin_id)?;
            connection.execute(
                &format!("INSERT INTO plugin_trust ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
                params![
                    record.plugin_id,
                    record.digest,
                    record.algorithm,
                    record.version,
                    record.trusted_at,
                    record.trusted_by
                ],
            )?;
            let mut file = connection.prepare_cached(
                "INSERT INTO plugin_trust_files (plugin_id, path, sha256, size, executable) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let mut text = connection.prepare_cached(
                "INSERT INTO plugin_trust_texts (plugin_id, sha256, content) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO NOTHING",
            )?;
            for entry in files {
                file.execute(params![record.plugin_id, entry.path, entry.sha256, entry.size, entry.executable])?;
                if let Some(content) = entry.text {
                    text.execute(params![record.plugin_id, entry.sha256, content])?;
                }
            }
            Ok(())
        })
    }

    /// Takes a decision back; true when there was one.
    pub fn remove_plugin_trust(&self, plugin_id: &str) -> Result<bool, StoreError> {
        let plugin_id = plugin_id.to_owned();
        self.write(move |connection| Ok(remove(connection, &plugin_id)? > 0))
    }

    /// The files of a decision, without their texts.
    pub fn plugin_trust_files(&self, plugin_id: &str) -> Result<Vec<PluginTrustFile>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT path, sha256, size, executable FROM plugin_trust_files WHERE plugin_id = ?1 ORDER BY path",
            )?;
            let files = statement.query_map([plugin_id], |row| {
                Ok(PluginTrustFile {
                    path: row.get(0)?,
                    sha256: row.get(1)?,
                    size: row.get(2)?,
                    executable: row.get(3)?,
                    text: None,
                })
            })?;
            Ok(files.collect::<Result<_, _>>()?)
        })
    }

    /// A kept text by its hash.
    pub fn plugin_trust_text(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT content FROM plugin_trust_texts WHERE sha256 = ?1 LIMIT 1")?;
            Ok(statement.query_row([sha256], |row| row.get(0)).optional()?)
        })
    }
}

fn remove(connection: &Connection, plugin_id: &str) -> Result<usize, StoreError> {
    // Files and texts go with it by their foreign keys.
    Ok(connection.execute("DELETE FROM plugin_trust WHERE plugin_id = ?1", [plugin_id])?)
}
