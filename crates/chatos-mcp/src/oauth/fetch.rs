//! The requests of a sign-in: bounded in size and time, to addresses that pass the policy, without
//! cookies, credentials of the server, or redirects that could carry a secret elsewhere.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use serde_json::{Map, Value};

use super::error::{Document, SignInError, quote};
use crate::endpoint::{Addresses, Credentials, Remote};
use crate::failure::{Failure, Waited};
use crate::net::Origin;
use crate::transport::http_client::{Client, Message, resolve};

/// Largest document.
const BODY_BYTES: usize = 256 * 1024;
/// One request with its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest address.
const ADDRESS_BYTES: usize = 4_096;
/// Redirects of a description, all on one origin.
const REDIRECTS: usize = 3;

/// The way to everything a server's sign-in is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Web {
    /// What may be reached: a server outside cannot send us inside, whatever was ticked for it (T20).
    addresses: Addresses,
}

/// An answer.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    /// Its JSON object, when it is one.
    pub(super) json: Option<Map<String, Value>>,
}

impl Web {
    /// The policy for one server. Its own address must be one that tokens may go to.
    pub(super) async fn of(remote: &Remote) -> Result<Self, SignInError> {
        let origin = Origin::of(&remote.uri)
            .ok_or(SignInError::BadAddress { document: Document::Resource, field: "url" })?;
        if !is_safe(&origin) {
            return Err(SignInError::Insecure { address: quote(&origin.target()) });
        }
        let inside = remote.addresses == Addresses::Private && is_inside(&origin).await;
        Ok(Self { addresses: if inside { Addresses::Private } else { Addresses::Public } })
    }

    /// An address from a document: `https`, or `http` on this machine, and nothing odd in it.
    pub(super) fn address(
        self,
        text: &str,
        document: Document,
        field: &'static str,
    ) -> Result<Uri, SignInError> {
        let bad = || SignInError::BadAddress { document, field };
        if text.len() > ADDRESS_BYTES || text.contains('#') {
            return Err(bad());
        }
        let uri: Uri = text.parse().map_err(|_| bad())?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(bad());
        }
        let authority = uri.authority().ok_or_else(bad)?;
        let origin = Origin::of(&uri).ok_or_else(bad)?;
        if authority.as_str().contains('@') || origin.host.is_empty() {
            return Err(bad());
        }
        if !is_safe(&origin) {
            return Err(SignInError::Insecure { address: quote(text) });
        }
        Ok(uri)
    }

    /// Checks an address we do not open ourselves: the browser would.
    pub(super) async fn vet(self, uri: &Uri, document: Document) -> Result<(), SignInError> {
        let origin = Origin::of(uri).ok_or(SignInError::BadAddress { document, field: "address" })?;
        if self.addresses == Addresses::Public && is_inside(&origin).await {
            let failure =
                Failure::AddressRefused { host: origin.host.clone(), kind: "local", can_allow: false };
            return Err(SignInError::Net { document, failure });
        }
        Ok(())
    }

    /// A description. Redirects are followed on its own origin only.
    pub(super) async fn get(self, uri: &Uri, document: Document) -> Result<Reply, SignInError> {
        let mut uri = uri.clone();
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let net = |reason: &str| SignInError::Net {
            document,
            failure: Failure::Redirect { reason: reason.to_owned() },
        };
        for _ in 0..=REDIRECTS {
            let sent = self.send(Method::GET, &uri, headers.clone(), Bytes::new(), document).await?;
            let Some(location) = sent.1 else { return Ok(sent.0) };
            let next = resolve(&uri, &location).ok_or_else(|| net("it leads nowhere"))?;
            if Origin::of(&next) != Origin::of(&uri) {
                return Err(net("it leads to another server"));
            }
            uri = next;
        }
        Err(net("there are too many"))
    }

    /// Something that is told to the authorization server; may hold secrets, so that no redirect is
    /// followed.
    pub(super) async fn post(
        self,
        uri: &Uri,
        kind: &'static str,
        authorization: Option<HeaderValue>,
        body: String,
        document: Document,
    ) -> Result<Reply, SignInError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Some(mut value) = authorization {
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        match self.send(Method::POST, uri, headers, Bytes::from(body), document).await? {
            (reply, None) => Ok(reply),
            (_, Some(_)) => {
                let reason = "what is sent there is secret".to_owned();
                Err(SignInError::Net { document, failure: Failure::Redirect { reason } })
            }
        }
    }

    async fn send(
        self,
        method: Method,
        uri: &Uri,
        headers: HeaderMap,
        body: Bytes,
        document: Document,
    ) -> Result<(Reply, Option<String>), SignInError> {
        let net = |failure| SignInError::Net { document, failure };
        let remote = Remote {
            uri: uri.clone(),
            credentials: Credentials::default(),
            addresses: self.addresses,
            keeper: None,
        };
        let client = Client::new(remote).map_err(net)?;
        let message = Message { method, uri: uri.clone(), body, headers, private: HeaderMap::new() };
        let exchange = async {
            let mut answer = client.once(&message).await.map_err(|ended| ended.failure)?;
            if matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                let location = answer.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
                let location = location.unwrap_or_default().to_owned();
                return Ok((Reply { status: answer.status, json: None }, Some(location)));
            }
            let body = answer.body.collect(BODY_BYTES).await.map_err(|failure| match failure {
                Failure::TooLong => Failure::Protocol { detail: "its answer is too long".to_owned() },
                other => other,
            })?;
            Ok((Reply { status: answer.status, json: serde_json::from_slice(&body).ok() }, None))
        };
        let late = || Failure::TimedOut { what: Waited::Request, after: PATIENCE, noise: None };
        let answer = tokio::time::timeout(PATIENCE, exchange).await.unwrap_or_else(|_| Err(late()));
        answer.map_err(net)
    }
}

