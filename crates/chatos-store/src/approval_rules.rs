//! Rows of approval rules (inbox §4.1). What a record means, and whether its signature is ours, is for the inbox to say.

use rusqlite::{OptionalExtension, Row, params};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};

/// Most rules of a state.
const MAX_RULES: i64 = 500;

/// A rule as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRow {
    /// Names the rule in the API.
    pub id: String,
    /// The record as JSON text.
    pub record: String,
    /// Hex, over id and record.
    pub sig: String,
    /// How often it answered.
    pub uses: i64,
    /// When it did last.
    pub last_used_at: Option<i64>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
}

const COLUMNS: &str = "id, record, sig, uses, last_used_at, created_at";

impl Store {
    /// All of them, oldest first.
    pub fn approval_rules(&self) -> Result<Vec<RuleRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM approval_rules ORDER BY created_at, id");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Keeps a rule, new or changed; its uses stay.
    pub fn put_approval_rule(&self, id: &str, record: &str, sig: &str, at: i64) -> Result<(), StoreError> {
        let values = [id, record, sig].map(str::to_owned);
        self.write(move |connection| {
            let [id, record, sig] = &values;
            let count: i64 =
                connection.query_row("SELECT count(*) FROM approval_rules WHERE id <> ?1", [id], |row| {
                    row.get(0)
                })?;
            if count >= MAX_RULES {
                return Err(StoreError::new(
                    StoreErrorKind::Full,
                    format!("there are {MAX_RULES} rules already"),
                ));
            }
            connection
                .prepare_cached(
                    "INSERT INTO approval_rules (id, record, sig, created_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (id) DO UPDATE SET record = excluded.record, sig = excluded.sig",
                )?
                .execute(params![id, record, sig, at])?;
            Ok(())
        })
    }

    /// Counts one use of a rule.
    pub fn approval_rule_used(&self, id: &str, at: i64) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            connection
                .prepare_cached("UPDATE approval_rules SET uses = uses + 1, last_used_at = ?2 WHERE id = ?1")?
                .execute(params![id, at])?;
            Ok(())
        })
    }

    /// Forgets a rule; gives what there was.
    pub fn remove_approval_rule(&self, id: &str) -> Result<Option<RuleRow>, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let sql = format!("DELETE FROM approval_rules WHERE id = ?1 RETURNING {COLUMNS}");
            Ok(connection.prepare_cached(&sql)?.query_row([id], read).optional()?)
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<RuleRow> {
    Ok(RuleRow {
        id: row.get(0)?,
        record: row.get(1)?,
        sig: row.get(2)?,
        uses: row.get(3)?,
        last_used_at: row.get(4)?,
        created_at: row.get(5)?,
    })
}
