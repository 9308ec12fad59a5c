//! Who asks, and in which language.

use axum::extract::Request;
use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use chatos_tool::Lang;

use crate::api::{ApiError, lang_of};
use crate::auth::SessionId;
use crate::narrow::AppCaller;

/// The origin of the page that asks; absent for calls from this very process.
#[derive(Debug, Clone)]
pub(crate) struct UiOrigin(pub(crate) String);

/// Where the request comes from; absent for calls from this very process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) std::net::IpAddr);

/// What a handler may know about the request besides its values.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The language of the answer.
    pub(crate) lang: Lang,
    /// The app the page asks for; absent when it asks for the person.
    pub(crate) app: Option<AppCaller>,
    /// The page's own origin; absent for calls from this very process.
    pub(crate) origin: Option<UiOrigin>,
    /// From another machine: its address. Empty for this one.
    pub(crate) address: String,
    session: Option<SessionId>,
    headers: HeaderMap,
}

impl Caller {
    /// `fallback` is the language of a caller that asks for none.
    pub(crate) fn of(request: &Request, fallback: Lang) -> Self {
        let extensions = request.extensions();
        let peer = extensions.get::<Peer>().map(|peer| peer.0.to_canonical());
        Self {
            lang: lang_of(request.headers(), fallback),
            app: extensions.get().cloned(),
            origin: extensions.get().cloned(),
            address: peer.filter(|peer| !peer.is_loopback()).map(|peer| peer.to_string()).unwrap_or_default(),
            session: extensions.get().copied(),
            headers: request.headers().clone(),
        }
    }

    /// The value of a header that is text.
    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// All cookies. Only renewing a sign-in looks at them: they open nothing else.
    pub(crate) fn cookies(&self) -> String {
        let all: Vec<&str> =
            self.headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
        all.join("; ")
    }

    /// Which session it is; only signing in has none.
    pub(crate) fn session(&self) -> Result<SessionId, ApiError> {
        self.session.ok_or(ApiError::Status(StatusCode::UNAUTHORIZED))
    }
}
