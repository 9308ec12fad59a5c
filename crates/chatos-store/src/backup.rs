//! Copies of the database by SQLite's own backup, each checked before it counts as one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use crate::db::{OpenOptions, Store};
use crate::error::{StoreError, StoreErrorKind};
use crate::time::{iso_from_ms, now_ms};

/// A finished copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

impl Store {
    /// Copies the whole database to a new file while it is in use, and checks the copy.
    pub fn backup_to(&self, target: &Path) -> Result<Backup, StoreError> {
        self.read(|connection| copy(connection, target))
    }

    /// A copy of the database for an archive: what was mirrored to the prompt log since `since` counts as
    /// not mirrored, because the archive's log may end before it; repeated lines are harmless. Returns the
    /// number of the last audit record it knows.
    pub fn snapshot_to(&self, target: &Path, since: i64) -> Result<u64, StoreError> {
        self.backup_to(target)?;
        adjust_snapshot(target, since)
    }

    /// A copy in the backups folder before something that changes much.
    pub fn backup_before(&self, what: &str) -> Result<Backup, StoreError> {
        let folder = &self.options().backups;
        make_folder(folder)?;
        self.backup_to(&folder.join(format!("before-{what}-{}.db", stamp())))
    }

    /// A copy at the first start of another version of the program on this database, before that version changes
    /// anything; a migration has made its own by then. Of these copies the newest three stay.
    pub fn before_version(&self, version: &str) -> Result<Option<Backup>, StoreError> {
        const KEPT: usize = 3;
        let last = self.meta("program_version")?;
        if last.as_deref() == Some(version) {
            return Ok(None);
        }
        // A database nobody served yet holds nothing to keep; one from before this record does.
        let used = last.is_some() || self.meta("clean_stop")?.is_some();
        let copy = (used && self.migrated_from().is_none())
            .then(|| self.backup_before(&format!("version-{version}")))
            .transpose()?;
        self.set_meta("program_version", version)?;
        let of_versions = |path: &Path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("before-version-"))
        };
        let copies = list_backups(&self.options().backups).into_iter().filter(|(path, _)| of_versions(path));
        for (path, _) in copies.skip(KEPT) {
            std::fs::remove_file(&path).map_err(|e| io_error("remove an old backup", &path, &e))?;
        }
        Ok(copy)
    }

    /// Makes the daily copy when the newest one is older than a day, and removes those beyond `keep`.
    pub fn daily_backup(&self, keep: usize) -> Result<Option<Backup>, StoreError> {
        let folder = &self.options().backups;
        let newest =
            list_backups(folder).into_iter().filter(|(path, _)| is_daily(path)).map(|(_, age)| age).next();
        if newest.is_some_and(|age| age < Duration::from_secs(24 * 3600)) {
            return Ok(None);
        }
        make_folder(folder)?;
        remove_half_made(folder);
        let backup = self.backup_to(&folder.join(format!("daily-{}.db", stamp())))?;
        for (path, _) in list_backups(folder).into_iter().filter(|(path, _)| is_daily(path)).skip(keep.max(1))
        {
            std::fs::remove_file(&path).map_err(|e| io_error("remove an old backup", &path, &e))?;
        }
        Ok(Some(backup))
    }
}

#[expect(clippy::disallowed_methods, reason = "a copy is a database file of this crate's own making")]
fn adjust_snapshot(target: &Path, since: i64) -> Result<u64, StoreError> {
    let copy = Connection::open(target)?;
    copy.pragma_update(None, "journal_mode", "DELETE")?;
    copy.execute("UPDATE prompt_outbox SET mirrored_at = NULL WHERE mirrored_at >= ?1", [since])?;
    // A cache of the fold of a file that will be another file.
    copy.execute("DELETE FROM prompt_index", [])?;
    let seq =
        copy.query_row("SELECT value FROM meta WHERE key = 'audit_seq'", [], |row| row.get::<_, String>(0));
    let seq = match seq {
        Ok(text) => text.parse().unwrap_or_default(),
        Err(rusqlite::Error::QueryReturnedNoRows) => 0,
        Err(error) => return Err(error.into()),
    };
    copy.close().map_err(|(_, error)| StoreError::from(error))?;
    Ok(seq)
}

