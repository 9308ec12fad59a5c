//! The browsers of one state: signing in, renewing, signing out. Called by the server, which blocks for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chatos_store::{BrowserRow, Store, StoreError, clean_client_text};
use sha2::{Digest, Sha256};

use crate::cookie;
use crate::life::{self, Moment};
use crate::proof::{self, Fingerprint, fingerprint, same};

/// With one more, the one that was away longest is signed out.
pub const MOST_BROWSERS: usize = 100;
const MOST_CHALLENGES: usize = 1000;
const CHALLENGE_MS: i64 = 60_000;
/// How long tabs that began with the cookie before may still show it, and how often there is a new one at most.
const GRACE_MS: i64 = 60_000;
const NAME_CHARS: usize = 80;

/// The browsers that are signed in on one state.
pub struct Browsers {
    store: Store,
    now: Box<dyn Fn() -> Moment + Send + Sync>,
    cookie: String,
    state: Mutex<State>,
}

/// What this process knows besides the rows.
#[derive(Default)]
struct State {
    challenges: VecDeque<(Fingerprint, i64)>,
    known: HashMap<String, Known>,
    /// When a browser was signed in with a code, in this process.
    made: HashMap<String, Instant>,
}

/// The newest cookie of a browser: tabs that ask at once are given the same one.
struct Known {
    cookie: String,
    made_ms: i64,
    seen_ms: Option<i64>,
}

/// What a browser shows for a token.
#[derive(Debug, Clone, Copy)]
pub struct Renewal<'a> {
    /// Which one it says it is.
    pub browser: &'a str,
    /// What it was given to sign.
    pub challenge: &'a str,
    /// What it signed that with.
    pub sig: &'a str,
    /// The origin of its page, as the host sees it.
    pub origin: &'a str,
    /// Its `Cookie` header.
    pub cookies: &'a str,
    /// From where; empty for this computer.
    pub address: &'a str,
}

/// A browser that has shown both halves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// Which one.
    pub browser: String,
    /// The `Set-Cookie` line of the answer.
    pub set_cookie: String,
}

/// Why there is no token.
#[derive(Debug)]
pub enum Refusal {
    /// It has not shown both halves, or is not signed in.
    Unknown,
    /// Its key is right and its cookie is an older one: the profile was copied or brought back, and is signed out.
    Reused(Box<BrowserRow>),
    /// The database failed.
    Store(StoreError),
}

/// Why a browser does not stay signed in.
#[derive(Debug)]
pub enum SignInError {
    /// That is no key.
    Key,
    /// The system has no random bytes.
    Random,
    /// The database failed.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<StoreError> for SignInError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Browsers {
    /// The browsers of the state in `store`; `instance` is the identity of that state, `now` the time.
    pub fn new(store: Store, instance: &str, now: impl Fn() -> Moment + Send + Sync + 'static) -> Self {
        // Two states on one computer share the cookies of 127.0.0.1, and must not share names.
        let digest: String =
            Sha256::digest(instance.as_bytes())[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            store,
            now: Box::new(now),
            cookie: format!("chatos_{digest}"),
            state: Mutex::new(State::default()),
        }
    }

    /// Something to sign, once, within a minute.
    pub fn challenge(&self) -> Option<String> {
        let challenge = proof::random(16)?;
        let now = (self.now)().boot_ms;
        let mut state = self.lock();
        state.challenges.retain(|(_, made)| now - made < CHALLENGE_MS);
        if state.challenges.len() >= MOST_CHALLENGES {
            state.challenges.pop_front();
        }
        state.challenges.push_back((fingerprint(&challenge), now));
        Some(challenge)
    }

    /// How long a challenge can be used.
    pub fn challenge_life_ms(&self) -> u64 {
        CHALLENGE_MS.unsigned_abs()
    }

    /// Signs a browser in, after a person's code was taken. The same key again is the same browser.
    pub fn sign_in(&self, key: &str, name: &str, address: &str) -> Result<Renewed, SignInError> {
        let key = proof::public_key(key).ok_or(SignInError::Key)?;
        let value = proof::random(32).ok_or(SignInError::Random)?;
        let now = (self.now)();
        let mut state = self.lock();
        let row = BrowserRow {
            id: proof::name_of(&key),
            name: clean_client_text(name, NAME_CHARS),
            public_key: key,
            cookie_hash: fingerprint(&value).to_vec(),
            prev_hash: None,
            cur_seen: false,
            created_at: now.wall_ms,
            seen_at: now.wall_ms,
            address: address.to_owned(),
            age_ms: 0,
            boot_id: now.boot_id.clone(),
            boot_ms: now.boot_ms,
        };
        let id = row.id.clone();
        self.make_room(&id, &now)?;
        self.store.put_browser(row)?;
        state.made.insert(id.clone(), Instant::now());
        Ok(self.given(&mut state, id, value, now.boot_ms))
    }

