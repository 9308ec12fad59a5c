//! Putting a row into a table: new, or over an older one, never over a locked or newer one.

use chatos_store::StoreError;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::report::Reason;

/// What became of a row that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was not here.
    New,
    /// It was not here, and some of its values had to be mended.
    Mended,
    /// It was here, older.
    Newer,
}

/// Why a row was not taken.
pub(super) enum Unfit {
    /// It does not fit.
    Row(Reason),
    /// The database said no.
    Store(StoreError),
}

impl From<Reason> for Unfit {
    fn from(reason: Reason) -> Self {
        Self::Row(reason)
    }
}

impl From<StoreError> for Unfit {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Unfit {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// state §7.4: newer wins for unlocked rows, else it is skipped.
pub(super) fn decide(
    connection: &Connection,
    table: &str,
    id: &str,
    updated_at: i64,
    locked: &str,
) -> Result<Taken, Unfit> {
    let sql = format!("SELECT updated_at, {locked} FROM {table} WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let there: Option<(i64, bool)> =
        statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    match there {
        None => Ok(Taken::New),
        Some((_, true)) => Err(Reason::Locked.into()),
        Some((at, false)) if updated_at > at => Ok(Taken::Newer),
        Some(_) => Err(Reason::NotNewer.into()),
    }
}

/// Writes a row by its id; an existing one keeps its `created_at`.
pub(super) fn put(connection: &Connection, table: &str, row: Vec<(&'static str, Sql)>) -> Result<(), Unfit> {
    let names: Vec<&str> = row.iter().map(|(name, _)| *name).collect();
    let marks: Vec<String> = (1..=names.len()).map(|index| format!("?{index}")).collect();
    let changes: Vec<String> = names
        .iter()
        .filter(|name| !matches!(**name, "id" | "created_at"))
        .map(|name| format!("{name} = excluded.{name}"))
        .collect();
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT (id) DO UPDATE SET {}",
        names.join(", "),
        marks.join(", "),
        changes.join(", ")
    );
    connection.prepare_cached(&sql)?.execute(params_from_iter(row.into_iter().map(|(_, value)| value)))?;
    Ok(())
}

/// A name nobody else has in this table: `x`, `x (imported)`, `x (imported 2)`, …
pub(super) fn free_name(
    connection: &Connection,
    table: &str,
    name: &str,
    id: &str,
    suffix: impl Fn(u32) -> String,
) -> Result<String, Unfit> {
    let sql = format!("SELECT 1 FROM {table} WHERE name = ?1 COLLATE NOCASE AND id <> ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut wish = name.to_owned();
    let mut number = 1;
    while statement.query_row([&wish, id], |_| Ok(())).optional()?.is_some() {
        wish = format!("{name}{}", suffix(number));
        number += 1;
    }
    Ok(wish)
}

/// The suffix of names people read.
pub(super) fn imported(number: u32) -> String {
    if number == 1 { " (imported)".to_owned() } else { format!(" (imported {number})") }
}

/// A value for a nullable column.
pub(super) fn maybe<T: Into<Sql>>(value: Option<T>) -> Sql {
    value.map_or(Sql::Null, Into::into)
}

/// A switch as the tables keep it.
pub(super) fn flag(value: bool) -> Sql {
    Sql::Integer(i64::from(value))
}
