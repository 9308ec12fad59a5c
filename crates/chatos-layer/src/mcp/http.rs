//! Streamable HTTP at `/mcp`, and nothing else (tools §16.3).
//!
//! Loopback is not a boundary: every request shows its `Host`, its `Origin` where it has one, and the
//! token, before a byte of its body is read. Sessions exist for older clients only.

mod admission;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chatos_tool::{Transport, limits};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Endpoint;
use super::connection::Connection;
pub use admission::Gate;

const PATH: &str = "/mcp";
/// tools §16.3.
const BODY_TIME: Duration = Duration::from_secs(15);
const HEADER_BYTES: usize = 16 * 1024;
const HEADER_TIME: Duration = Duration::from_secs(10);
const SESSIONS: usize = 32;
const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);
const RESUME_FOR: Duration = Duration::from_secs(5 * 60);
/// More than any person's clients open; a stuck one cannot take all descriptors.
const CONNECTIONS: usize = 256;

type Reply = Response<BoxBody<Bytes, Infallible>>;

/// A bound address, not yet serving: the port is known before anybody is told.
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl HttpListener {
    /// Listens there; port 0 is any free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Serves clients until `stop` is cancelled. Calls are then ended and their questions withdrawn, all
/// within three seconds.
pub async fn serve_http(endpoint: Arc<Endpoint>, bound: HttpListener, gate: Gate, stop: CancellationToken) {
    let closed = CancellationToken::new();
    let server = Arc::new(Server::new(&endpoint, gate, &closed));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = bound.listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) if connections.len() < CONNECTIONS => {
                let (server, closed) = (Arc::clone(&server), closed.clone());
                connections.spawn(async move { converse(stream, server, closed).await });
            }
            // Too many at once: the newest is turned away by closing it.
            Ok(_) => {}
            Err(error) => {
                // Out of descriptors, mostly: the next try comes when some are free.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(bound);
    closed.cancel();
    connections.close();
    let patience = Duration::from_millis(limits::SHUTDOWN_MS * 5 / 6);
    let began = tokio::time::Instant::now();
    endpoint.layer().close(patience).await;
    let left = patience.saturating_sub(began.elapsed()).max(Duration::from_millis(50));
    tokio::time::timeout(left, connections.wait()).await.ok();
}

/// One client's connection, until it or the server ends.
async fn converse(stream: TcpStream, server: Arc<Server>, closed: CancellationToken) {
    stream.set_nodelay(true).ok();
    let service = service_fn(move |request| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(server.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

struct Server {
    gate: Gate,
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Connection, LocalSessionManager>,
}

impl Server {
    fn new(endpoint: &Arc<Endpoint>, gate: Gate, closed: &CancellationToken) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        sessions.session_config.completed_cache_ttl = RESUME_FOR;
        let sessions = Arc::new(sessions);
        // `Host` and `Origin` are checked at our own gate, before the token and for every path.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(limits::MESSAGE_BYTES)
            .with_cancellation_token(closed.child_token());
        // A modern caller has no session: who comes again is known by the token, which is one for all.
        let caller = uuid::Uuid::new_v4().to_string();
        let (endpoint, closed) = (Arc::clone(endpoint), closed.clone());
        let connect = move || {
            let mut connection = Connection::new(Arc::clone(&endpoint), Transport::Http, closed.clone());
            connection.id.clone_from(&caller);
            Ok(connection)
        };
        let service = StreamableHttpService::new(connect, Arc::clone(&sessions), config);
        Self { gate, sessions, service }
    }

    async fn answer(&self, request: Request<Incoming>) -> Reply {
        let admitted = match self.gate.admit(request.method(), request.uri(), request.headers()) {
            Ok(admitted) => admitted,
            Err(status) => return refusal(status),
        };
        let mut reply = if admitted.preflight {
            refusal(StatusCode::NO_CONTENT)
        } else if request.uri().path() == PATH {
            self.serve(request).await
        } else {
            refusal(StatusCode::NOT_FOUND)
        };
        let headers = reply.headers_mut();
        headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(origin) = admitted.cors {
            allow(headers, origin);
        }
        reply
    }

    async fn serve(&self, request: Request<Incoming>) -> Reply {
        if request.method() != Method::POST {
            return self.service.handle(request).await;
        }
        let (parts, body) = request.into_parts();
        let body = Limited::new(body, limits::MESSAGE_BYTES);
        let body = match tokio::time::timeout(BODY_TIME, body.collect()).await {
            Err(_) => return refusal(StatusCode::REQUEST_TIMEOUT),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                return refusal(StatusCode::PAYLOAD_TOO_LARGE);
            }
            Ok(Err(_)) => return refusal(StatusCode::BAD_REQUEST),
            Ok(Ok(body)) => body.to_bytes(),
        };
        if !parts.headers.contains_key("mcp-session-id") && self.is_full(&body).await {
            return refusal(StatusCode::SERVICE_UNAVAILABLE);
        }
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let json = kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("application/json"));
        let reply = self.service.handle(Request::from_parts(parts, Full::new(body))).await;
        if json && reply.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // The library's word for a body that is not a message; the type of the body was right.
            return malformed();
        }
        reply
    }

    /// Whether this would be one session too many.
    async fn is_full(&self, body: &[u8]) -> bool {
        #[derive(serde::Deserialize)]
        struct Method {
            method: Option<String>,
        }
        let begins = serde_json::from_slice::<Method>(body)
            .is_ok_and(|message| message.method.as_deref() == Some("initialize"));
        begins && self.sessions.sessions.read().await.len() >= SESSIONS
    }
}

/// A page of an origin that a person allowed may read the answer.
fn allow(headers: &mut hyper::HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    let fixed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
        ),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "mcp-session-id"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The answer to a body that is not one message of the protocol.
fn malformed() -> Reply {
    let error = serde_json::json!({
        "jsonrpc": "2.0", "id": null,
        "error": { "code": -32700, "message": "the body is not one JSON-RPC 2.0 message; batches are not supported" },
    });
    let mut reply = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
    *reply.status_mut() = StatusCode::BAD_REQUEST;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// A refusal without detail; 401 says what is wanted.
fn refusal(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::new()).boxed());
    *reply.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        reply.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
    }
    reply
}
