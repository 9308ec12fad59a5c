//! Credentials of servers inside their sealed column: headers of remote ones, variables of programs.

use chatos_keys::SubKey;
use chatos_manifest::{Auth, BasicAuth, Secret};
use chatos_store::{StoreError, StoreErrorKind};
use serde::{Deserialize, Serialize};

use crate::parts::ServersParts;

/// What is sealed. It has no `Debug`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredAuth {
    #[serde(default)]
    pub(crate) token: Option<String>,
    #[serde(default)]
    pub(crate) username: Option<String>,
    #[serde(default)]
    pub(crate) password: Option<String>,
    #[serde(default)]
    pub(crate) headers: Vec<(String, String)>,
    /// Variables of a program; many servers take their keys there.
    #[serde(default)]
    pub(crate) env: Vec<(String, String)>,
    /// How a person signs in, where the server does not say all of it itself.
    #[serde(default)]
    pub(crate) oauth: StoredOauth,
}

/// What a person says about signing in to a server.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredOauth {
    /// Of a registration made beforehand.
    #[serde(default)]
    pub(crate) client_id: Option<String>,
    #[serde(default)]
    pub(crate) client_secret: Option<String>,
    /// Asked for instead of what the server asks for.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
}

impl StoredAuth {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// It says by itself who we are; then nobody has to sign in.
    pub(crate) fn authorizes(&self) -> bool {
        let header = |(name, _): &(String, String)| name.trim().eq_ignore_ascii_case("authorization");
        self.token.is_some() || self.username.is_some() || self.headers.iter().any(header)
    }

    /// As the client sends it.
    pub(crate) fn for_client(&self) -> chatos_mcp::Auth {
        chatos_mcp::Auth {
            token: self.token.clone(),
            basic: self.username.clone().map(|user| (user, self.password.clone().unwrap_or_default())),
            headers: self.headers.clone(),
        }
    }

    /// Every text in it that no log may show.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.token, &self.password, &self.oauth.client_secret].into_iter().flatten();
        texts
            .chain(self.headers.iter().map(|(_, value)| value))
            .chain(self.env.iter().map(|(_, value)| value))
            .map(String::as_str)
    }
}

impl ServersParts {
    pub(crate) fn auth_key(&self) -> SubKey {
        self.key.sub_key("secrets")
    }

    /// state §6: a sealed value cannot be moved to another row.
    pub(crate) fn auth_place(&self, row: &str) -> String {
        let instance = self.store.instance_id().unwrap_or_default();
        format!("{instance}|mcp_servers|{row}|auth")
    }

    /// Seals the credentials of a row; nothing to keep is nothing.
    pub(crate) fn seal_auth(&self, row: &str, auth: &StoredAuth) -> Result<Option<String>, StoreError> {
        if auth.is_empty() {
            return Ok(None);
        }
        let failed = |error: &dyn std::error::Error| {
            StoreError::new(StoreErrorKind::Internal, format!("credentials cannot be sealed: {error}"))
        };
        let bytes = zeroize::Zeroizing::new(serde_json::to_vec(auth).map_err(|error| failed(&error))?);
        self.auth_key().seal(&self.auth_place(row), &bytes).map(Some).map_err(|error| failed(&error))
    }

    /// Opens the credentials of a row. `Err`: they were sealed with another key.
    pub(crate) fn open_auth(&self, row: &str, sealed: Option<&str>) -> Result<StoredAuth, String> {
        let Some(sealed) = sealed else { return Ok(StoredAuth::default()) };
        let bytes = self.auth_key().open(&self.auth_place(row), sealed).map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|_| "they cannot be read".to_owned())
    }
}

impl From<&Auth> for StoredAuth {
    fn from(auth: &Auth) -> Self {
        Self {
            token: auth.token.as_ref().map(|token| token.expose().to_owned()),
            username: auth.basic.as_ref().map(|basic| basic.username.clone()),
            password: auth
                .basic
                .as_ref()
                .and_then(|basic| Some(basic.password.as_ref()?.expose().to_owned())),
            headers: auth
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                .collect(),
            env: Vec::new(),
            oauth: StoredOauth::default(),
        }
    }
}

impl From<StoredAuth> for Auth {
    fn from(stored: StoredAuth) -> Self {
        Self {
            token: stored.token.map(Secret::new),
            basic: stored
                .username
                .map(|username| BasicAuth { username, password: stored.password.map(Secret::new) }),
            headers: stored.headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
        }
    }
}
