//! Server-sent events, from bytes that arrive in any pieces.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The `event:` name; empty when there was none.
    pub event: String,
    /// The `data:` lines, joined by line feeds.
    pub data: String,
}

/// Largest event. A tool call of a megabyte is a few such events; more is not an answer.
const LARGEST: usize = 16 * 1024 * 1024;

/// A stream that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// One event without an end.
    #[error("one event of the stream is larger than {LARGEST} bytes")]
    TooLarge,
}

/// The parser. Lines end with LF, CRLF or CR; a byte order mark at the start is skipped; bytes
/// that are not UTF-8 become U+FFFD; comments, `id:` and `retry:` are ignored.
#[derive(Debug, Default)]
pub struct Sse {
    line: Vec<u8>,
    frame: Frame,
    has_data: bool,
    after_cr: bool,
    begun: bool,
}

impl Sse {
    /// Takes more bytes and gives the events they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, SseError> {
        let mut frames = Vec::new();
        for &byte in bytes {
            let second_half = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            if second_half {
                continue;
            }
            if byte == b'\n' || byte == b'\r' {
                self.end_of_line(&mut frames);
            } else {
                self.line.push(byte);
                if self.line.len() + self.frame.data.len() > LARGEST {
                    return Err(SseError::TooLarge);
                }
            }
        }
        Ok(frames)
    }

    /// The stream ended. An event without its blank line is given too: several vendors end so.
    pub fn end(mut self) -> Option<Frame> {
        let mut frames = Vec::new();
        if !self.line.is_empty() {
            self.end_of_line(&mut frames);
        }
        self.end_of_line(&mut frames);
        frames.pop()
    }

    fn end_of_line(&mut self, frames: &mut Vec<Frame>) {
        let line = std::mem::take(&mut self.line);
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if !self.begun => rest,
            _ => &line,
        };
        self.begun = true;
        if line.is_empty() {
            let frame = std::mem::take(&mut self.frame);
            if std::mem::take(&mut self.has_data) {
                frames.push(frame);
            }
            return;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(0) => return,
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"event" => self.frame.event = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if self.has_data {
                    self.frame.data.push('\n');
                }
                self.has_data = true;
                self.frame.data.push_str(&String::from_utf8_lossy(value));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8], cuts: &[usize]) -> Vec<Frame> {
        let mut sse = Sse::default();
        let mut frames = Vec::new();
        let mut from = 0;
        for cut in cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([bytes.len()]) {
            if cut > from {
                frames.extend(sse.feed(&bytes[from..cut]).unwrap());
                from = cut;
            }
        }
        frames.extend(sse.end());
        frames
    }

    fn frame(event: &str, data: &str) -> Frame {
        Frame { event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn fields_comments_and_line_ends() {
        let text = b"\xef\xbb\xbf: hello\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\ndata\n\nid: 7\nretry: 1\n\ndata: last";
        assert_eq!(all(text, &[]), [frame("a", "1\n2"), frame("", ""), frame("", "last")]);
    }

    #[test]
    fn an_event_without_an_end_is_refused_not_kept() {
        let mut sse = Sse::default();
        let mut result = Ok(Vec::new());
        for _ in 0..40 {
            result = sse.feed(&vec![b'x'; 512 * 1024]);
            if result.is_err() {
                break;
            }
        }
        assert_eq!(result, Err(SseError::TooLarge));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            text in "((data|event|id|:)?[: ]{0,2}[a-z\u{4e2d}]{0,3}(\n|\r\n|\r)){0,12}",
            mut cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            cuts.sort_unstable();
            prop_assert_eq!(all(text.as_bytes(), &cuts), all(text.as_bytes(), &[]));
        }
    }
}
