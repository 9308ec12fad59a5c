//! What plugins need of the state database: trust records, and names that are taken.

use std::collections::BTreeMap;

use chatos_contribution::ServerIdentity;
use chatos_manifest::PluginId;
use chatos_plugins::{
    Digest, ExternalNames, NameStore, TrustRecord, TrustStore, TrustStoreError, TrustedFile,
};
use chatos_store::{NamedRow, PluginTrustFile, PluginTrustRow, Store, StoreError};
use chatos_tool::Fault;

const ALGORITHM: &str = "sha256";

/// [`TrustStore`] on `plugin_trust` and its side tables.
pub(super) struct StoreTrust {
    store: Store,
}

impl StoreTrust {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Removes what an uninstall that was cut off left behind.
    pub(super) fn forget(&self, id: &PluginId) -> Result<(), Fault> {
        self.store.remove_plugin_trust(id.as_str())?;
        self.store.forget_plugin(id.as_str()).map_err(Fault::from)
    }
}

fn wrap(error: StoreError) -> TrustStoreError {
    TrustStoreError(Box::new(error))
}

/// A row that is not a valid record does not count as one (plugins §7).
fn record(row: PluginTrustRow) -> Option<TrustRecord> {
    if row.algorithm != ALGORITHM {
        return None;
    }
    Some(TrustRecord {
        plugin_id: PluginId::parse(&row.plugin_id).ok()?,
        digest: Digest::parse(&row.digest)?,
        version: row.version,
        trusted_at: row.trusted_at,
        trusted_by: row.trusted_by,
    })
}

impl TrustStore for StoreTrust {
    fn get(&self, id: &PluginId) -> Result<Option<TrustRecord>, TrustStoreError> {
        Ok(self.store.plugin_trust(id.as_str()).map_err(wrap)?.and_then(record))
    }

    fn list(&self) -> Result<Vec<TrustRecord>, TrustStoreError> {
        Ok(self.store.plugin_trusts().map_err(wrap)?.into_iter().filter_map(record).collect())
    }

    fn put(
        &self,
        record: &TrustRecord,
        files: &[TrustedFile],
        texts: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), TrustStoreError> {
        let row = PluginTrustRow {
            plugin_id: record.plugin_id.to_string(),
            digest: record.digest.to_string(),
            algorithm: ALGORITHM.to_owned(),
            version: record.version.clone(),
            trusted_at: record.trusted_at,
            trusted_by: record.trusted_by.clone(),
        };
        let files = files
            .iter()
            .map(|file| PluginTrustFile {
                path: file.path.clone(),
                sha256: file.sha256.clone(),
                size: i64::try_from(file.size).unwrap_or(i64::MAX),
                executable: file.executable,
                text: texts.get(&file.sha256).cloned(),
            })
            .collect();
        self.store.put_plugin_trust(row, files).map_err(wrap)
    }

    fn remove(&self, id: &PluginId) -> Result<bool, TrustStoreError> {
        self.store.remove_plugin_trust(id.as_str()).map_err(wrap)
    }

    fn files(&self, id: &PluginId) -> Result<Vec<TrustedFile>, TrustStoreError> {
        let files = self.store.plugin_trust_files(id.as_str()).map_err(wrap)?;
        Ok(files
            .into_iter()
            .map(|file| TrustedFile {
                path: file.path,
                sha256: file.sha256,
                size: u64::try_from(file.size).unwrap_or_default(),
                executable: file.executable,
            })
            .collect())
    }

    fn text(&self, sha256: &str) -> Result<Option<Vec<u8>>, TrustStoreError> {
        self.store.plugin_trust_text(sha256).map_err(wrap)
    }
}

/// [`NameStore`] on the tables of servers and prompts (ai-contributions §4.3).
pub(super) struct StoreNames {
    store: Store,
}

impl StoreNames {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }
}

impl NameStore for StoreNames {
    fn names(&self) -> Result<ExternalNames, Box<dyn std::error::Error + Send + Sync>> {
        let own = |row: &NamedRow| row.source != "app";
        let servers = self.store.server_names()?.into_iter().filter(own);
        let prompts = self.store.prompt_names()?.into_iter().filter(own);
        Ok(ExternalNames {
            servers: servers.map(|row| (ServerIdentity::admin(&row.id), row.name)).collect(),
            prompts: prompts.map(|row| row.name).collect(),
        })
    }
}
