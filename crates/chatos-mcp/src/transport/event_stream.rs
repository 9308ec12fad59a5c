//! `text/event-stream`, read piece by piece within a bound.

use crate::limits::MESSAGE_BYTES;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// `message` when the server gave no name.
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// Reads events from pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    line: Vec<u8>,
    after_cr: bool,
    began: bool,
    event: Event,
    has_data: bool,
    /// The last event id the server gave.
    pub(crate) last_id: Option<String>,
    /// How long to wait before asking again, in milliseconds, as the server wants it.
    pub(crate) retry: Option<u64>,
}

/// An event above the limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl EventStream {
    /// Takes a piece and hands over the events it completes.
    pub(crate) fn feed(&mut self, piece: &[u8], mut event: impl FnMut(Event)) -> Result<(), TooLong> {
        for &byte in piece {
            // CRLF is one end of line, also when it is cut between two pieces.
            if std::mem::take(&mut self.after_cr) && byte == b'\n' {
                continue;
            }
            match byte {
                b'\r' | b'\n' => {
                    self.after_cr = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    if let Some(done) = self.take_line(&line) {
                        event(done);
                    }
                    self.line = line;
                    self.line.clear();
                }
                byte => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > MESSAGE_BYTES + 16 {
                return Err(TooLong);
            }
        }
        Ok(())
    }

    fn take_line(&mut self, mut line: &[u8]) -> Option<Event> {
        if !std::mem::replace(&mut self.began, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let mut event = std::mem::take(&mut self.event);
            if !std::mem::take(&mut self.has_data) {
                return None;
            }
            if event.name.is_empty() {
                "message".clone_into(&mut event.name);
            }
            return Some(event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) && value.len() <= 4_096 => {
                self.last_id = std::str::from_utf8(value).ok().map(str::to_owned).filter(|id| !id.is_empty());
            }
            b"retry" => self.retry = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> (Vec<(String, String)>, EventStream) {
        let mut stream = EventStream::default();
        let mut events = Vec::new();
        for piece in pieces {
            let done = stream.feed(piece, |event| {
                events.push((event.name, String::from_utf8(event.data).unwrap()));
            });
            done.unwrap();
        }
        (events, stream)
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let text = "\u{feff}: hello\r\nevent: endpoint\r\ndata: /m?x=1\r\n\r\nid: 7\nretry: 250\ndata:{\"a\":\ndata: 1}\r\rdata\n\nevent: none\n\nx: y\ndata: é\n\n";
        let expected = vec![
            ("endpoint".to_owned(), "/m?x=1".to_owned()),
            ("message".to_owned(), "{\"a\":\n1}".to_owned()),
            ("message".to_owned(), String::new()),
            ("message".to_owned(), "é".to_owned()),
        ];
        let (whole, stream) = all(&[text.as_bytes()]);
        assert_eq!(whole, expected);
        assert_eq!((stream.last_id.as_deref(), stream.retry), (Some("7"), Some(250)));
        for cut in 0..text.len() {
            let (left, right) = text.as_bytes().split_at(cut);
            assert_eq!(all(&[left, right]).0, expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut stream = EventStream::default();
        let piece = vec![b'x'; 1024 * 1024];
        let refused = (0..10).find_map(|_| stream.feed(&piece, |_| {}).err());
        assert_eq!(refused, Some(TooLong));
    }
}
