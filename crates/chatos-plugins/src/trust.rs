//! Trust by content (plugins §7): who decided what about which bytes. Records live in the state
//! database; this crate only knows the trait.

use std::collections::BTreeMap;

use chatos_manifest::PluginId;
use serde::Serialize;

use crate::digest::{Digest, TreeFile};

/// A person's decision about exactly these bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRecord {
    /// The plugin.
    pub plugin_id: PluginId,
    /// The digest that was trusted. A record without one does not exist.
    pub digest: Digest,
    /// Version shown when it was trusted.
    pub version: String,
    /// Milliseconds since 1970.
    pub trusted_at: i64,
    /// Where the decision was made: `ui`, `cli`.
    pub trusted_by: String,
}

/// A file as it was when trusted, with its text where that can be shown as a difference later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedFile {
    /// Relative path.
    pub path: String,
    /// SHA-256 in hex.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
    /// Owner-executable; `None` when the record is from before this was kept.
    pub executable: Option<bool>,
}

impl From<TreeFile> for TrustedFile {
    fn from(file: TreeFile) -> Self {
        Self { path: file.path, sha256: file.sha256, size: file.size, executable: Some(file.executable) }
    }
}

impl TrustedFile {
    /// The same bytes with the same right to run.
    fn is(&self, now: &TreeFile) -> bool {
        self.sha256 == now.sha256 && self.executable.is_none_or(|then| then == now.executable)
    }
}

/// The store could not answer. Everything is untrusted then.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the trust records: {0}")]
pub struct TrustStoreError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Trust records, implemented on the state database by the host.
pub trait TrustStore: Send + Sync {
    /// One record.
    fn get(&self, id: &PluginId) -> Result<Option<TrustRecord>, TrustStoreError>;
    /// All records.
    fn list(&self) -> Result<Vec<TrustRecord>, TrustStoreError>;
    /// Replaces the record and its file list. `texts` maps SHA-256 to the content of files small
    /// enough to be compared later; a store may keep them or not.
    fn put(
        &self,
        record: &TrustRecord,
        files: &[TrustedFile],
        texts: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), TrustStoreError>;
    /// Removes the record; true when there was one.
    fn remove(&self, id: &PluginId) -> Result<bool, TrustStoreError>;
    /// The file list of a record; empty without one.
    fn files(&self, id: &PluginId) -> Result<Vec<TrustedFile>, TrustStoreError>;
    /// The kept content of a file with this SHA-256.
    fn text(&self, sha256: &str) -> Result<Option<Vec<u8>>, TrustStoreError>;
}

/// Whether a plugin may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustState {
    /// A person trusted these bytes, or the plugin is built in or under development here.
    Trusted,
    /// Nobody decided.
    Untrusted,
    /// Somebody trusted other bytes.
    Changed,
}

/// The trust of a plugin in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// May it run?
    pub state: TrustState,
    /// Digest of what is on disk, where it was computed.
    pub digest: Option<Digest>,
    /// When a person decided, in milliseconds since 1970.
    pub decided_at: Option<i64>,
}

impl Trust {
    pub(crate) fn given() -> Self {
        Self { state: TrustState::Trusted, digest: None, decided_at: None }
    }
}

/// How a file differs from what was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Change {
    Added,
    Removed,
    Changed,
}

/// One difference between the trusted files and those on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// Relative path.
    pub path: String,
    /// What happened.
    pub change: Change,
    /// Size when trusted.
    pub old_size: Option<u64>,
    /// Size now.
    pub new_size: Option<u64>,
    /// Could it be run when it was trusted?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_executable: Option<bool>,
    /// Can it be run now?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_executable: Option<bool>,
    /// Hash when trusted, to find the kept text.
    #[serde(skip)]
    pub old_sha256: Option<String>,
}

/// What changed between two file lists, in path order.
pub fn changes(old: &[TrustedFile], new: &[TreeFile]) -> Vec<FileChange> {
    let old: BTreeMap<&str, &TrustedFile> = old.iter().map(|file| (file.path.as_str(), file)).collect();
    let new: BTreeMap<&str, &TreeFile> = new.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut paths: Vec<&str> = old.keys().chain(new.keys()).copied().collect();
    paths.sort_unstable();
    paths.dedup();
    paths
        .into_iter()
        .filter_map(|path| {
            let (before, after) = (old.get(path), new.get(path));
            let change = match (before, after) {
                (Some(then), Some(now)) if then.is(now) => return None,
                (Some(_), Some(_)) => Change::Changed,
                (None, _) => Change::Added,
                (_, None) => Change::Removed,
            };
            Some(FileChange {
                path: path.to_owned(),
                change,
                old_size: before.map(|file| file.size),
                new_size: after.map(|file| file.size),
                old_executable: before.and_then(|file| file.executable),
                new_executable: after.map(|file| file.executable),
                old_sha256: before.map(|file| file.sha256.clone()),
            })
        })
        .collect()
}

type Kept = BTreeMap<PluginId, (TrustRecord, Vec<TrustedFile>, BTreeMap<String, Vec<u8>>)>;

/// A store in memory, for tests and for hosts that keep no state.
#[derive(Debug, Default)]
pub struct MemoryTrust {
    inner: std::sync::Mutex<Kept>,
}

impl MemoryTrust {
    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        // A poisoned map is still a map: no update is left half done.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl TrustStore for MemoryTrust {
    fn get(&self, id: &PluginId) -> Result<Option<TrustRecord>, TrustStoreError> {
        Ok(self.lock().get(id).map(|(record, ..)| record.clone()))
    }

    fn list(&self) -> Result<Vec<TrustRecord>, TrustStoreError> {
        Ok(self.lock().values().map(|(record, ..)| record.clone()).collect())
    }

    fn put(
        &self,
        record: &TrustRecord,
        files: &[TrustedFile],
        texts: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), TrustStoreError> {
        self.lock().insert(record.plugin_id.clone(), (record.clone(), files.to_vec(), texts.clone()));
        Ok(())
    }

    fn remove(&self, id: &PluginId) -> Result<bool, TrustStoreError> {
        Ok(self.lock().remove(id).is_some())
    }

    fn files(&self, id: &PluginId) -> Result<Vec<TrustedFile>, TrustStoreError> {
        Ok(self.lock().get(id).map(|(_, files, _)| files.clone()).unwrap_or_default())
    }

    fn text(&self, sha256: &str) -> Result<Option<Vec<u8>>, TrustStoreError> {
        Ok(self.lock().values().find_map(|(.., texts)| texts.get(sha256).cloned()))
    }
}
