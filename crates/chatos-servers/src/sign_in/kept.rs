//! What a sign-in to a server gave, and one that is under way, as the secrets they are: sealed in the
//! database, bound to the address they were made for, opened only where they are used.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chatos_events::Events;
use chatos_keys::SubKey;
use chatos_mcp::{Grant, Grants, Pending, Remote, Turn};
use chatos_paths::{FileLock, LockError, StateDir};
use chatos_store::{SecretKind, SecretValue, Store, StoreError, now_ms};
use chatos_tool::Redactor;
use chatos_wire::event::{ChangedId, HostEvent};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::auth::StoredOauth;
use crate::parts::ServersParts;

/// A host that stops waits this long for renewals: a token that was given and is not kept signs the person out.
const LAST_RENEWAL: Duration = Duration::from_secs(20);

/// Everything about the sign-in of one server that outlives a process.
pub(crate) struct SignInKept {
    grants: Arc<KeptGrant>,
    pub(super) remote: Remote,
    pub(super) oauth: StoredOauth,
}

impl SignInKept {
    pub(crate) fn new(
        parts: &ServersParts,
        identity: &str,
        name: &str,
        url: &str,
        remote: Remote,
        oauth: &StoredOauth,
    ) -> Self {
        let grants = KeptGrant {
            store: parts.store.clone(),
            dir: parts.dir.clone(),
            key: parts.auth_key(),
            redactor: Arc::clone(&parts.redactor),
            events: parts.events.clone(),
            identity: identity.to_owned(),
            name: name.to_owned(),
            url: url.to_owned(),
        };
        Self { grants: Arc::new(grants), remote, oauth: oauth.clone() }
    }

    /// What the connection takes the grant from and gives a renewed one to.
    pub(crate) fn grants(&self) -> Arc<dyn Grants> {
        Arc::clone(&self.grants) as Arc<dyn Grants>
    }

    /// What was given, to be told about; it does not count as used. Blocks.
    pub(crate) fn grant(&self) -> Option<Grant> {
        self.grants.look()
    }

    /// When the sign-in that is under way ends. Blocks.
    pub(crate) fn pending_until(&self) -> Option<i64> {
        let until = self.grants.under_way().ok()??.expires_at;
        (until > now_ms()).then_some(until)
    }

    /// A sign-in is written down that nobody can finish any more. Blocks.
    pub(crate) fn is_over(&self) -> bool {
        let name = SecretKind::SignIn.name_for(&self.grants.identity);
        let written = self.grants.store.look_at_secret(&self.grants.key, &name);
        !matches!(written, Ok(None)) && self.pending_until().is_none()
    }

    /// Keeps a sign-in that was begun; it takes the place of an earlier one. Blocks.
    pub(crate) fn begin(&self, redirect: &str, expires_at: i64, pending: Pending) -> Result<(), String> {
        let url = self.grants.url.clone();
        let begun = UnderWay { url, redirect: redirect.to_owned(), expires_at, pending };
        for secret in begun.pending.secrets() {
            self.grants.redactor.learn(secret);
        }
        self.grants.put(SecretKind::SignIn, &begun)
    }

    /// Takes the sign-in that is under way, when it has this state. Exactly one caller gets it. Blocks.
    pub(crate) fn take(&self, state: &str) -> Option<UnderWay> {
        let under_way = self.grants.under_way().ok()??;
        if !same(under_way.pending.state(), state) {
            return None;
        }
        // Whoever removes it has it; a second redirect with the same state finds nothing.
        let taken = self.grants.remove(SecretKind::SignIn).unwrap_or(false);
        (taken && under_way.expires_at > now_ms()).then_some(under_way)
    }

    /// A renewal is on its way, here or in another process. Blocks.
    pub(crate) fn is_renewing(&self) -> bool {
        // Who never renewed has no file, and this one makes none.
        let place = self.grants.turns();
        place.exists() && matches!(FileLock::try_exclusive(&place), Err(LockError::Held { .. }))
    }

    /// Drops the sign-in that is under way. Blocks.
    pub(crate) fn abandon(&self) -> Result<bool, String> {
        self.grants.remove(SecretKind::SignIn).map_err(|error| error.message)
    }
}

/// A sign-in between its begin and the browser's return.
#[derive(Serialize, Deserialize)]
pub(crate) struct UnderWay {
    /// The address of the server then.
    url: String,
    /// Where the browser comes back to.
    redirect: String,
    expires_at: i64,
    pub(super) pending: Pending,
}

/// A grant with the address it is for.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptFor {
    pub(super) url: String,
    pub(super) grant: Grant,
}

/// The address alone, of either.
#[derive(Deserialize)]
pub(crate) struct Place {
    pub(super) url: String,
}

/// The grant of one server in the store of secrets.
struct KeptGrant {
    store: Store,
    dir: StateDir,
    key: SubKey,
    redactor: Arc<Redactor>,
    events: Events,
    identity: String,
    name: String,
    url: String,
}

impl fmt::Debug for KeptGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptGrant").field("server", &self.identity).finish_non_exhaustive()
    }
}

impl KeptGrant {
    fn look(&self) -> Option<Grant> {
        let name = SecretKind::Grant.name_for(&self.identity);
        self.own(self.store.look_at_secret(&self.key, &name))
    }

