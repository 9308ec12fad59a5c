//! What a browser proves with its key, and how it is named after it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use sha2::{Digest, Sha256};

pub(crate) type Fingerprint = [u8; 32];

/// What is signed: for this origin, by this browser, this once.
pub fn statement(origin: &str, browser: &str, challenge: &str) -> String {
    format!("chatos-renew-v1\n{origin}\n{browser}\n{challenge}")
}

/// An uncompressed point of P-256, or nothing.
pub(crate) fn public_key(text: &str) -> Option<Vec<u8>> {
    let bytes = (text.len() <= 100).then(|| URL_SAFE_NO_PAD.decode(text).ok())??;
    (bytes.len() == 65 && bytes.first() == Some(&4)).then_some(bytes)
}

/// A browser is named after its key.
pub(crate) fn name_of(key: &[u8]) -> String {
    Sha256::digest(key)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn is_signed(key: &[u8], text: &str, sig: &str) -> bool {
    let Some(sig) = (sig.len() <= 100).then(|| URL_SAFE_NO_PAD.decode(sig).ok()).flatten() else {
        return false;
    };
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(text.as_bytes(), &sig).is_ok()
}

pub(crate) fn fingerprint(text: &str) -> Fingerprint {
    Sha256::digest(text.as_bytes()).into()
}

/// Compares without stopping at the first difference.
pub(crate) fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Random bytes as URL-safe text; nothing when the system has none.
pub(crate) fn random(bytes: usize) -> Option<String> {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer)
        .inspect_err(|error| tracing::error!(%error, "the system gives no random bytes"))
        .ok()?;
    Some(URL_SAFE_NO_PAD.encode(buffer))
}
