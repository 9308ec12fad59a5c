//! JSON-RPC over two byte streams: one message per line, one write per message.
//!
//! What cannot be read gets an error instead of silence and never ends the connection; a line longer
//! than 8 MiB is skipped in constant memory.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chatos_tool::limits;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::incoming::{Incoming, Line, Next};
use super::opening;
use super::quick::QuickCalls;
use super::roots::ClientRoots;

/// Bytes asked for at a time. A message of this size needs one read.
const CHUNK: usize = 64 * 1024;

/// The reading end.
pub(super) trait Source: Send + 'static {
    /// Reads some bytes; 0 is the end.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;
}

/// The writing end. Writes never block.
pub(super) trait Sink: Send + Sync + 'static {
    /// Writes what fits now.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Resolves when more fits.
    fn writable(&self) -> impl Future<Output = io::Result<()>> + Send;
}

/// The transport of one connection.
pub(super) struct Lines<S, W> {
    source: S,
    // Reads go into `chunk` first: a read that is given up half way leaves nothing behind in `incoming`.
    incoming: Incoming,
    chunk: Box<[u8]>,
    // A request chose the era: until then other messages mean nothing and are dropped.
    opened: bool,
    out: Arc<Out<W>>,
    // Told as soon as the client is gone, before anything else happens.
    closed: CancellationToken,
    quick: Option<QuickCalls>,
    // Told where it is read: the next call must know, whoever handles what first.
    roots: Arc<ClientRoots>,
}

pub(super) struct Out<W> {
    sink: W,
    queue: Mutex<Queue>,
    moved: Notify,
}

#[derive(Default)]
struct Queue {
    // Messages that did not fit yet; of the first one `written` bytes are gone.
    waiting: VecDeque<Vec<u8>>,
    written: usize,
    // Bytes that wait, and the place of the last one in everything ever written.
    left: u64,
    end: u64,
    failed: bool,
    flushing: bool,
}

impl<S: Source, W: Sink> Lines<S, W> {
    pub(super) fn new(
        source: S,
        sink: W,
        closed: CancellationToken,
        quick: Option<QuickCalls>,
        roots: Arc<ClientRoots>,
    ) -> Self {
        let out = Out { sink, queue: Mutex::default(), moved: Notify::new() };
        Self {
            source,
            incoming: Incoming::new(limits::MESSAGE_BYTES),
            chunk: vec![0; CHUNK].into_boxed_slice(),
            opened: false,
            out: Arc::new(out),
            closed,
            quick,
            roots,
        }
    }

    /// The next line, or `None` at the end of the stream.
    async fn line(&mut self) -> Option<Line> {
        loop {
            match self.incoming.next() {
                Next::Line(line) => return Some(line),
                Next::TooLong(head) => {
                    let text = format!("a message may have at most {} bytes", limits::MESSAGE_BYTES);
                    self.refuse(ErrorCode::INVALID_REQUEST, text, opening::request_id(&head));
                }
                Next::Wait => {}
            }
            // This future may be dropped while it waits; what has come is kept in the same step.
            match self.source.read(&mut self.chunk).await {
                Ok(0) => return None,
                Ok(count) => self.incoming.push(&self.chunk[..count]),
                Err(error) => {
                    tracing::debug!(%error, "cannot read from the client");
                    return None;
                }
            }
        }
    }

    fn refuse(&self, code: ErrorCode, message: String, id: Option<RequestId>) {
        let error = ErrorData::new(code, message, None);
        // A client that does not read its errors does not get them.
        drop(self.out.send(&ServerJsonRpcMessage::error(error, id)));
    }

    /// A message, or nothing when the line was none.
    fn parse(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(message) => {
                self.opened |= chooses_era(&message);
                if let JsonRpcMessage::Notification(told) = &message
                    && matches!(told.notification, ClientNotification::RootsListChangedNotification(_))
                {
                    self.roots.changed();
                }
                // Before that, only requests get an answer.
                if matches!(message, JsonRpcMessage::Request(_)) {
                    return Some(message);
                }
                self.opened.then_some(message)
            }
            Err(error) => {
                self.unreadable(line, &error);
                None
            }
        }
    }

    fn unreadable(&self, line: &[u8], error: &serde_json::Error) {
        /// As much as is needed to answer somebody.
        #[derive(Deserialize)]
        struct Envelope<'a> {
            #[serde(borrow)]
            id: Option<&'a RawValue>,
            method: Option<String>,
            #[serde(borrow)]
            result: Option<&'a RawValue>,
            #[serde(borrow)]
            error: Option<&'a RawValue>,
        }
        let is_json =
            std::str::from_utf8(line).is_ok_and(|text| serde_json::from_str::<&RawValue>(text).is_ok());
        if !is_json {
            self.refuse(ErrorCode::PARSE_ERROR, format!("the line is not JSON: {error}"), None);
            return;
        }
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
            let text = "a message is one JSON-RPC 2.0 object; batches are not supported";
            self.refuse(ErrorCode::INVALID_REQUEST, text.to_owned(), None);
            return;
        };
        // Unknown notifications and strange answers are no requests: nobody waits for a reply.
        if envelope.id.is_none() && envelope.method.is_some()
            || envelope.result.is_some()
            || envelope.error.is_some()
        {
            return;
        }
        let id = envelope.id.and_then(|id| serde_json::from_str::<RequestId>(id.get()).ok());
        self.refuse(ErrorCode::INVALID_REQUEST, format!("not a valid JSON-RPC 2.0 request: {error}"), id);
    }
}

