//! The way out for commands that may reach some machines and no other: a proxy on this machine that asks every
//! connection for the password of its command and looks the machine up in that command's list. Names are resolved here,
//! once; the command itself can look up nothing.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_net::{NetError, Origin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::host::Host;

/// Longest head of a request.
const HEAD_BYTES: usize = 32 << 10;
/// A client that says nothing is let go.
const HEAD: Duration = Duration::from_secs(30);
/// Refusals that are remembered of one command.
const MAX_REFUSED: usize = 8;
/// Connections at once; more wait.
const MAX_CONNECTIONS: usize = 256;
/// The name beside the password.
const USER: &str = "chatos";

/// A machine that a command wanted and did not reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub name: String,
    pub port: u16,
    /// It is on the list, but its address is one that has to be named itself.
    pub address: bool,
}

/// The proxy of one server.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    passes: Arc<Mutex<Passes>>,
}

type Passes = HashMap<String, Arc<Inside>>;

#[derive(Debug)]
struct Inside {
    hosts: Vec<Host>,
    refused: Mutex<Vec<Refused>>,
}

/// What lets one command through; it ends when this is dropped.
#[derive(Debug)]
pub struct Pass {
    port: u16,
    secret: String,
    inside: Arc<Inside>,
    passes: Arc<Mutex<Passes>>,
}

impl Proxy {
    /// Listens on this machine until `shutdown`; its work is counted by `tracker`.
    pub async fn start(tracker: TaskTracker, shutdown: CancellationToken) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let passes: Arc<Mutex<Passes>> = Arc::default();
        let known = Arc::clone(&passes);
        tracker.clone().spawn(async move {
            let slots = Arc::new(tokio::sync::Semaphore::new(MAX_CONNECTIONS));
            loop {
                let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = shutdown.cancelled() => return,
                };
                match accepted {
                    Ok((stream, _)) => {
                        let (known, ended) = (Arc::clone(&known), shutdown.clone());
                        tracker.spawn(async move {
                            tokio::select! {
                                served = serve(stream, &known) => if let Err(error) = served {
                                    tracing::debug!(%error, "a connection of a command ended");
                                },
                                () = ended.cancelled() => {}
                            }
                            drop(slot);
                        });
                    }
                    // Too many open files pass; nothing else is wrong with a listener that works.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        });
        Ok(Self { port, passes })
    }

    /// The only port such a command may connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Lets a command through to these machines.
    pub fn admit(&self, hosts: Vec<Host>) -> io::Result<Pass> {
        let mut bytes = [0_u8; 24];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let inside = Arc::new(Inside { hosts, refused: Mutex::default() });
        lock(&self.passes).insert(authorization(&secret), Arc::clone(&inside));
        Ok(Pass { port: self.port, secret, inside, passes: Arc::clone(&self.passes) })
    }
}

impl Pass {
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Variables by which programs find the proxy.
    pub fn environment(&self) -> Vec<(String, String)> {
        let address = format!("http://{USER}:{}@127.0.0.1:{}", self.secret, self.port);
        const NAMES: [&str; 9] = [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "npm_config_proxy",
            "npm_config_https_proxy",
            "CARGO_HTTP_PROXY",
        ];
        let mut all: Vec<(String, String)> =
            NAMES.iter().map(|name| ((*name).to_owned(), address.clone())).collect();
        // Nothing is reached past it, this machine neither; Node's own client asks only where it is told to.
        all.extend(["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), String::new())));
        all.push(("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned()));
        all
    }

    /// What it asked for in vain so far.
    pub fn refused(&self) -> Vec<Refused> {
        lock(&self.inside.refused).clone()
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        lock(&self.passes).remove(&authorization(&self.secret));
    }
}

fn lock<T>(what: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of the header that belongs to a password.
fn authorization(secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{USER}:{secret}")))
}

/// One connection: one machine.
async fn serve(mut stream: TcpStream, passes: &Mutex<Passes>) -> io::Result<()> {
    let read = tokio::time::timeout(HEAD, head(&mut stream)).await;
    let Some((head, rest)) = read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? else {
        return answer(&mut stream, "400 Bad Request", "this is no request").await;
    };
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let headers: Vec<(&str, &str)> =
        lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name, value.trim())).collect();
    let shown = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
    let inside = shown.and_then(|(_, value)| lock(passes).get(*value).cloned());
    let Some(inside) = inside else {
        return answer(&mut stream, "407 Proxy Authentication Required", "the command is not known here")
            .await;
    };
    let Some(wanted) = Wanted::of(first) else {
        return answer(&mut stream, "400 Bad Request", "only CONNECT and http addresses are understood")
            .await;
    };
    let Some(host) = inside.hosts.iter().find(|host| host.fits(&wanted.name, wanted.port)) else {
        inside.refuse(&wanted, false);
        let why = format!("ChatOS: `{}` is not among the hosts this command may reach", wanted.target());
        return answer(&mut stream, "403 Forbidden", &why).await;
    };
    let origin = Origin { secure: false, host: wanted.name.clone(), port: wanted.port };
    let mut upstream = match chatos_net::connect(&origin, host.addresses()).await {
        Ok(upstream) => upstream,
        Err(error) => {
            if matches!(error, NetError::AddressRefused { .. }) {
                inside.refuse(&wanted, true);
            }
            return answer(&mut stream, "502 Bad Gateway", &format!("ChatOS: {error}")).await;
        }
    };
    match &wanted.path {
        None => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
        Some(path) => {
            let method = first.split(' ').next().unwrap_or_default();
            let mut request = format!("{method} {path} HTTP/1.1\r\n");
            for (name, value) in headers {
                let ours = ["proxy-authorization", "proxy-connection", "connection", "keep-alive"];
                if !ours.contains(&name.to_ascii_lowercase().as_str()) {
                    request.push_str(&format!("{name}: {value}\r\n"));
                }
            }
            // One connection is one machine: the next request may be for another.
            request.push_str("Connection: close\r\n\r\n");
            upstream.write_all(request.as_bytes()).await?;
        }
    }
    upstream.write_all(&rest).await?;
    let moved = tokio::io::copy_bidirectional(&mut stream, &mut upstream).await;
    let (sent, received) = moved.as_ref().copied().unwrap_or_default();
    tracing::info!(host = %wanted.target(), sent, received, "a command reached another machine");
    moved.map(drop)
}

impl Inside {
    fn refuse(&self, wanted: &Wanted, address: bool) {
        let refused = Refused { name: wanted.name.clone(), port: wanted.port, address };
        let mut all = lock(&self.refused);
        if all.len() < MAX_REFUSED && !all.contains(&refused) {
            all.push(refused);
        }
    }
}

/// What a first line asks for.
struct Wanted {
    name: String,
    port: u16,
    /// Of a plain request; nothing for a tunnel.
    path: Option<String>,
}

impl Wanted {
    fn of(first: &str) -> Option<Self> {
        let mut words = first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if !version.starts_with("HTTP/1.") || words.next().is_some() {
            return None;
        }
        let (authority, path, usual) = if method == "CONNECT" {
            (target, None, None)
        } else {
            let rest = target.get(..7).filter(|start| start.eq_ignore_ascii_case("http://"));
            let rest = rest.and(target.get(7..))?;
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let path = &rest[end..];
            let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
            (&rest[..end], Some(path), Some(80))
        };
        let host = Host::parse(authority)?;
        Some(Self { port: host.port.or(usual)?, name: host.name, path })
    }

    fn target(&self) -> String {
        Host { name: self.name.clone(), port: Some(self.port) }.to_string()
    }
}

/// The head of a request and what came behind it.
async fn head(stream: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let rest = bytes.split_off(end + 4);
            bytes.truncate(end);
            return Ok(String::from_utf8(bytes).ok().map(|head| (head, rest)));
        }
        if bytes.len() > HEAD_BYTES {
            return Ok(None);
        }
        match stream.read(&mut buffer).await? {
            0 => return Ok(None),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    let length = text.len() + 1;
    let head = format!(
        "HTTP/1.1 {status}\r\nProxy-Authenticate: Basic realm=\"chatos\"\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that says `hello` and what it was asked.
    async fn machine() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (head, _) = head(&mut stream).await.unwrap().unwrap();
                    let text = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello {head}");
                    stream.write_all(text.as_bytes()).await.unwrap();
                });
            }
        });
        port
    }

