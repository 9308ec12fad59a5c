//! The audit log: who allowed what, as a chain in which tampering shows (security T22).
//!
//! Each record is one line with `seq`, `prev` and `hash = HMAC(audit key, prev ‖ record)`. The head
//! is also in the database, so that cutting the tail of the file shows. No arguments, no secrets.
//!
//! Records that are ready together are kept together: one write, one wait for the disk, one note in the
//! database. Each of them carries `group`, the number of the first, so that a start can tell a group the
//! database had not heard of yet from commits it lost (decision 0014).

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chatos_events::{Notice, Notices};
use chatos_keys::SubKey;
use chatos_tool::{Text, hex};
use chatos_wire::Severity;
use serde_json::{Map, Value};

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_iso;

/// Writes records and verifies the chain. Clones are the same log.
#[derive(Clone)]
pub struct Audit(Arc<Chain>);

struct Chain {
    folder: PathBuf,
    key: SubKey,
    store: Store,
    head: Mutex<Head>,
    // Told when a record could not be kept.
    notices: Notices,
    // Records by which the database was older than a kill explains when this was opened.
    lost: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Head {
    seq: u64,
    hash: String,
}

/// Why a record could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file.
    #[error("cannot write the audit log: {}", path.display())]
    Io {
        /// The audit file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The head in the database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The result of checking the whole chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditVerdict {
    /// Every record is in place.
    Whole {
        /// How many.
        records: u64,
    },
    /// The first place where it is not.
    Broken {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        reason: &'static str,
    },
    /// The database knows of records the files no longer hold.
    Shortened {
        /// Records in the files.
        found: u64,
        /// Records that were written.
        expected: u64,
    },
}

impl Audit {
    /// Continues the chain.
    pub fn open(folder: PathBuf, key: SubKey, store: Store, notices: Notices) -> Result<Self, AuditError> {
        let wrap = |source| AuditError::Io { path: folder.clone(), source };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(wrap)?;
        let stored = Head {
            seq: store.meta("audit_seq")?.and_then(|text| text.parse().ok()).unwrap_or_default(),
            hash: store.meta("audit_hash")?.unwrap_or_default(),
        };
        // A stop between file and database leaves the files one group ahead, or the part of it that was
        // written: those records are ours. The group before it was in the database before this one was
        // begun, so a database that does not know it has lost commits.
        let last = last_record(&folder).map_err(wrap)?.filter(|(last, _)| last.seq > stored.seq);
        let (head, lost) = match last {
            Some((last, group)) if group > stored.seq + 1 => (last.clone(), last.seq - stored.seq),
            Some((last, _)) => (last, 0),
            None => (stored, 0),
        };
        Ok(Self(Arc::new(Chain { folder, key, store, head: Mutex::new(head), notices, lost })))
    }

    /// By how many records the database was too old when this was opened.
    pub fn lost(&self) -> u64 {
        self.0.lost
    }

    /// Keeps a record; a failure is logged and shown, the caller goes on.
    pub fn note(&self, kind: &str, fields: Map<String, Value>) {
        self.note_all(vec![(kind, fields)]);
    }

    /// As [`Audit::note`], for records that are there at the same time.
    pub fn note_all(&self, records: Vec<(&str, Map<String, Value>)>) {
        if let Err(error) = self.record_all(records) {
            tracing::error!(%error, "an audit record was lost");
            self.0.notices.add(Notice {
                code: "audit_failed".to_owned(),
                severity: Severity::Warning,
                message: Text::new(
                    format!("an audit record could not be kept: {error}"),
                    format!("无法保存审计记录：{error}"),
                ),
                hint: None,
            });
        }
    }

    /// Appends one record, durable on return.
    pub fn record(&self, kind: &str, fields: Map<String, Value>) -> Result<(), AuditError> {
        self.record_all(vec![(kind, fields)])
    }

    /// Appends records in their order, all durable on return or none kept.
    pub fn record_all(&self, records: Vec<(&str, Map<String, Value>)>) -> Result<(), AuditError> {
        let mut head = self.0.head.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.0.folder.join(format!("audit-{}.jsonl", &now_iso()[..4]));
        let group = (records.len() > 1).then_some(head.seq + 1);
        let mut next = head.clone();
        let mut lines = String::new();
        for (kind, fields) in records {
            let mut record = Map::new();
            record.insert("seq".to_owned(), Value::from(next.seq + 1));
            record.insert("ts".to_owned(), Value::from(now_iso()));
            record.insert("type".to_owned(), Value::from(kind));
            if let Some(group) = group {
                record.insert("group".to_owned(), Value::from(group));
            }
            for (name, value) in fields {
                record.entry(name).or_insert(value);
            }
            record.insert("prev".to_owned(), Value::from(next.hash.clone()));
            let hash = hex(&self.0.key.sign(&[next.hash.as_bytes(), text_of(&record).as_bytes()]));
            record.insert("hash".to_owned(), Value::from(hash.clone()));
            lines.push_str(&Value::Object(record).to_string());
            lines.push('\n');
            next = Head { seq: next.seq + 1, hash };
        }
        append(&path, lines.as_bytes()).map_err(|source| AuditError::Io { path: path.clone(), source })?;
        *head = next;
        // Together: a number without its hash would read as tampering after a kill.
        self.0.store.set_metas(&[("audit_seq", &head.seq.to_string()), ("audit_hash", &head.hash)])?;
        Ok(())
    }

