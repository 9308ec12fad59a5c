//! The roads to a server. Each delivers what comes to the router and takes what goes.

pub(crate) mod event_stream;
pub(crate) mod headers;
pub(crate) mod http;
pub(crate) mod http_client;
pub(crate) mod in_process;
pub(crate) mod old_sse;
pub(crate) mod stdio;
pub(crate) mod ws;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::child::Child;
use crate::failure::Failure;
use crate::router::Router;

/// A message to send.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    /// One line with its end.
    pub(crate) bytes: Vec<u8>,
    /// The id of a request.
    pub(crate) id: Option<u64>,
    /// Headers that repeat the message for those on the way (only HTTP).
    pub(crate) headers: Vec<(String, String)>,
}

impl Outgoing {
    pub(crate) fn plain(bytes: Vec<u8>) -> Self {
        Self { bytes, id: None, headers: Vec::new() }
    }
}

/// An open road.
pub(crate) enum Link {
    /// A queue that a task writes from: child, socket, this process.
    Queue(QueueLink),
    /// Streamable HTTP.
    Http(http::Http),
    /// The older pair of streams.
    OldSse(old_sse::OldSse),
}

pub(crate) struct QueueLink {
    pub(crate) queue: mpsc::Sender<Vec<u8>>,
    pub(crate) router: Arc<Router>,
    /// Ends the tasks of a link without a child.
    pub(crate) stop: CancellationToken,
    pub(crate) child: Option<Child>,
}

impl Drop for QueueLink {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Link {
    /// Hands a message over. When it returns, the message is queued or on its way; a failure means
    /// that nothing of it was sent.
    pub(crate) async fn send(&self, message: Outgoing, patience: Duration) -> Result<(), Failure> {
        match self {
            Self::Queue(link) => {
                let gone = || {
                    let reason = "it closed its input".to_owned();
                    link.router.ended().unwrap_or(Failure::Closed { reason })
                };
                match tokio::time::timeout(patience, link.queue.send(message.bytes)).await {
                    Ok(sent) => sent.map_err(|_| gone()),
                    Err(_) => Err(Failure::NotReading { after: patience }),
                }
            }
            // The roads of requests are large; a call that goes to a child need not carry them.
            Self::Http(http) => Box::pin(http.send(message, patience)).await,
            Self::OldSse(sse) => Box::pin(sse.send(message, patience)).await,
        }
    }

    /// Hands over a message that has no answer, if that needs no waiting.
    pub(crate) fn send_now(&self, bytes: Vec<u8>) -> Result<(), Vec<u8>> {
        match self {
            Self::Queue(link) => link.queue.try_send(bytes).map_err(mpsc::error::TrySendError::into_inner),
            Self::Http(_) | Self::OldSse(_) => Err(bytes),
        }
    }

    /// Nobody waits for this request any more. Says whether the server learns it by that alone.
    pub(crate) fn abandon(&self, id: u64) -> bool {
        match self {
            Self::Http(http) => http.abandon(id),
            Self::Queue(_) | Self::OldSse(_) => false,
        }
    }

    /// Closes the road; a child and its family are gone afterwards.
    pub(crate) async fn close(&self) {
        match self {
            Self::Queue(link) => {
                link.router.close(Failure::Stopped);
                link.stop.cancel();
                if let Some(child) = &link.child {
                    child.stop().await;
                }
            }
            Self::Http(http) => http.close().await,
            Self::OldSse(sse) => sse.close(),
        }
    }

    /// The last lines of a child's error stream.
    pub(crate) fn stderr(&self, lines: usize) -> Vec<String> {
        match self {
            Self::Queue(QueueLink { child: Some(child), .. }) => child.tail.last(lines),
            _ => Vec::new(),
        }
    }

    /// The child's process number.
    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Queue(QueueLink { child: Some(child), .. }) => Some(child.pid),
            _ => None,
        }
    }
}
