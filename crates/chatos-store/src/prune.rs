//! Removing what a person no longer wants: finished runs before a time, blobs nobody refers to.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// What a clean-up removes, or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Finished runs.
    pub runs: u64,
    /// Their steps.
    pub steps: u64,
    /// The oldest and the newest of them.
    pub span: Option<(i64, i64)>,
    /// Blobs without a reference left, and their size.
    pub blobs: u64,
    /// Bytes of those blobs.
    pub bytes: u64,
}

/// Every column that names a blob.
const REFERENCES: [(&str, &str); 11] = [
    ("messages", "structured_blob"),
    ("message_tool_calls", "args_blob"),
    ("message_attachments", "blob"),
    ("message_attachments", "text_blob"),
    ("runs", "grants_blob"),
    ("run_steps", "input_blob"),
    ("run_steps", "output_blob"),
    ("file_changes", "before_blob"),
    ("file_changes", "after_blob"),
    ("file_changes", "diff_blob"),
    ("prompt_records", "diff_blob"),
];

/// How blobs and the table of them differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlobState {
    /// Rows whose number of references is wrong.
    pub miscounted: u64,
    /// Referenced content that is not there or not what its name says.
    pub missing: Vec<String>,
    /// Rows looked at.
    pub rows: u64,
}

impl Store {
    /// What [`Store::prune_runs`] would remove.
    pub fn runs_before(&self, before: i64) -> Result<Pruned, StoreError> {
        self.read(|connection| count_runs(connection, before))
    }

    /// Removes runs that finished before a time, with their steps; running and interrupted ones stay.
    pub fn prune_runs(&self, before: i64) -> Result<Pruned, StoreError> {
        self.write(move |connection| {
            let pruned = count_runs(connection, before)?;
            connection.execute("DELETE FROM runs WHERE finished_at < ?1", [before])?;
            recount(connection)?;
            Ok(pruned)
        })
    }

