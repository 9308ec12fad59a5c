//! Where a server is and how it is reached: a program, an address, or this process.

pub use chatos_net::Addresses;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::Uri;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tokio::io::DuplexStream;

use crate::oauth::{Grants, Keeper};

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A child process that speaks over its standard streams.
    Command(CommandLine),
    /// `http(s)://`: streamable HTTP, or the older pair of streams when it only knows that.
    Http(Remote),
    /// `ws(s)://`.
    WebSocket(Remote),
    /// A server in this process.
    InProcess(Arc<dyn InProcess>),
}

/// A program with exactly what it gets. No shell is involved, nothing is inherited.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// A path, or a name looked up in the `PATH` of `environment`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs.
    pub directory: Option<PathBuf>,
    /// Its whole environment (plugins §1.3); the caller decides every name.
    pub environment: Vec<(OsString, OsString)>,
}

impl fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables may be secrets a person gave to this server.
        let names: Vec<_> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("CommandLine")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("directory", &self.directory)
            .field("environment", &names)
            .finish()
    }
}

/// An address with its credentials.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(crate) uri: Uri,
    pub(crate) credentials: Credentials,
    pub(crate) addresses: Addresses,
    /// Where a sign-in is kept; none for servers that nobody can sign in to.
    pub(crate) keeper: Option<Arc<Keeper>>,
}

/// Headers that go to the configured origin only. They have no readable form.
#[derive(Clone, Default)]
pub struct Credentials {
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.headers.is_empty() { "none" } else { "********" })
    }
}

/// What a configuration says about credentials (ai-contributions §5).
#[derive(Clone, Default)]
pub struct Auth {
    /// Sent as `Authorization: Bearer`.
    pub token: Option<String>,
    /// Name and password, sent as `Authorization: Basic`; a token wins over it.
    pub basic: Option<(String, String)>,
    /// Further headers; an `Authorization` here wins over both.
    pub headers: Vec<(String, String)>,
}

/// Why an address or its credentials cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum EndpointError {
    /// Not a URL.
    #[error("`{0}` is not an address of an MCP server")]
    NotAnAddress(String),
    /// A scheme we do not speak.
    #[error("`{0}` is not one of http, https, ws and wss")]
    Scheme(String),
    /// Name and password in the address.
    #[error("the address holds a user name or password")]
    UserInfo,
    /// A header that cannot be sent.
    #[error("the header `{0}` cannot be sent")]
    Header(String),
    /// A header the protocol itself needs.
    #[error("the header `{0}` is set by ChatOS")]
    Reserved(String),
}

impl EndpointError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAnAddress(_) => {
                "write it like https://host/path; names outside ASCII in their xn-- form"
            }
            Self::Scheme(_) => "use http(s):// or ws(s)://, or cmd:// for a program",
            Self::UserInfo => "put it into the server's credentials instead",
            Self::Header(_) => "use letters, digits and dashes in the name and no line break in the value",
            Self::Reserved(_) => "remove it from the headers of this server",
        }
    }
}

/// A server that lives in this process.
pub trait InProcess: Send + Sync + fmt::Debug {
    /// Serves one connection over this stream, one JSON-RPC message per line. Returns at once; serving
    /// goes on in a task of the implementor's until the stream ends.
    fn serve(&self, stream: DuplexStream);
}

impl Endpoint {
    /// An endpoint from a URL that is not `cmd://` (that one is parsed where its words are defined).
    pub fn remote(url: &str, auth: &Auth, addresses: Addresses) -> Result<Self, EndpointError> {
        let url = url.trim();
        let uri: Uri = url.parse().map_err(|_| EndpointError::NotAnAddress(printable(url)))?;
        let scheme = uri.scheme_str().ok_or_else(|| EndpointError::NotAnAddress(printable(url)))?;
        let scheme = scheme.to_ascii_lowercase();
        let authority = uri.authority().ok_or_else(|| EndpointError::NotAnAddress(printable(url)))?;
        if authority.as_str().contains('@') {
            return Err(EndpointError::UserInfo);
        }
        if authority.host().is_empty() {
            return Err(EndpointError::NotAnAddress(printable(url)));
        }
        let remote = Remote { credentials: auth.credentials()?, addresses, uri: uri.clone(), keeper: None };
        match scheme.as_str() {
            "http" | "https" => Ok(Self::Http(remote)),
            "ws" | "wss" => Ok(Self::WebSocket(remote)),
            _ => Err(EndpointError::Scheme(printable(&scheme))),
        }
    }

    /// With a place for a person's sign-in. Only servers over HTTP have one: the protocol knows sign-in
    /// for that road alone.
    pub fn with_grants(self, grants: Arc<dyn Grants>) -> Self {
        match self {
            Self::Http(remote) => {
                Self::Http(Remote { keeper: Some(Arc::new(Keeper::new(grants))), ..remote })
            }
            other => other,
        }
    }

