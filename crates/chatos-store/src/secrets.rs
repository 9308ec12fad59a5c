//! Named secrets: sealed in the database, opened only for the one place that uses them (state §6).
//!
//! A value goes in as bytes that are wiped and comes out as a [`SecretValue`], which has no `Debug`,
//! no `Display` and no wire form. Lists say that a secret is set, never anything about its value.

use chatos_keys::{SealError, SubKey};
use rusqlite::{Connection, OptionalExtension};
use zeroize::Zeroizing;

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::reseal::refuse_outdated;
use crate::time::now_ms;

/// The longest name and the largest value that are kept.
const NAME_BYTES: usize = 128;
const OWN_NAME_BYTES: usize = 512;
const VALUE_BYTES: usize = 64 * 1024;

/// What may be told about a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretInfo {
    /// The name a model or a header refers to.
    pub name: String,
    /// What a person noted about it.
    pub description: String,
    /// When it was first set.
    pub created_at: i64,
    /// When its value was last set.
    pub updated_at: i64,
    /// When it was last used, if ever.
    pub last_used_at: Option<i64>,
    /// The present key opens it. A value sealed with a lost key is shown as such and never overwritten by itself.
    pub openable: bool,
}

/// An opened value; wiped when dropped.
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    /// The value, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Whether a text may name a secret: like a variable, so that it can stand for one.
pub fn is_secret_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= NAME_BYTES
        && bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// A person set it by name; models and headers may name it.
    Named,
    /// What a person's sign-in to an MCP server gave.
    Grant,
    /// A sign-in that is under way.
    SignIn,
}

impl SecretKind {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Grant => "grant",
            Self::SignIn => "sign-in",
        }
    }

    /// The kind of a name.
    pub fn of(name: &str) -> Self {
        match name.split_once(':') {
            Some(("mcp-grant", _)) => Self::Grant,
            Some(("mcp-sign-in", _)) => Self::SignIn,
            _ => Self::Named,
        }
    }

    /// The name under which the host keeps one of a server. It holds a colon, so that nobody can set it
    /// or name it in a model.
    pub fn name_for(self, server: &str) -> String {
        match self {
            Self::Named => server.to_owned(),
            Self::Grant => format!("mcp-grant:{server}"),
            Self::SignIn => format!("mcp-sign-in:{server}"),
        }
    }
}

fn is_own_name(name: &str) -> bool {
    SecretKind::of(name) != SecretKind::Named
        && name.len() <= OWN_NAME_BYTES
        && !name.chars().any(char::is_control)
}

