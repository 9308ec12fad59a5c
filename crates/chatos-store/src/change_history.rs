//! Changes of files as people see them: found again, with their contents, and what undid what
//! (servers §2.7). Writing is in `file_changes.rs`.

use std::fs;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::file_changes::{FileChangeRow, counts, old_path};

/// Changes of one selection that are looked at together, at most.
pub const MOST_CHANGES_AT_ONCE: usize = 10_000;

const COLUMNS: &str = "rowid, id, run_id, session_id, user_message_id, server, tool, root, path, change, \
                       before_blob, after_blob, diff_blob, created_at, added, removed, moved_from";

/// Which changes are wanted; empty texts are any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeFilter {
    /// This root.
    pub root: String,
    /// This text in the path, old paths of moves not included.
    pub path: String,
    /// This run.
    pub run_id: String,
    /// This chat.
    pub session_id: String,
    /// This server.
    pub server: String,
    /// This tool.
    pub tool: String,
    /// `created`, `modified`, `deleted` or `moved`.
    pub change: String,
    /// Only those before this one.
    pub before: Option<String>,
}

/// What is known of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentState {
    /// There was no file.
    Absent,
    /// It can be read.
    Kept,
    /// It was too large to keep.
    Omitted,
    /// It is not there: never known, or removed since.
    Lost,
}

/// A content before or after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeContent {
    /// What is known of it.
    pub state: ContentState,
    /// Its digest.
    pub sha256: Option<String>,
    /// Its size.
    pub size: Option<u64>,
}

/// A change with everything the row itself does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The row.
    pub row: FileChangeRow,
    /// Its place in the order in which changes were recorded.
    pub seq: i64,
    /// The path before a move.
    pub from: Option<String>,
    /// The content before.
    pub before: ChangeContent,
    /// The content after.
    pub after: ChangeContent,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// The change that undid it and is not undone itself.
    pub undone_by: Option<String>,
    /// What it undid.
    pub undoes: Vec<String>,
}

impl Store {
    /// The newest changes, at most `limit`, and whether there are more.
    pub fn changes(
        &self,
        filter: &ChangeFilter,
        limit: usize,
    ) -> Result<(Vec<RecordedChange>, bool), StoreError> {
        let most = i64::try_from(limit).unwrap_or(i64::MAX - 1).saturating_add(1);
        let mut found = self.read(|connection| select(connection, filter, most))?;
        let more = found.len() > limit;
        found.truncate(limit);
        Ok((self.complete(found), more))
    }

    /// One change.
    pub fn change(&self, id: &str) -> Result<Option<RecordedChange>, StoreError> {
        let found = self.read(|connection| one(connection, id))?;
        Ok(self.complete(found.into_iter().collect()).pop())
    }

    /// Changes by their ids; those that do not exist are left out.
    pub fn changes_by_id(&self, ids: &[String]) -> Result<Vec<RecordedChange>, StoreError> {
        let found = self.read(|connection| {
            let found = ids.iter().map(|id| one(connection, id));
            Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        })?;
        Ok(self.complete(found))
    }

    /// Changes of a path that were recorded after one and are in force; at most `limit`, oldest first.
    pub fn later_changes(
        &self,
        root: &str,
        path: &str,
        seq: i64,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM file_changes WHERE root = ?1 AND path = ?2 AND rowid > ?3 ORDER BY rowid",
            )?;
            let ids = statement.query_map((root, path, seq), |row| row.get::<_, String>(0))?;
            let mut later = Vec::new();
            for id in ids {
                let id = id?;
                if undone_by(connection, &id)?.is_none() {
                    later.push(id);
                }
                if later.len() == limit {
                    break;
                }
            }
            Ok(later)
        })
    }

    /// The text of a change's diff; empty when there is none or it is gone.
    pub fn change_diff(&self, row: &FileChangeRow) -> String {
        self.kept(&row.diff_blob).unwrap_or_default()
    }

    /// The change that was recorded last: another one means that there are news.
    pub fn newest_change(&self) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT id FROM file_changes ORDER BY rowid DESC LIMIT 1";
            Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?)
        })
    }

    /// Adds what lies in files: whether contents are there, and what the diff of an older row says.
    fn complete(&self, found: Vec<Found>) -> Vec<RecordedChange> {
        let complete = |found: Found| {
            let Found { seq, row, said, sizes, undone_by, undoes } = found;
            let Said { added, removed, from } = said.unwrap_or_else(|| {
                let diff = self.change_diff(&row);
                let (added, removed) = counts(&diff);
                Said { added, removed, from: old_path(&diff, &row.path) }
            });
            let from = from.filter(|_| row.change == "moved");
            let before = self.content(&row.before_blob, row.change == "created", sizes.0);
            let after = self.content(&row.after_blob, row.change == "deleted", sizes.1);
            RecordedChange { row, seq, from, before, after, added, removed, undone_by, undoes }
        };
        found.into_iter().map(complete).collect()
    }

    fn content(&self, column: &str, none: bool, size: Option<u64>) -> ChangeContent {
        let known = |state, sha256: Option<&str>, size| ChangeContent {
            state,
            sha256: sha256.map(str::to_owned),
            size,
        };
        if column.is_empty() {
            let state = if none { ContentState::Absent } else { ContentState::Lost };
            return known(state, None, None);
        }
        if let Some((sha256, size)) = column.strip_prefix("omitted:").and_then(|rest| rest.split_once(':')) {
            return known(ContentState::Omitted, Some(sha256), size.parse().ok());
        }
        let plain = column.len() == 64 && column.bytes().all(|byte| byte.is_ascii_hexdigit());
        let there = plain.then(|| fs::metadata(self.blob_file(column)).ok()).flatten().map(|meta| meta.len());
        match there {
            Some(there) if size.is_none_or(|size| size == there) => {
                known(ContentState::Kept, Some(column), Some(there))
            }
            _ => known(ContentState::Lost, plain.then_some(column), size),
        }
    }
}

