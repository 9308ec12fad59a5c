//! Rows that mirror what apps contribute: servers and prompts with `source='app'`, the values last
//! written for them, and the tombstones of those a person deleted. What to write is decided
//! elsewhere; this executes it in one transaction per plugin.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::reseal::refuse_outdated;
use crate::secrets::SecretKind;
use crate::time::now_ms;

/// Which of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AppEntity {
    /// `mcp_servers`.
    Server,
    /// `prompts`.
    Prompt,
}

impl AppEntity {
    fn table(self) -> &'static str {
        match self {
            Self::Server => "mcp_servers",
            Self::Prompt => "prompts",
        }
    }

    /// Fields that are plain columns; `tags` and `auth` are not.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Server => {
                &["name", "url", "description", "enabled", "allow_main", "allow_sub", "call_meta"]
            }
            Self::Prompt => &["name", "title", "content", "type", "allow_main", "allow_sub"],
        }
    }
}

/// A row of an app as it is.
#[derive(Debug, Clone)]
pub struct AppRow {
    pub entity: AppEntity,
    pub id: String,
    pub app_id: String,
    /// Empty for servers.
    pub lang: String,
    /// Column values as text; `tags` as a JSON list.
    pub current: HashMap<String, String>,
    /// What was last written.
    pub synced: HashMap<String, String>,
    /// The sealed credentials of a server.
    pub auth_sealed: Option<String>,
}

/// One change. Field values are texts as in [`AppRow::current`].
#[derive(Debug, Clone)]
pub enum AppRowChange {
    /// A new row.
    Insert {
        entity: AppEntity,
        id: String,
        app_id: String,
        lang: String,
        fields: Vec<(String, String)>,
        auth_sealed: Option<String>,
    },
    /// New values of some fields. `auth_sealed` counts when `fields` names `auth`.
    Update { entity: AppEntity, id: String, fields: Vec<(String, String)>, auth_sealed: Option<String> },
    /// The row goes.
    Delete { entity: AppEntity, id: String },
    /// The row becomes the person's own.
    Release { entity: AppEntity, id: String },
}

/// A server or prompt of any origin, for the namespaces they share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRow {
    pub id: String,
    pub name: String,
    pub source: String,
    pub plugin_id: String,
}

impl Store {
    /// All rows of one plugin's apps.
    pub fn app_rows(&self, plugin_id: &str) -> Result<Vec<AppRow>, StoreError> {
        self.read(|connection| {
            let mut rows = Vec::new();
            for entity in [AppEntity::Server, AppEntity::Prompt] {
                read_rows(connection, entity, plugin_id, &mut rows)?;
            }
            Ok(rows)
        })
    }

