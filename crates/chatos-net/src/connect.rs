//! Connections to other machines: resolve once, check, connect to exactly that address (security T20).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::{Addresses, NetError};

/// One address of a host may take this long before the next is tried.
const CONNECT: Duration = Duration::from_secs(10);

/// Scheme, host and port: what credentials are bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// With TLS.
    pub secure: bool,
    /// Lower case, without brackets.
    pub host: String,
    /// The port, given or usual.
    pub port: u16,
}

impl Origin {
    /// The origin of an address; `None` for other schemes and without a host.
    pub fn of(uri: &Uri) -> Option<Self> {
        let secure = match uri.scheme_str()?.to_ascii_lowercase().as_str() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return None,
        };
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Some(Self { secure, host, port })
    }

    /// As text, for messages.
    pub fn target(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// The value of `Host`.
    pub fn host_header(&self) -> String {
        let default = if self.secure { 443 } else { 80 };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == default { host } else { format!("{host}:{}", self.port) }
    }
}

/// What is wrong with an address, and whether a person may allow it.
pub fn refusal(ip: IpAddr, addresses: Addresses) -> Option<(&'static str, bool)> {
    let ip = unmapped(ip);
    if is_metadata(ip) {
        return Some(("cloud metadata", false));
    }
    let kind = match ip {
        IpAddr::V4(v4) if v4.is_unspecified() || v4.octets()[0] == 0 => "unspecified",
        IpAddr::V4(v4) if v4.is_multicast() || v4.is_broadcast() => "multicast",
        IpAddr::V4(v4) if v4.is_loopback() => "loopback",
        IpAddr::V4(v4) if v4.is_link_local() => "link-local",
        IpAddr::V4(v4) if v4.is_private() || is_shared(v4) => "private",
        IpAddr::V6(v6) if v6.is_unspecified() => "unspecified",
        IpAddr::V6(v6) if v6.is_multicast() => "multicast",
        IpAddr::V6(v6) if v6.is_loopback() => "loopback",
        IpAddr::V6(v6) if v6.segments()[0] & 0xffc0 == 0xfe80 => "link-local",
        IpAddr::V6(v6) if v6.segments()[0] & 0xfe00 == 0xfc00 => "private",
        _ => return None,
    };
    let can_allow = !matches!(kind, "unspecified" | "multicast");
    (!can_allow || addresses == Addresses::Public).then_some((kind, can_allow))
}

fn is_shared(v4: Ipv4Addr) -> bool {
    v4.octets()[0] == 100 && v4.octets()[1] & 0xc0 == 64
}

fn is_metadata(ip: IpAddr) -> bool {
    ip == IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254))
        || ip == IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254))
}

/// The IPv4 address inside an IPv6 one, where the system would use it.
fn unmapped(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return IpAddr::V4(v4);
    }
    let segments = v6.segments();
    // The well-known prefix of translated IPv4 addresses.
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        let [.., a, b, c, d] = v6.octets();
        return IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    }
    ip
}

/// Connects, with TLS where the scheme says so.
pub async fn connect(origin: &Origin, addresses: Addresses) -> Result<Stream, NetError> {
    let unreachable = |error: String| NetError::Unreachable { target: origin.target(), error };
    let found: Vec<SocketAddr> = match origin.host.parse::<IpAddr>() {
        Ok(ip) => vec![SocketAddr::new(ip, origin.port)],
        Err(_) => {
            let lookup = tokio::net::lookup_host((origin.host.as_str(), origin.port));
            let lookup = tokio::time::timeout(CONNECT, lookup).await;
            let found = lookup.map_err(|_| unreachable("the name was not resolved in time".to_owned()))?;
            found.map_err(|error| unreachable(error.to_string()))?.take(16).collect()
        }
    };
    let mut last = unreachable("the name has no address".to_owned());
    for address in found {
        if let Some((kind, can_allow)) = refusal(address.ip(), addresses) {
            last = NetError::AddressRefused { host: origin.host.clone(), kind, can_allow };
            continue;
        }
        match tokio::time::timeout(CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                stream.set_nodelay(true).ok();
                let stream = Stream::Plain(stream);
                return if origin.secure { encrypt(origin, stream).await } else { Ok(stream) };
            }
            Ok(Err(error)) => last = unreachable(error.to_string()),
            Err(_) => last = unreachable("no answer".to_owned()),
        }
    }
    Err(last)
}

