//! Children written down while they run, so that the next start can end what a killed host left.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::family::{Family, start_time};

/// A folder with one small file per running child.
#[derive(Debug, Clone)]
pub struct ChildRecords {
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    pid: u32,
    started: u64,
    boot: String,
    mark: String,
}

/// A child's file; removed when the family is gone.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
}

impl Record {
    pub(crate) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "the record of a child stays");
        }
    }
}

impl ChildRecords {
    /// Records in this folder, which is made when the first child starts.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Writes a child down. A failure costs only the help after a crash, so the child goes on.
    pub(crate) fn add(&self, family: &Family) -> Option<Record> {
        let entry = Entry {
            pid: family.pid(),
            started: family.started()?,
            boot: boot_id(),
            mark: family.mark().to_owned(),
        };
        let path = self.folder.join(format!("{}.json", family.mark()));
        let written = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).and_then(|()| {
            let mut file =
                fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
            file.write_all(&serde_json::to_vec(&entry).unwrap_or_default())
        });
        match written {
            Ok(()) => Some(Record { path }),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "a child could not be written down");
                None
            }
        }
    }
}

/// Ends every process that an earlier host left, and forgets their records. Blocking. Returns how many
/// families were found alive. Call it once, before the first child is started.
pub fn end_leftovers(records: &ChildRecords) -> usize {
    let Ok(entries) = fs::read_dir(&records.folder) else { return 0 };
    let boot = boot_id();
    let mut ended = 0;
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_record(path)) {
        if let Some(entry) = read(&path).filter(|entry| entry.boot == boot) {
            let alive = start_time(entry.pid) == Some(entry.started);
            let family = Family::from_record(entry.mark, entry.pid, entry.started);
            if alive {
                ended += 1;
                family.signal(rustix::process::Signal::KILL);
            }
            // Dropping it kills what carries the mark.
            drop(family);
        }
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(%error, path = %path.display(), "an old record of a child stays");
        }
    }
    ended
}

fn is_record(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn read(path: &Path) -> Option<Entry> {
    let meta = fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > 4_096 {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
