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
    loop {
        let message = tokio::select! {
            message = queue.recv() => message,
            () = stop.cancelled() => None,
        };
        let Some(message) = message else { break };
        let written = tokio::select! {
            written = async { writer.write_all(&message).await?; writer.flush().await } => written,
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
