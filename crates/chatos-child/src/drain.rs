//! Draining what a child says, line by line, however long its lines are and however fast they come.

use tokio::io::{AsyncRead, AsyncReadExt};

/// Reads until the end and gives every line, at most `most` bytes of each; a cut one ends in `…`.
pub async fn drain_lines<R: AsyncRead + Unpin>(mut stream: R, most: usize, mut give: impl FnMut(String)) {
    let mut chunk = vec![0; 16 * 1024];
    let mut line = Line { bytes: Vec::new(), cut: false, most };
    loop {
        let read = match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        let mut rest = &chunk[..read];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            line.keep(&rest[..end]);
            give(line.finish());
            rest = &rest[end + 1..];
        }
        line.keep(rest);
    }
    if !line.bytes.is_empty() {
        give(line.finish());
    }
}

struct Line {
    bytes: Vec<u8>,
    cut: bool,
    most: usize,
}

impl Line {
    fn keep(&mut self, bytes: &[u8]) {
        let room = self.most - self.bytes.len();
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.cut |= bytes.len() > room;
    }

    fn finish(&mut self) -> String {
        let whole = self.bytes.strip_suffix(b"\r").unwrap_or(&self.bytes);
        let mut text = String::from_utf8_lossy(whole).into_owned();
        if std::mem::take(&mut self.cut) {
            text.push('…');
        }
        self.bytes.clear();
        text
    }
}
