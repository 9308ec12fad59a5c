//! Values of journal and transcript: short ones lie in their row, long ones in a blob.
//!
//! A blob is a file of its own with an fsync of its own; most arguments and results are shorter than that is worth.

use rusqlite::Connection;

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// Up to this many bytes a value lies in its row.
const INLINE: usize = 4096;
const PREFIX: &str = "inline:";
/// References to blobs are recognised by their length; a value that would look like one gets this.
const OTHER_PREFIX: &str = "in-line:";
const REFERENCE: usize = 64;

/// A value ready to be put into a column that names a blob. Its bytes are durable already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    text: String,
    blob: Option<u64>,
}

impl Kept {
    /// A blob that is there already.
    pub(crate) fn blob(sha256: &str, size: u64) -> Self {
        Self { text: sha256.to_owned(), blob: Some(size) }
    }

    /// What stands in a column without being a blob.
    pub(crate) fn words(text: String) -> Self {
        Self { text, blob: None }
    }

    /// What the column holds.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The id of the blob, when there is one.
    pub fn blob_id(&self) -> Option<&str> {
        self.blob.map(|_| self.text.as_str())
    }

    /// Counts the reference; in the transaction of the row that holds it.
    pub(crate) fn hold(&self, connection: &Connection) -> Result<(), StoreError> {
        let Some(size) = self.blob else { return Ok(()) };
        connection
            .prepare_cached(
                "INSERT INTO blobs (sha256, size, mime, refs, created_at) VALUES (?1, ?2, '', 1, ?3)
                 ON CONFLICT (sha256) DO UPDATE SET refs = refs + 1",
            )?
            .execute((&self.text, i64::try_from(size).unwrap_or(i64::MAX), now_ms()))?;
        Ok(())
    }
}

impl Store {
    /// Keeps a value; an empty one is nothing.
    pub fn keep(&self, value: &str) -> Result<Kept, StoreError> {
        if value.is_empty() {
            return Ok(Kept::default());
        }
        if value.len() <= INLINE {
            let looks = PREFIX.len() + value.chars().count() == REFERENCE;
            let text = format!("{}{value}", if looks { OTHER_PREFIX } else { PREFIX });
            return Ok(Kept::words(text));
        }
        self.keep_blob(value.as_bytes())
    }

    /// Keeps bytes as a blob, however short.
    pub fn keep_blob(&self, bytes: &[u8]) -> Result<Kept, StoreError> {
        Ok(Kept::blob(&self.put_blob(bytes)?, bytes.len() as u64))
    }

    /// A blob that somebody kept before, by its id; nothing when it is not there.
    pub fn kept_blob(&self, sha256: &str) -> Option<Kept> {
        self.blob(sha256).map(|bytes| Kept::blob(sha256, bytes.len() as u64))
    }

    /// What a column holds; nothing when it is empty or its blob is gone.
    pub fn kept(&self, column: &str) -> Option<String> {
        if let Some(value) = column.strip_prefix(PREFIX).or_else(|| column.strip_prefix(OTHER_PREFIX)) {
            return Some(value.to_owned());
        }
        self.blob(column).and_then(|bytes| String::from_utf8(bytes).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::tests::options;

    #[test]
    fn values_of_every_length_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        for length in [0, 1, 56, 57, 58, 59, 4096, 4097, 20_000] {
            for value in ["x".repeat(length), " ".repeat(length), "界".repeat(length)] {
                let kept = store.keep(&value).unwrap();
                assert!(kept.blob_id().is_some() || kept.as_str().chars().count() != 64);
                assert_eq!(store.kept(kept.as_str()).unwrap_or_default(), value, "{length}");
            }
        }
        assert_eq!(store.kept("../x"), None);
    }
}