    /// A browser that shows both halves gets a token and, at most once a minute, another cookie.
    pub fn renew(&self, asked: &Renewal<'_>) -> Result<Renewed, Refusal> {
        let now = (self.now)();
        let mut state = self.lock();
        let challenge = fingerprint(asked.challenge);
        let place = state.challenges.iter().position(|(known, _)| same(known, &challenge));
        let made = place.and_then(|place| state.challenges.remove(place)).ok_or(Refusal::Unknown)?.1;
        if now.boot_ms - made >= CHALLENGE_MS {
            return Err(Refusal::Unknown);
        }
        let mut row = self.store.browser(asked.browser)?.ok_or(Refusal::Unknown)?;
        // The key first: whoever has seen an old cookie and no more can sign nobody out.
        let text = proof::statement(asked.origin, asked.browser, asked.challenge);
        if !proof::is_signed(&row.public_key, &text, asked.sig) || life::left(&row, &now).is_none() {
            return Err(Refusal::Unknown);
        }
        let shown: Vec<_> =
            cookie::shown(asked.cookies, &self.cookie).into_iter().map(|c| (c, fingerprint(c))).collect();
        if shown.is_empty() {
            return Err(Refusal::Unknown);
        }
        let newest = shown.iter().find(|(_, print)| same(print, &row.cookie_hash));
        let before =
            shown.iter().any(|(_, print)| row.prev_hash.as_ref().is_some_and(|prev| same(print, prev)));
        let known =
            state.known.get(&row.id).filter(|known| same(&fingerprint(&known.cookie), &row.cookie_hash));
        let within = |since: Option<i64>| since.is_some_and(|since| now.boot_ms - since < GRACE_MS);
        let fresh = known.is_some_and(|known| within(Some(known.made_ms)));
        let value = if let Some((value, _)) = newest {
            let seen_ms = known.and_then(|known| known.seen_ms).unwrap_or(now.boot_ms);
            row.cur_seen = true;
            if fresh {
                if let Some(known) = state.known.get_mut(&row.id) {
                    known.seen_ms = Some(seen_ms);
                }
                Some((*value).to_owned())
            } else {
                row.prev_hash = Some(std::mem::take(&mut row.cookie_hash));
                None
            }
        } else if before && (!row.cur_seen || within(known.and_then(|known| known.seen_ms))) {
            // A tab that began before the others, or an answer that never arrived.
            known.map(|known| known.cookie.clone())
        } else {
            self.forget(&mut state, std::slice::from_ref(&row.id))?;
            return Err(Refusal::Reused(Box::new(row)));
        };
        let is_new = value.is_none();
        let value = value.map_or_else(|| proof::random(32).ok_or(Refusal::Unknown), Ok)?;
        life::see(&mut row, &now);
        asked.address.clone_into(&mut row.address);
        if is_new {
            row.cookie_hash = fingerprint(&value).to_vec();
            row.cur_seen = false;
        }
        let id = row.id.clone();
        self.store.put_browser(row)?;
        if is_new {
            return Ok(self.given(&mut state, id, value, now.boot_ms));
        }
        Ok(Renewed { set_cookie: cookie::set(&self.cookie, &value), browser: id })
    }

    /// The `Set-Cookie` line that takes the cookie away.
    pub fn without_cookie(&self) -> String {
        cookie::unset(&self.cookie)
    }

    /// Those that are signed in, the one seen last first, each with the time until when.
    pub fn list(&self) -> Result<Vec<(BrowserRow, i64)>, StoreError> {
        let now = (self.now)();
        let state = &mut self.lock();
        let (mut live, mut over) = (Vec::new(), Vec::new());
        for row in self.store.browsers()? {
            match life::left(&row, &now) {
                Some(left) => live.push((row, now.wall_ms.saturating_add(left))),
                None => over.push(row.id),
            }
        }
        if !over.is_empty() {
            self.forget(state, &over)?;
        }
        Ok(live)
    }

    /// Signs one out, by its id; or all of them. Gives those that were signed in.
    pub fn revoke(&self, only: Option<&str>) -> Result<Vec<BrowserRow>, StoreError> {
        let mut state = self.lock();
        let mut rows = self.store.browsers()?;
        rows.retain(|row| only.is_none_or(|id| row.id == id));
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        self.forget(&mut state, &ids)?;
        Ok(rows)
    }

    /// Those that were signed in with a code since this moment, in this process.
    pub fn signed_in_since(&self, since: Instant) -> Vec<String> {
        let state = self.lock();
        state.made.iter().filter(|(_, made)| **made >= since).map(|(id, _)| id.clone()).collect()
    }

    fn given(&self, state: &mut State, id: String, cookie: String, now_ms: i64) -> Renewed {
        let set_cookie = cookie::set(&self.cookie, &cookie);
        state.known.insert(id.clone(), Known { cookie, made_ms: now_ms, seen_ms: None });
        Renewed { browser: id, set_cookie }
    }

    /// At most so many besides the one that comes.
    fn make_room(&self, coming: &str, now: &Moment) -> Result<(), StoreError> {
        let rows = self.store.browsers()?;
        let others = rows.into_iter().filter(|row| row.id != coming);
        let kept =
            |(place, row): &(usize, BrowserRow)| *place < MOST_BROWSERS - 1 && life::left(row, now).is_some();
        let over: Vec<String> =
            others.enumerate().filter(|item| !kept(item)).map(|(_, row)| row.id).collect();
        if over.is_empty() { Ok(()) } else { self.store.drop_browsers(over) }
    }

    fn forget(&self, state: &mut State, ids: &[String]) -> Result<(), StoreError> {
        self.store.drop_browsers(ids.to_vec())?;
        for id in ids {
            state.known.remove(id);
            state.made.remove(id);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
