//! A small HTTP/1.1 client for one server: bounded, no compression, redirects checked one by one.
//!
//! Credentials and the session go to the configured origin only; another origin a redirect leads to
//! gets the message without them (mcp, endpoints).

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;

use crate::endpoint::Remote;
use crate::failure::Failure;
use crate::limits::{MESSAGE_BYTES, REDIRECTS};
use crate::net::{self, Origin};
use crate::oauth::{self, Bearer, Challenge};
use crate::router::Ended;

/// Connections kept for the next request.
const IDLE: usize = 8;
/// Bytes of headers a server may send.
const HEAD_BYTES: usize = 128 * 1024;

type Sender = SendRequest<Full<Bytes>>;

/// Connections to one server.
pub(crate) struct Client {
    remote: Remote,
    origin: Origin,
    idle: Arc<Mutex<Vec<(Origin, Sender)>>>,
}

/// What to send.
#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) body: Bytes,
    /// Headers for whoever answers.
    pub(crate) headers: HeaderMap,
    /// Headers for the configured origin only, beside the credentials.
    pub(crate) private: HeaderMap,
}

/// An answer whose body is still to come.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
    /// A person's sign-in went with the request.
    pub(crate) had_grant: bool,
}

/// A body in pieces. Read to its end, its connection serves the next request.
pub(crate) struct Body {
    incoming: Incoming,
    connection: Option<(Origin, Sender)>,
    idle: Arc<Mutex<Vec<(Origin, Sender)>>>,
}

impl Client {
    pub(crate) fn new(remote: Remote) -> Result<Self, Failure> {
        let origin = Origin::of(&remote.uri)
            .ok_or_else(|| Failure::Protocol { detail: "its address has no host".to_owned() })?;
        Ok(Self { remote, origin, idle: Arc::default() })
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.remote.uri
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Sends a message with the person's sign-in, where there is one, and follows redirects. A refused
    /// sign-in is renewed once.
    pub(crate) async fn request(&self, message: Message) -> Result<Answer, Ended> {
        let unsent = |failure| Ended { failure, sent: false };
        let Some(keeper) = self.remote.keeper.as_ref().filter(|_| !self.has_own_authorization()) else {
            return self.follow(message, None).await;
        };
        let Some(bearer) = keeper.bearer(&self.remote).await.map_err(unsent)? else {
            return self.follow(message, None).await;
        };
        let answer = self.follow(message.clone(), Some(&bearer)).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        // Refused before it was looked at, so that it can be sent again.
        let challenge = Challenge::of(&answer.headers);
        match keeper.after_refusal(&self.remote, &bearer, challenge).await.map_err(unsent)? {
            Some(bearer) => self.follow(message, Some(&bearer)).await,
            None => Ok(answer),
        }
    }

    fn has_own_authorization(&self) -> bool {
        self.remote.credentials.headers.iter().any(|(name, _)| *name == header::AUTHORIZATION)
    }

    /// What a refusal of credentials means: somebody has to sign in, or what was configured is wrong.
    pub(crate) async fn refused(&self, answer: &Answer) -> Failure {
        let status = answer.status.as_u16();
        let refused = Failure::AuthRefused { status };
        if self.remote.keeper.is_none() || self.has_own_authorization() {
            return refused;
        }
        let challenge = Challenge::of(&answer.headers);
        let offered = match (status, &challenge) {
            (401, Some(Challenge { resource_metadata: Some(_), .. })) => true,
            // It has a sign-in and refuses it: whether that is still offered shows when it is begun.
            (401, _) => answer.had_grant || oauth::offers_sign_in(&self.remote).await,
            (_, Some(challenge)) => challenge.wants_more(),
            (_, None) => false,
        };
        if !offered {
            return refused;
        }
        let challenge = Box::new(challenge.unwrap_or_default());
        Failure::SignInNeeded { challenge, had_grant: answer.had_grant }
    }

    /// Sends a message once; whoever asks looks at redirects.
    pub(crate) async fn once(&self, message: &Message) -> Result<Answer, Ended> {
        let origin = Origin::of(&message.uri).ok_or_else(|| Ended {
            failure: Failure::Redirect { reason: "it leads to no web address".to_owned() },
            sent: false,
        })?;
        let answer = self.exchange(&origin, message, None).await?;
        uncompressed(answer)
    }

    async fn follow(&self, mut message: Message, bearer: Option<&Bearer>) -> Result<Answer, Ended> {
        let unsent = |failure| Ended { failure, sent: false };
        let redirect =
            |reason: &str| Ended { failure: Failure::Redirect { reason: reason.to_owned() }, sent: true };
        for _ in 0..=REDIRECTS {
            let origin = Origin::of(&message.uri).ok_or_else(|| {
                unsent(Failure::Redirect { reason: "it leads to no web address".to_owned() })
            })?;
            let response = self.exchange(&origin, &message, bearer).await?;
            if !matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                return uncompressed(response);
            }
            if response.status == StatusCode::SEE_OTHER && message.method != Method::GET {
                return Err(redirect("it answers a message with another page"));
            }
            let location = response.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
            let next = location.and_then(|location| resolve(&message.uri, location));
            let next = next.ok_or_else(|| redirect("it leads nowhere"))?;
            let target = Origin::of(&next).ok_or_else(|| redirect("it leads to no web address"))?;
            if origin.secure && !target.secure {
                return Err(redirect("it leads from an encrypted to an open connection"));
            }
            message.uri = next;
        }
        Err(redirect("there are too many"))
    }

