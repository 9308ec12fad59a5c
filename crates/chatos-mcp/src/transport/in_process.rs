//! A server in this process, behind an in-memory stream with the same framing as a child.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Link, QueueLink};
use crate::endpoint::InProcess;
use crate::limits::OUT_QUEUE;
use crate::lines;
use crate::router::Router;

/// Bytes on their way in one direction; a larger message goes through in pieces.
const BUFFER: usize = 256 * 1024;

/// Opens a connection to it.
pub(crate) fn open(server: &dyn InProcess, router: &Arc<Router>) -> Link {
    let (ours, theirs) = tokio::io::duplex(BUFFER);
    server.serve(theirs);
    let (reader, writer) = tokio::io::split(ours);
    let stop = CancellationToken::new();
    let (queue, waiting) = mpsc::channel(OUT_QUEUE);
    tokio::spawn(lines::write(writer, waiting, stop.clone()));
    let reading = Arc::clone(router);
    let stopped = stop.clone();
    // Dropping the reader with the task ends the stream for the server.
    tokio::spawn(async move {
        let ended = tokio::select! {
            ended = lines::read(reader, &reading) => ended,
            () = stopped.cancelled() => crate::failure::Failure::Stopped,
        };
        reading.close(ended);
        stopped.cancel();
    });
    Link::Queue(QueueLink { queue, router: Arc::clone(router), stop, child: None })
}