/// TLS on a connection: the other end proves that it is the origin.
pub(crate) async fn encrypt(origin: &Origin, stream: Stream) -> Result<Stream, NetError> {
    let refused = |error: String| NetError::Tls { target: origin.target(), error };
    let name = ServerName::try_from(origin.host.clone()).map_err(|error| refused(error.to_string()))?;
    let connector = connector().await.map_err(refused)?;
    let stream = tokio::time::timeout(CONNECT, connector.connect(name, stream)).await;
    let stream = stream.map_err(|_| refused("no answer".to_owned()))?;
    stream.map(|stream| Stream::Tls(Box::new(stream))).map_err(|error| refused(error.to_string()))
}

/// The machine's certificates, read once when they are first needed.
async fn connector() -> Result<TlsConnector, String> {
    static CONFIG: OnceLock<Arc<rustls::ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(TlsConnector::from(Arc::clone(config)));
    }
    let loaded = chatos_blocking::run(rustls_native_certs::load_native_certs).await;
    let loaded = loaded.map_err(|error| error.to_string())?;
    let mut roots = rustls::RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(loaded.certs);
    if usable == 0 {
        return Err("this machine has no trusted certificates".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::clone(CONFIG.get_or_init(|| Arc::new(config)))))
}

/// A connection with or without TLS.
pub enum Stream {
    /// Readable for everybody on the way.
    Plain(TcpStream),
    /// Encrypted; inside another encrypted one when the way leads through such a proxy.
    Tls(Box<TlsStream<Stream>>),
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_sorted_by_what_they_reach() {
        let kind = |ip: &str, addresses| refusal(ip.parse().unwrap(), addresses).map(|(kind, _)| kind);
        for (ip, expected) in [
            ("127.0.0.1", Some("loopback")),
            ("::1", Some("loopback")),
            ("::ffff:127.0.0.1", Some("loopback")),
            ("64:ff9b::7f00:1", Some("loopback")),
            ("10.1.2.3", Some("private")),
            ("172.31.0.1", Some("private")),
            ("192.168.1.1", Some("private")),
            ("100.64.0.1", Some("private")),
            ("169.254.1.1", Some("link-local")),
            ("fe80::1", Some("link-local")),
            ("fd12::1", Some("private")),
            ("0.0.0.0", Some("unspecified")),
            ("::", Some("unspecified")),
            ("224.0.0.1", Some("multicast")),
            ("93.184.216.34", None),
            ("2606:2800::1", None),
        ] {
            assert_eq!(kind(ip, Addresses::Public), expected, "{ip}");
        }
        assert_eq!(kind("127.0.0.1", Addresses::Private), None);
        for never in ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "0.0.0.0"] {
            assert!(kind(never, Addresses::Private).is_some(), "{never}");
        }
    }

    #[test]
    fn origins_compare_by_parsed_host_and_port() {
        let origin = |uri: &str| Origin::of(&uri.parse().unwrap()).unwrap();
        assert_eq!(origin("https://A.example/x"), origin("https://a.example:443/y"));
        assert_ne!(origin("http://a.example/"), origin("https://a.example/"));
        assert_ne!(origin("http://a.example:81/"), origin("http://a.example/"));
        assert_eq!(origin("http://[::1]:8/").host_header(), "[::1]:8");
        assert_eq!(origin("https://a.example/").host_header(), "a.example");
    }
}
