//! The HTTP/1.1 client below: connections by origin, bodies in pieces.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use chatos_net::{Addresses, Origin, Proxy};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;

use super::error::{broken, unconnected};
use crate::{Class, ModelError};

/// Connections kept for the next call, and for how long.
const IDLE: usize = 8;
const KEPT: Duration = Duration::from_secs(60);
/// Bytes of headers a vendor may send.
const HEAD_BYTES: usize = 128 * 1024;

type Sender = SendRequest<Full<Bytes>>;
type Idle = Arc<Mutex<Vec<(Route, Instant, Sender)>>>;

/// Where a connection leads, and through which proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Route {
    origin: Origin,
    proxy: Option<Proxy>,
}

/// Kept connections; clones share them.
#[derive(Clone, Default)]
pub struct Connections {
    idle: Idle,
}

/// A request before it is sent. It has no `Debug`: its headers hold a key.
pub(super) struct Outgoing {
    origin: Origin,
    path: String,
    headers: HeaderMap,
    method: Method,
    body: Bytes,
}

impl Outgoing {
    pub(super) fn post(base: &str, path: &str, body: &Value) -> Result<Self, ModelError> {
        let mut outgoing = Self::new(base, path)?;
        outgoing.method = Method::POST;
        outgoing.body = Bytes::from(body.to_string());
        outgoing.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(outgoing)
    }

    pub(super) fn new(base: &str, path: &str) -> Result<Self, ModelError> {
        let bad = |what: &str| ModelError::new(Class::Config, format!("the address `{base}` {what}"));
        let whole = format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/'));
        let uri: Uri = whole.parse().map_err(|_| bad("cannot be requested"))?;
        let origin = Origin::of(&uri).ok_or_else(|| bad("is no web address"))?;
        if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
            return Err(bad("has a name and a password in it"));
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let mut headers = HeaderMap::new();
        let host = HeaderValue::from_str(&origin.host_header()).map_err(|_| bad("has no usable host"))?;
        headers.insert(header::HOST, host);
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let agent = HeaderValue::from_static(concat!("ChatOS/", env!("CARGO_PKG_VERSION")));
        headers.insert(header::USER_AGENT, agent);
        Ok(Self { origin, path, headers, method: Method::GET, body: Bytes::new() })
    }

    /// Adds a header. What cannot be one is refused without showing it: it may be a key.
    pub(super) fn header(&mut self, name: &str, value: &str) -> Result<(), ModelError> {
        let refuse =
            || ModelError::new(Class::Config, format!("the value of the header `{name}` cannot be sent"));
        let name = HeaderName::try_from(name).map_err(|_| refuse())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| refuse())?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(())
    }

    /// As it goes over the wire: what a proxy reads itself names its whole address.
    fn request(&self, proxy: Option<&Proxy>) -> Result<Request<Full<Bytes>>, ModelError> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        let read_by_proxy = proxy.filter(|_| !self.origin.secure);
        let path = match read_by_proxy {
            Some(_) => format!("http://{}{}", self.origin.host_header(), self.path).parse(),
            None => self.path.parse(),
        };
        *request.uri_mut() =
            path.map_err(|_| ModelError::new(Class::Config, "the address cannot be requested"))?;
        if let Some(authorization) = read_by_proxy.and_then(|proxy| proxy.authorization.as_ref()) {
            let mut value = HeaderValue::try_from(authorization.as_str())
                .map_err(|_| ModelError::new(Class::Config, "the name for the proxy cannot be sent"))?;
            value.set_sensitive(true);
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, value);
        }
        Ok(request)
    }
}

/// An answer whose body is still to come.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: HeaderMap,
    pub(super) body: Body,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A body in pieces. Read to its end, its connection serves the next call; dropped before, it is
/// closed, which tells the vendor to stop.
pub(super) struct Body {
    incoming: Incoming,
    connection: Option<(Route, Sender)>,
    idle: Idle,
}

impl Body {
    /// The next piece, or `None` at the end.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, ModelError> {
        loop {
            match self.incoming.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => return Err(broken(&error)),
                None => {
                    if let Some((route, sender)) = self.connection.take() {
                        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                        if idle.len() < IDLE && !sender.is_closed() {
                            idle.push((route, Instant::now(), sender));
                        }
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// What came of it, at most `limit` bytes: a refusal that breaks off is still a refusal.
    pub(super) async fn collect(&mut self, limit: usize, idle: Duration) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(Ok(Some(piece))) = tokio::time::timeout(idle, self.piece()).await {
            let room = limit.saturating_sub(all.len());
            all.extend_from_slice(&piece[..piece.len().min(room)]);
            if all.len() >= limit {
                break;
            }
        }
        all
    }
}

impl Connections {
    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(
        &self,
        outgoing: Outgoing,
        addresses: Addresses,
        proxy: Option<&Proxy>,
    ) -> Result<Answer, ModelError> {
        let mut request = outgoing.request(proxy)?;
        let route = Route { origin: outgoing.origin, proxy: proxy.cloned() };
        // A kept connection may have been closed meanwhile; then the request comes back unsent.
        while let Some(mut sender) = self.kept(&route) {
            match sender.try_send_request(request).await {
                Ok(response) => return self.answer(route, sender, response),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(broken(error.error())),
                },
            }
        }
        let stream = match &route.proxy {
            Some(proxy) => chatos_net::connect_through(proxy, &route.origin, addresses).await,
            None => chatos_net::connect(&route.origin, addresses).await,
        };
        let stream = stream.map_err(|error| unconnected(&error))?;
        let handshake = hyper::client::conn::http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(|error| broken(&error))?;
        // Ends when its sender and its body are dropped.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to a model ended");
            }
        });
        match sender.try_send_request(request).await {
            Ok(response) => self.answer(route, sender, response),
            Err(error) => Err(broken(error.error())),
        }
    }

    fn answer(
        &self,
        route: Route,
        sender: Sender,
        response: hyper::Response<Incoming>,
    ) -> Result<Answer, ModelError> {
        let (head, incoming) = response.into_parts();
        let status = head.status.as_u16();
        // Nobody but the proxy itself says this.
        if let (407, Some(proxy)) = (status, &route.proxy) {
            return Err(unconnected(&chatos_net::refused(proxy, status)));
        }
        let body = Body { incoming, connection: Some((route, sender)), idle: Arc::clone(&self.idle) };
        Ok(Answer { status, headers: head.headers, body })
    }

    fn kept(&self, route: &Route) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(_, since, sender)| !sender.is_closed() && since.elapsed() < KEPT);
        let at = idle.iter().rposition(|(kept, _, _)| kept == route)?;
        Some(idle.swap_remove(at).2)
    }
}