/// All copies in a folder, newest first, with their age.
pub fn list_backups(folder: &Path) -> Vec<(PathBuf, Duration)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "db"))
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.modified().ok()?)))
        .collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
    // A file from the future (clock jump) counts as made just now.
    found.into_iter().map(|(path, time)| (path, time.elapsed().unwrap_or_default())).collect()
}

pub(crate) fn before_migration(
    connection: &Connection,
    options: &OpenOptions,
    from: u32,
) -> Result<Backup, StoreError> {
    make_folder(&options.backups)?;
    remove_half_made(&options.backups);
    copy(connection, &options.backups.join(format!("before-schema-{from}-{}.db", stamp())))
}

/// Removes copies whose making was killed. Another process may be at a younger one; what cannot be removed stays, as it
/// harms nobody.
fn remove_half_made(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let half_made = entry.file_name().to_string_lossy().contains(".partial");
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if half_made && age.is_some_and(|age| age > Duration::from_secs(3600)) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

/// A copy that is brought back must not sign anybody in who was signed out since (inbox §9). A database from before
/// there were browsers has none.
fn sign_nobody_in(copy: &Connection) -> Result<(), StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'browsers')";
    if copy.query_row(sql, [], |row| row.get(0))? {
        copy.execute("DELETE FROM browsers", [])?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a copy is a database file of this crate's own making")]
fn copy(source: &Connection, target: &Path) -> Result<Backup, StoreError> {
    let partial = target.with_extension("partial");
    remove_if_there(&partial)?;
    let made = (|| {
        let mut copy = Connection::open(&partial)?;
        copy_pages(source, &mut copy)?;
        sign_nobody_in(&copy)?;
        forget_tokens(&copy)?;
        let verdict: String = copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Err(StoreError::new(StoreErrorKind::Corrupt, format!("the copy is damaged: {verdict}")));
        }
        copy.close().map_err(|(_, error)| StoreError::from(error))
    })();
    if let Err(error) = made {
        // The error of the copy matters more than its leftover.
        std::fs::remove_file(&partial).ok();
        return Err(error);
    }
    let finish = || -> std::io::Result<u64> {
        use std::os::unix::fs::PermissionsExt;
        let file = std::fs::File::open(&partial)?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.sync_all()?;
        std::fs::rename(&partial, target)?;
        if let Some(folder) = target.parent() {
            std::fs::File::open(folder)?.sync_all()?;
        }
        Ok(file.metadata()?.len())
    };
    let bytes = finish().map_err(|e| io_error("finish a backup", target, &e))?;
    Ok(Backup { path: target.to_owned(), bytes })
}

/// Nobody answers anything with what a copy knew; one of before that table has none.
fn forget_tokens(copy: &Connection) -> Result<(), StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'answer_tokens')";
    if copy.query_row(sql, [], |row| row.get(0))? {
        copy.execute("DELETE FROM answer_tokens", [])?;
    }
    Ok(())
}

/// Copies what the source shows at this moment. Without the read transaction every commit of somebody
/// else would begin the copy anew, and under load it would never end.
fn copy_pages(source: &Connection, copy: &mut Connection) -> Result<(), StoreError> {
    use rusqlite::backup::StepResult;
    let held = source.is_autocommit();
    if held {
        source.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")?;
    }
    let copied = (|| {
        let backup = rusqlite::backup::Backup::new(source, copy)?;
        loop {
            match backup.step(1024)? {
                StepResult::Done => return Ok(()),
                StepResult::More => {}
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    })();
    if held {
        source.execute_batch("COMMIT")?;
    }
    copied
}

fn is_daily(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("daily-"))
}

pub(crate) fn stamp() -> String {
    iso_from_ms(now_ms()).replace([':', '.'], "-")
}

/// Makes a folder only its owner can look into.
pub fn make_folder(folder: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|e| io_error("create the backup folder", folder, &e))
}

/// Replaces a small file: temporary file, sync, rename, sync of the folder.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let partial = path.with_extension("partial");
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&partial, path)?;
    match path.parent() {
        Some(folder) => std::fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error("replace", path, &error)),
        _ => Ok(()),
    }
}

/// A failure of the file system as one of the store.
pub fn io_error(action: &str, path: &Path, error: &std::io::Error) -> StoreError {
    let kind = match error.kind() {
        std::io::ErrorKind::StorageFull => StoreErrorKind::Full,
        _ => StoreErrorKind::Unavailable,
    };
    StoreError::new(kind, format!("cannot {action}: {error}: {}", path.display()))
}