impl Store {
    /// All secrets by name. `key` only decides which of them can be opened.
    pub fn list_secrets(&self, key: &SubKey) -> Result<Vec<SecretInfo>, StoreError> {
        let instance = self.instance_id()?;
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, name, description, created_at, updated_at, last_used_at, sealed
                 FROM secrets ORDER BY name COLLATE NOCASE",
            )?;
            let rows = statement.query_map([], |row| {
                let (id, sealed): (String, String) = (row.get(0)?, row.get(6)?);
                Ok(SecretInfo {
                    name: row.get(1)?,
                    description: row.get(2)?,
                    created_at: row.get(3)?,
                    updated_at: row.get(4)?,
                    last_used_at: row.get(5)?,
                    openable: key.open(&secret_place(&instance, &id), &sealed).is_ok(),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Sets a secret, new or not. Returns whether it was new.
    pub fn set_secret(
        &self,
        key: &SubKey,
        name: &str,
        value: &[u8],
        description: Option<String>,
    ) -> Result<bool, StoreError> {
        if !is_secret_name(name) && !is_own_name(name) {
            return Err(StoreError::new(StoreErrorKind::Invalid, format!("`{name}` cannot name a secret")));
        }
        check_value(value)?;
        // Between our sealing and our write the key may have been changed; then once more with that one.
        match self.put_secret(key, name, value, description.clone()) {
            Err(error) if error.kind == StoreErrorKind::Conflict => {
                self.put_secret(key, name, value, description)
            }
            other => other,
        }
    }

    fn put_secret(
        &self,
        key: &SubKey,
        name: &str,
        value: &[u8],
        description: Option<String>,
    ) -> Result<bool, StoreError> {
        let instance = self.instance_id()?;
        let known = self.read(|connection| id_of(connection, name))?;
        let id = known.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let sealed = key.seal(&secret_place(&instance, &id), value).map_err(|e| unsealable(&e))?;
        let name = name.to_owned();
        self.write(move |connection| {
            // Between our look and this write another process may have set the same name: its row id is
            // part of what was sealed, so ours must not be put into it.
            if id_of(connection, &name)? != known {
                return Err(StoreError::new(StoreErrorKind::Conflict, "the secret was changed meanwhile"));
            }
            refuse_outdated(connection, Some(&sealed), None)?;
            let now = now_ms();
            connection.execute(
                "INSERT INTO secrets (id, name, sealed, description, created_at, updated_at)
                 VALUES (?1, ?2, ?3, coalesce(?4, ''), ?5, ?5)
                 ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at,
                   description = coalesce(?4, description)",
                (&id, &name, &sealed, &description, now),
            )?;
            Ok(known.is_none())
        })
    }

    /// Puts a value, or nothing, in the place of a secret while that is still the one `is_expected` knows.
    /// `false`: it is another one, or gone, and stays as it is.
    pub fn swap_secret(
        &self,
        key: &SubKey,
        name: &str,
        is_expected: impl Fn(&str) -> bool,
        value: Option<&[u8]>,
    ) -> Result<bool, StoreError> {
        value.map_or(Ok(()), check_value)?;
        let instance = self.instance_id()?;
        // Between our look and our write the key may have been changed: the same value, sealed anew.
        for _ in 0..3 {
            let Some((id, before)) = self.sealed(name)? else { return Ok(false) };
            if !is_expected(opened(key, &instance, name, &id, &before)?.expose()) {
                return Ok(false);
            }
            let place = secret_place(&instance, &id);
            let sealed =
                value.map(|value| key.seal(&place, value)).transpose().map_err(|e| unsealable(&e))?;
            match self.swap_sealed(id, before, sealed) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) if error.kind == StoreErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn swap_sealed(&self, id: String, before: String, sealed: Option<String>) -> Result<bool, StoreError> {
        // A value is sealed differently every time, so that an equal text is the very same write.
        self.write(move |connection| {
            refuse_outdated(connection, sealed.as_deref(), None)?;
            let changed = match &sealed {
                Some(sealed) => connection.execute(
                    "UPDATE secrets SET sealed = ?1, updated_at = ?2 WHERE id = ?3 AND sealed = ?4",
                    (sealed, now_ms(), &id, &before),
                )?,
                None => {
                    connection.execute("DELETE FROM secrets WHERE id = ?1 AND sealed = ?2", (&id, &before))?
                }
            };
            Ok(changed > 0)
        })
    }

    /// Removes a secret. `false`: there was none of this name.
    pub fn remove_secret(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write(move |connection| {
            Ok(connection.execute("DELETE FROM secrets WHERE name = ?1 COLLATE NOCASE", [name])? > 0)
        })
    }

    /// Opens a secret for use and notes that it was used. `None`: there is none of this name.
    pub fn use_secret(&self, key: &SubKey, name: &str) -> Result<Option<SecretValue>, StoreError> {
        let Some((id, value)) = self.opened(key, name)? else { return Ok(None) };
        self.write(move |connection| {
            connection.execute("UPDATE secrets SET last_used_at = ?1 WHERE id = ?2", (now_ms(), id))?;
            Ok(())
        })?;
        Ok(Some(value))
    }

    /// Opens a secret to say something about it that is no secret; it does not count as used.
    pub fn look_at_secret(&self, key: &SubKey, name: &str) -> Result<Option<SecretValue>, StoreError> {
        Ok(self.opened(key, name)?.map(|(_, value)| value))
    }

    /// The names of all secrets of a kind.
    pub fn secret_names(&self, kind: SecretKind) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT name FROM secrets ORDER BY name")?;
            let names = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            Ok(names.into_iter().filter(|name| SecretKind::of(name) == kind).collect())
        })
    }

    fn opened(&self, key: &SubKey, name: &str) -> Result<Option<(String, SecretValue)>, StoreError> {
        let instance = self.instance_id()?;
        let Some((id, sealed)) = self.sealed(name)? else { return Ok(None) };
        let value = opened(key, &instance, name, &id, &sealed)?;
        Ok(Some((id, value)))
    }

    /// The row of a name and what is sealed in it.
    fn sealed(&self, name: &str) -> Result<Option<(String, String)>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT id, sealed FROM secrets WHERE name = ?1 COLLATE NOCASE")?;
            Ok(statement.query_row([name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
        })
    }
}

fn opened(
    key: &SubKey,
    instance: &str,
    name: &str,
    id: &str,
    sealed: &str,
) -> Result<SecretValue, StoreError> {
    let bytes = key.open(&secret_place(instance, id), sealed).map_err(|error| {
        let text = format!("the secret `{name}` cannot be opened: {error}");
        StoreError::new(StoreErrorKind::Invalid, text)
    })?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| StoreError::new(StoreErrorKind::Invalid, format!("`{name}` is not text")))?;
    Ok(SecretValue(Zeroizing::new(text.to_owned())))
}

fn check_value(value: &[u8]) -> Result<(), StoreError> {
    if value.is_empty() || value.len() > VALUE_BYTES {
        let text = format!("a secret has 1 to {VALUE_BYTES} bytes");
        return Err(StoreError::new(StoreErrorKind::Invalid, text));
    }
    if std::str::from_utf8(value).is_err() {
        return Err(StoreError::new(StoreErrorKind::Invalid, "a secret is text in UTF-8"));
    }
    Ok(())
}

/// state §6: a sealed value belongs to exactly one row.
pub fn secret_place(instance: &str, id: &str) -> String {
    format!("{instance}|secrets|{id}|sealed")
}

fn id_of(connection: &Connection, name: &str) -> Result<Option<String>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id FROM secrets WHERE name = ?1 COLLATE NOCASE")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub fn unsealable(error: &SealError) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, format!("cannot seal a secret: {error}"))
}

#[cfg(test)]
mod tests;
