//! A child process behind its standard streams.

use std::sync::Arc;

use chatos_child::{Spawning, Tail};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Link, QueueLink};
use crate::child::{self, stderr};
use crate::endpoint::CommandLine;
use crate::failure::Failure;
use crate::limits::{OUT_QUEUE, Times};
use crate::lines;
use crate::router::Router;

/// Starts the program and connects to it.
pub(crate) async fn open(
    command: &CommandLine,
    spawning: &Spawning,
    router: &Arc<Router>,
    times: Times,
) -> Result<Link, Failure> {
    let (started, streams) = child::start(command, spawning).await?;
    let stop = CancellationToken::new();
    let (queue, waiting) = mpsc::channel(OUT_QUEUE);
    let tail = Arc::new(Tail::default());
    let child::Streams { stdin, stdout, stderr: errors } = streams;
    // All three end with the process, which the keeper below waits for; it aborts what a grandchild
    // keeps open.
    tokio::spawn(lines::write(stdin, waiting, stop.clone()));
    let reading = Arc::clone(router);
    let output = tokio::spawn(async move { lines::read(stdout, &reading).await });
    let errors = tokio::spawn(stderr::drain(errors, Arc::clone(&tail), Arc::clone(router)));
    let child = started.keep(output, errors, tail, stop.clone(), Arc::clone(router), times);
    Ok(Link::Queue(QueueLink { queue, router: Arc::clone(router), stop, child: Some(child) }))
}