    async fn exchange(
        &self,
        origin: &Origin,
        message: &Message,
        bearer: Option<&Bearer>,
    ) -> Result<Answer, Ended> {
        // Like all credentials, the sign-in is for the configured origin.
        let bearer = bearer.filter(|_| *origin == self.origin);
        let had_grant = bearer.is_some();
        let request = self.build(origin, message, bearer)?;
        let mut request = Some(request);
        // A kept connection may have been closed by the server meanwhile; then the message comes back
        // unsent and goes over a new one.
        while let Some(mut sender) = self.kept(origin) {
            let Some(message) = request.take() else { break };
            match sender.try_send_request(message).await {
                Ok(response) => return Ok(self.answer(origin, sender, response, had_grant)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = Some(unsent),
                    None => return Err(broken(origin, error.error(), true)),
                },
            }
        }
        let Some(request) = request else {
            return Err(Ended { failure: Failure::Stopped, sent: false });
        };
        let mut sender = self.connect(origin).await.map_err(|failure| Ended { failure, sent: false })?;
        match sender.try_send_request(request).await {
            Ok(response) => Ok(self.answer(origin, sender, response, had_grant)),
            Err(mut error) => {
                let sent = error.take_message().is_none();
                Err(broken(origin, error.error(), sent))
            }
        }
    }

    fn answer(
        &self,
        origin: &Origin,
        sender: Sender,
        response: Response<Incoming>,
        had_grant: bool,
    ) -> Answer {
        let (head, incoming) = response.into_parts();
        let body =
            Body { incoming, connection: Some((origin.clone(), sender)), idle: Arc::clone(&self.idle) };
        Answer { status: head.status, headers: head.headers, body, had_grant }
    }

    fn build(
        &self,
        origin: &Origin,
        message: &Message,
        bearer: Option<&Bearer>,
    ) -> Result<Request<Full<Bytes>>, Ended> {
        let path = message.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::new(Full::new(message.body.clone()));
        *request.method_mut() = message.method.clone();
        let bad = |detail: String| Ended { failure: Failure::Protocol { detail }, sent: false };
        *request.uri_mut() = path.parse().map_err(|_| bad("its address cannot be requested".to_owned()))?;
        let headers = request.headers_mut();
        headers.extend(message.headers.clone());
        if *origin == self.origin {
            headers.extend(message.private.clone());
            for (name, value) in &self.remote.credentials.headers {
                headers.insert(name, value.clone());
            }
            if let Some(bearer) = bearer {
                headers.insert(header::AUTHORIZATION, bearer.header.clone());
            }
        }
        let host = HeaderValue::from_str(&origin.host_header());
        headers.insert(header::HOST, host.map_err(|_| bad("its host cannot be named".to_owned()))?);
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers
            .entry(header::USER_AGENT)
            .or_insert_with(|| HeaderValue::from_static(concat!("ChatOS/", env!("CARGO_PKG_VERSION"))));
        Ok(request)
    }

