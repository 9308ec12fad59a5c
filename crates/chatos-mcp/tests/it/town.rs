//! A server with its authorization server, both real HTTP on loopback, and a person with a browser.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chatos_mcp::{
    Addresses, Auth, Challenge, Endpoint, Grant, Grants, Pending, SignInError, SignInOptions, Turn,
    begin_sign_in, finish_sign_in,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::web::{Answer, Seen, Web, json_answer, old_server, plain, serve, status};

/// What the two servers do; a test changes it while they run.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) prm: Value,
    pub(crate) metadata: Value,
    /// What `/register` answers instead of a client without a secret.
    pub(crate) client: Option<Value>,
    /// What `/token` answers instead of tokens: status, kind and body.
    pub(crate) token: Option<(u16, &'static str, String)>,
    pub(crate) expires_in: Option<Value>,
    pub(crate) valid: HashSet<String>,
    pub(crate) refresh: Option<String>,
    /// The server describes the authorization server as its own.
    pub(crate) own: bool,
    /// Calls need this scope.
    pub(crate) call_scope: Option<&'static str>,
    challenge: Option<String>,
    scope: String,
    count: usize,
}

pub(crate) struct Town {
    pub(crate) state: Arc<Mutex<State>>,
    pub(crate) issuer: Web,
    pub(crate) mcp: Web,
}

impl Town {
    pub(crate) async fn new() -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let issuer = serve(move |seen| {
            let answer = authorization_server(&mut shared.lock().unwrap(), &seen);
            async move { answer }
        });
        let issuer = issuer.await;
        let shared = Arc::clone(&state);
        let mcp = serve(move |seen| {
            let answer = resource_server(&shared.lock().unwrap(), &seen);
            async move { answer }
        });
        let mcp = mcp.await;
        {
            let mut state = state.lock().unwrap();
            state.prm = json!({ "resource": mcp.url("/mcp"), "authorization_servers": [issuer.url("")],
                "scopes_supported": ["read"] });
            state.metadata = json!({ "issuer": issuer.url(""),
                "authorization_endpoint": issuer.url("/authorize"), "token_endpoint": issuer.url("/token"),
                "registration_endpoint": issuer.url("/register"), "revocation_endpoint": issuer.url("/revoke"),
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                "authorization_response_iss_parameter_supported": true });
            state.expires_in = Some(json!(3600));
        }
        Self { state, issuer, mcp }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::remote(&self.mcp.url("/mcp"), &Auth::default(), Addresses::Private).unwrap()
    }

    pub(crate) async fn begin(&self, before: Option<&Grant>) -> Result<Pending, SignInError> {
        self.begin_with(&options(), None, before).await
    }

    pub(crate) async fn begin_with(
        &self,
        options: &SignInOptions,
        challenge: Option<&Challenge>,
        before: Option<&Grant>,
    ) -> Result<Pending, SignInError> {
        begin_sign_in(self.endpoint().as_remote().unwrap(), options, challenge, before).await
    }

    /// Signs in as a person would and brings back the query.
    pub(crate) fn browse(&self, pending: &Pending) -> String {
        let value = |name: &str| query_value(pending.url(), name);
        let mut state = self.state();
        state.challenge = value("code_challenge");
        state.scope = value("scope").unwrap_or_default();
        assert_eq!(value("code_challenge_method").as_deref(), Some("S256"));
        assert_eq!(value("resource").as_deref(), Some(pending.resource()));
        format!("code=c0de&state={}&iss={}", value("state").unwrap(), escaped(pending.issuer()))
    }

    pub(crate) async fn finish(&self, pending: Pending, query: &str) -> Result<Grant, SignInError> {
        finish_sign_in(self.endpoint().as_remote().unwrap(), pending, query).await
    }

    /// The whole way.
    pub(crate) async fn signed_in(&self) -> Grant {
        let pending = self.begin(None).await.unwrap();
        let query = self.browse(&pending);
        self.finish(pending, &query).await.unwrap()
    }

    /// Requests to the authorization server at a path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Seen> {
        self.issuer.seen().into_iter().filter(|seen| seen.path == path).collect()
    }
}

pub(crate) fn options() -> SignInOptions {
    SignInOptions {
        redirect_uri: "http://127.0.0.1:4040/oauth/callback".to_owned(),
        client_name: "ChatOS".to_owned(),
        ..SignInOptions::default()
    }
}

fn authorization_server(state: &mut State, seen: &Seen) -> Answer {
    match seen.path.as_str() {
        "/.well-known/oauth-authorization-server" => json_answer(&state.metadata),
        "/register" => match &state.client {
            Some(client) => json_answer(client),
            None => json_answer(&json!({ "client_id": "c-1", "token_endpoint_auth_method": "none" })),
        },
        "/token" => token(state, seen),
        "/revoke" => status(200),
        _ => status(404),
    }
}