    /// Does something between two records: `work` gets the number of the last one, and nobody writes another meanwhile.
    pub(crate) fn between<T>(&self, work: impl FnOnce(u64) -> T) -> T {
        let head = self.0.head.lock().unwrap_or_else(PoisonError::into_inner);
        work(head.seq)
    }

    /// Reads every file and checks every link of the chain.
    pub fn verify(&self) -> Result<AuditVerdict, AuditError> {
        let mut head = Head::default();
        for file in
            files(&self.0.folder).map_err(|source| AuditError::Io { path: self.0.folder.clone(), source })?
        {
            let wrap = |source| AuditError::Io { path: file.clone(), source };
            let reader = BufReader::new(File::open(&file).map_err(wrap)?);
            for (number, line) in reader.split(b'\n').enumerate() {
                let line = line.map_err(wrap)?;
                if let Err(reason) = follow(&self.0.key, &mut head, &line) {
                    return Ok(AuditVerdict::Broken { file, line: number as u64 + 1, reason });
                }
            }
        }
        let expected = self.0.head.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if head != expected {
            return Ok(AuditVerdict::Shortened { found: head.seq, expected: expected.seq });
        }
        Ok(AuditVerdict::Whole { records: head.seq })
    }
}

fn follow(key: &SubKey, head: &mut Head, line: &[u8]) -> Result<(), &'static str> {
    let Ok(Value::Object(mut record)) = serde_json::from_slice::<Value>(line) else {
        return Err("not a record");
    };
    let Some(hash) = record.remove("hash").and_then(|v| v.as_str().map(str::to_owned)) else {
        return Err("no hash");
    };
    if record.get("seq").and_then(Value::as_u64) != Some(head.seq + 1) {
        return Err("a record is missing or out of order before this one");
    }
    if record.get("prev").and_then(Value::as_str) != Some(&head.hash) {
        return Err("does not follow the record before it");
    }
    // The key in force then: a record of today cannot be made with one that was rotated away.
    if hex(&key.sign_as_of(head.seq + 1, &[head.hash.as_bytes(), text_of(&record).as_bytes()])) != hash {
        return Err("the record was changed");
    }
    *head = Head { seq: head.seq + 1, hash };
    Ok(())
}

/// Key order is kept by the map, and the writer is the only one who makes these lines, so the text
/// of the record is its canonical form.
fn text_of(record: &Map<String, Value>) -> String {
    Value::Object(record.clone()).to_string()
}

/// One write of whole lines, all or none. A torn last line was never acknowledged and is cut off first: the host
/// alone writes this file, and a remainder would read as tampering for ever.
fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    let mut length = file.metadata()?.len();
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            let whole = std::fs::read(path)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            length = whole as u64;
            file.set_len(length)?;
        }
    }
    file.write_all(lines).and_then(|()| file.sync_data()).inspect_err(|_| {
        // Lines without their head would read as tampering; when cutting fails too, they do.
        file.set_len(length).ok();
    })
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<_> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    found.sort();
    Ok(found)
}

