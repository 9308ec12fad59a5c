//! Small HTTP servers on loopback, each a function from request to answer.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::Stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio_util::sync::CancellationToken;

/// A request as a server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).map(|value| value.to_str().unwrap().to_owned())
    }
}

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;
type Handler = Arc<dyn Fn(Seen) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync>;

/// A running server. Its tasks end with the test's runtime.
#[derive(Clone)]
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
    stop: CancellationToken,
}

impl Web {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Closes the port and all connections.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

pub(crate) async fn serve<F, W>(handler: F) -> Web
where
    F: Fn(Seen) -> W + Send + Sync + 'static,
    W: Future<Output = Answer> + Send + 'static,
{
    // Waiting once lets the server's task begin before the test goes on.
    let web = serve_at("127.0.0.1:0".parse().unwrap(), handler);
    tokio::task::yield_now().await;
    web
}

/// The same at a given address. The port is open when it returns.
pub(crate) fn serve_at<F, W>(address: SocketAddr, handler: F) -> Web
where
    F: Fn(Seen) -> W + Send + Sync + 'static,
    W: Future<Output = Answer> + Send + 'static,
{
    let handler: Handler = Arc::new(move |seen| Box::pin(handler(seen)));
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    let listener = socket.listen(64).unwrap();
    let stop = CancellationToken::new();
    let web = Web { address: listener.local_addr().unwrap(), seen: Arc::default(), stop: stop.clone() };
    let log = Arc::clone(&web.seen);
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            let Ok((stream, _)) = accepted else { return };
            let stop = stop.clone();
            let (handler, log) = (Arc::clone(&handler), Arc::clone(&log));
            let service = service_fn(move |request: Request<Incoming>| {
                let (handler, log) = (Arc::clone(&handler), Arc::clone(&log));
                async move {
                    let (head, body) = request.into_parts();
                    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
                    let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
                    let seen = Seen { method: head.method, path, headers: head.headers, body };
                    log.lock().unwrap().push(seen.clone());
                    Ok::<_, Infallible>(handler(seen).await)
                }
            });
            tokio::spawn(async move {
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::select! {
                    served = connection.serve_connection(TokioIo::new(stream), service) => served.ok(),
                    () = stop.cancelled() => None,
                };
            });
        }
    });
    web
}

pub(crate) fn plain(status: u16, kind: &str, body: impl Into<Bytes>) -> Answer {
    let builder = Response::builder().status(status).header("content-type", kind);
    builder.body(Full::new(body.into()).boxed()).unwrap()
}

pub(crate) fn json_answer(value: &Value) -> Answer {
    plain(200, "application/json", value.to_string())
}

pub(crate) fn status(status: u16) -> Answer {
    plain(status, "text/plain", "")
}

/// A stream of pieces that stays open as long as the given stream does.
pub(crate) fn stream(pieces: impl Stream<Item = String> + Send + Sync + 'static) -> Answer {
    use futures_util::StreamExt;
    let frames = pieces.map(|piece| Ok::<_, Infallible>(Frame::data(Bytes::from(piece))));
    let builder = Response::builder().header("content-type", "text/event-stream");
    builder.body(BodyExt::boxed(StreamBody::new(frames))).unwrap()
}

/// Pieces, then the end.
pub(crate) fn events(pieces: Vec<String>) -> Answer {
    stream(futures_util::stream::iter(pieces))
}

pub(crate) fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// What a plain old server answers to a message; `None` for a notification.
pub(crate) fn old_server(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => {
            json!({ "protocolVersion": "2025-03-26", "capabilities": { "tools": {} }, "serverInfo": { "name": "web", "version": "1" } })
        }
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": message["params"]["arguments"]["text"] }] })
        }
        _ => {
            return Some(
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no such method" } }),
            );
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}
