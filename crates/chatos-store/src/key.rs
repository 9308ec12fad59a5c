//! The state key: 32 random bytes outside the state directory, and what is derived from them.
//!
//! Sub-keys sign prompt lines, chain audit records and seal secrets. The key never leaves this
//! module except as a derived value; it has no `Debug` and is wiped when dropped.

mod wrap;

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::migrate::hex;

/// Where the key is looked for.
#[derive(Debug, Clone)]
pub struct KeyPlace {
    /// `<config>/chatos/keys`; the file is `<instance id>.key`.
    pub dir: PathBuf,
    /// `CHATOS_MASTER_KEY_FILE`: this file instead, never created by us.
    pub override_file: Option<PathBuf>,
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

/// The master key of one state directory.
pub struct StateKey {
    master: Zeroizing<[u8; 32]>,
    id: String,
    created: bool,
}

/// A key for one purpose, derived from the master key.
#[derive(Clone)]
pub struct SubKey {
    bytes: Zeroizing<[u8; 32]>,
    key_id: String,
}

impl StateKey {
    /// Reads the key of `instance`, making one when there is none.
    pub fn open(place: &KeyPlace, instance: &str) -> Result<Self, KeyProblem> {
        if let Some(path) = &place.override_file {
            return Ok(Self::from_bytes(read_key(path)?, false));
        }
        let path = place.dir.join(format!("{instance}.key"));
        match read_key(&path) {
            Ok(bytes) => Ok(Self::from_bytes(bytes, false)),
            Err(KeyProblem::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                create_key(&path)
            }
            Err(problem) => Err(problem),
        }
    }

    /// The first eight hex digits of the key's hash: names the key without telling it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// This call made the key; on an existing database that means the former one is lost.
    pub fn created(&self) -> bool {
        self.created
    }

    /// The sub-key for a purpose: `secrets`, `prompts`, `backup` or `audit`.
    pub fn sub_key(&self, label: &str) -> SubKey {
        let mut bytes = Zeroizing::new([0; 32]);
        let derived = Hkdf::<Sha256>::new(None, &*self.master).expand(label.as_bytes(), &mut *bytes);
        debug_assert!(derived.is_ok(), "32 bytes are always a legal HKDF length");
        SubKey { bytes, key_id: self.id.clone() }
    }

    fn from_bytes(master: Zeroizing<[u8; 32]>, created: bool) -> Self {
        let id = hex(&Sha256::digest(*master)[..4]);
        Self { master, id, created }
    }
}

impl SubKey {
    /// HMAC-SHA256 over the concatenated parts.
    pub fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.mac();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Compares in constant time.
    pub fn verify(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        let mut mac = self.mac();
        for part in parts {
            mac.update(part);
        }
        mac.verify_slice(signature).is_ok()
    }

    fn mac(&self) -> Hmac<Sha256> {
        // HMAC takes a key block of any content; 32 bytes padded to the block never fail.
        let mut block = hmac::digest::array::Array::default();
        block[..32].copy_from_slice(&*self.bytes);
        <Hmac<Sha256> as hmac::KeyInit>::new(&block)
    }

    /// Seals a value for exactly one place, e.g. `instance|table|row|column` (state §6).
    pub fn seal(&self, place: &str, value: &[u8]) -> Result<String, SealError> {
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

    /// Opens what [`SubKey::seal`] made for the same place.
    pub fn open(&self, place: &str, text: &str) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let rest = text.strip_prefix("enc:v2:").ok_or(SealError::Damaged)?;
        let (key_id, body) = rest.split_once(':').ok_or(SealError::Damaged)?;
        if key_id != self.key_id {
            return Err(SealError::OtherKey { key_id: key_id.to_owned() });
        }
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

fn read_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyProblem> {
    let fail = |source| KeyProblem::Io { action: "read", path: path.to_owned(), source };
    let mut text = Zeroizing::new(Vec::with_capacity(128));
    let file = OpenOptions::new().read(true).open(path).map_err(fail)?;
    // A key is at most 65 bytes; anything longer is not one, and is not read.
    file.take(128).read_to_end(&mut text).map_err(fail)?;
    parse_key(&text).ok_or_else(|| KeyProblem::Malformed { path: path.to_owned() })
}

fn parse_key(bytes: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    if let Ok(raw) = <[u8; 32]>::try_from(bytes) {
        return Some(Zeroizing::new(raw));
    }
    let text = std::str::from_utf8(bytes).ok()?.trim();
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut key = Zeroizing::new([0; 32]);
    for (index, slot) in key.iter_mut().enumerate() {
        *slot = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(key)
}

fn create_key(path: &Path) -> Result<StateKey, KeyProblem> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *key).map_err(|error| KeyProblem::Io {
        action: "make",
        path: path.to_owned(),
        source: io::Error::other(error.to_string()),
    })?;
    if create_key_file(path, &key)? {
        Ok(StateKey::from_bytes(key, true))
    } else {
        // Another process made it between our look and our attempt: theirs is the key.
        Ok(StateKey::from_bytes(read_key(path)?, false))
    }
}

/// Writes a key file that is not there yet. `false`: one is there.
fn create_key_file(path: &Path, key: &Zeroizing<[u8; 32]>) -> Result<bool, KeyProblem> {
    let fail = |action| move |source| KeyProblem::Io { action, path: path.to_owned(), source };
    if let Some(dir) = path.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(fail("make a place for"))?;
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).map_err(fail("protect"))?;
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(fail("create")(error)),
    };
    let text = Zeroizing::new(format!("{}\n", hex(&**key)));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // A half-written key would be taken for a malformed one at the next start.
        std::fs::remove_file(path).ok();
        return Err(fail("write")(error));
    }
    if let Some(dir) = path.parent() {
        std::fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(fail("keep"))?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
