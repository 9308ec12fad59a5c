//! Uses the grant of one server and renews it: a little before it ends, and once after a refusal.
//!
//! One renewal at a time, in all processes that share the grant; whoever needs the token meanwhile waits
//! for it. A renewal runs to its end in a task of its own, because a refresh token that was used up and
//! whose successor is not kept is lost.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::header::HeaderValue;
use tokio::sync::Mutex;

use super::challenge::Challenge;
use super::discovery;
use super::error::{Document, SignInError};
use super::fetch::{self, Web};
use super::grant::{Grant, Grants, Secret, Turn, now};
use super::token::{self, Exchange};
use crate::endpoint::Remote;
use crate::failure::Failure;
use crate::net::Origin;

/// Renewed this long before the end, or in the last tenth of a short life.
const EARLY_MS: u64 = 60_000;
/// How long another one's renewal is waited for; all its steps together are bounded by less.
const PATIENCE: Duration = Duration::from_secs(45);
/// How often the turn is asked for meanwhile.
const AGAIN: Duration = Duration::from_millis(20);

/// The grant of one server.
pub(crate) struct Keeper {
    store: Arc<dyn Grants>,
    known: Mutex<Known>,
}

enum Known {
    /// Nobody looked since the last connection began.
    Unread,
    Read(Option<Box<Grant>>),
}

/// A token as it is sent.
#[derive(Clone)]
pub(crate) struct Bearer {
    pub(crate) header: HeaderValue,
    token: Secret,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Keeper {
    pub(crate) fn new(store: Arc<dyn Grants>) -> Self {
        Self { store, known: Mutex::new(Known::Unread) }
    }

    /// A connection begins: somebody may have signed in or out since the last one.
    pub(crate) async fn reread(&self) {
        *self.known.lock().await = Known::Unread;
    }

    /// What to send now, if somebody signed in. Renewed first when it is about to end.
    pub(crate) async fn bearer(self: &Arc<Self>, remote: &Remote) -> Result<Option<Bearer>, Failure> {
        // A token in the open is everybody's.
        if !Origin::of(&remote.uri).is_some_and(|origin| fetch::is_safe(&origin)) {
            return Ok(None);
        }
        {
            let mut known = self.known.lock().await;
            if matches!(*known, Known::Unread) {
                *known = Known::Read(self.load(remote).await?.map(Box::new));
            }
            let Known::Read(grant) = &*known else { return Ok(None) };
            let Some(grant) = grant else { return Ok(None) };
            if !(is_ending(grant) && grant.can_refresh()) {
                return bearer(grant).map(Some);
            }
        }
        self.renewed(remote, None, None).await
    }

    /// The server refused `used`. Another token when there is one: renewed here, or by another process.
    pub(crate) async fn after_refusal(
        self: &Arc<Self>,
        remote: &Remote,
        used: &Bearer,
        challenge: Option<Challenge>,
    ) -> Result<Option<Bearer>, Failure> {
        self.renewed(remote, Some(used.token.clone()), challenge).await
    }

    async fn renewed(
        self: &Arc<Self>,
        remote: &Remote,
        refused: Option<Secret>,
        challenge: Option<Challenge>,
    ) -> Result<Option<Bearer>, Failure> {
        let (keeper, remote) = (Arc::clone(self), remote.clone());
        let renewal = tokio::spawn(async move { keeper.renew(&remote, refused, challenge).await });
        renewal.await.unwrap_or_else(|error| Err(Failure::Closed { reason: error.to_string() }))
    }

    async fn renew(
        &self,
        remote: &Remote,
        refused: Option<Secret>,
        challenge: Option<Challenge>,
    ) -> Result<Option<Bearer>, Failure> {
        let mut known = self.known.lock().await;
        let Some(turn) = self.turn().await? else { return without_turn(&known, refused.is_some()) };
        // Read only now: whoever had the turn before may have renewed it.
        let stored = self.load(remote).await?;
        let held = match std::mem::replace(&mut *known, Known::Unread) {
            // What could not be written down is newer than what was.
            Known::Read(held) => newer(held.map(|held| *held), stored.clone()),
            Known::Unread => stored.clone(),
        };
        *known = Known::Read(held.clone().map(Box::new));
        let (Some(grant), Some(stored)) = (held, stored) else { return Ok(None) };
        let is_good = match &refused {
            Some(refused) => grant.tokens.access != *refused,
            None => !is_ending(&grant),
        };
        if is_good {
            return bearer(&grant).map(Some);
        }
        let Some(token) = &grant.tokens.refresh else { return Ok(None) };
        let web = Web::of(remote).await.map_err(failure)?;
        if refused.is_some() && !still_named(web, remote, &grant, challenge.as_ref()).await {
            return Ok(None);
        }
        let exchange = Exchange::Refresh { token, before: &grant.tokens };
        let next = match token::request(web, &grant.registration, exchange, Document::Token).await {
            Ok(tokens) => Some(Grant { tokens, ..grant.clone() }),
            Err(SignInError::Refused { .. }) => None,
            // The token may still be good for a moment; the next request tries again.
            Err(_) if refused.is_none() && !has_ended(&grant) => return bearer(&grant).map(Some),
            Err(error) => return Err(failure(error)),
        };
        // Kept before it is used: the old refresh token may be worth nothing by now.
        let is_kept = self.replace(&stored, next.clone()).await;
        drop(turn);
        let after = if is_kept { next } else { self.overtaken(web, remote, next).await? };
        *known = Known::Read(after.clone().map(Box::new));
        after.as_ref().map(bearer).transpose()
    }

    /// Somebody signed in or out during the renewal; that is not undone. What was renewed for nothing is
    /// ended where it was given.
    async fn overtaken(
        &self,
        web: Web,
        remote: &Remote,
        renewed: Option<Grant>,
    ) -> Result<Option<Grant>, Failure> {
        if let Some(renewed) = renewed {
            // Nobody waits for it.
            tokio::spawn(async move {
                if let Err(error) = token::revoke(web, &renewed).await {
                    tracing::info!(code = error.domain_code(), "the end of a sign-in is not confirmed");
                }
            });
        }
        self.load(remote).await
    }

    /// Waits for the turn to renew. `None`: another one has had it for too long.
    async fn turn(&self) -> Result<Option<Turn>, Failure> {
        let begun = Instant::now();
        loop {
            let store = Arc::clone(&self.store);
            match chatos_blocking::run(move || store.turn()).await {
                Ok(Ok(Some(turn))) => return Ok(Some(turn)),
                Ok(Ok(None)) if begun.elapsed() < PATIENCE => tokio::time::sleep(AGAIN).await,
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(error)) => {
                    // A renewal that might be one too many is better than a sign-in that surely ends.
                    tracing::warn!(%error, "whether another process renews a sign-in cannot be known");
                    return Ok(Some(Turn::free()));
                }
                Err(error) => return Err(Failure::Closed { reason: error.to_string() }),
            }
        }
    }