/// A change as the database has it.
struct Found {
    seq: i64,
    row: FileChangeRow,
    /// Nothing for rows of the time before it was noted.
    said: Option<Said>,
    sizes: (Option<u64>, Option<u64>),
    undone_by: Option<String>,
    undoes: Vec<String>,
}

/// What the diff of a change says.
struct Said {
    added: u64,
    removed: u64,
    from: Option<String>,
}

fn select(connection: &Connection, filter: &ChangeFilter, most: i64) -> Result<Vec<Found>, StoreError> {
    let mut before = None;
    if let Some(id) = &filter.before {
        before = connection
            .prepare_cached("SELECT created_at, rowid FROM file_changes WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if before.is_none() {
            return Err(StoreError::new(StoreErrorKind::NotFound, format!("there is no change `{id}`")));
        }
    }
    let (sql, values) = statement(filter, before, most);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), read_row)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter().map(|row| found(connection, row)).collect()
}

/// The query of a list, after the change with this time and place when there is one.
fn statement(filter: &ChangeFilter, before: Option<(i64, i64)>, most: i64) -> (String, Vec<Sql>) {
    let mut sql = format!("SELECT {COLUMNS} FROM file_changes WHERE 1");
    let mut values: Vec<Sql> = Vec::new();
    let equal = [
        // The index by path knows no time: with `+` a root is looked for in the index by time.
        ("+root", &filter.root),
        ("run_id", &filter.run_id),
        ("session_id", &filter.session_id),
        ("server", &filter.server),
        ("tool", &filter.tool),
        ("change", &filter.change),
    ];
    for (column, value) in equal.into_iter().filter(|(_, value)| !value.is_empty()) {
        sql.push_str(&format!(" AND {column} = ?"));
        values.push(Sql::from(value.clone()));
    }
    if filter.path.contains('\0') {
        // No path has one, and for LIKE the text would end there.
        sql.push_str(" AND 0");
    } else if !filter.path.is_empty() {
        sql.push_str(" AND path LIKE ? ESCAPE '\\'");
        let plain = filter.path.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        values.push(Sql::from(format!("%{plain}%")));
    }
    if let Some((time, seq)) = before {
        sql.push_str(" AND (created_at, rowid) < (?, ?)");
        values.extend([Sql::from(time), Sql::from(seq)]);
    }
    sql.push_str(" ORDER BY created_at DESC, rowid DESC LIMIT ?");
    values.push(Sql::from(most));
    (sql, values)
}

fn one(connection: &Connection, id: &str) -> Result<Option<Found>, StoreError> {
    let row = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM file_changes WHERE id = ?1"))?
        .query_row([id], read_row)
        .optional()?;
    row.map(|row| found(connection, row)).transpose()
}

type Columns = (i64, FileChangeRow, Option<Said>);

fn read_row(row: &Row<'_>) -> rusqlite::Result<Columns> {
    let change = FileChangeRow {
        id: row.get(1)?,
        run_id: row.get(2)?,
        session_id: row.get(3)?,
        user_message_id: row.get(4)?,
        server: row.get(5)?,
        tool: row.get(6)?,
        root: row.get(7)?,
        path: row.get(8)?,
        change: row.get(9)?,
        before_blob: row.get(10)?,
        after_blob: row.get(11)?,
        diff_blob: row.get(12)?,
        created_at: row.get(13)?,
    };
    let number = |index| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(index)?.map(i64::unsigned_abs));
    let said = match number(14)?.zip(number(15)?) {
        Some((added, removed)) => Some(Said { added, removed, from: row.get(16)? }),
        None => None,
    };
    Ok((row.get(0)?, change, said))
}

fn found(connection: &Connection, (seq, row, said): Columns) -> Result<Found, StoreError> {
    let size = |sha256: &str| -> Result<Option<u64>, StoreError> {
        let mut statement = connection.prepare_cached("SELECT size FROM blobs WHERE sha256 = ?1")?;
        let size: Option<i64> = statement.query_row([sha256], |row| row.get(0)).optional()?;
        Ok(size.and_then(|size| u64::try_from(size).ok()))
    };
    let sizes = (size(&row.before_blob)?, size(&row.after_blob)?);
    let undone_by = undone_by(connection, &row.id)?;
    let undoes = linked(connection, "SELECT change_id FROM file_change_undos WHERE undo_id = ?1", &row.id)?;
    Ok(Found { seq, row, said, sizes, undone_by, undoes })
}

/// The undo of a change that is in force: an undo that was undone itself does not count any more. A chain
/// of undos has no end that anybody promised, so this asks down it without recursion; each undo is younger
/// than what it undid, so it ends.
fn undone_by(connection: &Connection, id: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT undo_id FROM file_change_undos WHERE change_id = ?1 AND undo_id <> ?1 ORDER BY undo_id";
    let mut asked = vec![(id.to_owned(), linked(connection, sql, id)?)];
    loop {
        let Some((_, undos)) = asked.last_mut() else { return Ok(None) };
        if let Some(undo) = undos.pop() {
            let its = linked(connection, sql, &undo)?;
            asked.push((undo, its));
            continue;
        }
        // Nothing undid the last one: it is in force, and what it undid is not.
        let undo = asked.pop().map(|(undo, _)| undo);
        if asked.len() == 1 {
            return Ok(undo);
        }
        asked.pop();
    }
}

fn linked(connection: &Connection, sql: &str, id: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([id], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;
