//! Who may come in: `Host`, then `Origin`, then the token (tools §16.3, security T2).

use std::net::SocketAddr;

use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use sha2::{Digest, Sha256};

/// What a request has to show.
pub struct Gate {
    // `name:port`, lower case.
    authorities: Vec<String>,
    origins: Vec<String>,
    allowed_origins: Vec<String>,
    // `None`: whoever comes from this machine and names it rightly may come in.
    token: Option<[u8; 32]>,
}

/// A request that may go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Admitted {
    /// A page of another origin asks, and a person allowed that origin.
    pub(super) cors: Option<HeaderValue>,
    /// It only asks whether it may.
    pub(super) preflight: bool,
}

impl Gate {
    /// The gate of a server that listens at `address`. Names and origins besides loopback are those a
    /// person gave.
    pub fn new(address: SocketAddr, hosts: &[String], origins: &[String], token: &str) -> Self {
        let port = address.port();
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        names.extend(hosts.iter().map(|name| name.to_ascii_lowercase()));
        let mut authorities: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        authorities.push(address.to_string());
        if port == 80 {
            authorities.extend(names);
        }
        let own = authorities.iter().map(|authority| format!("http://{authority}")).collect();
        let allowed =
            origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        let token = Some(Sha256::digest(token).into());
        Self { authorities, origins: own, allowed_origins: allowed, token }
    }

    /// A gate that asks for no token, for fixtures whose tools do nothing. `Host` and `Origin` are
    /// checked all the same. `None` unless the address is loopback.
    pub fn without_token(address: SocketAddr) -> Option<Self> {
        let gate = Self { token: None, ..Self::new(address, &[], &[], "") };
        address.ip().is_loopback().then_some(gate)
    }

    pub(super) fn admit(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Admitted, StatusCode> {
        if headers.contains_key(header::TRANSFER_ENCODING) && headers.contains_key(header::CONTENT_LENGTH) {
            return Err(StatusCode::BAD_REQUEST);
        }
        let host = only(headers, &header::HOST).ok_or(StatusCode::FORBIDDEN)?.to_ascii_lowercase();
        let known = |authority: &str| self.authorities.iter().any(|own| own == authority);
        let absolute = uri.authority().map(|authority| authority.as_str().to_ascii_lowercase());
        if !known(&host) || absolute.is_some_and(|authority| !known(&authority)) {
            return Err(StatusCode::FORBIDDEN);
        }
        let mut cors = None;
        if headers.contains_key(header::ORIGIN) {
            let origin = only(headers, &header::ORIGIN).ok_or(StatusCode::FORBIDDEN)?.to_ascii_lowercase();
            if self.allowed_origins.contains(&origin) {
                cors = headers.get(header::ORIGIN).cloned();
            } else if !self.origins.contains(&origin) {
                return Err(StatusCode::FORBIDDEN);
            }
        }
        // A browser asks without the token, and only for pages that were allowed.
        if *method == Method::OPTIONS {
            return match cors {
                Some(_) => Ok(Admitted { cors, preflight: true }),
                None => Err(StatusCode::METHOD_NOT_ALLOWED),
            };
        }
        if !self.knows(headers) {
            return Err(StatusCode::UNAUTHORIZED);
        }
        Ok(Admitted { cors, preflight: false })
    }

    /// The token in its header; an address that carries one carries it in vain.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let Some(value) = only(headers, &header::AUTHORIZATION) else { return false };
        let Some((scheme, given)) = value.split_once(' ') else { return false };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return false;
        }
        // Digests are compared as a whole: how much of a guess is right cannot be measured.
        let given: [u8; 32] = Sha256::digest(given.trim()).into();
        given.iter().zip(token).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let one = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn gate() -> Gate {
        let origins = ["https://App.example".to_owned()];
        Gate::new("127.0.0.1:7001".parse().unwrap(), &["box.lan".to_owned()], &origins, TOKEN)
    }

    fn admit(method: &str, rows: &[(&str, &str)]) -> Result<Admitted, u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in rows {
            headers.append(
                header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        gate().admit(&method, &"/mcp".parse().unwrap(), &headers).map_err(|status| status.as_u16())
    }

    #[test]
    fn host_origin_and_token_are_asked_for_in_this_order() {
        let bearer = format!("Bearer {TOKEN}");
        let token = ("authorization", bearer.as_str());
        for host in ["127.0.0.1:7001", "LOCALHOST:7001", "[::1]:7001", "box.lan:7001"] {
            assert!(admit("POST", &[("host", host), token]).is_ok(), "{host}");
        }
        for host in ["127.0.0.1", "127.0.0.1:7002", "evil.example:7001", "a@127.0.0.1:7001", ""] {
            assert_eq!(admit("POST", &[("host", host), token]), Err(403), "{host}");
        }
        assert_eq!(admit("POST", &[token]), Err(403));
        let own = ("host", "127.0.0.1:7001");
        assert_eq!(admit("POST", &[own, own, token]), Err(403), "two hosts");
        for origin in ["null", "http://evil.example", "https://127.0.0.1:7001", "http://127.0.0.1:7002", ""] {
            assert_eq!(admit("POST", &[own, ("origin", origin), token]), Err(403), "{origin}");
        }
        assert_eq!(admit("POST", &[own]), Err(401));
        for wrong in ["", "Bearer", "Bearer x", "Basic 0123456789abcdef0123456789abcdef", TOKEN] {
            assert_eq!(admit("POST", &[own, ("authorization", wrong)]), Err(401), "{wrong}");
        }
        assert_eq!(admit("POST", &[own, token, token]), Err(401), "two tokens");
        assert_eq!(admit("OPTIONS", &[own, token]), Err(405));
    }

    #[test]
    fn only_origins_that_were_allowed_may_read_answers() {
        let bearer = format!("bearer {TOKEN}");
        let (own, token) = (("host", "127.0.0.1:7001"), ("authorization", bearer.as_str()));
        let same = admit("POST", &[own, ("origin", "http://localhost:7001"), token]).unwrap();
        assert_eq!(same, Admitted { cors: None, preflight: false });
        let other = admit("POST", &[own, ("origin", "https://app.example"), token]).unwrap();
        assert_eq!(other.cors, Some(HeaderValue::from_static("https://app.example")));
        assert!(admit("OPTIONS", &[own, ("origin", "https://app.example")]).unwrap().preflight);
        assert_eq!(admit("POST", &[own, ("origin", "https://app.example")]), Err(401));
    }
}
