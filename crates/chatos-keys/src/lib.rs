//! The state key: 32 random bytes outside the state directory, and what is derived from them.
//!
//! Sub-keys sign prompt lines, chain audit records and seal secrets. The key never leaves this
//! module except as a derived value; it has no `Debug` and is wiped when dropped. A sub-key follows its
//! state key: after a rotation, in this process or in another, it is the new one's.

mod fault;
mod files;
mod keychain;
mod moves;
mod ring;
mod rows;
mod wrap;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use chatos_paths::{Environment, Locations};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

pub use moves::{KeyMove, KeyTo, Rotated};
pub use rows::{KeyRows, Opener, RowsError, Sealer};

use self::ring::{Facts, Ring};

/// Where the key is looked for.
#[derive(Debug, Clone)]
pub struct KeyPlace {
    /// `<config>/chatos/keys`; the file is `<instance id>.key`.
    pub dir: PathBuf,
    /// `CHATOS_MASTER_KEY_FILE`: this file instead, never created or changed by us.
    pub override_file: Option<PathBuf>,
    /// `PATH`: where the program that speaks to the keychain is looked for.
    pub search: Option<OsString>,
}

impl KeyPlace {
    /// Files in this folder.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, override_file: None, search: None }
    }

    /// Where this environment keeps the keys of its states.
    pub fn of(environment: &Environment, places: &Locations) -> Self {
        Self {
            dir: places.key_dir.clone(),
            override_file: environment.get("CHATOS_MASTER_KEY_FILE").map(PathBuf::from),
            search: environment.get("PATH").map(OsString::from),
        }
    }
}

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyWhere {
    /// In the file `CHATOS_MASTER_KEY_FILE` names.
    Named(PathBuf),
    /// In a file of ours.
    File(PathBuf),
    /// In the keychain of the desktop.
    Keychain,
}

/// Why there is no usable key.
#[derive(Debug, thiserror::Error)]
pub enum KeyProblem {
    /// The file cannot be read or created.
    #[error("cannot {action} the state key: {}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// The key file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file does not hold a key.
    #[error("the state key file does not hold 32 bytes (raw or as 64 hex digits): {}", path.display())]
    Malformed {
        /// The key file.
        path: PathBuf,
    },
    /// The keychain cannot be asked.
    #[error("the keychain {reason}")]
    Keychain {
        /// What it did.
        reason: String,
    },
    /// The person named the file; it is not ours to change.
    #[error("the state key is in a file that CHATOS_MASTER_KEY_FILE names, which is never changed: {}", path.display())]
    NotOurs {
        /// That file.
        path: PathBuf,
    },
    /// What is derived or sealed failed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The database.
    #[error(transparent)]
    Rows(RowsError),
}

/// Why a sealed value cannot be opened. Says nothing about the value.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SealError {
    /// It was sealed with another key.
    #[error("sealed with another key ({key_id})")]
    OtherKey {
        /// That key's id.
        key_id: String,
    },
    /// The text is not one of ours, was changed, or belongs to another row.
    #[error("the sealed value is damaged or was moved from another place")]
    Damaged,
    /// The system gave no random bytes.
    #[error("no random bytes from the system")]
    NoRandom,
}

/// The master key of one state directory. Clones are the same key, also after a rotation.
#[derive(Clone)]
pub struct StateKey {
    ring: Arc<Ring>,
    created: bool,
}

/// A key for one purpose, derived from the master key.
#[derive(Clone)]
pub struct SubKey(Source);

#[derive(Clone)]
enum Source {
    Fixed(Derived),
    Of { ring: Arc<Ring>, label: &'static str },
}

/// The bytes for one purpose, and the id of the key they come from.
#[derive(Clone)]
struct Derived {
    bytes: Zeroizing<[u8; 32]>,
    key_id: String,
}

impl StateKey {
    /// Reads the key of `instance`, making one when there is none.
    pub fn open(place: &KeyPlace, instance: &str) -> Result<Self, KeyProblem> {
        let facts = Facts { instance: instance.to_owned(), ..Facts::default() };
        let (ring, created) = Ring::load(place, facts, None)?;
        Ok(Self { ring: Arc::new(ring), created })
    }

    /// The key of a database: the one it names, wherever that is kept; made when there is none.
    pub fn of(place: &KeyPlace, rows: &(impl KeyRows + Clone + 'static)) -> Result<Self, KeyProblem> {
        let (ring, created) = Ring::load(place, Facts::of(rows)?, Some(Box::new(rows.clone())))?;
        Ok(Self { ring: Arc::new(ring), created })
    }

    /// Whether the key with this id is where keys of the instance are looked for.
    pub fn is_here(place: &KeyPlace, instance: &str, id: &str) -> bool {
        if place.override_file.is_some() {
            return true;
        }
        let facts = |in_keychain| Facts {
            instance: instance.to_owned(),
            wanted: Some(id.to_owned()).filter(|id| !id.is_empty()),
            in_keychain,
            former: None,
        };
        let found = |facts: &Facts| matches!(ring::look(place, facts), Ok(Some((key, _))) if id.is_empty() || key.id == id);
        found(&facts(false)) || found(&facts(true))
    }

    /// The first eight hex digits of the key's hash: names the key without telling it.
    pub fn id(&self) -> String {
        self.ring.read().current.id.clone()
    }

    /// This call made the key; on an existing database that means the former one is lost.
    pub fn created(&self) -> bool {
        self.created
    }

    /// Where it is kept.
    pub fn place(&self) -> KeyWhere {
        self.ring.read().kept.place()
    }

    /// How many keys came before this one and still check what they signed.
    pub fn former(&self) -> usize {
        self.ring.read().former.len()
    }

    /// The sub-key for a purpose: `secrets`, `prompts`, `backup` or `audit`.
    pub fn sub_key(&self, label: &'static str) -> SubKey {
        SubKey(Source::Of { ring: Arc::clone(&self.ring), label })
    }
}

impl SubKey {
    /// HMAC-SHA256 over the concatenated parts.
    pub fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.derived().sign(parts)
    }

