//! What a sign-in leaves behind: the client we are at one issuer, and its tokens.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value nobody may read in a log. It is written out only for the encrypted store of the host.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the one request that needs it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

/// How the client shows at the token endpoint that it is the one it says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Method {
    /// By nothing but its id.
    #[serde(rename = "none")]
    None,
    /// By a header.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// In the form.
    #[serde(rename = "client_secret_post")]
    Post,
}

/// Where the client's id is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// A person registered it.
    Person,
    /// It is the address of a document.
    Document,
    /// The authorization server gave it to us when we asked.
    Dynamic,
}

/// Who we are at one issuer, and where it is asked for tokens. The issuer is part of it, so that no
/// part of it can go to another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Registration {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<Secret>,
    /// When the secret ends, in milliseconds since 1970.
    pub(crate) secret_expires_at: Option<u64>,
    pub(crate) method: Method,
    pub(crate) origin: Origin,
    pub(crate) redirect_uri: String,
    pub(crate) token_endpoint: String,
    pub(crate) revocation_endpoint: Option<String>,
    /// What the tokens are for: the server, as it names itself.
    pub(crate) resource: String,
}

impl Registration {
    /// Every text in it that no log may show.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.client_secret.iter().map(Secret::expose)
    }
}

/// Tokens as the authorization server gave them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    /// In milliseconds since 1970.
    pub(crate) expires_at: Option<u64>,
    /// When they came.
    pub(crate) obtained_at: u64,
    /// Empty when the server did not say and none were asked for.
    pub(crate) scopes: Vec<String>,
}

/// A person's sign-in at one issuer for one server. Kept as a secret; `Debug` shows no token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    pub(crate) registration: Registration,
    pub(crate) tokens: Tokens,
    /// What was asked for, which may be more than was given.
    pub(crate) asked: Vec<String>,
}

impl Grant {
    /// Who gave it.
    pub fn issuer(&self) -> &str {
        &self.registration.issuer
    }

    /// The client's id there.
    pub fn client_id(&self) -> &str {
        &self.registration.client_id
    }

    /// The server it is for, as that names itself.
    pub fn resource(&self) -> &str {
        &self.registration.resource
    }

    /// What it permits.
    pub fn scopes(&self) -> &[String] {
        &self.tokens.scopes
    }

    /// When the access token ends, in milliseconds since 1970; `None` when the issuer did not say.
    pub fn expires_at(&self) -> Option<u64> {
        self.tokens.expires_at
    }

    /// Every text in it that no log may show.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let own = [Some(&self.tokens.access), self.tokens.refresh.as_ref()];
        own.into_iter().flatten().map(Secret::expose).chain(self.registration.secrets())
    }

    /// Whether it is renewed without the person.
    pub fn can_refresh(&self) -> bool {
        self.tokens.refresh.is_some()
    }
}

/// The right to renew a grant: whoever has it is the only one, in all processes. Given back when dropped.
pub struct Turn {
    _held: Option<Box<dyn Send>>,
}

impl Turn {
    /// A turn that lasts as long as this does, such as a lock.
    pub fn new(held: impl Send + 'static) -> Self {
        Self { _held: Some(Box::new(held)) }
    }

    /// The turn where nobody else can have one.
    pub fn free() -> Self {
        Self { _held: None }
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn")
    }
}

/// Where the grant of one server is kept. Two processes may share it.
pub trait Grants: Send + Sync + fmt::Debug {
    /// What is kept now. Asked at connecting, and again before a renewal: another process may have been
    /// quicker.
    fn load(&self) -> Option<Grant>;

    /// Keeps a grant, or forgets it, whatever was there.
    fn save(&self, grant: Option<&Grant>) -> Result<(), String>;

    /// Puts a renewed grant, or none, in the place of `before`. `false`: that is not there any more,
    /// because somebody signed in or out meanwhile, and what they did stays.
    fn replace(&self, before: &Grant, grant: Option<&Grant>) -> Result<bool, String>;

    /// The turn to renew, or `None` while another has it. Who shares the store with another process must
    /// give one turn at a time to all of them: an issuer that gives a new refresh token with every
    /// renewal takes a second use of the old one for theft (RFC 9700 §4.14).
    fn turn(&self) -> Result<Option<Turn>, String>;
}

/// Now, in milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis().try_into().unwrap_or(u64::MAX))
}
