//! Signing in to servers that want a person for it: begun by a person, finished by their browser, ended by
//! a person. A connection by itself never opens a browser and never begins one.

mod kept;
mod leaving;
mod question;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chatos_mcp::{
    Challenge, Failure, Grant, Phase, Remote, Secret, ServerStatus, SignInError, SignInOptions,
    begin_sign_in, finish_sign_in, revoke_grant,
};
use chatos_store::{SecretKind, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::event::{ChangedId, HostEvent};
use chatos_wire::server::{ServerFailure, SignInStart, SignInView, SignedOut};
use serde_json::{Map, json};

pub(crate) use kept::{SignInKept, settled};
pub use leaving::Leaving;
pub(crate) use leaving::tidy;
pub use question::{PREFIX as SIGN_IN_PREFIX, SIGN_IN, pending};

use crate::catalogue::ServerRecord;
use crate::memory::{Refused, SignInProblem};
use crate::offer::usable;
use crate::pins::failed;
use crate::servers::{Inner, Servers};

/// Where browsers come back to, below the address of the host; the redirect address of every registration
/// ends in it.
pub const RETURN_PATH: &str = "/oauth/callback";
/// The setting with the address of a document about us.
const CLIENT_DOCUMENT: &str = "mcpClientMetadataUrl";
/// A person may take this long from the button to the redirect.
const PATIENCE_MS: i64 = 10 * 60 * 1_000;
/// A server is told that it is signed out for this long, whether it answers or not.
const REVOKE: Duration = Duration::from_secs(15);

/// What came of a browser's return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    /// The person is signed in.
    SignedIn,
    /// Nobody waits for this sign-in, or not any more.
    Unknown,
    /// The person, or the place of the sign-in, said no.
    Denied,
    /// It failed; the server's page says why.
    Failed,
}

impl Servers {
    /// Begins a sign-in; `redirect` is where the browser comes back to, `issuer` the place of the sign-in
    /// where the server names several.
    pub async fn begin_sign_in(
        &self,
        id: &str,
        redirect: &str,
        issuer: Option<String>,
    ) -> Result<SignInStart, Fault> {
        let (known, kept) = self.signing(id).await?;
        usable(&known)?;
        let inner = self.inner();
        inner.refused().remove(known.identity().as_str());
        let challenge = known.key().and_then(|key| inner.pool.status(key)).and_then(|status| asked(&status));
        let before = {
            let kept = Arc::clone(&kept);
            blocking(move || kept.grant()).await?
        };
        let options = SignInOptions {
            issuer,
            client_metadata_url: self.client_document()?,
            ..options(&kept, redirect)
        };
        let begun = begin_sign_in(&kept.remote, &options, challenge.as_ref(), before.as_ref()).await;
        let pending = match begun {
            Ok(pending) => pending,
            Err(error) => {
                inner.refuse(&known, &error);
                return Err(error.fault(known.name()));
            }
        };
        let expires_at = now_ms() + PATIENCE_MS;
        let start = SignInStart {
            url: pending.url().to_owned(),
            issuer: pending.issuer().to_owned(),
            issuers: pending.offered().to_vec(),
            host: host_of(pending.url()),
            scopes: pending.scopes().to_vec(),
            expires_at: iso_from_ms(expires_at),
        };
        let redirect = redirect.to_owned();
        blocking(move || kept.begin(&redirect, expires_at, pending))
            .await?
            .map_err(|reason| unkept(&reason))?;
        self.record("server_sign_in_begun", &known, &start.issuer, &start.scopes);
        Ok(start)
    }

    /// A browser came back with this query. Nothing happens without the state of a sign-in that waits.
    pub async fn finish_sign_in(&self, query: &str) -> Returned {
        let Some(state) = state_of(query) else { return Returned::Unknown };
        let Ok(catalogue) = self.inner().catalogue().await else { return Returned::Failed };
        let waiting: Vec<(Arc<ServerRecord>, Arc<SignInKept>)> = catalogue
            .servers
            .iter()
            .filter_map(|known| Some((Arc::clone(known), Arc::clone(known.sign_in.as_ref()?))))
            .collect();
        let taken = blocking(move || {
            waiting.into_iter().find_map(|(known, kept)| Some((kept.take(&state)?, known, kept)))
        });
        let Ok(Some((under_way, known, kept))) = taken.await else { return Returned::Unknown };
        match finish_sign_in(&kept.remote, under_way.pending, query).await {
            Ok(grant) => self.signed_in(known, kept, grant).await,
            Err(error) => {
                self.inner().refuse(&known, &error);
                self.tell(&known);
                if matches!(error, SignInError::Refused { .. }) { Returned::Denied } else { Returned::Failed }
            }
        }
    }

