//! Marks lines as ours (`ui-prompts §2`, key `sig`).
//!
//! A signature names the class of a line and nothing more: no approval rests on it (`security T16`).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::json::{Object, canonical};

/// Signs with the sub-key "prompts" of the state key. Passed in by the host.
pub trait Signer: Send + Sync {
    fn sign(&self, bytes: &[u8]) -> [u8; 32];
    /// Compares in constant time.
    fn verify(&self, bytes: &[u8], mac: &[u8]) -> bool;
}

/// HMAC-SHA256 with a 32-byte sub-key.
pub struct KeySigner {
    key: Zeroizing<[u8; 32]>,
}

impl KeySigner {
    pub fn new(key: [u8; 32]) -> Self {
        Self { key: Zeroizing::new(key) }
    }

    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mut block = [0u8; 64];
        block[..32].copy_from_slice(&*self.key);
        // A key shorter than a block is padded with zeros, so this is the HMAC of the 32-byte key.
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(bytes);
        mac
    }
}

impl Signer for KeySigner {
    fn sign(&self, bytes: &[u8]) -> [u8; 32] {
        self.mac(bytes).finalize().into_bytes().into()
    }

    fn verify(&self, bytes: &[u8], mac: &[u8]) -> bool {
        self.mac(bytes).verify_slice(mac).is_ok()
    }
}

/// Puts `chatos.sig` into an entry that has a `chatos` object.
pub(crate) fn sign_entry(signer: &dyn Signer, entry: &mut Value) {
    let sig = URL_SAFE_NO_PAD.encode(signer.sign(&canonical::to_vec(entry)));
    if let Some(Value::Object(chatos)) = entry.get_mut("chatos") {
        chatos.insert("sig".into(), sig.into());
    }
}

/// True when the entry carries our signature over everything else in it.
pub(crate) fn is_ours(signer: &dyn Signer, entry: &Object) -> bool {
    let Some(sig) = entry.get("chatos").and_then(|c| c.get("sig")).and_then(Value::as_str) else {
        return false;
    };
    let Ok(mac) = URL_SAFE_NO_PAD.decode(sig) else { return false };
    let mut unsigned = entry.clone();
    if let Some(Value::Object(chatos)) = unsigned.get_mut("chatos") {
        chatos.shift_remove("sig");
    }
    signer.verify(&canonical::to_vec(&Value::Object(unsigned)), &mac)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn matches_rfc_4231_case_with_a_short_key() {
        // Test case 2 of RFC 4231 has the key "Jefe"; padded to 32 bytes it is the same HMAC key.
        let mut key = [0u8; 32];
        key[..4].copy_from_slice(b"Jefe");
        let mac = KeySigner::new(key).sign(b"what do ya want for nothing?");
        let hex: String = mac.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn any_change_breaks_the_signature() {
        let signer = KeySigner::new([7; 32]);
        let mut entry =
            json!({"ts":"x","requestId":"a","response":{"status":"ok"},"chatos":{"v":1,"by":"person:ui"}});
        sign_entry(&signer, &mut entry);
        let ours = |e: &Value| is_ours(&signer, e.as_object().unwrap());
        assert!(ours(&entry));
        let mut reordered: Value = serde_json::from_str(&entry.to_string()).unwrap();
        let moved = reordered["chatos"].take();
        reordered.as_object_mut().unwrap().shift_remove("chatos");
        reordered.as_object_mut().unwrap().shift_insert(0, "chatos".into(), moved);
        assert!(ours(&reordered), "key order is not part of the canonical form");
        for (path, value) in [
            ("/requestId", json!("b")),
            ("/response/status", json!("canceled")),
            ("/chatos/by", json!("person:cli")),
        ] {
            let mut forged = entry.clone();
            *forged.pointer_mut(path).unwrap() = value;
            assert!(!ours(&forged), "{path}");
        }
        let mut extra = entry.clone();
        extra["x"] = json!(1);
        assert!(!ours(&extra));
        assert!(!is_ours(&KeySigner::new([8; 32]), entry.as_object().unwrap()));
    }
}
