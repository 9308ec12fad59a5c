//! Browsers that are signed in (inbox §7). What they mean is decided in `chatos-browsers`.

use rusqlite::{OptionalExtension, Row, params};

use crate::db::Store;
use crate::error::StoreError;

/// A browser that is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserRow {
    /// The beginning of the digest of its public key.
    pub id: String,
    /// What it calls itself, cleaned.
    pub name: String,
    /// An uncompressed point of P-256.
    pub public_key: Vec<u8>,
    /// The digest of its cookie.
    pub cookie_hash: Vec<u8>,
    /// The digest of the cookie before.
    pub prev_hash: Option<Vec<u8>>,
    /// The browser has shown the newest cookie.
    pub cur_seen: bool,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// When it was last seen, by the clock.
    pub seen_at: i64,
    /// From where it was last seen.
    pub address: String,
    /// How old the sign-in was then, by time that passed.
    pub age_ms: i64,
    /// The start of the machine during which it was last seen.
    pub boot_id: String,
    /// How long after that start.
    pub boot_ms: i64,
}

const COLUMNS: &str = "id, name, public_key, cookie_hash, prev_hash, cur_seen, created_at, seen_at, address, age_ms, \
                       boot_id, boot_ms";

impl Store {
    /// All of them, the one seen last first.
    pub fn browsers(&self) -> Result<Vec<BrowserRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM browsers ORDER BY seen_at DESC, id");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// One of them.
    pub fn browser(&self, id: &str) -> Result<Option<BrowserRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM browsers WHERE id = ?1");
            Ok(connection.prepare_cached(&sql)?.query_row([id], read).optional()?)
        })
    }

    /// Keeps a browser; one with this id is replaced.
    pub fn put_browser(&self, row: BrowserRow) -> Result<(), StoreError> {
        self.write(move |connection| {
            let sql = format!(
                "INSERT OR REPLACE INTO browsers ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
            );
            connection.prepare_cached(&sql)?.execute(params![
                row.id,
                row.name,
                row.public_key,
                row.cookie_hash,
                row.prev_hash,
                row.cur_seen,
                row.created_at,
                row.seen_at,
                row.address,
                row.age_ms,
                row.boot_id,
                row.boot_ms
            ])?;
            Ok(())
        })
    }

    /// Forgets browsers; it is gone from the disk when this returns.
    pub fn drop_browsers(&self, ids: Vec<String>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let mut statement = connection.prepare_cached("DELETE FROM browsers WHERE id = ?1")?;
            for id in ids {
                statement.execute([id])?;
            }
            Ok(())
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<BrowserRow> {
    Ok(BrowserRow {
        id: row.get(0)?,
        name: row.get(1)?,
        public_key: row.get(2)?,
        cookie_hash: row.get(3)?,
        prev_hash: row.get(4)?,
        cur_seen: row.get(5)?,
        created_at: row.get(6)?,
        seen_at: row.get(7)?,
        address: row.get(8)?,
        age_ms: row.get(9)?,
        boot_id: row.get(10)?,
        boot_ms: row.get(11)?,
    })
}
