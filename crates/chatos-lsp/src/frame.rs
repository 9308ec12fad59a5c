//! The framing of the protocol: `Content-Length`, an empty line, that many bytes of JSON.
//!
//! Linear in what arrives and bounded in what is kept, whatever the other side sends (servers §10).

use std::fmt;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// Longest message; a longer one ends the connection.
pub(crate) const MAX_MESSAGE: usize = 32 << 20;
/// Longest header; two short lines are usual.
const MAX_HEADER: u64 = 8 << 10;

/// Messages as they come.
pub(crate) struct Frames<R> {
    stream: BufReader<R>,
}

/// Why no further message can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// What came is no message.
    Garbage(String),
    /// A message is too long.
    TooLong(u64),
    /// The stream broke in a message.
    Torn,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Garbage(line) => write!(f, "it sent something that is no message: {line:?}"),
            Self::TooLong(bytes) => {
                write!(f, "it sent a message of {bytes} bytes, {MAX_MESSAGE} are allowed")
            }
            Self::Torn => write!(f, "it closed its output in the middle of a message"),
        }
    }
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self { stream: BufReader::with_capacity(64 << 10, stream) }
    }

    /// The next message; nothing at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let mut length: Option<u64> = None;
        let mut left = MAX_HEADER;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut self.stream).take(left).read_until(b'\n', &mut line).await;
            let read = read.map_err(|_| FrameError::Torn)? as u64;
            if read == 0 && left == MAX_HEADER {
                return Ok(None);
            }
            if !line.ends_with(b"\n") {
                return Err(if read == left { garbage(&line) } else { FrameError::Torn });
            }
            left -= read;
            let text = line.trim_ascii_end();
            if text.is_empty() {
                match length {
                    Some(length) => return self.body(length).await.map(Some),
                    // Some programs print an empty line first.
                    None if left + read == MAX_HEADER => {
                        left = MAX_HEADER;
                        continue;
                    }
                    None => return Err(garbage(b"no Content-Length")),
                }
            }
            let header = std::str::from_utf8(text).ok().and_then(|text| text.split_once(':'));
            let Some((name, value)) = header else { return Err(garbage(text)) };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse().map_err(|_| garbage(text))?);
            }
        }
    }

    async fn body(&mut self, length: u64) -> Result<Vec<u8>, FrameError> {
        let size = usize::try_from(length).ok().filter(|size| *size <= MAX_MESSAGE);
        let mut body = vec![0; size.ok_or(FrameError::TooLong(length))?];
        self.stream.read_exact(&mut body).await.map_err(|_| FrameError::Torn)?;
        Ok(body)
    }
}

fn garbage(line: &[u8]) -> FrameError {
    FrameError::Garbage(String::from_utf8_lossy(line).chars().take(120).collect())
}

/// A message with its header.
pub(crate) fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<FrameError>) {
        let mut frames = Frames::new(bytes);
        let mut got = Vec::new();
        loop {
            match frames.next().await {
                Ok(Some(body)) => got.push(body),
                Ok(None) => return (got, None),
                Err(error) => return (got, Some(error)),
            }
        }
    }

    #[tokio::test]
    async fn messages_are_read_one_after_the_other() {
        let mut bytes = framed(b"{}");
        bytes.extend(b"content-length: 3\r\nContent-Type: x; charset=utf-8\r\n\r\n\"\xc3\xa9");
        bytes.extend(framed(b""));
        let (got, error) = all(&bytes).await;
        assert_eq!(got, [b"{}".to_vec(), b"\"\xc3\xa9".to_vec(), Vec::new()]);
        assert_eq!(error, None);
    }

    #[tokio::test]
    async fn what_is_no_message_ends_it_with_a_reason() {
        let error = |bytes: &'static [u8]| async { all(bytes).await.1.unwrap() };
        assert!(matches!(error(b"hello world\n").await, FrameError::Garbage(line) if line == "hello world"));
        assert!(matches!(error(b"Content-Length: x\r\n\r\n").await, FrameError::Garbage(_)));
        assert!(matches!(error(b"A: 1\r\n\r\n").await, FrameError::Garbage(_)));
        assert_eq!(error(b"Content-Length: 99999999999\r\n\r\n").await, FrameError::TooLong(99_999_999_999));
        assert_eq!(error(b"Content-Length: 5\r\n\r\nab").await, FrameError::Torn);
        assert_eq!(error(b"Content-Len").await, FrameError::Torn);
        let endless: &'static [u8] = Box::leak(vec![b'x'; 20 << 10].into_boxed_slice());
        assert!(matches!(error(endless).await, FrameError::Garbage(line) if line.len() == 120));
    }
}