    fn kept(&self, origin: &Origin) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(_, sender)| !sender.is_closed());
        let at = idle.iter().rposition(|(kept, _)| kept == origin)?;
        Some(idle.swap_remove(at).1)
    }

    async fn connect(&self, origin: &Origin) -> Result<Sender, Failure> {
        let stream = net::connect(origin, self.remote.addresses).await?;
        let handshake = hyper::client::conn::http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .handshake(TokioIo::new(stream));
        let (sender, connection) = handshake
            .await
            .map_err(|error| Failure::Unreachable { target: origin.target(), error: error.to_string() })?;
        // Ends when its sender and its body are dropped.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to an MCP server ended");
            }
        });
        Ok(sender)
    }

    /// Lets go of all kept connections.
    pub(crate) fn clear(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn uncompressed(answer: Answer) -> Result<Answer, Ended> {
    let encoding = answer.headers.get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        let detail = "its answer is compressed, which was not asked for".to_owned();
        return Err(Ended { failure: Failure::Protocol { detail }, sent: true });
    }
    Ok(answer)
}

fn broken(origin: &Origin, error: &hyper::Error, sent: bool) -> Ended {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Ended { failure: Failure::Unreachable { target: origin.target(), error: text }, sent }
}

impl Body {
    /// The next piece, or `None` at the end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            match self.incoming.frame().await {
                None => {
                    if let Some((origin, sender)) = self.connection.take() {
                        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                        if idle.len() < IDLE && !sender.is_closed() {
                            idle.push((origin, sender));
                        }
                    }
                    return Ok(None);
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => {
                    return Err(Failure::Closed { reason: format!("its answer broke off: {error}") });
                }
            }
        }
    }

    /// All of it, at most `limit` bytes.
    pub(crate) async fn collect(&mut self, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut all = Vec::new();
        while let Some(piece) = self.piece().await? {
            if all.len() + piece.len() > limit {
                return Err(Failure::TooLong);
            }
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// A whole message.
    pub(crate) async fn message(&mut self) -> Result<Vec<u8>, Failure> {
        self.collect(MESSAGE_BYTES).await
    }
}

/// The media type without its parameters, in lower case.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Headers from names and values; what cannot be a header is left out.
pub(crate) fn header_map(headers: &[(String, String)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            map.insert(name, value);
        }
    }
    map
}

/// An address relative to another one.
pub(crate) fn resolve(base: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next()?.trim();
    let scheme = base.scheme_str()?;
    let authority = base.authority()?;
    let lower = location.to_ascii_lowercase();
    let absolute = if lower.starts_with("http://") || lower.starts_with("https://") {
        location.to_owned()
    } else if let Some(rest) = location.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') {
        format!("{scheme}://{authority}{}{location}", base.path())
    } else if location.split(['/', '?']).next()?.contains(':') || location.is_empty() {
        return None;
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{}", location.strip_prefix("./").unwrap_or(location))
    };
    let uri: Uri = absolute.parse().ok()?;
    // Credentials in an address would be somebody else's.
    (!uri.authority()?.as_str().contains('@')).then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved_against_the_address_in_use() {
        let base: Uri = "http://a.example:8080/v1/mcp?x=1".parse().unwrap();
        let to = |location: &str| resolve(&base, location).map(|uri| uri.to_string());
        for (location, expected) in [
            ("https://b.example/z", Some("https://b.example/z")),
            ("//b.example/z", Some("http://b.example/z")),
            ("/other?y=2#f", Some("http://a.example:8080/other?y=2")),
            ("messages?s=1", Some("http://a.example:8080/v1/messages?s=1")),
            ("./m", Some("http://a.example:8080/v1/m")),
            ("?q", Some("http://a.example:8080/v1/mcp?q")),
            ("file:///etc/passwd", None),
            ("javascript:alert(1)", None),
            ("http://u:p@b.example/", None),
            ("", None),
        ] {
            assert_eq!(to(location).as_deref(), expected, "{location}");
        }
    }
}
