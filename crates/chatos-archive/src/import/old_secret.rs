//! Values sealed by the older program: `enc:v1:<iv>:<tag>:<data>`, AES-256-GCM, base64 each.

use std::path::Path;

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The file beside the older database.
pub(super) const KEY_FILE: &str = ".secrets.key";

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The older program's key.
pub(super) struct OldKey(Zeroizing<[u8; 32]>);

impl OldKey {
    /// `MODEL_CLI_SECRET_KEY` (hashed, as the older program did) or the file beside the source.
    pub(super) fn find(source: &Path, variable: Option<&str>) -> Option<Self> {
        if let Some(text) = variable.map(str::trim).filter(|text| !text.is_empty()) {
            return Some(Self(Zeroizing::new(Sha256::digest(text.as_bytes()).into())));
        }
        let bytes = Zeroizing::new(std::fs::read(source.parent()?.join(KEY_FILE)).ok()?);
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let own = |bytes: &[u8]| bytes.try_into().ok().map(|key| Self(Zeroizing::new(key)));
        let text = std::str::from_utf8(bytes).ok()?.trim();
        own(&Zeroizing::new(BASE64.decode(text).ok()?))
    }

    /// Opens a sealed value.
    pub(super) fn open(&self, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        let mut parts = text.strip_prefix("enc:v1:")?.split(':').map(|part| BASE64.decode(part));
        let (iv, tag, data) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
        if parts.next().is_some() || tag.len() != 16 {
            return None;
        }
        let nonce = Nonce::from(<[u8; 12]>::try_from(iv.as_slice()).ok()?);
        let sealed = [data, tag].concat();
        let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::from(*self.0));
        cipher.decrypt(&nonce, sealed.as_slice()).ok().map(Zeroizing::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made with the crypto module of Node, as the older program did.
    const KEY: &str = "BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=";
    const BY_FILE: &str = "enc:v1:AAECAwQFBgcICQoL:Uqre/GKH8dyoqpF9hUTxMQ==:qcWrTunfiT8EjgDF5KPnRDXteQc=";
    const BY_VARIABLE: &str = "enc:v1:AAECAwQFBgcICQoL:QabSR14fcKkpzDnJMyaRZA==:5a4KQkYehh8vG7Uu+g==";

    #[test]
    fn only_the_right_key_opens_and_junk_opens_nothing() {
        let key = OldKey::parse(format!("{KEY}\n").as_bytes()).unwrap();
        assert_eq!(&**key.open(BY_FILE).unwrap(), "sk-秘密-1234567890".as_bytes());
        let other = OldKey::find(Path::new("/nowhere/x"), Some(" pass phrase ")).unwrap();
        assert_eq!(&**other.open(BY_VARIABLE).unwrap(), b"from-variable");
        assert!(other.open(BY_FILE).is_none() && key.open(BY_VARIABLE).is_none());
        for junk in ["enc:v1:", "enc:v1:a:b:c", "enc:v1:::", "plain", "enc:v1:AAAA:AAAA:AAAA:AAAA"] {
            assert!(key.open(junk).is_none());
        }
        for junk in [&b""[..], b"short", b"\xff\xfe"] {
            assert!(OldKey::parse(junk).is_none());
        }
    }
}
