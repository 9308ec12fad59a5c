//! The content of a file that is held in memory, with its digest: made once, however many want it.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::digest::Digest;

/// Bytes that several steps of a change share.
#[derive(Clone)]
pub struct Held(Arc<Inner>);

struct Inner {
    bytes: Vec<u8>,
    digest: OnceLock<Digest>,
}

impl Held {
    /// The SHA-256 of the bytes.
    pub fn digest(&self) -> &Digest {
        self.0.digest.get_or_init(|| Digest::of(&self.0.bytes))
    }
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl From<Vec<u8>> for Held {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Inner { bytes, digest: OnceLock::new() }))
    }
}

impl From<&[u8]> for Held {
    fn from(bytes: &[u8]) -> Self {
        bytes.to_vec().into()
    }
}

impl<const N: usize> From<[u8; N]> for Held {
    fn from(bytes: [u8; N]) -> Self {
        bytes.to_vec().into()
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.bytes == other.0.bytes
    }
}

impl Eq for Held {}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Held").field(&self.0.bytes).finish()
    }
}