    /// As [`SubKey::sign`] with the key that was in force when record `number` of the audit log was written.
    pub fn sign_as_of(&self, number: u64, parts: &[&[u8]]) -> [u8; 32] {
        match &self.0 {
            Source::Fixed(derived) => derived.sign(parts),
            Source::Of { ring, label } => ring.read().at(label, number).sign(parts),
        }
    }

    /// Compares in constant time. What a former key signed still counts.
    pub fn verify(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        match &self.0 {
            Source::Fixed(derived) => derived.verify(parts, signature),
            Source::Of { ring, label } => {
                let any = || ring.read().all(label).iter().any(|key| key.verify(parts, signature));
                any() || (ring.refresh() && any())
            }
        }
    }

    /// Seals a value for exactly one place, e.g. `instance|table|row|column` (state §6).
    pub fn seal(&self, place: &str, value: &[u8]) -> Result<String, SealError> {
        if let Source::Of { ring, .. } = &self.0 {
            // Another process may have changed the key since; what it retired opens nothing any more.
            ring.refresh();
        }
        self.derived().seal(place, value)
    }

    /// Opens what [`SubKey::seal`] made for the same place.
    pub fn open(&self, place: &str, text: &str) -> Result<Zeroizing<Vec<u8>>, SealError> {
        match (self.derived().open(place, text), &self.0) {
            (Err(SealError::OtherKey { .. }), Source::Of { ring, .. }) if ring.refresh() => {
                self.derived().open(place, text)
            }
            (opened, _) => opened,
        }
    }

    /// This very key, whatever comes after it.
    pub fn as_of_now(&self) -> Self {
        if let Source::Of { ring, .. } = &self.0 {
            ring.refresh();
        }
        Self(Source::Fixed(self.derived()))
    }

    /// The id of a key that stays; `None` for one that follows its state.
    pub fn key_id(&self) -> Option<&str> {
        match &self.0 {
            Source::Fixed(derived) => Some(&derived.key_id),
            Source::Of { .. } => None,
        }
    }

    fn derived(&self) -> Derived {
        match &self.0 {
            Source::Fixed(derived) => derived.clone(),
            Source::Of { ring, label } => ring.read().current.derive(label),
        }
    }
}

impl Derived {
    fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.mac(parts).finalize().into_bytes().into()
    }

    fn verify(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(parts).verify_slice(signature).is_ok()
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        // HMAC takes a key block of any content; 32 bytes padded to the block never fail.
        let mut block = hmac::digest::array::Array::default();
        block[..32].copy_from_slice(&*self.bytes);
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new(&block);
        for part in parts {
            mac.update(part);
        }
        mac
    }

    fn seal(&self, place: &str, value: &[u8]) -> Result<String, SealError> {
        let mut nonce = [0; 24];
        getrandom::fill(&mut nonce).map_err(|_| SealError::NoRandom)?;
        let sealed = self
            .cipher()
            .encrypt(&XNonce::from(nonce), Payload { msg: value, aad: place.as_bytes() })
            .map_err(|_| SealError::Damaged)?;
        let mut bytes = nonce.to_vec();
        bytes.extend_from_slice(&sealed);
        Ok(format!("enc:v2:{}:{}", self.key_id, URL_SAFE_NO_PAD.encode(bytes)))
    }

    fn open(&self, place: &str, text: &str) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let key_id = sealed_with(text).ok_or(SealError::Damaged)?;
        if key_id != self.key_id {
            return Err(SealError::OtherKey { key_id: key_id.to_owned() });
        }
        let body = text.rsplit(':').next().unwrap_or_default();
        let bytes = URL_SAFE_NO_PAD.decode(body).map_err(|_| SealError::Damaged)?;
        let (nonce, sealed) = bytes.split_at_checked(24).ok_or(SealError::Damaged)?;
        let nonce: [u8; 24] = nonce.try_into().map_err(|_| SealError::Damaged)?;
        self.cipher()
            .decrypt(&XNonce::from(nonce), Payload { msg: sealed, aad: place.as_bytes() })
            .map(Zeroizing::new)
            .map_err(|_| SealError::Damaged)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&(*self.bytes).into())
    }
}

/// The id of the key a text was sealed with. `None`: it is not a sealed text.
pub fn sealed_with(text: &str) -> Option<&str> {
    let (key_id, _) = text.strip_prefix("enc:v2:")?.split_once(':')?;
    Some(key_id)
}

#[cfg(test)]
mod tests;