    /// Removes the content of blobs that nobody has referred to for `grace`; state §2.
    pub fn sweep_blobs(&self, grace_days: i64) -> Result<Pruned, StoreError> {
        let before = now_ms() - grace_days.max(0) * 86_400_000;
        let gone: Vec<(String, i64)> = self.write(move |connection| {
            let mut statement = connection.prepare_cached(
                "DELETE FROM blobs WHERE refs <= 0 AND created_at < ?1 RETURNING sha256, size",
            )?;
            let rows = statement.query_map([before], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let mut pruned = Pruned::default();
        for (sha256, size) in gone {
            // The row is gone; a file that stays behind is only space, and the next put finds it again.
            if std::fs::remove_file(self.blob_file(&sha256)).is_ok() {
                pruned.blobs += 1;
                pruned.bytes += size.unsigned_abs();
            }
        }
        Ok(pruned)
    }

    /// Compares the blobs with what refers to them; `deep` reads their content.
    pub fn blob_state(&self, deep: bool) -> Result<BlobState, StoreError> {
        let (wanted, rows) = self.read(|connection| Ok((references(connection)?, known(connection)?)))?;
        let mut state = BlobState { rows: rows.len() as u64, ..BlobState::default() };
        let known: HashMap<&str, (i64, i64)> =
            rows.iter().map(|(sha256, refs, size)| (sha256.as_str(), (*refs, *size))).collect();
        for (sha256, refs, _) in &rows {
            state.miscounted += u64::from(wanted.get(sha256.as_str()).copied().unwrap_or_default() != *refs);
        }
        for sha256 in wanted.keys() {
            state.miscounted += u64::from(!known.contains_key(sha256.as_str()));
            let there = if deep {
                self.blob(sha256).is_some()
            } else {
                let size = std::fs::metadata(self.blob_file(sha256)).map(|meta| meta.len() as i64).ok();
                size.is_some() && known.get(sha256.as_str()).is_none_or(|(_, known)| size == Some(*known))
            };
            if !there {
                state.missing.push(sha256.clone());
            }
        }
        state.missing.sort();
        Ok(state)
    }

    /// Counts the references anew; loses nothing.
    pub fn recount_blobs(&self) -> Result<(), StoreError> {
        self.write(recount)
    }
}

fn count_runs(connection: &Connection, before: i64) -> Result<Pruned, StoreError> {
    let (runs, first, last): (i64, Option<i64>, Option<i64>) = connection.query_row(
        "SELECT count(*), min(finished_at), max(finished_at) FROM runs WHERE finished_at < ?1",
        [before],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let steps: i64 = connection.query_row(
        "SELECT count(*) FROM run_steps WHERE run_id IN (SELECT id FROM runs WHERE finished_at < ?1)",
        [before],
        |row| row.get(0),
    )?;
    Ok(Pruned {
        runs: runs.unsigned_abs(),
        steps: steps.unsigned_abs(),
        span: first.zip(last),
        ..Pruned::default()
    })
}

fn references(connection: &Connection) -> Result<HashMap<String, i64>, StoreError> {
    let mut wanted = HashMap::new();
    for (table, column) in REFERENCES {
        let sql =
            format!("SELECT {column}, count(*) FROM {table} WHERE length({column}) = 64 GROUP BY {column}");
        let mut statement = connection.prepare_cached(&sql)?;
        for row in statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))? {
            let (sha256, count) = row?;
            *wanted.entry(sha256).or_default() += count;
        }
    }
    Ok(wanted)
}

fn known(connection: &Connection) -> Result<Vec<(String, i64, i64)>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT sha256, refs, size FROM blobs")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn recount(connection: &Connection) -> Result<(), StoreError> {
    let wanted = references(connection)?;
    let now = now_ms();
    for (sha256, refs, _) in known(connection)? {
        let count = wanted.get(&sha256).copied().unwrap_or_default();
        if count == 0 && refs != 0 {
            // The days of grace begin when the last reference goes.
            let sql = "UPDATE blobs SET refs = 0, created_at = ?1 WHERE sha256 = ?2";
            connection.prepare_cached(sql)?.execute((now, &sha256))?;
        } else if count != refs {
            connection
                .prepare_cached("UPDATE blobs SET refs = ?1 WHERE sha256 = ?2")?
                .execute((count, &sha256))?;
        }
    }
    for (sha256, count) in wanted {
        let sql = "INSERT INTO blobs (sha256, size, refs, created_at) VALUES (?1, 0, ?2, ?3) ON CONFLICT DO NOTHING";
        connection.prepare_cached(sql)?.execute((sha256, count, now))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::tests::options;

    fn run(store: &Store, id: &'static str, finished: Option<i64>, blob: String) {
        store
            .write(move |connection| {
                connection.execute(
                    "INSERT INTO runs (id, kind, state, created_at, updated_at, finished_at)
                     VALUES (?1, 'chat', 'done', 1, 1, ?2)",
                    (id, finished),
                )?;
                connection.execute(
                    "INSERT INTO run_steps (run_id, seq, kind, state, input_blob) VALUES (?1, 1, 'tool', 'done', ?2)",
                    (id, blob),
                )?;
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn old_finished_runs_go_with_their_content_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        let (old, shared) = (store.put_blob(b"old").unwrap(), store.put_blob(b"shared").unwrap());
        run(&store, "old", Some(100), old.clone());
        run(&store, "old too", Some(200), shared.clone());
        run(&store, "new", Some(900), shared.clone());
        run(&store, "running", None, shared.clone());
        store.recount_blobs().unwrap();
        assert_eq!(store.blob_state(true).unwrap(), BlobState { rows: 2, ..Default::default() });
        let shown = store.runs_before(500).unwrap();
        assert_eq!((shown.runs, shown.steps, shown.span), (2, 2, Some((100, 200))));
        assert_eq!(store.runs_before(500).unwrap(), shown);
        assert_eq!(store.prune_runs(500).unwrap(), shown);
        assert_eq!(store.runs_before(i64::MAX).unwrap().runs, 1);
        assert_eq!(store.sweep_blobs(7).unwrap().blobs, 0);
        assert!(store.blob(&old).is_some());
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(store.sweep_blobs(0).unwrap(), Pruned { blobs: 1, bytes: 0, ..Default::default() });
        assert!(store.blob(&old).is_none() && store.blob(&shared).is_some());
    }

    #[test]
    fn missing_and_miscounted_content_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        let blob = store.put_blob(b"some bytes").unwrap();
        run(&store, "r", None, blob.clone());
        assert_eq!(store.blob_state(false).unwrap().miscounted, 1);
        store.recount_blobs().unwrap();
        assert_eq!(store.blob_state(true).unwrap().miscounted, 0);
        std::fs::write(store.blob_file(&blob), b"some bytez").unwrap();
        assert_eq!(store.blob_state(true).unwrap().missing, std::slice::from_ref(&blob));
        std::fs::remove_file(store.blob_file(&blob)).unwrap();
        assert_eq!(store.blob_state(false).unwrap().missing, [blob]);
    }
}
