//! Lines over a backend's channel: one JSON-RPC object each, at most 32 MiB.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::limits::MESSAGE_BYTES;

/// Reads lines until the other side is gone.
pub(super) struct Lines<R> {
    stream: R,
    buffer: Vec<u8>,
    /// Bytes of the buffer that hold no newline.
    searched: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::with_capacity(16 * 1024), searched: 0 }
    }

    /// The next line without its end; `None` at the end of the stream. A line that is too long is an
    /// error, and so is the stream after it.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
                let rest = self.buffer.split_off(self.searched + end + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.pop();
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > MESSAGE_BYTES {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is larger than 32 MiB"));
            }
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// Writes what comes in until nobody sends any more or the other side is gone.
pub(super) async fn write<W: AsyncWrite + Unpin>(mut stream: W, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        // The reader sees the end of the other side, too, and tells why.
        if stream.write_all(&line).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_and_a_flood_without_end_is_refused() {
        let mut lines = Lines::new(&b"a\n\nbc\nrest"[..]);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(seen, ["a", "", "bc"]);
        let mut endless = Lines::new(tokio::io::repeat(b'x'));
        assert!(endless.next().await.is_err());
    }
}
