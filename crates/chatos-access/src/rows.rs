//! What a person opened to the commands of a project, as rows, with SQL of this crate (decision 0065).

use chatos_store::{Store, StoreError};
use rusqlite::{OptionalExtension, Row, params};

/// One thing that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectAccessRow {
    pub(crate) id: String,
    /// The real path of the project's folder.
    pub(crate) root: String,
    /// `read`, `write` or `host`.
    pub(crate) kind: String,
    /// An absolute path, or `name[:port]`.
    pub(crate) value: String,
    pub(crate) granted_at: i64,
    /// The question it was the answer to; else empty.
    pub(crate) request_id: String,
    /// When a command last ran with it.
    pub(crate) last_used_at: Option<i64>,
}

const COLUMNS: &str = "id, root, kind, value, granted_at, request_id, last_used_at";
/// Uses are noted this often: not every command has to wait for a writer.
const NOTED_MS: i64 = 3_600_000;

/// What is open in a project, or everywhere when `root` is empty.
pub(crate) fn project_access(store: &Store, root: &str) -> Result<Vec<ProjectAccessRow>, StoreError> {
    store.read(|connection| {
        let sql = format!(
            "SELECT {COLUMNS} FROM project_access
             WHERE revoked_at IS NULL AND (?1 = '' OR root = ?1) ORDER BY root, kind, value"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map([root], row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    })
}

/// Opens something. Gives the row; that of before where it was open already.
pub(crate) fn allow_access(store: &Store, row: ProjectAccessRow) -> Result<ProjectAccessRow, StoreError> {
    store.write(move |connection| {
        let sql = "INSERT INTO project_access (id, root, kind, value, granted_at, request_id)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                   ON CONFLICT (root, kind, value) WHERE revoked_at IS NULL DO NOTHING";
        connection.prepare_cached(sql)?.execute(params![
            row.id,
            row.root,
            row.kind,
            row.value,
            row.granted_at,
            row.request_id
        ])?;
        let sql = format!(
            "SELECT {COLUMNS} FROM project_access
             WHERE root = ?1 AND kind = ?2 AND value = ?3 AND revoked_at IS NULL"
        );
        Ok(connection.prepare_cached(&sql)?.query_row(params![row.root, row.kind, row.value], self::row)?)
    })
}

/// Takes something back. Gives what there was.
pub(crate) fn revoke_access(
    store: &Store,
    id: &str,
    at: i64,
) -> Result<Option<ProjectAccessRow>, StoreError> {
    let id = id.to_owned();
    store.write(move |connection| {
        let sql = format!(
            "UPDATE project_access SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL RETURNING {COLUMNS}"
        );
        Ok(connection.prepare_cached(&sql)?.query_row(params![id, at], row).optional()?)
    })
}

/// Notes that a command ran with what is open in a project; now and then, not each time.
pub(crate) fn use_access(store: &Store, rows: &[ProjectAccessRow], at: i64) -> Result<(), StoreError> {
    let old = |row: &&ProjectAccessRow| row.last_used_at.is_none_or(|then| at - then > NOTED_MS);
    let ids: Vec<String> = rows.iter().filter(old).map(|row| row.id.clone()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    store.write(move |connection| {
        let mut statement =
            connection.prepare_cached("UPDATE project_access SET last_used_at = ?2 WHERE id = ?1")?;
        for id in &ids {
            statement.execute(params![id, at])?;
        }
        Ok(())
    })
}

fn row(row: &Row<'_>) -> rusqlite::Result<ProjectAccessRow> {
    Ok(ProjectAccessRow {
        id: row.get(0)?,
        root: row.get(1)?,
        kind: row.get(2)?,
        value: row.get(3)?,
        granted_at: row.get(4)?,
        request_id: row.get(5)?,
        last_used_at: row.get(6)?,
    })
}
