//! What tools changed in files, with contents before and after as blobs (servers §2.7).
//!
//! A blob is a file `blobs/<aa>/<sha256>` beside the database, written once and durable before the
//! row that refers to it; `blobs.refs` counts the rows.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chatos_tool::hex;
use rusqlite::Connection;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::kept::Kept;
use crate::time::now_ms;

/// A content before or after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedContent<'a> {
    /// There was none.
    Absent,
    /// The bytes.
    Bytes(&'a [u8]),
    /// The bytes, and their SHA-256 that the caller has computed already.
    Hashed(&'a str, &'a [u8]),
    /// Too large to keep: its SHA-256 and size.
    Omitted(&'a str, u64),
}

/// A change to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct NewFileChange<'a> {
    pub run_id: &'a str,
    pub session_id: &'a str,
    pub user_message_id: &'a str,
    pub server: &'a str,
    pub tool: &'a str,
    pub root: &'a str,
    pub path: &'a str,
    /// `created`, `modified`, `deleted` or `moved`.
    pub change: &'a str,
    pub before: ChangedContent<'a>,
    pub after: ChangedContent<'a>,
    pub diff: &'a str,
}

/// A remembered change; contents by blob id, or `omitted:<sha256>:<size>`, or empty. The diff is read with
/// [`Store::kept`]: a short one lies in the row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct FileChangeRow {
    pub id: String,
    pub run_id: String,
    pub session_id: String,
    pub user_message_id: String,
    pub server: String,
    pub tool: String,
    pub root: String,
    pub path: String,
    pub change: String,
    pub before_blob: String,
    pub after_blob: String,
    pub diff_blob: String,
    pub created_at: i64,
}

/// A change whose contents are durable, ready to become a row.
struct Ready {
    id: String,
    values: Vec<String>,
    kept: [Kept; 3],
    counts: (u64, u64),
    from: Option<String>,
    undone: Vec<String>,
}

impl Store {
    /// Remembers a change. The contents are durable when it returns.
    pub fn record_file_change(&self, change: &NewFileChange<'_>) -> Result<String, StoreError> {
        let ready = self.ready(change, &[])?;
        let (id, now) = (ready.id.clone(), now_ms());
        self.write(move |connection| insert(connection, &ready, now))?;
        Ok(id)
    }

