//! What every request passes before routing: Host, Origin, fetch metadata, token, content type
//! (security T2). Refusals carry no detail.

use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{HeaderMap, Method, StatusCode, Uri, Version};

use crate::auth::{Auth, SessionId};

/// The names this host answers to.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    port: u16,
    extra: Vec<String>,
}

/// Who may be meant by a request's `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// The UI and the API, under this authority.
    Ui(String),
    /// A plugin's own origin, by its hash or `probe`; it reaches frame routes only.
    Plugin(String),
}

/// A request that may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Admitted {
    /// Which name it came by.
    pub(crate) target: Target,
    /// Who it is, on routes that need to know.
    pub(crate) session: Option<SessionId>,
}

impl Names {
    /// Loopback names on `port`, plus those a person allowed.
    pub(crate) fn new(port: u16, extra: Vec<String>) -> Self {
        Self { port, extra: extra.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// Finds out which name is meant; `None` for every name that is not ours.
    fn target(&self, authority: &str) -> Option<Target> {
        let (name, port) = split_authority(authority)?;
        if port != self.port {
            return None;
        }
        let full = format!("{name}:{port}");
        if matches!(name.as_str(), "127.0.0.1" | "localhost" | "[::1]") || self.extra.contains(&name) {
            return Some(Target::Ui(full));
        }
        let plugin = name.strip_suffix(".localhost")?.strip_prefix("p-")?;
        let is_hash = plugin.len() == 20 && plugin.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (is_hash || plugin == "probe").then(|| Target::Plugin(plugin.to_owned()))
    }
}

/// `name[:port]` parsed into its parts, lower case, port 80 when absent. User-info, paths, spaces and
/// anything that is not a plain name or address is refused.
fn split_authority(text: &str) -> Option<(String, u16)> {
    let text = text.to_ascii_lowercase();
    let (name, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        address.parse::<std::net::Ipv6Addr>().ok()?;
        (format!("[{address}]"), after.strip_prefix(':').or(after.is_empty().then_some("80"))?.to_owned())
    } else {
        let (name, port) = text.split_once(':').unwrap_or((&text, "80"));
        (name.to_owned(), port.to_owned())
    };
    let plain =
        name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']'));
    (plain && !name.is_empty()).then_some(())?;
    // One way to write a port: what reads it otherwise than we do must not come in under our name.
    let number: u16 = port.parse().ok()?;
    (number.to_string() == port).then_some((name, number))
}

/// Paths under `/api` that need no bearer token: signing in (the code is the proof, or a cookie and a signature)
/// and the event socket (its ticket is the proof; browsers cannot send the header there).
fn is_open(method: &Method, path: &str) -> bool {
    match path {
        "/api/v1/auth/exchange" | "/api/v1/auth/renew" => method == Method::POST,
        "/api/v1/auth/challenge" | "/api/v1/events" => method == Method::GET,
        _ => false,
    }
}

/// Admits a request or says with which status it ends.
pub(crate) fn admit(
    names: &Names,
    auth: &Auth,
    method: &Method,
    uri: &Uri,
    version: Version,
    headers: &HeaderMap,
) -> Result<Admitted, StatusCode> {
    if headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH) {
        return Err(StatusCode::BAD_REQUEST);
    }
    if version < Version::HTTP_11 {
        return Err(StatusCode::FORBIDDEN);
    }
    let target = host_of(names, uri, headers).ok_or(StatusCode::FORBIDDEN)?;
    let path = uri.path();
    let is_api = path == "/api" || path.starts_with("/api/");
    let Target::Ui(authority) = &target else {
        // A plugin's origin never reaches the UI or the API, whatever token is sent.
        if is_api || headers.contains_key(UPGRADE) {
            return Err(StatusCode::NOT_FOUND);
        }
        return match *method {
            Method::GET | Method::HEAD => Ok(Admitted { target, session: None }),
            _ => Err(StatusCode::METHOD_NOT_ALLOWED),
        };
    };
    if is_api || headers.contains_key(UPGRADE) {
        check_origin(authority, headers)?;
    }
    if *method == Method::OPTIONS || *method == Method::TRACE || *method == Method::CONNECT {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let mut session = None;
    if is_api {
        if !is_open(method, path) {
            session = Some(bearer(auth, headers).ok_or(StatusCode::UNAUTHORIZED)?);
        }
        check_content_type(method, headers)?;
    } else if *method != Method::GET && *method != Method::HEAD {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    Ok(Admitted { target, session })
}

fn host_of(names: &Names, uri: &Uri, headers: &HeaderMap) -> Option<Target> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    if hosts.next().is_some() {
        return None;
    }
    let target = names.target(host)?;
    // An absolute-form target must agree with the header, or the two could be routed differently.
    if let Some(authority) = uri.authority()
        && (uri.scheme_str() != Some("http") || names.target(authority.as_str())? != target)
    {
        return None;
    }
    Some(target)
}

fn check_origin(authority: &str, headers: &HeaderMap) -> Result<(), StatusCode> {
    let mut origins = headers.get_all(ORIGIN).iter();
    if let Some(origin) = origins.next() {
        let own = format!("http://{authority}");
        // Browsers leave the default port out of an origin.
        let short = own.strip_suffix(":80").map(str::to_owned);
        let given = origin.to_str().map_err(|_| StatusCode::FORBIDDEN)?;
        if (given != own && short.as_deref() != Some(given)) || origins.next().is_some() {
            return Err(StatusCode::FORBIDDEN);
        }
    }
    for site in headers.get_all("sec-fetch-site") {
        if site != "same-origin" {
            return Err(StatusCode::FORBIDDEN);
        }
    }
    Ok(())
}

/// The session of the one bearer token a request carries.
pub(crate) fn bearer(auth: &Auth, headers: &HeaderMap) -> Option<SessionId> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| auth.session(token))?
}

fn check_content_type(method: &Method, headers: &HeaderMap) -> Result<(), StatusCode> {
    let writes = matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE);
    let empty = !headers.contains_key(TRANSFER_ENCODING)
        && headers.get(CONTENT_LENGTH).is_none_or(|length| length.as_bytes() == b"0");
    // A DELETE without a body says everything in its path; a page cannot send one across origins.
    if !writes || (*method == Method::DELETE && empty && !headers.contains_key(CONTENT_TYPE)) {
        return Ok(());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/json" | "application/octet-stream" | "application/zip" => Ok(()),
        _ => Err(StatusCode::UNSUPPORTED_MEDIA_TYPE),
    }
}

#[cfg(test)]
mod tests;
