//! Listening: loopback on both families, bounded connections, and a stop that waits for its answers.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::caller::Peer;
use crate::line::Line;

/// security T2.8.
const CONNECTIONS: usize = 1024;
const HEADER_BYTES: usize = 16 * 1024;
const HEADER_TIME: Duration = Duration::from_secs(10);
/// How long a stop waits for answers under way.
const DRAIN: Duration = Duration::from_secs(2);
/// Ports tried after the default one when nobody asked for a certain port.
const MORE_PORTS: u16 = 50;

/// Where to listen.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Loopback unless a person allowed more.
    pub address: IpAddr,
    /// The port; 0 is any free one.
    pub port: u16,
    /// The port was asked for: no other one will do.
    pub exact: bool,
}

/// Why no port could be had.
#[derive(Debug)]
pub enum BindError {
    /// Somebody else listens there.
    Taken {
        /// The port.
        port: u16,
    },
    /// The system refused.
    Io {
        /// What was tried.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// Bound sockets, not yet serving: the port is known before the application is made.
pub struct Server {
    listeners: Vec<TcpListener>,
    port: u16,
}

impl Server {
    /// Binds the address, and its loopback twin of the other family where there is one.
    pub async fn bind(options: &ServeOptions) -> Result<Self, BindError> {
        let last = if options.exact || options.port == 0 { 0 } else { MORE_PORTS };
        for step in 0..=last {
            let port = options.port.saturating_add(step);
            match bind_both(options.address, port).await {
                Ok((listeners, port)) => return Ok(Self { listeners, port }),
                Err(BindError::Taken { .. }) if step < last => {}
                Err(error) => return Err(error),
            }
        }
        Err(BindError::Taken { port: options.port })
    }

    /// The port in use.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves until the host shuts down, then waits briefly for answers under way.
    pub async fn run(self, app: App) {
        let shutdown = app.host().shutdown().clone();
        let connections = Arc::new(Connections::default());
        let mut accepting = tokio::task::JoinSet::new();
        for listener in self.listeners {
            accepting.spawn(accept(listener, app.clone(), Arc::clone(&connections)));
        }
        shutdown.cancelled().await;
        accepting.abort_all();
        while accepting.join_next().await.is_some() {}
        connections.drain().await;
    }
}

async fn bind_both(address: IpAddr, port: u16) -> Result<(Vec<TcpListener>, u16), BindError> {
    // With port 0 the twin may be taken by chance; another draw settles that.
    let draws = if port == 0 { 8 } else { 1 };
    for draw in 1..=draws {
        let first = bind(SocketAddr::new(address, port)).await?;
        let local = first
            .local_addr()
            .map_err(|source| BindError::Io { address: SocketAddr::new(address, port), source })?;
        let twin = match address {
            IpAddr::V4(Ipv4Addr::LOCALHOST) => IpAddr::V6(Ipv6Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            _ if address.is_unspecified() => return Ok((vec![first], local.port())),
            // A single outside address: commands on this machine still come by loopback.
            _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        match bind(SocketAddr::new(twin, local.port())).await {
            Ok(second) => return Ok((vec![first, second], local.port())),
            // `localhost` might lead to whoever holds the twin: that port is as good as taken.
            Err(BindError::Taken { .. }) if draw < draws => {}
            Err(error @ BindError::Taken { .. }) => return Err(error),
            // No such family on this machine.
            Err(BindError::Io { .. }) => return Ok((vec![first], local.port())),
        }
    }
    Err(BindError::Taken { port })
}

async fn bind(address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => BindError::Taken { port: address.port() },
        _ => BindError::Io { address, source },
    })
}

async fn accept(listener: TcpListener, app: App, connections: Arc<Connections>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => connections.start(stream, Peer(peer.ip()), app.clone()),
            Err(error) => {
                // Out of descriptors or a connection that died at once: make room, wait a moment, go on.
                tracing::warn!(%error, "cannot accept a connection");
                make_room(&mut connections.lock());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// All open connections, so that their number is bounded and a stop can wait for them.
#[derive(Default)]
struct Connections {
    next: AtomicU64,
    open: Mutex<Vec<Arc<Connection>>>,
}

struct Connection {
    id: u64,
    // A complete request has arrived.
    has_asked: AtomicBool,
    signed_in: SignedIn,
    stop: CancellationToken,
}

/// Whether somebody who may has asked something over a connection; set by whoever knows, and for good.
#[derive(Clone, Default)]
pub(crate) struct SignedIn(Arc<AtomicBool>);

impl SignedIn {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Connections {
    fn start(self: &Arc<Self>, stream: TcpStream, peer: Peer, app: App) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection {
            id,
            has_asked: AtomicBool::new(false),
            signed_in: SignedIn::default(),
            stop: CancellationToken::new(),
        });
        {
            let mut open = self.lock();
            if open.len() >= CONNECTIONS && !make_room(&mut open) {
                return; // dropping the stream closes it
            }
            open.push(Arc::clone(&connection));
        }
        let all = Arc::clone(self);
        tokio::spawn(async move {
            serve_connection(stream, peer, app, &connection).await;
            all.lock().retain(|other| other.id != connection.id);
        });
    }

    /// Tells every connection to finish, waits a bounded time, then drops the rest.
    async fn drain(&self) {
        let deadline = tokio::time::Instant::now() + DRAIN;
        while !self.lock().is_empty() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        for connection in self.lock().drain(..) {
            connection.stop.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the oldest connection that is worth least: one that never asked anything, else one over which nobody
/// signed in has asked. Whoever holds the token is never put out for somebody who does not.
fn make_room(open: &mut Vec<Arc<Connection>>) -> bool {
    let silent = |other: &Arc<Connection>| !other.has_asked.load(Ordering::Relaxed);
    let strange = |other: &Arc<Connection>| !other.signed_in.get();
    let place = open.iter().position(silent).or_else(|| open.iter().position(strange));
    if let Some(place) = place {
        open.remove(place).stop.cancel();
    }
    place.is_some()
}

async fn serve_connection(stream: TcpStream, peer: Peer, app: App, connection: &Arc<Connection>) {
    // Small answers go out at once; loopback gains nothing from waiting. A failure changes only that.
    stream.set_nodelay(true).ok();
    let shutdown = app.host().shutdown().clone();
    let seen = Arc::clone(connection);
    let line = Line::new(stream);
    let ambiguous = line.ambiguous();
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        seen.has_asked.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(seen.signed_in.clone());
        request.extensions_mut().insert(peer);
        if ambiguous.swap(false, Ordering::Relaxed) {
            // The guard sees what the client sent, not what the parser made of it.
            request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let app = app.clone();
        async move { Ok::<_, Infallible>(app.answer(request.map(axum::body::Body::new)).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(line, service)
        .with_upgrades();
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        // Errors here are the client's: a broken request, a closed socket.
        _ = serving.as_mut() => return,
        () = connection.stop.cancelled() => return,
        () = shutdown.cancelled() => {}
    }
    serving.as_mut().graceful_shutdown();
    tokio::select! {
        _ = serving.as_mut() => {}
        () = connection.stop.cancelled() => {}
    }
}