    /// What is kept, if it is for this server: its address may have been changed since.
    async fn load(&self, remote: &Remote) -> Result<Option<Grant>, Failure> {
        let store = Arc::clone(&self.store);
        let loaded = chatos_blocking::run(move || store.load()).await;
        let loaded = loaded.map_err(|error| Failure::Closed { reason: error.to_string() })?;
        Ok(loaded.filter(|grant| discovery::is_about(grant.resource(), &remote.uri)))
    }

    /// Keeps what came of a renewal. `false`: somebody signed in or out meanwhile.
    async fn replace(&self, before: &Grant, grant: Option<Grant>) -> bool {
        let (store, before) = (Arc::clone(&self.store), before.clone());
        let kept = chatos_blocking::run(move || store.replace(&before, grant.as_ref())).await;
        match kept {
            Ok(Ok(kept)) => kept,
            Ok(Err(error)) => {
                tracing::warn!(%error, "a renewed sign-in is not kept");
                true
            }
            Err(error) => {
                tracing::warn!(%error, "a renewed sign-in is not kept");
                true
            }
        }
    }
}

/// Another one renews and does not come to an end: the token is used while it is good.
fn without_turn(known: &Known, is_refused: bool) -> Result<Option<Bearer>, Failure> {
    match known {
        Known::Read(Some(grant)) if !is_refused && !has_ended(grant) => bearer(grant).map(Some),
        _ => Err(Failure::Closed {
            reason: format!(
                "another process renews its sign-in and did not finish within {} s",
                PATIENCE.as_secs()
            ),
        }),
    }
}

/// A grant in memory is given up for the stored one unless it came later.
fn newer(held: Option<Grant>, stored: Option<Grant>) -> Option<Grant> {
    match (held, stored) {
        (Some(held), Some(stored)) if held.tokens.obtained_at > stored.tokens.obtained_at => Some(held),
        (_, stored) => stored,
    }
}

/// Whether the server still names the issuer of a grant it refused. When it cannot be asked, the grant
/// goes to the issuer that gave it, which is where it is from.
async fn still_named(web: Web, remote: &Remote, grant: &Grant, challenge: Option<&Challenge>) -> bool {
    match discovery::resource(web, remote, challenge).await {
        Ok(resource) => resource.names(grant.issuer()),
        Err(_) => true,
    }
}

fn is_ending(grant: &Grant) -> bool {
    let Some(end) = grant.tokens.expires_at else { return false };
    let life = end.saturating_sub(grant.tokens.obtained_at);
    now() >= end.saturating_sub(EARLY_MS.min(life / 10))
}

fn has_ended(grant: &Grant) -> bool {
    grant.tokens.expires_at.is_some_and(|end| now() >= end)
}

fn bearer(grant: &Grant) -> Result<Bearer, Failure> {
    let token = grant.tokens.access.clone();
    let bad = |_| Failure::Protocol { detail: "its token cannot be sent".to_owned() };
    let mut header = HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(bad)?;
    header.set_sensitive(true);
    Ok(Bearer { header, token })
}

/// A renewal that failed for now, in the words of connections.
fn failure(error: SignInError) -> Failure {
    match error {
        SignInError::Net { failure, .. } => failure,
        other => Failure::Protocol { detail: other.to_string() },
    }
}