/// After such a request the connection has its era, and everything a client may send has a meaning.
fn chooses_era(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(message) = message else { return false };
    match &message.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let known = |version| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(known)
        }
    }
}

impl<S: Source, W: Sink> Transport<RoleServer> for Lines<S, W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let sent = self.out.send(&item);
        let out = Arc::clone(&self.out);
        async move {
            match sent? {
                None => Ok(()),
                Some(end) => out.flushed(end).await,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(line) = self.line().await else {
                // Calls must know before the drain of their answers begins, or it would wait for them.
                self.closed.cancel();
                return None;
            };
            if self.quick.as_mut().is_some_and(|quick| quick.answers(&line, &self.out)) {
                continue;
            }
            if let Some(message) = self.parse(&line.bytes) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.closed.cancel();
        Ok(())
    }
}

impl Queue {
    /// Keeps a message of which some bytes are written already.
    fn wait(&mut self, message: Vec<u8>, written: usize) {
        if self.waiting.is_empty() {
            self.written = written;
        }
        self.left += (message.len() - written) as u64;
        self.waiting.push_back(message);
    }

    /// More of the first one is written.
    fn gone(&mut self, count: usize) {
        self.written += count;
        self.left -= count as u64;
        if self.waiting.front().is_some_and(|first| first.len() == self.written) {
            self.waiting.pop_front();
            self.written = 0;
        }
    }
}

impl<W: Sink> Out<W> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client is behind with reading.
    pub(super) fn is_behind(&self) -> bool {
        self.queue().left > 0
    }

    /// Writes a message with one write where it fits; gives its end when some of it has to wait.
    fn send(&self, message: &ServerJsonRpcMessage) -> io::Result<Option<u64>> {
        let mut bytes = Vec::with_capacity(1024);
        serde_json::to_writer(&mut bytes, message)?;
        bytes.push(b'\n');
        self.send_line(&mut bytes)
    }

    /// The same for messages that are written already, their newlines included. Taken when they have to wait.
    pub(super) fn send_line(&self, bytes: &mut Vec<u8>) -> io::Result<Option<u64>> {
        self.write(&mut self.queue(), bytes)
    }

    /// Goes on writing when the client reads; ends when it has or is gone.
    pub(super) fn flush_later(self: &Arc<Self>, end: u64) {
        let out = Arc::clone(self);
        tokio::spawn(async move { out.flushed(end).await });
    }

    fn write(&self, queue: &mut Queue, bytes: &mut Vec<u8>) -> io::Result<Option<u64>> {
        if queue.failed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        queue.end += bytes.len() as u64;
        let mut written = 0;
        while queue.left == 0 && written < bytes.len() {
            match self.sink.try_write(&bytes[written..]) {
                Ok(0) => return Err(self.fail(queue, io::ErrorKind::WriteZero.into())),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(self.fail(queue, error)),
            }
        }
        if written == bytes.len() {
            return Ok(None);
        }
        queue.wait(std::mem::take(bytes), written);
        Ok(Some(queue.end))
    }

    fn fail(&self, queue: &mut Queue, error: io::Error) -> io::Error {
        queue.failed = true;
        queue.waiting.clear();
        queue.left = 0;
        self.moved.notify_waiters();
        error
    }

    /// Resolves when everything up to `end` is written. One of the waiters writes for all.
    pub(super) async fn flushed(&self, end: u64) -> io::Result<()> {
        loop {
            let moved = self.moved.notified();
            match self.turn(end)? {
                Step::Done => return Ok(()),
                Step::Wait => moved.await,
                Step::Flush => {
                    let _turn = Turn(self);
                    self.flush().await?;
                }
            }
        }
    }

    fn turn(&self, end: u64) -> io::Result<Step> {
        let mut queue = self.queue();
        if queue.failed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if queue.end - queue.left >= end {
            return Ok(Step::Done);
        }
        if std::mem::replace(&mut queue.flushing, true) {
            return Ok(Step::Wait);
        }
        Ok(Step::Flush)
    }

    async fn flush(&self) -> io::Result<()> {
        loop {
            self.sink.writable().await?;
            let mut queue = self.queue();
            let Some(first) = queue.waiting.front() else { return Ok(()) };
            match self.sink.try_write(&first[queue.written..]) {
                Ok(count) => queue.gone(count),
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(self.fail(&mut queue, error)),
            }
        }
    }
}

enum Step {
    Done,
    Wait,
    Flush,
}

/// Whoever flushes hands over when it is done or dropped.
struct Turn<'a, W: Sink>(&'a Out<W>);

impl<W: Sink> Drop for Turn<'_, W> {
    fn drop(&mut self) {
        self.0.queue().flushing = false;
        self.0.moved.notify_waiters();
    }
}