fn token(state: &mut State, seen: &Seen) -> Answer {
    if let Some((code, kind, body)) = &state.token {
        return plain(*code, kind, body.clone());
    }
    let body = String::from_utf8(seen.body.clone()).unwrap();
    let value = |name: &str| query_value(&format!("?{body}"), name);
    let refused = |error: &str| plain(400, "application/json", json!({ "error": error }).to_string());
    match value("grant_type").as_deref() {
        Some("authorization_code") => {
            let verifier = value("code_verifier").unwrap_or_default();
            let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
            // A code is good once.
            if state.challenge.take().as_deref() != Some(&challenge)
                || value("code").as_deref() != Some("c0de")
            {
                return refused("invalid_grant");
            }
        }
        Some("refresh_token") => {
            // Rotated: the one before is worth nothing.
            if state.refresh.is_none() || value("refresh_token") != state.refresh {
                return refused("invalid_grant");
            }
        }
        _ => return refused("unsupported_grant_type"),
    }
    state.count += 1;
    let (access, refresh) = (format!("a-{}", state.count), format!("r-{}", state.count));
    state.valid = HashSet::from([access.clone()]);
    state.refresh = Some(refresh.clone());
    let mut answer = json!({ "access_token": access, "refresh_token": refresh, "token_type": "bearer" });
    if let Some(life) = &state.expires_in {
        answer["expires_in"] = life.clone();
    }
    if !state.scope.is_empty() {
        answer["scope"] = json!(state.scope);
    }
    json_answer(&answer)
}

fn resource_server(state: &State, seen: &Seen) -> Answer {
    if seen.path == "/.well-known/oauth-protected-resource/mcp" && state.prm.is_object() {
        return json_answer(&state.prm);
    }
    if state.own && seen.path == "/.well-known/oauth-authorization-server" {
        return json_answer(&state.metadata);
    }
    if seen.path != "/mcp" {
        return plain(404, "text/html", "<!doctype html>no");
    }
    let refuse = |status: u16, error: &str, scope: &str| {
        let mut answer = plain(status, "application/json", "{}");
        let value = format!("Bearer error=\"{error}\", scope=\"{scope}\"");
        answer.headers_mut().insert("www-authenticate", value.parse().unwrap());
        answer
    };
    let token = seen.header("authorization").unwrap_or_default();
    if !token.strip_prefix("Bearer ").is_some_and(|token| state.valid.contains(token)) {
        return refuse(401, "invalid_token", "read");
    }
    if seen.json()["method"] == "tools/call"
        && let Some(scope) = state.call_scope
        && !state.scope.split(' ').any(|given| given == scope)
    {
        return refuse(403, "insufficient_scope", scope);
    }
    if seen.method != hyper::Method::POST {
        return status(405);
    }
    old_server(&seen.json()).map_or_else(|| status(202), |reply| json_answer(&reply))
}

/// Where a grant is kept, in memory, with everything that was ever kept.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) now: Mutex<Option<Grant>>,
    pub(crate) saved: Mutex<Vec<Option<Grant>>>,
    pub(crate) turns: Arc<tokio::sync::Mutex<()>>,
}

impl Kept {
    pub(crate) fn with(grant: &Grant) -> Arc<Self> {
        Arc::new(Self { now: Mutex::new(Some(grant.clone())), ..Self::default() })
    }
}

impl Grants for Kept {
    fn load(&self) -> Option<Grant> {
        self.now.lock().unwrap().clone()
    }

    fn save(&self, grant: Option<&Grant>) -> Result<(), String> {
        *self.now.lock().unwrap() = grant.cloned();
        self.saved.lock().unwrap().push(grant.cloned());
        Ok(())
    }

    fn replace(&self, before: &Grant, grant: Option<&Grant>) -> Result<bool, String> {
        if self.load().as_ref() != Some(before) {
            return Ok(false);
        }
        self.save(grant).map(|()| true)
    }

    fn turn(&self) -> Result<Option<Turn>, String> {
        match Arc::clone(&self.turns).try_lock_owned() {
            Ok(held) => Ok(Some(Turn::new(held))),
            Err(_) => Ok(None),
        }
    }
}

/// A part of a query, unescaped.
pub(crate) fn query_value(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let value = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")))?;
    let bytes = value.as_bytes();
    let mut text = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            text.push(u8::from_str_radix(&value[at + 1..at + 3], 16).unwrap());
            at += 3;
        } else {
            text.push(bytes[at]);
            at += 1;
        }
    }
    Some(String::from_utf8(text).unwrap())
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace(':', "%3A").replace('/', "%2F")
}
