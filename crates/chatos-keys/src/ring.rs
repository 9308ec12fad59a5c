//! The key in force and what is left of the keys before it, shared by everything derived from them.
//!
//! The database names the key (`meta.key_id`) and says where it is kept, so that a process that was
//! stopped between two steps of a rotation or a move finds the right one, and a process beside the host
//! notices that there is another.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use chatos_tool::hex;
use hkdf::Hkdf;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::files::{create_key_file, is_missing, key_file, named_file, next_file, parse_key, read_key};
use crate::keychain::{Keychain, Slot};
use crate::rows::KeyRows;
use crate::{Derived, KeyPlace, KeyProblem, KeyWhere, SealError};

/// Rows of `meta`.
pub(crate) const KEY_ID: &str = "key_id";
pub(crate) const KEY_WHERE: &str = "key_where";
pub(crate) const FORMER_KEYS: &str = "former_keys";

/// The sub-keys that still check what a former key signed.
const KEPT: [&str; 2] = ["prompts", "audit"];

/// What the database says about its key.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) instance: String,
    /// The id of the key in force.
    pub(crate) wanted: Option<String>,
    pub(crate) in_keychain: bool,
    /// The keys before it, sealed.
    pub(crate) former: Option<String>,
}

/// A master key.
#[derive(Clone)]
pub(crate) struct Master {
    pub(crate) bytes: Zeroizing<[u8; 32]>,
    pub(crate) id: String,
}

/// What is left of a key that was rotated away: it opens nothing.
#[derive(Clone)]
pub(crate) struct Former {
    pub(crate) id: String,
    /// The last record of the audit log it signed.
    pub(crate) until: u64,
    /// In the order of [`KEPT`].
    subs: [Zeroizing<[u8; 32]>; 2],
}

/// Where the key in force was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    Named(PathBuf),
    File(PathBuf),
    Keychain(Slot),
}

pub(crate) struct Keys {
    pub(crate) current: Master,
    /// Oldest first.
    pub(crate) former: Vec<Former>,
    pub(crate) kept: Kept,
}

pub(crate) struct Ring {
    pub(crate) place: KeyPlace,
    pub(crate) instance: String,
    pub(crate) keys: RwLock<Keys>,
    rows: Option<Box<dyn KeyRows>>,
}

impl Facts {
    pub(crate) fn of(rows: &dyn KeyRows) -> Result<Self, KeyProblem> {
        let fact = |name| rows.fact(name).map_err(KeyProblem::Rows);
        Ok(Self {
            instance: rows.instance().map_err(KeyProblem::Rows)?,
            wanted: fact(KEY_ID)?,
            in_keychain: fact(KEY_WHERE)?.as_deref() == Some("keychain"),
            former: fact(FORMER_KEYS)?,
        })
    }
}

impl Kept {
    pub(crate) fn place(&self) -> KeyWhere {
        match self {
            Self::Named(path) => KeyWhere::Named(path.clone()),
            Self::File(path) => KeyWhere::File(path.clone()),
            Self::Keychain(_) => KeyWhere::Keychain,
        }
    }
}

impl Master {
    pub(crate) fn new(bytes: Zeroizing<[u8; 32]>) -> Self {
        let id = hex(&Sha256::digest(*bytes)[..4]);
        Self { bytes, id }
    }

    pub(crate) fn random() -> Result<Self, SealError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).map_err(|_| SealError::NoRandom)?;
        Ok(Self::new(bytes))
    }

    pub(crate) fn derive(&self, label: &str) -> Derived {
        let mut bytes = Zeroizing::new([0; 32]);
        let derived = Hkdf::<Sha256>::new(None, &*self.bytes).expand(label.as_bytes(), &mut *bytes);
        debug_assert!(derived.is_ok(), "32 bytes are always a legal HKDF length");
        Derived { bytes, key_id: self.id.clone() }
    }

    /// What is left of it once it is rotated away.
    pub(crate) fn retire(&self, until: u64) -> Former {
        Former { id: self.id.clone(), until, subs: KEPT.map(|label| self.derive(label).bytes) }
    }
}

impl Keys {
    /// The sub-key that was in force for a record of the audit log.
    pub(crate) fn at(&self, label: &str, number: u64) -> Derived {
        let former = self.former.iter().find(|former| number <= former.until);
        former.and_then(|former| former.derive(label)).unwrap_or_else(|| self.current.derive(label))
    }

    /// Every sub-key that may check a signature, the one in force first.
    pub(crate) fn all(&self, label: &str) -> Vec<Derived> {
        let former = self.former.iter().rev().filter_map(|former| former.derive(label));
        std::iter::once(self.current.derive(label)).chain(former).collect()
    }
}

impl Former {
    fn derive(&self, label: &str) -> Option<Derived> {
        let index = KEPT.iter().position(|kept| *kept == label)?;
        Some(Derived { bytes: self.subs.get(index)?.clone(), key_id: self.id.clone() })
    }
}

fn former_place(instance: &str, id: &str) -> String {
    format!("{instance}|meta|{FORMER_KEYS}|{id}")
}

