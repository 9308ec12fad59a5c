//! An older database, opened so that not a byte of it changes, and recognised by its shape.

use std::path::{Path, PathBuf};

use chatos_store::door::{beside, open_still};
use chatos_store::{StoreError, StoreErrorKind};
use chatos_tool::hex;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::record::Record;
use super::report::Reason;
use crate::salvage::{Scratch, open_copy};

/// An open source. A copy of it goes when this does.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) fingerprint: String,
    connection: Connection,
    // A file with a log is read from a copy, because reading it in place would change its side files.
    _copy: Option<Scratch>,
}

impl Source {
    /// Opens a file when it has the shape of an older database; `None` when it is something else.
    ///
    /// `scratch` is a folder of ours for a copy, made when needed.
    pub(super) fn open(path: &Path, scratch: &Path) -> Result<Option<Self>, StoreError> {
        let path = std::fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
        let meta = std::fs::metadata(&path).map_err(|error| unreadable(&path, &error))?;
        if !meta.is_file() {
            let text = format!("not a file: {}", path.display());
            return Err(StoreError::new(StoreErrorKind::Invalid, text));
        }
        let fingerprint = fingerprint(&path)?;
        let has_log = ["-wal", "-journal"]
            .iter()
            .any(|suffix| std::fs::metadata(beside(&path, suffix)).is_ok_and(|meta| meta.len() > 0));
        let (connection, copy) = if has_log {
            let copy = Scratch::copy_to(&path, scratch.join(format!(".copy-{}", std::process::id())))?;
            (open_copy(&copy.database())?, Some(copy))
        } else {
            (open_still(&path)?, None)
        };
        if !has_records(&connection)? {
            return Ok(None);
        }
        Ok(Some(Self { path, fingerprint, connection, _copy: copy }))
    }

    /// Every table name with its number of rows.
    pub(super) fn tables(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT coalesce(CAST(table_name AS TEXT), ''), count(*) FROM records GROUP BY 1 ORDER BY 1",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Goes through the rows of one table, oldest first, with the id of those that cannot be read.
    pub(super) fn each(
        &self,
        table: &str,
        mut visit: impl FnMut(Result<Record, (String, Reason)>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT id, payload, created_at, updated_at FROM records WHERE table_name = ?1 ORDER BY rowid",
        )?;
        let mut rows = statement.query([table])?;
        while let Some(row) = rows.next()? {
            visit(read(row)?)?;
        }
        Ok(())
    }

    /// The order of messages: by time, then id (state §7).
    pub(super) fn message_order(&self, table: &str) -> Result<Vec<(i64, String, i64)>, StoreError> {
        let mut order = Vec::new();
        let mut statement = self.connection.prepare(
            "SELECT id, payload, created_at, updated_at, rowid FROM records WHERE table_name = ?1",
        )?;
        let mut rows = statement.query([table])?;
        while let Some(row) = rows.next()? {
            let rowid: i64 = row.get(4)?;
            match read(row)? {
                Ok(record) => order.push((record.created_at, record.id, rowid)),
                Err((id, _)) => order.push((i64::MAX, id, rowid)),
            }
        }
        order.sort();
        Ok(order)
    }

    /// One row by its place in the file.
    pub(super) fn at(&self, rowid: i64) -> Result<Result<Record, (String, Reason)>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, payload, created_at, updated_at FROM records WHERE rowid = ?1")?;
        let mut rows = statement.query([rowid])?;
        match rows.next()? {
            Some(row) => read(row),
            None => Err(StoreError::new(StoreErrorKind::Unavailable, "the source changed while it was read")),
        }
    }
}

fn read(row: &Row<'_>) -> Result<Result<Record, (String, Reason)>, StoreError> {
    let text = |value: ValueRef<'_>| match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Null => String::new(),
    };
    let column = |value: ValueRef<'_>| match value {
        ValueRef::Integer(number) => Some(Value::from(number)),
        ValueRef::Real(number) => Some(Value::from(number)),
        ValueRef::Text(bytes) => Some(Value::from(String::from_utf8_lossy(bytes).into_owned())),
        _ => None,
    };
    let id = text(row.get_ref(0)?);
    let payload = text(row.get_ref(1)?);
    let times = [column(row.get_ref(2)?), column(row.get_ref(3)?)];
    Ok(Record::parse(&id, &payload, times).map_err(|reason| (id, reason)))
}

/// state §7: recognised by shape, never by name alone.
fn has_records(connection: &Connection) -> Result<bool, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('records')")?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let wanted = ["table_name", "id", "payload", "created_at", "updated_at"];
    Ok(wanted.iter().all(|name| names.iter().any(|found| found == name)))
}

/// Size and hash of the file and its log: what a later look compares.
fn fingerprint(path: &Path) -> Result<String, StoreError> {
    let mut hash = Sha256::new();
    let mut size = 0_u64;
    for part in [path.to_owned(), beside(path, "-wal")] {
        let mut file = match std::fs::File::open(&part) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && part != path => continue,
            Err(error) => return Err(unreadable(&part, &error)),
        };
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let read = std::io::Read::read(&mut file, &mut buffer).map_err(|e| unreadable(&part, &e))?;
            if read == 0 {
                break;
            }
            size += read as u64;
            hash.update(&buffer[..read]);
        }
    }
    Ok(format!("{size}:{}", hex(&hash.finalize())))
}

/// The size part of a fingerprint, enough to see at a start that a source has changed.
pub(super) fn size_of(path: &Path) -> u64 {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    size(path) + size(&beside(path, "-wal"))
}

fn unreadable(path: &Path, error: &std::io::Error) -> StoreError {
    let kind = match error.kind() {
        std::io::ErrorKind::NotFound => StoreErrorKind::NotFound,
        std::io::ErrorKind::StorageFull => StoreErrorKind::Full,
        _ => StoreErrorKind::Unavailable,
    };
    StoreError::new(kind, format!("cannot read the older state: {error}: {}", path.display()))
}
