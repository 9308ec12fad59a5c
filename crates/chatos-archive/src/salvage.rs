//! Rescue of what a damaged database still holds, into a new one (state §8).
//!
//! Every table is read row by row from both ends and around what cannot be read; the damaged files are
//! only ever copied. When not even the list of tables is readable, a list of our own is laid over the
//! copy: the tables of a database of ours begin at known pages.

use std::path::{Path, PathBuf};

use chatos_store::door::{beside, io_error, make_folder, open_still, refuse_newer};
use chatos_store::{OpenOptions, Store, StoreError, StoreErrorKind, now_ms, schema_of};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

/// Holes in one table that are worth a search; beyond that the rest is noise.
const HOLES: usize = 500;

/// What became of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SalvagedTable {
    /// Its name.
    pub(crate) name: String,
    /// Rows that are in the new database.
    pub(crate) rows: u64,
    /// Rows that were read but make no sense any more.
    pub(crate) refused: u64,
    /// Some of it could not be read.
    pub(crate) damaged: bool,
}

/// A rescue.
#[derive(Debug, Clone)]
pub(crate) struct Salvage {
    /// Table by table, those with rows or damage.
    pub(crate) tables: Vec<SalvagedTable>,
    /// The identity of the state was found; without it secrets cannot be opened.
    pub(crate) identity: bool,
}

impl Salvage {
    /// Rows rescued in all.
    pub(crate) fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// Every table was read to its end.
    pub(crate) fn complete(&self) -> bool {
        self.identity && self.tables.iter().all(|table| !table.damaged && table.refused == 0)
    }
}

/// Is this database whole, as far as can be seen without changing a byte? The reason when it is not.
pub(crate) fn damage_of(path: &Path) -> Result<Option<String>, StoreError> {
    let log = std::fs::metadata(beside(path, "-wal")).map_or(0, |meta| meta.len());
    let copy = if log > 0 { Some(Scratch::copy(path)?) } else { None };
    let looked = (|| {
        let connection = match &copy {
            Some(copy) => open_copy(&copy.database())?,
            None => open_still(path)?,
        };
        refuse_newer(schema_of(&connection)?)?;
        let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        Ok((verdict != "ok").then_some(verdict))
    })();
    match looked {
        Err(StoreError { kind: StoreErrorKind::Corrupt, message }) => Ok(Some(message)),
        other => other,
    }
}

/// Reads what can be read of a damaged database into a new file.
pub(crate) fn salvage(damaged: &Path, target: &Path) -> Result<Salvage, StoreError> {
    let copy = Scratch::copy(damaged)?;
    for suffix in ["", "-wal", "-shm"] {
        remove(&beside(target, suffix))?;
    }
    // A new database with our schema; its own first rows make room for the rescued ones.
    let options = OpenOptions {
        path: target.to_owned(),
        backups: copy.0.clone(),
        migrate: true,
        wal: false,
        used: false,
        check: false,
    };
    Store::open(options)?.close();
    let mut new = open_copy(target)?;
    new.pragma_update(None, "foreign_keys", false)?;
    let fresh = |connection: &Connection| -> Result<String, StoreError> {
        Ok(connection.query_row("SELECT value FROM meta WHERE key = 'instance_id'", [], |row| row.get(0))?)
    };
    let own_identity = fresh(&new)?;
    let old = match open_copy(&copy.database()).and_then(readable) {
        Ok(old) => old,
        Err(_) => {
            lay_schema_over(&copy.database(), target)?;
            open_copy(&copy.database()).and_then(readable)?
        }
    };
    let transaction = new.transaction()?;
    let mut tables = Vec::new();
    for name in own_tables(&transaction)? {
        if name == "meta" {
            transaction.execute("DELETE FROM meta", [])?;
        }
        let table = rescue(&old, &transaction, &name)?;
        if table.rows > 0 || table.damaged || table.refused > 0 {
            tables.push(table);
        }
    }
    let identity = transaction
        .query_row("SELECT value FROM meta WHERE key = 'instance_id'", [], |row| row.get::<_, String>(0))
        .optional()?
        .is_some();
    transaction.execute(
        "INSERT INTO meta (key, value) VALUES ('instance_id', ?1), ('created_at', ?2), ('schema_min_reader', '1')
         ON CONFLICT (key) DO NOTHING",
        (own_identity, now_ms().to_string()),
    )?;
    transaction.commit()?;
    let verdict: String = new.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(StoreError::new(
            StoreErrorKind::Internal,
            format!("the new database is damaged: {verdict}"),
        ));
    }
    new.close().map_err(|(_, error)| StoreError::from(error))?;
    let file = std::fs::File::open(target).and_then(|file| file.sync_all());
    file.map_err(|error| io_error("keep the rescued database", target, &error))?;
    Ok(Salvage { tables, identity })
}