    /// Remembers the changes of an undo with what each of them undid: all of them, or none. Returns their ids.
    pub fn record_undo(&self, changes: &[(NewFileChange<'_>, &[String])]) -> Result<Vec<String>, StoreError> {
        let ready = changes.iter().map(|(change, undone)| self.ready(change, undone));
        let ready = ready.collect::<Result<Vec<_>, _>>()?;
        let ids = ready.iter().map(|ready| ready.id.clone()).collect();
        let now = now_ms();
        self.write(move |connection| ready.iter().try_for_each(|ready| insert(connection, ready, now)))?;
        Ok(ids)
    }

    fn ready(&self, change: &NewFileChange<'_>, undone: &[String]) -> Result<Ready, StoreError> {
        let kept =
            [self.keep_content(&change.before)?, self.keep_content(&change.after)?, self.keep(change.diff)?];
        let id = uuid::Uuid::now_v7().to_string();
        let values = [
            id.as_str(),
            change.run_id,
            change.session_id,
            change.user_message_id,
            change.server,
            change.tool,
            change.root,
            change.path,
            change.change,
            kept[0].as_str(),
            kept[1].as_str(),
            kept[2].as_str(),
        ];
        Ok(Ready {
            values: values.map(str::to_owned).to_vec(),
            counts: counts(change.diff),
            from: if change.change == "moved" { old_path(change.diff, change.path) } else { None },
            undone: undone.to_vec(),
            id,
            kept,
        })
    }

    /// Puts one side of a change where its row can name it.
    fn keep_content(&self, content: &ChangedContent<'_>) -> Result<Kept, StoreError> {
        match content {
            ChangedContent::Absent => Ok(Kept::default()),
            ChangedContent::Omitted(sha256, size) => Ok(Kept::words(format!("omitted:{sha256}:{size}"))),
            ChangedContent::Bytes(bytes) => self.keep_blob(bytes),
            ChangedContent::Hashed(sha256, bytes) => {
                self.keep_hashed(sha256, bytes)?;
                Ok(Kept::blob(sha256, bytes.len() as u64))
            }
        }
    }

    /// Keeps bytes as a blob and returns their SHA-256. The same bytes are kept once.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let sha256 = hex(&Sha256::digest(bytes));
        self.keep_hashed(&sha256, bytes)?;
        Ok(sha256)
    }

    /// Keeps bytes whose SHA-256 is known, as [`Self::put_blob`] does.
    pub fn keep_hashed(&self, sha256: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.keep_all_hashed(&[(sha256, bytes)])
    }

    /// The same for several: the disk is waited for once all of them are written.
    pub fn keep_all_hashed(&self, blobs: &[(&str, &[u8])]) -> Result<(), StoreError> {
        let mut missing = Vec::new();
        for (sha256, bytes) in blobs {
            debug_assert_eq!(*sha256, hex(&Sha256::digest(bytes)), "a blob has the name of its content");
            let path = self.blob_file(sha256);
            if !fs::metadata(&path).is_ok_and(|meta| meta.len() == bytes.len() as u64) {
                missing.push((path, *bytes));
            }
        }
        write_blobs(missing).map_err(|error| {
            let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
            let kind = if full { StoreErrorKind::Full } else { StoreErrorKind::Unavailable };
            StoreError::new(kind, format!("cannot keep a content: {error}"))
        })
    }

    /// Blobs that were kept for a change that was not made: what nobody else refers to goes with the next sweep.
    pub fn give_up_blobs(&self, blobs: Vec<(String, u64)>) -> Result<(), StoreError> {
        let there = |(sha256, _): &(String, u64)| self.blob_file(sha256).exists();
        let blobs: Vec<(String, u64)> = blobs.into_iter().filter(there).collect();
        let now = now_ms();
        self.write(move |connection| {
            for (sha256, size) in &blobs {
                connection
                    .prepare_cached(
                        "INSERT INTO blobs (sha256, size, mime, refs, created_at) VALUES (?1, ?2, '', 0, ?3)
                         ON CONFLICT (sha256) DO NOTHING",
                    )?
                    .execute((sha256, i64::try_from(*size).unwrap_or(i64::MAX), now))?;
            }
            Ok(())
        })
    }

    /// The bytes of a blob; nothing when it is not there or not what its name says.
    pub fn blob(&self, sha256: &str) -> Option<Vec<u8>> {
        let fits = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = fits.then(|| fs::read(self.blob_file(sha256)).ok()).flatten()?;
        (hex(&Sha256::digest(&bytes)) == sha256).then_some(bytes)
    }

    pub(crate) fn blob_file(&self, sha256: &str) -> PathBuf {
        let state = self.path().parent().unwrap_or(Path::new("."));
        state.join("blobs").join(&sha256[..2]).join(sha256)
    }
}

fn insert(connection: &Connection, ready: &Ready, now: i64) -> Result<(), StoreError> {
    for kept in &ready.kept {
        kept.hold(connection)?;
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO file_changes (id, run_id, session_id, user_message_id, server, tool, root, path,
           change, before_blob, after_blob, diff_blob, created_at, added, removed, moved_from)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    for (index, value) in ready.values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value)?;
    }
    let next = ready.values.len() + 1;
    statement.raw_bind_parameter(next, now)?;
    statement.raw_bind_parameter(next + 1, i64::try_from(ready.counts.0).ok())?;
    statement.raw_bind_parameter(next + 2, i64::try_from(ready.counts.1).ok())?;
    statement.raw_bind_parameter(next + 3, &ready.from)?;
    statement.raw_execute()?;
    for id in &ready.undone {
        connection
            .prepare_cached("INSERT INTO file_change_undos (change_id, undo_id) VALUES (?1, ?2)")?
            .execute((id, &ready.id))?;
    }
    Ok(())
}

/// Lines that a unified diff of one file adds and removes.
pub(crate) fn counts(diff: &str) -> (u64, u64) {
    let hunks = diff.lines().skip_while(|line| !line.starts_with("@@ "));
    hunks.fold((0, 0), |(added, removed), line| match line.as_bytes().first() {
        Some(b'+') => (added + 1, removed),
        Some(b'-') => (added, removed + 1),
        _ => (added, removed),
    })
}

/// The path before a move, which its diff begins with. Names may hold line ends, so the new path, which is
/// known, decides where the old one ends.
pub(crate) fn old_path(diff: &str, path: &str) -> Option<String> {
    let rest = diff.strip_prefix("rename from ")?;
    let end = rest.find(&format!("\nrename to {path}\n"))?;
    Some(rest[..end].to_owned())
}

