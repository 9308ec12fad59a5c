//! The state key inside a backup: locked with a passphrase (state §8).

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::files::{create_key_file, key_file, named_file, read_key};
use crate::ring::Master;
use crate::{Derived, KeyPlace, KeyProblem, SealError, StateKey};

/// Memory in KiB and passes: about a third of a second and out of reach for guessing machines.
const MEMORY: u32 = 64 * 1024;
const PASSES: u32 = 3;
const SALT: usize = 16;

impl StateKey {
    /// Locks the key with a passphrase; what comes back may lie anywhere.
    pub fn lock_with(&self, passphrase: &str, instance: &str) -> Result<Value, SealError> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt).map_err(|_| SealError::NoRandom)?;
        let lock = derive(passphrase, &salt, MEMORY, PASSES).ok_or(SealError::Damaged)?;
        let sealed = lock.seal(&place(instance), &*self.ring.read().current.bytes)?;
        Ok(json!({
            "kdf": "argon2id", "memoryKiB": MEMORY, "passes": PASSES, "lanes": 1,
            "salt": STANDARD.encode(salt), "sealed": sealed,
        }))
    }

    /// Puts a locked key back where keys of this instance are looked for. `false`: it is there already. A
    /// key the state has got since stays; the one of the backup lies beside it and is found by its id.
    pub fn unlock_into(
        locked: &Value,
        passphrase: &str,
        instance: &str,
        keys: &KeyPlace,
    ) -> Result<Result<bool, SealError>, KeyProblem> {
        let opened = || -> Result<Zeroizing<[u8; 32]>, SealError> {
            let number = |name: &str| locked[name].as_u64().and_then(|value| u32::try_from(value).ok());
            let salt = STANDARD
                .decode(locked["salt"].as_str().unwrap_or_default())
                .map_err(|_| SealError::Damaged)?;
            // A backup from elsewhere must not make us fill the memory.
            let memory = number("memoryKiB").filter(|memory| *memory <= 1024 * 1024);
            let lock = memory
                .zip(number("passes").filter(|passes| *passes <= 64))
                .and_then(|(memory, passes)| derive(passphrase, &salt, memory, passes))
                .ok_or(SealError::Damaged)?;
            let bytes = lock.open(&place(instance), locked["sealed"].as_str().unwrap_or_default())?;
            let key = bytes.as_slice().try_into().map_err(|_| SealError::Damaged)?;
            Ok(Zeroizing::new(key))
        };
        match opened() {
            Ok(key) => {
                let key = Master::new(key);
                let path = key_file(keys, instance);
                if create_key_file(&path, &key.bytes)? {
                    return Ok(Ok(true));
                }
                if read_key(&path).is_ok_and(|present| Master::new(present).id == key.id) {
                    return Ok(Ok(false));
                }
                create_key_file(&named_file(keys, instance, &key.id), &key.bytes).map(Ok)
            }
            Err(error) => Ok(Err(error)),
        }
    }
}

fn derive(passphrase: &str, salt: &[u8], memory: u32, passes: u32) -> Option<Derived> {
    let params = Params::new(memory, passes, 1, Some(32)).ok()?;
    let mut bytes = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, &mut *bytes)
        .ok()?;
    Some(Derived { bytes, key_id: "passphrase".to_owned() })
}

fn place(instance: &str) -> String {
    format!("{instance}|backup|key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_passphrase_brings_the_key_back() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| KeyPlace::new(dir.path().join(name));
        let key = StateKey::open(&place("a"), "i").unwrap();
        let locked = key.lock_with("open sesame", "i").unwrap();
        assert!(!locked.to_string().contains(&chatos_tool::hex(&*key.ring.read().current.bytes)));
        assert!(StateKey::unlock_into(&locked, "wrong", "i", &place("b")).unwrap().is_err());
        assert!(StateKey::unlock_into(&locked, "open sesame", "other", &place("b")).unwrap().is_err());
        assert!(StateKey::unlock_into(&json!({}), "x", "i", &place("b")).unwrap().is_err());
        assert!(StateKey::unlock_into(&locked, "open sesame", "i", &place("b")).unwrap().unwrap());
        assert_eq!(StateKey::open(&place("b"), "i").unwrap().id(), key.id());
        assert!(!StateKey::unlock_into(&locked, "open sesame", "i", &place("b")).unwrap().unwrap());
        // Another key is there meanwhile: it stays, and the one of the backup is found by its name.
        let other = StateKey::open(&place("c"), "i").unwrap();
        assert!(StateKey::unlock_into(&locked, "open sesame", "i", &place("c")).unwrap().unwrap());
        assert!(!StateKey::unlock_into(&locked, "open sesame", "i", &place("c")).unwrap().unwrap());
        assert_eq!(StateKey::open(&place("c"), "i").unwrap().id(), other.id());
        assert!(dir.path().join("c").join(format!("i.{}.key", key.id())).is_file());
    }
}
