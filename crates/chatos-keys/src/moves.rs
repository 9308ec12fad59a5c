//! Another key, or another place for it (state §6).
//!
//! Both are steps of which each leaves a state that the next start understands: the database names the
//! key and its place, the new key is kept before the database names it, and the old one is removed after.
//! Only the process that holds `host.lock` does any of this.

use std::sync::PoisonError;

use chatos_paths::halt_around as around;

use crate::files::{create_key_file, key_file, key_text, named_file, next_file, read_key, remove, replace};
use crate::keychain::Slot;
use crate::ring::{FORMER_KEYS, KEY_ID, KEY_WHERE, Kept, Keys, Master, Ring, seal_former};
use crate::rows::KeyRows;
use crate::{KeyProblem, StateKey};

/// What a rotation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// The id of the key before.
    pub from: String,
    /// The id of the key in force.
    pub to: String,
    /// Values that were sealed anew.
    pub resealed: usize,
    /// Values that another, lost key sealed; they stay as they are.
    pub left: usize,
}

/// Where a key may be moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyTo {
    /// The keychain of the desktop.
    Keychain,
    /// A file in the folder of keys.
    File,
}

/// What a move did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMove {
    /// It is there now.
    Moved,
    /// It was there.
    WasThere,
}

impl KeyTo {
    fn word(self) -> &'static str {
        match self {
            Self::Keychain => "keychain",
            Self::File => "file",
        }
    }
}

impl StateKey {
    /// A new key: everything sealed is sealed anew in one transaction. `audit` is the number of the last
    /// record of the audit log; nobody writes one meanwhile.
    pub fn rotate(&self, rows: &dyn KeyRows, audit: u64) -> Result<Rotated, KeyProblem> {
        let instance = rows.instance().map_err(KeyProblem::Rows)?;
        // Whoever seals waits: what it would seal with the old key could never be opened.
        let mut keys = self.ring.keys.write().unwrap_or_else(PoisonError::into_inner);
        self.ring.refuse_named(&keys)?;
        let next = Master::random()?;
        let mut former = keys.former.clone();
        former.push(keys.current.retire(audit));
        let facts = vec![
            (KEY_ID.to_owned(), next.id.clone()),
            (FORMER_KEYS.to_owned(), seal_former(&instance, &former, &next)?),
        ];
        let kept = around(|| self.ring.keep_next(&keys.kept, &next))?;
        let (old, new) = (keys.current.derive("secrets"), next.derive("secrets"));
        let open = move |place: &str, text: &str| old.open(place, text).ok();
        let seal = move |place: &str, value: &[u8]| new.seal(place, value);
        // On a failure the next key stays for now: whether the disk has the commit is known at the next start.
        let (resealed, left) = around(|| rows.reseal(instance, Box::new(open), Box::new(seal), facts))
            .map_err(KeyProblem::Rows)?;
        let from = std::mem::replace(&mut *keys, Keys { current: next, former, kept }).current.id;
        let to = keys.current.id.clone();
        around(|| self.ring.finish(&mut keys))?;
        Ok(Rotated { from, to, resealed, left })
    }

    /// Moves the key. It is in its new place before it leaves the old one.
    pub fn move_to(&self, rows: &dyn KeyRows, to: KeyTo) -> Result<KeyMove, KeyProblem> {
        let mut keys = self.ring.keys.write().unwrap_or_else(PoisonError::into_inner);
        self.ring.refuse_named(&keys)?;
        let text = key_text(&keys.current.bytes);
        let (kept, done) = match (&keys.kept, to) {
            (Kept::Keychain(_), KeyTo::Keychain) => return Ok(KeyMove::WasThere),
            (Kept::File(path), KeyTo::File) => (Kept::File(path.clone()), KeyMove::WasThere),
            (_, KeyTo::Keychain) => {
                let keychain = self.ring.keychain()?;
                keychain.probe()?;
                around(|| keychain.write(Slot::Main, &text))?;
                (Kept::Keychain(Slot::Main), KeyMove::Moved)
            }
            (_, KeyTo::File) => (around(|| self.ring.keep_in_file(&keys.current))?, KeyMove::Moved),
        };
        if done == KeyMove::Moved {
            around(|| rows.set_fact(KEY_WHERE, to.word())).map_err(KeyProblem::Rows)?;
        }
        keys.kept = kept;
        match to {
            KeyTo::Keychain => around(|| self.ring.finish(&mut keys))?,
            KeyTo::File => match (self.ring.keychain(), done) {
                (Ok(keychain), _) => around(|| keychain.remove(Slot::Main))?,
                // Nothing can be left where nothing could be put.
                (Err(_), KeyMove::WasThere) => {}
                (Err(problem), KeyMove::Moved) => return Err(problem),
            },
        }
        Ok(done)
    }

