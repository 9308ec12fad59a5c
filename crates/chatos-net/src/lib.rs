//! Connections to other machines, for everybody who makes them: the one place that decides which
//! addresses may be reached (security T20) and which certificates count.
//!
//! A name is resolved once, the addresses are checked, and the connection goes to exactly one of
//! those; there is no second look-up in between.

mod connect;
mod proxy;

pub use connect::{Origin, Stream, connect, refusal};
pub use proxy::{Proxy, connect_through, is_excepted, is_loopback, parse_proxy, refused};

/// Which addresses may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Addresses {
    /// Only public ones.
    #[default]
    Public,
    /// Loopback, private and link-local ones too: a person ticked it.
    Private,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// The address is one that needs a person's consent, or is never allowed.
    #[error("`{host}` has a {kind} address, which is not allowed here")]
    AddressRefused {
        /// The host as written.
        host: String,
        /// What sort of address it has.
        kind: &'static str,
        /// Whether a person may allow it.
        can_allow: bool,
    },
    /// The name or the machine cannot be reached.
    #[error("cannot reach `{target}`: {error}")]
    Unreachable {
        /// Host and port.
        target: String,
        /// What the system said.
        error: String,
    },
    /// The proxy cannot be reached or lets nobody through.
    #[error("no way through the proxy `{proxy}`: {error}")]
    Proxy {
        /// Its host and port.
        proxy: String,
        /// The status it refused with.
        status: Option<u16>,
        /// What it did.
        error: String,
    },
    /// No trustworthy encryption.
    #[error("no secure connection to `{target}`: {error}")]
    Tls {
        /// Host and port.
        target: String,
        /// What the library said.
        error: String,
    },
}