    /// Ids of plugins that have rows.
    pub fn plugins_with_rows(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT plugin_id FROM mcp_servers WHERE source = 'app'
                 UNION SELECT plugin_id FROM prompts WHERE source = 'app' ORDER BY 1",
            )?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    /// (entity, app id, language) of rows a person deleted.
    pub fn app_tombstones(&self, plugin_id: &str) -> Result<Vec<(AppEntity, String, String)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT entity, app_id, lang FROM sync_tombstones WHERE plugin_id = ?1")?;
            let mut found = Vec::new();
            for row in statement.query_map([plugin_id], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })? {
                let (table, app_id, lang) = row?;
                let entity = [AppEntity::Server, AppEntity::Prompt].into_iter().find(|e| e.table() == table);
                found.extend(entity.map(|entity| (entity, app_id, lang)));
            }
            Ok(found)
        })
    }

    /// A person deletes a row of an app: it is remembered, so that it does not come back by itself.
    pub fn bury_app_row(&self, entity: AppEntity, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let table = entity.table();
            let lang = if entity == AppEntity::Prompt { "lang" } else { "''" };
            connection.execute(
                &format!(
                    "INSERT INTO sync_tombstones (entity, plugin_id, app_id, lang, deleted_at)
                     SELECT ?1, plugin_id, app_id, {lang}, ?2 FROM {table} WHERE id = ?3 AND source = 'app'
                     ON CONFLICT DO NOTHING"
                ),
                params![table, now_ms(), id],
            )?;
            delete(connection, entity, &id)
        })
    }

    /// Forgets what a person deleted of a plugin: it was installed again.
    pub fn forget_app_tombstones(&self, plugin_id: &str) -> Result<(), StoreError> {
        let plugin_id = plugin_id.to_owned();
        self.write(move |connection| {
            connection.execute("DELETE FROM sync_tombstones WHERE plugin_id = ?1", [plugin_id])?;
            Ok(())
        })
    }

    /// Forgets everything a person decided about a plugin besides its trust: it was removed.
    pub fn forget_plugin(&self, plugin_id: &str) -> Result<(), StoreError> {
        let plugin_id = plugin_id.to_owned();
        self.write(move |connection| {
            connection.execute("DELETE FROM sync_tombstones WHERE plugin_id = ?1", [&plugin_id])?;
            connection.execute("DELETE FROM capability_grants WHERE plugin_id = ?1", [&plugin_id])?;
            connection.execute("DELETE FROM agent_makers WHERE plugin_id = ?1", [&plugin_id])?;
            crate::app_rights::forget(connection, &plugin_id)?;
            let identities = format!("app:{plugin_id}/");
            connection.execute(
                "DELETE FROM tool_pins WHERE substr(server_identity, 1, ?1) = ?2",
                params![identities.len() as i64, identities],
            )?;
            // What a person's sign-in gave its servers; nobody else can use it.
            for kind in [SecretKind::Grant, SecretKind::SignIn] {
                let names = kind.name_for(&identities);
                connection.execute(
                    "DELETE FROM secrets WHERE substr(name, 1, ?1) = ?2",
                    params![names.chars().count() as i64, names],
                )?;
            }
            Ok(())
        })
    }

    /// Names of all servers.
    pub fn server_names(&self) -> Result<Vec<NamedRow>, StoreError> {
        self.named(AppEntity::Server)
    }

    /// Names of all prompts.
    pub fn prompt_names(&self) -> Result<Vec<NamedRow>, StoreError> {
        self.named(AppEntity::Prompt)
    }

    fn named(&self, entity: AppEntity) -> Result<Vec<NamedRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT id, name, source, plugin_id FROM {} ORDER BY id", entity.table());
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| {
                Ok(NamedRow {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    source: row.get(2)?,
                    plugin_id: row.get(3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Makes all changes of one plugin, or none. Returns how many rows were removed.
    pub fn change_app_rows(&self, plugin_id: &str, changes: Vec<AppRowChange>) -> Result<usize, StoreError> {
        let plugin_id = plugin_id.to_owned();
        self.write(move |connection| {
            let mut removed = 0;
            for change in changes {
                match change {
                    AppRowChange::Insert { entity, id, app_id, lang, fields, auth_sealed } => {
                        insert(connection, entity, &id, &plugin_id, &app_id, &lang)?;
                        write_fields(connection, entity, &id, &fields, auth_sealed)?;
                    }
                    AppRowChange::Update { entity, id, fields, auth_sealed } => {
                        write_fields(connection, entity, &id, &fields, auth_sealed)?;
                    }
                    AppRowChange::Delete { entity, id } => {
                        removed += usize::from(delete(connection, entity, &id)?);
                    }
                    AppRowChange::Release { entity, id } => {
                        let sql = format!(
                            "UPDATE {} SET source = 'user', plugin_id = '', app_id = '', updated_at = ?1 WHERE id = ?2",
                            entity.table()
                        );
                        connection.execute(&sql, params![now_ms(), id])?;
                        forget_synced(connection, entity, &id)?;
                    }
                }
            }
            Ok(removed)
        })
    }
}

fn read_rows(
    connection: &Connection,
    entity: AppEntity,
    plugin_id: &str,
    rows: &mut Vec<AppRow>,
) -> Result<(), StoreError> {
    let columns = entity.columns();
    let (lang, auth) = match entity {
        AppEntity::Server => ("''", "auth_sealed"),
        AppEntity::Prompt => ("lang", "NULL"),
    };
    let listed: Vec<String> = columns.iter().map(|column| format!("CAST({column} AS TEXT)")).collect();
    let sql = format!(
        "SELECT id, app_id, {lang}, {auth}, {} FROM {} WHERE source = 'app' AND plugin_id = ?1 ORDER BY id",
        listed.join(", "),
        entity.table()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found: Vec<AppRow> = statement
        .query_map([plugin_id], |row| {
            let mut current = HashMap::new();
            for (index, column) in columns.iter().enumerate() {
                let value: Option<String> = row.get(index + 4)?;
                current.insert((*column).to_owned(), value.unwrap_or_default());
            }
            Ok(AppRow {
                entity,
                id: row.get(0)?,
                app_id: row.get(1)?,
                lang: row.get(2)?,
                auth_sealed: row.get(3)?,
                current,
                synced: HashMap::new(),
            })
        })?
        .collect::<Result<_, _>>()?;
    for mut row in found {
        let mut synced = connection
            .prepare_cached("SELECT field, value FROM synced_values WHERE entity = ?1 AND entity_id = ?2")?;
        for value in synced.query_map([entity.table(), &row.id], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?.unwrap_or_default()))
        })? {
            let (field, value) = value?;
            row.synced.insert(field, value);
        }
        if entity == AppEntity::Server {
            let mut tags = connection
                .prepare_cached("SELECT tag FROM mcp_server_tags WHERE server_id = ?1 ORDER BY tag")?;
            let tags: Vec<String> = tags.query_map([&row.id], |row| row.get(0))?.collect::<Result<_, _>>()?;
            row.current.insert("tags".to_owned(), serde_json::Value::from(tags).to_string());
        }
        rows.push(row);
    }
    Ok(())
}

fn insert(
    connection: &Connection,
    entity: AppEntity,
    id: &str,
    plugin_id: &str,
    app_id: &str,
    lang: &str,
) -> Result<(), StoreError> {
    let now = now_ms();
    match entity {
        AppEntity::Server => connection.execute(
            "INSERT INTO mcp_servers (id, name, url, source, plugin_id, app_id, created_at, updated_at)
             VALUES (?1, ?1, '', 'app', ?2, ?3, ?4, ?4)",
            params![id, plugin_id, app_id, now],
        )?,
        AppEntity::Prompt => connection.execute(
            "INSERT INTO prompts (id, name, lang, source, plugin_id, app_id, created_at, updated_at)
             VALUES (?1, ?1, ?2, 'app', ?3, ?4, ?5, ?5)",
            params![id, lang, plugin_id, app_id, now],
        )?,
    };
    Ok(())
}

fn write_fields(
    connection: &Connection,
    entity: AppEntity,
    id: &str,
    fields: &[(String, String)],
    auth_sealed: Option<String>,
) -> Result<(), StoreError> {
    let (table, now) = (entity.table(), now_ms());
    for (field, value) in fields {
        match field.as_str() {
            "tags" if entity == AppEntity::Server => write_tags(connection, id, value)?,
            "auth" if entity == AppEntity::Server => {
                refuse_outdated(connection, auth_sealed.as_deref(), None)?;
                connection.execute(
                    "UPDATE mcp_servers SET auth_sealed = ?1 WHERE id = ?2",
                    params![auth_sealed, id],
                )?;
            }
            "call_meta" if value.is_empty() => {
                connection.execute("UPDATE mcp_servers SET call_meta = NULL WHERE id = ?1", [id])?;
            }
            "enabled" | "allow_main" | "allow_sub" => {
                let sql = format!("UPDATE {table} SET {field} = ?1 WHERE id = ?2");
                connection.execute(&sql, params![i64::from(value == "1"), id])?;
            }
            field if entity.columns().contains(&field) => {
                let sql = format!("UPDATE {table} SET {field} = ?1 WHERE id = ?2");
                connection.execute(&sql, params![value, id])?;
            }
            other => {
                return Err(StoreError::new(
                    StoreErrorKind::Internal,
                    format!("{table} has no field `{other}`"),
                ));
            }
        }
        connection.execute(
            "INSERT INTO synced_values (entity, entity_id, field, value, synced_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (entity, entity_id, field) DO UPDATE SET value = excluded.value, synced_at = excluded.synced_at",
            params![table, id, field, value, now],
        )?;
    }
    connection.execute(&format!("UPDATE {table} SET updated_at = ?1 WHERE id = ?2"), params![now, id])?;
    Ok(())
}

fn write_tags(connection: &Connection, id: &str, value: &str) -> Result<(), StoreError> {
    let tags: Vec<String> = serde_json::from_str(value)
        .map_err(|error| StoreError::new(StoreErrorKind::Invalid, format!("tags are not a list: {error}")))?;
    connection.execute("DELETE FROM mcp_server_tags WHERE server_id = ?1", [id])?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO mcp_server_tags (server_id, tag) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    for tag in tags {
        statement.execute([id, &tag])?;
    }
    Ok(())
}

fn delete(connection: &Connection, entity: AppEntity, id: &str) -> Result<bool, StoreError> {
    let gone = connection.execute(&format!("DELETE FROM {} WHERE id = ?1", entity.table()), [id])? > 0;
    forget_synced(connection, entity, id)?;
    Ok(gone)
}

fn forget_synced(connection: &Connection, entity: AppEntity, id: &str) -> Result<(), StoreError> {
    connection
        .execute("DELETE FROM synced_values WHERE entity = ?1 AND entity_id = ?2", [entity.table(), id])?;
    Ok(())
}
