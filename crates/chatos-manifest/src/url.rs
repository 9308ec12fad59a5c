//! Addresses in `ai.mcp.url` (plugin-manifest §2.5): which ones are accepted, and what kind of host
//! they name. Nothing is resolved or contacted here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlFault {
    /// Not one of `http https ws wss cmd`.
    Scheme,
    /// `user:password@` in front of the host.
    Credentials,
    /// No host, a bad port, or characters that readers of URLs treat differently.
    Invalid,
}

/// What an address points at, for the trust page (security T20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostClass {
    /// A name or address on the internet, as far as its letters tell.
    Public,
    /// This machine.
    Loopback,
    /// Private or unique-local.
    Private,
    /// Link-local, the range of metadata services.
    LinkLocal,
}

/// A checked address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `cmd://…`; its words are parsed by `chatos-contribution`.
    Command,
    /// A network address.
    Network {
        /// Lower-case host without brackets.
        host: String,
        /// Its class.
        class: HostClass,
    },
}

/// Checks a trimmed address.
pub fn check(url: &str) -> Result<Address, UrlFault> {
    let Some((scheme, rest)) = url.split_once("://") else { return Err(UrlFault::Scheme) };
    match scheme.to_ascii_lowercase().as_str() {
        // Exactly `cmd://`: the words after it are not a URL and are never case-folded.
        "cmd" if scheme == "cmd" => return Ok(Address::Command),
        "http" | "https" | "ws" | "wss" => {}
        _ => return Err(UrlFault::Scheme),
    }
    // Browsers read `\` as `/` and drop tabs; others do not. Such addresses have no one meaning.
    if rest.contains('\\') || rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(UrlFault::Invalid);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlFault::Credentials);
    }
    let host = host_of(authority).ok_or(UrlFault::Invalid)?;
    let class = class_of(&host);
    Ok(Address::Network { host, class })
}

fn host_of(authority: &str) -> Option<String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, if after.is_empty() { "" } else { after.strip_prefix(':')? })
        }
        None => {
            let (name, port) = authority.split_once(':').unwrap_or((authority, ""));
            let known = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
            if name.is_empty() || name.starts_with('.') || !known || is_ambiguous(name) {
                return None;
            }
            (name, port)
        }
    };
    if !port.is_empty() && port.parse::<u16>().is_err() {
        return None;
    }
    Some(host.to_ascii_lowercase())
}

fn class_of(host: &str) -> HostClass {
    let name = host.strip_suffix('.').unwrap_or(host);
    if name == "localhost" || name.ends_with(".localhost") {
        return HostClass::Loopback;
    }
    match name.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => class_v4(ip),
        Ok(IpAddr::V6(ip)) => match embedded_v4(ip) {
            Some(v4) => class_v4(v4),
            None if ip.is_loopback() || ip.is_unspecified() => HostClass::Loopback,
            None if ip.is_unicast_link_local() => HostClass::LinkLocal,
            // The metadata service's IPv6 twin lies in the unique-local range.
            None if ip == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254) => HostClass::LinkLocal,
            None if ip.is_unique_local() => HostClass::Private,
            None => HostClass::Public,
        },
        Err(_) => HostClass::Public,
    }
}

/// The IPv4 address that packets for this one end at: mapped, compatible, NAT64 and 6to4 forms.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = ip.segments();
    let low = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match parts {
        [0, 0, 0, 0, 0, 0xffff, a, b] | [0x64, 0xff9b, 0, 0, 0, 0, a, b] => Some(low(a, b)),
        // `::` and `::1` are addresses of their own.
        [0, 0, 0, 0, 0, 0, a, b] if a != 0 => Some(low(a, b)),
        [0x2002, a, b, ..] => Some(low(a, b)),
        _ => None,
    }
}

/// Old spellings of IPv4 addresses (`127.1`, `0x7f000001`, `2130706433`) mean an address to some
/// readers and a name to others; only four decimal numbers have one meaning.
fn is_ambiguous(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or_default();
    let numeric = last.bytes().all(|b| b.is_ascii_digit())
        || last
            .strip_prefix("0x")
            .or(last.strip_prefix("0X"))
            .is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    numeric && name.parse::<Ipv4Addr>().is_err()
}

