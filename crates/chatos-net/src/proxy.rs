//! A proxy on the way: which hosts go through it, and the tunnel through it.
//!
//! What is on this machine is never asked for through a proxy. The name of the target is resolved by the
//! proxy, so only addresses written as such can be checked here; the proxy itself is an address a person
//! chose.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use hyper::Uri;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zeroize::Zeroizing;

use crate::connect::{encrypt, refusal};
use crate::{Addresses, NetError, Origin, Stream, connect};

/// A proxy connects elsewhere first, so it may take longer than one address.
const ANSWER: Duration = Duration::from_secs(30);
/// Bytes of what a proxy says before the tunnel begins.
const HEAD_BYTES: usize = 16 * 1024;

/// A proxy and what it wants to hear.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Where it is; `secure` when it is spoken to with TLS.
    pub origin: Origin,
    /// The value of `Proxy-Authorization`.
    pub authorization: Option<Zeroizing<String>>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// An address of a proxy as people write it, and the name and password in it. `None`: not one of http or
/// https, or with something after the port.
pub fn parse_proxy(text: &str) -> Option<(Origin, Option<Zeroizing<String>>)> {
    let text = text.trim();
    let written = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let uri: Uri = written.parse().ok()?;
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return None;
    }
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return None;
    }
    let user = uri.authority()?.as_str().rsplit_once('@').map(|(user, _)| Zeroizing::new(user.to_owned()));
    let origin = Origin::of(&uri).filter(|origin| !origin.host.is_empty() && origin.port != 0)?;
    Some((origin, user))
}

/// This machine itself, by name or by address.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| {
            refusal(ip, Addresses::Public)
                .is_some_and(|(kind, _)| kind == "loopback" || kind == "unspecified")
        })
}

/// Whether a list in the form of `NO_PROXY` names this target: `*`, names with everything below them,
/// addresses, networks (`10.0.0.0/8`), each with or without a port, separated by commas or blanks.
pub fn is_excepted(list: &str, origin: &Origin) -> bool {
    let host = origin.host.trim_end_matches('.').to_ascii_lowercase();
    let ip = host.parse::<IpAddr>().ok();
    list.split([',', ' ', '\t']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        let (name, port) = split_port(entry);
        if port.is_some_and(|port| port != origin.port) {
            return false;
        }
        match ip {
            Some(ip) => covers(&name, ip),
            None => {
                let name = name.trim_start_matches('*').trim_start_matches('.').trim_end_matches('.');
                let below =
                    host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                !name.is_empty() && below
            }
        }
    })
}

fn split_port(entry: &str) -> (String, Option<u16>) {
    let entry = entry.to_ascii_lowercase();
    if let Some((inner, rest)) = entry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (inner.to_owned(), rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match entry.rsplit_once(':') {
        // Several colons are an address of the newer kind.
        Some((name, port)) if !name.contains(':') => match port.parse() {
            Ok(port) => (name.to_owned(), Some(port)),
            Err(_) => (entry, None),
        },
        _ => (entry, None),
    }
}

fn covers(entry: &str, ip: IpAddr) -> bool {
    let Some((network, bits)) = entry.split_once('/') else {
        return entry.parse::<IpAddr>().is_ok_and(|entry| entry == ip);
    };
    let Ok(bits) = bits.parse::<u32>() else { return false };
    match (network.parse(), ip) {
        (Ok(IpAddr::V4(network)), IpAddr::V4(ip)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            u32::from(network) & mask == u32::from(ip) & mask
        }
        (Ok(IpAddr::V6(network)), IpAddr::V6(ip)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            u128::from(network) & mask == u128::from(ip) & mask
        }
        _ => false,
    }
}

/// A connection towards a target through a proxy. With TLS it is a tunnel to the target itself; without,
/// it is the proxy's own connection, and requests on it name their whole address.
pub async fn connect_through(
    proxy: &Proxy,
    origin: &Origin,
    addresses: Addresses,
) -> Result<Stream, NetError> {
    if let Ok(ip) = origin.host.parse::<IpAddr>()
        && let Some((kind, can_allow)) = refusal(ip, addresses)
    {
        return Err(NetError::AddressRefused { host: origin.host.clone(), kind, can_allow });
    }
    let unreachable = |error: String| NetError::Proxy { proxy: proxy.origin.target(), status: None, error };
    let stream = connect(&proxy.origin, Addresses::Private).await;
    let mut stream = stream.map_err(|error| unreachable(error.to_string()))?;
    if !origin.secure {
        return Ok(stream);
    }
    let opened = tokio::time::timeout(ANSWER, open_tunnel(&mut stream, proxy, origin)).await;
    match opened {
        Err(_) => Err(unreachable("no answer".to_owned())),
        Ok(Err(error)) => Err(unreachable(error.to_string())),
        Ok(Ok(200..=299)) => encrypt(origin, stream).await,
        Ok(Ok(status)) => Err(refused(proxy, status)),
    }
}

/// What a proxy says instead of letting a request through.
pub fn refused(proxy: &Proxy, status: u16) -> NetError {
    let error = match (status, &proxy.authorization) {
        (407, None) => "it wants a name and a password".to_owned(),
        (407, Some(_)) => "it does not take the name and the password".to_owned(),
        _ => format!("it refused with {status}"),
    };
    NetError::Proxy { proxy: proxy.origin.target(), status: Some(status), error }
}

/// Asks for a tunnel and returns the status of the answer. Not a byte after its head is read: those are
/// the target's.
async fn open_tunnel(stream: &mut Stream, proxy: &Proxy, origin: &Origin) -> std::io::Result<u16> {
    let target = origin.target();
    let mut head = Zeroizing::new(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"));
    if let Some(authorization) = &proxy.authorization {
        head.push_str("Proxy-Authorization: ");
        head.push_str(authorization);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= HEAD_BYTES {
            return Err(std::io::Error::other("its answer has no end"));
        }
        answer.push(stream.read_u8().await?);
    }
    let line = String::from_utf8_lossy(answer.split(|byte| *byte == b'\r').next().unwrap_or_default());
    let mut words = line.split(' ');
    let known = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let status = words.next().and_then(|status| status.parse().ok()).filter(|_| known);
    status.ok_or_else(|| std::io::Error::other("it does not speak like a proxy"))
}

#[cfg(test)]
mod tests;