    /// Ends what a rotation or a move that was stopped left, and notes where the key is. For the holder of
    /// `host.lock` only.
    pub fn settle(&self, rows: &dyn KeyRows) -> Result<(), KeyProblem> {
        let mut keys = self.ring.keys.write().unwrap_or_else(PoisonError::into_inner);
        let noted = rows.fact(KEY_WHERE).map_err(KeyProblem::Rows)?;
        if noted.as_deref() == Some("keychain") && matches!(keys.kept, Kept::File(_)) {
            // The keychain lost it, or cannot be asked and there is a copy: the file is what counts now.
            rows.set_fact(KEY_WHERE, KeyTo::File.word()).map_err(KeyProblem::Rows)?;
        }
        self.ring.finish(&mut keys)
    }
}

impl Ring {
    fn refuse_named(&self, keys: &Keys) -> Result<(), KeyProblem> {
        match &keys.kept {
            Kept::Named(path) => Err(KeyProblem::NotOurs { path: path.clone() }),
            _ => Ok(()),
        }
    }

    /// Keeps the key that is about to be in force beside the one that is.
    fn keep_next(&self, beside: &Kept, key: &Master) -> Result<Kept, KeyProblem> {
        if let Kept::Keychain(_) = beside {
            self.keychain()?.write(Slot::Next, &key_text(&key.bytes))?;
            return Ok(Kept::Keychain(Slot::Next));
        }
        let path = next_file(&self.place, &self.instance);
        // Of a rotation that never came to its commit.
        remove(&path)?;
        create_key_file(&path, &key.bytes)?;
        Ok(Kept::File(path))
    }

    /// The file for a key that comes from elsewhere; a file with another key stays.
    fn keep_in_file(&self, key: &Master) -> Result<Kept, KeyProblem> {
        let path = key_file(&self.place, &self.instance);
        let same = |path: &std::path::Path| read_key(path).is_ok_and(|kept| Master::new(kept).id == key.id);
        if create_key_file(&path, &key.bytes)? || same(&path) {
            return Ok(Kept::File(path));
        }
        let path = named_file(&self.place, &self.instance, &key.id);
        remove(&path)?;
        create_key_file(&path, &key.bytes)?;
        Ok(Kept::File(path))
    }

    /// Puts the key in force where it belongs and removes what is retired.
    fn finish(&self, keys: &mut Keys) -> Result<(), KeyProblem> {
        let (usual, next) = (key_file(&self.place, &self.instance), next_file(&self.place, &self.instance));
        let holds = |path: &std::path::Path| read_key(path).map(|key| Master::new(key).id).ok();
        let retired = |id: &str| keys.former.iter().any(|former| former.id == id);
        match keys.kept.clone() {
            Kept::Named(_) => return Ok(()),
            Kept::Keychain(slot) => {
                if slot == Slot::Next {
                    let keychain = self.keychain()?;
                    keychain.write(Slot::Main, &key_text(&keys.current.bytes))?;
                    keychain.remove(Slot::Next)?;
                    keys.kept = Kept::Keychain(Slot::Main);
                }
                let needless = |id: &String| *id == keys.current.id || retired(id);
                for path in [&usual, &next, &named_file(&self.place, &self.instance, &keys.current.id)] {
                    if holds(path).as_ref().is_some_and(needless) {
                        remove(path)?;
                    }
                }
            }
            Kept::File(path) if path == next => {
                let free = match holds(&usual) {
                    Some(id) => retired(&id),
                    None => !usual.exists(),
                };
                // A key that is not ours to retire stays: another copy of this state may need it.
                let target =
                    if free { usual } else { named_file(&self.place, &self.instance, &keys.current.id) };
                replace(&next, &target)?;
                keys.kept = Kept::File(target);
            }
            Kept::File(_) => remove(&next)?,
        }
        for former in &keys.former {
            remove(&named_file(&self.place, &self.instance, &former.id))?;
        }
        Ok(())
    }
}
