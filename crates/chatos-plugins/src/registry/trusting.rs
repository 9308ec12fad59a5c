//! Giving, taking and checking trust (plugins §7).

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use chatos_manifest::PluginId;
use rustix::fs::{FileType, Mode, OFlags};

use super::{Plugin, Refresh, Registry, is_trusted_by_origin};
use crate::development;
use crate::digest::{self, Digest, Inventory};
use crate::layout::Origin;
use crate::masking::Masking;
use crate::tree;
use crate::trust::{TrustRecord, TrustState, TrustStoreError, TrustedFile};

/// Largest file whose text is kept to show differences later.
pub(crate) const DIFF_BYTES: u64 = 256 * 1024;
/// Texts kept per plugin. Source code of a real plugin fits; a package of 200 MiB of text would
/// otherwise be copied into the database.
pub(crate) const TEXTS_BYTES: u64 = 16 * 1024 * 1024;

/// Why trust was not given or taken.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// No plugin has this id.
    #[error("no plugin has the id `{0}`")]
    NotFound(PluginId),
    /// Built-in and development plugins need no decision.
    #[error("plugin `{id}` is {}; it needs no decision", origin.as_str())]
    NotNeeded {
        /// The plugin.
        id: PluginId,
        /// Where it comes from.
        origin: Origin,
    },
    /// The person saw other bytes than are there now.
    #[error("plugin `{id}` is not what was shown: expected {expected}, found {found}")]
    Mismatch {
        /// The plugin.
        id: PluginId,
        /// What the person saw.
        expected: Digest,
        /// What is on disk.
        found: Digest,
    },
    /// The files cannot be read.
    #[error("cannot read the files of plugin `{id}`")]
    Io {
        /// The plugin.
        id: PluginId,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The record cannot be written.
    #[error(transparent)]
    Store(#[from] TrustStoreError),
}

/// Why nothing of a plugin may start now.
#[derive(Debug, thiserror::Error)]
pub enum Unverified {
    /// Nobody trusted these bytes.
    #[error("the plugin is {0:?}")]
    NotTrusted(TrustState),
    /// They cannot be read.
    #[error("the files of the plugin cannot be read")]
    Unreadable(#[source] std::io::Error),
}

impl Registry {
    /// Records that a person trusts plugin `id` with exactly the content `expected`. The files are
    /// read now, whatever any cache says.
    pub fn trust(
        &self,
        id: &PluginId,
        expected: &Digest,
        by: &str,
        now_ms: i64,
    ) -> Result<TrustRecord, TrustError> {
        let plugin = self.decidable(id)?;
        let (found, texts) = read_for_record(&plugin.loaded.dir, &Masking::of(&plugin.loaded))
            .map_err(|source| TrustError::Io { id: id.clone(), source })?;
        if found.digest != *expected {
            return Err(TrustError::Mismatch {
                id: id.clone(),
                expected: expected.clone(),
                found: found.digest,
            });
        }
        let record = TrustRecord {
            plugin_id: id.clone(),
            digest: found.digest,
            version: plugin.loaded.manifest.version.clone(),
            trusted_at: now_ms,
            trusted_by: by.to_owned(),
        };
        let files: Vec<TrustedFile> = found.files.into_iter().map(TrustedFile::from).collect();
        self.trust_store().put(&record, &files, &texts)?;
        self.refresh(&Refresh::Dirs([plugin.loaded.dir.clone()].into()));
        Ok(record)
    }

    /// Removes the record; true when there was one.
    pub fn untrust(&self, id: &PluginId) -> Result<bool, TrustError> {
        match self.decidable(id) {
            // A record may outlive its plugin; it can still be taken back.
            Ok(_) | Err(TrustError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        let removed = self.trust_store().remove(id)?;
        self.refresh(&Refresh::Dirs([].into()));
        Ok(removed)
    }

    /// Every file of a plugin, read now, when they are the bytes that a person trusted and that this
    /// snapshot of the plugin was made of: asked right before a process is started, a server is connected
    /// to or a frame revision is minted. The files of a plugin that needs no decision are only read.
    pub fn verify(&self, plugin: &Plugin) -> Result<Inventory, Unverified> {
        let needs_decision = !is_trusted_by_origin(plugin.loaded.origin);
        let record = match needs_decision.then(|| self.trust_store().get(plugin.id())) {
            None => None,
            Some(Ok(Some(record))) => Some(record),
            Some(Ok(None)) => return Err(Unverified::NotTrusted(TrustState::Untrusted)),
            Some(Err(error)) => {
                tracing::warn!(plugin = %plugin.id(), %error, "no trust record can be read; nothing is started");
                return Err(Unverified::NotTrusted(TrustState::Untrusted));
            }
        };
        let found = self.inventory(plugin).map_err(Unverified::Unreadable)?;
        let same = record.is_none_or(|record| {
            record.digest == found.digest && plugin.trust.digest.as_ref() == Some(&found.digest)
        });
        if same { Ok(found) } else { Err(Unverified::NotTrusted(TrustState::Changed)) }
    }

    /// Every file of a plugin, read now; of one under development those that count (`development.rs`).
    pub fn inventory(&self, plugin: &Plugin) -> std::io::Result<Inventory> {
        let skip = development::skip(plugin.loaded.origin);
        open(&plugin.loaded.dir).and_then(|root| digest::inventory_except(root.as_fd(), skip))
    }

    fn decidable(&self, id: &PluginId) -> Result<std::sync::Arc<Plugin>, TrustError> {
        let snapshot = self.snapshot();
        let plugin = snapshot.plugin_for_person(id).ok_or_else(|| TrustError::NotFound(id.clone()))?;
        if is_trusted_by_origin(plugin.loaded.origin) {
            return Err(TrustError::NotNeeded { id: id.clone(), origin: plugin.loaded.origin });
        }
        Ok(std::sync::Arc::clone(plugin))
    }
}

pub(crate) fn open(dir: &Path) -> std::io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(dir, flags, Mode::empty())?)
}

/// The inventory and the texts worth keeping, from one reading. Credentials are masked in the texts.
fn read_for_record(dir: &Path, masking: &Masking) -> std::io::Result<(Inventory, BTreeMap<String, Vec<u8>>)> {
    let root = open(dir)?;
    let found = digest::inventory(root.as_fd())?;
    let mut texts: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut left = TEXTS_BYTES;
    let mut files = found.files.iter();
    tree::walk(root.as_fd(), &mut |entry| {
        if !matches!(entry.kind, FileType::RegularFile | FileType::Symlink) {
            return Ok(());
        }
        let Some(file) = files.next() else { return Err(tree::changing()) };
        let wanted = entry.kind == FileType::RegularFile && !texts.contains_key(&file.sha256);
        if wanted && file.size <= DIFF_BYTES.min(left) {
            let mut bytes = Vec::new();
            entry.open()?.take(DIFF_BYTES + 1).read_to_end(&mut bytes)?;
            // What changed since the inventory is caught by the digest check before the next start.
            if is_text(&bytes) && file.sha256 == crate::digest::sha256_hex(&bytes) {
                left -= bytes.len() as u64;
                let text = String::from_utf8(bytes).map(|text| masking.apply(text)).unwrap_or_default();
                texts.insert(file.sha256.clone(), text.into_bytes());
            }
        }
        Ok(())
    })?;
    Ok((found, texts))
}

/// UTF-8 without NUL: what can be shown line by line.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}