    async fn ask(proxy: &Proxy, secret: &str, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).await.unwrap();
        let request = request.replace("AUTH", &format!("Proxy-Authorization: {}", authorization(secret)));
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn a_command_reaches_what_is_on_its_list_and_nothing_else() {
        let (port, other) = (machine().await, machine().await);
        let proxy = Proxy::start(TaskTracker::new(), CancellationToken::new()).await.unwrap();
        let pass = proxy.admit(vec![Host::parse(&format!("localhost:{port}")).unwrap()]).unwrap();
        let plain =
            format!("GET http://localhost:{port}/a?b HTTP/1.1\r\nHost: localhost:{port}\r\nAUTH\r\n\r\n");
        let said = ask(&proxy, &pass.secret, &plain).await;
        assert!(said.contains("hello GET /a?b HTTP/1.1") && !said.contains("Proxy-Authorization"), "{said}");
        let tunnel =
            format!("CONNECT localhost:{port} HTTP/1.1\r\nAUTH\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let said = ask(&proxy, &pass.secret, &tunnel).await;
        assert!(
            said.starts_with("HTTP/1.1 200 Connection established") && said.contains("hello GET /"),
            "{said}"
        );
        assert_eq!(pass.refused(), []);

        for wanted in
            [format!("localhost:{other}"), format!("127.0.0.1:{port}"), "example.org:443".to_owned()]
        {
            let said = ask(&proxy, &pass.secret, &format!("CONNECT {wanted} HTTP/1.1\r\nAUTH\r\n\r\n")).await;
            assert!(said.starts_with("HTTP/1.1 403") && said.contains(&wanted), "{said}");
        }
        assert_eq!(pass.refused().len(), 3);
        assert_eq!(pass.refused()[2], Refused { name: "example.org".into(), port: 443, address: false });

        let said = ask(&proxy, "other", &plain).await;
        assert!(said.starts_with("HTTP/1.1 407"), "{said}");
        let secret = pass.secret.clone();
        drop(pass);
        assert!(ask(&proxy, &secret, &plain).await.starts_with("HTTP/1.1 407"), "it ends with its command");
        for bad in ["nonsense\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
            let said = ask(&proxy, "x", bad).await;
            assert!(said.starts_with("HTTP/1.1 4"), "{said}");
        }
    }
}
