//! The bytes of one connection: keeps what the parser would hide from the guard, and ends so that
//! the last answer arrives.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// A client that still sends when we close would lose our answer to a reset: what it sends is read
/// and dropped for this long. Shorter cuts off large uploads that were refused; longer holds a place.
const LINGER: Duration = Duration::from_secs(2);
/// A client that sends nothing is not waited for, so that a stop stays quick.
const GRACE: Duration = Duration::from_millis(50);
/// A head is looked at up to the size the parser allows.
const HEAD: usize = 16 * 1024;

/// One connection as the HTTP layer reads and writes it.
pub(crate) struct Line {
    io: TokioIo<TcpStream>,
    // The first head as it arrives; `None` once it was looked at.
    head: Option<Vec<u8>>,
    ambiguous: Arc<AtomicBool>,
    closing: Option<Closing>,
}

struct Closing {
    timer: Pin<Box<Sleep>>,
    saw_bytes: bool,
}

impl Line {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            io: TokioIo::new(stream),
            head: Some(Vec::new()),
            ambiguous: Arc::new(AtomicBool::new(false)),
            closing: None,
        }
    }

    /// Becomes true when the first request came with both a length and chunks. The parser drops the
    /// length then and ends the connection after the request, so later ones need no look.
    pub(crate) fn ambiguous(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.ambiguous)
    }

    fn look(&mut self, bytes: &[u8]) {
        let Some(head) = &mut self.head else { return };
        head.extend_from_slice(bytes);
        let end = head.windows(4).position(|window| window == b"\r\n\r\n");
        if end.is_none() && head.len() < HEAD {
            return;
        }
        let end = end.unwrap_or(head.len());
        if is_ambiguous(&head[..end]) {
            self.ambiguous.store(true, Ordering::Relaxed);
        }
        self.head = None;
    }
}

/// Both `Content-Length` and `Transfer-Encoding` (security C13).
fn is_ambiguous(head: &[u8]) -> bool {
    let has = |wanted: &[u8]| {
        head.split(|byte| *byte == b'\n').any(|line| {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            name.trim_ascii().eq_ignore_ascii_case(wanted)
        })
    };
    has(b"content-length") && has(b"transfer-encoding")
}

impl Read for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.head.is_none() {
            return Pin::new(&mut self.io).poll_read(cx, buf);
        }
        let mut space = [0; 4096];
        let room = space.len().min(buf.remaining());
        let mut chunk = ReadBuf::new(&mut space[..room]);
        ready!(Pin::new(self.io.inner_mut()).poll_read(cx, &mut chunk))?;
        self.look(chunk.filled());
        buf.put_slice(chunk.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.closing.is_none() {
            ready!(Pin::new(&mut self.io).poll_shutdown(cx))?;
            self.closing = Some(Closing { timer: Box::pin(tokio::time::sleep(GRACE)), saw_bytes: false });
        }
        let this = &mut *self;
        let Some(closing) = &mut this.closing else { return Poll::Ready(Ok(())) };
        let mut space = [0; 16 * 1024];
        loop {
            let mut chunk = ReadBuf::new(&mut space);
            match Pin::new(this.io.inner_mut()).poll_read(cx, &mut chunk) {
                Poll::Ready(Ok(())) if !chunk.filled().is_empty() => {
                    if !closing.saw_bytes {
                        closing.saw_bytes = true;
                        closing.timer = Box::pin(tokio::time::sleep(LINGER));
                    }
                    // Polled also while bytes keep coming: the time is a bound, not an idle time.
                    if closing.timer.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(Ok(()));
                    }
                }
                // The other side closed, too, or is gone: nothing is left to wait for.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    ready!(closing.timer.as_mut().poll(cx));
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_beside_chunks_is_noticed_in_any_spelling() {
        for head in [
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nX: y\r\nCONTENT-LENGTH:3",
            "POST / HTTP/1.1\ncontent-length : 3\nTransfer-Encoding: x",
        ] {
            assert!(is_ambiguous(head.as_bytes()), "{head}");
        }
        for head in [
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nX: transfer-encoding: chunked",
            "POST /content-length: HTTP/1.1\r\nTransfer-Encoding: chunked",
            "GET / HTTP/1.1\r\nHost: x",
        ] {
            assert!(!is_ambiguous(head.as_bytes()), "{head}");
        }
    }
}