/// Writes all of them, makes them durable, and only then gives them their names.
fn write_blobs(blobs: Vec<(PathBuf, &[u8])>) -> io::Result<()> {
    let drafts: Vec<Draft> =
        blobs.into_iter().map(|(path, bytes)| Draft::write(path, bytes)).collect::<io::Result<_>>()?;
    for draft in &drafts {
        draft.file.sync_data()?;
    }
    drafts.into_iter().try_for_each(Draft::finish)
}

/// A blob that has not its name yet; it is removed unless it gets it.
struct Draft {
    file: fs::File,
    path: PathBuf,
    name: PathBuf,
}

impl Draft {
    fn write(name: PathBuf, bytes: &[u8]) -> io::Result<Self> {
        let dir = name.parent().unwrap_or(Path::new("."));
        let path = dir.join(format!(".{}.tmp", uuid::Uuid::new_v4()));
        let open = || fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = match open() {
            // The first of its directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
                open()?
            }
            other => other?,
        };
        let mut draft = Self { file, path, name };
        draft.file.write_all(bytes)?;
        Ok(draft)
    }

    fn finish(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.name)?;
        self.path = PathBuf::new();
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // What cannot be removed is found by the check of orphan files.
            drop(fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChangeFilter;
    use crate::db::tests::options;

    #[test]
    fn a_change_keeps_its_contents_once_and_counts_its_rows() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        let change = NewFileChange {
            run_id: "run-1",
            session_id: "",
            user_message_id: "",
            server: "code_writer",
            tool: "edit_file",
            root: "/w",
            path: "a.txt",
            change: "modified",
            before: ChangedContent::Bytes(b"old"),
            after: ChangedContent::Bytes(b"new"),
            diff: "-old\n+new\n",
        };
        store.record_file_change(&change).unwrap();
        let large = NewFileChange {
            before: ChangedContent::Omitted("ab", 9),
            after: ChangedContent::Absent,
            ..change.clone()
        };
        store.record_file_change(&large).unwrap();
        let of = |run_id: &str| {
            let filter = ChangeFilter { run_id: run_id.to_owned(), ..ChangeFilter::default() };
            let (found, _) = store.changes(&filter, 10).unwrap();
            found.into_iter().map(|change| change.row).collect::<Vec<_>>()
        };
        let rows = of("run-1");
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].before_blob.as_str(), rows[0].after_blob.as_str()), ("omitted:ab:9", ""));
        assert_eq!(store.blob(&rows[1].before_blob).as_deref(), Some(&b"old"[..]));
        assert_eq!(store.blob(&rows[1].after_blob).as_deref(), Some(&b"new"[..]));
        let refs = |sha256: &str| {
            let sha256 = sha256.to_owned();
            let sql = "SELECT refs FROM blobs WHERE sha256 = ?1";
            store
                .read(move |connection| Ok(connection.query_row(sql, [&sha256], |row| row.get::<_, i64>(0))?))
        };
        assert_eq!(
            store.kept(&rows[0].diff_blob).as_deref(),
            Some("-old\n+new\n"),
            "a short diff needs no file"
        );
        let long = "+x\n".repeat(3000);
        let wide = NewFileChange { run_id: "run-3", diff: &long, ..change.clone() };
        store.record_file_change(&wide).unwrap();
        let wide = of("run-3").remove(0);
        assert_eq!(store.kept(&wide.diff_blob).as_deref(), Some(long.as_str()));
        assert_eq!((refs(&wide.diff_blob).unwrap(), refs(&wide.after_blob).unwrap()), (1, 2));
        assert!(of("run-2").is_empty());
        assert_eq!(store.blob("../state.db"), None);
        let lost = store.put_blob(b"not made").unwrap();
        let kept = rows[1].after_blob.clone();
        store.give_up_blobs(vec![(lost.clone(), 8), (kept.clone(), 3), ("ab".repeat(32), 1)]).unwrap();
        // What was given up in this very millisecond stays for the next sweep.
        for _ in 0..1000 {
            store.sweep_blobs(0).unwrap();
            if store.blob(&lost).is_none() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!((store.blob(&lost), store.blob(&kept).is_some()), (None, true));
    }
}
