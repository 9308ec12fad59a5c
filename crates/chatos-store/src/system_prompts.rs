//! Texts for models: built-in ones that follow the binary until a person edits them, ones that
//! apps contributed, and a person's own.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

/// One text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct SystemPrompt {
    pub id: String,
    /// The key land_configs and agents name it by.
    pub name: String,
    pub title: String,
    pub content: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// Empty, `zh` or `en`.
    pub lang: String,
    pub allow_main: bool,
    pub allow_sub: bool,
    pub builtin: bool,
    pub locked: bool,
    /// `builtin`, `user`, `app` or `import`.
    pub source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plugin_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app_id: String,
    /// A built-in text that a person changed.
    #[serde(default)]
    pub edited: bool,
    #[serde(skip)]
    pub created_at: i64,
    #[serde(skip)]
    pub updated_at: i64,
}

const COLUMNS: &str =
    "id, name, title, content, type, lang, allow_main, allow_sub, builtin, locked, source, plugin_id,
  app_id, created_at, updated_at, (SELECT value FROM synced_values
    WHERE entity = 'prompts' AND entity_id = prompts.id AND field = 'content')";

fn record(row: &Row<'_>) -> rusqlite::Result<SystemPrompt> {
    let (content, builtin): (String, bool) = (row.get(3)?, row.get(8)?);
    let synced: Option<String> = row.get(15)?;
    Ok(SystemPrompt {
        id: row.get(0)?,
        name: row.get(1)?,
        title: row.get(2)?,
        kind: row.get(4)?,
        lang: row.get(5)?,
        allow_main: row.get(6)?,
        allow_sub: row.get(7)?,
        builtin,
        locked: row.get(9)?,
        source: row.get(10)?,
        plugin_id: row.get(11)?,
        app_id: row.get(12)?,
        edited: builtin && synced.is_some_and(|synced| synced != content),
        content,
        created_at: row.get(13)?,
        updated_at: row.get(14)?,
    })
}

impl Store {
    /// All texts, built-in ones first.
    pub fn system_prompts(&self) -> Result<Vec<SystemPrompt>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM prompts ORDER BY builtin DESC, name COLLATE NOCASE");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([], record)?.collect::<Result<_, _>>()?)
        })
    }

    /// The text with this id or name.
    pub fn system_prompt(&self, written: &str) -> Result<Option<SystemPrompt>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM prompts WHERE id = ?1 OR name = ?1 COLLATE NOCASE ORDER BY id <> ?1 LIMIT 1"
            );
            Ok(connection.prepare_cached(&sql)?.query_row([written], record).optional()?)
        })
    }

    /// Writes a text whole. `new`: its id must be free; else it must exist.
    pub fn put_system_prompt(&self, prompt: SystemPrompt, new: bool) -> Result<(), StoreError> {
        self.write(move |connection| {
            let there: bool = connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM prompts WHERE id = ?1)",
                [&prompt.id],
                |row| row.get(0),
            )?;
            match (new, there) {
                (true, true) => Err(StoreError::new(StoreErrorKind::Conflict, "a prompt has this id")),
                (false, false) => Err(StoreError::new(StoreErrorKind::NotFound, "there is no such prompt")),
                _ => put(connection, &prompt),
            }
        })
    }

    /// Removes a person's own text; true when there was one. Those of apps are buried by [`Store::bury_app_row`].
    pub fn remove_system_prompt(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let sql = "DELETE FROM prompts WHERE id = ?1 AND builtin = 0 AND source <> 'app'";
            Ok(connection.execute(sql, [id])? > 0)
        })
    }

    /// Brings the built-in texts to those of this binary; what a person edited stays (state §5).
    pub fn seed_system_prompts(&self, prompts: Vec<SystemPrompt>) -> Result<(), StoreError> {
        self.write(move |connection| {
            for prompt in &prompts {
                seed(connection, prompt)?;
            }
            Ok(())
        })
    }

    /// Gives a built-in text back its own content; false when it is not a built-in one.
    pub fn reset_system_prompt(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let changed = connection.execute(
                "UPDATE prompts SET updated_at = ?2, content = (SELECT value FROM synced_values
                   WHERE entity = 'prompts' AND entity_id = prompts.id AND field = 'content')
                 WHERE id = ?1 AND builtin = 1 AND EXISTS (SELECT 1 FROM synced_values
                   WHERE entity = 'prompts' AND entity_id = prompts.id AND field = 'content')",
                params![id, now_ms()],
            )?;
            Ok(changed > 0)
        })
    }
}

fn seed(connection: &Connection, prompt: &SystemPrompt) -> Result<(), StoreError> {
    let here: Option<(String, String, Option<String>)> = connection
        .query_row(
            "SELECT id, content, (SELECT value FROM synced_values
               WHERE entity = 'prompts' AND entity_id = prompts.id AND field = 'content')
             FROM prompts WHERE builtin = 1 AND (id = ?1 OR name = ?2 COLLATE NOCASE)",
            [&prompt.id, &prompt.name],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let id = match here {
        Some((id, content, synced)) => {
            let edited = synced.as_ref().is_none_or(|synced| *synced != content);
            if synced.as_ref() == Some(&prompt.content) {
                return Ok(());
            }
            if !edited {
                connection.execute(
                    "UPDATE prompts SET content = ?2, title = ?3, updated_at = ?4 WHERE id = ?1",
                    params![id, prompt.content, prompt.title, now_ms()],
                )?;
            }
            id
        }
        None => {
            // A person's text may have the name.
            connection.execute(
                "UPDATE prompts SET name = name || ' (2)' WHERE name = ?1 COLLATE NOCASE",
                [&prompt.name],
            )?;
            put(connection, prompt)?;
            prompt.id.clone()
        }
    };
    connection.execute(
        "INSERT INTO synced_values (entity, entity_id, field, value, synced_at)
         VALUES ('prompts', ?1, 'content', ?2, ?3)
         ON CONFLICT (entity, entity_id, field) DO UPDATE SET value = excluded.value, synced_at = excluded.synced_at",
        params![id, prompt.content, now_ms()],
    )?;
    Ok(())
}

fn put(connection: &Connection, prompt: &SystemPrompt) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO prompts (id, name, title, content, type, lang, allow_main, allow_sub, builtin, locked, source,
           plugin_id, app_id, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, title = excluded.title, content = excluded.content,
           type = excluded.type, lang = excluded.lang, allow_main = excluded.allow_main,
           allow_sub = excluded.allow_sub, updated_at = excluded.updated_at",
        params![
            prompt.id,
            prompt.name,
            prompt.title,
            prompt.content,
            prompt.kind,
            prompt.lang,
            prompt.allow_main,
            prompt.allow_sub,
            prompt.builtin,
            prompt.locked,
            prompt.source,
            prompt.plugin_id,
            prompt.app_id,
            now_ms()
        ],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;