/// Whether tokens may go there: encrypted, or to this machine.
pub(crate) fn is_safe(origin: &Origin) -> bool {
    let loopback = match origin.host.parse::<IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => origin.host == "localhost" || origin.host.ends_with(".localhost"),
    };
    origin.secure || loopback
}

/// Whether a host is on this machine or in a private network. What cannot be resolved is not.
async fn is_inside(origin: &Origin) -> bool {
    let refused = |ip| chatos_net::refusal(ip, Addresses::Public).is_some();
    if let Ok(ip) = origin.host.parse::<IpAddr>() {
        return refused(ip);
    }
    let lookup = tokio::net::lookup_host((origin.host.as_str(), origin.port));
    match tokio::time::timeout(PATIENCE, lookup).await {
        Ok(Ok(found)) => found.into_iter().any(|address| refused(address.ip())),
        Ok(Err(_)) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{Auth, Endpoint};

    async fn web(url: &str, addresses: Addresses) -> Result<Web, SignInError> {
        let endpoint = Endpoint::remote(url, &Auth::default(), addresses).unwrap();
        Web::of(endpoint.as_remote().unwrap()).await
    }

    #[tokio::test]
    async fn a_server_outside_cannot_send_us_inside() {
        // Even when local addresses are ticked for it: it is not there itself.
        for ticked in [Addresses::Public, Addresses::Private] {
            let web = web("https://93.184.216.34/mcp", ticked).await.unwrap();
            for inside in
                ["https://127.0.0.1:9/x", "https://[::1]:9/x", "https://10.0.0.1/", "https://localhost:9/"]
            {
                let uri = web.address(inside, Document::Server, "token_endpoint").unwrap();
                let told = web.vet(&uri, Document::Server).await;
                assert!(matches!(
                    told,
                    Err(SignInError::Net { failure: Failure::AddressRefused { .. }, .. })
                ));
                let told = web.get(&uri, Document::Server).await.err().unwrap();
                assert!(matches!(told, SignInError::Net { failure: Failure::AddressRefused { .. }, .. }));
            }
        }
        let inside = web("http://127.0.0.1:9/mcp", Addresses::Private).await.unwrap();
        let uri = inside.address("http://127.0.0.1:9/token", Document::Server, "token_endpoint").unwrap();
        assert_eq!(inside.vet(&uri, Document::Server).await, Ok(()));
    }

    #[tokio::test]
    async fn nobody_signs_in_to_a_server_in_the_open() {
        let told = web("http://192.168.1.5/mcp", Addresses::Private).await.err();
        assert_eq!(told, Some(SignInError::Insecure { address: "192.168.1.5:80".to_owned() }));
    }
}