/// Our tables that hold what people made. Counters and indexes follow from the others by triggers; the
/// cache of the fold may be missing; migrations are those of the new database.
fn own_tables(new: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = new.prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
           AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '%\\_counts' ESCAPE '\\'
           AND name NOT IN ('schema_migrations', 'prompt_index') ORDER BY name",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn readable(connection: Connection) -> Result<Connection, StoreError> {
    let tables: i64 =
        connection
            .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'table'", [], |row| row.get(0))?;
    connection.prepare("SELECT * FROM meta")?;
    if tables == 0 {
        return Err(StoreError::new(StoreErrorKind::Corrupt, "there are no tables"));
    }
    Ok(connection)
}

fn rescue(old: &Connection, new: &Connection, name: &str) -> Result<SalvagedTable, StoreError> {
    let mut table = SalvagedTable { name: name.to_owned(), rows: 0, refused: 0, damaged: false };
    let theirs = columns(old, name)?;
    let ours = columns(new, name)?;
    let shared: Vec<&String> = ours.iter().filter(|column| theirs.contains(column)).collect();
    if shared.is_empty() {
        // A table that is newer than the damaged database is empty, not damaged.
        return Ok(table);
    }
    let listed = shared.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
    let marks = vec!["?"; shared.len()].join(", ");
    let insert = format!("INSERT OR IGNORE INTO \"{name}\" ({listed}) VALUES ({marks})");
    let mut put = new.prepare(&insert)?;
    let mut keep = |values: Vec<Sql>, table: &mut SalvagedTable| -> Result<(), StoreError> {
        match put.execute(params_from_iter(values)).map_err(StoreError::from) {
            Ok(changed) => table.rows += changed as u64,
            Err(error) if matches!(error.kind, StoreErrorKind::Full | StoreErrorKind::Unavailable) => {
                return Err(error);
            }
            Err(_) => table.refused += 1,
        }
        Ok(())
    };
    let without_rowid: bool = new.query_row(
        "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1",
        [name],
        |row| row.get(0),
    )?;
    if without_rowid {
        // From both ends: what lies behind one damaged page is reached from the other side.
        let key = key_columns(new, name)?;
        for order in ["ASC", "DESC"] {
            let by = key.iter().map(|column| format!("\"{column}\" {order}")).collect::<Vec<_>>().join(", ");
            let sql = format!("SELECT {listed} FROM \"{name}\" ORDER BY {by}");
            let whole = read(old, &sql, &[], shared.len(), &mut |values, _| keep(values, &mut table))?;
            if whole {
                break;
            }
            table.damaged = true;
        }
        return Ok(table);
    }
    let (mut after, mut stride) = (i64::MIN, 1_i64);
    for _ in 0..HOLES {
        let sql = format!("SELECT {listed}, rowid FROM \"{name}\" WHERE rowid >= ?1 ORDER BY rowid");
        let mut last = None;
        let whole = read(old, &sql, &[after], shared.len(), &mut |values, rowid| {
            last = Some(rowid);
            keep(values, &mut table)
        })?;
        if whole {
            return Ok(table);
        }
        table.damaged = true;
        let from = last.map_or(after, |last| last.saturating_add(1)).max(0);
        // Where nothing was gained the next try goes farther, so that no damage costs more than a moment.
        stride = if last.is_some() { 1 } else { stride.saturating_mul(2) };
        let Some(next) = beyond(old, name, from, stride)? else { return Ok(table) };
        // What lies between the hole and the place behind it, from behind.
        let sql = format!(
            "SELECT {listed}, rowid FROM \"{name}\" WHERE rowid >= ?1 AND rowid < ?2 ORDER BY rowid DESC"
        );
        read(old, &sql, &[from, next], shared.len(), &mut |values, _| keep(values, &mut table))?;
        after = next;
    }
    Ok(table)
}

/// The first readable row behind a hole, in steps that double.
fn beyond(old: &Connection, name: &str, from: i64, stride: i64) -> Result<Option<i64>, StoreError> {
    let sql = format!("SELECT rowid FROM \"{name}\" WHERE rowid >= ?1 ORDER BY rowid LIMIT 1");
    let mut step = stride;
    while let Some(start) = from.checked_add(step) {
        match old.query_row(&sql, [start], |row| row.get::<_, i64>(0)).optional() {
            // In a damaged tree a search may end anywhere; only a step forward is one.
            Ok(Some(found)) if found >= start => return Ok(Some(found)),
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(error) => match StoreError::from(error) {
                StoreError { kind: StoreErrorKind::Corrupt | StoreErrorKind::Internal, .. } => {}
                other => return Err(other),
            },
        }
        let Some(farther) = step.checked_mul(2) else { break };
        step = farther;
    }
    Ok(None)
}

