//! The older HTTP transport: one stream for everything that comes, a second address for what goes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Uri};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Outgoing;
use super::event_stream::EventStream;
use super::http_client::{Answer, Client, Message, header_map, media_type, resolve};
use crate::endpoint::Remote;
use crate::failure::Failure;
use crate::limits::REFUSAL_BYTES;
use crate::net::Origin;
use crate::router::Router;

/// An open pair. Dropping it closes the stream.
pub(crate) struct OldSse {
    client: Arc<Client>,
    messages: Uri,
    router: Arc<Router>,
    stop: CancellationToken,
}

impl Drop for OldSse {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl OldSse {
    /// Opens the stream and waits for the address of messages. The caller bounds the time.
    pub(crate) async fn open(remote: &Remote, router: &Arc<Router>) -> Result<Self, Failure> {
        let client = Arc::new(Client::new(remote.clone())?);
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        let message = Message {
            method: Method::GET,
            uri: client.uri().clone(),
            body: Bytes::new(),
            headers,
            private: HeaderMap::new(),
        };
        let mut answer = client.request(message).await.map_err(|ended| ended.failure)?;
        let status = answer.status.as_u16();
        if matches!(status, 401 | 403) {
            return Err(client.refused(&answer).await);
        }
        if !answer.status.is_success() || media_type(&answer.headers) != "text/event-stream" {
            let body = answer.body.collect(REFUSAL_BYTES).await.unwrap_or_default();
            let body = String::from_utf8_lossy(&body).chars().filter(|c| !c.is_control()).take(200).collect();
            return Err(Failure::Http { status, body });
        }
        let stop = CancellationToken::new();
        let (told, address) = oneshot::channel();
        let (reading, stopped) = (Arc::clone(router), stop.clone());
        // Ends with the stream or with this road.
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = read(answer, &reading, told) => ended,
                () = stopped.cancelled() => Failure::Stopped,
            };
            reading.close(ended);
        });
        let location = address.await.map_err(|_| {
            let reason = "its stream ended before it named an address".to_owned();
            router.ended().unwrap_or(Failure::Closed { reason })
        })?;
        let messages = resolve(client.uri(), &location);
        // Messages carry credentials: another origin never gets them.
        let messages = messages.filter(|uri| Origin::of(uri).as_ref() == Some(client.origin()));
        let Some(messages) = messages else {
            stop.cancel();
            let detail = "it names an address for messages on another server".to_owned();
            return Err(Failure::Protocol { detail });
        };
        Ok(Self { client, messages, router: Arc::clone(router), stop })
    }

    pub(crate) async fn send(&self, message: Outgoing, patience: Duration) -> Result<(), Failure> {
        let mut headers = header_map(&message.headers);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut body = message.bytes;
        body.truncate(body.trim_ascii_end().len());
        let request = Message {
            method: Method::POST,
            uri: self.messages.clone(),
            body: Bytes::from(body),
            headers,
            private: HeaderMap::new(),
        };
        let exchange = async {
            let mut answer = self.client.request(request).await.map_err(|ended| ended.failure)?;
            let body = answer.body.collect(REFUSAL_BYTES).await?;
            match answer.status.as_u16() {
                200..=299 => Ok(()),
                401 | 403 => Err(self.client.refused(&answer).await),
                status => {
                    let body = String::from_utf8_lossy(&body)
                        .chars()
                        .filter(|c| !c.is_control())
                        .take(200)
                        .collect();
                    Err(Failure::Http { status, body })
                }
            }
        };
        match tokio::time::timeout(patience, exchange).await {
            Ok(sent) => sent,
            Err(_) => Err(Failure::NotReading { after: patience }),
        }
    }

    pub(crate) fn close(&self) {
        self.router.close(Failure::Stopped);
        self.stop.cancel();
        self.client.clear();
    }
}

async fn read(mut answer: Answer, router: &Arc<Router>, told: oneshot::Sender<String>) -> Failure {
    let mut events = EventStream::default();
    let mut told = Some(told);
    loop {
        let piece = match answer.body.piece().await {
            Ok(Some(piece)) => piece,
            Ok(None) => return Failure::Closed { reason: "it closed its stream".to_owned() },
            Err(failure) => return failure,
        };
        let fed = events.feed(&piece, |event| match event.name.as_str() {
            "endpoint" => {
                if let Some(told) = told.take() {
                    told.send(String::from_utf8_lossy(&event.data).into_owned()).ok();
                }
            }
            _ => router.line(&event.data),
        });
        if fed.is_err() {
            return Failure::TooLong;
        }
    }
}
