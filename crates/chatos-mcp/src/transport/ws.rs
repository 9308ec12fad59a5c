//! WebSocket: one message per text frame.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::header::HeaderValue;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::sync::CancellationToken;

use super::{Link, QueueLink};
use crate::endpoint::Remote;
use crate::failure::Failure;
use crate::limits::{MESSAGE_BYTES, OUT_QUEUE};
use crate::net::{self, Origin};
use crate::router::Router;

/// The subprotocol of MCP.
const PROTOCOL: &str = "mcp";
/// A silent connection is asked whether it still lives.
const PING: Duration = Duration::from_secs(30);
/// Silent for this long, it does not.
const DEAD: Duration = Duration::from_secs(90);

/// Connects. The caller bounds the time.
pub(crate) async fn open(remote: &Remote, router: &Arc<Router>) -> Result<Link, Failure> {
    let origin = Origin::of(&remote.uri)
        .ok_or_else(|| Failure::Protocol { detail: "its address has no host".to_owned() })?;
    let bad = |error: &Error| Failure::Protocol { detail: error.to_string() };
    let mut request = remote.uri.clone().into_client_request().map_err(|error| bad(&error))?;
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(PROTOCOL));
    for (name, value) in &remote.credentials.headers {
        request.headers_mut().insert(name, value.clone());
    }
    let stream = net::connect(&origin, remote.addresses).await?;
    let config =
        WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES)).max_frame_size(Some(MESSAGE_BYTES));
    let connected = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await;
    let (socket, _) = connected.map_err(|error| match error {
        Error::Http(response) => match response.status().as_u16() {
            status @ (401 | 403) => Failure::AuthRefused { status },
            status @ 300..=399 => {
                Failure::Redirect { reason: format!("a WebSocket has none (HTTP {status})") }
            }
            status => Failure::Http { status, body: String::new() },
        },
        error => Failure::Unreachable { target: origin.target(), error: error.to_string() },
    })?;
    let (mut sink, mut source) = socket.split();
    let stop = CancellationToken::new();
    let (queue, mut waiting) = mpsc::channel::<Vec<u8>>(OUT_QUEUE);
    let writing = stop.clone();
    // Both end with `stop` or with the socket.
    tokio::spawn(async move {
        let mut beat = tokio::time::interval(PING);
        loop {
            let frame = tokio::select! {
                message = waiting.recv() => match message {
                    Some(bytes) => Message::text(String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned()),
                    None => break,
                },
                _ = beat.tick() => Message::Ping(Vec::new().into()),
                () = writing.cancelled() => break,
            };
            let sent = tokio::select! {
                sent = sink.send(frame) => sent,
                () = writing.cancelled() => break,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "cannot write to the server");
                break;
            }
        }
        waiting.close();
        tokio::time::timeout(Duration::from_secs(1), sink.close()).await.ok();
    });
    let (reading, stopped) = (Arc::clone(router), stop.clone());
    tokio::spawn(async move {
        let ended = loop {
            let frame = tokio::select! {
                frame = tokio::time::timeout(DEAD, source.next()) => frame,
                () = stopped.cancelled() => break Failure::Stopped,
            };
            match frame {
                Ok(Some(Ok(Message::Text(text)))) => reading.line(text.as_bytes()),
                Ok(Some(Ok(Message::Binary(bytes)))) => reading.line(&bytes),
                Ok(Some(Ok(Message::Close(_))) | None) => {
                    break Failure::Closed { reason: "it closed the socket".to_owned() };
                }
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(Error::Capacity(_)))) => break Failure::TooLong,
                Ok(Some(Err(error))) => break Failure::Closed { reason: error.to_string() },
                Err(_) => break Failure::Closed { reason: "it no longer answers".to_owned() },
            }
        };
        reading.close(ended);
        stopped.cancel();
    });
    Ok(Link::Queue(QueueLink { queue, router: Arc::clone(router), stop, child: None }))
}