/// The last complete record of the newest file, and the first of its group.
fn last_record(folder: &Path) -> io::Result<Option<(Head, u64)>> {
    let Some(file) = files(folder)?.pop() else { return Ok(None) };
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    // Records are far smaller than this; reading the end is enough.
    file.seek(SeekFrom::Start(length.saturating_sub(256 * 1024)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let parsed = tail.split(|byte| *byte == b'\n').rev().find_map(|line| {
        let record: Value = serde_json::from_slice(line).ok()?;
        let seq = record.get("seq")?.as_u64()?;
        let group = record.get("group").and_then(Value::as_u64).unwrap_or(seq);
        Some((Head { seq, hash: record.get("hash")?.as_str()?.to_owned() }, group))
    });
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::OpenOptions as StoreOptions;
    use chatos_events::Events;
    use chatos_keys::{KeyPlace, StateKey};

    fn audit(dir: &Path) -> Audit {
        let store = Store::open(StoreOptions {
            path: dir.join("state.db"),
            backups: dir.join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        })
        .unwrap();
        let key = StateKey::open(&KeyPlace::new(dir.join("keys")), "x").unwrap();
        Audit::open(dir.join("audit"), key.sub_key("audit"), store, Notices::new(Events::new(0))).unwrap()
    }

    fn with_three() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let audit = audit(dir.path());
        for number in 0..3 {
            let mut fields = Map::new();
            fields.insert("n".into(), number.into());
            audit.record("start", fields).unwrap();
        }
        assert_eq!(audit.verify().unwrap(), AuditVerdict::Whole { records: 3 });
        let file = files(&dir.path().join("audit")).unwrap().pop().unwrap();
        (dir, file)
    }

    #[test]
    fn the_chain_continues_after_a_restart() {
        let (dir, _) = with_three();
        let again = audit(dir.path());
        again.record("stop", Map::new()).unwrap();
        assert_eq!(again.verify().unwrap(), AuditVerdict::Whole { records: 4 });
    }

    #[test]
    fn a_torn_last_line_is_not_tampering() {
        let (dir, file) = with_three();
        OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{\"seq\":4,\"ts").unwrap();
        let again = audit(dir.path());
        again.record("start", Map::new()).unwrap();
        assert_eq!(again.verify().unwrap(), AuditVerdict::Whole { records: 4 });
    }

    fn fields(number: u64) -> Map<String, Value> {
        [("n".to_owned(), Value::from(number))].into_iter().collect()
    }

    /// The database as it was after this record.
    fn database_at(dir: &Path, seq: u64) {
        let head = |line: &str| serde_json::from_str::<Value>(line).unwrap()["hash"].clone();
        let file = files(&dir.join("audit")).unwrap().pop().unwrap();
        let text = std::fs::read_to_string(file).unwrap();
        let hash = head(text.lines().nth(seq as usize - 1).unwrap());
        let audit = audit(dir);
        let metas = [("audit_seq", seq.to_string()), ("audit_hash", hash.as_str().unwrap().to_owned())];
        audit.0.store.set_metas(&metas.each_ref().map(|(key, value)| (*key, value.as_str()))).unwrap();
    }

    #[test]
    fn a_group_is_one_step_however_much_of_it_was_written() {
        let (dir, file) = with_three();
        let group = || (0..5).map(|n| ("tool_call", fields(n))).collect();
        audit(dir.path()).record_all(group()).unwrap();
        assert_eq!(audit(dir.path()).verify().unwrap(), AuditVerdict::Whole { records: 8 });
        // Killed between the files and the database, here and there in the group.
        let whole = std::fs::read(&file).unwrap();
        let before = whole.split_inclusive(|byte| *byte == b'\n').take(3).map(<[u8]>::len).sum::<usize>();
        for end in (before..=whole.len()).step_by(211).chain([whole.len()]) {
            std::fs::write(&file, &whole[..end]).unwrap();
            database_at(dir.path(), 3);
            let again = audit(dir.path());
            assert_eq!(again.lost(), 0, "{end}");
            again.record("start", Map::new()).unwrap();
            assert!(matches!(again.verify().unwrap(), AuditVerdict::Whole { .. }), "{end}");
        }
    }

    #[test]
    fn a_database_that_lost_commits_is_noticed_with_groups_and_without() {
        let (dir, file) = with_three();
        database_at(dir.path(), 2);
        assert_eq!(audit(dir.path()).lost(), 0, "a kill explains one");
        database_at(dir.path(), 1);
        assert_eq!(audit(dir.path()).lost(), 2);
        database_at(dir.path(), 3);
        let kept = audit(dir.path());
        kept.record_all(vec![("tool_call", fields(1)), ("tool_call", fields(2))]).unwrap();
        kept.record_all(vec![("tool_call", fields(3)), ("tool_call", fields(4))]).unwrap();
        for (known, lost) in [(7, 0), (6, 0), (5, 0), (4, 3), (3, 4)] {
            database_at(dir.path(), known);
            assert_eq!(audit(dir.path()).lost(), lost, "{known}");
        }
        // A group cannot be made up afterwards to hide the loss: its number is part of what is signed.
        let text = std::fs::read_to_string(&file).unwrap().replace("\"group\":6", "\"group\":4");
        std::fs::write(&file, text).unwrap();
        assert!(matches!(audit(dir.path()).verify().unwrap(), AuditVerdict::Broken { .. }));
    }

    #[test]
    fn flip_drop_reorder_and_truncate_all_show() {
        type Change = fn(Vec<String>) -> Vec<String>;
        let tamper: [(&str, Change); 4] = [
            ("flip", |mut lines| {
                lines[1] = lines[1].replace("\"n\":1", "\"n\":7");
                lines
            }),
            ("drop", |mut lines| {
                lines.remove(1);
                lines
            }),
            ("reorder", |mut lines| {
                lines.swap(0, 1);
                lines
            }),
            ("truncate", |mut lines| {
                lines.pop();
                lines
            }),
        ];
        for (name, change) in tamper {
            let (dir, file) = with_three();
            let lines = std::fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
            std::fs::write(&file, change(lines).join("\n") + "\n").unwrap();
            let verdict = audit(dir.path()).verify().unwrap();
            assert!(!matches!(verdict, AuditVerdict::Whole { .. }), "{name}: {verdict:?}");
        }
    }
}