    /// The address of a server over HTTP, for [`crate::begin_sign_in`] and its siblings.
    pub fn as_remote(&self) -> Option<&Remote> {
        match self {
            Self::Http(remote) => Some(remote),
            _ => None,
        }
    }

    /// The kind as a short word for pages and logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) => "stdio",
            Self::Http(_) => "http",
            Self::WebSocket(_) => "ws",
            Self::InProcess(_) => "in-process",
        }
    }

    /// Whether two endpoints are the same place with the same credentials and environment, so that a
    /// running connection can stay.
    pub fn same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Command(a), Self::Command(b)) => a == b,
            (Self::Http(a), Self::Http(b)) | (Self::WebSocket(a), Self::WebSocket(b)) => {
                a.uri == b.uri
                    && a.addresses == b.addresses
                    && a.credentials.headers == b.credentials.headers
                    && a.keeper.is_some() == b.keeper.is_some()
            }
            (Self::InProcess(a), Self::InProcess(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Set by the protocol itself; a configured one would contradict it.
const RESERVED: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-session-id",
    "transfer-encoding",
    "upgrade",
];

impl Auth {
    /// The headers to send.
    pub fn credentials(&self) -> Result<Credentials, EndpointError> {
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let bad = || EndpointError::Header(printable(name));
            let name: HeaderName = name.trim().parse().map_err(|_| bad())?;
            if RESERVED.contains(&name.as_str()) || name.as_str().starts_with("mcp-") {
                return Err(EndpointError::Reserved(name.to_string()));
            }
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.push((name, value));
        }
        if headers.iter().all(|(name, _)| *name != AUTHORIZATION) {
            let value = match (&self.token, &self.basic) {
                (Some(token), _) => Some(format!("Bearer {token}")),
                (None, Some((user, password))) => {
                    Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
                }
                (None, None) => None,
            };
            if let Some(value) = value {
                let bad = |_| EndpointError::Header(AUTHORIZATION.to_string());
                let mut value = HeaderValue::from_str(&value).map_err(bad)?;
                value.set_sensitive(true);
                headers.push((AUTHORIZATION, value));
            }
        }
        Ok(Credentials { headers })
    }
}

/// Quotes foreign text: short and without control characters.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_before_anything_is_opened() {
        let auth = Auth::default();
        let parse =
            |url: &str| Endpoint::remote(url, &auth, Addresses::Public).map(|endpoint| endpoint.kind());
        assert_eq!(parse(" https://a.example/mcp "), Ok("http"));
        assert_eq!(parse("WS://a.example:81/x"), Ok("ws"));
        assert_eq!(parse("http://u:p@a.example/"), Err(EndpointError::UserInfo));
        assert_eq!(parse("ftp://a.example/"), Err(EndpointError::Scheme("ftp".into())));
        for bad in ["", "a.example", "http://", "http:///x", "https://数据.example/", "http://a b/"] {
            assert!(matches!(parse(bad), Err(EndpointError::NotAnAddress(_))), "{bad}");
        }
    }

    #[test]
    fn the_stronger_credential_wins_and_none_can_be_read() {
        let header = |auth: &Auth| {
            let credentials = auth.credentials().unwrap();
            assert_eq!(format!("{credentials:?}"), "********");
            let all: Vec<_> = credentials.headers.iter().filter(|(name, _)| *name == AUTHORIZATION).collect();
            assert_eq!(all.len(), 1);
            all[0].1.to_str().unwrap().to_owned()
        };
        let mut auth = Auth { basic: Some(("u".into(), "p:q".into())), ..Auth::default() };
        assert_eq!(header(&auth), "Basic dTpwOnE=");
        auth.token = Some("t".into());
        assert_eq!(header(&auth), "Bearer t");
        auth.headers = vec![("authorization".into(), "Custom z".into())];
        assert_eq!(header(&auth), "Custom z");
    }

    #[test]
    fn headers_that_would_split_or_contradict_the_request_are_refused() {
        let refuse = |name: &str, value: &str| {
            Auth { headers: vec![(name.into(), value.into())], ..Auth::default() }.credentials().unwrap_err()
        };
        assert_eq!(refuse("x", "a\r\nb: c"), EndpointError::Header("x".into()));
        assert_eq!(refuse("a b", "c"), EndpointError::Header("a b".into()));
        assert_eq!(refuse("Host", "c"), EndpointError::Reserved("host".into()));
        assert_eq!(refuse("Mcp-Method", "c"), EndpointError::Reserved("mcp-method".into()));
        let token = Auth { token: Some("a\nb".into()), ..Auth::default() };
        assert!(token.credentials().is_err());
    }
}
