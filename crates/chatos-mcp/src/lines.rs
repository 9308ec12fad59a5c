//! JSON-RPC over a byte stream, one message per line: the reading and the writing end.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::limits::MESSAGE_BYTES;
use crate::router::Router;

/// Bytes asked for at a time.
const CHUNK: usize = 64 * 1024;
/// Messages taken from the queue at a time.
const TOGETHER: usize = 32;

/// Reads messages until the stream ends, and says how it ended. A torn last line is noise.
pub(crate) async fn read<R: AsyncRead + Unpin>(mut reader: R, router: &Arc<Router>) -> Failure {
    let mut buffer: Vec<u8> = Vec::with_capacity(CHUNK);
    // Bytes of `buffer` that hold no newline.
    let mut searched = 0;
    loop {
        if buffer.capacity() - buffer.len() < CHUNK / 2 {
            buffer.reserve(CHUNK);
        }
        match reader.read_buf(&mut buffer).await {
            Ok(0) => {
                router.line(&buffer);
                return Failure::Closed { reason: "it closed its output".to_owned() };
            }
            Ok(_) => {}
            Err(error) => return Failure::Closed { reason: error.to_string() },
        }
        let mut start = 0;
        while let Some(at) = memchr::memchr(b'\n', &buffer[searched..]) {
            let end = searched + at;
            if end - start > MESSAGE_BYTES {
                return Failure::TooLong;
            }
            router.line(&buffer[start..end]);
            start = end + 1;
            searched = start;
        }
        buffer.drain(..start);
        searched = buffer.len();
        if buffer.len() > MESSAGE_BYTES {
            return Failure::TooLong;
        }
        if buffer.is_empty() && buffer.capacity() > 16 * CHUNK {
            buffer = Vec::with_capacity(CHUNK);
        }
    }
}

/// Writes whole messages until told to stop or until nobody sends any more; then drops the writer,
/// which closes it. A server that does not read keeps only this task waiting.
pub(crate) async fn write<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut queue: mpsc::Receiver<Vec<u8>>,
    stop: CancellationToken,
) {
    let mut waiting = Vec::new();
    loop {
        let taken = tokio::select! {
            taken = queue.recv_many(&mut waiting, TOGETHER) => taken,
            () = stop.cancelled() => 0,
        };
        if taken == 0 {
            break;
        }
        let written = tokio::select! {
            written = write_all(&mut writer, &mut waiting) => written,
            () = stop.cancelled() => break,
        };
        if let Err(error) = written {
            // The reading end or the exit tells the reason; here only the writing stops.
            tracing::debug!(%error, "cannot write to the server");
            break;
        }
    }
    // Later senders learn that nobody writes any more.
    queue.close();
}

/// Small messages that wait at the same time go out in one piece.
async fn write_all<W: AsyncWrite + Unpin>(writer: &mut W, waiting: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    let mut messages = waiting.drain(..).peekable();
    while let Some(mut bytes) = messages.next() {
        while let Some(next) = messages.next_if(|next| bytes.len() + next.len() <= CHUNK) {
            bytes.extend_from_slice(&next);
        }
        writer.write_all(&bytes).await?;
    }
    writer.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_waits_together_arrives_whole_and_in_order() {
        let (queue, waiting) = mpsc::channel(64);
        let (writer, mut reader) = tokio::io::duplex(1024);
        let sizes = [1, 70_000, 5, 60_000, 9_000, 3];
        let mut sent = Vec::new();
        for (n, size) in sizes.into_iter().cycle().take(40).enumerate() {
            let message = vec![b'a' + u8::try_from(n % 26).unwrap(); size];
            sent.extend_from_slice(&message);
            queue.try_send(message).unwrap();
        }
        drop(queue);
        let task = tokio::spawn(write(writer, waiting, CancellationToken::new()));
        let mut got = Vec::new();
        reader.read_to_end(&mut got).await.unwrap();
        task.await.unwrap();
        assert!(got == sent, "{} bytes of {}", got.len(), sent.len());
    }
}
