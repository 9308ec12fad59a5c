//! Lines of JSON, from bytes that arrive in any pieces. Ollama streams so.

use crate::SseError;

/// Largest line, as of an event of a stream.
const LARGEST: usize = 16 * 1024 * 1024;

/// The reader. Lines end with LF or CRLF; empty ones are nothing.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    line: Vec<u8>,
}

impl Lines {
    /// Takes more bytes and gives the lines they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, SseError> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() > LARGEST {
                return Err(SseError::TooLarge);
            }
            if piece.ends_with(b"\n") {
                lines.extend(self.end());
            }
        }
        Ok(lines)
    }

    /// What is there without its end.
    pub(crate) fn end(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).trim().to_owned();
        (!line.is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_matter_and_a_line_without_an_end_is_refused() {
        let text = "{\"a\":\"é\"}\r\n\n{\"b\":1}\n{\"c\"".as_bytes();
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut all = Vec::new();
            for piece in text.chunks(size) {
                all.extend(lines.feed(piece).unwrap());
            }
            all.extend(lines.end());
            assert_eq!(all, ["{\"a\":\"é\"}", "{\"b\":1}", "{\"c\""], "{size}");
        }
        let mut lines = Lines::default();
        let mut result = Ok(Vec::new());
        for _ in 0..40 {
            result = lines.feed(&vec![b'x'; 512 * 1024]);
            if result.is_err() {
                break;
            }
        }
        assert_eq!(result, Err(SseError::TooLarge));
    }
}
