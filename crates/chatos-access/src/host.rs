//! A machine that commands may reach, as people write it: `name` or `name:port`.

use std::fmt;
use std::net::IpAddr;

use chatos_net::Addresses;

/// Without a port these are meant.
const USUAL: [u16; 2] = [443, 80];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Lower case; an address without brackets.
    pub name: String,
    /// Only this port; else the two of the web.
    pub port: Option<u16>,
}

impl Host {
    /// Reads what somebody wrote; nothing where it names no single machine.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, rest) = rest.split_once(']')?;
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
                name.parse::<std::net::Ipv6Addr>().ok()?;
                (name, port)
            }
            None if text.parse::<std::net::Ipv6Addr>().is_ok() => (text.as_str(), None),
            None => match text.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (text.as_str(), None),
            },
        };
        let port = match port {
            Some(port) => Some(port.parse::<u16>().ok().filter(|port| *port > 0)?),
            None => None,
        };
        let name = name.trim_end_matches('.');
        (name.parse::<IpAddr>().is_ok() || is_name(name)).then(|| Self { name: name.to_owned(), port })
    }

    /// The shortest way to write a machine that was asked for.
    pub fn of(name: &str, port: u16) -> Option<Self> {
        let mut host = Self::parse(name)?;
        host.port = (!USUAL.contains(&port)).then_some(port);
        Some(host)
    }

    /// Whether it is the machine and port a program wants.
    pub fn fits(&self, name: &str, port: u16) -> bool {
        let name = name.trim_end_matches('.');
        self.name.eq_ignore_ascii_case(name) && self.port.map_or(USUAL.contains(&port), |own| own == port)
    }

    /// Addresses of this machine and its network are reached only where the entry itself says so: a public name that leads
    /// there would be a trick.
    pub(crate) fn addresses(&self) -> Addresses {
        if chatos_net::is_loopback(&self.name) || self.name.parse::<IpAddr>().is_ok() {
            Addresses::Private
        } else {
            Addresses::Public
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.port, self.name.contains(':')) {
            (Some(port), true) => write!(f, "[{}]:{port}", self.name),
            (Some(port), false) => write!(f, "{}:{port}", self.name),
            (None, _) => f.write_str(&self.name),
        }
    }
}

fn is_name(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    !name.is_empty() && name.len() <= 253 && name.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_is_named_and_nothing_else() {
        for (text, shown) in [
            ("Example.org", "example.org"),
            ("example.org.", "example.org"),
            ("localhost:3000", "localhost:3000"),
            ("[::1]:80", "[::1]:80"),
            ("::1", "::1"),
            ("10.0.0.1", "10.0.0.1"),
        ] {
            assert_eq!(Host::parse(text).unwrap().to_string(), shown);
        }
        for bad in ["", "*", "*.org", "https://x.org", "a/b", "a:0", "a:x", "a b", "-x.org", "[x]:1", "a:1:2"]
        {
            assert_eq!(Host::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn without_a_port_the_web_is_meant() {
        let web = Host::parse("x.org").unwrap();
        assert!(web.fits("X.org", 443) && web.fits("x.org.", 80) && !web.fits("x.org", 22));
        assert!(!web.fits("y.x.org", 443) && !web.fits("x.org.evil", 443));
        assert!(Host::parse("x.org:22").unwrap().fits("x.org", 22));
        assert_eq!(Host::of("x.org", 443).unwrap().to_string(), "x.org");
        assert_eq!(Host::of("x.org", 8443).unwrap().to_string(), "x.org:8443");
        assert_eq!(Host::parse("localhost").unwrap().addresses(), Addresses::Private);
        assert_eq!(web.addresses(), Addresses::Public);
    }
}