/// The row of `meta` that carries former keys, sealed with the key in force.
pub(crate) fn seal_former(instance: &str, former: &[Former], key: &Master) -> Result<String, SealError> {
    let with = key.derive("secrets");
    let rows = former.iter().map(|former| {
        let bytes =
            Zeroizing::new(former.subs.iter().flat_map(|sub| sub.iter().copied()).collect::<Vec<u8>>());
        let sealed = with.seal(&former_place(instance, &former.id), &bytes)?;
        Ok(json!({ "keyId": former.id, "until": former.until, "sealed": sealed }))
    });
    Ok(Value::Array(rows.collect::<Result<_, SealError>>()?).to_string())
}

/// Those of them that open; a damaged one only loses what it would have checked.
fn open_former(instance: &str, text: Option<&str>, key: &Master) -> Vec<Former> {
    let rows: Vec<Value> = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let with = key.derive("secrets");
    let open = |row: &Value| {
        let id = row["keyId"].as_str()?;
        let bytes = with.open(&former_place(instance, id), row["sealed"].as_str()?).ok()?;
        let half = |part: &[u8]| <[u8; 32]>::try_from(part).ok().map(Zeroizing::new);
        let (first, second) = bytes.split_at_checked(32)?;
        Some(Former { id: id.to_owned(), until: row["until"].as_u64()?, subs: [half(first)?, half(second)?] })
    };
    rows.iter().filter_map(open).collect()
}

impl Ring {
    /// The key these facts name, or another one that is in its place, or a new one. `true`: it is new.
    pub(crate) fn load(
        place: &KeyPlace,
        facts: Facts,
        rows: Option<Box<dyn KeyRows>>,
    ) -> Result<(Self, bool), KeyProblem> {
        let (current, kept, created) = find(place, &facts)?;
        let former = open_former(&facts.instance, facts.former.as_deref(), &current);
        let keys = RwLock::new(Keys { current, former, kept });
        Ok((Self { place: place.clone(), instance: facts.instance, keys, rows }, created))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Keys> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether the database names another key by now and takes that one over. `true`: it did.
    pub(crate) fn refresh(&self) -> bool {
        let Some(rows) = &self.rows else { return false };
        let Ok(Some(wanted)) = rows.fact(KEY_ID) else { return false };
        if self.read().current.id == wanted {
            return false;
        }
        let Ok(facts) = Facts::of(rows.as_ref()) else { return false };
        // A key that cannot be found now is looked for again by the next who needs it.
        let found = look(&self.place, &facts).ok().flatten().filter(|(key, _)| key.id == wanted);
        let Some((current, kept)) = found else { return false };
        let former = open_former(&facts.instance, facts.former.as_deref(), &current);
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Keys { current, former, kept };
        true
    }

    pub(crate) fn keychain(&self) -> Result<Keychain, KeyProblem> {
        Keychain::find(&self.place, &self.instance)
    }
}

fn find(place: &KeyPlace, facts: &Facts) -> Result<(Master, Kept, bool), KeyProblem> {
    if let Some((key, kept)) = look(place, facts)? {
        return Ok((key, kept, false));
    }
    let path = key_file(place, &facts.instance);
    let key = Master::random()?;
    if create_key_file(&path, &key.bytes)? {
        return Ok((key, Kept::File(path), true));
    }
    // Another process made it between our look and our attempt: theirs is the key.
    Ok((Master::new(read_key(&path)?), Kept::File(path), false))
}

/// The key that is wanted, else the one in the usual place; `None` when there is none at all.
pub(crate) fn look(place: &KeyPlace, facts: &Facts) -> Result<Option<(Master, Kept)>, KeyProblem> {
    if let Some(path) = &place.override_file {
        return Ok(Some((Master::new(read_key(path)?), Kept::Named(path.clone()))));
    }
    let is_wanted = |key: &Master| facts.wanted.as_ref().is_none_or(|wanted| *wanted == key.id);
    let usual = key_file(place, &facts.instance);
    let mut instead = None;
    let mut problem = None;
    let mut paths = vec![usual.clone(), next_file(place, &facts.instance)];
    paths.extend(facts.wanted.as_ref().map(|id| named_file(place, &facts.instance, id)));
    let in_files = || {
        for path in paths {
            match read_key(&path).map(Master::new) {
                Ok(key) if is_wanted(&key) => return Some((key, Kept::File(path))),
                Ok(key) if path == usual => instead = Some((key, Kept::File(path))),
                Err(error) if path == usual && !is_missing(&error) => problem = Some(error),
                _ => {}
            }
        }
        None
    };
    if facts.in_keychain {
        match in_keychain(place, facts, &is_wanted) {
            Ok(Some(found)) => return Ok(Some(found)),
            Ok(None) => {}
            // A copy in a file serves as well; without one nobody may think that the key is lost.
            Err(error) => return in_files().map(Some).ok_or(error),
        }
    }
    match in_files() {
        Some(found) => Ok(Some(found)),
        None => problem.map_or(Ok(instead), Err),
    }
}

fn in_keychain(
    place: &KeyPlace,
    facts: &Facts,
    is_wanted: &dyn Fn(&Master) -> bool,
) -> Result<Option<(Master, Kept)>, KeyProblem> {
    let keychain = Keychain::find(place, &facts.instance)?;
    for slot in [Slot::Main, Slot::Next] {
        let key = keychain.read(slot)?.and_then(|text| parse_key(text.as_bytes())).map(Master::new);
        if let Some(key) = key.filter(|key| is_wanted(key)) {
            return Ok(Some((key, Kept::Keychain(slot))));
        }
    }
    Ok(None)
}
