//! The token endpoint: a code for tokens, a refresh token for new ones, the end of both.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::{Map, Value};

use super::error::{Document, SignInError};
use super::fetch::{Reply, Web};
use super::form;
use super::grant::{Grant, Method, Registration, Secret, Tokens, now};
use super::scopes::clean;

const FORM: &str = "application/x-www-form-urlencoded";
/// Longest token.
const TOKEN_BYTES: usize = 32 * 1024;
/// Longest life of an access token that is believed: a year.
const LIFE_SECONDS: u64 = 366 * 24 * 3_600;

/// Words for a fault of the server's own: nothing was decided.
const LATER: [&str; 2] = ["server_error", "temporarily_unavailable"];

/// What is exchanged for tokens.
#[derive(Clone, Copy)]
pub(super) enum Exchange<'a> {
    /// What the browser brought back.
    Code { code: &'a Secret, verifier: &'a Secret, asked: &'a [String] },
    /// What came with the last tokens.
    Refresh { token: &'a Secret, before: &'a Tokens },
}

/// Asks for tokens.
pub(super) async fn request(
    web: Web,
    client: &Registration,
    exchange: Exchange<'_>,
    document: Document,
) -> Result<Tokens, SignInError> {
    let mut pairs = vec![("resource", client.resource.as_str())];
    let secrets = match exchange {
        Exchange::Code { code, verifier, .. } => {
            pairs.push(("grant_type", "authorization_code"));
            pairs.push(("code", code.expose()));
            pairs.push(("redirect_uri", &client.redirect_uri));
            pairs.push(("code_verifier", verifier.expose()));
            vec![code, verifier]
        }
        Exchange::Refresh { token, .. } => {
            pairs.push(("grant_type", "refresh_token"));
            pairs.push(("refresh_token", token.expose()));
            vec![token]
        }
    };
    let reply = post(web, client, &client.token_endpoint, pairs, document).await?;
    let answer = accepted(reply, client, &secrets, document)?;
    tokens(&answer, exchange, document)
}

/// Ends a grant: its refresh token, or its access token where there is none.
pub(super) async fn revoke(web: Web, grant: &Grant) -> Result<bool, SignInError> {
    let client = &grant.registration;
    let Some(endpoint) = &client.revocation_endpoint else { return Ok(false) };
    let tokens = &grant.tokens;
    let both = [(tokens.refresh.as_ref(), "refresh_token"), (Some(&tokens.access), "access_token")];
    for (token, kind) in both.into_iter().filter_map(|(token, kind)| Some((token?, kind))) {
        let pairs = vec![("token", token.expose()), ("token_type_hint", kind)];
        let reply = post(web, client, endpoint, pairs, Document::Revocation).await?;
        match accepted(reply, client, &[token], Document::Revocation) {
            Ok(_) => {}
            // It knows how to end the other kind only.
            Err(SignInError::Refused { error, .. }) if error == "unsupported_token_type" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

async fn post(
    web: Web,
    client: &Registration,
    endpoint: &str,
    mut pairs: Vec<(&str, &str)>,
    document: Document,
) -> Result<Reply, SignInError> {
    let uri = web.address(endpoint, document, "endpoint")?;
    let secret = client.client_secret.as_ref().map(Secret::expose);
    let mut authorization = None;
    match (client.method, secret) {
        (Method::Basic, Some(secret)) => {
            let both = format!("{}:{}", form::escape(&client.client_id), form::escape(secret));
            let value = format!("Basic {}", BASE64_STANDARD.encode(both));
            authorization = HeaderValue::from_str(&value).ok();
        }
        (Method::Post, Some(secret)) => {
            pairs.push(("client_id", &client.client_id));
            pairs.push(("client_secret", secret));
        }
        _ => pairs.push(("client_id", &client.client_id)),
    }
    web.post(&uri, FORM, authorization, form::encode(pairs), document).await
}

/// The body of a success, or the refusal in words that hold none of our secrets.
fn accepted(
    reply: Reply,
    client: &Registration,
    secrets: &[&Secret],
    document: Document,
) -> Result<Map<String, Value>, SignInError> {
    let (success, busy) = (reply.status.is_success(), is_busy(reply.status));
    let answer = reply.json.unwrap_or_default();
    match answer.get("error").and_then(Value::as_str) {
        // Some say so with a status of success.
        Some(error) if !busy && !LATER.contains(&error) => {
            let clean = |text: &str| {
                let secrets = secrets.iter().copied().chain(client.client_secret.as_ref());
                secrets.fold(text.to_owned(), |text, secret| text.replace(secret.expose(), "********"))
            };
            let description = answer.get("error_description").and_then(Value::as_str).map(clean);
            Err(SignInError::refused(&clean(error), description))
        }
        None if success => Ok(answer),
        _ => Err(SignInError::unusable(document, format!("it answered HTTP {}", reply.status.as_u16()))),
    }
}

/// Whether the same may work a little later.
fn is_busy(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

fn tokens(
    answer: &Map<String, Value>,
    exchange: Exchange<'_>,
    document: Document,
) -> Result<Tokens, SignInError> {
    let wrong = |detail: &str| SignInError::unusable(document, detail);
    let token = |field: &str| {
        let text = answer.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let fits =
            |text: &str| text.len() <= TOKEN_BYTES && text.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        match text {
            Some(text) if fits(text) => Ok(Some(Secret::new(text))),
            Some(_) => Err(wrong("a token cannot be written in a request")),
            None => Ok(None),
        }
    };
    let access = token("access_token")?.ok_or_else(|| wrong("`access_token` is missing"))?;
    let kind = answer.get("token_type").and_then(Value::as_str).unwrap_or_default();
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(wrong("its tokens are not of the kind `Bearer`"));
    }
    let (asked, refresh) = match exchange {
        Exchange::Code { asked, .. } => (asked, None),
        // A server that gives no new one leaves the old one good (RFC 6749 §6).
        Exchange::Refresh { token, before } => (before.scopes.as_slice(), Some(token.clone())),
    };
    let scopes = match answer.get("scope").and_then(Value::as_str) {
        Some(scope) => clean(scope.split(' ').map(str::to_owned).collect()),
        None => asked.to_vec(),
    };
    let obtained_at = now();
    let life = answer.get("expires_in").and_then(seconds).map(|life| life.min(LIFE_SECONDS) * 1_000);
    Ok(Tokens {
        access,
        refresh: token("refresh_token")?.or(refresh),
        expires_at: life.map(|life| obtained_at.saturating_add(life)),
        obtained_at,
        scopes,
    })
}

/// A number of seconds; some write it as text. Less than nothing is nothing.
fn seconds(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number.max(0.0) as u64)
}