/// Reads rows until the end (`true`) or until one cannot be read (`false`).
fn read(
    old: &Connection,
    sql: &str,
    bounds: &[i64],
    columns: usize,
    visit: &mut dyn FnMut(Vec<Sql>, i64) -> Result<(), StoreError>,
) -> Result<bool, StoreError> {
    let Ok(mut statement) = old.prepare(sql) else { return Ok(false) };
    let Ok(mut rows) = statement.query(params_from_iter(bounds)) else { return Ok(false) };
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(true),
            Err(_) => return Ok(false),
        };
        let values: Result<Vec<Sql>, _> = (0..columns).map(|index| row.get(index)).collect();
        let rowid = row.get(columns).unwrap_or_default();
        // Text that is no longer UTF-8 cannot be used; the next row may be.
        if let Ok(values) = values {
            visit(values, rowid)?;
        }
    }
}

fn columns(connection: &Connection, name: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([name], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn key_columns(connection: &Connection, name: &str) -> Result<Vec<String>, StoreError> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    let names = statement.query_map([name], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Puts the pages of a fresh list of tables over those of the copy. A database that was made by these
/// migrations and never rebuilt has its tables at the same pages.
fn lay_schema_over(copy: &Path, fresh: &Path) -> Result<(), StoreError> {
    let io = |error: std::io::Error| io_error("mend the list of tables of a copy", copy, &error);
    let connection = open_still(fresh)?;
    let size: usize = connection.query_row("PRAGMA page_size", [], |row| row.get::<_, i64>(0))? as usize;
    let mut statement = connection.prepare("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")?;
    let pages: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let source = std::fs::read(fresh).map_err(io)?;
    let mut bytes = std::fs::read(copy).map_err(io)?;
    let whole = bytes.len() - bytes.len() % size.max(1);
    bytes.truncate(whole);
    for page in pages {
        let at = (page as usize - 1) * size;
        if let (Some(to), Some(from)) = (bytes.get_mut(at..at + size), source.get(at..at + size)) {
            to.copy_from_slice(from);
        }
    }
    if bytes.len() < 100 {
        return Err(StoreError::new(StoreErrorKind::Corrupt, "nothing is left of the database"));
    }
    // The length of the file counts, not a number in the header; no free pages; no log.
    bytes[18..20].copy_from_slice(&[1, 1]);
    let pages = ((bytes.len() / size) as u32).to_be_bytes();
    bytes[28..32].copy_from_slice(&pages);
    bytes[32..40].fill(0);
    let change: [u8; 4] = [bytes[24], bytes[25], bytes[26], bytes[27]];
    bytes[92..96].copy_from_slice(&change);
    remove(&beside(copy, "-wal"))?;
    remove(&beside(copy, "-shm"))?;
    std::fs::write(copy, bytes).map_err(io)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io_error("remove a leftover", path, &error))
        }
        _ => Ok(()),
    }
}

#[expect(clippy::disallowed_methods, reason = "copies of databases, never state.db itself")]
/// Opens a copy of a database for looking into it.
pub(crate) fn open_copy(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// A folder beside the database with a copy of it and its log; removed when no longer needed.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    fn copy(database: &Path) -> Result<Self, StoreError> {
        let folder = beside(database, &format!(".copy-{}", std::process::id()));
        Self::copy_to(database, folder)
    }

    /// Copies a database with its log into a new folder.
    pub(crate) fn copy_to(database: &Path, folder: PathBuf) -> Result<Self, StoreError> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|e| io_error("remove a leftover", &folder, &e))?;
        }
        make_folder(&folder)?;
        let scratch = Self(folder);
        for suffix in ["", "-wal", "-journal"] {
            let (from, to) = (beside(database, suffix), beside(&scratch.database(), suffix));
            match std::fs::copy(&from, &to) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && !suffix.is_empty() => {}
                Err(error) => return Err(io_error("copy a database", &from, &error)),
                Ok(_) => {}
            }
        }
        Ok(scratch)
    }

    /// The copied database.
    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("copy.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover is removed before the next copy is made, and by the doctor.
        std::fs::remove_dir_all(&self.0).ok();
    }
}

#[cfg(test)]
mod tests;
