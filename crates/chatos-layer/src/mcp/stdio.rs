//! Standard input and output as the two streams of a connection.
//!
//! Pipes and sockets (what clients use) are read and written without threads; anything else, such as
//! a terminal or a file, goes through one reading thread.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::sync::Arc;
use std::time::Duration;

use chatos_tool::{Transport, limits};
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rustix::fs::OFlags;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Endpoint;
use super::connection::Connection;
use super::quick::QuickCalls;
use super::wire::{Lines, Sink, Source};

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end.
    ClientGone,
    /// `stop` was cancelled.
    Stopped,
}

/// Serves one client over standard input and output until it goes away or `stop` is cancelled. Calls
/// are ended, their questions withdrawn, all within three seconds (tools §16.2).
pub async fn serve_stdio(endpoint: Arc<Endpoint>, stop: CancellationToken) -> io::Result<Ended> {
    let closed = CancellationToken::new();
    let connection = Connection::new(Arc::clone(&endpoint), Transport::Stdio, closed.clone());
    let quick = QuickCalls::new(&endpoint, &connection);
    let roots = Arc::clone(&connection.roots);
    let transport = Lines::new(Input::open()?, Output::open()?, closed.clone(), quick, roots);
    // Calls learn that their asker is gone before the connection cancels them one by one.
    let service = CancellationToken::new();
    let serving = async {
        match Box::pin(serve_server_with_ct(connection, transport, service.child_token())).await {
            Ok(running) => drop(running.waiting().await),
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
            Err(error) => tracing::warn!(%error, "the connection failed before it began"),
        }
    };
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        () = &mut serving => None,
        () = closed.cancelled() => Some(Ended::ClientGone),
        () = stop.cancelled() => Some(Ended::Stopped),
    };
    closed.cancel();
    if ended == Some(Ended::Stopped) {
        service.cancel();
    }
    // Answers of calls that end now still go out; then what they leave behind is waited for.
    let patience = Duration::from_millis(limits::SHUTDOWN_MS * 5 / 6);
    let began = tokio::time::Instant::now();
    let finish = async {
        if ended.is_some() {
            serving.await;
        }
    };
    tokio::time::timeout(patience, finish).await.ok();
    endpoint.layer().close(patience.saturating_sub(began.elapsed()).max(Duration::from_millis(50))).await;
    Ok(if stop.is_cancelled() { Ended::Stopped } else { ended.unwrap_or(Ended::ClientGone) })
}

/// Standard input.
enum Input {
    Pipe(pipe::Receiver),
    Socket(UnixStream),
    Thread(mpsc::Receiver<io::Result<Vec<u8>>>, Vec<u8>),
}

impl Input {
    fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        match kind(stdin.as_fd())? {
            Kind::Fifo => {
                if let Some(receiver) =
                    reopen("/proc/self/fd/0", false).and_then(|fd| pipe::Receiver::from_owned_fd(fd).ok())
                {
                    return Ok(Self::Pipe(receiver));
                }
            }
            Kind::UnixSocket => return Ok(Self::Socket(socket(stdin.as_fd())?)),
            Kind::Other => {}
        }
        Ok(Self::Thread(reading_thread()?, Vec::new()))
    }
}

impl Source for Input {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => loop {
                pipe.readable().await?;
                match pipe.try_read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                }
            },
            Self::Socket(socket) => loop {
                socket.ready(Interest::READABLE).await?;
                match socket.try_read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                }
            },
            Self::Thread(chunks, rest) => {
                if rest.is_empty() {
                    match chunks.recv().await {
                        None => return Ok(0),
                        Some(chunk) => *rest = chunk?,
                    }
                }
                let count = rest.len().min(buffer.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                rest.drain(..count);
                Ok(count)
            }
        }
    }
}

/// A thread of its own: a blocking read cannot be given up. It ends with the stream or the process.
fn reading_thread() -> io::Result<mpsc::Receiver<io::Result<Vec<u8>>>> {
    let (chunks, inbox) = mpsc::channel(4);
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        loop {
            let mut chunk = vec![0; 64 * 1024];
            let read = stdin.read(&mut chunk);
            let end = matches!(read, Ok(0) | Err(_));
            let sent = chunks.blocking_send(read.map(|count| {
                chunk.truncate(count);
                chunk
            }));
            if end || sent.is_err() {
                return;
            }
        }
    })?;
    Ok(inbox)
}

/// Standard output.
enum Output {
    Pipe(pipe::Sender),
    Socket(UnixStream),
    // A terminal or a file takes everything at once.
    Blocking,
}

impl Output {
    fn open() -> io::Result<Self> {
        let stdout = io::stdout();
        match kind(stdout.as_fd())? {
            Kind::Fifo => {
                if let Some(sender) =
                    reopen("/proc/self/fd/1", true).and_then(|fd| pipe::Sender::from_owned_fd(fd).ok())
                {
                    return Ok(Self::Pipe(sender));
                }
            }
            Kind::UnixSocket => return Ok(Self::Socket(socket(stdout.as_fd())?)),
            Kind::Other => {}
        }
        Ok(Self::Blocking)
    }
}

impl Sink for Output {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.try_write(bytes),
            Self::Socket(socket) => socket.try_write(bytes),
            Self::Blocking => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()?;
                Ok(bytes.len())
            }
        }
    }

    async fn writable(&self) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.writable().await,
            Self::Socket(socket) => socket.writable().await,
            Self::Blocking => Ok(()),
        }
    }
}

enum Kind {
    Fifo,
    UnixSocket,
    Other,
}

fn kind(fd: std::os::fd::BorrowedFd<'_>) -> io::Result<Kind> {
    let file = std::fs::File::from(fd.try_clone_to_owned()?);
    let kind = file.metadata()?.file_type();
    let unix = || {
        rustix::net::sockopt::socket_domain(fd).is_ok_and(|domain| domain == rustix::net::AddressFamily::UNIX)
    };
    Ok(if kind.is_fifo() {
        Kind::Fifo
    } else if kind.is_socket() && unix() {
        Kind::UnixSocket
    } else {
        Kind::Other
    })
}

/// The same pipe with an open file description of its own: not blocking is then our private matter
/// and does not reach the other processes that share the stream.
fn reopen(path: &str, write: bool) -> Option<OwnedFd> {
    let mut options = std::fs::OpenOptions::new();
    options.read(!write).write(write).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options.open(path).ok().map(Into::into)
}

fn socket(fd: std::os::fd::BorrowedFd<'_>) -> io::Result<UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd.try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
