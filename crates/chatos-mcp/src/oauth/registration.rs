//! Who we are at an authorization server: a client a person registered, the address of a document about
//! us, or one the server makes for us when asked (RFC 7591), in the order of the specification.

use serde_json::{Map, Value, json};

use super::discovery::{self, Server};
use super::error::{Document, SignInError};
use super::fetch::Web;
use super::grant::{Grant, Method, Origin, Registration, Secret, now};
use super::options::SignInOptions;

/// Longest id or secret.
const LONGEST: usize = 4_096;

/// The client to sign in with. `before` is the grant of this server, `here` the same when this issuer
/// gave it.
pub(super) async fn client(
    web: Web,
    server: &Server,
    options: &SignInOptions,
    before: Option<&Grant>,
    here: Option<&Grant>,
) -> Result<Registration, SignInError> {
    check(options)?;
    if let Some(id) = &options.client_id {
        return by_person(server, options, id, before);
    }
    let document = options.client_metadata_url.as_ref();
    if let (Some(address), true) = (document, server.reads_documents && allows(server, Method::None)) {
        return Ok(new(server, options, address.clone(), None, Method::None, Origin::Document));
    }
    if let Some(known) = here.map(|grant| &grant.registration).filter(|known| is_still_good(known, options)) {
        // Its addresses may have changed since.
        let again = new(server, options, known.client_id.clone(), None, known.method, known.origin);
        return Ok(Registration {
            client_secret: known.client_secret.clone(),
            secret_expires_at: known.secret_expires_at,
            ..again
        });
    }
    dynamic(web, server, options).await
}

fn check(options: &SignInOptions) -> Result<(), SignInError> {
    let bad = |detail| Err(SignInError::Options { detail });
    let redirect: Result<hyper::Uri, _> = options.redirect_uri.parse();
    if redirect.map_or(true, |uri| uri.scheme().is_none() || uri.host().is_none()) {
        return bad("the address to come back to is no address");
    }
    if let Some(id) = &options.client_id
        && (id.is_empty() || id.len() > LONGEST || id.chars().any(char::is_control))
    {
        return bad("the client id is empty or holds control characters");
    }
    if options.client_secret.is_some() && options.client_id.is_none() {
        return bad("there is a client secret but no client id");
    }
    Ok(())
}

/// A person's client is known to the issuer it was registered at, and its secret goes nowhere else.
fn by_person(
    server: &Server,
    options: &SignInOptions,
    id: &str,
    before: Option<&Grant>,
) -> Result<Registration, SignInError> {
    let used = before.map(|grant| &grant.registration).filter(|known| known.client_id == id);
    let bound = options.issuer.as_deref().or(used.map(|known| known.issuer.as_str()));
    if let Some(expected) = bound.filter(|bound| *bound != server.issuer) {
        return Err(SignInError::OtherClientIssuer {
            expected: super::error::quote(expected),
            found: super::error::quote(&server.issuer),
        });
    }
    let secret = options.client_secret.clone();
    let method = match &secret {
        None => Method::None,
        // What the server does not say is the header (RFC 8414 §2).
        Some(_) if allows(server, Method::Basic) => Method::Basic,
        Some(_) if allows(server, Method::Post) => Method::Post,
        Some(_) => {
            let detail = "it takes no client secret, only ways to show who we are that we do not have";
            return Err(SignInError::unusable(Document::Server, detail));
        }
    };
    Ok(new(server, options, id.to_owned(), secret, method, Origin::Person))
}

fn is_still_good(known: &Registration, options: &SignInOptions) -> bool {
    known.origin == Origin::Dynamic
        && known.redirect_uri == options.redirect_uri
        && known.secret_expires_at.is_none_or(|end| end > now())
}

async fn dynamic(web: Web, server: &Server, options: &SignInOptions) -> Result<Registration, SignInError> {
    let Some(endpoint) = &server.registration_endpoint else { return Err(SignInError::NoRegistration) };
    let wanted = if allows(server, Method::None) && server.methods.is_some() {
        Method::None
    } else if allows(server, Method::Basic) {
        Method::Basic
    } else {
        Method::Post
    };
    let mut grants = vec!["authorization_code"];
    if server.can_refresh {
        grants.push("refresh_token");
    }
    // A program on the person's machine that listens on loopback (RFC 8252 §7.3).
    let native = options.redirect_uri.starts_with("http://");
    let body = json!({
        "client_name": options.client_name,
        "redirect_uris": [options.redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": name(wanted),
        "application_type": if native { "native" } else { "web" },
    });
    let reply =
        web.post(endpoint, "application/json", None, body.to_string(), Document::Registration).await?;
    let wrong = |detail: String| SignInError::unusable(Document::Registration, detail);
    let answer = reply.json.unwrap_or_default();
    if !reply.status.is_success() {
        let error = answer.get("error").and_then(Value::as_str);
        let description = answer.get("error_description").and_then(Value::as_str).map(str::to_owned);
        return Err(match error {
            Some(error) => SignInError::refused(error, description),
            None => wrong(format!("it answered HTTP {}", reply.status.as_u16())),
        });
    }
    let id = text(&answer, "client_id").ok_or_else(|| wrong("`client_id` is missing".to_owned()))?;
    let secret = text(&answer, "client_secret").map(Secret::new);
    let method = match answer.get("token_endpoint_auth_method").and_then(Value::as_str) {
        Some(name) => discovery::method(name)
            .ok_or_else(|| wrong("it wants to know us in a way we do not have".to_owned()))?,
        // It says nothing and gives no secret: then there is nothing to show.
        None if secret.is_none() => Method::None,
        None => wanted,
    };
    if method != Method::None && secret.is_none() {
        return Err(wrong("`client_secret` is missing".to_owned()));
    }
    let ends = answer.get("client_secret_expires_at").and_then(Value::as_u64).filter(|end| *end != 0);
    let secret = secret.filter(|_| method != Method::None);
    let registration = new(server, options, id, secret, method, Origin::Dynamic);
    Ok(Registration { secret_expires_at: ends.map(|end| end.saturating_mul(1_000)), ..registration })
}

fn new(
    server: &Server,
    options: &SignInOptions,
    client_id: String,
    client_secret: Option<Secret>,
    method: Method,
    origin: Origin,
) -> Registration {
    Registration {
        issuer: server.issuer.clone(),
        client_id,
        client_secret,
        secret_expires_at: None,
        method,
        origin,
        redirect_uri: options.redirect_uri.clone(),
        token_endpoint: server.token_endpoint.to_string(),
        revocation_endpoint: server.revocation_endpoint.as_ref().map(ToString::to_string),
        resource: String::new(),
    }
}

/// Whether clients may show who they are this way. A server that does not say takes a header
/// (RFC 8414 §2), and clients without a secret have nothing to show.
fn allows(server: &Server, method: Method) -> bool {
    match &server.methods {
        Some(methods) => methods.contains(&method),
        None => method != Method::Post,
    }
}

fn name(method: Method) -> &'static str {
    match method {
        Method::None => "none",
        Method::Basic => "client_secret_basic",
        Method::Post => "client_secret_post",
    }
}

fn text(answer: &Map<String, Value>, field: &str) -> Option<String> {
    let text = answer.get(field).and_then(Value::as_str)?;
    let fits = !text.is_empty() && text.len() <= LONGEST && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}
