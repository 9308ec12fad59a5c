//! Dedupe keys: one record per key, looked up and stored in the transaction of the effect (tools §14).

use chatos_tool::hex;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use crate::error::StoreError;

const DAY_MS: i64 = 24 * 3600 * 1000;

/// What is known about a key.
pub(crate) struct KeyHit {
    /// The records it made, in order.
    pub(crate) ids: Vec<String>,
    /// It was used with another payload.
    pub(crate) differs: bool,
}

/// A digest of what a record was made from.
pub(crate) fn payload_hash(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    hex(&digest.finalize())
}

/// Looks a key up; a hit restarts its life, an expired key is cleared first.
pub(crate) fn look_up(
    connection: &Connection,
    scope: &str,
    key: &str,
    payload: &str,
    now: i64,
    ttl_days: i64,
) -> Result<Option<KeyHit>, StoreError> {
    let known: Option<(String, i64)> = connection
        .prepare_cached("SELECT payload_hash, used_at FROM dedupe_keys WHERE scope = ?1 AND key = ?2")?
        .query_row((scope, key), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((known, used_at)) = known else { return Ok(None) };
    if used_at < now - ttl_days * DAY_MS {
        connection
            .prepare_cached("DELETE FROM dedupe_keys WHERE scope = ?1 AND key = ?2")?
            .execute((scope, key))?;
        return Ok(None);
    }
    connection
        .prepare_cached("UPDATE dedupe_keys SET used_at = ?3 WHERE scope = ?1 AND key = ?2")?
        .execute((scope, key, now))?;
    let ids = connection
        .prepare_cached("SELECT ref_id FROM dedupe_ids WHERE scope = ?1 AND key = ?2 ORDER BY position")?
        .query_map((scope, key), |row| row.get(0))?
        .collect::<Result<Vec<String>, _>>()?;
    Ok(Some(KeyHit { ids, differs: known != payload }))
}

/// The first record a living key made, without restarting its life.
pub(crate) fn peek(
    connection: &Connection,
    scope: &str,
    key: &str,
    now: i64,
    ttl_days: i64,
) -> Result<Option<String>, StoreError> {
    let id = connection
        .prepare_cached(
            "SELECT ref_id FROM dedupe_ids JOIN dedupe_keys USING (scope, key)
             WHERE scope = ?1 AND key = ?2 AND used_at >= ?3 ORDER BY position LIMIT 1",
        )?
        .query_row((scope, key, now - ttl_days * DAY_MS), |row| row.get(0))
        .optional()?;
    Ok(id)
}

/// Remembers that `key` made the record `id`.
pub(crate) fn remember(
    connection: &Connection,
    scope: &str,
    key: &str,
    payload: &str,
    id: &str,
    now: i64,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO dedupe_keys (scope, key, payload_hash, used_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (scope, key) DO UPDATE SET payload_hash = excluded.payload_hash, used_at = excluded.used_at",
        )?
        .execute((scope, key, payload, now))?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO dedupe_ids (scope, key, position, ref_id) VALUES (?1, ?2, 0, ?3)",
        )?
        .execute((scope, key, id))?;
    Ok(())
}

/// Frees the keys of a record that is gone.
pub(crate) fn forget(connection: &Connection, scope_prefix: &str, id: &str) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "DELETE FROM dedupe_keys WHERE (scope, key) IN
               (SELECT scope, key FROM dedupe_ids WHERE ref_id = ?1 AND substr(scope, 1, length(?2)) = ?2)",
        )?
        .execute((id, scope_prefix))?;
    Ok(())
}
