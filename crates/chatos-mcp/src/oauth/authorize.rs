//! The way over the browser: the address it opens, and the check of what it brings back.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::discovery::{Resource, Server, canonical};
use super::error::{SignInError, quote};
use super::form;
use super::grant::{Grant, Registration, Secret, Tokens, now};
use super::options::SignInOptions;
use super::token::Exchange;
use crate::endpoint::Remote;

/// A sign-in that nobody finished in this time is over.
const LIFE_MS: u64 = 10 * 60 * 1_000;
/// Longest code.
const CODE_BYTES: usize = 4_096;

/// A sign-in between its beginning and the browser's return. It can be written down, as a secret, and
/// finished by a later process; it is good for one attempt.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    url: String,
    state: Secret,
    verifier: Secret,
    pub(super) grant: Registration,
    asked: Vec<String>,
    /// The server it was begun for; the answer of one is never taken for another.
    server: String,
    /// The issuer said that its answers carry its name (RFC 9207).
    names_itself: bool,
    /// Where else the server lets one sign in.
    #[serde(default)]
    offered: Vec<String>,
    begun_at: u64,
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("issuer", &self.grant.issuer).finish_non_exhaustive()
    }
}

/// What the authorization server says by the browser.
pub(super) enum Answer {
    Code(Secret),
    /// One of the protocol's words; its sentence is left out, because anybody can write into a query.
    Error {
        error: String,
    },
}

/// The beginning of a sign-in.
pub(super) fn pending(
    remote: &Remote,
    options: &SignInOptions,
    resource: Resource,
    server: Server,
    mut registration: Registration,
    scopes: Vec<String>,
) -> Result<Pending, SignInError> {
    let offered = resource.offered().to_vec();
    registration.resource = resource.resource;
    let (state, verifier) = (random()?, random()?);
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let scope = scopes.join(" ");
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", &registration.client_id),
        ("redirect_uri", &options.redirect_uri),
        ("state", &state),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("resource", &registration.resource),
    ];
    if !scope.is_empty() {
        pairs.push(("scope", &scope));
    }
    if scopes.iter().any(|scope| scope == "offline_access") {
        // Without it OpenID providers leave the refresh token out (OpenID Connect Core §11).
        pairs.push(("prompt", "consent"));
    }
    let address = server.authorization_endpoint.to_string();
    let join = if server.authorization_endpoint.query().is_some() { '&' } else { '?' };
    Ok(Pending {
        url: format!("{address}{join}{}", form::encode(pairs)),
        state: Secret::new(state),
        verifier: Secret::new(verifier),
        grant: registration,
        asked: scopes,
        server: canonical(&remote.uri),
        names_itself: server.names_itself,
        offered,
        begun_at: now(),
    })
}

impl Pending {
    /// What the browser has to open.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The word the browser brings back; by it the host finds this sign-in again. Unguessable.
    pub fn state(&self) -> &str {
        self.state.expose()
    }

    /// Every text in it that no log may show.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        [&self.state, &self.verifier].into_iter().map(Secret::expose).chain(self.grant.secrets())
    }

    /// Where the person signs in.
    pub fn issuer(&self) -> &str {
        &self.grant.issuer
    }

    /// All issuers the server names.
    pub fn offered(&self) -> &[String] {
        &self.offered
    }

    /// What is asked for.
    pub fn scopes(&self) -> &[String] {
        &self.asked
    }

    /// The server it is for, as that names itself.
    pub fn resource(&self) -> &str {
        &self.grant.resource
    }

    /// When it is over, in milliseconds since 1970.
    pub fn expires_at(&self) -> u64 {
        self.begun_at.saturating_add(LIFE_MS)
    }

    /// Reads what the browser came back with.
    pub(super) fn answer(&self, remote: &Remote, query: &str) -> Result<Answer, SignInError> {
        if self.server != canonical(&remote.uri) {
            return Err(SignInError::OtherState);
        }
        let pairs = form::decode(query)?;
        let one = |name: &str| {
            let mut found = pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
            let first = found.next();
            match found.next() {
                // Who reads the first and who reads the last would see different answers.
                Some(_) => Err(SignInError::Answer { detail: "a part of it is there twice" }),
                None => Ok(first),
            }
        };
        let state = one("state")?.unwrap_or_default();
        if !same(state.as_bytes(), self.state.expose().as_bytes()) {
            return Err(SignInError::OtherState);
        }
        // A clock that was set back must not make it last for ever.
        if now() > self.expires_at() || now().saturating_add(LIFE_MS) < self.begun_at {
            return Err(SignInError::TooLate);
        }
        // Also refusals carry the name, and it is compared as text (RFC 9207 §2.4).
        match one("iss")? {
            Some(found) if found == self.grant.issuer => {}
            None if !self.names_itself => {}
            found => {
                let (expected, found) = (quote(&self.grant.issuer), found.map(quote));
                return Err(SignInError::OtherIssuer { expected, found });
            }
        }
        if let Some(error) = one("error")? {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let error = if error.len() <= 64 && error.chars().all(word) { error } else { "error" };
            return Ok(Answer::Error { error: error.to_owned() });
        }
        match one("code")? {
            Some(code) if !code.is_empty() && code.len() <= CODE_BYTES => Ok(Answer::Code(Secret::new(code))),
            _ => Err(SignInError::Answer { detail: "it holds no code" }),
        }
    }

    pub(super) fn exchange<'a>(&'a self, code: &'a Secret) -> Exchange<'a> {
        Exchange::Code { code, verifier: &self.verifier, asked: &self.asked }
    }

    pub(super) fn granted(self, tokens: Tokens) -> Grant {
        Grant { registration: self.grant, tokens, asked: self.asked }
    }
}

/// 256 bits as 43 characters, good as a state and as a verifier (RFC 7636 §4.1).
fn random() -> Result<String, SignInError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| SignInError::Internal { detail: error.to_string() })?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Compares without saying by its time where the difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
