//! What a child says on its error stream: always drained, the end of it kept.

use std::sync::Arc;

use chatos_child::{Rate, Tail, drain_lines};
use tokio::io::AsyncRead;

use crate::hooks::{LogLine, LogSource};
use crate::limits::{LOG_LINES_PER_SECOND, STDERR_LINE_BYTES};
use crate::router::Router;

/// Drains a stream into the tail and, at a bounded pace, into the server's log.
pub(crate) async fn drain<R: AsyncRead + Unpin>(stream: R, tail: Arc<Tail>, router: Arc<Router>) {
    let mut rate = Rate::per_second(LOG_LINES_PER_SECOND);
    drain_lines(stream, STDERR_LINE_BYTES, |text| {
        if rate.take() {
            let missed = rate.missed();
            if missed > 0 {
                let text = format!("{missed} lines of the error stream were left out");
                router.log(LogLine { source: LogSource::Client, level: None, text });
            }
            router.log(LogLine { source: LogSource::Stderr, level: None, text: text.clone() });
        }
        tail.push(text);
    })
    .await;
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