    /// The grant in a secret, when it was given for the server as it is now: a changed address never gets
    /// what another one was given.
    fn own(&self, secret: Result<Option<SecretValue>, StoreError>) -> Option<Grant> {
        let kept: KeptFor = match secret {
            Ok(secret) => self.read(&secret?)?,
            Err(error) => {
                tracing::warn!(%error, server = self.identity, "a sign-in cannot be opened");
                return None;
            }
        };
        for secret in kept.grant.secrets() {
            self.redactor.learn(secret);
        }
        (kept.url == self.url).then_some(kept.grant)
    }

    fn under_way(&self) -> Result<Option<UnderWay>, StoreError> {
        let name = SecretKind::SignIn.name_for(&self.identity);
        let secret = self.store.look_at_secret(&self.key, &name)?;
        let read = secret.and_then(|secret| self.read::<UnderWay>(&secret));
        Ok(read.filter(|under_way| under_way.url == self.url))
    }

    fn read<T: DeserializeOwned>(&self, secret: &SecretValue) -> Option<T> {
        let read = serde_json::from_str(secret.expose());
        // The reason may quote the text, which is a secret.
        if read.is_err() {
            tracing::warn!(server = self.identity, "a kept sign-in cannot be read");
        }
        read.ok()
    }

    fn put(&self, kind: SecretKind, value: &impl Serialize) -> Result<(), String> {
        let text = serde_json::to_string(value).map_err(|_| "it cannot be written".to_owned())?;
        let text = Zeroizing::new(text);
        let name = kind.name_for(&self.identity);
        let set = || self.store.set_secret(&self.key, &name, text.as_bytes(), Some(self.name.clone()));
        // Another process may have made the row at the same moment; then there is one to write to.
        let kept = set().or_else(|_| set()).map(drop).map_err(|error| error.message);
        self.told();
        kept
    }

    fn remove(&self, kind: SecretKind) -> Result<bool, StoreError> {
        let gone = self.store.remove_secret(&kind.name_for(&self.identity))?;
        if gone {
            self.told();
        }
        Ok(gone)
    }

    /// The lock whose holder may renew. Its name says nothing about the server.
    fn turns(&self) -> PathBuf {
        let digest = Sha256::digest(self.identity.as_bytes());
        let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        self.dir.sign_in_locks().join(format!("{name}.lock"))
    }

    fn told(&self) {
        let id = self.identity.strip_prefix("admin:").unwrap_or(&self.identity);
        self.events.publish(HostEvent::ServerChanged(ChangedId { id: id.to_owned() }));
    }
}

impl Grants for KeptGrant {
    fn load(&self) -> Option<Grant> {
        self.own(self.store.use_secret(&self.key, &SecretKind::Grant.name_for(&self.identity)))
    }

    fn save(&self, grant: Option<&Grant>) -> Result<(), String> {
        let Some(grant) = grant else {
            return self.remove(SecretKind::Grant).map(drop).map_err(|error| error.message);
        };
        for secret in grant.secrets() {
            self.redactor.learn(secret);
        }
        self.put(SecretKind::Grant, &KeptFor { url: self.url.clone(), grant: grant.clone() })
    }

    fn replace(&self, before: &Grant, grant: Option<&Grant>) -> Result<bool, String> {
        let text = match grant {
            Some(grant) => {
                for secret in grant.secrets() {
                    self.redactor.learn(secret);
                }
                let kept = KeptFor { url: self.url.clone(), grant: grant.clone() };
                let text = serde_json::to_string(&kept).map_err(|_| "it cannot be written".to_owned())?;
                Some(Zeroizing::new(text))
            }
            None => None,
        };
        let is_expected = |found: &str| {
            serde_json::from_str(found)
                .is_ok_and(|kept: KeptFor| kept.url == self.url && kept.grant == *before)
        };
        let name = SecretKind::Grant.name_for(&self.identity);
        let value = text.as_ref().map(|text| text.as_bytes());
        let swapped = self.store.swap_secret(&self.key, &name, is_expected, value);
        self.told();
        swapped.map_err(|error| error.message)
    }

    fn turn(&self) -> Result<Option<Turn>, String> {
        let folder = self.dir.ensure(self.dir.sign_in_locks());
        folder.map_err(|error| error.to_string())?;
        match FileLock::try_exclusive(&self.turns()) {
            Ok(held) => Ok(Some(Turn::new(held))),
            Err(LockError::Held { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Compares over the whole length, whatever differs.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |seen, (a, b)| seen | (a ^ b)) == 0
}

/// Waits until nobody renews any more.
pub(crate) async fn settled(all: Vec<Arc<SignInKept>>) {
    let begun = std::time::Instant::now();
    loop {
        let looked = all.clone();
        match chatos_blocking::run(move || looked.iter().any(|kept| kept.is_renewing())).await {
            Ok(true) if begun.elapsed() < LAST_RENEWAL => tokio::time::sleep(Duration::from_millis(20)).await,
            Ok(true) => return tracing::warn!("a sign-in is being renewed while the host stops"),
            Ok(false) | Err(_) => return,
        }
    }
}