fn class_v4(ip: Ipv4Addr) -> HostClass {
    let [a, b, ..] = ip.octets();
    if ip.is_loopback() || a == 0 {
        HostClass::Loopback
    } else if ip.is_link_local() {
        HostClass::LinkLocal
    } else if ip.is_private() || (a == 100 && b & 0xc0 == 64) {
        // 100.64/10 is the inside of a provider's or a VPN's network.
        HostClass::Private
    } else {
        HostClass::Public
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_addresses_and_their_hosts() {
        for (url, host, class) in [
            ("https://mcp.example.com/x?y#z", "mcp.example.com", HostClass::Public),
            ("HTTP://Example.COM:8080", "example.com", HostClass::Public),
            ("ws://localhost:1/", "localhost", HostClass::Loopback),
            ("wss://a.localhost", "a.localhost", HostClass::Loopback),
            ("http://127.9.9.9/", "127.9.9.9", HostClass::Loopback),
            ("http://[::1]:80/", "::1", HostClass::Loopback),
            ("http://10.0.0.1/", "10.0.0.1", HostClass::Private),
            ("http://[fd12::1]/", "fd12::1", HostClass::Private),
            ("http://169.254.169.254/", "169.254.169.254", HostClass::LinkLocal),
            ("http://[fe80::1]/", "fe80::1", HostClass::LinkLocal),
            ("http://[::ffff:169.254.1.1]/", "::ffff:169.254.1.1", HostClass::LinkLocal),
            ("http://[fd00:ec2::254]/", "fd00:ec2::254", HostClass::LinkLocal),
            ("http://[::127.0.0.1]/", "::127.0.0.1", HostClass::Loopback),
            ("http://[64:ff9b::a00:1]/", "64:ff9b::a00:1", HostClass::Private),
            ("http://[2002:7f00:1::]/", "2002:7f00:1::", HostClass::Loopback),
            ("http://[::]/", "::", HostClass::Loopback),
            ("http://0.1.2.3/", "0.1.2.3", HostClass::Loopback),
            ("http://100.64.0.1/", "100.64.0.1", HostClass::Private),
            ("http://100.128.0.1/", "100.128.0.1", HostClass::Public),
            ("http://1.example.com/", "1.example.com", HostClass::Public),
            ("http://localhost./", "localhost.", HostClass::Loopback),
        ] {
            assert_eq!(check(url), Ok(Address::Network { host: host.into(), class }), "{url}");
        }
        assert_eq!(check("cmd://node x"), Ok(Address::Command));
    }

    #[test]
    fn refused_addresses() {
        for (url, fault) in [
            ("ftp://h/", UrlFault::Scheme),
            ("file:///etc/passwd", UrlFault::Scheme),
            ("javascript:alert(1)", UrlFault::Scheme),
            ("http:/h", UrlFault::Scheme),
            ("CMD://node", UrlFault::Scheme),
            ("", UrlFault::Scheme),
            ("http://u:p@h/", UrlFault::Credentials),
            ("https://u@h/", UrlFault::Credentials),
            ("http:///x", UrlFault::Invalid),
            ("http://h:99999/", UrlFault::Invalid),
            ("http://h:8a/", UrlFault::Invalid),
            ("http://h\\@evil/", UrlFault::Invalid),
            ("http://h\n/", UrlFault::Invalid),
            ("http://[::1/", UrlFault::Invalid),
            ("http://[::1]x/", UrlFault::Invalid),
            ("http://数据.example/", UrlFault::Invalid),
            ("http://a b/", UrlFault::Invalid),
            ("http://127.1/", UrlFault::Invalid),
            ("http://0x7f000001/", UrlFault::Invalid),
            ("http://0x7f.0.0.1/", UrlFault::Invalid),
            ("http://2130706433/", UrlFault::Invalid),
            ("http://0177.0.0.1/", UrlFault::Invalid),
            ("http://1.2.3.4.5/", UrlFault::Invalid),
            ("http://127.0.0.0x1/", UrlFault::Invalid),
        ] {
            assert_eq!(check(url), Err(fault), "{url:?}");
        }
    }
}