    async fn signed_in(&self, known: Arc<ServerRecord>, kept: Arc<SignInKept>, grant: Grant) -> Returned {
        let (issuer, scopes) = (grant.issuer().to_owned(), grant.scopes().to_vec());
        let saved = blocking(move || kept.grants().save(Some(&grant))).await;
        if !matches!(saved, Ok(Ok(()))) {
            tracing::error!(server = known.name(), "a sign-in cannot be kept");
            return Returned::Failed;
        }
        self.record("server_signed_in", &known, &issuer, &scopes);
        self.reconnect(&known);
        self.tell(&known);
        self.inner().answered_otherwise(known.identity().as_str()).await;
        Returned::SignedIn
    }

    /// Ends what a sign-in gave, where it was given and here.
    pub async fn sign_out(&self, id: &str) -> Result<SignedOut, Fault> {
        let (known, kept) = self.signing(id).await?;
        let grant = {
            let kept = Arc::clone(&kept);
            blocking(move || kept.grant()).await?
        };
        let grants = kept.grants();
        let dropping = Arc::clone(&kept);
        // Dropped here first: whatever the other side does, nothing of it is used any more.
        let dropped = blocking(move || dropping.abandon().and_then(|_| grants.save(None))).await?;
        dropped.map_err(|reason| unkept(&reason))?;
        self.inner().refused().remove(known.identity().as_str());
        self.reconnect(&known);
        let revoked = match &grant {
            Some(grant) => revoked(&kept.remote, grant).await,
            None => false,
        };
        if let Some(grant) = &grant {
            self.record("server_signed_out", &known, grant.issuer(), grant.scopes());
        }
        self.tell(&known);
        Ok(SignedOut { revoked })
    }

    /// A secret was removed by hand: what stood on it does not go on with a copy.
    pub async fn secret_removed(&self, name: &str) {
        let (SecretKind::Grant, Some((_, identity))) = (SecretKind::of(name), name.split_once(':')) else {
            return;
        };
        let Ok(catalogue) = self.inner().catalogue().await else { return };
        let known = catalogue.servers.iter().find(|known| known.identity().as_str() == identity);
        if let Some(known) = known {
            self.reconnect(known);
            self.tell(known);
        }
    }

    /// Where a document about this client is published, if a person has one. Its address is our name at
    /// every place of sign-in that reads such a thing, so that it has to be one anybody can open.
    fn client_document(&self) -> Result<Option<String>, Fault> {
        let address = self.parts().settings.text(CLIENT_DOCUMENT);
        let address = address.trim();
        let path =
            address.strip_prefix("https://").and_then(|rest| rest.split_once('/')).map(|(_, path)| path);
        match path {
            None if address.is_empty() => Ok(None),
            Some(path) if !path.is_empty() && address.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(Some(address.to_owned()))
            }
            _ => Err(bad_document(address)),
        }
    }

    async fn signing(&self, id: &str) -> Result<(Arc<ServerRecord>, Arc<SignInKept>), Fault> {
        let catalogue = self.inner().catalogue().await?;
        let known = Arc::clone(catalogue.wanted(id)?);
        let kept = known.sign_in.clone().ok_or_else(|| not_possible(&known))?;
        Ok((known, kept))
    }

    /// With what it has now; its tools are known when that succeeds.
    fn reconnect(&self, known: &Arc<ServerRecord>) {
        let Some(key) = known.key().cloned() else { return };
        self.pool().restart(&key);
        let (inner, known) = (Arc::clone(self.inner()), Arc::clone(known));
        tokio::spawn(async move {
            if let Err(error) = inner.offered(&known, &key, inner.parts.lang()).await {
                tracing::debug!(failure = %error.failure, "a server is not there after a sign-in or its end");
            }
        });
    }

    fn tell(&self, known: &ServerRecord) {
        self.parts().events.publish(HostEvent::ServerChanged(ChangedId { id: known.id.clone() }));
    }

    fn record(&self, what: &'static str, known: &ServerRecord, issuer: &str, scopes: &[String]) {
        let mut fields = Map::new();
        fields.insert("id".to_owned(), json!(known.id));
        fields.insert("name".to_owned(), json!(known.name()));
        fields.insert("issuer".to_owned(), json!(issuer));
        fields.insert("scopes".to_owned(), json!(scopes));
        self.parts().audit.note(what, fields);
    }
}

