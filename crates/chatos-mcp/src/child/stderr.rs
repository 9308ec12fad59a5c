//! What a child says on its error stream: always drained, the end of it kept.

use std::sync::Arc;

use chatos_child::{Rate, Tail};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::hooks::{LogLine, LogSource};
use crate::limits::{LOG_LINES_PER_SECOND, STDERR_LINE_BYTES};
use crate::router::Router;

/// Drains a stream into the tail and, at a bounded pace, into the server's log.
pub(crate) async fn drain<R: AsyncRead + Unpin>(mut stream: R, tail: Arc<Tail>, router: Arc<Router>) {
    let mut chunk = vec![0; 16 * 1024];
    let mut line: Vec<u8> = Vec::new();
    let mut cut = false;
    let mut rate = Rate::per_second(LOG_LINES_PER_SECOND);
    let mut finish = |line: &mut Vec<u8>, cut: &mut bool| {
        let mut text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        if std::mem::take(cut) {
            text.push('…');
        }
        line.clear();
        if rate.take() {
            let missed = rate.missed();
            if missed > 0 {
                let text = format!("{missed} lines of the error stream were left out");
                router.log(LogLine { source: LogSource::Client, level: None, text });
            }
            router.log(LogLine { source: LogSource::Stderr, level: None, text: text.clone() });
        }
        tail.push(text);
    };
    loop {
        let read = match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        let mut rest = &chunk[..read];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            keep(&mut line, &mut cut, &rest[..end]);
            finish(&mut line, &mut cut);
            rest = &rest[end + 1..];
        }
        keep(&mut line, &mut cut, rest);
    }
    if !line.is_empty() {
        finish(&mut line, &mut cut);
    }
}

fn keep(line: &mut Vec<u8>, cut: &mut bool, bytes: &[u8]) {
    let room = STDERR_LINE_BYTES - line.len();
    line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    *cut |= bytes.len() > room;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::{NoHooks, Offers, ServerKey};

    #[tokio::test]
    async fn a_flood_keeps_its_end_and_an_endless_line_its_beginning() {
        let (router, _outgoing) = Router::new(ServerKey::new("t"), Arc::new(NoHooks), Offers::default());
        let tail = Arc::new(Tail::default());
        let mut flood: Vec<u8> = (0..200_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        flood.extend(std::iter::repeat_n(b'x', 300_000));
        drain(flood.as_slice(), Arc::clone(&tail), router).await;
        let last = tail.last(2);
        assert_eq!(last[0], "line 199999");
        assert_eq!(last[1].len(), STDERR_LINE_BYTES + '…'.len_utf8());
    }
}