impl Inner {
    fn refused(&self) -> std::sync::MutexGuard<'_, Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, known: &ServerRecord, error: &SignInError) {
        let problem = SignInProblem { code: error.domain_code(), message: error.text(), hint: error.hint() };
        self.refused().insert(known.identity().as_str().to_owned(), (problem, now_ms()));
    }

    /// What may be told about the sign-in of a server.
    pub(crate) fn sign_in_view(&self, known: &ServerRecord, lang: Lang) -> SignInView {
        let mut view = SignInView {
            state: "none".to_owned(),
            possible: known.sign_in.is_some(),
            issuer: None,
            scopes: Vec::new(),
            wanted: Vec::new(),
            expires_at: None,
            can_refresh: false,
            client_id: None,
            error: None,
        };
        let Some(kept) = &known.sign_in else { return view };
        if let Some(grant) = kept.grant() {
            "signed_in".clone_into(&mut view.state);
            view.issuer = Some(grant.issuer().to_owned());
            view.scopes = grant.scopes().to_vec();
            view.expires_at = grant.expires_at().and_then(|end| i64::try_from(end).ok()).map(iso_from_ms);
            view.can_refresh = grant.can_refresh();
            view.client_id = Some(grant.client_id().to_owned());
        }
        let status = known.key().and_then(|key| self.pool.status(key)).filter(|_| known.enabled);
        if let Some(challenge) = status.as_ref().and_then(asked) {
            "needed".clone_into(&mut view.state);
            view.wanted = challenge.scopes();
        }
        if let Some(until) = kept.pending_until() {
            "pending".clone_into(&mut view.state);
            view.expires_at = Some(iso_from_ms(until));
        }
        let redactor = &self.parts.redactor;
        view.error = self.refused().get(known.identity().as_str()).map(|(problem, at)| ServerFailure {
            code: problem.code.to_owned(),
            message: redactor.message(problem.message.get(lang)).into_owned(),
            hint: problem.hint.as_ref().map(|hint| hint.get(lang).to_owned()),
            at: iso_from_ms(*at),
            stderr: Vec::new(),
        });
        view
    }
}

/// What a server asks a person to sign in for: at the door, or for a call that needs more rights.
fn asked(status: &ServerStatus) -> Option<Challenge> {
    if let Some(wanted) = &status.wanted {
        return Some(wanted.clone());
    }
    match (status.phase, &status.last_error.as_ref()?.failure) {
        (Phase::SignIn, Failure::SignInNeeded { challenge, .. }) => Some(Challenge::clone(challenge)),
        _ => None,
    }
}

fn options(kept: &SignInKept, redirect: &str) -> SignInOptions {
    SignInOptions {
        redirect_uri: redirect.to_owned(),
        client_name: "ChatOS".to_owned(),
        client_id: kept.oauth.client_id.clone(),
        client_secret: kept.oauth.client_secret.clone().map(Secret::new),
        scopes: Some(kept.oauth.scopes.clone()).filter(|scopes| !scopes.is_empty()),
        ..SignInOptions::default()
    }
}

async fn revoked(remote: &Remote, grant: &Grant) -> bool {
    match tokio::time::timeout(REVOKE, revoke_grant(remote, grant)).await {
        Ok(Ok(revoked)) => revoked,
        Ok(Err(error)) => {
            tracing::info!(code = error.domain_code(), "the end of a sign-in is not confirmed");
            false
        }
        Err(_) => false,
    }
}

/// The `state` of a redirect, when there is exactly one.
fn state_of(query: &str) -> Option<String> {
    let mut states = query.split('&').filter_map(|pair| pair.strip_prefix("state="));
    let state = states.next()?;
    // Ours has letters, digits, `-` and `_` only: nothing has to be decoded.
    let plain = state.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (states.next().is_none() && plain && (16..=256).contains(&state.len())).then(|| state.to_owned())
}

fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].to_owned()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    chatos_blocking::run(work).await.map_err(|error| failed(&error))
}

fn unkept(reason: &str) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("the sign-in cannot be kept: {reason}"), format!("无法保存登录：{reason}")),
    )
    .code("sign_in_unkept")
}

fn bad_document(address: &str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("the setting {CLIENT_DOCUMENT} is no address of a document: `{address}`"),
            format!("设置 {CLIENT_DOCUMENT} 不是文档的地址：`{address}`"),
        ),
    )
    .code("client_document_invalid")
    .hint(Text::fixed(
        "write an https address with a path, such as https://example.com/chatos.json, or leave it empty",
        "请填写带路径的 https 地址，例如 https://example.com/chatos.json，或留空",
    ))
}

fn not_possible(known: &ServerRecord) -> Fault {
    let name = known.name();
    let fault = Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("there is no sign-in for `{name}`"), format!("`{name}` 不支持登录")),
    )
    .code("no_sign_in");
    if known.transport == "http" && known.auth.has_value {
        return fault.hint(Text::fixed(
            "it has credentials of its own; remove them to sign in instead",
            "它已配置凭据；如要改用登录，请先移除凭据",
        ));
    }
    fault
        .hint(Text::fixed("only servers at an http(s) address take one", "只有 http(s) 地址的服务器支持登录"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_plain_state_is_looked_for() {
        let good = "state=0123456789abcdefABCDEF_-xyz";
        assert_eq!(state_of(&format!("code=a&{good}")).as_deref(), Some("0123456789abcdefABCDEF_-xyz"));
        for bad in [
            String::new(),
            "code=a".to_owned(),
            "state=".to_owned(),
            "state=short".to_owned(),
            format!("{good}&{good}"),
            "state=0123456789abcdef%20".to_owned(),
            format!("state={}", "a".repeat(300)),
            format!("x{good}"),
        ] {
            assert_eq!(state_of(&bad), None, "{bad}");
        }
    }

    #[test]
    fn the_host_of_an_address_has_its_port_and_nothing_else() {
        assert_eq!(host_of("https://login.example:8443/authorize?x=http://y/"), "login.example:8443");
        assert_eq!(host_of("https://login.example?x"), "login.example");
    }
}
